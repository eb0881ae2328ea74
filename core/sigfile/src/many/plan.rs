//! By which chunks the rows that go by are listed, and how far from its own values a row is looked up.

use std::ops::Range;

use crate::costs::{MANY_COMPARE, MANY_FILTER, MANY_LIST, MANY_LOOK_UP, MANY_TABLE, MANY_TAKE};
use signature::bits::MOST_FLIPS;
use signature::similarity::LeastCommon;

/// A chunk has so many bits at the most.
const MOST_WIDTH: usize = 32;

/// A row is looked up by no more than so many lists of values in a chunk: its own, those that differ in one bit, and in
/// two.
const MOST_STEPS: usize = 3;

/// Buckets of a table, and slots of its filter.
const BUCKETS: f64 = 65536.0;
const SLOTS: f64 = 16.0 * BUCKETS;

/// How rows that go by are searched for those that are wanted.
pub(super) struct Plan {
    /// How many chunks the bits are cut into.
    chunks: usize,
    bits: usize,
    /// For each popcount of a row that is wanted, in how many bits a row that goes by can differ and be similar, and
    /// one more: 0 if none can be similar.
    pub(super) steps: Vec<u16>,
    /// Whether most values that are looked up are those of no row.
    pub(super) is_sparse: bool,
    /// How many pairs will be compared.
    pub(super) expected: f64,
}

/// In how many bits a row with `own` bits and one with `from` to `to` can differ and be similar, and one more; 0 if
/// none can be.
pub(super) fn steps(own: u32, (from, to): (u32, u32), least: LeastCommon) -> u16 {
    let similar = |other: u32| least.bits(own, other).is_some();
    // Rows with more bits than `own` can be similar up to some number of bits, and those with less from some number on.
    let mut most = from.max(own).min(to);
    if !similar(most) {
        return 0;
    }
    let mut above = to + 1;
    while above - most > 1 {
        let middle = most + (above - most) / 2;
        match similar(middle) {
            true => most = middle,
            false => above = middle,
        }
    }
    // Where there are two bits more, no fewer may differ, but where there is one more, they may be fewer.
    let differ = |other: u32| Some(own + other - 2 * least.bits(own, other)?);
    let others = [
        Some(most),
        most.checked_sub(1).filter(|&other| other >= from),
    ];
    let differ = others.into_iter().flatten().filter_map(differ).max();
    differ.map_or(0, |differ| differ as u16 + 1)
}

impl Plan {
    /// Chooses what costs least. `agree` is the share of pairs of rows that agree in a bit, `skew` by how much more of
    /// them agree in a chunk than bits that do not depend on each other would explain.
    pub(super) fn new(
        bits: usize,
        wanted: &[u32],
        steps: Vec<u16>,
        passing: usize,
        agree: f64,
        skew: f64,
    ) -> Plan {
        let groups: Vec<(usize, f64)> = std::iter::zip(&steps, wanted)
            .filter(|(&steps, &rows)| steps > 0 && rows > 0)
            .map(|(&steps, &rows)| (usize::from(steps), f64::from(rows)))
            .collect();
        let most = groups.iter().map(|&(steps, _)| steps).max().unwrap_or(0);
        let least = bits.div_ceil(MOST_WIDTH).max(most.div_ceil(MOST_STEPS));
        let mut best = Plan {
            chunks: least.max(1),
            bits,
            steps,
            is_sparse: true,
            expected: 0.0,
        };
        let mut least_cost = f64::INFINITY;
        for chunks in least..=most.max(least).min(bits) {
            let width = bits as f64 / chunks as f64;
            let rows = passing as f64 * (agree.powf(width) * skew).min(1.0);
            // Of the others in the bucket.
            let found = rows + passing as f64 / BUCKETS;
            let dense = MANY_LOOK_UP + found * MANY_COMPARE;
            let passes = (rows + passing as f64 / SLOTS).min(1.0);
            let sparse = MANY_FILTER + passes * dense;
            let (is_sparse, value) = (sparse < dense, sparse.min(dense));
            let compared = match is_sparse {
                true => passes * (1.0 + found),
                false => found,
            };
            let mut cost = chunks.min(most) as f64 * (MANY_TABLE + passing as f64 * MANY_LIST);
            let mut expected = 0.0;
            for &(steps, n) in &groups {
                let (each, more) = (steps / chunks, steps % chunks);
                let values = (chunks - more) as f64 * flips(width, each)
                    + more as f64 * flips(width, each + 1);
                cost += n * (steps.min(chunks) as f64 * MANY_TAKE + values * value);
                expected += n * values * compared;
            }
            if cost < least_cost {
                least_cost = cost;
                (best.chunks, best.is_sparse, best.expected) = (chunks, is_sparse, expected);
            }
        }
        best
    }

