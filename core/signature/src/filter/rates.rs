//! Rates of error, by formula. k hash functions (segments), m bits, n n-grams, p = m/k bits a segment.

use super::shape::{prime_at_most, Shape};
use base::error::number;
use base::range::{of_percent, unit};
use base::{Error, ErrorKind, Result, Ticker};
use text::ngram;

/// Signatures of which a greater share of the bits is set are similar to each other, whatever was signed.
pub const FULL: f64 = 0.9;

/// Whether so many of `bits` bits are too many to tell what was signed.
pub fn is_full(popcount: u32, bits: u32) -> bool {
    f64::from(popcount) > FULL * f64::from(bits)
}

/// False-positive rate (1−e^(−kn/m))^k of a filter of n n-grams.
pub fn false_positive(k: f64, m: f64, n: f64) -> f64 {
    let exponent = -k * n / m;
    // little of a power near 1 is left in the difference
    let fill = if exponent > -1e-3 {
        -exponent.exp_m1()
    } else {
        1.0 - exponent.exp()
    };
    fill.powf(k)
}

/// The same where each of kn positions leaves a bit clear with probability 1−1/m: (1−(1−1/m)^(kn))^k.
pub fn exact_false_positive(k: f64, m: f64, n: f64) -> f64 {
    if n == 0.0 {
        return 0.0;
    }
    (-(k * n * (-1.0 / m).ln_1p()).exp_m1()).powf(k)
}

/// [`false_positive`] and [`exact_false_positive`], of numbers from outside.
///
/// Errors: k or m under 1, n under 0.
pub fn expected(k: i64, m: i64, n: i64) -> Result<(f64, f64)> {
    at_least(&[("k", k, 1), ("m", m, 1), ("n", n, 0)])?;
    let (k, m, n) = (k as f64, m as f64, n as f64);
    Ok((false_positive(k, m, n), exact_false_positive(k, m, n)))
}

/// Errors: a value, called so in messages, is under its least one.
pub(super) fn at_least(values: &[(&str, i64, i64)]) -> Result<()> {
    match values.iter().find(|(_, value, least)| value < least) {
        None => Ok(()),
        Some((name, value, least)) => {
            Err(Error::invalid(format!("{name} = {value} is out of range"))
                .detail(format!("{name} is at least {least}.")))
        }
    }
}

/// The number of hash functions that makes [`false_positive`] least for m/n bits an n-gram.
pub fn optimal_hashes(m_over_n: f64) -> f64 {
    (m_over_n * std::f64::consts::LN_2 + 0.5).floor()
}

/// The whole number of hash functions nearest to m/n·ln 2, 1 at least.
///
/// Errors: m or n under 1; more than an i32 holds.
pub fn optimal_k(m: i64, n: i64) -> Result<i32> {
    at_least(&[("m", m, 1), ("n", n, 1)])?;
    let k = optimal_hashes(m as f64 / n as f64).max(1.0);
    if k > f64::from(i32::MAX) {
        return Err(Error::new(
            ErrorKind::LimitExceeded,
            format!(
                "m = {m} bits for n = {n} n-grams call for more than {} hash functions",
                i32::MAX
            ),
        ));
    }
    Ok(k as i32)
}

/// Most bits of a word that [`distinct_ngrams`] counts with.
const MOST_BITS_OF_WORD: i64 = 1000;

/// Distinct n-grams of an unsegmented filter with exactly k of m bits an n-gram: C(m,k), in decimal digits.
///
/// Errors: m or k under 0, or k so large that nobody wants to know.
pub fn distinct_ngrams(m: i64, k: i64) -> Result<String> {
    at_least(&[("m", m, 0), ("k", k, 0)])?;
    if k > m {
        return Ok("0".to_owned());
    }
    let k = k.min(m - k);
    if k > MOST_BITS_OF_WORD {
        return Err(Error::invalid(format!("k = {k} is out of range"))
            .detail(format!("k, or m less k, is at most {MOST_BITS_OF_WORD}.")));
    }
    // Limbs of nine decimal digits, the lowest first.
    const BASE: u128 = 1_000_000_000;
    let mut limbs = vec![1u32];
    for i in 0..k as u128 {
        let mut carry = 0;
        for limb in &mut limbs {
            carry += u128::from(*limb) * (m as u128 - i);
            *limb = (carry % BASE) as u32;
            carry /= BASE;
        }
        while carry > 0 {
            limbs.push((carry % BASE) as u32);
            carry /= BASE;
        }
        // C(m,i+1) is whole
        let mut rest = 0;
        for limb in limbs.iter_mut().rev() {
            rest = rest * BASE + u128::from(*limb);
            *limb = (rest / (i + 1)) as u32;
            rest %= i + 1;
        }
        while limbs.len() > 1 && limbs.last() == Some(&0) {
            limbs.pop();
        }
    }
    let mut limbs = limbs.into_iter().rev();
    let first = limbs.next().unwrap_or(0).to_string();
    Ok(limbs.fold(first, |digits, limb| format!("{digits}{limb:09}")))
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
            _ => Err(
                Error::invalid(format!("collision model \"{name}\" does not exist"))
                    .hint("Use fpr, birthday or coll.")
                    .perhaps("model", name, ["fpr", "birthday", "coll"]),
            ),
        }
    }
}

