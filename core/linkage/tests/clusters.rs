//! Clusters, quality and thresholds equal what a look at every pair gives.

use std::collections::{BTreeMap, BTreeSet};

use linkage::clusters::quality::pairs_within;
use linkage::clusters::sweep::best;
use linkage::clusters::{
    average, b_cubed, centres, components, Bounds, Clusters, Links, Member, Pair, PairCounts, Sweep,
};
use proptest::prelude::*;

/// Sixteenths, whose sums are exact and often equal.
fn similarity() -> impl Strategy<Value = f64> + Clone {
    (0u32..=16).prop_map(|i| f64::from(i) / 16.0)
}

fn pairs_of(
    records: u32,
    similarity: impl Strategy<Value = f64>,
) -> impl Strategy<Value = Vec<Pair>> {
    let pair = (0..records, 0..records, similarity).prop_map(|(a, b, similarity)| Pair {
        a,
        b,
        similarity,
    });
    prop::collection::vec(pair, 0..(4 * records as usize))
}

/// A number of records, pairs of them, and the same pairs in another order and direction.
fn shuffled(
    similarity: impl Strategy<Value = f64> + Clone,
) -> impl Strategy<Value = (u32, Vec<Pair>, Vec<Pair>)> {
    (1u32..20)
        .prop_flat_map(move |n| (Just(n), pairs_of(n, similarity.clone())))
        .prop_flat_map(|(n, pairs)| {
            let turned = prop::collection::vec(any::<bool>(), pairs.len());
            let other = Just(pairs.clone()).prop_shuffle();
            (Just(n), Just(pairs), other, turned)
        })
        .prop_map(|(n, pairs, mut other, turned)| {
            for (pair, turned) in other.iter_mut().zip(turned) {
                if turned {
                    (pair.a, pair.b) = (pair.b, pair.a);
                }
            }
            (n, pairs, other)
        })
}

fn links(n: u32, pairs: &[Pair]) -> Links {
    Links::new(n, pairs, || ()).unwrap()
}

fn members(clusters: &Clusters) -> Vec<Member> {
    (0..clusters.len() as u32)
        .map(|i| clusters.member(i))
        .collect()
}

/// Similarities as a table, by a reading of the pairs that shares no code with the core's.
fn table(n: u32, pairs: &[Pair]) -> Vec<Vec<Option<f64>>> {
    let mut table = vec![vec![None; n as usize]; n as usize];
    for p in pairs.iter().filter(|p| p.a != p.b) {
        for (a, b) in [(p.a as usize, p.b as usize), (p.b as usize, p.a as usize)] {
            if table[a][b] < Some(p.similarity) {
                table[a][b] = Some(p.similarity);
            }
        }
    }
    table
}

/// What follows from the members of the clusters, whichever method made them.
fn check_members(found: &Clusters, table: &[Vec<Option<f64>>], medoids: bool) {
    let n = table.len();
    let mut sets: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for i in 0..n {
        sets.entry(found.labels()[i]).or_default().push(i);
    }
    assert_eq!(found.count(), sets.len());
    for (&label, set) in &sets {
        assert_eq!(set[0], label as usize, "the least member");
        let sum = |i: usize| set.iter().filter_map(|&j| table[i][j]).sum::<f64>();
        let most = set
            .iter()
            .fold(set[0], |m, &i| if sum(i) > sum(m) { i } else { m });
        for &i in set {
            let member = found.member(i as u32);
            let centre = member.centre as usize;
            assert_eq!((member.cluster, member.size as usize), (label, set.len()));
            assert!(set.contains(&centre));
            assert!(!medoids || centre == most, "centre {centre}, not {most}");
            let expected = if i == centre {
                Some(1.0)
            } else {
                table[i][centre]
            };
            assert_eq!(member.similarity, expected);
        }
    }
}

