//! How two values differ in normal form.

use linkage::review::{marks, marks_of_shown, Mark};
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

#[test]
fn what_is_not_shown() {
    let codes = |a: &str, b: &str, more: bool| match marks_of_shown([a, b], (6, 3), more) {
        Some([a, b]) => format!("{} | {}", a.code(), b.code()),
        None => String::new(),
    };
    assert_eq!(codes("Lang Anna", "Lang Anna", false), "");
    // The dots differ where what they stand for does, as far as it is given, or behind that.
    assert_eq!(codes("Lang Anna", "Lang Otto", false), "5s4d | 5s4d");
    assert_eq!(codes("Langer Anna", "Langer Otto", false), "6s3d | 6s3d");
    assert_eq!(codes("Langer Anna", "Langer Anna", true), "6s3d | 6s3d");
    assert_eq!(
        codes("MEIERS Anna", "Meiers Anna", false),
        "1s5f3s | 1s5f3s"
    );
    // A word that is shown only in part is the same if the other value has all of it, wherever that is.
    assert_eq!(codes("Li Anna", "Anna Li", false), "2m7s | 5s1m3s");
    // One is cut, the other one is not.
    assert_eq!(codes("Langer Anna", "Langer", false), "6s3d | 6s");
    assert_eq!(codes("Langer", "Langers", false), "6s0g | 6s3d");
}

proptest! {
    #[test]
    fn parts_make_up_what_is_shown(a in any::<String>(), b in any::<String>(), most in 0..9usize, more in any::<bool>()) {
        if let Some(both) = marks_of_shown([&a, &b], (most, 3), more) {
            for (marks, value) in both.iter().zip([&a, &b]) {
                let shown: String = value.chars().take(most).collect();
                let dots = if value.chars().count() > most { 3 } else { 0 };
                let units: usize = marks.0.iter().map(|part| part.1).sum();
                prop_assert_eq!(units, shown.encode_utf16().count() + dots);
            }
        }
    }

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
