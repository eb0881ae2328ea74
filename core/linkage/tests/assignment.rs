//! Assignments, compared with all that there are, with the crate's, and at the size that they are made for.

use std::collections::HashMap;
use std::time::Instant;

use linkage::assignment::{optimal, WeightedPair};
use pathfinding::kuhn_munkres::kuhn_munkres;
use pathfinding::matrix::Matrix;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

fn edges(pairs: &[(u32, u32, i128)]) -> Vec<WeightedPair> {
    pairs
        .iter()
        .map(|&(a, b, weight)| edge(a, b, weight))
        .collect()
}

fn edge(a: u32, b: u32, weight: i128) -> WeightedPair {
    let value = weight as f64 / 2.0;
    WeightedPair {
        a,
        b,
        weight,
        value,
    }
}

fn sum(edges: &[WeightedPair]) -> i128 {
    edges.iter().map(|e| e.weight).sum()
}

/// Each record once, only pairs that were given, with the greatest of their weights, by falling weight and then by
/// records.
fn check(found: &[WeightedPair], given: &[WeightedPair]) {
    let mut greatest = HashMap::new();
    for e in given {
        let weight = greatest.entry((e.a, e.b)).or_insert(e.weight);
        *weight = e.weight.max(*weight);
    }
    let distinct = |of: fn(&WeightedPair) -> u32| {
        let mut records: Vec<u32> = found.iter().map(of).collect();
        records.sort_unstable();
        records.windows(2).all(|w| w[0] < w[1])
    };
    assert!(distinct(|e| e.a) && distinct(|e| e.b), "{found:?}");
    assert!(found
        .iter()
        .all(|e| e.weight > 0 && greatest[&(e.a, e.b)] == e.weight));
    let key = |e: &WeightedPair| (-e.weight, e.a, e.b);
    assert!(found.windows(2).all(|w| key(&w[0]) < key(&w[1])));
}

/// The crate's sum, over a matrix of all records.
fn by_the_crate(given: &[WeightedPair]) -> i128 {
    let past =
        |of: fn(&WeightedPair) -> u32| given.iter().map(|e| of(e) as usize + 1).max().unwrap_or(0);
    let (a, b) = (past(|e| e.a), past(|e| e.b));
    if a == 0 {
        return 0;
    }
    let mut weights = Matrix::new(a, b.max(a), 0i128);
    for e in given {
        let cell = &mut weights[(e.a as usize, e.b as usize)];
        *cell = e.weight.max(*cell);
    }
    kuhn_munkres(&weights).0
}

fn graphs(a: u32, b: u32, pairs: usize, weights: i128) -> impl Strategy<Value = Vec<WeightedPair>> {
    let edge = (0..a, 0..b, -1..=weights).prop_map(|(a, b, weight)| edge(a, b, weight));
    prop::collection::vec(edge, 0..pairs)
}

/// So many graphs with fewer, with as many, and with more records than are solved as a matrix.
#[test]
fn the_optimum_is_that_of_the_crate() {
    for (a, b, pairs, weights) in [
        (5, 5, 20, 3),
        (12, 12, 40, 4),
        (12, 30, 60, 1000),
        (40, 9, 120, 2),
        (25, 25, 60, 1 << 80),
    ] {
        let mut runner = TestRunner::new(Config {
            cases: 2_000,
            failure_persistence: None,
            ..Config::default()
        });
        let graph = graphs(a, b, pairs, weights);
        let run = runner.run(&graph, |given| {
            let found = optimal(given.clone(), || ()).unwrap();
            check(&found, &given);
            prop_assert_eq!(sum(&found), by_the_crate(&given));
            let mut reversed = given;
            reversed.reverse();
            prop_assert_eq!(optimal(reversed, || ()).unwrap(), found);
            Ok(())
        });
        run.unwrap();
    }
}

#[test]
fn equal_pairs_go_by_their_records() {
    let all_equal: Vec<_> = (0..4)
        .flat_map(|a| (0..4).map(move |b| (a, b, 9)))
        .collect();
    let diagonal = edges(&[(0, 0, 9), (1, 1, 9), (2, 2, 9), (3, 3, 9)]);
    assert_eq!(optimal(edges(&all_equal), || ()).unwrap(), diagonal);
    // the first record has a partner, and the first one, whatever the others would have
    let given = edges(&[(0, 0, 9), (1, 0, 9), (0, 1, 9)]);
    assert_eq!(
        optimal(given, || ()).unwrap(),
        edges(&[(0, 1, 9), (1, 0, 9)])
    );
    let given = edges(&[(0, 3, 9), (1, 3, 9), (2, 3, 9)]);
    assert_eq!(optimal(given, || ()).unwrap(), edges(&[(0, 3, 9)]));
}

