//! Measuring a segment that was written: the search plans with the lengths of lists.

use crate::pages::Pages;
use crate::segment::{Segment, MEASURED};
use base::Result;

/// Rows whose neighbours are counted, for the expected list lengths.
const MEASURED_ROWS: u32 = 24;

/// Fills in how long the lists are that a row of the table leads to.
///
/// Errors: a damaged page.
pub fn measure(segment: &mut Segment, store: &mut impl Pages) -> Result<()> {
    let present = segment.present();
    // small segments are not worth as much
    let sample = (present / 2048).clamp(4, MEASURED_ROWS);
    for n in 0..segment.postings.len() {
        let mut sums = [0.0; MEASURED];
        for i in 0..sample {
            let row =
                (u64::from(present) * (2 * u64::from(i) + 1) / (2 * u64::from(sample))) as u32;
            let capacity = segment.geometry.capacity as u32;
            let chunk = segment.postings[n].chunk;
            let number = row / capacity;
            let page = segment.row_page(number, store.page(number)?)?;
            let at = (row % capacity) as usize;
            let value = chunk.value(page.words(at, at + 1));
            let postings = &segment.postings[n];
            let mut length = |value: u32| -> Result<f64> {
                postings.pages(value).try_fold(0.0, |sum, number| {
                    let page = postings.page(number, store.page(number)?)?;
                    let list = page.find(value).map_err(|e| e.on_page(number))?;
                    Ok(sum + list.len() as f64)
                })
            };
            sums[0] += length(value)?;
            for a in 0..chunk.width {
                sums[1] += length(value ^ 1 << a)?;
                // every third pair stands for three
                for b in (0..a).skip((a as usize + i as usize) % 3).step_by(3) {
                    sums[2] += 3.0 * length(value ^ 1 << a ^ 1 << b)?;
                }
            }
            store.tick();
        }
        segment.postings[n].expected = sums.map(|s| s / f64::from(sample));
    }
    Ok(())
}
