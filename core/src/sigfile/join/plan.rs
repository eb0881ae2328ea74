//! Which chunks are read to which radius, for each row of a batch.

use std::ops::Range;

use super::batch::{Batch, BatchRow};
use super::joiner::Joiner;
use crate::sigfile::budget::step;
use crate::sigfile::pages::Pages;
use crate::sort::sort;
use crate::tick::Ticker;
use crate::Result;

impl Joiner<'_> {
    /// Chooses radii, as budget::plan, but that own values are looked up in any case, and cost their rows only.
    pub(super) fn plan(
        &mut self,
        pages: &mut impl Pages,
        batch: &mut Batch,
        some: Range<usize>,
    ) -> Result<()> {
        let segment = self.segment;
        let chunks = segment.postings.len();
        let base = some.start;
        for asked in &mut batch.rows[some.clone()] {
            asked.scanned = asked.rows.start;
        }
        self.radii.clear();
        self.radii.resize(some.len() * chunks, -1);
        self.own.clear();
        self.own.resize(some.len() * chunks, 0);
        if self.query.threshold() <= 0.0 {
            return Ok(());
        }
        let (stride, weak_from) = (segment.geometry.stride, self.weak_from);
        let worth_it = |asked: &BatchRow| {
            let costs = asked.costs(weak_from);
            let scan = costs.scan(asked.rows.len() as u32, stride);
            scan >= chunks as f64 * costs.probe && chunks > 0
        };
        for (chunk, postings) in segment.postings.iter().enumerate() {
            self.probes.clear();
            for i in some.clone() {
                if worth_it(&batch.rows[i]) {
                    let value = postings.chunk.value(batch.words(i));
                    self.probes.push(u64::from(value) << 32 | i as u64);
                }
            }
            sort(&mut self.probes, &mut Ticker::new(|| pages.tick()));
            for &probe in &self.probes {
                let (value, i) = ((probe >> 32) as u32, probe as u32 as usize);
                let mut length = 0;
                for number in postings.pages(value) {
                    let page = postings.page(number, pages.page(number)?)?;
                    let list = page.find(value).map_err(|e| e.on_page(number))?;
                    length += list.count_within(batch.rows[i].rows.clone());
                    pages.tick();
                }
                self.own[(i - base) * chunks + chunk] = length as u32;
            }
        }
        for i in some {
            pages.tick();
            if !worth_it(&batch.rows[i]) {
                continue;
            }
            self.query.replace(batch.words(i), batch.rows[i].popcount);
            let scanned = self.plan_one(i - base, &batch.rows[i]);
            batch.rows[i].scanned = scanned;
        }
        Ok(())
    }

    /// Chooses radii for the row `i` of those that are searched for at once; returns from where on is scanned.
    fn plan_one(&mut self, i: usize, asked: &BatchRow) -> u32 {
        let segment = self.segment;
        let chunks = segment.postings.len();
        let own = &self.own[i * chunks..(i + 1) * chunks];
        let rows = &asked.rows;
        let costs = asked.costs(self.weak_from);
        let scan = |rows: u32| costs.scan(rows, segment.geometry.stride);
        let cost = |chunk: usize, radius: u32| match radius {
            0 => f64::from(own[chunk]) * costs.candidate,
            _ => step(segment, chunk, radius, Some(own[chunk]), costs),
        };
        let radii = &mut self.radii[i * chunks..(i + 1) * chunks];
        self.next.clear();
        self.next.extend((0..chunks).map(|chunk| cost(chunk, 0)));
        self.order.clear();
        let (mut spent, mut steps, mut widest, mut chosen) = (0.0, 0, 0, 0);
        let mut best = (scan(rows.len() as u32), rows.start);
        let first = segment.popcount_of(rows.start);
        'popcounts: for popcount in first..=asked.window.1 {
            let end = segment.first[popcount as usize + 1].min(rows.end);
            if end <= rows.start || end == segment.first[popcount as usize].min(rows.end) {
                continue;
            }
            widest = widest.max(self.query.radius(popcount));
            while steps < widest + 1 {
                let mut least = 0;
                for (chunk, cost) in self.next.iter().enumerate() {
                    if *cost < self.next[least] {
                        least = chunk;
                    }
                }
                spent += self.next[least];
                if spent >= best.0 || radii[least] == i8::MAX {
                    break 'popcounts;
                }
                radii[least] += 1;
                self.next[least] = cost(least, radii[least] as u32 + 1);
                self.order.push(least as u16);
                steps += 1;
            }
            let cost = spent + scan(rows.end - end);
            if cost < best.0 {
                best = (cost, end);
                chosen = self.order.len();
            }
        }
        radii.fill(-1);
        for &chunk in &self.order[..chosen] {
            radii[chunk as usize] += 1;
        }
        best.1
    }
}
