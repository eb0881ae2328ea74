//! Rates of error, by formula. k hash functions (segments), m bits, n n-grams, p = m/k bits a segment.

use crate::error::number;
use crate::range::unit;
use crate::{Error, ErrorKind, Result};

/// False-positive rate (1−e^(−kn/m))^k of a filter of n n-grams.
pub fn false_positive(k: f64, m: f64, n: f64) -> f64 {
    (1.0 - (-k * n / m).exp()).powf(k)
}

/// The number of hash functions that makes [`false_positive`] least for m/n bits an n-gram.
pub fn optimal_hashes(m_over_n: f64) -> f64 {
    (m_over_n * std::f64::consts::LN_2 + 0.5).floor()
}

/// Distinct n-grams of an unsegmented filter with exactly k of m bits an n-gram: C(m,k), `None` where
/// it exceeds u128.
pub fn distinct_ngrams(m: u32, k: u32) -> Option<u128> {
    (0..u128::from(k.min(m)))
        .try_fold(1u128, |c, i| {
            c.checked_mul(u128::from(m) - i).map(|c| c / (i + 1))
        })
        .map(|c| if k > m { 0 } else { c })
}

/// Estimated distinct n-grams behind a fill rate: −p·ln(1−fill); infinite for a full filter.
pub fn ngrams(p: f64, fill: f64) -> f64 {
    // + 0.0: an empty filter holds 0 n-grams, not −0
    -p * (1.0 - fill).ln() + 0.0
}

/// False-positive estimate of f superimposed filters of n n-grams each: 0.6185^(m/(f·n)).
pub fn superimposed(m: f64, n: f64, filters: f64) -> f64 {
    0.6185f64.powf(m / (filters * n))
}

/// How a bit collision rate δ is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollisionModel {
    /// (1−e^(−n/p))^k
    Fpr,
    /// (1−Π (p−i)/p)^k
    Birthday,
    /// (1−(1−1/(2p))·(1−3/(4p))^(n−1))^k
    Coll,
}

impl std::str::FromStr for CollisionModel {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        match name {
            "fpr" => Ok(CollisionModel::Fpr),
            "birthday" => Ok(CollisionModel::Birthday),
            "coll" => Ok(CollisionModel::Coll),
            _ => Err(Error::new(
                ErrorKind::InvalidParameter,
                format!("collision model \"{name}\" does not exist"),
            )
            .hint("Use fpr, birthday or coll.")),
        }
    }
}

/// Collision rate δ of n n-grams in a filter of k segments of p bits.
///
/// Errors: p, n or k under 1.
pub fn collision(model: CollisionModel, p: i64, n: i64, k: i64) -> Result<f64> {
    for (name, value) in [("p", p), ("n", n), ("k", k)] {
        if value < 1 {
            return Err(Error::new(
                ErrorKind::InvalidParameter,
                format!("{name} = {value} is out of range"),
            )
            .detail(format!("{name} is at least 1.")));
        }
    }
    let (pf, nf) = (p as f64, n as f64);
    let one = match model {
        CollisionModel::Fpr => 1.0 - (-nf / pf).exp(),
        CollisionModel::Birthday if n > p => 1.0,
        CollisionModel::Birthday => {
            let mut free = 1.0;
            for i in 0..n {
                free *= (p - i) as f64 / pf;
                // nothing of it is left in 1 − free (and it would never reach 0)
                if free < f64::EPSILON / 4.0 {
                    break;
                }
            }
            1.0 - free
        }
        CollisionModel::Coll => {
            1.0 - (1.0 - 1.0 / (2.0 * pf)) * (1.0 - 3.0 / (4.0 * pf)).powf(nf - 1.0)
        }
    };
    Ok(one.powf(k as f64))
}

/// What a similarity of n-grams becomes on bits: γ·(1+2δ−δ²)/(1+δ²). It may exceed 1.
///
/// Errors: γ or δ outside 0…1.
pub fn corrected_threshold(gamma: f64, delta: f64) -> Result<f64> {
    unit("threshold", gamma)?;
    Ok(gamma * factor(delta)?)
}

/// What a similarity of bits says of n-grams: s·(1+δ²)/(1+2δ−δ²).
///
/// Errors: δ outside 0…1.
pub fn corrected_similarity(similarity: f64, delta: f64) -> Result<f64> {
    Ok(similarity / factor(delta)?)
}

fn factor(delta: f64) -> Result<f64> {
    unit("collision rate", delta)?;
    Ok((1.0 + 2.0 * delta - delta * delta) / (1.0 + delta * delta))
}

/// Jain's estimate of the share of chance agreements among the set bits of a filter of n n-grams
/// that has c n-grams in common with another (N. Jain, M. Dahlin, R. Tewari: Using Bloom Filters to
/// Refine Web Search Results, WebDB 2005):
/// (1−e^(−k/m·(c+(n−c)·0.6185^(m/n)))) / (1−e^(−nk/m)). k need not be whole.
///
/// Errors: m or n under 1, k not positive and finite, c not in 0…n.
pub fn jain(m: f64, n: f64, k: f64, c: f64) -> Result<f64> {
    let bad = |name: &str, value: f64, range: &str| {
        Err(Error::new(
            ErrorKind::InvalidParameter,
            format!("{name} = {} is out of range", number(value)),
        )
        .detail(format!("{name} {range}.")))
    };
    if !(m >= 1.0 && m.is_finite()) {
        return bad("m", m, "is at least 1");
    }
    if !(n >= 1.0 && n.is_finite()) {
        return bad("n", n, "is at least 1");
    }
    if !(k > 0.0 && k.is_finite()) {
        return bad("k", k, "is greater than 0");
    }
    if !(0.0..=n).contains(&c) {
        return bad("c", c, "lies between 0 and n");
    }
    let by_chance = (n - c) * 0.6185f64.powf(m / n);
    // exp_m1: the difference from 1 of what may be very near it
    Ok((-k / m * (c + by_chance)).exp_m1() / (-n * k / m).exp_m1())
}
