//! Posting lists of the values that a search asks for.

use crate::posting::{ListPlace, PostingList};
use crate::query::Query;
use crate::rows::RowPage;
use crate::segment::{Postings, Segment};
use crate::Pages;
use base::memory::reserve;
use base::Result;
use std::collections::VecDeque;
use std::ops::Range;

/// Values that wait for their pages.
const WAITING: usize = 32;

/// Words of a posting page that are read first: its header and directory.
const DIRECTORY: [usize; 2] = [8, 16];

/// Has a list on its way whose page was prefetched: its keys and its rows are at places that the page tells.
#[inline]
fn prefetch_list(postings: &Postings, value: u32, number: u32, pages: &mut impl Pages) {
    let least = postings.fences[(number - postings.first_page) as usize];
    let Some(head) = pages.glimpse(number, 0) else {
        return;
    };
    let place = ListPlace::new(head, value.wrapping_sub(least));
    let entry = place.entry().and_then(|word| pages.glimpse(number, word));
    if let Some(entry) = entry {
        pages.prefetch(number, &place.list(entry));
    }
}

/// Rows of a list that are kept when its length is asked for. Longer ones are read again if they are needed.
const KEPT: usize = 256;

/// Appends the rows of a list that are among `within`.
///
/// Errors: out of memory.
fn append(list: &PostingList<'_>, within: &Range<u32>, out: &mut Vec<u32>) -> Result<()> {
    let list = list.about(within.clone());
    reserve(out, list.len())?;
    for row in list.rows() {
        if within.contains(&row) {
            out.push(row);
        }
    }
    Ok(())
}

/// The list of the query's own value in one chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct OwnList {
    pub chunk: usize,
    /// How many rows it has.
    pub len: u32,
    /// Where its rows are among those that were kept; not for a list that is too long for that.
    kept: Option<(u32, u32)>,
}

/// The lists of the query's own values that were looked up.
#[derive(Debug, Default)]
pub(super) struct OwnLists {
    pub found: Vec<OwnList>,
    /// Whether only rows that are wanted count.
    pub narrow: bool,
    rows: Vec<u32>,
    /// Values that wait for their pages.
    waiting: VecDeque<(usize, u32, Range<u32>)>,
}

impl OwnLists {
    /// Forgets all lists.
    pub fn clear(&mut self) {
        self.found.clear();
        self.rows.clear();
        self.waiting.clear();
    }

    /// Looks up the lists of some chunks, and keeps their rows that are among `within`.
    ///
    /// Errors: out of memory; a damaged page.
    pub fn look_up(
        &mut self,
        segment: &Segment,
        query: &Query,
        chunks: impl Iterator<Item = usize>,
        within: &Range<u32>,
        pages: &mut impl Pages,
    ) -> Result<()> {
        self.waiting.clear();
        self.expect(segment, query, chunks, pages);
        self.read(segment, self.waiting.len(), within, pages)
    }

    /// Has the lists of some chunks on their way, to be read behind those that are already.
    pub fn expect(
        &mut self,
        segment: &Segment,
        query: &Query,
        chunks: impl Iterator<Item = usize>,
        pages: &mut impl Pages,
    ) {
        let from = self.waiting.len();
        for chunk in chunks {
            let postings = &segment.postings[chunk];
            let value = postings.chunk.value(query.words());
            let numbers = postings.pages(value);
            if !numbers.is_empty() {
                pages.prefetch(numbers.start, &DIRECTORY);
            }
            self.waiting.push_back((chunk, value, numbers));
        }
        for (chunk, value, numbers) in self.waiting.range(from..) {
            if !numbers.is_empty() {
                prefetch_list(&segment.postings[*chunk], *value, numbers.start, pages);
            }
        }
    }

    /// The chunk of the list that is read next, if one is on its way.
    pub fn next(&self) -> Option<usize> {
        self.waiting.front().map(|&(chunk, ..)| chunk)
    }

