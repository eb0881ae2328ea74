//! Rates by formula: rates.json, which another program computes (tests/data/rates.py), and simulations.

use std::process::Command;

use base::ErrorKind;
use proptest::prelude::*;
use serde_json::Value;
use signature::filter::omissions;
use signature::filter::rates::{
    collision, distinct_ngrams, expected, optimal_k, segment_length, CollisionModel,
};
use signature::similarity::{candidates, Candidate};

fn golden(key: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("../../../tests/data/rates.json")).unwrap();
    all[key].as_array().unwrap().clone()
}

fn n(v: &Value, key: &str) -> i64 {
    v[key].as_i64().unwrap()
}

fn close(value: f64, v: &Value, key: &str) {
    let golden = v[key].as_f64().unwrap();
    let near = (value - golden).abs() <= 1e-11 * golden.abs();
    assert!(near, "{key} of {v}: {value}");
}

#[test]
fn golden_values() {
    for v in golden("expected") {
        let (fpr, exact) = expected(n(&v, "k"), n(&v, "m"), n(&v, "n")).unwrap();
        close(fpr, &v, "fpr");
        close(exact, &v, "exact");
    }
    for v in golden("table") {
        let m = n(&v, "m");
        assert_eq!(optimal_k(m, 1), Ok(n(&v, "k") as i32));
        // the formula knows the quotient of m and n only
        let (fpr, _) = expected(n(&v, "k"), 1000 * m, 1000).unwrap();
        close(fpr, &v, "fpr");
    }
    for v in golden("optimal_k") {
        assert_eq!(optimal_k(n(&v, "m"), n(&v, "n")), Ok(n(&v, "k") as i32));
    }
    for v in golden("omissions") {
        let of = omissions(n(&v, "k"), n(&v, "m"), n(&v, "n"), || ()).unwrap();
        close(of.expected, &v, "expected");
        close(of.any, &v, "any");
    }
    for v in golden("distinct") {
        let words = distinct_ngrams(n(&v, "m"), n(&v, "k")).unwrap();
        assert_eq!(words, v["words"].as_str().unwrap());
    }
    for v in golden("segment_length") {
        let model = v["model"].as_str().unwrap().parse().unwrap();
        let delta = v["delta"].as_str().unwrap().parse().unwrap();
        let p = segment_length(model, n(&v, "n"), n(&v, "k"), delta).unwrap();
        assert_eq!(i64::from(p), n(&v, "p"), "{v}");
    }
}

/// Where there is no Python the file is taken as it is.
#[test]
fn rates_json_is_what_its_generator_gives() {
    let generator = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/rates.py");
    match Command::new("python3")
        .args([generator, "--check"])
        .output()
    {
        Ok(run) => assert!(
            run.status.success(),
            "{}",
            String::from_utf8_lossy(&run.stderr)
        ),
        Err(error) => eprintln!("not checked: python3: {error}"),
    }
}

#[test]
fn arguments_out_of_range() {
    let kind = |error: base::Error| {
        assert!(error.message().contains("out of range"), "{error}");
        error.kind()
    };
    let invalid = ErrorKind::InvalidParameter;
    for (k, m, n) in [(0, 1, 1), (1, 0, 1), (1, 1, -1), (i64::MIN, 1, 1)] {
        assert_eq!(kind(expected(k, m, n).unwrap_err()), invalid);
        assert_eq!(kind(omissions(k, m, n, || ()).unwrap_err()), invalid);
    }
    assert_eq!(kind(optimal_k(0, 1).unwrap_err()), invalid);
    assert_eq!(kind(optimal_k(1, 0).unwrap_err()), invalid);
    assert_eq!(
        optimal_k(i64::MAX, 1).unwrap_err().kind(),
        ErrorKind::LimitExceeded
    );
    assert_eq!(kind(distinct_ngrams(-1, 1).unwrap_err()), invalid);
    assert_eq!(kind(distinct_ngrams(1, -1).unwrap_err()), invalid);
    assert_eq!(kind(distinct_ngrams(i64::MAX, 1001).unwrap_err()), invalid);
    for delta in [0.0, -1.0, 1.1, f64::NAN] {
        let error = segment_length(CollisionModel::Fpr, 30, 3, delta).unwrap_err();
        assert_eq!(kind(error), invalid);
    }
    let error = segment_length(CollisionModel::Birthday, 1 << 31, 1, 1e-9).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert!(candidates(0, 3, || ()).is_err());
    assert!(candidates(30, 9, || ()).is_err());
    assert!(candidates(10_000, 3, || ()).is_err());
}

