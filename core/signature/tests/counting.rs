//! Laws of counting filters.

use base::ErrorKind;
use proptest::prelude::*;
use signature::counting::{
    holds_text, holds_token, parse_text, write_text, CountingBuilder, CountingView, FULL, HEADER,
};
use signature::filter::{Builder, Shape};
use text::ngram::{ngram_set, Gaps};
use text::tokens::TokenHashList;

const PRIMES: [i64; 8] = [5, 7, 13, 31, 43, 61, 127, 251];

/// Shapes in which counters are shared often, and such in which they seldom are.
fn shapes() -> impl Strategy<Value = Shape> {
    (1..=16i64, prop::sample::select(&PRIMES), 2..=8i64)
        .prop_map(|(k, p, q)| Shape::new(k, p, q).unwrap())
}

/// Texts with repetitions within them and among them.
fn texts() -> impl Strategy<Value = (String, Gaps)> {
    let text = prop_oneof![
        "[ab]{0,12}",
        "[a-cé]{1,3}( [a-c]{1,3}){0,3}",
        "\\PC{0,20}",
        Just("abababab".to_owned())
    ];
    (
        text,
        prop::sample::select(&[Gaps::Closed, Gaps::Ends, Gaps::Filled][..]),
    )
}

fn empty(shape: Shape) -> Vec<u8> {
    let mut bytes = vec![0; CountingBuilder::size(shape)];
    CountingBuilder::new(shape, &mut bytes).finish();
    bytes
}

fn add(bytes: &mut [u8], (text, gaps): &(String, Gaps)) {
    let mut builder = CountingBuilder::in_place(bytes).unwrap();
    builder.add_text(text, *gaps, || ()).unwrap();
}

fn remove(bytes: &mut [u8], (text, gaps): &(String, Gaps)) -> base::Result<()> {
    let mut builder = CountingBuilder::in_place(bytes).unwrap();
    builder.remove_text(text, *gaps, || ())
}

fn merge(a: &[u8], b: &[u8]) -> Vec<u8> {
    let mut bytes = a.to_vec();
    let mut builder = CountingBuilder::in_place(&mut bytes).unwrap();
    builder.merge(&CountingView::untrusted(b).unwrap()).unwrap();
    bytes
}

fn of_all(shape: Shape, texts: &[(String, Gaps)]) -> Vec<u8> {
    let mut bytes = empty(shape);
    texts.iter().for_each(|text| add(&mut bytes, text));
    bytes
}

/// The signature that a counting filter becomes.
fn cast(bytes: &[u8]) -> Vec<u8> {
    let view = CountingView::untrusted(bytes).unwrap();
    let mut signature = vec![0; Builder::size(view.shape())];
    let mut builder = Builder::new(view.shape(), &mut signature);
    view.to_signature(&mut builder);
    builder.finish();
    signature
}

fn signature(shape: Shape, texts: &[(String, Gaps)]) -> Vec<u8> {
    let mut bytes = vec![0; Builder::size(shape)];
    let mut builder = Builder::new(shape, &mut bytes);
    for (text, gaps) in texts {
        builder.add_text(text, *gaps, || ()).unwrap();
    }
    builder.finish();
    bytes
}

/// What each counter has to count, by the definition and without limit: the distinct n-grams of each text.
fn counted(shape: Shape, texts: &[(String, Gaps)]) -> Vec<u32> {
    let mut counts = vec![0; shape.m() as usize];
    let (k, p) = (u64::from(shape.k()), u64::from(shape.p()));
    for (text, gaps) in texts {
        for index in ngram_set(
            text,
            shape.text_rules().unwrap(),
            shape.ngram(),
            *gaps,
            || (),
        )
        .unwrap()
        {
            let (h1, h2) = (index % p, index % (p - 2) + 1);
            for j in 0..k {
                counts[(j * p + (h1 + j * h2) % p) as usize] += 1;
            }
        }
    }
    counts
}

fn values(bytes: &[u8]) -> Vec<u32> {
    let view = CountingView::untrusted(bytes).unwrap();
    view.values().map(u32::from).collect()
}

fn full(bytes: &[u8]) -> u32 {
    CountingView::stored(bytes).unwrap().full()
}

