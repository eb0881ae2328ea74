//! The lists of a query's own values: how many rows agree with it in each chunk. A row that is equal to the query is in
//! all of them, so the shortest says how many there can be.

use crate::posting::PostingList;
use crate::query::Query;
use crate::segment::{Postings, Segment};
use crate::Pages;
use base::Result;

/// Pages of a list that are looked at where a guess will do.
const PAGES: usize = 3;

/// What `of` counts in the list of the query's own value.
fn count(
    p: &Postings,
    query: &Query,
    pages: &mut impl Pages,
    of: impl Fn(&PostingList<'_>) -> u32,
) -> Result<u32> {
    let value = p.chunk.value(query.words());
    p.pages(value).try_fold(0, |sum, number| {
        let page = p.page(number, pages.page(number)?)?;
        let list = page.find(value).map_err(|e| e.on_page(number))?;
        Ok(sum + of(&list))
    })
}

/// How many rows of a segment nearly equal the query, as far as `wanted` of the lists tell: of the rows with about as
/// many bits, those that agree with it in the chunk where that says most. No fewer are equal to it, and mostly no more
/// are near. Lists that take more than [`PAGES`] pages are guessed. Where no more than `few` are left, no more is read.
///
/// Errors: a damaged page.
pub fn rows_alike(
    segment: &Segment,
    query: &Query,
    wanted: usize,
    few: u32,
    pages: &mut impl Pages,
) -> Result<u32> {
    let near = query
        .window()
        .map_or(0..0, |(lo, hi)| segment.range(lo, hi));
    // those first in which rows of the segment agree with the fewest others
    let mut chunks: Vec<&Postings> = segment.postings.iter().collect();
    chunks.sort_unstable_by(|a, b| a.expected[0].total_cmp(&b.expected[0]));
    let mut alike = near.len() as u32;
    for p in chunks.into_iter().take(wanted) {
        if alike <= few {
            break;
        }
        let wide = p.pages(p.chunk.value(query.words())).len();
        let here = if wide > PAGES {
            let share = (wide - 1) as f64 / p.fences.len() as f64;
            (share * near.len() as f64) as u32
        } else {
            count(p, query, pages, |list| {
                list.count_within(near.clone()) as u32
            })?
        };
        alike = alike.min(here);
    }
    pages.release();
    Ok(alike)
}
