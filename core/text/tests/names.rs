//! Names: name_sim.json, which another program computes (tests/data/name_sim.py), laws, and limits.

use std::time::Instant;

use proptest::prelude::*;
use serde_json::Value;
use text::names::{check_version, similarity, Rarity, MAX_RARITY, MAX_WORD, MAX_WORDS};
use text::normalize;

fn sim(a: &str, b: &str) -> f64 {
    similarity(a, b, &Rarity::NONE, || ())
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
    assert_eq!(sim("Müller, Jörg", "JOERG MUELLER"), 1.0);
    assert_eq!(sim("Иванов", "ivanov"), 1.0);
    for (a, b) in [("", ""), (" - ", "..."), ("a", ""), ("", "a")] {
        assert_eq!(sim(a, b), 0.0);
    }
}

#[test]
fn what_sources_write_in_several_ways_is_the_same() {
    for (a, b) in [
        ("Siemens AG", "SIEMENSAG"),
        (
            "Müller GmbH & Co. KG",
            "Müller Gesellschaft mit beschränkter Haftung",
        ),
        ("ООО Ромашка", "Romashka Limited Liability Company"),
        ("Dupont S.A.", "Dupont S.à r.l."),
        ("M/V Ocean Star II", "OCEANSTAR 2"),
        ("Abd al-Rahman Yasin", "YASIN, Abdul Rahman"),
        ("First Bank", "1st Bank"),
        ("Dr. Ludwig van Beethoven", "Beethoven, Ludwig"),
    ] {
        assert_eq!(sim(a, b), 1.0, "{a}, {b}");
    }
    for (a, b, least) in [
        ("Muammar Gaddafi", "Moammar Qadhafi", 0.6),
        ("Nikita Khrushchev", "Nikita Chruschtschow", 0.55),
        ("Bill Clinton", "William Jefferson Clinton", 0.75),
        ("JR Smith", "John Robert Smith", 0.75),
        ("IBM Corp.", "International Business Machines", 0.85),
        ("محمد", "Muhammad", 0.7),
        ("Deutsche Bank", "Deutsche Banque", 0.9),
    ] {
        assert!(sim(a, b) >= least, "{a}, {b}: {}", sim(a, b));
    }
}

#[test]
fn what_tells_names_apart_counts() {
    for (a, b) in [
        ("George Bush", "Jeb Bush"),
        ("Ocean Star 1", "Ocean Star 2"),
        ("Henry Ford II", "Henry Ford III"),
        ("Robert Kennedy Jr.", "Robert Kennedy Sr."),
        ("Martin King Jr.", "Martin King III"),
        (
            "Volkswagen Aktiengesellschaft",
            "Siemens Aktiengesellschaft",
        ),
        ("A. Schmidt", "B. Schmidt"),
    ] {
        assert!(sim(a, b) <= 0.5, "{a}, {b}: {}", sim(a, b));
    }
    // letters of a run that is no legal form
    assert!(sim("J. S. A. Smith", "J. Smith") < 1.0);
    // a name that is nothing else is compared
    assert!(sim("AG", "KG") < 0.1);
    assert_eq!(sim("van der", "van der"), 1.0);
}

#[test]
fn frequent_words_weigh_what_is_said() {
    let sim = |rarity: &Rarity| similarity("Hotel Astoria", "Hotel Viktoria", rarity, || ());
    let rarity = |words: &[(&str, f64)]| {
        let mut rarity = Rarity::default();
        for (word, weight) in words {
            rarity.add(word, *weight, || ()).unwrap();
        }
        rarity.sorted()
    };
    let plain = sim(&Rarity::NONE);
    assert!(sim(&rarity(&[("HOTEL", 0.2)])) < plain);
    assert_eq!(sim(&rarity(&[("motel", 0.2)])), plain);
    // of two weights the least, in any order
    let least = sim(&rarity(&[("hotel", 0.2)]));
    assert_eq!(
        sim(&rarity(&[("hotel", 0.9), ("Hotel", 0.2), ("-", 0.1)])),
        least
    );
    let with = rarity(&[("trading", 0.1)]);
    let (a, b) = ("Astoria Trading", "Astoria Shipping");
    assert!(similarity(a, b, &with, || ()) > similarity(a, b, &Rarity::NONE, || ()));
    for weight in [0.0, -1.0, 1.1, f64::NAN, f64::MIN_POSITIVE, 4.9e-324] {
        assert!(Rarity::default().add("a", weight, || ()).is_err());
    }
    // no sum of the least ones is 0
    let least = rarity(&[("hotel", 1e-6), ("astoria", 1e-6), ("viktoria", 1e-6)]);
    assert!((0.0..=1.0).contains(&sim(&least)));
    let mut many = Rarity::default();
    for _ in 0..MAX_RARITY {
        many.add("a", 1.0, || ()).unwrap();
    }
    assert!(many.add("a", 1.0, || ()).is_err());
}

#[test]
fn another_version_is_refused() {
    assert!(check_version(1).is_ok());
    assert!(check_version(0).is_err() && check_version(2).is_err());
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
    similarity(&words(100_000, "a"), "b", &Rarity::NONE, || ticks += 1);
    assert!(ticks > 100, "{ticks}");
}

#[test]
fn words_behind_the_last_one_do_not_count() {
    let most = (0..MAX_WORDS).map(|i| format!("a{i} ")).collect::<String>();
    assert_eq!(sim(&most, &format!("{most} yy")), 1.0);
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
    fn the_order_of_words_changes_nothing(a in "[a-d]{2,6}", b in "[a-d]{2,6}", c in "[a-d]{2,6}") {
        prop_assert_eq!(sim(&format!("xx{a} yy{b} zz{c}"), &format!("zz{c} xx{a} yy{b}")), 1.0);
    }
}
