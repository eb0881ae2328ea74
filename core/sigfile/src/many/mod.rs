//! Searching for many rows at once among rows that go by, as a hash join does.
//!
//! The rows that go by are collected, some ten thousand at a time, and listed in memory by the values of disjoint
//! chunks of their bits. In these lists each row that is searched for is looked up: by its own value, and, where that
//! is cheaper than more chunks, by the values that differ from it in a bit or two. If two rows differ in r bits at the
//! most, r + 1 lists will do (the pigeonhole principle): r + 1 chunks without a flip, or half as many with one. That
//! reads every row of a segment, which for a few thousand rows is far quicker than a search for each: nothing is read
//! but rows, one page behind the other, and nothing is planned for a row.

mod plan;

use base::memory::with_room;
use base::Result;
use plan::{all_flips, steps, Plan};
use signature::bits::{
    ChunkColumn, ChunkProbe, ChunkTable, ProbeSpace, MOST_IN_TABLE, ROWS_AT_ONCE,
};
use signature::similarity::{LeastCommon, Measure, Popcounts};
use std::ops::Range;

use crate::rows::RowPage;

/// A chunk has so many bits at least, if there were no flips. With fewer, too many rows agree in one by chance.
const LEAST_WIDTH: usize = 7;

/// A search for many rows.
pub struct ManySearch {
    wanted: Rows,
    /// How many rows of each popcount are wanted and not done.
    popcounts: Vec<u32>,
    is_done: Vec<bool>,
    bits: usize,
    measure: Measure,
    threshold: f64,
    least: LeastCommon,
    /// For each popcount of a row that goes by, whether it can be similar to a row that is wanted.
    is_within: Vec<bool>,
    /// Rows that are searched now, with their tids.
    block: Rows,
    tids: Vec<u64>,
    capacity: usize,
    /// Rows of a page at the most.
    page: usize,
    /// By how much more pairs were compared than expected.
    skew: f64,
    table: ChunkTable,
    space: ProbeSpace,
    flips: Vec<u32>,
    /// Those rows of a page that are taken.
    taken: Vec<u16>,
}

impl ManySearch {
    /// A search for rows of so many bits among those of pages, of which each has `page` rows at the most. It takes
    /// `memory` bytes besides the rows that are wanted. `None` if it would not be worth while: the threshold is so low
    /// that rows which may be similar need not agree in bits enough.
    ///
    /// Errors: out of memory.
    pub fn new(
        wanted: WantedRows,
        (bits, measure): (u32, Measure),
        threshold: f64,
        page: usize,
        memory: usize,
    ) -> Result<Option<ManySearch>> {
        let wanted = wanted.0;
        let (least, stride) = (LeastCommon::new(measure, threshold), wanted.columns.len());
        // Null signatures have one bit more than there are, and rows that are done two.
        let mut popcounts = vec![0; bits as usize + 3];
        for &popcount in &wanted.popcounts {
            popcounts[usize::from(popcount)] += 1;
        }
        let (mut far, all) = (0, wanted.len());
        let mut is_far = vec![false; popcounts.len()];
        for popcount in (0..popcounts.len()).filter(|&popcount| popcounts[popcount] > 0) {
            let steps = steps(popcount as u32, (1, bits), least);
            is_far[popcount] = usize::from(steps) * LEAST_WIDTH > bits as usize;
        }
        let mut is_done = with_room(all)?;
        let popcounts_of = wanted.popcounts.iter().map(|&p| usize::from(p));
        is_done.extend(popcounts_of.map(|popcount| is_far[popcount]));
        for (rows, _) in popcounts
            .iter_mut()
            .zip(is_far)
            .filter(|(_, is_far)| *is_far)
        {
            far += std::mem::take(rows) as usize;
        }
        if 2 * far >= all {
            return Ok(None);
        }
        let is_within = is_within(&popcounts, bits, least);
        let rest = memory.saturating_sub(ChunkTable::bytes(0));
        let capacity = rest / ManySearch::bytes_of_row(stride);
        let capacity = capacity.clamp(2 * page, MOST_IN_TABLE);
        let mut search = ManySearch {
            wanted,
            popcounts,
            is_done,
            bits: bits as usize,
            measure,
            threshold,
            least,
            is_within,
            block: Rows::with_room(stride, capacity)?,
            tids: with_room(capacity)?,
            capacity,
            page,
            skew: 1.0,
            table: ChunkTable::new(capacity)?,
            space: ProbeSpace::new()?,
            flips: Vec::new(),
            taken: Vec::new(),
        };
        let done = search.done();
        for row in 0..all {
            if search.is_done[row] {
                search.wanted.popcounts[row] = done;
            }
        }
        Ok(Some(search))
    }