fn reachable(table: &[Vec<Option<f64>>], threshold: f64) -> Vec<u32> {
    let n = table.len();
    let mut labels = vec![u32::MAX; n];
    for start in 0..n {
        let mut queue = vec![start];
        while let Some(i) = queue.pop() {
            if labels[i] == u32::MAX {
                labels[i] = start as u32;
                queue.extend((0..n).filter(|&j| table[i][j] >= Some(threshold)));
            }
        }
    }
    labels
}

/// Stars one after the other: of all records that are in none, the first in the order is a centre.
fn stars(table: &[Vec<Option<f64>>], threshold: f64) -> Vec<u32> {
    let n = table.len();
    let near = |i: usize, j: usize| table[i][j] >= Some(threshold);
    let degree = |i: usize| (0..n).filter(|&j| near(i, j)).count();
    let sum = |i: usize| -> f64 {
        (0..n)
            .filter(|&j| near(i, j))
            .filter_map(|j| table[i][j])
            .sum()
    };
    let mut centre: Vec<Option<usize>> = vec![None; n];
    while centre.contains(&None) {
        let free = (0..n).filter(|&i| centre[i].is_none());
        let better = |m: usize, i: usize| (degree(i), sum(i)) > (degree(m), sum(m));
        let next = free
            .reduce(|m, i| if better(m, i) { i } else { m })
            .unwrap();
        for (j, of) in centre.iter_mut().enumerate() {
            if j == next || near(next, j) && of.is_none() {
                *of = Some(next);
            }
        }
    }
    let is_centre = |i: usize| centre[i] == Some(i);
    let nearest = |i: usize| {
        let centres = (0..n).filter(|&j| is_centre(j) && near(i, j));
        centres
            .reduce(|m, j| if table[i][j] > table[i][m] { j } else { m })
            .unwrap()
    };
    let of = |i: usize| if is_centre(i) { i } else { nearest(i) };
    (0..n).map(|i| of(i) as u32).collect()
}

