//! Pairs of records that are similar in some fields.

use linkage::model::values::sketch::{parts_at_once, PARTS};

use super::equality::{pairs_of_blocks, Found};
use super::wanted::WantedPairs;
use crate::models::records::sketches::Sketches;
use pg::progress::{self, phases};

/// Gives pairs of records that have a part of their sketches in common to `each`, the lesser number first: most of
/// those that [`Search::takes`](linkage::model::Search::takes), and others. A pair comes once for each part. Blocks of
/// more than `most` records are left out. Of two relations, the first record is one of the first relation and the
/// second one of the second.
pub fn pairs<'w>(
    sketches: &mut Sketches,
    fields: &[usize],
    least: u32,
    most: u32,
    wanted: impl Into<WantedPairs<'w>>,
    memory: usize,
    mut each: impl FnMut(u32, u32),
) -> Found {
    let (mut found, wanted) = (Found::default(), wanted.into());
    progress::phase(phases::SEARCHING_SIMILAR, Some(PARTS as u64));
    for number in 0..PARTS {
        progress::done(number as u64);
        let blocks = sketches.blocks(fields, number, parts_at_once(least), memory);
        pairs_of_blocks(blocks, most, wanted, &mut found, &mut each);
    }
    found
}
