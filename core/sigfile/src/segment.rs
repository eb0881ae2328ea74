//! What a search has to know of a segment before it reads a page.
//!
//! Stored as words: `[rows, chunks | flags, least threshold, first row of each popcount (bits + 3
//! of them, two a word), if rows have keys the key and the popcount of each row page's first row,
//! then for each chunk: start | width << 32, pages, expected lengths (float8,
//! 3), its pages' least values (two a word)]`.

use super::chunk::{Chunk, MAX_CHUNKS};
use super::keys::{misplaced, PageOrders, Within};
use super::posting::{PostingPage, MAX_ROWS};
use super::query::Query;
use super::rows::{order_of, Geometry, RowPage};
use super::words::{halves, join, pack, split};
use base::memory::copied;
use base::{Error, Result};
use signature::filter::query::is_threshold;
use signature::similarity::Measure;
use std::ops::Range;

/// Radii for which a chunk's expected list lengths are kept.
pub const MEASURED: usize = 3;

/// A chunk's posting lists.
#[derive(Clone, Debug, PartialEq)]
pub struct Postings {
    /// The bits whose values are listed.
    pub chunk: Chunk,
    /// Number of the first posting page, among the segment's pages.
    pub first_page: u32,
    /// Least value of each page.
    pub fences: Vec<u32>,
    /// Rows that differ from a row of the table in exactly 0, 1, 2 of the chunk's bits, on average.
    pub expected: [f64; MEASURED],
}

impl Postings {
    /// The pages that can hold postings of `value`.
    #[inline]
    pub fn pages(&self, value: u32) -> Range<u32> {
        let to = self.fences.partition_point(|&f| f <= value);
        let mut from = to;
        while from > 0 && self.fences[from - 1] == value {
            from -= 1;
        }
        let from = from.saturating_sub(1);
        self.first_page + from as u32..self.first_page + to as u32
    }

    /// The content of one of these pages.
    ///
    /// Errors: a page that begins with another value than this one does.
    #[inline(always)]
    pub fn page<'a>(&self, number: u32, words: &'a [u64]) -> Result<PostingPage<'a>> {
        let page = PostingPage::new(words).map_err(|e| e.on_page(number))?;
        let fence = u64::from(self.fences[(number - self.first_page) as usize]);
        if page.base() != fence {
            return Err(begins_otherwise(page.base(), fence).on_page(number));
        }
        Ok(page)
    }
}

/// Pages of rows of which it is only known how many rows there are.
#[derive(Clone, Copy, Debug)]
pub struct RowPages {
    /// How rows lie on pages.
    pub geometry: Geometry,
    /// All rows.
    pub rows: u32,
    /// Rows with a signature, which come first.
    pub present: u32,
}

impl RowPages {
    /// The content of one of the pages.
    ///
    /// Errors: a page with another number of rows.
    #[inline(always)]
    pub fn page<'a>(&self, number: u32, words: &'a [u64]) -> Result<RowPage<'a>> {
        let capacity = self.geometry.capacity as u32;
        let before = number.saturating_mul(capacity);
        let expected = self.rows.saturating_sub(before).min(capacity);
        if words[0] != u64::from(expected) {
            return Err(other_rows(words[0], expected).on_page(number));
        }
        Ok(RowPage::of_rows(self.geometry, words, expected as usize))
    }
}

/// A sealed segment: rows sorted by popcount, null signatures last; where rows have keys, by key and then popcount.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// How rows lie on pages.
    pub geometry: Geometry,
    /// All rows, those with null signatures and dead ones among them.
    pub rows: u32,
    /// Least of the rows' own thresholds, 0 where they have none.
    pub least_threshold: f64,
    /// First row of at least so many bits, for 0 to bits + 2. Where rows have keys: how many rows have fewer bits.
    pub first: Vec<u32>,
    /// Where rows have keys: what its row pages begin with.
    pub begins: PageOrders,
    /// The posting lists of each chunk; none in a small segment.
    pub postings: Vec<Postings>,
}

