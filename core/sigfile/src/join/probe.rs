//! Looking up the values of chunks in the posting lists.

use super::batch::Batch;
use super::candidates::keep;
use super::flips::Flips;
use super::joiner::Joiner;
use crate::pages::Pages;
use base::sort::sort;
use base::Result;
use base::Ticker;

/// Probes that are collected before they are sorted.
const PROBES: usize = 1 << 18;

/// Candidates that are collected before they are looked at.
const CANDIDATES: usize = 1 << 17;

impl Joiner<'_> {
    /// Looks at what the chunks give.
    pub(super) fn probe<P: Pages>(
        &mut self,
        pages: &mut P,
        batch: &Batch,
        in_tables: bool,
        hit: &mut impl FnMut(usize, u64, f64),
    ) -> Result<()> {
        if in_tables {
            self.probe_tables(pages, batch, hit)?;
            return self.verify(pages, batch, hit);
        }
        let chunks = self.segment.postings.len();
        for chunk in 0..chunks {
            let postings = &self.segment.postings[chunk];
            self.probes.clear();
            for i in 0..batch.len() {
                let radius = self.radii[i * chunks + chunk];
                if radius < 0 {
                    continue;
                }
                let value = postings.chunk.value(batch.words(i));
                let mut flips = Flips::new(postings.chunk.width, radius as u32);
                while let Some(flip) = flips.next() {
                    if self.probes.len() == PROBES {
                        self.look_up(pages, batch, chunk, hit)?;
                    }
                    self.probes.push(u64::from(value ^ flip) << 32 | i as u64);
                }
            }
            self.look_up(pages, batch, chunk, hit)?;
        }
        self.verify(pages, batch, hit)
    }

    /// Looks at the candidates if they are many.
    pub(super) fn verify_many<P: Pages>(
        &mut self,
        pages: &mut P,
        batch: &Batch,
        hit: &mut impl FnMut(usize, u64, f64),
    ) -> Result<()> {
        if self.candidates.len() < CANDIDATES {
            return Ok(());
        }
        self.verify(pages, batch, hit)
    }

    /// Looks the probes up in the postings of a chunk.
    fn look_up<P: Pages>(
        &mut self,
        pages: &mut P,
        batch: &Batch,
        chunk: usize,
        hit: &mut impl FnMut(usize, u64, f64),
    ) -> Result<()> {
        let postings = &self.segment.postings[chunk];
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
            keep(&mut self.candidates, i, chunk, &near)?;
            self.verify_many(pages, batch, hit)?;
        }
        probes.clear();
        (self.probes, self.near) = (probes, near);
        Ok(())
    }
}
