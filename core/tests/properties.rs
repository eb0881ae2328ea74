//! Laws that hold for every input.

use bitvec::prelude::*;
use bloom_ident_core::bits::kernels;
use bloom_ident_core::filter::{self, contains_text, parse_text, write_text, Builder, Shape, View};
use bloom_ident_core::similarity::{PackedSignatures, Popcounts};
use bloom_ident_core::{ngram, text};
use proptest::prelude::*;

const PRIMES: [i64; 10] = [5, 7, 11, 13, 31, 43, 61, 97, 127, 251];

fn shapes() -> impl Strategy<Value = Shape> {
    (1..=16i64, prop::sample::select(&PRIMES[..]), 2..=8i64)
        .prop_map(|(k, p, q)| Shape::new(k, p, q).unwrap())
}

/// Text as registers hold it, and any other Unicode.
fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC*",
        any::<String>(),
        "[a-zA-ZäöüßéñçøåÄÖÜ' .,0-9-]{0,40}",
        "[a-zа-яёα-ωء-ي가-힣\u{300}-\u{310}\u{5b0}-\u{5c7}\u{64b}-\u{65f}]{0,20}",
    ]
}

fn build(shape: Shape, text: &str) -> Vec<u8> {
    let mut bytes = vec![0; Builder::size(shape)];
    let mut builder = Builder::new(shape, &mut bytes);
    builder.add_text(text, false, || ());
    builder.finish();
    bytes
}

fn combine(a: &[u8], b: &[u8], with: fn(&mut Builder<'_>, &View<'_>)) -> Vec<u8> {
    let mut bytes = a.to_vec();
    let mut builder = Builder::in_place(&mut bytes).unwrap();
    with(&mut builder, &View::stored(b).unwrap());
    builder.finish();
    bytes
}

fn or(a: &[u8], b: &[u8]) -> Vec<u8> {
    combine(a, b, |builder, b| builder.unite(b).unwrap())
}

fn and(a: &[u8], b: &[u8]) -> Vec<u8> {
    combine(a, b, |builder, b| builder.intersect(b).unwrap())
}

fn counts(a: &[u8], b: &[u8]) -> Popcounts {
    Popcounts::of(&View::stored(a).unwrap(), &View::stored(b).unwrap()).unwrap()
}

