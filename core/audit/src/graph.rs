//! Graph matching: which values are similar to which, and how common they are, is the same in plain and encoded (A. Vidanage,
//! P. Christen, T. Ranbaduge, R. Schnell: A Graph Matching Attack on Privacy-Preserving Record Linkage, CIKM 2020). Nodes are
//! values that records share: on the encoded side the records that have what two similar ones have in common. A node's
//! feature is how common it is, an edge's weight how similar two are.

use crate::align::Graph;
use crate::bits::{common, contains, count, similar_pairs, RecordSet, Signatures, MANY};
use crate::clues::Clues;
use crate::patterns::{settle, Pattern};
use crate::reference::Reference;
use crate::SHARE;

/// Pairs of records that are looked at, the most similar ones.
const EDGES: usize = 24_000;

/// Records of a node, at least.
const LEAST: usize = 8;

/// Nodes of each side, at most.
const MOST: usize = 240;

/// Groups of records that share what two similar ones have in common.
fn groups(of: &Signatures, least: usize, share: f64, turn: &mut dyn FnMut()) -> Vec<RecordSet> {
    let mut found: Vec<Pattern> = Vec::new();
    for (a, b) in similar_pairs(of, EDGES, turn) {
        turn();
        let is_known = |known: &Pattern| contains(&known.having, a) && contains(&known.having, b);
        if found.iter().any(is_known) {
            continue;
        }
        let bits = of
            .row(a)
            .iter()
            .zip(of.row(b))
            .map(|(a, b)| a & b)
            .collect();
        let Some(group) = settle(of, bits, least, share, share, turn) else {
            continue;
        };
        let is_same = |known: &Pattern| {
            let both = common(&known.having, &group.having);
            4 * both >= 3 * count(&known.having).max(count(&group.having))
        };
        if !found.iter().any(is_same) {
            found.push(group);
        }
    }
    found.sort_by_key(|group| std::cmp::Reverse(count(&group.having)));
    found.truncate(MOST);
    found.into_iter().map(|group| group.having).collect()
}

/// The correlation of what is set more often in each set of records than in all. `columns` are those of bits, or tokens.
fn similarities(
    sets: &[&[u64]],
    columns: &[&[u64]],
    records: usize,
    turn: &mut dyn FnMut(),
) -> Graph {
    let all = records.max(1) as f64;
    let sizes: Vec<f64> = sets.iter().map(|set| count(set) as f64).collect();
    // Only sums of products are kept: there may be many columns.
    let mut products = vec![vec![0.0; sets.len()]; sets.len()];
    for (n, column) in columns.iter().enumerate() {
        if n % MANY == 0 {
            turn();
        }
        let share = count(column) as f64 / all;
        let surplus: Vec<f32> = sets
            .iter()
            .zip(&sizes)
            .map(|(set, size)| (common(set, column) as f64 / size.max(1.0) - share) as f32)
            .collect();
        for (products, a) in products.iter_mut().zip(&surplus) {
            for (product, b) in products.iter_mut().zip(&surplus) {
                *product += a * b;
            }
        }
    }
    let lengths: Vec<f32> = (0..sets.len())
        .map(|n| products[n][n].sqrt().max(1e-6))
        .collect();
    for (products, a) in products.iter_mut().zip(&lengths) {
        for (product, b) in products.iter_mut().zip(&lengths) {
            *product /= a * b;
        }
    }
    Graph {
        shares: sizes.iter().map(|size| size / all).collect(),
        weights: products,
    }
}

/// The groups of the signatures, and the values of the reference.
pub(crate) fn clues(of: &Signatures, reference: &Reference, turn: &mut dyn FnMut()) -> Clues {
    let least = (of.records() / 250).max(LEAST);
    let nodes = groups(of, least, SHARE, turn);
    let mut values = reference.common_values(least as f64 * 0.7 / of.records().max(1) as f64);
    values.truncate(MOST);
    let sets: Vec<&[u64]> = nodes.iter().map(|group| &group[..]).collect();
    let columns: Vec<&[u64]> = of.telling().map(|bit| of.column(bit)).collect();
    let theirs = similarities(&sets, &columns, of.records(), turn);
    let sets: Vec<&[u64]> = values.iter().map(|(_, _, having)| &having[..]).collect();
    let columns: Vec<&[u64]> = (0..reference.tokens().len())
        .map(|token| reference.having(token))
        .collect();
    let ours = similarities(&sets, &columns, reference.records(), turn);
    let tokens = values
        .iter()
        .map(|(field, number, _)| reference.values(*field)[*number].clone());
    Clues {
        theirs,
        ours,
        records: of.records().min(reference.records()) as f64,
        tokens: tokens.collect(),
        nodes,
    }
}
