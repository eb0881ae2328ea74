//! How a search is done: which chunks are read to which radius, and which rows are scanned instead.
//!
//! *Multi-index hashing.* Rows are listed by the values of disjoint chunks of their bits, and those lists are read
//! whose values are near the query's (M. Norouzi, A. Punjani, D. J. Fleet: Fast Exact Search in Hamming Space with
//! Multi-Index Hashing, IEEE TPAMI 36, 2014). There every chunk is read to the same radius.
//!
//! *General pigeonhole principle.* Here each chunk has a radius of its own, chosen by what its lists cost (J. Qin, Y.
//! Wang, C. Xiao, W. Wang, X. Lin, Y. Ishikawa: GPH: Similarity Search in Hamming Space, ICDE 2018). A row reaches the
//! threshold only if it differs from the query in at most r bits. Let the chunks be disjoint, and ρ_i ≥ −1 with
//! Σ(ρ_i + 1) = r + 1. If the row differed in more than ρ_i bits, so in ρ_i + 1 at least, in every chunk, it would
//! differ in r + 1 bits. So it differs in at most ρ_i bits in some chunk i with ρ_i ≥ 0, and is found among the
//! neighbours of the query's value there.
//!
//! r grows with the row's popcount, and rows are in the order of their popcounts. So the rows with the most bits, few
//! as they usually are, can be scanned, and the chunks read for a smaller r.

use super::chunk::MAX_CHUNKS;
use super::costs::Costs;
use super::keys::Within;
use super::query::Query;
use super::segment::{Postings, Segment, MEASURED};
use std::ops::Range;

/// What is read.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchPlan {
    /// How many steps are taken, of those in whose order it was planned; each raises the radius of a chunk by one, from
    /// −1 on.
    pub steps: usize,
    /// Rows that are searched by chunks.
    pub probed: Range<u32>,
    /// Rows that are scanned.
    pub scanned: Range<u32>,
    /// Nanoseconds, estimated.
    pub cost: f64,
}

/// n over k, in float8.
pub(super) fn choose(n: u32, k: u32) -> f64 {
    (0..k)
        .map(|i| f64::from(n - i) / f64::from(i + 1))
        .product()
}

/// What it costs to raise a chunk's radius to `radius`, in nanoseconds: the probes, and the candidates that are
/// expected.
fn shares(postings: &Postings, radius: u32, costs: &Costs) -> (f64, f64) {
    if radius > postings.chunk.width {
        return (f64::INFINITY, 0.0);
    }
    let probes = choose(postings.chunk.width, radius);
    let expected = match postings.expected.get(radius as usize) {
        Some(&measured) => measured,
        None => {
            let last = MEASURED - 1;
            let of_last = choose(postings.chunk.width, last as u32).max(1.0);
            postings.expected[last] * probes / of_last
        }
    };
    (probes * costs.probe, expected * costs.candidate)
}

/// How many times more candidates a chunk gives than expected, where the list of the query's own value has `own` rows:
/// a value that is frequent has frequent neighbours, more or less. `share` is that of the list which counts.
fn frequency(postings: &Postings, own: u32, share: f64) -> f64 {
    let factor = (f64::from(own) + 1.0) / (postings.expected[0] * share + 1.0);
    factor.clamp(0.2, 20.0)
}

/// What it costs to raise a chunk's radius to `radius`: probes, and candidates they give.
/// `own` is the length of the list of the query's own value where that is known.
pub(super) fn step(
    segment: &Segment,
    i: usize,
    radius: u32,
    own: Option<u32>,
    costs: &Costs,
) -> f64 {
    let postings = &segment.postings[i];
    let (probes, candidates) = shares(postings, radius, costs);
    probes
        + match own {
            Some(own) if radius == 0 => f64::from(own) * costs.candidate,
            Some(own) => candidates * frequency(postings, own, 1.0),
            None => candidates,
        }
}

/// Radii whose costs are kept; those of greater ones are computed where they are asked for.
const KEPT: usize = 5;

