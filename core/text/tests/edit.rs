//! Similarity symbol by symbol: edit.json, which another program computes (tests/data/edit.py), laws, and limits.

use std::time::Instant;

use base::{ErrorKind, Result};
use proptest::prelude::*;
use serde_json::Value;
use text::{damerau_similarity, edit_similarity, jaro_winkler, normalize, MAX_EDITED};

type Similarity = fn(&str, &str) -> Result<f64>;

fn all() -> [Similarity; 3] {
    [
        |a, b| edit_similarity(a, b, || ()),
        |a, b| damerau_similarity(a, b, || ()),
        |a, b| jaro_winkler(a, b, || ()),
    ]
}

#[test]
fn golden() {
    let all: Vec<Value> =
        serde_json::from_str(include_str!("../../../tests/data/edit.json")).unwrap();
    assert!(all.len() > 100);
    for case in all {
        let (a, b) = (case["a"].as_str().unwrap(), case["b"].as_str().unwrap());
        let longer = a.len().max(b.len()) as u64;
        let per_symbol = |key: &str| (longer - case[key].as_u64().unwrap()) as f64 / longer as f64;
        let edit = edit_similarity(a, b, || ()).unwrap();
        assert_eq!(edit, per_symbol("levenshtein"), "{a} {b}");
        let damerau = damerau_similarity(a, b, || ()).unwrap();
        assert_eq!(damerau, per_symbol("damerau"), "{a} {b}");
        let jaro = jaro_winkler(a, b, || ()).unwrap();
        let expected = case["jaro_winkler"].as_f64().unwrap();
        assert!(
            (jaro - expected).abs() < 1e-12,
            "{a} {b}: {jaro} {expected}"
        );
    }
}

#[test]
fn normal_forms_are_compared() {
    for similarity in all() {
        assert_eq!(similarity("Müller, Jörg", "MUELLER JOERG"), Ok(1.0));
        assert_eq!(similarity("", ""), Ok(0.0));
        assert_eq!(similarity(" - ", "..."), Ok(0.0));
        assert_eq!(similarity("a", ""), Ok(0.0));
        assert_eq!(similarity("Иванов", "ivanov"), Ok(1.0));
    }
}

#[test]
fn long_texts_are_refused_and_the_longest_take_no_time() {
    let most = "ab1".repeat(MAX_EDITED).split_at(MAX_EDITED).0.to_owned();
    let other: String = most.chars().rev().collect();
    for similarity in all() {
        let start = Instant::now();
        assert!(similarity(&most, &other).unwrap() > 0.3);
        eprintln!("{:?}", start.elapsed());
        for (a, b) in [
            (format!("{most}c"), "a".to_owned()),
            ("a".into(), "ä".repeat(MAX_EDITED)),
        ] {
            let error = similarity(&a, &b).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::LimitExceeded);
            assert!(error.message().starts_with("text of "), "{error}");
        }
    }
}

/// By the definition: all cells of the matrix, a swap between any two symbols (Damerau 1964, Lowrance and Wagner 1975).
fn distance(a: &[u8], b: &[u8], swaps: bool) -> usize {
    let mut cells = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            let mut least = i + j;
            if i > 0 {
                least = least.min(cells[i - 1][j] + 1);
            }
            if j > 0 {
                least = least.min(cells[i][j - 1] + 1);
            }
            if i > 0 && j > 0 {
                least = least.min(cells[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]));
            }
            if swaps && i > 1 && j > 1 {
                let k = (1..i).rev().find(|&k| a[k - 1] == b[j - 1]);
                let l = (1..j).rev().find(|&l| b[l - 1] == a[i - 1]);
                if let (Some(k), Some(l)) = (k, l) {
                    let between = (i - k - 1) + (j - l - 1);
                    least = least.min(cells[k - 1][l - 1] + between + 1);
                }
            }
            cells[i][j] = least;
        }
    }
    cells[a.len()][b.len()]
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab]{0,12}",
        "[abc]{0,90}",
        "\\PC{0,30}",
        "[a-zA-ZäöüßéñçøåÄÖÜ' .,0-9-]{0,40}"
    ]
}

proptest! {
    #[test]
    fn edits_are_counted_as_defined(a in texts(), b in texts()) {
        let of = |text: &str| normalize(text, false, || ()).unwrap();
        let (x, y) = (of(&a), of(&b));
        for (similarity, swaps) in [(all()[0], false), (all()[1], true)] {
            let longer = x.len().max(y.len());
            let expected = if x.is_empty() || y.is_empty() {
                0.0
            } else {
                (longer - distance(x.as_bytes(), y.as_bytes(), swaps)) as f64 / longer as f64
            };
            prop_assert_eq!(similarity(&a, &b).unwrap(), expected);
        }
        prop_assert!(all()[1](&a, &b).unwrap() >= all()[0](&a, &b).unwrap());
    }

    #[test]
    fn all_are_symmetric_and_from_0_to_1(a in texts(), b in texts()) {
        for similarity in all() {
            let sim = similarity(&a, &b).unwrap();
            prop_assert!((0.0..=1.0).contains(&sim));
            prop_assert!((similarity(&b, &a).unwrap() - sim).abs() < 1e-12);
            let empty = normalize(&a, false, || ()).unwrap().is_empty();
            prop_assert_eq!(similarity(&a, &a).unwrap(), if empty { 0.0 } else { 1.0 });
            let equal = normalize(&a, false, || ()).unwrap() == normalize(&b, false, || ()).unwrap();
            prop_assert_eq!(sim == 1.0, equal && !empty);
        }
    }
}
