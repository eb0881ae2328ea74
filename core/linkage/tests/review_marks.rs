//! How two values differ in normal form.

use linkage::review::{marks, Mark};
use proptest::prelude::*;

fn codes(a: &str, b: &str) -> String {
    match marks(a, b) {
        Some([a, b]) => format!("{} | {}", a.code(), b.code()),
        None => String::new(),
    }
}

#[test]
fn letters() {
    assert_eq!(codes("Mustermann", "Mustermann"), "");
    assert_eq!(
        codes("Erika Mustermann", "Erica Mustermann"),
        "3s1d12s | 3s1d12s"
    );
    assert_eq!(codes("Musterman", "Mustermann"), "9s0g | 9s1d");
    assert_eq!(codes("Meier", "Meyer"), "2s1d2s | 2s1d2s");
}

#[test]
fn case_and_accents_are_faint() {
    assert_eq!(codes("MEIER", "Meier"), "1s4f | 1s4f");
    assert_eq!(codes("Müller", "Mueller"), "1s1f4s | 1s2f4s");
    assert_eq!(codes("Müller-Lang", "Müller Lang"), "6s1f4s | 11s");
    assert_eq!(codes("O'Brien", "OBrien"), "1s1f5s | 6s");
    assert_eq!(codes("Straße", "Strasse"), "4s1f1s | 4s2f1s");
}

#[test]
fn whole_words_where_letters_would_be_confetti() {
    assert_eq!(codes("Anna Berger", "Anna Novotny"), "5s6d | 5s7d");
    assert_eq!(codes("Jo Lang", "Al Lang"), "2d5s | 2d5s");
    assert_eq!(codes("abcdefgh", "axcxexgh"), "8d | 8d");
}

#[test]
fn words_that_moved_came_or_went() {
    let both = marks("Erika Mustermann", "Mustermann Erika").unwrap();
    assert!(both
        .iter()
        .all(|side| side.0.iter().any(|part| part.0 == Mark::Moved)));
    assert!(both
        .iter()
        .all(|side| side.0.iter().all(|part| part.0 != Mark::Differs)));
    assert_eq!(codes("Anna Maria Lang", "Anna Lang"), "5s5d5s | 9s");
    assert_eq!(codes("Anne Marie", "Annemarie"), "5s1f4s | 4s1f4s");
    assert_eq!(codes("", "x"), " | 1d");
}

#[test]
fn other_scripts() {
    assert_eq!(codes("Иванов", "Ivanov"), "6f | 6f");
    assert_eq!(codes("😀a", "a"), "2f1s | 1s");
}

proptest! {
    #[test]
    fn parts_make_up_the_value(a in "[ a-eA-Eäöüß'\u{300}-]{0,30}", b in "[ a-eA-Eäöüß'\u{300}-]{0,30}") {
        if let Some(both) = marks(&a, &b) {
            for (marks, value) in both.iter().zip([&a, &b]) {
                let units: usize = marks.0.iter().map(|part| part.1).sum();
                prop_assert_eq!(units, value.encode_utf16().count());
            }
        }
    }

    #[test]
    fn any_text(a in any::<String>(), b in any::<String>()) {
        if let Some(both) = marks(&a, &b) {
            let units: usize = both[0].0.iter().map(|part| part.1).sum();
            prop_assert_eq!(units, a.encode_utf16().count());
        }
    }

    #[test]
    fn the_same_normal_form_differs_nowhere(words in proptest::collection::vec("[a-z]{1,8}", 0..5)) {
        let (a, b) = (words.join(" "), words.join("-").to_uppercase());
        if let Some(both) = marks(&a, &b) {
            for (mark, _) in both.iter().flat_map(|side| &side.0) {
                prop_assert!(!matches!(mark, Mark::Differs | Mark::Gap));
            }
        }
    }
}
