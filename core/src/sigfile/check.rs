//! Whether a segment is what it ought to be.

use super::posting::PostingPage;
use super::rows::RowPage;
use super::segment::Segment;
use super::Pages;
use crate::{Error, Kind, Result};

fn damaged(what: String) -> Error {
    Error::new(Kind::Corrupted, what)
}

/// Looks at every row and every posting.
///
/// Errors: what is wrong first; out of memory.
pub fn check(segment: &Segment, pages: &mut impl Pages) -> Result<()> {
    check_rows(segment, pages)?;
    for n in 0..segment.postings.len() {
        check_postings(segment, n, pages)?;
    }
    Ok(())
}

/// Bit counts are right and ascend, rows are where the table of first rows says.
fn check_rows(segment: &Segment, pages: &mut impl Pages) -> Result<()> {
    let g = segment.geometry;
    let padding = g.stride as u32 * 64 - g.bits;
    let mut number = 0u32;
    for page in 0..segment.row_pages() {
        let rows = RowPage::new(g, pages.page(page));
        let expected = (segment.rows - number).min(g.capacity as u32);
        if rows.len() as u32 != expected {
            return Err(damaged(format!(
                "row page {page} has {} rows, not {expected}",
                rows.len()
            )));
        }
        for i in 0..rows.len() {
            let row = rows.row(i);
            let counted: u32 = row.words.iter().map(|w| w.count_ones()).sum();
            let missing = row.count == g.missing() && counted == 0;
            if counted != row.count && !missing {
                return Err(damaged(format!(
                    "row {number} has {counted} bits set, and bit count {}",
                    row.count
                )));
            }
            if padding > 0 && padding < 64 && row.words[g.stride - 1] >> (64 - padding) != 0 {
                return Err(damaged(format!("row {number} has padding bits set")));
            }
            if !segment.range(row.count, row.count).contains(&number) {
                return Err(damaged(format!(
                    "row {number} of bit count {} is out of order",
                    row.count
                )));
            }
            if !missing && row.threshold < segment.least_threshold {
                return Err(damaged(format!(
                    "row {number} has threshold {}, below the least, {}",
                    row.threshold, segment.least_threshold
                )));
            }
            number += 1;
        }
        pages.tick();
    }
    Ok(())
}

/// Every row is in the list of its value, once.
fn check_postings(segment: &Segment, n: usize, pages: &mut impl Pages) -> Result<()> {
    let g = segment.geometry;
    let postings = &segment.postings[n];
    let present = segment.present() as usize;
    let mut values: Vec<u32> = Vec::new();
    values
        .try_reserve_exact(present)
        .map_err(|_| Error::out_of_memory(4 * present))?;
    for page in 0..segment.row_pages() {
        let rows = RowPage::new(g, pages.page(page));
        let left = (present - values.len()).min(rows.len());
        let words = rows.words(0, left).chunks_exact(g.stride);
        values.extend(words.map(|w| postings.chunk.value(w)));
        pages.tick();
    }
    let mut seen = vec![0u64; present.div_ceil(64)];
    let mut last = None;
    for (page, &fence) in postings.fences.iter().enumerate() {
        let list = PostingPage::new(pages.page(postings.first_page + page as u32));
        if list.is_empty() || list.base() != u64::from(fence) {
            return Err(damaged(format!(
                "posting page {page} of chunk {n} begins with {}, not with {fence}",
                list.base()
            )));
        }
        for (value, row) in list.iter() {
            let at = row as usize;
            let expected = values.get(at).copied();
            let bit = 1u64 << (at % 64);
            let twice = seen.get(at / 64).is_some_and(|word| word & bit != 0);
            if expected != Some(value) || twice || last >= Some((value, row)) {
                return Err(damaged(format!(
                    "chunk {n} lists row {row} under {value:#x}, where it does not belong"
                )));
            }
            seen[at / 64] |= bit;
            last = Some((value, row));
        }
        pages.tick();
    }
    let listed: u32 = seen.iter().map(|w| w.count_ones()).sum();
    if listed as usize != present {
        return Err(damaged(format!(
            "chunk {n} lists {listed} of {present} rows"
        )));
    }
    Ok(())
}