proptest! {
    #[test]
    fn normalise_is_idempotent_and_yields_the_alphabet(s in texts(), filler: bool) {
        let once = text::normalize(&s, filler, || ()).unwrap();
        prop_assert!(once.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || filler && b == b'_'));
        prop_assert!(!once.starts_with('_') && !once.ends_with('_') && !once.contains("__"));
        prop_assert_eq!(&text::normalize(&once, filler, || ()).unwrap(), &once);
        prop_assert_eq!(text::normalize(&s, true, || ()).unwrap().replace('_', ""), text::normalize(&s, false, || ()).unwrap());
    }

    #[test]
    fn normalise_does_not_care_for_the_unicode_form(s in texts()) {
        use unicode_normalization::UnicodeNormalization;
        let normal = text::normalize(&s, false, || ()).unwrap();
        prop_assert_eq!(&text::normalize(&s.nfc().collect::<String>(), false, || ()).unwrap(), &normal);
        prop_assert_eq!(&text::normalize(&s.nfd().collect::<String>(), false, || ()).unwrap(), &normal);
    }

    #[test]
    fn rolling_index_is_the_direct_index(s in texts(), q in 2u8..=8, by_word: bool) {
        let symbols = text::normalize(&s, false, || ()).unwrap().len();
        let mut words = 0;
        ngram::for_each_ngram(&s, q, by_word, |window, index| {
            words += 1;
            assert_eq!(ngram::index(&window.ngram()).unwrap(), index);
        }, || ());
        if !by_word {
            prop_assert_eq!(words, if symbols == 0 { 0 } else { symbols + usize::from(q) - 1 });
        }
    }

    #[test]
    fn by_word_is_each_word_by_itself(words in prop::collection::vec("[a-zäöü'’0-9]{1,8}", 0..5), shape in shapes()) {
        let mut together = vec![0; Builder::size(shape)];
        let mut builder = Builder::new(shape, &mut together);
        builder.add_text(&words.join(", "), true, || ());
        builder.finish();
        let apart = words.iter().fold(build(shape, ""), |union, w| or(&union, &build(shape, w)));
        prop_assert_eq!(together, apart);
    }

    #[test]
    fn similarity(a in texts(), b in texts(), shape in shapes()) {
        let (a, b) = (build(shape, &a), build(shape, &b));
        let s = counts(&a, &b).jaccard();
        prop_assert_eq!(s, counts(&b, &a).jaccard());
        prop_assert!((0.0..=1.0).contains(&s));
        let empty = View::stored(&a).unwrap().popcount() == 0;
        prop_assert_eq!(counts(&a, &a).jaccard(), if empty { 0.0 } else { 1.0 });
        prop_assert_eq!(s == 1.0, a == b && !empty);
        for measure in [Popcounts::dice, Popcounts::overlap, Popcounts::containment] {
            prop_assert!((0.0..=1.0).contains(&measure(counts(&a, &b))));
        }
    }

    #[test]
    fn union_and_intersection(a in texts(), b in texts(), c in texts(), shape in shapes()) {
        let (a, b, c) = (build(shape, &a), build(shape, &b), build(shape, &c));
        prop_assert_eq!(or(&a, &b), or(&b, &a));
        prop_assert_eq!(and(&a, &b), and(&b, &a));
        prop_assert_eq!(or(&or(&a, &b), &c), or(&a, &or(&b, &c)));
        prop_assert_eq!(and(&and(&a, &b), &c), and(&a, &and(&b, &c)));
        prop_assert_eq!(or(&a, &and(&a, &b)), a.clone());
        prop_assert_eq!(and(&a, &or(&a, &b)), a.clone());
        prop_assert_eq!(or(&a, &a), a.clone());
        let size = |x: &[u8]| View::untrusted(x).unwrap().popcount();
        prop_assert_eq!(size(&or(&a, &b)) + size(&and(&a, &b)), size(&a) + size(&b));
        prop_assert_eq!(size(&and(&a, &b)), counts(&a, &b).common);
        prop_assert!(counts(&or(&a, &b), &a).contains());
        prop_assert!(counts(&a, &and(&a, &b)).contains());
    }

    #[test]
    fn what_was_added_is_contained(a in texts(), b in texts(), by_word: bool, shape in shapes()) {
        let mut bytes = build(shape, &a);
        let mut builder = Builder::in_place(&mut bytes).unwrap();
        builder.add_text(&b, by_word, || ());
        let view = builder.finish();
        prop_assert!(contains_text(&view, &a, false, || ()));
        prop_assert!(contains_text(&view, &b, by_word, || ()));
        prop_assert!(contains_text(&view, "", by_word, || ()));
    }

    #[test]
    fn every_kernel_is_the_bit_loop(
        (bits, a, b) in (1usize..=4096).prop_flat_map(|bits| {
            let bytes = || prop::collection::vec(any::<u8>(), bits.div_ceil(8));
            (Just(bits), bytes(), bytes())
        }),
        shift in 0usize..8,
    ) {
        let cut = |v: &[u8]| {
            let mut v: BitVec<u8, Lsb0> = BitVec::from_slice(v);
            v[bits..].fill(false);
            v
        };
        let (a, b) = (cut(&a), cut(&b));
        let expected = a.iter().zip(&b).filter(|(x, y)| **x && **y).count() as u32;
        // at any alignment, and with a neighbour that must not be read
        let place = |v: BitVec<u8, Lsb0>| [vec![0xff; shift], v.into_vec(), vec![0xff; 70]].concat();
        let (a, b) = (place(a), place(b));
        let end = shift + bits.div_ceil(8);
        for kernel in kernels() {
            prop_assert_eq!(kernel.intersect(&a[shift..end], &b[shift..end]), expected, "{}", kernel.name);
        }
    }

    #[test]
    fn packed_scan_is_the_plain_loop(
        (bits, rows, query) in (1u32..=2100).prop_flat_map(|bits| {
            let row = move || prop::collection::vec(any::<u8>(), bits.div_ceil(8) as usize)
                .prop_map(move |mut v| { if bits % 8 > 0 { *v.last_mut().unwrap() &= 0xff >> (8 - bits % 8); } v });
            (Just(bits), prop::collection::vec(row(), 0..40), row())
        }),
        threshold in prop_oneof![Just(0.0), Just(1.0), Just(1.0 / 3.0), 0.0..1.0],
    ) {
        let mut packed = PackedSignatures::new(bits);
        let mut rows = rows;
        rows.push(query.clone());
        rows.push(vec![0; query.len()]);
        for row in &rows { packed.push(row).unwrap(); }
        let ones = |v: &[u8]| v.iter().map(|b| b.count_ones()).sum::<u32>();
        let expected: Vec<(usize, u32)> = rows.iter().enumerate().filter_map(|(i, row)| {
            let common: Vec<u8> = row.iter().zip(&query).map(|(x, y)| x & y).collect();
            let c = Popcounts { a: ones(&query), b: ones(row), common: ones(&common) };
            (c.jaccard() >= threshold).then_some((i, c.common))
        }).collect();
        for kernel in kernels() {
            let mut got = Vec::new();
            packed.search_with(&kernel, &query, threshold, |i, common| got.push((i, common)));
            prop_assert_eq!(&got, &expected, "{}", kernel.name);
        }
    }

    #[test]
    fn text_form_round_trip(s in texts(), shape in shapes()) {
        let bytes = build(shape, &s);
        let mut written = String::new();
        write_text(&View::untrusted(&bytes).unwrap(), &mut written);
        let mut read = Vec::new();
        parse_text(&written, &mut read).unwrap();
        prop_assert_eq!(&read, &bytes);
        parse_text(&format!(" \t{}\n", written.to_uppercase()), &mut read).unwrap();
        prop_assert_eq!(read, bytes);
    }

    #[test]
    fn random_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
        if let Ok(view) = View::untrusted(&bytes) {
            prop_assert!(View::stored(&bytes).is_some());
            prop_assert_eq!(view.positions().count() as u32, view.popcount());
        }
        let _ = View::stored(&bytes).map(|v| v.shape());
    }

    #[test]
    fn damaged_bytes_are_refused_or_harmless(s in texts(), shape in shapes(), at: prop::sample::Index, to: u8) {
        let mut bytes = build(shape, &s);
        let at = at.index(bytes.len());
        let same = bytes[at] == to;
        bytes[at] = to;
        match View::untrusted(&bytes) {
            // only the n-gram length and a prime of the same length in bytes can be another value
            Ok(view) => prop_assert!(same || at == 4 || view.shape().bytes() == shape.bytes()),
            Err(_) => prop_assert!(!same),
        }
    }

    #[test]
    fn random_text_does_no_harm(s in prop_oneof![any::<String>(), "\\([0-9,a-z=]{0,12}\\):[0-9a-fx]{0,12}", "\\(2,5,3\\):[0-9a-f]{4}"]) {
        let mut bytes = Vec::new();
        if parse_text(&s, &mut bytes).is_ok() {
            prop_assert!(View::untrusted(&bytes).is_ok());
        }
    }

    #[test]
    fn plans_are_shapes_or_errors(max_chars in -5i64..20_000, q in 0i64..10, fpr in -0.1f64..1.1) {
        if let Ok(plan) = filter::plan(max_chars, q, fpr) {
            prop_assert_eq!(i64::from(plan.n), max_chars + q - 1);
            prop_assert!((0.0..=1.0).contains(&plan.actual_fpr));
        }
    }

    #[test]
    fn dates_do_not_panic(text in texts(), format in texts()) {
        let _ = text::parse_date(&text, &format);
        let _ = text::plausibility(&text, "DD.MM.YYYY");
        let _ = text::plausibility(&text, &format);
    }

    #[test]
    fn every_real_date_is_read(days in 0i64..3_652_059) {
        let date = chrono::NaiveDate::from_num_days_from_ce_opt(days as i32 + 1).unwrap();
        let digits = date.format("%Y%m%d").to_string();
        prop_assert_eq!(text::parse_date(&date.format("%d.%m.%Y").to_string(), "DD.MM.YYYY").unwrap(), digits.clone());
        prop_assert_eq!(text::parse_date(&date.format("%-d %B %Y").to_string(), "DD Month YYYY").unwrap(), digits);
    }
}

