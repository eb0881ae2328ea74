//! Looking up the values of chunks in the posting lists.

use std::ops::Range;

use super::batch::Batch;
use super::candidates::{keep, sort_candidates};
use super::flips::Flips;
use super::joiner::Joiner;
use crate::sigfile::pages::Pages;
use crate::sigfile::segment::Postings;
use crate::sort::sort;
use crate::tick::Ticker;
use crate::Result;

/// Probes that are collected before they are sorted.
const PROBES: usize = 1 << 18;

/// Candidates above which fewer rows are searched for at once.
const CANDIDATES: usize = 1 << 21;

impl Joiner<'_> {
    /// Collects what the chunks give; false if that is too much.
    pub(super) fn probe(
        &mut self,
        pages: &mut impl Pages,
        batch: &Batch,
        some: Range<usize>,
    ) -> Result<bool> {
        let chunks = self.segment.postings.len();
        // fewer rows than one are not possible
        let most = if some.len() > 1 {
            CANDIDATES
        } else {
            usize::MAX
        };
        for (chunk, postings) in self.segment.postings.iter().enumerate() {
            self.probes.clear();
            for i in some.clone() {
                let radius = self.radii[(i - some.start) * chunks + chunk];
                if radius < 0 {
                    continue;
                }
                let value = postings.chunk.value(batch.words(i));
                if !self.collect(pages, postings, batch, value, i, radius as u32, most)? {
                    return Ok(false);
                }
            }
            if !self.look_up(pages, postings, batch, most)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds the values that differ from `value` in at most `radius` bits to the probes, which are looked up when they are many:
    /// false if that gives too much.
    #[allow(clippy::too_many_arguments)]
    fn collect(
        &mut self,
        pages: &mut impl Pages,
        postings: &Postings,
        batch: &Batch,
        value: u32,
        i: usize,
        radius: u32,
        most: usize,
    ) -> Result<bool> {
        let mut flips = Flips::new(postings.chunk.width, radius);
        while let Some(flip) = flips.next() {
            if self.probes.len() == PROBES && !self.look_up(pages, postings, batch, most)? {
                return Ok(false);
            }
            self.probes.push(u64::from(value ^ flip) << 32 | i as u64);
        }
        Ok(true)
    }

    /// False if there are more than `most` candidates.
    fn look_up(
        &mut self,
        pages: &mut impl Pages,
        postings: &Postings,
        batch: &Batch,
        most: usize,
    ) -> Result<bool> {
        let mut probes = std::mem::take(&mut self.probes);
        let mut near = std::mem::take(&mut self.near);
        sort(&mut probes, &mut Ticker::new(|| pages.tick()));
        for &probe in &probes {
            let (value, i) = ((probe >> 32) as u32, probe as u32 as usize);
            let asked = &batch.rows[i];
            near.clear();
            for number in postings.pages(value) {
                let page = postings.page(number, pages.page(number)?)?;
                let list = page.find(value).map_err(|e| e.on_page(number))?;
                if !list.is_empty() {
                    let rows = asked.rows.start..asked.scanned;
                    let list = list.about(rows.clone());
                    let filter = asked.filter(self.folds);
                    filter.list(list.bytes(), rows, &mut near)?;
                }
                pages.tick();
            }
            keep(&mut self.candidates, i, &near)?;
            if self.candidates.len() > most {
                sort_candidates(&mut self.candidates, pages);
                if self.candidates.len() > most / 2 {
                    return Ok(false);
                }
            }
        }
        probes.clear();
        (self.probes, self.near) = (probes, near);
        Ok(true)
    }
}