impl Segment {
    /// Its pages of rows.
    #[inline(always)]
    pub fn row_set(&self) -> RowPages {
        RowPages {
            geometry: self.geometry,
            rows: self.rows,
            present: self.present(),
        }
    }

    /// Rows whose popcounts are `lo` to `hi`. Where rows have keys they are all over the segment.
    pub fn range(&self, lo: u32, hi: u32) -> Range<u32> {
        if self.geometry.keys {
            return 0..self.rows;
        }
        self.first[lo as usize]..self.first[hi as usize + 1]
    }

    /// The rows that can be found by a query, among those of a key if one is given.
    pub fn within(&self, query: &Query, key: Option<u32>) -> Within {
        let (rows, share) = match (query.window(), key.filter(|_| self.geometry.keys)) {
            (None, _) => (0..0, 1.0),
            (Some((lo, hi)), None) => (self.range(lo, hi), 1.0),
            (Some((lo, hi)), Some(key)) => {
                let rows = self.rows_about(order_of(key, lo), order_of(key, hi));
                let share = f64::from(rows.end - rows.start) / f64::from(self.rows.max(1));
                (rows, share)
            }
        };
        Within { rows, share }
    }

    /// The rows of a key, or all of them, and some others on the same pages.
    pub fn rows_of(&self, key: Option<u32>) -> Range<u32> {
        match key.filter(|_| self.geometry.keys) {
            Some(key) => self.rows_about(order_of(key, 0), order_of(key, u32::MAX)),
            None => 0..self.rows,
        }
    }

    /// Rows of the pages on which keys and popcounts from `low` to `high` can be.
    fn rows_about(&self, low: u64, high: u64) -> Range<u32> {
        let pages = self.begins.pages(low, high);
        let row = |page: usize| (page as u64 * self.geometry.capacity as u64) as u32;
        row(pages.start)..row(pages.end).min(self.rows)
    }

