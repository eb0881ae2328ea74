//! Rows that have all bits of a signature, by the values of one chunk.

use super::Search;
use crate::segment::{Postings, Segment};
use crate::Pages;
use base::memory::reserve;
use base::sort::sort;
use base::{Result, Ticker};

/// The share of the rows up to which looking at them is quicker than a scan.
const FEW: usize = 8;

/// What reading a page of posting lists has to spare, in looks at a row: it costs about half as much.
const PAGE: usize = 32;

/// Rows on one page that cost as much as a look at a row on another one.
const ROWS_OF_PAGE: usize = 8;

impl Search {
    /// Reads the posting lists of the values that have all bits of `words` in one chunk, the one of which that takes the
    /// fewest pages, and in more of them as long as that spares more rows than it costs. Where rows have keys and one is
    /// given, only rows of that key are wanted. All rows that have all bits are among those that are found.
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
        let wanted = segment.postings.iter().filter_map(|postings| {
            let value = postings.chunk.value(words);
            (value != 0).then(|| (covering_pages(postings, value).count(), postings, value))
        });
        let mut chunks: Vec<(usize, &Postings, u32)> = wanted.collect();
        chunks.sort_by_key(|(many, ..)| *many);
        let most = self.scanned.len() / FEW;
        let mut known = false;
        for (many, postings, value) in chunks {
            let looks = if known {
                let rows = self.candidates.len();
                rows.min(segment.row_pages() as usize) + rows / ROWS_OF_PAGE
            } else {
                most
            };
            if many * PAGE >= looks {
                break;
            }
            let Some(found) = self.rows_covering(postings, value, most, pages)? else {
                break;
            };
            if !known {
                self.candidates = found;
                known = true;
                continue;
            }
            let before = self.candidates.len();
            keep_common(&mut self.candidates, &found);
            if self.candidates.len() > before / 2 {
                // What is left has all bits, as a rule.
                break;
            }
        }
        if known {
            self.scanned = 0..0;
        }
        Ok(())
    }

    /// The rows that are scanned whose values have all bits of this one, ascending; `None` if they are more than `most`.
    fn rows_covering(
        &self,
        postings: &Postings,
        value: u32,
        most: usize,
        pages: &mut impl Pages,
    ) -> Result<Option<Vec<u32>>> {
        let mut found = Vec::new();
        for number in covering_pages(postings, value) {
            let page = postings.page(number, pages.page(number)?)?;
            page.check().map_err(|e| e.on_page(number))?;
            reserve(&mut found, page.len)?;
            let is_it = |(v, row): &(u32, u32)| v & value == value && self.scanned.contains(row);
            found.extend(page.iter().filter(is_it).map(|(_, row)| row));
            if found.len() > most {
                return Ok(None);
            }
            pages.tick();
        }
        sort(&mut found, &mut Ticker::new(|| pages.tick()));
        Ok(Some(found))
    }
}

/// Leaves of ascending numbers those that are among others, which ascend, too.
fn keep_common(numbers: &mut Vec<u32>, others: &[u32]) {
    let mut others = others.iter().copied().peekable();
    numbers.retain(|&number| {
        while others.next_if(|&other| other < number).is_some() {}
        others.peek() == Some(&number)
    });
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

/// The least number from `from` on that has all bits of `value`.
fn least_covering(from: u32, value: u32) -> u64 {
    let missing = value & !from;
    if missing == 0 {
        return from.into();
    }
    // The highest missing bit is set, and below it no more bits than are needed.
    let bit = missing.ilog2();
    let low = (1u64 << bit) - 1;
    u64::from(from) & !low | 1 << bit | u64::from(value) & low
}

#[cfg(test)]
mod tests {
    use super::{keep_common, least_covering};

    #[test]
    fn what_is_common_is_kept() {
        for (numbers, others, common) in [
            (&[1, 3, 5, 9][..], &[0, 3, 4, 9, 10][..], &[3, 9][..]),
            (&[], &[1], &[]),
            (&[1, 2], &[], &[]),
            (&[7], &[7], &[7]),
        ] {
            let mut kept = numbers.to_vec();
            keep_common(&mut kept, others);
            assert_eq!(kept, common);
        }
    }

    #[test]
    fn it_is_the_least() {
        for value in 0..64 {
            for from in 0..128 {
                let least = (from..).find(|v| v & value == value);
                assert_eq!(
                    Some(least_covering(from, value)),
                    least.map(u64::from),
                    "{from} {value}"
                );
            }
        }
        assert_eq!(least_covering(0, u32::MAX), u32::MAX.into());
        assert_eq!(least_covering(u32::MAX - 1, 1), u32::MAX.into());
    }
}
