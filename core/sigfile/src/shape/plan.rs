//! Planning sampled sketches: how many bits, by which estimate they are searched so that enough is found, and what that
//! costs an index.

use crate::budget::{choose, SearchSteps};
use crate::chunk::{Chunk, Frequencies};
use crate::costs::SEARCH;
use crate::keys::PageOrders;
use crate::query::Query;
use crate::rows::Geometry;
use crate::segment::{Postings, Segment, MEASURED};
use base::range::unit;
use base::{Error, ErrorKind, Result};
use signature::similarity::Measure;
use signature::sketch::{agreement, SketchShape};

/// Numbers of bits that are worth a look.
pub const NUMBERS: [u16; 11] = [32, 64, 96, 128, 192, 256, 320, 384, 512, 768, 1024];

/// Most rows of a segment, for which plans are made: more are more segments.
const MOST_ROWS: i64 = 1 << 24;

/// What to expect of sketches of so many bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SketchPlan {
    /// Bits.
    pub n: u16,
    /// The estimate that is searched for: −1 to 1.
    pub threshold: f64,
    /// By how much that is less than the similarity that is wanted.
    pub margin: f64,
    /// The share of pairs of exactly the similarity wanted that have such an estimate; of more similar ones it is more.
    pub recall: f64,
    /// The share of pairs without a common token that have such an estimate, too.
    pub chance: f64,
    /// Chunks of an index of so many rows; 0 if it has none.
    pub chunks: u32,
    /// Posting lists that a search looks up.
    pub probes: f64,
    /// Whether a search looks at every row instead.
    pub scans: bool,
}

/// Natural logarithms of 0! to n!.
fn factorials(n: u16) -> Vec<f64> {
    let mut sum = 0.0;
    let logs = (1..=n).map(|i| f64::from(i).ln());
    std::iter::once(0.0)
        .chain(logs.map(|log| {
            sum += log;
            sum
        }))
        .collect()
}

/// How likely `n` throws with probability p give each number of successes.
fn binomial(n: u16, p: f64) -> Vec<f64> {
    let logs = factorials(n);
    let n = usize::from(n);
    let of = |k: usize| {
        // 0 · ln 0 is 0 here.
        let power = |k: usize, p: f64| if k == 0 { 0.0 } else { k as f64 * p.ln() };
        (logs[n] - logs[k] - logs[n - k] + power(k, p) + power(n - k, 1.0 - p)).exp()
    };
    (0..=n).map(of).collect()
}

/// How many bits at least agree in pairs of exactly this similarity with probability `recall`, the most for which that
/// is so, and with which probability they do.
pub(super) fn least_found(n: u16, similarity: f64, recall: f64) -> (u32, f64) {
    let near = binomial(n, (1.0 + similarity) / 2.0);
    let (mut agree, mut found) = (u32::from(n), near[usize::from(n)]);
    while found < recall && agree > 0 {
        agree -= 1;
        found += near[agree as usize];
    }
    (agree, found)
}

/// What to expect of sketches of `n` bits where pairs of Jaccard similarity `similarity` are to be found with
/// probability `recall`, among so many rows of which no two have anything in common.
///
/// Errors: a similarity or a recall that is not above 0 and at most 1; rows below 1.
pub fn plan(rows: i64, similarity: f64, recall: f64, n: u16) -> Result<SketchPlan> {
    for (name, value) in [("similarity", similarity), ("recall", recall)] {
        unit(name, value)?;
        if value == 0.0 {
            let message = format!("{name} 0 is out of range");
            return Err(Error::new(ErrorKind::InvalidParameter, message)
                .detail(format!("The {name} that is wanted is greater than 0.")));
        }
    }
    if rows < 1 {
        return Err(Error::new(
            ErrorKind::InvalidParameter,
            format!("number of rows {rows} is out of range"),
        )
        .detail("There is one row at least."));
    }
    SketchShape::new(n.into(), 0)?;
    let bits = u32::from(n);
    let (agree, found) = least_found(n, similarity, recall);
    let far = binomial(n, 0.5);
    let threshold = agreement(agree, n);
    let searched = search(rows.min(MOST_ROWS) as u32, &far, bits, bits - agree)?;
    Ok(SketchPlan {
        n,
        threshold,
        margin: similarity - threshold,
        recall: found.min(1.0),
        chance: far[agree as usize..].iter().sum(),
        chunks: searched.0,
        probes: searched.1,
        scans: searched.2,
    })
}