    /// The content of one of the segment's row pages.
    ///
    /// Errors: a page with another number of rows.
    #[inline(always)]
    pub fn row_page<'a>(&self, number: u32, words: &'a [u64]) -> Result<RowPage<'a>> {
        self.row_set().page(number, words)
    }

    /// Calls `each` with the words of these rows, page by page.
    ///
    /// Errors: a page with another number of rows.
    pub(super) fn for_each_words(
        &self,
        rows: Range<u32>,
        pages: &mut impl Pages,
        mut each: impl FnMut(&[u64]),
    ) -> Result<()> {
        let capacity = self.geometry.capacity as u32;
        let mut next = rows.start;
        while next < rows.end {
            let page = next / capacity;
            let (from, to) = (next % capacity, (rows.end - page * capacity).min(capacity));
            let content = self.row_page(page, pages.page(page)?)?;
            each(content.words(from as usize, to as usize));
            next = page * capacity + to;
            pages.tick();
        }
        Ok(())
    }

    /// Whether row number `row` is one of those with so many bits.
    #[inline]
    pub fn has(&self, row: u32, popcount: u32) -> bool {
        let at = popcount as usize;
        match (self.first.get(at), self.first.get(at.saturating_add(1))) {
            (Some(&first), Some(&end)) => first <= row && row < end,
            _ => false,
        }
    }

    /// The popcount of row `i` of a page.
    ///
    /// Errors: one that it cannot have there.
    #[inline]
    pub fn popcount_on(&self, number: u32, page: &RowPage<'_>, i: usize) -> Result<u32> {
        if self.geometry.keys {
            return self.begins.popcount_on(number, page, i);
        }
        let row = number * self.geometry.capacity as u32 + i as u32;
        match page.popcounts().get(i) {
            Some(&popcount) if self.has(row, popcount) => Ok(popcount),
            popcount => Err(misplaced(i, popcount.copied()).on_page(number)),
        }
    }

    /// Whether the popcounts of rows `from..to` of a page are those that belong there.
    ///
    /// Errors: one is not.
    pub fn check_popcounts(
        &self,
        number: u32,
        page: &RowPage<'_>,
        from: usize,
        to: usize,
    ) -> Result<()> {
        if self.geometry.keys {
            return self.begins.check(number, page, from, to);
        }
        let base = number * self.geometry.capacity as u32;
        let mut at = from;
        while at < to {
            let popcount = self.popcount_on(number, page, at)?;
            let end = ((self.first[popcount as usize + 1] - base) as usize).min(to);
            let Some(run) = page.popcounts().get(at..end) else {
                return Err(misplaced(end - 1, None).on_page(number));
            };
            // without a branch for each, several at once
            if run.iter().fold(0, |differ, &c| differ | (c ^ popcount)) != 0 {
                let other = run.iter().position(|&c| c != popcount).unwrap_or(0);
                return Err(misplaced(at + other, run.get(other).copied()).on_page(number));
            }
            at = end;
        }
        Ok(())
    }

    /// Looks at everything that a page of rows says.
    ///
    /// Errors: a number of rows, a popcount, bits or a threshold that cannot be.
    pub fn check_row_page<'a>(&self, number: u32, words: &'a [u64]) -> Result<RowPage<'a>> {
        let page = self.row_page(number, words)?;
        self.check_popcounts(number, &page, 0, page.len())?;
        page.check().map_err(|e| e.on_page(number))?;
        Ok(page)
    }

    /// The popcount of a row, where rows have no keys.
    pub fn popcount_of(&self, row: u32) -> u32 {
        self.first.partition_point(|&first| first <= row) as u32 - 1
    }

    /// Rows that can be found at some threshold: those with a signature, and by agreement those without bits, too.
    pub fn present(&self) -> u32 {
        match self.geometry.measure {
            Measure::Jaccard => self.first[self.geometry.null_popcount() as usize],
            Measure::Agreement { .. } => self.rows,
        }
    }

    /// Pages that hold rows.
    pub fn row_pages(&self) -> u32 {
        self.geometry.pages(self.rows)
    }

    /// All pages.
    pub fn pages(&self) -> u32 {
        let postings: usize = self.postings.iter().map(|p| p.fences.len()).sum();
        self.row_pages() + postings as u32
    }

    /// Mean popcount of the signatures.
    pub fn mean_popcount(&self) -> f64 {
        let mean = |(popcount, w): (usize, &[u32])| popcount as f64 * f64::from(w[1] - w[0]);
        let all = self.first[..=self.geometry.null_popcount() as usize].windows(2);
        all.enumerate().map(mean).sum::<f64>() / f64::from(self.present().max(1))
    }

    /// Bytes of the memory that it takes.
    pub fn size(&self) -> usize {
        let fences: usize = self.postings.iter().map(|p| 4 * p.fences.len()).sum();
        4 * self.first.len()
            + self.begins.size()
            + fences
            + size_of::<Postings>() * self.postings.len()
    }

    /// Appends the stored form.
    pub fn encode(&self, out: &mut Vec<u64>) {
        out.push(self.rows.into());
        out.push(self.postings.len() as u64);
        out.push(self.least_threshold.to_bits());
        out.extend(pack(&self.first));
        out.extend_from_slice(self.begins.words());
        for p in &self.postings {
            out.push(join(p.chunk.start, p.chunk.width));
            out.push(p.fences.len() as u64);
            out.extend(p.expected.map(f64::to_bits));
            out.extend(pack(&p.fences));
        }
    }

    /// Reads the stored form; what is left of `words` begins behind it.
    ///
    /// Errors: words that are no segment of this geometry; out of memory.
    pub fn decode(geometry: Geometry, words: &mut &[u64]) -> Result<Segment> {
        let damaged = || Error::damaged("damaged description of a sigfile segment");
        let mut take = |n: usize| -> Result<&[u64]> {
            let (taken, rest) = words.split_at_checked(n).ok_or_else(damaged)?;
            *words = rest;
            Ok(taken)
        };
        let header = take(3)?;
        let (rows, chunks) = (header[0], header[1]);
        let least_threshold = f64::from_bits(header[2]);
        if rows > u64::from(MAX_ROWS)
            || chunks > MAX_CHUNKS as u64
            || !is_threshold(least_threshold)
            || (!geometry.thresholds && least_threshold != 0.0)
        {
            return Err(damaged());
        }
        let rows = rows as u32;
        let numbers = geometry.bits as usize + 3;
        let first = copied(&halves(take(numbers.div_ceil(2))?)[..numbers])?;
        if !first.is_sorted() || first[0] != 0 || first[numbers - 1] != rows {
            return Err(damaged());
        }
        let begins = if geometry.keys {
            PageOrders::read(&geometry, &first, take(geometry.pages(rows) as usize)?)?
        } else {
            PageOrders::default()
        };
        let mut first_page = geometry.pages(rows);
        let mut postings = Vec::new();
        let mut next = 0;
        for _ in 0..chunks {
            let header = take(2 + MEASURED)?;
            let (start, width) = split(header[0]);
            let chunk = Chunk { start, width };
            let end = chunk.start.checked_add(chunk.width);
            if chunk.start != next
                || chunk.width == 0
                || chunk.width > Chunk::MAX_WIDTH
                || end.is_none_or(|end| end > geometry.bits)
            {
                return Err(damaged());
            }
            next = chunk.start + chunk.width;
            // a posting takes a byte at least, and a page has some
            let pages = header[1];
            if pages == 0 || pages > u64::from(rows) {
                return Err(damaged());
            }
            let pages = pages as usize;
            let expected = [2, 3, 4].map(|i| f64::from_bits(header[i]));
            let fences = copied(&halves(take(pages.div_ceil(2))?)[..pages])?;
            let fits = fences.iter().all(|&f| u64::from(f) < 1 << chunk.width);
            let measured = expected.iter().all(|e| e.is_finite() && *e >= 0.0);
            if !fences.is_sorted() || !fits || !measured {
                return Err(damaged());
            }
            let postings_of_chunk = Postings {
                chunk,
                first_page,
                fences,
                expected,
            };
            first_page += pages as u32;
            postings.push(postings_of_chunk);
        }
        Ok(Segment {
            geometry,
            rows,
            least_threshold,
            first,
            begins,
            postings,
        })
    }
}

