//! Tokens: what JSON values become, and laws of tokens and their signatures.

mod json_tokens;

use base::Result;
use json_tokens::json_tokens;
use proptest::prelude::*;
use serde_json::json;
use signature::filter::{
    contains_text, contains_token, parse_text, write_text, Builder, Shape, View,
};
use signature::similarity::Popcounts;
use text::tokens::{
    for_each_numbered, for_each_run, for_each_token, for_each_uax29_word, for_each_word, Overlap,
};

#[test]
fn browsers() {
    let a = json!({"browser": "Mozilla Firefox", "plugins": "Flash,Silverlight", "zipcode": 20121});
    let expected = [
        "browser_mozilla",
        "browser_firefox",
        "plugin_flash",
        "plugin_silverlight",
        "zipcode_20121",
    ];
    assert_eq!(json_tokens(&a, true), expected);
    // objects of serde_json have their keys in the order of the alphabet
    let b = json!({"browser": "Google Chrome", "plugins": "Flash,Java", "likes": [123, 124]});
    let expected = [
        "browser_google",
        "browser_chrome",
        "like_123",
        "like_124",
        "plugin_flash",
        "plugin_java",
    ];
    assert_eq!(json_tokens(&b, true), expected);
}

#[test]
fn nested_values() {
    let value = json!({"plugins": [{"name": "Flash", "ids": [[1], 2]}, {"name": "Java 8"}], "z": null, "yes": true});
    let expected = [
        "plugin_id_1",
        "plugin_id_2",
        "plugin_name_flash",
        "plugin_name_java",
        "plugin_name_8",
        "ye_true",
    ];
    assert_eq!(json_tokens(&value, true), expected);
}

#[test]
fn what_stands_alone_has_no_key() {
    assert_eq!(
        json_tokens(&json!("Mozilla, Firefox"), true),
        ["mozilla", "firefox"]
    );
    assert_eq!(json_tokens(&json!(null), true), [""; 0]);
    assert_eq!(json_tokens(&json!(false), true), ["false"]);
    assert_eq!(
        json_tokens(&json!([1, "a b", [true]]), true),
        ["1", "a", "b", "true"]
    );
    assert_eq!(json_tokens(&json!({"": "x", "--": 1}), true), ["x", "1"]);
}

#[test]
fn keys_in_the_singular_or_as_they_are() {
    let value = || json!({"Screen Sizes": 1, "user_names": 2, "User-Agents": 3});
    assert_eq!(
        json_tokens(&value(), true),
        ["screen_size_1", "useragent_3", "user_name_2"]
    );
    assert_eq!(
        json_tokens(&value(), false),
        ["screen_sizes_1", "useragents_3", "user_names_2"]
    );
}

/// What `run` gives to its callback.
fn collected(run: impl FnOnce(&mut dyn FnMut(&str) -> Result<()>) -> Result<()>) -> Vec<String> {
    let mut all = vec![];
    run(&mut |one| {
        all.push(one.to_owned());
        Ok(())
    })
    .unwrap();
    all
}

fn tokens(text: &str) -> Vec<String> {
    collected(|each| for_each_token(text, || (), each))
}

fn words(text: &str) -> Vec<String> {
    collected(|each| for_each_word(text, || (), each))
}

fn signature(shape: Shape, tokens: &[String]) -> Vec<u8> {
    let mut bytes = vec![0; Builder::size(shape)];
    let mut builder = Builder::new(shape, &mut bytes);
    tokens.iter().for_each(|t| builder.add_token(t).unwrap());
    builder.finish();
    bytes
}

fn shapes() -> impl Strategy<Value = Shape> {
    let primes = prop::sample::select(vec![5i64, 7, 43, 251, 8191]);
    (1i64..=64, primes).prop_map(|(k, p)| Shape::new(k, p, 0).unwrap())
}

fn lists() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[a-c]{0,2}|\\PC{0,40}", 0..20)
}

fn bytes(list: &[String]) -> Vec<&[u8]> {
    list.iter().map(String::as_bytes).collect()
}

