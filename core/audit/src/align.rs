//! Which node of one graph is which of another: nodes are as common, and belong to one another as much, on both sides. Patterns
//! come as often, and come together as often, as their tokens do in the reference.

use crate::bits::{common, count};

/// Nodes of each side that are compared, at most, the commonest ones.
pub(crate) const MOST_NODES: usize = 300;

/// Each two of the first nodes are tried as each two of so many of the commonest ones of the other side.
const FIRST: usize = 3;
const STARTS: usize = 16;

/// From a start so many nodes are matched, to see how good it is.
const EXTENDED: usize = 40;

/// A ratio of shares up to which nodes may be the same.
pub(crate) const RATIO: f64 = 1.7;

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
    /// Of sets of records: how they correlate.
    pub fn new(sets: &[&[u64]], records: usize, turn: &mut dyn FnMut()) -> Graph {
        let all = records.max(1) as f64;
        let shares: Vec<f64> = sets.iter().map(|set| count(set) as f64 / all).collect();
        let deviation = |share: f64| (share * (1.0 - share)).sqrt().max(1e-6);
        let correlations = sets.iter().enumerate().map(|(i, a)| {
            turn();
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

/// Pairs of nodes of two graphs that are most likely the same, as far as that can be told. Shares are those of so many records.
/// Some pairs are known already; they stay.
pub(crate) fn match_graphs(
    theirs: &Graph,
    ours: &Graph,
    records: f64,
    known: &[(usize, usize)],
    turn: &mut dyn FnMut(),
) -> Vec<(usize, usize)> {
    let matcher = Matcher::new(theirs, ours, records);
    let is_free = |node: &usize| !known.iter().any(|pair| pair.0 == *node);
    let free: Vec<usize> = (0..theirs.shares.len())
        .filter(is_free)
        .take(FIRST)
        .collect();
    let is_free = |node: &usize| !known.iter().any(|pair| pair.1 == *node);
    let starts: Vec<usize> = (0..ours.shares.len())
        .filter(is_free)
        .take(STARTS)
        .collect();
    let mut best = matcher.extend(known.to_vec(), EXTENDED);
    for (n, first) in free.iter().enumerate() {
        for second in &free[n + 1..] {
            for a in &starts {
                turn();
                let mut start = known.to_vec();
                let gain = matcher.gain(*first, *a, &start);
                if gain < 0.0 {
                    continue;
                }
                start.push((*first, *a));
                for b in starts.iter().filter(|b| *b != a) {
                    let other = matcher.gain(*second, *b, &start);
                    if other < 0.0 {
                        continue;
                    }
                    start.push((*second, *b));
                    let (score, pairs) = matcher.extend(start.clone(), EXTENDED);
                    if score + gain + other > best.0 {
                        best = (score + gain + other, pairs);
                    }
                    start.pop();
                }
            }
        }
    }
    // Each pair once more in the light of all others, and then the nodes that are left.
    let mut pairs = best.1;
    for _ in 0..3 {
        turn();
        let (_, all) = matcher.extend(pairs.clone(), usize::MAX);
        pairs = all
            .iter()
            .filter_map(|&(node, other)| {
                if known.contains(&(node, other)) {
                    return Some((node, other));
                }
                let others: Vec<_> = all.iter().copied().filter(|pair| pair.0 != node).collect();
                matcher.best(node, &others).map(|(other, _)| (node, other))
            })
            .collect();
    }
    pairs
}

pub(crate) struct Matcher<'a> {
    theirs: &'a Graph,
    ours: &'a Graph,
    records: f64,
}

impl<'a> Matcher<'a> {
    pub(crate) fn new(theirs: &'a Graph, ours: &'a Graph, records: f64) -> Matcher<'a> {
        Matcher {
            theirs,
            ours,
            records: records.max(1.0),
        }
    }

    /// How much better a pair fits than one by chance would.
    pub(crate) fn gain(&self, pattern: usize, token: usize, pairs: &[(usize, usize)]) -> f64 {
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
            if !(1.0 / RATIO..RATIO).contains(&ratio) || pairs.iter().any(|pair| pair.1 == token) {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes of which each is as common, and belongs to each other one, as its number says.
    fn graph(order: &[usize]) -> Graph {
        let weight = |a: usize, b: usize| match a == b {
            true => 1.0,
            false => ((a * b * 7 + a + b) % 13) as f32 / 20.0 - 0.2,
        };
        Graph {
            shares: order.iter().map(|n| 0.2 / (*n + 1) as f64).collect(),
            weights: order
                .iter()
                .map(|a| order.iter().map(|b| weight(*a, *b)).collect())
                .collect(),
        }
    }

    #[test]
    fn nodes_are_found_by_what_they_belong_to() {
        let order = [1, 0, 2, 4, 3, 6, 5, 8, 7, 9];
        let theirs = graph(&order);
        let ours = graph(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let mut pairs = match_graphs(&theirs, &ours, 1e4, &[], &mut || ());
        pairs.sort_unstable();
        let expected: Vec<(usize, usize)> = order.iter().copied().enumerate().collect();
        assert_eq!(pairs, expected);
    }

    #[test]
    fn known_pairs_stay() {
        let ours = graph(&[0, 1, 2, 3, 4, 5]);
        let pairs = match_graphs(
            &graph(&[0, 1, 2, 3, 4, 5]),
            &ours,
            1e4,
            &[(0, 1)],
            &mut || (),
        );
        assert!(pairs.contains(&(0, 1)));
    }

    #[test]
    fn independent_sets_do_not_correlate() {
        let (a, b) = (vec![0x5555_u64; 4], vec![0x3333_u64; 4]);
        let of = Graph::new(&[&a, &b, &a], 64, &mut || ());
        assert_eq!(of.shares, [0.5, 0.5, 0.5]);
        assert!(of.weights[0][1].abs() < 1e-6 && (of.weights[0][2] - 1.0).abs() < 1e-6);
    }
}