    /// How many rows of so many words should be searched for at once in so much memory, if each of them takes `row`
    /// bytes. What is left is for those that go by.
    pub fn rows_for(stride: usize, row: usize, memory: usize) -> usize {
        let rest = memory.saturating_sub(ChunkTable::bytes(0));
        // With less, tables would be made for few rows each.
        if rest < ChunkTable::bytes(0) {
            return 0;
        }
        // All rows are read for each search, and looked up in so many tables as there are blocks of them: the more rows
        // a block has the better. A third of the memory for the rows that are wanted costs least, if the blocks are not
        // complete.
        let block = MOST_IN_TABLE * ManySearch::bytes_of_row(stride);
        (rest / 3).max(rest.saturating_sub(block)) / row
    }

    /// Bytes that a row that goes by takes.
    fn bytes_of_row(stride: usize) -> usize {
        Rows::bytes(stride) + size_of::<u64>() + ChunkTable::bytes(1) - ChunkTable::bytes(0)
    }

    /// Whether a row is searched for. The few with the most bits may not be. To be asked before the first sweep.
    pub fn is_wanted(&self, row: usize) -> bool {
        !self.is_done[row]
    }

    /// Stands for the popcount of a row that is searched for no more.
    fn done(&self) -> u16 {
        self.bits as u16 + 2
    }

    /// The least and the greatest popcount of rows that can be similar to one that is wanted; `None` if none can.
    pub fn within_reach(&self) -> Option<(u32, u32)> {
        let least = self.is_within.iter().position(|&is| is)?;
        let greatest = self.is_within.iter().rposition(|&is| is)?;
        Some((least as u32, greatest as u32))
    }

    /// Takes the rows of a page, except those that are dead. If it is [full](ManySearch::is_full) then,
    /// [`ManySearch::sweep`] must be called before the next page.
    pub fn pass(&mut self, page: &RowPage<'_>) {
        let popcounts = page.popcounts();
        let within = |popcount: u32| self.is_within.get(popcount as usize) == Some(&true);
        let mut taken = std::mem::take(&mut self.taken);
        taken.clear();
        for (i, &popcount) in popcounts.iter().enumerate() {
            let tid = page.tid(i);
            if tid != 0 && within(popcount) {
                taken.push(i as u16);
                self.tids.push(tid);
            }
        }
        self.block
            .extend(page.words(0, page.len()), popcounts, &taken);
        self.taken = taken;
    }

    /// Whether there may be no room for another page.
    pub fn is_full(&self) -> bool {
        self.tids.len() + self.page > self.capacity
    }

    /// Whether [`ManySearch::sweep`] had better be called before rows that are not in the order of their popcounts with
    /// these.
    pub fn is_half_full(&self) -> bool {
        2 * self.tids.len() > self.capacity
    }

    /// Calls `hit` with the number of a row that is wanted and the tid of a row that has gone by, for all of these
    /// whose similarity reaches the threshold, and forgets these. By chance it is called with some of them twice. `hit`
    /// returns whether the row that is wanted is to be searched for further. `tick` is called at every step that may
    /// take some microseconds.
    ///
    /// Errors: out of memory.
    pub fn sweep(
        &mut self,
        tick: &mut impl FnMut(),
        hit: &mut impl FnMut(usize, u64) -> bool,
    ) -> Result<()> {
        if let Some(plan) = self.plan() {
            let (mut compared, mut near) = (0, Vec::new());
            for c in 0..plan.chunks() {
                tick();
                compared += self.sweep_chunk(&plan, c, &mut near, tick, hit)?;
            }
            let skew = self.skew * (compared as f64 + 1.0) / (plan.expected + 1.0);
            self.skew = skew.clamp(1.0, 1e6);
        }
        self.block.clear();
        self.tids.clear();
        Ok(())
    }

