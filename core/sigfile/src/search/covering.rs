//! Rows that have all bits of a signature, by the values of one chunk.

use super::Search;
use crate::segment::{Postings, Segment};
use crate::Pages;
use base::memory::reserve;
use base::sort::sort;
use base::{Result, Ticker};

/// The share of the rows up to which looking at them is quicker than a scan.
const FEW: u32 = 8;

impl Search {
    /// Reads the posting lists of the values that have all bits of `words` in one chunk, the one of which that takes the
    /// fewest pages. Where rows have keys and one is given, only rows of that key are wanted. All rows that have all bits
    /// are among those that are found.
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
        let of = |postings: &Postings| {
            let value = postings.chunk.value(words);
            (value != 0).then(|| covering_pages(postings, value).count())
        };
        let chunks = segment.postings.iter();
        let best = chunks.filter_map(|postings| Some((of(postings)?, postings)));
        let Some((many, postings)) = best.min_by_key(|(many, _)| *many) else {
            return Ok(());
        };
        if many > postings.fences.len() / 2 {
            return Ok(());
        }
        let value = postings.chunk.value(words);
        let all = self.scanned.clone();
        let most = all.len() / FEW as usize;
        for number in covering_pages(postings, value) {
            let page = postings.page(number, pages.page(number)?)?;
            page.check().map_err(|e| e.on_page(number))?;
            reserve(&mut self.candidates, page.len)?;
            let rows = page
                .iter()
                .filter(|(v, row)| v & value == value && all.contains(row));
            self.candidates.extend(rows.map(|(_, row)| row));
            if self.candidates.len() > most {
                self.candidates.clear();
                return Ok(());
            }
            pages.tick();
        }
        sort(&mut self.candidates, &mut Ticker::new(|| pages.tick()));
        self.scanned = 0..0;
        Ok(())
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
    use super::least_covering;

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