#[test]
fn the_largest_and_smallest_shapes() {
    for (k, p, q) in [(1, 5, 2), (64, 8191, 8), (64, 5, 8), (1, 8191, 2)] {
        let shape = Shape::new(k, p, q).unwrap();
        let bytes = build(
            shape,
            "the quick brown fox jumps over the lazy dog 0123456789",
        );
        let view = View::untrusted(&bytes).unwrap();
        assert_eq!(counts(&bytes, &bytes).jaccard(), 1.0);
        assert!(contains_text(
            &view,
            "the quick brown fox jumps over the lazy dog 0123456789",
            false,
            || ()
        ));
    }
}

#[test]
fn different_shapes_never_compare() {
    let base = Shape::new(7, 43, 3).unwrap();
    let a = build(base, "erika");
    for other in [(6, 43, 3), (7, 41, 3), (7, 43, 2)] {
        let b = build(Shape::new(other.0, other.1, other.2).unwrap(), "erika");
        let error =
            Popcounts::of(&View::stored(&a).unwrap(), &View::stored(&b).unwrap()).unwrap_err();
        assert!(error.message().contains("(7,43,3)"), "{error}");
        let mut copy = a.clone();
        assert!(Builder::in_place(&mut copy)
            .unwrap()
            .unite(&View::stored(&b).unwrap())
            .is_err());
    }
    // a byte of rule set, hash family or key is part of the shape
    for at in 5..8 {
        let mut b = a.clone();
        b[at] += 1;
        assert!(Popcounts::of(&View::stored(&a).unwrap(), &View::stored(&b).unwrap()).is_err());
        assert!(View::untrusted(&b).is_err());
    }
}