    /// Reads the next `n` of the lists that are on their way.
    ///
    /// Errors: out of memory; a damaged page.
    pub fn read(
        &mut self,
        segment: &Segment,
        n: usize,
        within: &Range<u32>,
        pages: &mut impl Pages,
    ) -> Result<()> {
        for (chunk, value, numbers) in self.waiting.drain(..n) {
            let postings = &segment.postings[chunk];
            let from = self.rows.len();
            let mut len = 0;
            for number in numbers {
                let page = postings.page(number, pages.page(number)?)?;
                let mut list = page.find(value).map_err(|e| e.on_page(number))?;
                if self.narrow {
                    list = list.within(within.clone());
                }
                len += list.len();
                if len <= KEPT {
                    append(&list, within, &mut self.rows)?;
                }
                pages.tick();
            }
            if len > KEPT {
                self.rows.truncate(from);
            }
            self.found.push(OwnList {
                chunk,
                len: len as u32,
                kept: (len <= KEPT).then_some((from as u32, self.rows.len() as u32)),
            });
        }
        Ok(())
    }

    /// Whether there is a list whose rows were not kept.
    pub fn has_long(&self) -> bool {
        self.found.iter().any(|list| list.kept.is_none())
    }

    /// Forgets a list whose rows were not kept. False if there is none.
    pub fn leave_out_long(&mut self) -> bool {
        let long = self.found.iter().position(|list| list.kept.is_none());
        if let Some(i) = long {
            self.found.swap_remove(i);
        }
        long.is_some()
    }

    /// The rows of a list, if they were kept.
    pub fn rows(&self, list: &OwnList) -> Option<&[u32]> {
        list.kept
            .map(|(from, to)| &self.rows[from as usize..to as usize])
    }
}

/// Looks up values of one chunk; neighbouring values are mostly on one page.
pub(super) struct Probe<'a> {
    pub postings: &'a Postings,
    /// Other rows are left out.
    pub within: Range<u32>,
    /// Values that wait for their pages.
    pub waiting: &'a mut Vec<(u32, Range<u32>)>,
    /// What was found.
    pub out: &'a mut Vec<u32>,
}

impl Probe<'_> {
    fn look_up(&mut self, pages: &mut impl Pages, value: u32) -> Result<()> {
        let numbers = self.postings.pages(value);
        if self.waiting.last().is_none_or(|(_, last)| *last != numbers) {
            if let Some(first) = numbers.clone().next() {
                pages.prefetch(first, &DIRECTORY);
            }
        }
        self.waiting.push((value, numbers));
        if self.waiting.len() == WAITING {
            self.read(pages)?;
        }
        Ok(())
    }

    /// Reads the lists of the values that wait.
    fn read(&mut self, pages: &mut impl Pages) -> Result<()> {
        for (value, numbers) in self.waiting.iter() {
            if let Some(first) = numbers.clone().next() {
                prefetch_list(self.postings, *value, first, pages);
            }
        }
        for (value, numbers) in self.waiting.drain(..) {
            for number in numbers {
                let page = self.postings.page(number, pages.page(number)?)?;
                let list = page.find(value).map_err(|e| e.on_page(number))?;
                if list.is_empty() {
                    continue;
                }
                append(&list, &self.within, self.out)?;
                pages.tick();
            }
        }
        Ok(())
    }

    /// Finds the rows whose values differ from `value` in at most `radius` bits.
    ///
    /// Errors: out of memory; a damaged page.
    pub fn around(mut self, pages: &mut impl Pages, value: u32, radius: u32) -> Result<()> {
        self.waiting.clear();
        let width = self.postings.chunk.width;
        self.neighbours(pages, value, width, radius)?;
        self.read(pages)
    }

    /// The values that differ from `value` in at most `radius` of the lowest `bits` bits; the
    /// high bits are flipped first, so that values close to each other follow each other.
    fn neighbours(
        &mut self,
        pages: &mut impl Pages,
        value: u32,
        bits: u32,
        radius: u32,
    ) -> Result<()> {
        if radius == 0 || bits == 0 {
            return self.look_up(pages, value);
        }
        self.neighbours(pages, value, bits - 1, radius)?;
        pages.tick();
        self.neighbours(pages, value ^ 1 << (bits - 1), bits - 1, radius - 1)
    }
}

// What a search has to look at on one page.