proptest! {
    /// What comes out of cutting, is one token or word, and the same again.
    #[test]
    fn cutting_once_is_enough(text in "\\PC{0,60}|[-+.,0-9eE a%(]{0,30}") {
        for token in tokens(&text) {
            prop_assert!(!token.is_empty());
            prop_assert_eq!(tokens(&token), [token]);
        }
        for word in words(&text) {
            prop_assert_eq!(words(&word), [word]);
        }
        for word in collected(|each| for_each_uax29_word(&text, || (), each)) {
            prop_assert!(!words(&word).is_empty(), "{:?}", word);
        }
    }

    #[test]
    fn the_order_of_tokens_and_repetitions_change_no_signature(shape in shapes(), list in lists()) {
        let mut other = list.clone();
        other.reverse();
        other.extend(list.iter().cloned());
        prop_assert_eq!(signature(shape, &list), signature(shape, &other));
    }

    /// A token sets one bit in each segment, and the text form keeps all.
    #[test]
    fn signatures_hold_their_tokens(shape in shapes(), list in lists(), one in "\\PC{0,300}") {
        let all = signature(shape, &list);
        let view = View::untrusted(&all).unwrap();
        for token in &list {
            prop_assert!(contains_token(&view, token).unwrap());
        }
        let of_one = signature(shape, &[one]);
        let of_one = View::untrusted(&of_one).unwrap();
        let segments: Vec<u32> = of_one.positions().map(|at| at / u32::from(shape.p())).collect();
        prop_assert!(segments.into_iter().eq(0..u32::from(shape.k())));
        let (mut text, mut again) = (String::new(), vec![]);
        write_text(&view, &mut text);
        parse_text(&text, &mut again).unwrap();
        prop_assert_eq!(&again, &all);
    }

    #[test]
    fn similarity_is_that_of_sets(a in lists(), b in lists()) {
        use std::collections::BTreeSet;
        let overlap = Overlap::new(&mut bytes(&a), &mut bytes(&b), || ()).unwrap();
        let (a, b): (BTreeSet<_>, BTreeSet<_>) = (a.iter().collect(), b.iter().collect());
        let (common, all) = (a.intersection(&b).count(), a.union(&b).count());
        prop_assert_eq!(overlap.jaccard(), common as f64 / (all as f64).max(1.0));
        prop_assert_eq!(overlap.containment(), common as f64 / (a.len() as f64).max(1.0));
    }

    /// The sum of the lesser counts by the sum of the greater ones.
    #[test]
    fn numbered_tokens_are_a_multiset(a in "[a-d]{0,12}", b in "[a-d]{0,12}") {
        let numbered = |list: &str| -> Vec<String> {
            let list: Vec<String> = list.chars().map(String::from).collect();
            let mut all = vec![];
            for_each_numbered(bytes(&list).into_iter(), || (), |token, n| {
                all.push(format!("{}#{n}", String::from_utf8_lossy(token)));
                Ok(())
            })
            .unwrap();
            all
        };
        let (x, y) = (numbered(&a), numbered(&b));
        let overlap = Overlap::new(&mut bytes(&x), &mut bytes(&y), || ()).unwrap();
        let count = |of: &str, c| of.chars().filter(|d| *d == c).count();
        let (lesser, greater) = "abcd".chars().fold((0, 0), |(lesser, greater), c| {
            let (i, j) = (count(&a, c), count(&b, c));
            (lesser + i.min(j), greater + i.max(j))
        });
        prop_assert_eq!(overlap.jaccard(), lesser as f64 / (greater as f64).max(1.0));
    }

    #[test]
    fn runs_are_all_windows(n in 0usize..20, width in 1usize..25) {
        let list: Vec<usize> = (0..n).collect();
        let mut runs = vec![];
        for_each_run(&list, width, || (), |run| {
            runs.push(run.to_vec());
            Ok(())
        })
        .unwrap();
        let width = width.min(n);
        let expected = match n {
            0 => vec![],
            _ => (0..=n - width).map(|at| (at..at + width).collect::<Vec<_>>()).collect(),
        };
        prop_assert_eq!(runs, expected);
    }
}

/// Positions of different segments are independent: of 20,000 tokens in segments of 43 bits every pair of positions in
/// two segments has its share, by the χ² of 1,848 degrees of freedom, whose standard deviation is 61.
#[test]
fn positions_are_independent() {
    let shape = Shape::new(4, 43, 0).unwrap();
    let mut seen = [[0u32; 43 * 43]; 6];
    let n = 20_000;
    for i in 0..n {
        let of_one = signature(shape, &[format!("token{i}")]);
        let at: Vec<usize> = View::stored(&of_one)
            .unwrap()
            .positions()
            .map(|at| at as usize % 43)
            .collect();
        let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
        for (counts, (a, b)) in seen.iter_mut().zip(pairs) {
            counts[at[a] * 43 + at[b]] += 1;
        }
    }
    for counts in seen {
        let expected = f64::from(n) / (43.0 * 43.0);
        let chi: f64 = counts
            .iter()
            .map(|count| (f64::from(*count) - expected).powi(2) / expected)
            .sum();
        assert!((chi - 1848.0).abs() < 4.0 * 61.0, "{chi}");
    }
}

#[test]
fn families_never_mix() {
    let of_tokens = Shape::new(7, 43, 0).unwrap();
    let of_ngrams = Shape::new(7, 43, 3).unwrap();
    assert_eq!((of_tokens.family(), of_ngrams.family()), (1, 0));
    let a = signature(of_tokens, &["a".into()]);
    let mut b = vec![0; Builder::size(of_ngrams)];
    let mut builder = Builder::new(of_ngrams, &mut b);
    assert!(builder.add_token("a").is_err());
    builder.add_text("a", false, || ()).unwrap();
    builder.finish();
    let (a, b) = (View::stored(&a).unwrap(), View::stored(&b).unwrap());
    let error = Popcounts::new(&a, &b).unwrap_err();
    assert_eq!(
        error.message(),
        "different signature shapes (7,43,0,hash=1) and (7,43,3)"
    );
    assert!(contains_text(&a, "a", false, || ()).is_err());
    assert!(contains_token(&b, "a").is_err());
    let mut copy = a.bytes().to_vec();
    let mut builder = Builder::in_place(&mut copy).unwrap();
    assert!(builder.add_text("a", false, || ()).is_err());
    assert!(builder.unite(&b).is_err());
    for (text, is) in [
        ("(2,5,0):1000", Some("(2,5,0,hash=1):1000")),
        ("(2,5,0,hash=1):1000", Some("(2,5,0,hash=1):1000")),
        ("(2,5,0,hash=0):1000", None),
        ("(2,5,3,hash=1):1000", None),
        ("(2,5,0,hash=2):1000", None),
        ("(2,5,0,rules=2):1000", Some("(2,5,0,rules=2,hash=1):1000")),
        ("(2,5,0,rules=256):1000", None),
        ("(2,5,1):1000", None),
    ] {
        let mut read = vec![];
        let written = parse_text(text, &mut read).map(|()| {
            let mut written = String::new();
            write_text(&View::untrusted(&read).unwrap(), &mut written);
            written
        });
        assert_eq!(written.ok().as_deref(), is, "{text}");
    }
}
