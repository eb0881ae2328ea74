//! Properties of the clusters that keep their identity.

use std::collections::{HashMap, HashSet};

use linkage::clusters::succession::{succession, Change, Successor, NOWHERE};
use proptest::prelude::*;

/// Numbers clusters without a gap, in the order in which they come.
fn numbered(labels: &[u32]) -> Vec<u32> {
    let mut numbers = HashMap::new();
    let number = |&label: &u32| match label {
        0 => NOWHERE,
        _ => {
            let next = numbers.len() as u32;
            *numbers.entry(label).or_insert(next)
        }
    };
    labels.iter().map(number).collect()
}

/// The records of each cluster.
fn members(clusters: &[u32]) -> HashMap<u32, HashSet<usize>> {
    let mut members: HashMap<u32, HashSet<usize>> = HashMap::new();
    for (record, &cluster) in clusters.iter().enumerate() {
        if cluster != NOWHERE {
            members.entry(cluster).or_default().insert(record);
        }
    }
    members
}

/// The same, by looking at all that is left again and again.
fn plain(old: &[u32], new: &[u32]) -> Vec<Successor> {
    let (before, after) = (members(old), members(new));
    let (mut free_old, mut keeps) = (before.clone(), HashMap::new());
    loop {
        let mut best: Option<(usize, usize, u32, u32)> = None;
        for (&o, x) in &free_old {
            for (&n, y) in after.iter().filter(|(n, _)| !keeps.contains_key(*n)) {
                let common: Vec<usize> = x.intersection(y).copied().collect();
                let Some(&first) = common.iter().min() else {
                    continue;
                };
                let is_better = best.is_none_or(|(most, least, ..)| {
                    common.len() > most || common.len() == most && first < least
                });
                if is_better {
                    best = Some((common.len(), first, o, n));
                }
            }
        }
        let Some((_, _, o, n)) = best else { break };
        free_old.remove(&o);
        keeps.insert(n, o);
    }
    (0..after.len() as u32)
        .map(|n| {
            let own = &after[&n];
            let sources: Vec<u32> = before
                .iter()
                .filter(|(_, x)| !x.is_disjoint(own))
                .map(|(&o, _)| o)
                .collect();
            let change = match sources[..] {
                [] => Change::Made,
                [o] if after
                    .iter()
                    .any(|(&other, y)| other != n && !y.is_disjoint(&before[&o])) =>
                {
                    Change::Split
                }
                [o] => match (own.is_subset(&before[&o]), before[&o].is_subset(own)) {
                    (true, true) => Change::Same,
                    (false, true) => Change::Grown,
                    (true, false) => Change::Shrunk,
                    (false, false) => Change::Changed,
                },
                _ => Change::Merged,
            };
            Successor {
                keeps: keeps.get(&n).copied(),
                change,
            }
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// It is what a plain search finds, and no number is kept twice.
    #[test]
    fn is_what_a_plain_search_finds(labels in prop::collection::vec((0u32..7, 0u32..7), 0..40)) {
        let (old, new): (Vec<u32>, Vec<u32>) = labels.into_iter().unzip();
        let (old, new) = (numbered(&old), numbered(&new));
        let found = succession(&old, &new, || ()).unwrap();
        prop_assert_eq!(&found, &plain(&old, &new));
        let kept: Vec<u32> = found.iter().filter_map(|s| s.keeps).collect();
        prop_assert_eq!(kept.iter().collect::<HashSet<_>>().len(), kept.len());
    }

    /// How the clusters are numbered does not matter.
    #[test]
    fn numbers_do_not_matter(labels in prop::collection::vec((0u32..7, 0u32..7), 0..40), other in Just((0..7u32).collect::<Vec<_>>()).prop_shuffle()) {
        let (old, new): (Vec<u32>, Vec<u32>) = labels.into_iter().unzip();
        let (old, new) = (numbered(&old), numbered(&new));
        let count = old.iter().filter(|&&o| o != NOWHERE).max().map_or(0, |&o| o + 1);
        let order: Vec<u32> = other.into_iter().filter(|&o| o < count).collect();
        let renamed: Vec<u32> = old.iter().map(|&o| if o == NOWHERE { o } else { order[o as usize] }).collect();
        let expected: Vec<Successor> = succession(&old, &new, || ()).unwrap().into_iter()
            .map(|s| Successor { keeps: s.keeps.map(|o| order[o as usize]), ..s }).collect();
        prop_assert_eq!(succession(&renamed, &new, || ()).unwrap(), expected);
    }

    /// Without a change every cluster is the same.
    #[test]
    fn nothing_changes_by_itself(labels in prop::collection::vec(0u32..9, 0..40)) {
        let clusters = numbered(&labels);
        for (number, successor) in (0..).zip(succession(&clusters, &clusters, || ()).unwrap()) {
            prop_assert_eq!(successor, Successor { keeps: Some(number), change: Change::Same });
        }
    }
}