/// Rows of one page that a search has to look at.
#[derive(Debug, PartialEq)]
pub enum PageWork<'a> {
    /// These rows, by number in the segment.
    Rows(&'a [u32]),
    /// Rows of the page, by number on it.
    Range(usize, usize),
}

impl PageWork<'_> {
    /// Calls `hit` with number on the page and common bits of every row that reaches the
    /// threshold, ascending. `of` is the segment that the page belongs to, and its number there.
    ///
    /// Errors: a row that cannot be: a popcount where it does not belong is noticed in every row that is looked at,
    /// what does not fit the bits in those that are found.
    pub fn run(
        &self,
        page: &RowPage<'_>,
        of: Option<(&Segment, u32)>,
        query: &Query,
        mut hit: impl FnMut(usize, u32),
    ) -> Result<()> {
        let mut wrong = None;
        let mut check = |i: usize, common: u32| match page.checked(i) {
            Ok(_) => hit(i, common),
            Err(e) => {
                wrong.get_or_insert(e);
            }
        };
        match *self {
            PageWork::Range(from, to) => {
                let to = to.min(page.len());
                if let Some((segment, number)) = of {
                    segment.check_popcounts(number, page, from, to)?;
                }
                match of {
                    Some(_) if is_within(page, from, to, query) => {
                        query.scan(page, from, to, check)
                    }
                    _ => query.scan_mixed(page, from, to, check),
                }
            }
            PageWork::Rows(rows) => {
                let capacity = page.geometry().capacity;
                for &row in rows {
                    let i = row as usize % capacity;
                    let popcount = match of {
                        Some((segment, number)) => segment.popcount_on(number, page, i)?,
                        None => page.checked(i)?.popcount,
                    };
                    if let Some(common) = query.hit(page.words(i, i + 1), popcount) {
                        check(i, common);
                    }
                }
            }
        }
        match (wrong, of) {
            (None, _) => Ok(()),
            (Some(e), Some((_, number))) => Err(e.on_page(number)),
            (Some(e), None) => Err(e),
        }
    }
}

impl PageWork<'_> {
    /// Calls `hit` with the rows that have all of these bits.
    ///
    /// Errors: as those of [`PageWork::run`].
    pub fn run_covering(
        &self,
        page: &RowPage<'_>,
        of: Option<(&Segment, u32)>,
        bits: &[u64],
        mut hit: impl FnMut(usize),
    ) -> Result<()> {
        let mut check = |i: usize, words: &[u64]| {
            // without a branch for each word
            let missing = bits.iter().zip(words).fold(0, |m, (a, b)| m | a & !b);
            if missing != 0 {
                return Ok(());
            }
            let checked = page.checked(i).map_err(|e| match of {
                Some((_, number)) => e.on_page(number),
                None => e,
            });
            checked.map(|_| hit(i))
        };
        match *self {
            PageWork::Range(from, to) => {
                let to = to.min(page.len());
                if from >= to {
                    return Ok(());
                }
                if let Some((segment, number)) = of {
                    segment.check_popcounts(number, page, from, to)?;
                }
                let rows = page.words(from, to).chunks_exact(page.geometry().stride);
                (from..to)
                    .zip(rows)
                    .try_for_each(|(i, words)| check(i, words))
            }
            PageWork::Rows(rows) => {
                let capacity = page.geometry().capacity;
                rows.iter().try_for_each(|&row| {
                    let i = row as usize % capacity;
                    match of {
                        Some((segment, number)) => segment.popcount_on(number, page, i)?,
                        None => page.checked(i)?.popcount,
                    };
                    check(i, page.words(i, i + 1))
                })
            }
        }
    }
}

/// Whether no row among `from..to` of a page of a segment has other popcounts than the query can find: their order says
/// it.
fn is_within(page: &RowPage<'_>, from: usize, to: usize, query: &Query) -> bool {
    if !page.geometry().keys {
        return true;
    }
    let Some((lo, hi)) = query.window().filter(|_| from < to) else {
        return false;
    };
    let last = to - 1;
    let popcounts = page.popcounts();
    page.key(from) == page.key(last) && popcounts[from] >= lo && popcounts[last] <= hi
}
