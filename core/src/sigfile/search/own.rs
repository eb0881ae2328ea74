//! The lists of a query's own values: how many rows agree with it in each chunk. A row that is equal to the query is in all of
//! them, so the shortest says how many there can be.

use crate::sigfile::posting::PostingList;
use crate::sigfile::query::Query;
use crate::sigfile::segment::{Postings, Segment};
use crate::sigfile::Pages;
use crate::Result;

/// Words of a posting page that are read first: its header and directory.
pub(super) const DIRECTORY: [usize; 2] = [8, 16];

/// Pages of a list that are looked at where a guess will do.
const PAGES: usize = 3;

/// Has the first pages of the lists on their way.
fn prefetch(segment: &Segment, chunks: &[usize], query: &Query, pages: &mut impl Pages) {
    for &i in chunks {
        let p = &segment.postings[i];
        if let Some(first) = p.pages(p.chunk.value(query.words())).next() {
            pages.prefetch(first, &DIRECTORY);
        }
    }
}

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

/// How many rows have the query's own value, for each chunk.
///
/// Errors: a damaged page.
pub(super) fn lengths(
    segment: &Segment,
    query: &Query,
    pages: &mut impl Pages,
) -> Result<Vec<u32>> {
    let all: Vec<usize> = (0..segment.postings.len()).collect();
    prefetch(segment, &all, query, pages);
    let of = |p: &Postings| count(p, query, pages, |list| list.len() as u32);
    segment.postings.iter().map(of).collect()
}

/// What the lists of the query's own values say of a segment.
pub struct OwnLists {
    /// Rows that agree with the query in the chunk where that says most, and have about as many bits: no fewer than are equal to it,
    /// and mostly about as many as are nearly equal.
    pub alike: u32,
    /// For each chunk the length of the list, if all were looked at.
    pub lengths: Option<Vec<u32>>,
}

/// Looks at the lists of `wanted` chunks, those first in which rows of the segment agree with the fewest others. Lists that take more than [`PAGES`] pages
/// are guessed.
///
/// Errors: a damaged page.
pub fn own_lists(
    segment: &Segment,
    query: &Query,
    wanted: usize,
    pages: &mut impl Pages,
) -> Result<OwnLists> {
    let n = segment.postings.len();
    let near = query
        .window()
        .map_or(0..0, |(lo, hi)| segment.range(lo, hi));
    let mut chunks: Vec<usize> = (0..n).collect();
    if wanted < n {
        let expected = |&i: &usize| segment.postings[i].expected[0];
        chunks.sort_unstable_by(|a, b| expected(a).total_cmp(&expected(b)));
        chunks.truncate(wanted);
    }
    prefetch(segment, &chunks, query, pages);
    let mut lengths = vec![0; chunks.len()];
    let mut alike = near.len() as u32;
    for (&i, length) in chunks.iter().zip(&mut lengths) {
        let p = &segment.postings[i];
        let wide = p.pages(p.chunk.value(query.words())).len();
        if wide > PAGES {
            // all but the first and the last are full
            let full = f64::from(segment.rows) / p.fences.len().max(1) as f64;
            *length = ((wide - 1) as f64 * full) as u32;
            let share = f64::from(*length) / f64::from(segment.rows.max(1));
            alike = alike.min((share * near.len() as f64) as u32);
            continue;
        }
        let own = std::cell::Cell::new(0);
        let within = count(p, query, pages, |list| {
            own.set(own.get() + list.len() as u32);
            list.count_within(near.clone()) as u32
        });
        alike = alike.min(within?);
        *length = own.get();
    }
    pages.release();
    Ok(OwnLists {
        alike,
        lengths: (chunks.len() == n).then_some(lengths),
    })
}