/// What the formula leaves out: words share p(p−2) patterns. Filters of 32 random trigrams answer
/// for about 0.0246 of the others, where (1−e^(−kn/m))^k says 0.0110.
#[test]
fn false_positives_of_random_trigrams() {
    let plan = filter::plan(30, 3, 0.01).unwrap();
    let mut state = 42u64;
    let mut word = || {
        let letter = |n: u64| char::from(b'a' + (n % 26) as u8);
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let n = state >> 33;
        [letter(n), letter(n / 26), letter(n / 676)]
            .iter()
            .collect::<String>()
    };
    // the middle word of a text of three symbols is the text itself
    let positions = |w: &str| {
        let index = ngram::index(w).unwrap();
        let (p, k) = (u64::from(plan.shape.p()), u64::from(plan.shape.k()));
        let (h1, h2) = (index % p, index % (p - 2) + 1);
        (0..k)
            .map(|j| (j * p + (h1 + j * h2) % p) as usize)
            .collect::<Vec<_>>()
    };
    let (mut asked, mut positive) = (0u32, 0u32);
    for _ in 0..400 {
        let mut words: Vec<String> = (0..32).map(|_| word()).collect();
        words.sort();
        words.dedup();
        let mut set = vec![false; plan.shape.m() as usize];
        words
            .iter()
            .flat_map(|w| positions(w))
            .for_each(|at| set[at] = true);
        for _ in 0..2000 {
            let other = word();
            if words.binary_search(&other).is_err() {
                asked += 1;
                positive += u32::from(positions(&other).iter().all(|&at| set[at]));
            }
        }
    }
    let rate = f64::from(positive) / f64::from(asked);
    assert!((rate - 0.0246).abs() < 0.001, "{rate}");
}

/// A bound of an inner key is at least the similarity of everything below it, whatever is asked.
mod gist {
    use bloom_ident_core::filter::QueryView;
    use bloom_ident_core::gist::{split, unite, united_size, TreeKey};

    use super::*;

