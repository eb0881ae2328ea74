//! The shape that a text length and a target false-positive rate call for.

use super::rates;
use super::shape::{prime_at_most, Shape};
use base::error::number;
use base::{Error, Result};
use text::ngram;

/// Normalised symbols, or tokens, to plan for.
pub const MAX_CHARS: std::ops::RangeInclusive<i64> = 1..=10_000;

/// Both ends excluded.
pub const FPR_RANGE: std::ops::Range<f64> = 0.0..1.0;

/// A planned filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilterPlan {
    /// The shape to use.
    pub shape: Shape,
    /// N-grams of a text of the planned length, or tokens.
    pub n: u32,
    /// False-positive rate by the formula, (1−e^(−kn/m))^k.
    pub actual_fpr: f64,
    /// n/(p(p−2)): n-grams share one of p(p−2) patterns, so n of them also answer for this share of
    /// all others, however low the rate by the formula is. For tokens, which have one of p^k patterns, n/p^k.
    pub pattern_floor: f64,
}

/// The shape for texts of up to `max_chars` symbols: that of as many n-grams as they have.
///
/// Errors: an argument out of range, or a shape beyond k 64 or p 8191.
pub fn plan(max_chars: i64, ngram: i64, fpr: f64) -> Result<FilterPlan> {
    plan_for("max_chars", max_chars, Some(ngram), fpr)
}

/// The shape for sets of up to `max_tokens` tokens.
///
/// Errors: as those of [`plan`].
pub fn plan_tokens(max_tokens: i64, fpr: f64) -> Result<FilterPlan> {
    plan_for("max_tokens", max_tokens, None, fpr)
}

/// m₀ = ⌈−n·ln f / ln²2⌉, k = max(1, ⌊m₀/n·ln 2 + ½⌋), p the largest prime ≤ m₀/k. `most` is called `what` in messages.
fn plan_for(what: &str, most: i64, ngram: Option<i64>, fpr: f64) -> Result<FilterPlan> {
    if !MAX_CHARS.contains(&most) {
        return Err(Error::invalid(format!("{what} {most} is out of range"))
            .detail(format!("{what} goes from 1 to 10000.")));
    }
    if !(fpr > FPR_RANGE.start && fpr < FPR_RANGE.end) {
        return Err(Error::invalid(format!(
            "false-positive rate {} is out of range",
            number(fpr)
        ))
        .detail("fpr lies between 0 and 1, both excluded."));
    }
    let ngram = ngram.map(ngram::check_length).transpose()?;
    let n = most as u32 + ngram.map_or(0, |ngram| u32::from(ngram) - 1);
    let ln2 = std::f64::consts::LN_2;
    let m0 = (-f64::from(n) * fpr.ln() / (ln2 * ln2)).ceil();
    let k = (m0 / f64::from(n) * ln2 + 0.5).floor().max(1.0);
    let p = prime_at_most((m0 / k).floor() as u32);
    let too_big = |parameter: &str, value: f64, limit: u32| {
        Error::invalid(format!(
            "{what} {most} with false-positive rate {} needs {parameter} = {value}",
            number(fpr)
        ))
        .detail(format!("{parameter} is {limit} at most."))
    };
    if k > f64::from(Shape::MAX_K) {
        return Err(too_big("k", k, u32::from(Shape::MAX_K)).hint("Use a higher fpr."));
    }
    if p > u32::from(Shape::MAX_P) {
        return Err(too_big("p", f64::from(p), u32::from(Shape::MAX_P))
            .hint(format!("Use a lower {what}.")));
    }
    let shape = Shape::new(k as i64, i64::from(p), ngram.map_or(0, i64::from))?;
    let p = f64::from(p);
    let patterns = match ngram {
        Some(_) => p * (p - 2.0),
        None => p.powf(k),
    };
    Ok(FilterPlan {
        shape,
        n,
        actual_fpr: rates::false_positive(k, f64::from(shape.m()), f64::from(n)),
        pattern_floor: f64::from(n) / patterns,
    })
}
