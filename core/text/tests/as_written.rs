//! Texts as they are written: as_written.json, which another program computes (tests/data/as_written.py), laws, and limits.

use std::time::Instant;

use base::ErrorKind;
use proptest::prelude::*;
use serde_json::Value;
use text::as_written::{damerau_levenshtein, jaro, jaro_winkler};
use text::{damerau_similarity, MAX_EDITED};

#[test]
fn golden() {
    let all: Vec<Value> =
        serde_json::from_str(include_str!("../../../tests/data/as_written.json")).unwrap();
    assert!(all.len() > 100);
    for case in all {
        let (a, b) = (case["a"].as_str().unwrap(), case["b"].as_str().unwrap());
        for (key, found) in [("jaro", jaro(a, b)), ("jaro_winkler", jaro_winkler(a, b))] {
            let (found, expected) = (found.unwrap(), case[key].as_f64().unwrap());
            assert!(
                (found - expected).abs() < 1e-12,
                "{key} {a} {b}: {found} {expected}"
            );
        }
        let damerau = damerau_levenshtein(a, b, || ()).unwrap() as u64;
        assert_eq!(Some(damerau), case["damerau"].as_u64(), "{a} {b}");
    }
}

#[test]
fn long_texts_are_refused_and_the_longest_take_turns() {
    // As many different characters as there can be, and a few.
    let many = |from| -> String {
        (from..)
            .filter_map(char::from_u32)
            .take(MAX_EDITED)
            .collect()
    };
    let (few, other) = ("äb1".repeat(MAX_EDITED / 3), "1bä".repeat(MAX_EDITED / 3));
    for (a, b) in [(many(0x1000), many(0x2f00)), (few, other)] {
        let start = Instant::now();
        let mut turns = 0;
        damerau_levenshtein(&a, &b, || turns += 1).unwrap();
        assert!(turns > 100);
        jaro(&a, &b).unwrap();
        jaro_winkler(&a, &b).unwrap();
        eprintln!("{:?}", start.elapsed());
    }
    let long = "日".repeat(MAX_EDITED + 1);
    for (a, b) in [(long.as_str(), "a"), ("", long.as_str())] {
        for error in [
            jaro(a, b).unwrap_err(),
            jaro_winkler(a, b).unwrap_err(),
            damerau_levenshtein(a, b, || ()).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::LimitExceeded);
            assert!(
                error.message().starts_with("text of 10001 characters"),
                "{error}"
            );
        }
    }
}

proptest! {
    #[test]
    fn laws(a in "\\PC{0,80}", b in "[aäb日 ]{0,80}", c in "[a-z0-9]{1,80}", d in "[a-d]{1,90}") {
        for (a, b) in [(&a, &b), (&b, &b), (&c, &d), (&a, &c)] {
            for of in [jaro, jaro_winkler] {
                let similarity = of(a, b).unwrap();
                prop_assert!((0.0..=1.0).contains(&similarity));
                prop_assert!((of(b, a).unwrap() - similarity).abs() < 1e-12);
                prop_assert_eq!(similarity == 1.0, a == b && !a.is_empty());
            }
            prop_assert!(jaro_winkler(a, b).unwrap() >= jaro(a, b).unwrap());
            let damerau = damerau_levenshtein(a, b, || ()).unwrap();
            prop_assert_eq!(damerau, damerau_levenshtein(b, a, || ()).unwrap());
            prop_assert_eq!(damerau == 0, a == b);
        }
        // Of texts that are in normal form, the numbered characters of the one are the symbols of the other.
        let longer = c.len().max(d.len());
        let same = damerau_similarity(&c, &d, || ()).unwrap() * longer as f64;
        let edits = damerau_levenshtein(&c, &d, || ()).unwrap();
        prop_assert!((same - (longer - edits) as f64).abs() < 1e-9);
        // The same letters as other characters, which are numbered: they are as far from each other.
        let greek = |text: &str| text.chars().map(|c| char::from_u32(u32::from(c) + 0x300).unwrap()).collect::<String>();
        prop_assert_eq!(damerau_levenshtein(&greek(&c), &greek(&d), || ()).unwrap(), edits);
    }
}