fn hashes(tokens: &[String]) -> TokenHashList {
    let mut hashes = TokenHashList::new();
    tokens.iter().for_each(|token| hashes.push(token).unwrap());
    hashes
}

/// The signature of the tokens.
fn signature_of_tokens(shape: Shape, tokens: &[String]) -> Vec<u8> {
    let mut bytes = vec![0; Builder::size(shape)];
    let mut builder = Builder::new(shape, &mut bytes);
    for token in tokens {
        builder.add_token(token).unwrap();
    }
    builder.finish();
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn counters_count_up_to_their_maximum(shape in shapes(), texts in prop::collection::vec(texts(), 0..8)) {
        let bytes = of_all(shape, &texts);
        let counted = counted(shape, &texts);
        prop_assert_eq!(values(&bytes), counted.iter().map(|&n| n.min(FULL.into())).collect::<Vec<_>>());
        prop_assert_eq!(full(&bytes) as usize, counted.iter().filter(|&&n| n >= FULL.into()).count());
        prop_assert_eq!(cast(&bytes), signature(shape, &texts));
    }

    /// Whatever was added and removed, in any order: what remains is there, and nothing else unless a counter was full.
    #[test]
    fn what_remains_after_removing(
        shape in shapes(),
        texts in prop::collection::vec((texts(), 0..3u8, any::<prop::sample::Index>()), 0..12),
    ) {
        let mut bytes = empty(shape);
        let mut was_full = false;
        let mut remains: Vec<(String, Gaps)> = vec![];
        for (text, removals, which) in texts {
            add(&mut bytes, &text);
            remains.push(text);
            was_full |= full(&bytes) > 0;
            for _ in 0..removals.min(remains.len() as u8) {
                let text = remains.swap_remove(which.index(remains.len()));
                let before = full(&bytes);
                prop_assert!(remove(&mut bytes, &text).is_ok());
                prop_assert_eq!(full(&bytes), before);
            }
        }
        let view = CountingView::untrusted(&bytes).unwrap();
        for (text, gaps) in &remains {
            prop_assert!(holds_text(&view, text, *gaps, || ()).unwrap());
        }
        if was_full {
            let superset = cast(&bytes).iter().zip(signature(shape, &remains)).skip(12).all(|(a, b)| a & b == b);
            prop_assert!(superset);
        } else {
            prop_assert_eq!(cast(&bytes), signature(shape, &remains));
            prop_assert_eq!(values(&bytes), counted(shape, &remains));
        }
    }

    /// A removal fails exactly if some counter that is not full holds less than the text would take; then nothing is
    /// changed.
    #[test]
    fn a_removal_takes_all_or_nothing(shape in shapes(), added in prop::collection::vec(texts(), 0..6), text in texts()) {
        let before = of_all(shape, &added);
        let takes = counted(shape, std::slice::from_ref(&text));
        let holds = values(&before);
        let short = holds.iter().zip(&takes).any(|(&holds, &takes)| holds < FULL.into() && holds < takes);
        let mut after = before.clone();
        match remove(&mut after, &text) {
            Ok(()) => {
                prop_assert!(!short);
                let left = holds.iter().zip(&takes).map(|(&holds, &takes)| if holds == u32::from(FULL) { holds } else { holds - takes });
                prop_assert_eq!(values(&after), left.collect::<Vec<_>>());
            }
            Err(error) => {
                prop_assert!(short);
                prop_assert_eq!(after, before);
                prop_assert_eq!(error.kind(), ErrorKind::DataException);
                let numbers: Vec<usize> = error.detail_text().unwrap().split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect();
                let [counter, held, taken] = numbers[..] else { panic!("{numbers:?}") };
                prop_assert_eq!((holds[counter] as usize, takes[counter] as usize), (held, taken));
                prop_assert!(held < taken);
            }
        }
    }

    /// The same for sets of tokens. They need not be removed as the sets that were added.
    #[test]
    fn tokens_that_remain_after_removing(
        (k, p) in (1..=16i64, prop::sample::select(&PRIMES)),
        sets in prop::collection::vec(prop::collection::vec("[a-d]{0,2}", 0..6), 0..8),
        removals in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
        other in "[a-f]{0,2}",
    ) {
        let shape = Shape::new(k, p, 0).unwrap();
        let mut bytes = empty(shape);
        let mut remain: Vec<String> = vec![];
        for set in &sets {
            CountingBuilder::in_place(&mut bytes).unwrap().add_tokens(hashes(set), || ()).unwrap();
            let mut set = set.clone();
            set.sort();
            set.dedup();
            remain.extend(set);
        }
        prop_assert_eq!(cast(&bytes), signature_of_tokens(shape, &remain));
        let was_full = full(&bytes) > 0;
        for which in removals.iter().take(remain.len()) {
            let token = remain.swap_remove(which.index(remain.len()));
            let twice = vec![token.clone(), token];
            CountingBuilder::in_place(&mut bytes).unwrap().remove_tokens(hashes(&twice), || ()).unwrap();
        }
        let view = CountingView::untrusted(&bytes).unwrap();
        let left = signature_of_tokens(shape, &remain);
        if was_full {
            let superset = cast(&bytes).iter().zip(&left).skip(12).all(|(a, b)| a & b == *b);
            prop_assert!(superset);
        } else {
            prop_assert_eq!(cast(&bytes), left);
        }
        for token in &remain {
            prop_assert!(holds_token(&view, token).unwrap());
        }
        // a token alone is removed exactly if it is held, since it takes once from each of its counters
        let held = holds_token(&view, &other).unwrap();
        let before = bytes.clone();
        let removed = CountingBuilder::in_place(&mut bytes).unwrap().remove_tokens(hashes(&[other]), || ());
        prop_assert_eq!(removed.is_ok(), held);
        prop_assert!(held || bytes == before);
    }

    #[test]
    fn merging_adds(shape in shapes(), a in prop::collection::vec(texts(), 0..5), b in prop::collection::vec(texts(), 0..5), c in texts()) {
        let together = of_all(shape, &[a.clone(), b.clone()].concat());
        let (a, b, c) = (of_all(shape, &a), of_all(shape, &b), of_all(shape, &[c]));
        prop_assert_eq!(&merge(&a, &b), &together);
        prop_assert_eq!(merge(&a, &b), merge(&b, &a));
        prop_assert_eq!(merge(&merge(&a, &b), &c), merge(&a, &merge(&b, &c)));
        prop_assert_eq!(merge(&a, &empty(shape)), a);
    }

    #[test]
    fn holding_is_that_of_the_signature(shape in shapes(), added in prop::collection::vec(texts(), 0..4), text in texts()) {
        let bytes = of_all(shape, &added);
        let signature = cast(&bytes);
        let holds = holds_text(&CountingView::stored(&bytes).unwrap(), &text.0, text.1, || ()).unwrap();
        let signature = signature::filter::View::untrusted(&signature).unwrap();
        prop_assert_eq!(holds, signature::filter::contains_text(&signature, &text.0, text.1, || ()).unwrap());
    }

    #[test]
    fn text_form_round_trip(shape in shapes(), texts in prop::collection::vec(texts(), 0..6)) {
        let bytes = of_all(shape, &texts);
        let mut written = String::new();
        write_text(&CountingView::untrusted(&bytes).unwrap(), &mut written);
        let mut read = vec![];
        parse_text(&written, &mut read).unwrap();
        prop_assert_eq!(&read, &bytes);
        parse_text(&format!(" \t{}\n", written.to_uppercase()), &mut read).unwrap();
        prop_assert_eq!(read, bytes);
    }

    #[test]
    fn random_bytes_do_no_harm(mut bytes in prop::collection::vec(any::<u8>(), 0..60), as_version: bool) {
        if let Some(first) = bytes.first_mut().filter(|_| as_version) {
            *first = 1;
        }
        prop_assert!(CountingView::untrusted(&bytes).is_err() || CountingView::stored(&bytes).is_some());
        if let Some(view) = CountingView::stored(&bytes) {
            view.values().for_each(drop);
            view.full();
        }
    }

    /// Any counters make a counting filter, with nothing behind them.
    #[test]
    fn random_counters_are_a_counting_filter((shape, counters) in shapes().prop_flat_map(|shape| {
        (Just(shape), prop::collection::vec(any::<u8>(), shape.m().div_ceil(2) as usize))
    })) {
        let mut bytes = empty(shape);
        bytes[HEADER..].copy_from_slice(&counters);
        let padded = shape.m() % 2 == 1 && counters[counters.len() - 1] > 15;
        prop_assert_eq!(CountingView::untrusted(&bytes).is_err(), padded);
        if padded {
            *bytes.last_mut().unwrap() &= 15;
        }
        let view = CountingView::untrusted(&bytes).unwrap();
        prop_assert_eq!(view.full() as usize, view.values().filter(|&value| value == FULL).count());
        let positions: Vec<u32> = view.values().zip(0..).filter_map(|(value, at)| (value > 0).then_some(at)).collect();
        let signature = cast(&bytes);
        prop_assert_eq!(signature::filter::View::untrusted(&signature).unwrap().positions().collect::<Vec<_>>(), positions);
    }
}

