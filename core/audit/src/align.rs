//! Which pattern is which token: patterns come as often, and come together as often, as their tokens do in the reference.

use crate::bits::{common, count};
use crate::patterns::Pattern;

/// Patterns and tokens that are compared, at most, the commonest ones.
const MOST: usize = 300;

/// The first patterns are tried as each pair of so many of the commonest tokens.
const STARTS: usize = 16;

/// Correlations differ so much even where pattern and token are the same.
const NOISE: f64 = 0.04;

/// Nodes, of which some are the same as those of another graph.
pub(crate) struct Graph {
    /// How common each node is.
    pub shares: Vec<f64>,
    /// How each two belong together.
    pub weights: Vec<Vec<f32>>,
}

impl Graph {
    fn new(sets: &[&[u64]], records: usize) -> Graph {
        let all = records.max(1) as f64;
        let shares: Vec<f64> = sets.iter().map(|set| count(set) as f64 / all).collect();
        let deviation = |share: f64| (share * (1.0 - share)).sqrt().max(1e-6);
        let correlations = sets.iter().enumerate().map(|(i, a)| {
            let to = |(j, b): (usize, &&[u64])| {
                let both = common(a, b) as f64 / all;
                ((both - shares[i] * shares[j]) / deviation(shares[i]) / deviation(shares[j]))
                    as f32
            };
            sets.iter().enumerate().map(to).collect()
        });
        Graph {
            weights: correlations.collect(),
            shares,
        }
    }
}

/// Pairs of a pattern and a token, as far as they can be told. `tokens` are the sets of other records that have them;
/// a record counts for so much, less than 1 where they depend on one another.
pub(crate) fn align(
    patterns: &[Pattern],
    records: usize,
    tokens: &[&[u64]],
    others: usize,
    weight: f64,
    turn: &mut dyn FnMut(),
) -> Vec<(usize, usize)> {
    let sets = patterns
        .iter()
        .take(MOST)
        .map(|pattern| &pattern.having[..]);
    let theirs = Graph::new(&sets.collect::<Vec<_>>(), records);
    let ours = Graph::new(&tokens[..tokens.len().min(MOST)], others);
    let records = (records.min(others) as f64 * weight) as usize;
    match_graphs(&theirs, &ours, records, turn)
}

/// Pairs of nodes of two graphs that are most likely the same, as far as that can be told. Shares are those of so many records.
pub(crate) fn match_graphs(
    theirs: &Graph,
    ours: &Graph,
    records: usize,
    turn: &mut dyn FnMut(),
) -> Vec<(usize, usize)> {
    let records = records.max(1) as f64;
    let matcher = Matcher {
        theirs,
        ours,
        records,
    };
    if theirs.shares.len() < 2 || ours.shares.len() < 2 {
        return Vec::new();
    }
    let mut best: (f64, Vec<(usize, usize)>) = (f64::MIN, Vec::new());
    for first in 0..STARTS.min(ours.shares.len()) {
        for second in (0..STARTS.min(ours.shares.len())).filter(|second| *second != first) {
            turn();
            let start = vec![(0, first), (1, second)];
            if matcher.gain(0, first, &[]) < 0.0 || matcher.gain(1, second, &start[..1]) < 0.0 {
                continue;
            }
            let (score, pairs) = matcher.extend(start, 40);
            if score > best.0 {
                best = (score, pairs);
            }
        }
    }
    // Each pair once more in the light of all others, and then the patterns that are left.
    let mut pairs = best.1;
    for _ in 0..3 {
        turn();
        let (_, all) = matcher.extend(pairs.clone(), usize::MAX);
        pairs = all
            .iter()
            .filter_map(|&(pattern, _)| {
                let others: Vec<_> = all
                    .iter()
                    .copied()
                    .filter(|pair| pair.0 != pattern)
                    .collect();
                matcher
                    .best(pattern, &others)
                    .map(|(token, _)| (pattern, token))
            })
            .collect();
    }
    pairs
}

struct Matcher<'a> {
    theirs: &'a Graph,
    ours: &'a Graph,
    records: f64,
}

impl Matcher<'_> {
    /// How much better a pair fits than one by chance would.
    fn gain(&self, pattern: usize, token: usize, pairs: &[(usize, usize)]) -> f64 {
        let (a, b) = (self.theirs.shares[pattern], self.ours.shares[token]);
        let variance = (1.0 / a + 1.0 / b) / self.records + 0.06 * 0.06;
        let mut cost = (a / b).ln().powi(2) / variance;
        let variance = 2.0 / self.records + NOISE * NOISE;
        for (other, its) in pairs {
            let difference = self.theirs.weights[pattern][*other] - self.ours.weights[token][*its];
            // One that is far off says no more than that this is wrong somewhere.
            cost += (f64::from(difference).powi(2) / variance).min(25.0);
        }
        9.0 + 4.0 * pairs.len().min(20) as f64 / 4.0
            - cost
                * (pairs.len().min(20) as f64 / pairs.len().max(1) as f64)
                    .max(f64::from(pairs.is_empty()))
    }

    /// The token that fits a pattern best, if another one fits clearly less, and the gain.
    fn best(&self, pattern: usize, pairs: &[(usize, usize)]) -> Option<(usize, f64)> {
        let mut best: Option<(usize, f64)> = None;
        for token in 0..self.ours.shares.len() {
            let ratio = self.theirs.shares[pattern] / self.ours.shares[token];
            if !(0.6..1.7).contains(&ratio) || pairs.iter().any(|pair| pair.1 == token) {
                continue;
            }
            let gain = self.gain(pattern, token, pairs);
            if best.is_none_or(|(_, known)| gain > known) {
                best = Some((token, gain));
            }
        }
        best.filter(|(_, gain)| *gain > 0.0)
    }

    /// Adds pairs of the commonest patterns, and gives the sum of gains.
    fn extend(&self, mut pairs: Vec<(usize, usize)>, most: usize) -> (f64, Vec<(usize, usize)>) {
        let mut sum = 0.0;
        for pattern in 0..self.theirs.shares.len().min(most) {
            if pairs.iter().any(|pair| pair.0 == pattern) {
                continue;
            }
            if let Some((token, gain)) = self.best(pattern, &pairs) {
                sum += gain;
                pairs.push((pattern, token));
            }
        }
        (sum, pairs)
    }
}