    /// The chunks that rows are looked up by: those of the first `n`.
    pub(super) fn chunks(&self) -> usize {
        let most = self.steps.iter().max().copied().unwrap_or(0);
        self.chunks.min(usize::from(most))
    }

    /// The bits of a chunk.
    pub(super) fn chunk(&self, c: usize) -> Range<usize> {
        c * self.bits / self.chunks..(c + 1) * self.bits / self.chunks
    }

    /// How many chunks behind a chunk are compared before anything else.
    fn behind(&self, c: usize) -> usize {
        let from = self.chunk((c + 1) % self.chunks).start;
        let fits = |&more: &usize| {
            let last = (c + more) % self.chunks;
            let end = self.chunk(last).end;
            end > from && end - from <= MOST_WIDTH
        };
        (1..self.chunks).take_while(fits).count()
    }

    /// The bits of these chunks. The first chunk is behind the last one.
    pub(super) fn beyond(&self, c: usize) -> Range<usize> {
        let from = self.chunk((c + 1) % self.chunks).start;
        match self.behind(c) {
            0 => from..from,
            more => from..self.chunk((c + more) % self.chunks).end,
        }
    }

    /// In how many of these bits two rows may differ.
    ///
    /// In each chunk they differ in some bits more, or fewer, than they may, and in all chunks together in fewer. So
    /// from some chunk on, round the ring of them, that is so for every number of chunks, for one as for two and for
    /// three (J. Qin, C. Xiao: Pigeonring, PVLDB 12, 2018). It is enough that this one gives them.
    pub(super) fn limit_beyond(&self, steps: u16, c: usize) -> u16 {
        let lists = (0..=self.behind(c)).map(|more| self.lists(steps, (c + more) % self.chunks));
        lists.sum::<usize>().saturating_sub(1) as u16
    }

    /// How many lists of values a row that takes so many steps is looked up by in a chunk. All chunks together have as
    /// many as there are steps: if two rows differ in fewer bits, some chunk has more lists than bits in which they
    /// differ there.
    pub(super) fn lists(&self, steps: u16, c: usize) -> usize {
        let steps = usize::from(steps);
        steps / self.chunks + usize::from(c < steps % self.chunks)
    }
}

/// How many values of so many bits differ from one in fewer bits than `lists`.
fn flips(width: f64, lists: usize) -> f64 {
    match lists {
        0 => 0.0,
        1 => 1.0,
        2 => 1.0 + width,
        _ => 1.0 + width + width * (width - 1.0) / 2.0,
    }
}

/// The values that differ in fewer bits than [`MOST_STEPS`] from 0, and for each number of lists how many they are.
pub(super) fn all_flips(width: usize, flips: &mut Vec<u32>) -> [u16; MOST_STEPS + 1] {
    flips.clear();
    flips.push(0);
    flips.extend((0..width).map(|bit| 1 << bit));
    for high in 1..width {
        flips.extend((0..high).map(|low| 1 << high | 1 << low));
    }
    debug_assert!(flips.len() <= MOST_FLIPS, "a chunk has 32 bits at the most");
    let all = flips.len() as u16;
    [0, 1, width as u16 + 1, all]
}