/// A counter that is full is not lowered, and does not refuse.
#[test]
fn full_counters_stay() {
    let shape = Shape::new(3, 31, 3).unwrap();
    let erika = ("Erika".to_owned(), Gaps::Closed);
    let mut bytes = of_all(shape, &vec![erika.clone(); 20]);
    let full_then = full(&bytes);
    assert!(full_then > 0);
    for _ in 0..30 {
        remove(&mut bytes, &erika).unwrap();
    }
    assert_eq!(full(&bytes), full_then);
    assert!(holds_text(
        &CountingView::stored(&bytes).unwrap(),
        "Erika",
        false,
        || ()
    )
    .unwrap());
    // Another text, which shares none of them all, is refused as ever.
    let other = ("Wolfgang".to_owned(), Gaps::Closed);
    let before = bytes.clone();
    assert!(remove(&mut bytes, &other).is_err());
    assert_eq!(bytes, before);
}

#[test]
fn another_shape_is_refused() {
    let shape = |k, p, q| Shape::new(k, p, q).unwrap();
    let mut bytes = empty(shape(2, 5, 3));
    let other = empty(shape(2, 5, 4));
    let mut builder = CountingBuilder::in_place(&mut bytes).unwrap();
    let error = builder
        .merge(&CountingView::stored(&other).unwrap())
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DataException);
    assert_eq!(
        error.message(),
        "different shapes of counting filters (2,5,3) and (2,5,4)"
    );
}