/// What the steps of a search cost in one segment. It depends on the segment only, and so is computed once.
#[derive(Clone, Debug)]
pub struct SearchSteps {
    costs: Costs,
    /// For each chunk and radius probes and candidates, in nanoseconds.
    shares: Vec<[(f64, f64); KEPT]>,
    /// The chunks whose radii are raised, the cheapest step first, and what all steps up to there cost. It ends where a
    /// scan of all rows is cheaper.
    order: Vec<(u8, f64)>,
    /// How many of the first steps are the first of their chunk.
    first: usize,
}

impl SearchSteps {
    /// Those of a segment.
    pub fn new(segment: &Segment, costs: &Costs) -> SearchSteps {
        let of_chunk = |p: &Postings| std::array::from_fn(|r| shares(p, r as u32, costs));
        let mut steps = SearchSteps {
            costs: *costs,
            shares: segment.postings.iter().map(of_chunk).collect(),
            order: Vec::new(),
            first: 0,
        };
        let most = costs.scan(segment.rows, segment.geometry.stride);
        let mut greedy = Greedy::new(steps.shares.len(), |i| steps.expected(segment, i, 0));
        let mut order = Vec::new();
        while let Some((i, spent)) = greedy.next(|i, radius| steps.expected(segment, i, radius)) {
            if spent >= most {
                break;
            }
            order.push((i as u8, spent));
        }
        let is_first = |&at: &usize| order[..at].iter().all(|&(i, _)| i != order[at].0);
        steps.first = (0..order.len()).take_while(is_first).count();
        steps.order = order;
        steps
    }

    /// Bytes of memory.
    pub fn size(&self) -> usize {
        size_of_val(&self.shares[..]) + size_of_val(&self.order[..])
    }

    /// What the single operations cost.
    pub fn costs(&self) -> &Costs {
        &self.costs
    }

