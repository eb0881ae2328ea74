//! Whether a segment is what it ought to be.

use base::memory::{filled, with_room};
use bitvec::order::Lsb0;
use bitvec::view::BitView;

use super::segment::Pages;
use super::segment::Segment;
use super::write::RowCounts;
use base::{Error, Result};

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

/// Rows are what they can be, and where the table of first rows says.
fn check_rows(segment: &Segment, pages: &mut impl Pages) -> Result<()> {
    let mut counts = RowCounts::new(&segment.geometry);
    for number in 0..segment.row_pages() {
        let page = segment.check_row_page(number, pages.page(number)?)?;
        (0..page.len()).for_each(|i| counts.add(page.order(i)));
        let below = |&i: &usize| {
            let row = page.row(i);
            row.popcount <= segment.geometry.bits && row.threshold < segment.least_threshold
        };
        if let Some(i) = (0..page.len()).find(below) {
            let (threshold, least) = (page.threshold(i), segment.least_threshold);
            return Err(Error::damaged(format!(
                "row {i} has threshold {threshold}, below the least, {least}"
            ))
            .on_page(number));
        }
        pages.tick();
    }
    if counts.finish() != (segment.first.clone(), segment.begins.clone()) {
        return Err(Error::damaged(
            "the description of a segment counts other rows than it has",
        ));
    }
    Ok(())
}

/// Every row is in the list of its value, once.
fn check_postings(segment: &Segment, n: usize, pages: &mut impl Pages) -> Result<()> {
    let g = segment.geometry;
    let postings = &segment.postings[n];
    let present = segment.present() as usize;
    let mut values = with_room(present)?;
    segment.for_each_words(0..present as u32, pages, |words| {
        values.extend(
            words
                .chunks_exact(g.stride)
                .map(|row| postings.chunk.value(row)),
        );
    })?;
    let mut seen: Vec<u64> = filled(present.div_ceil(64), 0)?;
    let seen = seen.view_bits_mut::<Lsb0>();
    let mut last = None;
    for page in 0..postings.fences.len() as u32 {
        let number = postings.first_page + page;
        let list = postings.page(number, pages.page(number)?)?;
        list.check().map_err(|e| e.on_page(number))?;
        for (value, row) in list.iter() {
            let at = row as usize;
            let expected = values.get(at).copied();
            if expected != Some(value) || seen[at] || last >= Some((value, row)) {
                return Err(Error::damaged(format!(
                    "chunk {n} lists row {row} under {value:#x}, where it does not belong"
                ))
                .on_page(number));
            }
            seen.set(at, true);
            last = Some((value, row));
        }
        pages.tick();
    }
    let listed = seen.count_ones();
    if listed != present {
        return Err(Error::damaged(format!(
            "chunk {n} lists {listed} of {present} rows"
        )));
    }
    Ok(())
}
