//! Names: name_sim.json, which another program computes (tests/data/name_sim.py), laws, and limits.

use std::time::Instant;

use proptest::prelude::*;
use serde_json::Value;
use text::names::{similarity, MAX_WORD, MAX_WORDS};
use text::normalize;

fn sim(a: &str, b: &str) -> f64 {
    similarity(a, b, || ()).unwrap()
}

#[test]
fn golden() {
    let golden = include_str!("../../../tests/data/name_sim.json");
    let all: Vec<Value> = serde_json::from_str(golden).unwrap();
    assert!(all.len() > 300);
    for case in &all {
        let (a, b) = (case["a"].as_str().unwrap(), case["b"].as_str().unwrap());
        let expected = case["similarity"].as_f64().unwrap();
        assert!(
            (sim(a, b) - expected).abs() < 1e-8,
            "{a}, {b}: {} {expected}",
            sim(a, b)
        );
    }
}

#[test]
fn normal_forms_are_compared_in_any_order_of_words() {
    assert_eq!(
        sim("Müller, Jörg", "JOERG MUELLER"),
        sim("mueller joerg", "joerg mueller")
    );
    assert_eq!(sim("Müller, Jörg", "MUELLER JOERG"), 1.0);
    assert_eq!(sim("Иванов", "ivanov"), 1.0);
    assert!(sim("Mueller, Joerg", "Joerg Mueller") > 0.8);
    for (a, b) in [("", ""), (" - ", "..."), ("a", ""), ("", "a")] {
        assert_eq!(sim(a, b), 0.0);
    }
}

#[test]
fn long_names_take_no_time() {
    let words = |n: usize, of: &str| (0..n).map(|i| format!("{of}{i} ")).collect::<String>();
    let start = Instant::now();
    for (a, b) in [
        (words(100_000, "ab"), words(100_000, "ba")),
        ("ab1".repeat(300_000), "1ba".repeat(300_000)),
        (
            words(MAX_WORDS, &"ab".repeat(MAX_WORD)),
            words(MAX_WORDS, &"ba".repeat(MAX_WORD)),
        ),
    ] {
        assert!((0.0..=1.0).contains(&sim(&a, &b)));
        assert_eq!(sim(&a, &a), 1.0);
    }
    eprintln!("{:?}", start.elapsed());
    let mut ticks = 0;
    similarity(&words(100_000, "a"), "b", || ticks += 1).unwrap();
    assert!(ticks > 100, "{ticks}");
}

#[test]
fn words_behind_the_last_one_count_as_a_whole_only() {
    let most = (0..MAX_WORDS).map(|i| format!("a{i} ")).collect::<String>();
    let more = format!("{most}zz");
    assert_eq!(sim(&most, &more), sim(&most, &format!("{more} yy")));
    assert!(sim(&format!("{most} xx"), &more) > 0.9);
}

fn names() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab ]{0,12}",
        "[a-d]{1,4}( [a-d]{1,4}){0,5}",
        "\\PC{0,30}",
        "[a-zA-ZäöüßéñçøåÄÖÜ' .,0-9-]{0,40}"
    ]
}

proptest! {
    #[test]
    fn it_is_symmetric_and_from_0_to_1(a in names(), b in names()) {
        prop_assert_eq!(sim(&a, &b).to_bits(), sim(&b, &a).to_bits());
        prop_assert!((0.0..=1.0).contains(&sim(&a, &b)));
        let empty = |text: &str| normalize(text, false, || ()).unwrap().is_empty();
        prop_assert_eq!(sim(&a, &a), if empty(&a) { 0.0 } else { 1.0 });
        if empty(&a) || empty(&b) {
            prop_assert_eq!(sim(&a, &b), 0.0);
        }
    }

    #[test]
    fn the_order_of_words_changes_the_whole_only(a in "[a-d]{2,6}", b in "[a-d]{2,6}", c in "[a-d]{2,6}") {
        let (one, other) = ([&*a, &b, &c].join(" "), [&*c, &a, &b].join(" "));
        prop_assert!(sim(&one, &other) >= 0.5);
    }
}
