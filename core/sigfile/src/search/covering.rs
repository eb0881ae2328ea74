//! Rows that have all bits of a signature, by the values of their chunks.

use super::Search;
use crate::costs::SEARCH;
use crate::posting::least_covering;
use crate::segment::{Postings, Segment};
use crate::Pages;
use base::memory::{filled_in_turns, reserve};
use base::{Result, Ticker};
use std::ops::Range;

/// The share of the rows up to which looking at them is quicker than a scan.
const FEW: usize = 16;

/// What reading a page of posting lists has to spare, in looks at a row.
const PAGE: usize = 24;

/// Rows on one page that cost as much as a look at a row on another one.
const ROWS_OF_PAGE: usize = 8;

impl Search {
    /// Reads the posting lists of the values that have all bits of `words` in one chunk, the one of which that takes the
    /// fewest pages, and in more of them as long as that spares more rows than it costs. Where rows have keys and one is
    /// given, only rows of that key are wanted. All rows that have all bits are among those that are found.
    ///
    /// It takes two bits for each row that is scanned, and four bytes for each that is found, a sixteenth of them at most.
    ///
    /// Errors: out of memory; a damaged page.
    pub fn start_covering(
        &mut self,
        segment: &Segment,
        words: &[u64],
        key: Option<u32>,
        pages: &mut impl Pages,
    ) -> Result<()> {
        self.start_everything(segment, key);
        let most = self.scanned.len() / FEW;
        let (mut found, mut read) = (None::<RowSet>, 0);
        for (many, postings, value) in chunks(segment, words) {
            let spared = match &found {
                Some(rows) if rows.len <= most => looks_at(segment, rows.len),
                // No more than a scan takes.
                _ => most.saturating_sub(read * PAGE),
            };
            if many * PAGE >= spared {
                break;
            }
            read += many;
            let mut rows = RowSet::new(&self.scanned, pages)?;
            rows.read(postings, value, found.as_ref(), pages)?;
            let before = found.as_ref().map_or(usize::MAX, |before| before.len);
            let fewer = rows.len <= before / 2;
            found = Some(rows);
            if !fewer {
                // What is left has all bits, as a rule.
                break;
            }
        }
        if let Some(rows) = found.filter(|rows| rows.len <= most) {
            reserve(&mut self.candidates, rows.len)?;
            self.candidates.extend(rows.iter());
            self.scanned = 0..0;
        }
        Ok(())
    }
}

/// The chunks that have some of these bits, each with the number of pages that can hold values with all of them, and
/// with the bits. Those with the fewest pages come first.
fn chunks<'a>(segment: &'a Segment, words: &[u64]) -> Vec<(usize, &'a Postings, u32)> {
    let wanted = segment.postings.iter().filter_map(|postings| {
        let value = postings.chunk.value(words);
        (value != 0).then(|| (covering_pages(postings, value).count(), postings, value))
    });
    let mut chunks: Vec<(usize, &Postings, u32)> = wanted.collect();
    chunks.sort_by_key(|(many, ..)| *many);
    chunks
}

/// What looking at so many rows costs, in looks at a row on a page of its own.
fn looks_at(segment: &Segment, rows: usize) -> usize {
    rows.min(segment.row_pages() as usize) + rows / ROWS_OF_PAGE
}

/// Nanoseconds that a search for the rows with all bits of `words` takes, as [`Search::start_covering`] goes about it,
/// among so many rows of the segment. How many have the bits of a chunk is a guess: as many as if each bit were set in
/// its mean share of the rows, whatever the others are.
pub fn covering_cost(segment: &Segment, words: &[u64], rows: u32) -> f64 {
    let most = rows as usize / FEW;
    let share = segment.mean_popcount() / f64::from(segment.geometry.bits);
    let (mut read, mut left) = (0, rows as usize);
    for (many, _, value) in chunks(segment, words) {
        let spared = if left <= most {
            looks_at(segment, left)
        } else {
            most.saturating_sub(read * PAGE)
        };
        if many * PAGE >= spared {
            break;
        }
        read += many;
        left = (left as f64 * share.powi(value.count_ones() as i32)) as usize;
    }
    let rest = if left <= most {
        looks_at(segment, left) as f64 * SEARCH.candidate
    } else {
        SEARCH.scan(rows, segment.geometry.stride)
    };
    (read * PAGE) as f64 * SEARCH.candidate + rest
}

