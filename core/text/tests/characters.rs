//! Chinese, Japanese and Korean text as tokens.

use proptest::prelude::*;
use text::normalize;
use text::tokens::{for_each_character, Overlap};
use unicode_normalization::UnicodeNormalization;

fn tokens(text: &str) -> Vec<String> {
    let mut tokens = vec![];
    for_each_character(
        text,
        || (),
        |token| {
            tokens.push(token.to_owned());
            Ok(())
        },
    )
    .unwrap();
    tokens
}

fn similarity(a: &str, b: &str) -> f64 {
    let (a, b) = (tokens(a), tokens(b));
    let list = |of: &[String]| of.iter().map(|t| t.as_bytes().to_vec()).collect::<Vec<_>>();
    let (a, b) = (list(&a), list(&b));
    let mut lists = [&a, &b].map(|of| of.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let [a, b] = &mut lists;
    Overlap::new(a, b, || ()).unwrap().jaccard()
}

/// tests/data/characters.py tells where the names are from, and computes their tokens in another way.
#[test]
fn names_of_persons_and_companies() {
    let lines: Vec<&str> = include_str!("../../../tests/data/characters.tsv")
        .lines()
        .collect();
    assert!(lines.len() > 400);
    for line in lines {
        let (text, expected) = line.split_once('\t').unwrap();
        assert_eq!(tokens(text).join(" "), expected, "{text}");
    }
}

#[test]
fn one_of_four_characters_is_different() {
    assert_eq!(similarity("高石早苗", "高市早苗"), 0.4);
    assert_eq!(similarity("高石早苗", "髙石早苗"), 5.0 / 9.0);
    assert_eq!(similarity("高石早苗", "高石早紀"), 5.0 / 9.0);
    assert_eq!(similarity("高石早苗", "高石 早苗"), 1.0);
    // scripts and characters of one meaning are not unified
    assert_eq!(similarity("张伟", "張偉"), 0.0);
    assert_eq!(similarity("金", "김"), 0.0);
    // as Mandarin both are the same
    let mandarin = |text| normalize(text, false, || ()).unwrap();
    assert_eq!(mandarin("高石早苗"), mandarin("高市早苗"));
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[高石早苗市一々〇あいうガーｶﾞ가힣김\u{1100}-\u{1112}\u{1161}-\u{1175}\u{11a8}-\u{11c2}\u{3099}A-Cäé´' ・-]{0,16}",
        "[\u{3040}-\u{30ff}\u{3400}-\u{34ff}\u{f900}-\u{faff}\u{20000}-\u{2001f}a \u{300}-\u{304}\u{fe00}\u{e0100}]{0,12}",
    ]
}

proptest! {
    #[test]
    fn the_form_of_unicode_does_not_matter(text in texts()) {
        let of = tokens(&text);
        prop_assert_eq!(&tokens(&text.nfc().collect::<String>()), &of);
        prop_assert_eq!(&tokens(&text.nfd().collect::<String>()), &of);
    }

    #[test]
    fn blanks_between_letters_do_not_matter(name in "[高石早苗市一々〇あいうガー가힣김]{1,12}") {
        let wide = name.chars().flat_map(|c| [c, '\u{3000}']).collect::<String>();
        prop_assert_eq!(tokens(&wide), tokens(&name));
        let letters = name.chars().count();
        prop_assert_eq!(tokens(&name).len(), 2 * letters - 1);
        prop_assert_eq!(similarity(&name, &name), 1.0);
    }

    /// Without ъ and ь, which mean something only as words of their own.
    #[test]
    fn text_of_other_scripts_is_its_words(text in "[a-zA-Z0-9äöüßéñα-ωа-щыэюя' ,.-]{0,30}") {
        let words = normalize(&text.replace('\'', ""), true, || ()).unwrap();
        prop_assert_eq!(tokens(&text).join("_"), words);
    }

    #[test]
    fn no_token_is_empty_or_has_a_blank(text in texts()) {
        prop_assert!(tokens(&text).iter().all(|t| !t.is_empty() && !t.contains(char::is_whitespace)));
    }
}