#[test]
fn the_best_pair_is_given_up_for_two_good_ones() {
    let given = edges(&[(0, 0, 10), (0, 1, 8), (1, 0, 8)]);
    assert_eq!(
        optimal(given, || ()).unwrap(),
        edges(&[(0, 1, 8), (1, 0, 8)])
    );
    // and kept where they are worth less together
    let given = edges(&[(0, 0, 10), (0, 1, 4), (1, 0, 4)]);
    assert_eq!(optimal(given, || ()).unwrap(), edges(&[(0, 0, 10)]));
}

#[test]
fn nothing_to_gain() {
    for given in [Vec::new(), edges(&[(0, 0, 0), (3, 1, -5)])] {
        assert!(optimal(given, || ()).unwrap().is_empty());
    }
}

/// The greatest sum of pairs of which no two are neighbours.
fn best_of_chain(chain: &[WeightedPair]) -> i128 {
    let step =
        |(with, without): (i128, i128), e: &WeightedPair| (without + e.weight, with.max(without));
    let (with, without) = chain.iter().fold((0, 0), step);
    with.max(without)
}

/// Connected graphs of 100,000 pairs of several kinds. The time is printed (`--nocapture`); tested are turns all the
/// way, and the sums of chains.
#[test]
fn a_large_part() {
    let mut state = 1u64;
    let mut random = move |n: u64| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) % n
    };
    let n = 100_000u32;
    let mut kinds: Vec<(&str, Vec<WeightedPair>)> = Vec::new();
    // a way through all records, so that all is connected
    let chain = |weight: &mut dyn FnMut(u32) -> i128| -> Vec<WeightedPair> {
        (0..n)
            .map(|i| edge(i.div_ceil(2), i / 2, weight(i)))
            .collect()
    };
    kinds.push(("chain, rising", chain(&mut |i| i128::from(i) + 1)));
    kinds.push(("chain, falling", chain(&mut |i| i128::from(n - i))));
    kinds.push(("chain, equal", chain(&mut |_| 5)));
    kinds.push((
        "chain, rising slowly",
        chain(&mut |i| 1_000_000 + i128::from(i)),
    ));
    kinds.push(("chain, random", chain(&mut |_| 1 + random(1000) as i128)));
    for (name, records, weights) in [
        ("random, sparse", 40_000, 1 << 30),
        ("random, sparse, few weights", 40_000, 3),
        ("random, sparse, equal", 40_000, 1),
        ("random, dense", 1_000, 1 << 30),
        ("random, dense, equal", 1_000, 1),
        ("random, few records of b", 0, 1 << 30),
    ] {
        let mut graph = Vec::new();
        for i in 0..n {
            let (a, b) = match records {
                0 => (u64::from(i) / 2, random(300)),
                _ => (random(records), random(records)),
            };
            let weight = 1 + random(weights) as i128;
            graph.push(edge(a as u32, b as u32, weight));
        }
        kinds.push((name, graph));
    }
    let complete = |weight: &dyn Fn(u32, u32) -> i128| -> Vec<WeightedPair> {
        (0..316)
            .flat_map(|a| (0..316).map(move |b| (a, b)))
            .map(|(a, b)| edge(a, b, weight(a, b)))
            .collect()
    };
    kinds.push((
        "complete, products",
        complete(&|a, b| i128::from((a + 1) * (b + 1))),
    ));
    kinds.push((
        "complete, differences",
        complete(&|a, b| 1000 - i128::from(a.abs_diff(b))),
    ));
    for (name, graph) in kinds {
        let (mut turns, begin) = (0u32, Instant::now());
        let found = optimal(graph.clone(), || turns += 1).unwrap();
        println!(
            "{name}: {} of {} pairs, {:?}, {turns} turns",
            found.len(),
            graph.len(),
            begin.elapsed()
        );
        check(&found, &graph);
        assert!(turns > 100, "{name}: {turns}");
        if name.starts_with("chain") {
            assert_eq!(sum(&found), best_of_chain(&graph), "{name}");
        }
    }
}