/// What counts n-grams takes no tokens, and the other way round.
#[test]
fn texts_and_tokens_do_not_mix() {
    let mut of_tokens = empty(Shape::new(2, 5, 0).unwrap());
    let mut of_texts = empty(Shape::new(2, 5, 3).unwrap());
    let one = || hashes(&["a".to_owned()]);
    let mut builder = CountingBuilder::in_place(&mut of_texts).unwrap();
    let error = builder.add_tokens(one(), || ()).unwrap_err();
    assert_eq!(
        error.message(),
        "counting filter of shape (2,5,3) is one of n-grams, not of tokens"
    );
    assert_eq!(builder.remove_tokens(one(), || ()), Err(error.clone()));
    assert_eq!(holds_token(&builder.finish(), "a"), Err(error));
    let mut builder = CountingBuilder::in_place(&mut of_tokens).unwrap();
    let error = builder.add_text("a", false, || ()).unwrap_err();
    assert_eq!(
        error.message(),
        "counting filter of shape (2,5,0,hash=1) is one of tokens, not of texts"
    );
    assert_eq!(builder.remove_text("a", false, || ()), Err(error.clone()));
    assert_eq!(holds_text(&builder.finish(), "a", false, || ()), Err(error));
}

/// The bytes themselves: the format cannot move unnoticed.
#[test]
fn bytes_of_a_counting_filter() {
    let shape = Shape::new(2, 5, 3).unwrap();
    let bytes = of_all(
        shape,
        &[
            ("a".to_owned(), Gaps::Closed),
            ("a".to_owned(), Gaps::Closed),
        ],
    );
    assert_eq!(
        bytes,
        [1, 2, 5, 0, 3, 1, 0, 0, 0x20, 0x20, 0x22, 0x02, 0x02]
    );
    let mut text = String::new();
    write_text(&CountingView::stored(&bytes).unwrap(), &mut text);
    assert_eq!(text, "(2,5,3):0202222020");
}
