//! How a search is done: which chunks are read to which radius, and which rows are scanned instead.
//!
//! *Multi-index hashing.* Rows are listed by the values of disjoint chunks of their bits, and those lists are read whose
//! values are near the query's (M. Norouzi, A. Punjani, D. J. Fleet: Fast Exact Search in Hamming Space with Multi-Index
//! Hashing, IEEE TPAMI 36, 2014). There every chunk is read to the same radius.
//!
//! *General pigeonhole principle.* Here each chunk has a radius of its own, chosen by what its lists cost (J. Qin, Y. Wang,
//! C. Xiao, W. Wang, X. Lin, Y. Ishikawa: GPH: Similarity Search in Hamming Space, ICDE 2018). A row reaches the threshold
//! only if it differs from the query in at most r bits. Let the chunks be disjoint, and ρ_i ≥ −1 with Σ(ρ_i + 1) = r + 1.
//! If the row differed in more than ρ_i bits, so in ρ_i + 1 at least, in every chunk, it would differ in r + 1 bits. So it
//! differs in at most ρ_i bits in some chunk i with ρ_i ≥ 0, and is found among the neighbours of the query's value there.
//!
//! r grows with the row's popcount, and rows are in the order of their popcounts. So the rows with the most bits, few as
//! they usually are, can be scanned, and the chunks read for a smaller r.

use super::query::Query;
use super::segment::{Segment, MEASURED};

/// Nanoseconds, measured on warm buffers; only their ratios matter.
#[derive(Clone, Copy, Debug)]
pub struct Costs {
    /// To look one value up in a posting page.
    pub probe: f64,
    /// To read one posting, and look at its row.
    pub candidate: f64,
    /// To scan one word of a row.
    pub scan_word: f64,
    /// To scan a row, whatever its length.
    pub scan_row: f64,
}

/// What searches cost that look at each candidate's row page.
pub const COSTS: Costs = Costs {
    probe: 45.0,
    candidate: 90.0,
    scan_word: 0.3,
    scan_row: 1.5,
};

impl Costs {
    pub(super) fn scan(&self, rows: u32, stride: usize) -> f64 {
        f64::from(rows) * (self.scan_row + self.scan_word * stride as f64)
    }
}

/// What is read.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchPlan {
    /// For each chunk its radius, −1 to leave it out.
    pub radii: Vec<i32>,
    /// Rows that are searched by chunks.
    pub probed: std::ops::Range<u32>,
    /// Rows that are scanned.
    pub scanned: std::ops::Range<u32>,
    /// Nanoseconds, estimated.
    pub cost: f64,
}

/// n over k, in float8.
fn choose(n: u32, k: u32) -> f64 {
    (0..k)
        .map(|i| f64::from(n - i) / f64::from(i + 1))
        .product()
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
    let p = &segment.postings[i];
    if radius > p.chunk.width {
        return f64::INFINITY;
    }
    let probes = choose(p.chunk.width, radius);
    let expected = match p.expected.get(radius as usize) {
        Some(&measured) => measured,
        None => {
            let last = MEASURED - 1;
            p.expected[last] * probes / choose(p.chunk.width, last as u32).max(1.0)
        }
    };
    // a value that is frequent has frequent neighbours, more or less
    let candidates = match own {
        Some(own) if radius == 0 => f64::from(own),
        Some(own) => {
            let factor = (f64::from(own) + 1.0) / (p.expected[0] + 1.0);
            expected * factor.clamp(0.2, 20.0)
        }
        None => expected,
    };
    probes * costs.probe + candidates * costs.candidate
}

/// The cheapest way found to search `segment`. `own` has for each chunk the length of the list of
/// the query's own value, if known.
pub fn plan(segment: &Segment, query: &Query, own: Option<&[u32]>, costs: &Costs) -> SearchPlan {
    let stride = segment.geometry.stride;
    let Some((lo, hi)) = query.window() else {
        return SearchPlan {
            radii: Vec::new(),
            probed: 0..0,
            scanned: 0..0,
            cost: 0.0,
        };
    };
    let all = segment.range(lo, hi);
    let mut best = SearchPlan {
        radii: Vec::new(),
        probed: all.start..all.start,
        scanned: all.clone(),
        cost: costs.scan(all.end - all.start, stride),
    };
    if segment.postings.is_empty() || all.is_empty() || query.threshold() <= 0.0 {
        return best;
    }
    let mut radii = vec![-1i32; segment.postings.len()];
    let cost_of = |i: usize, radius: u32| step(segment, i, radius, own.map(|o| o[i]), costs);
    let mut next: Vec<f64> = (0..radii.len()).map(|i| cost_of(i, 0)).collect();
    let (mut spent, mut steps) = (0.0, 0u32);
    // popcounts ascending: everything up to `popcount` is probed with the radius that it takes
    let mut widest = 0;
    for popcount in lo..=hi {
        widest = widest.max(query.radius(popcount));
        while steps < widest + 1 {
            let i = (0..next.len())
                .min_by(|&a, &b| next[a].total_cmp(&next[b]))
                .expect("one chunk at least");
            spent += next[i];
            if spent >= best.cost {
                return best;
            }
            radii[i] += 1;
            next[i] = cost_of(i, radii[i] as u32 + 1);
            steps += 1;
        }
        let cut = segment.first[popcount as usize + 1];
        let cost = spent + costs.scan(all.end - cut, stride);
        if cost < best.cost {
            best = SearchPlan {
                radii: radii.clone(),
                probed: all.start..cut,
                scanned: cut..all.end,
                cost,
            };
        }
    }
    best
}