    /// `None` if nothing is to be done.
    fn plan(&self) -> Option<Plan> {
        let from = self.block.popcounts.iter().min().copied()?;
        let to = self.block.popcounts.iter().max().copied()?;
        let range = (u32::from(from), u32::from(to));
        let steps_of = |(own, &rows): (usize, &u32)| match rows {
            0 => 0,
            _ => steps(own as u32, range, self.least),
        };
        let steps: Vec<u16> = self.popcounts.iter().enumerate().map(steps_of).collect();
        if steps.iter().all(|&steps| steps == 0) {
            return None;
        }
        let here = self.block.popcounts.iter().map(|&p| f64::from(p));
        let here = here.sum::<f64>() / (self.block.len() * self.bits) as f64;
        let wanted = self.popcounts.iter().enumerate();
        let (rows, ones) = wanted.fold((0.0, 0.0), |(rows, ones), (popcount, &n)| {
            (rows + f64::from(n), ones + f64::from(n) * popcount as f64)
        });
        let wanted = ones / (rows * self.bits as f64);
        let agree = here * wanted + (1.0 - here) * (1.0 - wanted);
        let passing = self.block.len();
        Some(Plan::new(
            self.bits,
            &self.popcounts,
            steps,
            passing,
            agree,
            self.skew,
        ))
    }

    /// Looks up a chunk of all rows. Returns how many pairs of rows it has compared.
    ///
    /// Errors: out of memory.
    fn sweep_chunk(
        &mut self,
        plan: &Plan,
        c: usize,
        ended: &mut Vec<usize>,
        tick: &mut impl FnMut(),
        hit: &mut impl FnMut(usize, u64) -> bool,
    ) -> Result<u64> {
        let (bits, beyond) = (plan.chunk(c), plan.beyond(c));
        let counts = all_flips(bits.len(), &mut self.flips);
        let limits = |&steps: &u16| match steps {
            0 => [0; 2],
            _ => [counts[plan.lists(steps, c)], plan.limit_beyond(steps, c)],
        };
        let limits: Vec<[u16; 2]> = plan.steps.iter().map(limits).collect();
        self.table.fill(
            &column(&self.block, bits.clone()),
            &column(&self.block, beyond.clone()),
        );
        let mut compared = 0;
        let n = self.wanted.len();
        for from in (0..n).step_by(ROWS_AT_ONCE) {
            tick();
            let probe = ChunkProbe {
                chunk: column(&self.wanted, bits.clone()),
                beyond: column(&self.wanted, beyond.clone()),
                popcounts: &self.wanted.popcounts,
                limits: &limits,
                flips: &self.flips,
                table: &self.table,
                is_sparse: plan.is_sparse,
            };
            let (wanted, block) = (&self.wanted, &self.block);
            compared += probe.look_up(
                from..n.min(from + ROWS_AT_ONCE),
                &mut self.space,
                &mut |i, row| {
                    if self.is_done[i] {
                        return false;
                    }
                    let own = wanted.popcounts[i];
                    // By the first chunk that gives the pair; what another one has given is decided.
                    let steps = plan.steps[usize::from(own)];
                    let differ = |bits: Range<usize>| {
                        let (a, b) = (column(wanted, bits.clone()), column(block, bits));
                        (a.value(i) ^ b.value(row)).count_ones() as usize
                    };
                    let gives = |c: usize| {
                        differ(plan.chunk(c)) < plan.lists(steps, c)
                            && differ(plan.beyond(c)) <= usize::from(plan.limit_beyond(steps, c))
                    };
                    if !gives(c) || (0..c).any(gives) {
                        return true;
                    }
                    let counts = Popcounts {
                        a: own.into(),
                        b: block.popcounts[row].into(),
                        common: wanted.common(i, block, row),
                    };
                    if self.measure.similarity(counts) >= self.threshold && !hit(i, self.tids[row])
                    {
                        self.is_done[i] = true;
                        ended.push(i);
                        return false;
                    }
                    true
                },
            );
            let done = self.done();
            for i in ended.drain(..) {
                self.popcounts[usize::from(self.wanted.popcounts[i])] -= 1;
                self.wanted.popcounts[i] = done;
            }
        }
        Ok(compared)
    }
}

