//! Graph matching: which values are similar to which, and how common they are, is the same in plain and encoded (A. Vidanage,
//! P. Christen, T. Ranbaduge, R. Schnell: A Graph Matching Attack on Privacy-Preserving Record Linkage, CIKM 2020). Nodes are
//! values that records share: on the encoded side the records that have what two similar ones have in common. A node's
//! feature is how common it is, an edge's weight how similar two are.

use crate::align::{match_graphs, Graph};
use crate::bits::{common, contains, count, similar_pairs, unite, RecordSet, Signatures};
use crate::patterns::{settle, Pattern};
use crate::reference::Reference;

/// Pairs of records that are looked at, the most similar ones.
const EDGES: usize = 24_000;

/// Records of a node, at least.
const LEAST: usize = 8;

/// Nodes of each side, at most.
const MOST: usize = 240;

/// Groups of records that share what two similar ones have in common.
fn groups(of: &Signatures, least: usize, share: f64, turn: &mut dyn FnMut()) -> Vec<Pattern> {
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
        let Some(group) = settle(of, bits, least, share, share) else {
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
    found
}

/// The correlation of what is set more often in each set of records than in all. `columns` are those of bits, or tokens.
fn similarities(sets: &[&[u64]], columns: &[&[u64]], records: usize) -> Graph {
    let all = records.max(1) as f64;
    let shares: Vec<f64> = columns
        .iter()
        .map(|column| count(column) as f64 / all)
        .collect();
    let centres = sets.iter().map(|set| {
        let size = count(set).max(1) as f64;
        let surplus = columns
            .iter()
            .zip(&shares)
            .map(|(column, share)| (common(set, column) as f64 / size - share) as f32);
        let mut surplus: Vec<f32> = surplus.collect();
        let length = surplus.iter().map(|x| x * x).sum::<f32>().sqrt().max(1e-6);
        surplus.iter_mut().for_each(|x| *x /= length);
        surplus
    });
    let centres: Vec<Vec<f32>> = centres.collect();
    let to_all = |a: &Vec<f32>| {
        centres
            .iter()
            .map(|b| a.iter().zip(b).map(|(a, b)| a * b).sum())
            .collect()
    };
    Graph {
        shares: sets.iter().map(|set| count(set) as f64 / all).collect(),
        weights: centres.iter().map(to_all).collect(),
    }
}

/// By token, the records that are believed to have it.
pub(crate) fn token_sets(
    of: &Signatures,
    reference: &Reference,
    share: f64,
    turn: &mut dyn FnMut(),
) -> Vec<Option<RecordSet>> {
    let least = (of.records() / 250).max(LEAST);
    let groups = groups(of, least, share, turn);
    let mut values = reference.common_values(least as f64 * 0.7 / of.records().max(1) as f64);
    values.truncate(MOST);
    let sets: Vec<&[u64]> = groups.iter().map(|group| &group.having[..]).collect();
    let columns: Vec<&[u64]> = of.telling().map(|bit| of.column(bit)).collect();
    let theirs = similarities(&sets, &columns, of.records());
    let sets: Vec<&[u64]> = values.iter().map(|(_, _, having)| &having[..]).collect();
    let columns: Vec<&[u64]> = (0..reference.tokens().len())
        .map(|token| reference.having(token))
        .collect();
    let ours = similarities(&sets, &columns, reference.records());
    let pairs = match_graphs(&theirs, &ours, of.records().min(reference.records()), turn);
    let mut sets: Vec<Option<RecordSet>> = vec![None; reference.tokens().len()];
    for (group, value) in pairs {
        let (field, number, _) = &values[value];
        for token in &reference.values(*field)[*number] {
            let set = sets[*token as usize].get_or_insert_with(|| vec![0; of.width()]);
            unite(set, &groups[group].having);
        }
    }
    sets
}