/// The sum over many states is integrated.
#[test]
fn omissions_of_many_states() {
    for (k, m, n) in [
        (3, 20_000_000, 3_000_000),
        (8, 30_000_000, 2_000_000),
        (1, 1_000_000_000, 1_500_000),
        (40, 4_000_000, 1_100_000),
    ] {
        let of = omissions(k, m, n, || ()).unwrap();
        let (mut sum, mut none) = (0.0, 0.0);
        for i in 0..n {
            let (_, rate) = expected(k, m, i).unwrap();
            sum += rate;
            none += (-rate).ln_1p();
        }
        assert!((of.expected / sum - 1.0).abs() < 1e-9, "{of:?} {sum}");
        assert!((of.any / -f64::exp_m1(none) - 1.0).abs() < 1e-9, "{of:?}");
    }
    let all = omissions(7, 1000, i64::MAX, || ()).unwrap();
    assert!(all.any == 1.0 && all.expected > 9.2e18);
    let mut turns = 0;
    omissions(7, 1 << 40, i64::MAX, || turns += 1).unwrap();
    assert!(turns > 100, "{turns}");
}

/// A multiplicative congruential generator is random enough here.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize * n) >> 31
    }
}

/// Searches that put new states into a filter, each by k random positions, and omit those whose bits are all set.
#[test]
fn omissions_as_simulated() {
    let mut random = Random(7);
    for (k, m, n) in [
        (1, 500, 40),
        (2, 400, 60),
        (4, 500, 80),
        (7, 301, 32),
        (3, 200, 200),
    ] {
        let runs = 20_000u32;
        let (mut omitted, mut squares, mut any) = (0.0, 0.0, 0u32);
        for _ in 0..runs {
            let mut filter = vec![false; m];
            let mut missed = 0.0;
            for _ in 0..n {
                let mut seen = true;
                for _ in 0..k {
                    seen &= std::mem::replace(&mut filter[random.below(m)], true);
                }
                missed += f64::from(u8::from(seen));
            }
            omitted += missed;
            squares += missed * missed;
            any += u32::from(missed > 0.0);
        }
        let of = omissions(k, m as i64, n, || ()).unwrap();
        let runs = f64::from(runs);
        let (mean, share) = (omitted / runs, f64::from(any) / runs);
        let error = ((squares / runs - mean * mean) / runs).sqrt();
        eprintln!("k {k} m {m} n {n}: {of:?}, simulated {mean} ± {error}, any {share}");
        // The formula takes the mean fill for the fill, and positions of one state for different ones: a few percent in
        // filters so small.
        assert!(
            (of.expected - mean).abs() < 4.0 * error + 0.06 * mean,
            "{of:?} {mean}"
        );
        assert!((of.any - share).abs() < 0.03, "{of:?} {share}");
    }
}

#[test]
fn shapes_to_choose_from() {
    for (max_chars, ngram) in [
        (30, 3),
        (8, 2),
        (1, 2),
        (120, 3),
        (5000, 4),
        (32, 0),
        (1, 0),
    ] {
        let all = candidates(max_chars, ngram, || ()).unwrap();
        assert!(!all.is_empty());
        for pair in all.windows(2) {
            assert!(pair[0].bytes <= pair[1].bytes && pair[0].shape != pair[1].shape);
        }
        for c in &all {
            assert!(
                c.deviation >= c.bias.abs() && c.unrelated <= 1.0 && c.collision <= 1.0,
                "{c:?}"
            );
        }
        assert_eq!(candidates(max_chars, ngram, || ()).unwrap(), all);
        if (30..=120).contains(&max_chars) {
            let of = |room, fpr| {
                let is = |c: &&Candidate| c.max_chars == room * max_chars && c.fpr == fpr;
                *all.iter().find(is).unwrap()
            };
            // As long as texts fill the filter it is half full, whatever its rate; with more room the bits say what the
            // words do.
            assert!((0.25..0.45).contains(&of(1, 0.001).unrelated), "{all:#?}");
            assert!(of(4, 0.01).bias < of(1, 0.01).bias / 3.0, "{all:#?}");
            assert!(of(4, 0.01).unrelated < of(1, 0.01).unrelated / 2.0);
        }
    }
}

proptest! {
    #[test]
    fn segments_are_no_longer_than_they_must_be(n in 1..300i64, k in 1..20i64, delta in 0.001..=1.0f64) {
        for model in [CollisionModel::Fpr, CollisionModel::Birthday, CollisionModel::Coll] {
            let p = i64::from(segment_length(model, n, k, delta).unwrap());
            prop_assert!(collision(model, p, n, k).unwrap() <= delta);
            prop_assert!(p == 1 || collision(model, p - 1, n, k).unwrap() > delta);
        }
    }

    #[test]
    fn omissions_grow(k in 1..20i64, m in 1..3_000i64, n in 0..500i64) {
        let (less, more) = (omissions(k, m, n, || ()).unwrap(), omissions(k, m, n + 1, || ()).unwrap());
        prop_assert!(less.expected <= more.expected && less.any <= more.any);
        prop_assert!((0.0..=1.0).contains(&less.any) && less.any <= less.expected + 1e-12);
        prop_assert!(less.expected <= n as f64);
    }
}
