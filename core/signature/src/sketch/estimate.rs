//! How far an estimate is from the similarity that it estimates.

use super::shape::{SketchKind, SketchShape};
use base::range::unit;
use base::Result;

/// The standard error of an estimate from `n` minima or bits, for sets of Jaccard similarity s: √(s·(1 − s)/n) from
/// minima, √((1 − s²)/n) from bits, since each bit agrees with probability (1 + s)/2.
///
/// Errors: a similarity outside 0…1, n not in 1…1024.
pub fn standard_error(similarity: f64, n: i64, kind: SketchKind) -> Result<f64> {
    unit("similarity", similarity)?;
    let n = f64::from(SketchShape::new(n, 0)?.n());
    let variance = match kind {
        SketchKind::Minima => similarity * (1.0 - similarity),
        SketchKind::Bits => (1.0 - similarity) * (1.0 + similarity),
    };
    Ok((variance / n).sqrt())
}