#[cold]
fn begins_otherwise(base: u64, fence: u64) -> Error {
    Error::damaged(format!(
        "a page of postings begins with value {base:#x}, not with {fence:#x}"
    ))
}

#[cold]
fn other_rows(head: u64, expected: u32) -> Error {
    Error::damaged(format!("a page of {expected} rows begins with {head:#x}"))
}

// Where the pages of a segment come from.

/// Pages of one segment, by number: its row pages come first, its posting pages behind them.
pub trait Pages {
    /// The page's content, until the next call: as many words as the geometry says.
    ///
    /// Errors: a page that is not one of the segment.
    fn page(&mut self, number: u32) -> Result<&[u64]>;

    /// The page will soon be asked for, and what is near these words of it: pages of a large segment are in no
    /// processor's cache, and several can be on their way at once.
    fn prefetch(&mut self, _number: u32, _words: &[usize]) {}

    /// A word of the page as it may be, without asking for the page: to tell what of it to prefetch, and for nothing
    /// else. `None` where it is not known where the page is.
    fn glimpse(&self, _number: u32, _word: usize) -> Option<u64> {
        None
    }

    /// A turn for the caller, at every step that may take more than some microseconds. No page is needed until the next
    /// call.
    fn tick(&mut self) {}

    /// No page is needed until the next call.
    fn release(&mut self) {}
}