/// Merges what is best to merge, found anew each time.
fn merged(table: &[Vec<Option<f64>>], threshold: f64, missing: f64) -> Vec<u32> {
    let n = table.len();
    let mut clusters: Vec<Vec<usize>> = (0..n).map(|i| vec![i]).collect();
    loop {
        let mut best: Option<(f64, usize, usize)> = None;
        for x in 0..clusters.len() {
            for y in x + 1..clusters.len() {
                let pairs = || {
                    clusters[x]
                        .iter()
                        .flat_map(|&i| clusters[y].iter().map(move |&j| (i, j)))
                };
                if !pairs().any(|(i, j)| table[i][j] > Some(missing)) {
                    continue;
                }
                let sum: f64 = pairs()
                    .map(|(i, j)| table[i][j].unwrap_or(0.0).max(missing))
                    .sum();
                let mean = sum / pairs().count() as f64;
                // clusters stay in the order of their least members
                if mean >= threshold && best.is_none_or(|(most, ..)| mean > most) {
                    best = Some((mean, x, y));
                }
            }
        }
        let Some((_, x, y)) = best else { break };
        let gone = clusters.remove(y);
        clusters[x].extend(gone);
    }
    let mut labels = vec![0; n];
    for cluster in clusters {
        for &i in &cluster {
            labels[i] = cluster[0] as u32;
        }
    }
    labels
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn components_are_what_can_be_reached(
        (n, pairs, _) in shuffled(similarity()),
        threshold in similarity(),
    ) {
        let found = components(&links(n, &pairs), threshold, &Bounds::default(), || ()).unwrap();
        let table = table(n, &pairs);
        prop_assert_eq!(found.labels(), reachable(&table, threshold));
        check_members(&found, &table, true);
    }

    #[test]
    fn members_are_near_their_centres(
        (n, pairs, _) in shuffled(similarity()),
        threshold in similarity(),
    ) {
        let found = members(&centres(&links(n, &pairs), threshold, &Bounds::default(), || ()).unwrap());
        let table = table(n, &pairs);
        let centre: Vec<u32> = found.iter().map(|m| m.centre).collect();
        prop_assert_eq!(&centre, &stars(&table, threshold));
        let all: BTreeSet<u32> = centre.iter().copied().collect();
        for &c in &all {
            prop_assert_eq!(centre[c as usize], c);
            for &d in &all {
                prop_assert!(c == d || table[c as usize][d as usize] < Some(threshold), "{} and {}", c, d);
            }
        }
        for (i, member) in found.iter().enumerate() {
            prop_assert!(member.centre == i as u32 || member.similarity >= Some(threshold));
            if member.centre != i as u32 {
                prop_assert!(all.iter().all(|&c| table[i][c as usize] <= member.similarity));
            }
        }
        let found = centres(&links(n, &pairs), threshold, &Bounds::default(), || ()).unwrap();
        check_members(&found, &table, false);
    }

    #[test]
    fn average_link_equals_the_naive_one(
        (n, pairs, _) in shuffled(similarity()),
        (missing, threshold) in (0u32..16).prop_flat_map(|m| (Just(m), m + 1..=16)),
    ) {
        let (missing, threshold) = (f64::from(missing) / 16.0, f64::from(threshold) / 16.0);
        let table = table(n, &pairs);
        for missing in [0.0, missing] {
            let found = average(&links(n, &pairs), threshold, missing, &Bounds::default(), || ()).unwrap();
            prop_assert_eq!(found.labels(), merged(&table, threshold, missing));
            check_members(&found, &table, true);
        }
    }

    /// Few values, so that means are often equal and clusters large.
    #[test]
    fn average_link_equals_the_naive_one_where_much_is_equal(
        (n, pairs, _) in shuffled(prop::sample::select(&[0.25, 0.5, 0.75, 1.0][..])),
        threshold in prop::sample::select(&[0.125, 0.25, 0.375, 0.5][..]),
    ) {
        let found = average(&links(n, &pairs), threshold, 0.0, &Bounds::default(), || ()).unwrap();
        prop_assert_eq!(found.labels(), merged(&table(n, &pairs), threshold, 0.0));
    }

    #[test]
    fn the_order_of_the_pairs_does_not_matter(
        (n, pairs, other) in shuffled(0.0..=1.0f64),
        threshold in 0.1..=1.0f64,
    ) {
        let (one, other) = (links(n, &pairs), links(n, &other));
        prop_assert_eq!(&one, &other);
        let all = |links: &Links| {
            [
                members(&components(links, threshold, &Bounds::default(), || ()).unwrap()),
                members(&centres(links, threshold, &Bounds::default(), || ()).unwrap()),
                members(&average(links, threshold, threshold / 2.0, &Bounds::default(), || ()).unwrap()),
            ]
        };
        prop_assert_eq!(all(&one), all(&other));
    }

    #[test]
    fn quality_of_pairs_equals_a_count(
        (truth, found, other) in (1u32..20).prop_flat_map(|n| (
            prop::collection::vec(0u32..6, n as usize),
            pairs_of(n, Just(1.0)),
            pairs_of(n, Just(1.0)),
        )),
    ) {
        let set = |pairs: &[Pair]| -> BTreeSet<(u32, u32)> {
            pairs.iter().filter(|p| p.a != p.b).map(|p| (p.a.min(p.b), p.a.max(p.b))).collect()
        };
        let n = truth.len() as u32;
        let same = |&(i, j): &(u32, u32)| truth[i as usize] == truth[j as usize];
        let true_pairs: BTreeSet<(u32, u32)> =
            (0..n).flat_map(|j| (0..j).map(move |i| (i, j))).filter(same).collect();
        let ends = |pairs: &[Pair]| -> Vec<(u32, u32)> { pairs.iter().map(|p| (p.a, p.b)).collect() };
        let counted = |truth: &BTreeSet<(u32, u32)>| {
            let found = set(&found);
            PairCounts {
                found: found.len() as u64,
                truth: truth.len() as u64,
                both: found.intersection(truth).count() as u64,
            }
        };
        let with_labels = PairCounts::with_labels(ends(&found), &truth, || ()).unwrap();
        prop_assert_eq!(with_labels, counted(&true_pairs));
        prop_assert_eq!(pairs_within(&truth, || ()).unwrap(), true_pairs.len() as u64);
        let with_pairs = PairCounts::with_pairs(ends(&found), ends(&other), || ()).unwrap();
        prop_assert_eq!(with_pairs, counted(&set(&other)));

        let rates = with_labels.rates();
        let (p, r) = (rates.precision, rates.recall);
        let harmonic = if p + r == 0.0 { 0.0 } else { 2.0 * p * r / (p + r) };
        prop_assert!((rates.f1 - harmonic).abs() < 1e-12, "{:?}", rates);
    }

    #[test]
    fn quality_of_clusters_equals_a_count(
        labels in prop::collection::vec((0u32..5, 0u32..5), 0..25),
    ) {
        let (found, truth): (Vec<u32>, Vec<u32>) = labels.iter().copied().unzip();
        let n = labels.len();
        let pairs = || (0..n).flat_map(|j| (0..j).map(move |i| (i, j)));
        let counted = PairCounts {
            found: pairs().filter(|&(i, j)| found[i] == found[j]).count() as u64,
            truth: pairs().filter(|&(i, j)| truth[i] == truth[j]).count() as u64,
            both: pairs().filter(|&(i, j)| labels[i] == labels[j]).count() as u64,
        };
        prop_assert_eq!(PairCounts::of_clusters(&found, &truth, || ()).unwrap(), counted);

        let share = |by: &[u32], i: usize| {
            let group = (0..n).filter(|&j| by[j] == by[i]);
            let right = group.clone().filter(|&j| labels[j] == labels[i]).count();
            right as f64 / group.count() as f64
        };
        let mean = |by: &[u32]| match n {
            0 => 1.0,
            _ => (0..n).map(|i| share(by, i)).sum::<f64>() / n as f64,
        };
        let (precision, recall) = (mean(&found), mean(&truth));
        let rates = b_cubed(&found, &truth, || ()).unwrap();
        prop_assert!((rates.precision - precision).abs() < 1e-12);
        prop_assert!((rates.recall - recall).abs() < 1e-12);
        let f1 = 2.0 * precision * recall / (precision + recall);
        prop_assert!((rates.f1 - f1).abs() < 1e-12);
        if found == truth {
            prop_assert_eq!(rates.f1, 1.0);
        }
    }

    #[test]
    fn a_sweep_equals_a_run_for_each_threshold(
        pairs in prop::collection::vec((prop_oneof![similarity(), 0.0..=1.0f64], any::<bool>()), 0..60),
        mut thresholds in prop::collection::vec(prop_oneof![similarity(), -0.5..=1.5f64], 0..20),
        grid in 1u32..40,
        missed in 0u64..10,
    ) {
        thresholds.sort_by(f64::total_cmp);
        thresholds.dedup();
        let truth = pairs.iter().filter(|p| p.1).count() as u64 + missed;
        for mut sweep in [Sweep::new(&thresholds).unwrap(), Sweep::grid(grid).unwrap()] {
            for &(similarity, is_true) in &pairs {
                sweep.add(similarity, is_true);
            }
            let steps = sweep.steps(truth).unwrap();
            for step in &steps {
                let found = pairs.iter().filter(|p| p.0 >= step.threshold);
                prop_assert_eq!(step.counts, PairCounts {
                    found: found.clone().count() as u64,
                    truth,
                    both: found.filter(|p| p.1).count() as u64,
                });
            }
            prop_assert!(steps.windows(2).all(|w| w[0].threshold < w[1].threshold));
            if let Some(best) = best(&steps) {
                let f1 = best.counts.rates().f1;
                for other in &steps {
                    let more = other.counts.rates().f1.total_cmp(&f1);
                    let order = more.then(other.threshold.total_cmp(&best.threshold));
                    prop_assert!(order.is_le(), "{:?} and not {:?}", other, best);
                }
            }
        }
    }
}