/// Chunks, lists that are looked up, and whether all rows are looked at instead: of a segment of rows of fair coins, of
/// which `popcounts` are set, where rows are searched that differ in `radius` bits.
fn search(rows: u32, popcounts: &[f64], bits: u32, radius: u32) -> Result<(u32, f64, bool)> {
    let geometry = Geometry::new(1024, 0, false, false)?;
    let geometry = geometry.with_bits(bits, Measure::Agreement { bits })?;
    let postings = Frequencies::of_coins(bits).deal(rows, None);
    let postings = postings.into_iter().map(|chunk| Postings {
        chunk,
        first_page: 0,
        fences: vec![0],
        expected: std::array::from_fn(|i| expected(rows, chunk, i as u32)),
    });
    let mut below = 0.0;
    let before = popcounts.iter().map(|share| {
        let rows = (below * f64::from(rows)).round() as u32;
        below += share;
        rows
    });
    let mut first: Vec<u32> = before.map(|before| before.min(rows)).collect();
    first.resize(bits as usize + 3, rows);
    let segment = Segment {
        geometry,
        rows,
        least_threshold: 0.0,
        first,
        begins: PageOrders::default(),
        postings: postings.collect(),
    };
    let asked = Measure::of_hamming(bits, radius);
    let query = Query::of_popcount(&geometry, bits / 2, asked);
    let steps = SearchSteps::new(&segment, &SEARCH);
    let plan = steps.plan(&segment, &query, &segment.within(&query, None));
    let mut radii = vec![0; segment.postings.len()];
    let mut probes = 0.0;
    for chunk in steps.order().take(plan.steps) {
        probes += choose(segment.postings[chunk].chunk.width, radii[chunk]);
        radii[chunk] += 1;
    }
    Ok((segment.postings.len() as u32, probes, plan.steps == 0))
}

/// Rows whose value of a chunk differs from a given one in so many bits.
fn expected(rows: u32, chunk: Chunk, radius: u32) -> f64 {
    debug_assert!(radius < MEASURED as u32);
    f64::from(rows) * choose(chunk.width, radius.min(chunk.width)) / 2f64.powi(chunk.width as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binomials_add_up() {
        for (n, p) in [(1, 0.5), (64, 0.9), (192, 0.5), (1024, 0.95), (1024, 1.0)] {
            let all = binomial(n, p);
            assert!((all.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{n} {p}");
            let mean: f64 = (0..).zip(&all).map(|(k, p)| f64::from(k) * p).sum();
            assert!((mean - f64::from(n) * p).abs() < 1e-6, "{n} {p}");
        }
    }

    /// The lower the threshold, the more is found; more bits need less of a margin.
    #[test]
    fn plans_keep_what_they_promise() {
        for similarity in [0.5, 0.7, 0.8, 0.95, 1.0] {
            let mut last = f64::INFINITY;
            for n in NUMBERS {
                let plan = plan(1_000_000, similarity, 0.99, n).unwrap();
                assert!(plan.recall >= 0.99 && plan.margin >= 0.0, "{plan:?}");
                assert!(plan.margin <= last + 2.0 / f64::from(n), "{plan:?}");
                assert!(plan.scans == (plan.probes == 0.0), "{plan:?}");
                last = plan.margin;
            }
        }
        // as measured: 192 bits, Jaccard 0.8 found with recall .99 by an estimate of .69
        let plan = plan(1_000_000, 0.8, 0.99, 192).unwrap();
        assert!((0.67..=0.70).contains(&plan.threshold), "{plan:?}");
        assert!(!plan.scans && plan.chunks == 10, "{plan:?}");
    }

    #[test]
    fn few_rows_are_scanned() {
        let plan = plan(1000, 0.9, 0.5, 192).unwrap();
        assert!(plan.scans && plan.chunks == 0, "{plan:?}");
        assert!(super::plan(0, 0.9, 0.5, 192).is_err());
        assert!(super::plan(1, 0.0, 0.5, 192).is_err());
        assert!(super::plan(1, 0.5, f64::NAN, 192).is_err());
    }
}
