//! What an audit says: how signatures differ from what independent bits would be, what each attack reads, and what to do.

use std::collections::HashMap;

use crate::bits::{common, count, Signatures, MANY};
use crate::{by_differences, by_graphs, by_patterns, Reference};

/// The commonest tokens, of which it is counted how many are read.
pub const TOKENS: usize = 100;

/// Bits whose correlations are looked at, at most.
const MOST_CORRELATED: usize = 4096;

/// One thing that was measured.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What it is.
    pub measure: &'static str,
    /// The number: a share, or how many.
    pub value: f64,
    /// What it would be if signatures said nothing.
    pub expected: Option<f64>,
    /// What to do about it, if something is to be done.
    pub advice: Option<&'static str>,
}

/// The advice against the attacks.
const HARDEN: &str = "salt by an attribute that is nearly each record's own, and diffusion";

/// Measures signatures, and attacks them by a reference. Without signatures there is one finding, that there are none.
/// `turn` is called again and again.
pub fn audit(of: &Signatures, reference: &Reference, turn: &mut dyn FnMut()) -> Vec<Finding> {
    let records = of.records() as f64;
    let mut found = Vec::new();
    let mut say = |measure, value, expected, advice: Option<(bool, &'static str)>| {
        let advice = advice.and_then(|(is_bad, advice)| is_bad.then_some(advice));
        found.push(Finding {
            measure,
            value,
            expected,
            advice,
        });
    };
    if of.records() == 0 {
        say(
            "records",
            0.0,
            None,
            Some((true, "there is nothing to be audited")),
        );
        return found;
    }
    let few = "fewer than 1000 records say little: audit more";
    say("records", records, None, Some((of.records() < 1000, few)));
    say(
        "reference records",
        reference.records() as f64,
        None,
        Some((reference.records() < 1000, few)),
    );
    let bits: Vec<usize> = of.telling().collect();
    let number = bits.len().max(1) as f64;
    let shares = || bits.iter().map(|bit| of.shares()[*bit]);
    let mean = shares().sum::<f64>() / number;
    let moment = |power| {
        shares()
            .map(|share| (share - mean).powi(power))
            .sum::<f64>()
            / number
    };
    let deviation = moment(2).sqrt();
    let chance = (mean * (1.0 - mean) / records).sqrt();
    say("share of bits set", mean, None, None);
    say(
        "deviation of bit frequencies",
        deviation,
        Some(chance),
        Some((
            deviation > 3.0 * chance,
            "bits are not equally common, as tokens are not: diffusion",
        )),
    );
    let skewness = if deviation > 0.0 {
        moment(3) / deviation.powi(3)
    } else {
        0.0
    };
    let by_chance = 3.0 * (6.0 / number).sqrt();
    say(
        "skewness of bit frequencies",
        skewness,
        Some(0.0),
        Some((
            skewness.abs() > by_chance && deviation > 3.0 * chance,
            "some bits are far commoner than others: diffusion",
        )),
    );
    let lengths: Vec<f64> = (0..of.records()).map(|n| count(of.row(n)) as f64).collect();
    let mean = lengths.iter().sum::<f64>() / records;
    let deviation = (lengths
        .iter()
        .map(|length| (length - mean).powi(2))
        .sum::<f64>()
        / records)
        .sqrt();
    let chance = shares()
        .map(|share| share * (1.0 - share))
        .sum::<f64>()
        .sqrt();
    say(
        "deviation of lengths",
        deviation,
        Some(chance),
        Some((
            deviation > 1.5 * chance,
            "lengths of values are seen: bitsPerFeature, balance, or diffusion",
        )),
    );
    let mut times: HashMap<&[u64], usize> = HashMap::new();
    for n in 0..of.records() {
        *times.entry(of.row(n)).or_default() += 1;
    }
    let repeated: usize = times.values().filter(|times| **times > 1).sum();
    let repeated = repeated as f64 / records;
    say(
        "share of repeated signatures",
        repeated,
        Some(0.0),
        Some((
            repeated > 0.01,
            "frequent records are told by how often they come: salt",
        )),
    );
    let (mut squares, mut pairs) = (0.0, 0.0);
    // Of more bits some, the same number of steps apart: there are as many pairs as the square of them.
    let step = bits.len().div_ceil(MOST_CORRELATED).max(1);
    let some: Vec<usize> = bits.iter().copied().step_by(step).collect();
    for (n, a) in some.iter().enumerate() {
        for (m, b) in some[n + 1..].iter().enumerate() {
            if m % MANY == 0 {
                turn();
            }
            let (p, q) = (of.shares()[*a], of.shares()[*b]);
            let both = common(of.column(*a), of.column(*b)) as f64 / records;
            squares += (both - p * q).powi(2) / (p * (1.0 - p) * q * (1.0 - q)).max(1e-9);
            pairs += 1.0;
        }
    }
    let correlation = (squares / f64::max(pairs, 1.0)).sqrt();
    let chance = records.sqrt().recip();
    say(
        "co-occurrence of bits",
        correlation,
        Some(chance),
        Some((
            correlation > 1.5 * chance,
            "bits of a token are set together: salt",
        )),
    );
    type Attack = fn(&Signatures, &Reference, &mut dyn FnMut()) -> crate::Reading;
    let attacks: [(Attack, [&str; 2]); 3] = [
        (
            by_patterns,
            [
                "tokens read by pattern mining",
                "records read by pattern mining",
            ],
        ),
        (
            by_graphs,
            [
                "tokens read by graph matching",
                "records read by graph matching",
            ],
        ),
        (
            by_differences,
            ["tokens read by differences", "records read by differences"],
        ),
    ];
    for (attack, measures) in attacks {
        let reading = attack(of, reference, turn);
        let most = reference.tokens().len().min(TOKENS);
        let read = reading.believed()[..most].iter().filter(|is| **is).count();
        let read = read as f64 / most.max(1) as f64;
        say(measures[0], read, Some(0.0), Some((read > 0.01, HARDEN)));
        let read = reading.records(of, reference);
        say(measures[1], read, Some(0.0), Some((read > 0.01, HARDEN)));
    }
    found
}