    /// The chunks whose radii are raised, in the order of [`SearchSteps::plan`].
    pub(super) fn order(&self) -> impl Iterator<Item = usize> + '_ {
        self.order.iter().map(|&(i, _)| i.into())
    }

    /// The chunks of the first steps, each of which raises the radius of another chunk to 0.
    pub(super) fn first(&self) -> impl Iterator<Item = usize> + '_ {
        self.order().take(self.first)
    }

    fn shares(&self, segment: &Segment, i: usize, radius: u32) -> (f64, f64) {
        match self.shares[i].get(radius as usize) {
            Some(&shares) => shares,
            None => shares(&segment.postings[i], radius, &self.costs),
        }
    }

    /// What it is expected to cost to raise a chunk's radius to `radius`.
    pub(super) fn expected(&self, segment: &Segment, i: usize, radius: u32) -> f64 {
        let (probes, candidates) = self.shares(segment, i, radius);
        probes + candidates
    }

    /// The cheapest way found to search the segment, as far as that can be said without reading a page. The steps are
    /// those of [`SearchSteps::order`]. `within` are the rows that the query can find.
    pub fn plan(&self, segment: &Segment, query: &Query, within: &Within) -> SearchPlan {
        self.cut(segment, query, within, |steps, most| {
            if within.share < 1.0 {
                return self.spent_within(segment, steps, within.share, most);
            }
            self.order.get(steps - 1).map(|&(_, spent)| spent)
        })
    }

    /// What the first steps cost where only a share of each list counts; nothing if that is more than `most`.
    fn spent_within(&self, segment: &Segment, steps: usize, share: f64, most: f64) -> Option<f64> {
        let (mut radii, mut spent) = ([0u32; MAX_CHUNKS], 0.0);
        for &(i, _) in self.order.get(..steps)? {
            let i = usize::from(i);
            let (probes, candidates) = self.shares(segment, i, radii[i]);
            spent += probes + candidates * share;
            radii[i] += 1;
            if spent > most {
                return None;
            }
        }
        Some(spent)
    }

    /// The same where for each chunk the length of the list of the query's own value is known. `order` is filled with
    /// the chunks whose radii are raised, step by step. The lengths are those of the rows that the query can find.
    pub(super) fn plan_with(
        &self,
        segment: &Segment,
        query: &Query,
        within: &Within,
        own: &[u32],
        order: &mut Vec<u8>,
    ) -> SearchPlan {
        let mut factors = [0.0; MAX_CHUNKS];
        for ((to, postings), &own) in factors.iter_mut().zip(&segment.postings).zip(own) {
            *to = frequency(postings, own, within.share);
        }
        let cost = |i: usize, radius: u32| {
            let (probes, candidates) = self.shares(segment, i, radius);
            probes
                + match radius {
                    0 => f64::from(own[i]) * self.costs.candidate,
                    _ => candidates * within.share * factors[i],
                }
        };
        order.clear();
        let mut greedy = Greedy::new(own.len(), |i| cost(i, 0));
        self.cut(segment, query, within, |steps, most| {
            while order.len() < steps {
                let (i, spent) = greedy.next(cost)?;
                if spent >= most {
                    return None;
                }
                order.push(i as u8);
            }
            Some(greedy.spent)
        })
    }

    /// Chooses up to which popcount rows are probed. `spent` gives what so many steps cost, or nothing where that is
    /// more than its second argument.
    fn cut(
        &self,
        segment: &Segment,
        query: &Query,
        within: &Within,
        mut spent: impl FnMut(usize, f64) -> Option<f64>,
    ) -> SearchPlan {
        let stride = segment.geometry.stride;
        let all = within.rows.clone();
        let mut best = SearchPlan {
            steps: 0,
            probed: all.start..all.start,
            scanned: all.clone(),
            cost: self.costs.scan(all.end - all.start, stride),
        };
        let Some((lo, hi)) = query.window() else {
            return best;
        };
        if self.shares.is_empty() || all.is_empty() || query.threshold() <= 0.0 {
            return best;
        }
        // popcounts ascending: everything up to `popcount` is probed with the radius that it takes
        let mut widest = 0;
        for popcount in lo..=hi {
            widest = widest.max(query.radius(popcount));
            // Where rows have keys, those of a popcount are all over the segment.
            if segment.geometry.keys && popcount < hi {
                continue;
            }
            let steps = widest as usize + 1;
            let Some(spent) = spent(steps, best.cost).filter(|&spent| spent < best.cost) else {
                break;
            };
            let cut = match segment.geometry.keys {
                true => all.end,
                false => segment.first[popcount as usize + 1],
            };
            let cost = spent + self.costs.scan(all.end - cut, stride);
            if cost < best.cost {
                best = SearchPlan {
                    steps,
                    probed: all.start..cut,
                    scanned: cut..all.end,
                    cost,
                };
            }
        }
        best
    }
}

// The cheapest steps first: which radius is raised next.

/// Raises the radius whose next step is the cheapest, one after the other.
pub(super) struct Greedy {
    /// For each chunk what its next step costs.
    next: [f64; MAX_CHUNKS],
    /// For each chunk its radius and one more.
    taken: [u16; MAX_CHUNKS],
    chunks: usize,
    /// What all steps cost so far.
    pub spent: f64,
}

impl Greedy {
    /// `cost` gives what the first step of a chunk costs.
    pub fn new(chunks: usize, cost: impl Fn(usize) -> f64) -> Greedy {
        let mut next = [f64::INFINITY; MAX_CHUNKS];
        for (i, next) in next[..chunks].iter_mut().enumerate() {
            *next = cost(i);
        }
        Greedy {
            next,
            taken: [0; MAX_CHUNKS],
            chunks,
            spent: 0.0,
        }
    }

    /// The chunk of the next step, and what all steps cost so far; `None` if no step is left. `cost` gives what it
    /// costs to raise the radius of a chunk to its second argument.
    pub fn next(&mut self, cost: impl Fn(usize, u32) -> f64) -> Option<(usize, f64)> {
        let (mut least, mut least_cost) = (0, f64::INFINITY);
        for (i, &cost) in self.next[..self.chunks].iter().enumerate() {
            if cost < least_cost {
                (least, least_cost) = (i, cost);
            }
        }
        if least_cost == f64::INFINITY {
            return None;
        }
        self.spent += least_cost;
        self.taken[least] += 1;
        self.next[least] = cost(least, self.taken[least].into());
        Some((least, self.spent))
    }
}

#[cfg(test)]
mod tests;