/// Some rows of a range.
struct RowSet {
    range: Range<u32>,
    /// A bit for each row of the range.
    bits: Vec<u64>,
    len: usize,
}

impl RowSet {
    /// None of them.
    fn new(range: &Range<u32>, pages: &mut impl Pages) -> Result<RowSet> {
        let ticker = &mut Ticker::new(|| pages.tick());
        Ok(RowSet {
            range: range.clone(),
            bits: filled_in_turns(range.len().div_ceil(64), 0, ticker)?,
            len: 0,
        })
    }

    /// Puts a row in, if it is of the range, and of the other set, if there is one. A row is in a list once, but on a
    /// damaged page.
    #[inline]
    fn put(&mut self, row: u32, of: Option<&RowSet>) {
        let at = row.wrapping_sub(self.range.start);
        if !self.range.contains(&row) {
            return;
        }
        let (word, bit) = (at as usize / 64, 1 << (at % 64));
        let allowed = of.map_or(bit, |of| of.bits[word]);
        let new = bit & allowed & !self.bits[word];
        self.bits[word] |= new;
        self.len += usize::from(new != 0);
    }

    /// Puts in the rows whose values have all bits of this one, of the other set, if there is one.
    ///
    /// Errors: a damaged page.
    fn read(
        &mut self,
        postings: &Postings,
        value: u32,
        of: Option<&RowSet>,
        pages: &mut impl Pages,
    ) -> Result<()> {
        for number in covering_pages(postings, value) {
            let page = postings.page(number, pages.page(number)?)?;
            page.check().map_err(|e| e.on_page(number))?;
            page.for_each_covering(value, |row| self.put(row, of));
            pages.tick();
        }
        Ok(())
    }

    /// Ascending.
    fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        let words = self.bits.iter().zip((self.range.start..).step_by(64));
        words.flat_map(|(&word, first)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(first + bit)
            })
        })
    }
}

/// The pages that can hold values with all bits of this one.
fn covering_pages(postings: &Postings, value: u32) -> impl Iterator<Item = u32> + '_ {
    let fences = &postings.fences;
    let greatest = u64::from(u32::MAX) >> (u32::BITS - postings.chunk.width);
    (0..fences.len()).filter_map(move |i| {
        let last = fences.get(i + 1).map_or(greatest, |&next| next.into());
        let can = least_covering(fences[i], value) <= last;
        can.then(|| postings.first_page + i as u32)
    })
}

#[cfg(test)]
mod tests {
    use super::RowSet;

    #[test]
    fn rows_are_kept_once_and_those_of_both() {
        let set = |range, rows: &[u32], of| {
            let mut set = RowSet {
                range,
                bits: vec![0; 4],
                len: 0,
            };
            rows.iter().for_each(|&row| set.put(row, of));
            assert_eq!(set.iter().count(), set.len);
            set
        };
        let all = |set: &RowSet| set.iter().collect::<Vec<u32>>();
        let rows = set(
            70..300,
            &[299, 70, 133, 134, 134, 69, 300, 0, u32::MAX],
            None,
        );
        assert_eq!(all(&rows), [70, 133, 134, 299]);
        let both = set(70..300, &[133, 135, 299, 400], Some(&rows));
        assert_eq!(all(&both), [133, 299]);
        assert_eq!(all(&set(0..0, &[0, 1], None)), [0; 0]);
    }
}