fn column(rows: &Rows, bits: Range<usize>) -> ChunkColumn<'_> {
    ChunkColumn::new(&rows.columns, bits)
}

/// For each popcount, whether a row that has it can be similar to one that is wanted.
fn is_within(wanted: &[u32], bits: u32, least: LeastCommon) -> Vec<bool> {
    let mut is_within = vec![false; bits as usize + 1];
    let own: Vec<u32> = (0..wanted.len() as u32)
        .filter(|&own| wanted[own as usize] > 0)
        .collect();
    let mut above = 0;
    for (other, is) in (0..).zip(&mut is_within) {
        // If any is near enough, one of the two that are next to it is.
        while above < own.len() && own[above] < other {
            above += 1;
        }
        let nearest = [above.checked_sub(1), Some(above)];
        let nearest = nearest.into_iter().flatten().filter_map(|at| own.get(at));
        *is = nearest
            .into_iter()
            .any(|&own| least.bits(own, other).is_some());
    }
    is_within
}

// Rows in memory, by columns.

/// The most rows that can be searched for at once.
pub const MOST_ROWS: usize = 1 << 18;

/// Rows in memory: column w has word w of each of them, so that a chunk of all rows is read from one or two columns.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) columns: Vec<Vec<u64>>,
    pub(super) popcounts: Vec<u16>,
}

impl Rows {
    /// Bytes of memory that a row of so many words takes.
    pub(super) const fn bytes(stride: usize) -> usize {
        8 * stride + size_of::<u16>()
    }

    /// With room for so many rows of so many words.
    ///
    /// Errors: out of memory.
    pub(super) fn with_room(stride: usize, rows: usize) -> Result<Rows> {
        let columns = (0..stride).map(|_| with_room(rows));
        Ok(Rows {
            columns: columns.collect::<Result<_>>()?,
            popcounts: with_room(rows)?,
        })
    }

    /// Adds rows, all words of one behind those of the other, of which `numbers` are meant.
    pub(super) fn extend(&mut self, words: &[u64], popcounts: &[u32], numbers: &[u16]) {
        let stride = self.columns.len();
        for (w, column) in self.columns.iter_mut().enumerate() {
            let words = &words[w..];
            column.extend(numbers.iter().map(|&i| words[usize::from(i) * stride]));
        }
        let popcount = |&i: &u16| popcounts[usize::from(i)] as u16;
        self.popcounts.extend(numbers.iter().map(popcount));
    }

    pub(super) fn len(&self) -> usize {
        self.popcounts.len()
    }

    /// Bits that a row and a row of `other` have in common.
    pub(super) fn common(&self, i: usize, other: &Rows, j: usize) -> u32 {
        let columns = self.columns.iter().zip(&other.columns);
        columns.map(|(a, b)| (a[i] & b[j]).count_ones()).sum()
    }

    pub(super) fn clear(&mut self) {
        self.columns.iter_mut().for_each(Vec::clear);
        self.popcounts.clear();
    }
}

/// Rows to be searched for.
pub struct WantedRows(pub(super) Rows);

impl WantedRows {
    /// Bytes of memory that a row of so many words takes.
    pub const fn bytes_of_row(stride: usize) -> usize {
        // Whether it is done is one of them.
        Rows::bytes(stride) + 1
    }

    /// Room for so many rows of so many words.
    ///
    /// Errors: out of memory.
    pub fn with_room(stride: usize, rows: usize) -> Result<WantedRows> {
        Ok(WantedRows(Rows::with_room(stride, rows)?))
    }

    /// Adds a row, whose number is the number of rows before. There is room for it.
    pub fn push(&mut self, words: &[u64], popcount: u32) {
        debug_assert!(self.0.len() < self.0.popcounts.capacity(), "there is room");
        self.0.extend(words, &[popcount], &[0]);
    }
}

#[cfg(test)]
mod tests;