    fn united(keys: &[TreeKey<'_>]) -> Vec<u8> {
        let mut bytes = vec![0; united_size(keys.iter().copied()).unwrap()];
        unite(keys.iter().copied(), &mut bytes);
        bytes
    }

    /// Sparse and dense signatures, equal and empty ones.
    fn signatures() -> impl Strategy<Value = (Vec<Vec<u8>>, Vec<u8>)> {
        let small = (1..=12i64, prop::sample::select(&PRIMES[..7]))
            .prop_map(|(k, p)| Shape::new(k, p, 3).unwrap());
        small.prop_flat_map(|shape| {
            let one = move || {
                ("[a-d]{0,12}", 0..40usize)
                    .prop_map(move |(text, repeat)| build(shape, &text.repeat(repeat)))
            };
            (prop::collection::vec(one(), 1..20), one())
        })
    }

    proptest! {
        #[test]
        fn bounds_hold((rows, query) in signatures(), threshold in 0.0f64..=1.0, own in 0.0f64..=1.0) {
            let leaf = |bytes| TreeKey::of_signature(View::stored(bytes).unwrap());
            let keys: Vec<TreeKey<'_>> = rows.iter().map(|r| leaf(r)).collect();
            let (half, all) = (united(&keys[..keys.len().div_ceil(2)]), united(&keys));
            let levels = [united(&[TreeKey::stored(&half).unwrap(), TreeKey::stored(&all).unwrap()]), all];
            let asked = [query.as_slice(), &threshold.to_le_bytes()].concat();
            let asked = TreeKey::of_query(QueryView::stored(&asked).unwrap());
            for inner in &levels {
                let inner = TreeKey::stored(inner).unwrap();
                for (row, key) in rows.iter().zip(&keys) {
                    let c = counts(row, &query);
                    prop_assert_eq!(key.bound(&asked), c.jaccard());
                    prop_assert!(inner.bound(&asked) >= c.jaccard());
                    prop_assert_eq!(key.may_match(&asked), c.jaccard() >= threshold);
                    prop_assert!(inner.may_match(&asked) || c.jaccard() < threshold);
                    prop_assert_eq!(key.may_contain(&asked), c.contains());
                    prop_assert!(inner.may_contain(&asked) || !c.contains());
                    prop_assert_eq!(key.may_be_within(&asked), c.common == c.a);
                    prop_assert!(inner.may_be_within(&asked) || c.common < c.a);
                    prop_assert_eq!(key.may_equal(&asked), row == &query);
                    prop_assert!(inner.may_equal(&asked) || row != &query);
                }
            }
            // queries as keys: the larger threshold counts
            let stored: Vec<Vec<u8>> = rows.iter().map(|r| [r.as_slice(), &own.to_le_bytes()].concat()).collect();
            let keys: Vec<TreeKey<'_>> = stored.iter().map(|r| TreeKey::stored(r).unwrap()).collect();
            let inner = united(&keys);
            let inner = TreeKey::stored(&inner).unwrap();
            for (row, key) in rows.iter().zip(&keys) {
                let matches = counts(row, &query).jaccard() >= threshold.max(own);
                prop_assert_eq!(key.may_match(&asked), matches);
                prop_assert!(inner.may_match(&asked) || !matches);
            }
        }

        #[test]
        fn a_split_is_balanced_and_a_union_covers((rows, _) in signatures()) {
            let keys: Vec<TreeKey<'_>> = rows.iter().map(|r| TreeKey::stored(r).unwrap()).collect();
            if keys.len() > 1 {
                let right = split(&keys).unwrap();
                let n = right.iter().filter(|r| **r).count();
                prop_assert!(n >= keys.len() / 3 && keys.len() - n >= keys.len() / 3 && n > 0 && n < keys.len());
            }
            let inner = united(&keys);
            let inner = TreeKey::stored(&inner).unwrap();
            prop_assert!(keys.iter().all(|key| inner.penalty(key) == 0.0));
            prop_assert!(united(&[inner]) == united(&keys));
        }

        /// Of two shapes nothing is missed, nothing is refused, and a split parts them.
        #[test]
        fn shapes_mix((rows, query) in signatures(), other in "[a-d]{0,12}", few in 1..20usize) {
            let other = build(Shape::new(2, 61, 4).unwrap(), &other);
            let foreign = TreeKey::stored(&other).unwrap();
            let own: Vec<TreeKey<'_>> = rows.iter().map(|r| TreeKey::stored(r).unwrap()).collect();
            let keys: Vec<TreeKey<'_>> = own.iter().copied().chain(vec![foreign; few]).collect();
            let (mixed, ours, theirs) = (united(&keys), united(&own), united(&[foreign]));
            let (mixed, ours, theirs) = (TreeKey::stored(&mixed).unwrap(), TreeKey::stored(&ours).unwrap(), TreeKey::stored(&theirs).unwrap());
            prop_assert!(united(&[mixed, ours]) == united(&keys) && united(&[theirs, ours]) == united(&keys));
            let asked = TreeKey::stored(&query).unwrap();
            prop_assert!(mixed.bound(&asked) == 1.0 && mixed.may_match(&asked) && mixed.may_contain(&asked) && mixed.may_be_within(&asked) && mixed.may_equal(&asked));
            for key in [foreign, theirs] {
                prop_assert!(key.bound(&asked) == 1.0 && key.may_match(&asked) && key.may_contain(&asked) && key.may_be_within(&asked) && !key.may_equal(&asked));
            }
            prop_assert!(foreign.foreign(&asked) && !theirs.foreign(&asked) && !mixed.foreign(&asked) && !own[0].foreign(&asked));
            prop_assert!(ours.penalty(&own[0]) < mixed.penalty(&own[0]) && mixed.penalty(&own[0]) < theirs.penalty(&own[0]));
            let right = split(&keys).unwrap();
            prop_assert!(right[..own.len()].iter().all(|r| *r == right[0]) && right[own.len()..].iter().all(|r| *r != right[0]));
            prop_assert_eq!(mixed.describe(), "several shapes");
        }
    }
}