/// Collision rate δ of n n-grams in a filter of k segments of p bits.
///
/// Errors: p, n or k under 1.
pub fn collision(model: CollisionModel, p: i64, n: i64, k: i64) -> Result<f64> {
    at_least(&[("p", p, 1), ("n", n, 1), ("k", k, 1)])?;
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

/// The least number of bits of a segment, prime or not, with which k segments of n n-grams have a collision rate of
/// `delta` at most.
///
/// Errors: n or k under 1, `delta` outside of 0…1 or 0, and more bits than an i32 counts.
pub fn segment_length(model: CollisionModel, n: i64, k: i64, delta: f64) -> Result<i32> {
    if !(delta > 0.0 && delta <= 1.0) {
        return Err(
            Error::invalid(format!("collision rate {} is out of range", number(delta)))
                .detail("A collision rate to reach is greater than 0 and at most 1."),
        );
    }
    let reached = |p: i64| Ok(collision(model, p, n, k)? <= delta);
    let (mut too_few, mut enough) = (0, i64::from(i32::MAX));
    if !reached(enough)? {
        return Err(Error::new(
            ErrorKind::LimitExceeded,
            format!("n = {n} n-grams in k = {k} segments need segments of more than {enough} bits for collision rate \
                {}", number(delta)),
        )
        .hint("Use a higher collision rate or more segments."));
    }
    while enough - too_few > 1 {
        let p = too_few + (enough - too_few) / 2;
        if reached(p)? {
            enough = p;
        } else {
            too_few = p;
        }
    }
    Ok(enough as i32)
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
        Err(
            Error::invalid(format!("{name} = {} is out of range", number(value)))
                .detail(format!("{name} {range}.")),
        )
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

// What a search of states misses that keeps those it has seen in a filter only (P. C. Dillinger, P. Manolios: Bloom
// Filters in Probabilistic Verification, FMCAD 2004): a new state that the filter takes for a seen one is omitted.

/// States that are summed up one by one.
const ONE_BY_ONE: f64 = 1_048_576.0;

/// Stretches that the sum over more states is integrated in, by five points each. The sum is so smooth there that all
/// digits agree.
const STRETCHES: u32 = 4096;

/// What a search of n states omits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Omissions {
    /// The expected number of states that are omitted themselves: Σ f(i), where f(i) is the false-positive rate with i
    /// states in the filter, and i goes from 0 to n−1. What can be reached through them only is not among them.
    pub expected: f64,
    /// The probability that any is: 1−Π(1−f(i)).
    pub any: f64,
}

/// What a search omits that puts n states into m bits by k hash functions. `tick` is called now and then.
///
/// Errors: k or m under 1, n under 0.
pub fn omissions(k: i64, m: i64, n: i64, tick: impl FnMut()) -> Result<Omissions> {
    at_least(&[("k", k, 1), ("m", m, 1), ("n", n, 0)])?;
    let (k, m, n) = (k as f64, m as f64, n as f64);
    let rate = |i: f64| exact_false_positive(k, m, i);
    // From here on the filter is full, and 1 is the nearest number to the rate.
    let full = ((60.0 + k.ln()) / k * m).ceil();
    let end = n.min(full);
    let mut ticker = Ticker::new(tick);
    let (mut expected, mut none) = (0.0, 0.0);
    let mut add = |weight: f64, rate: f64| {
        expected += weight * rate;
        // the logarithm of the probability that none is
        none += weight * (-rate).ln_1p();
    };
    if end <= ONE_BY_ONE {
        for i in 0..end as u64 {
            add(1.0, rate(i as f64));
            ticker.step();
        }
    } else {
        // The sum over 0…end−1 is the integral from −1/2 to end−1/2, but for what is nothing where there are so many;
        // the first states are taken one by one, since the rate is not smooth where it begins.
        let begin = ONE_BY_ONE / 2.0;
        for i in 0..begin as u64 {
            add(1.0, rate(i as f64));
            ticker.step();
        }
        let half = (end - begin) / f64::from(STRETCHES) / 2.0;
        for stretch in 0..STRETCHES {
            let middle = begin - 0.5 + (2.0 * f64::from(stretch) + 1.0) * half;
            for (at, weight) in GAUSS {
                add(weight * half, rate(middle + at * half));
                ticker.step();
            }
        }
    }
    expected += n - end;
    // not −0 where nothing can be omitted
    let any = if n > end { 1.0 } else { 0.0 - none.exp_m1() };
    Ok(Omissions { expected, any })
}

/// Points and weights of Gauss and Legendre, for −1…1.
const GAUSS: [(f64, f64); 5] = [
    (-0.906_179_845_938_664, 0.236_926_885_056_189_08),
    (-0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
    (0.0, 0.568_888_888_888_888_9),
    (0.538_469_310_105_683_1, 0.478_628_670_499_366_47),
    (0.906_179_845_938_664, 0.236_926_885_056_189_08),
];

// The shape that a text length and a target false-positive rate call for.

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
        .detail("fpr lies between 0 and 1, both excluded.")
        .hint(of_percent(fpr).unwrap_or_default()));
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
        actual_fpr: false_positive(k, f64::from(shape.m()), f64::from(n)),
        pattern_floor: f64::from(n) / patterns,
    })
}
