//! Sketches of sets of tokens: that every kernel gives the same, and what must hold of any.

use proptest::prelude::*;
use signature::similarity::{above, at_least};
use signature::sketch::{self, query, typmod, BitsQueryView, BitsView, MinimaView};
use signature::sketch::{Signer, SketchKind, SketchShape, HEADER};

const KINDS: [SketchKind; 2] = [SketchKind::Minima, SketchKind::Bits];

fn shape(n: i64, family: i64) -> SketchShape {
    SketchShape::new(n, family).unwrap()
}

fn bytes_of(kind: SketchKind, signer: &mut Signer) -> Vec<u8> {
    let mut bytes = vec![0; HEADER + kind.payload(signer.shape())];
    match kind {
        SketchKind::Minima => sketch::write_minima(signer, &mut bytes),
        SketchKind::Bits => sketch::write_bits(signer, &mut bytes),
    }
    bytes
}

fn signed(kind: SketchKind, shape: SketchShape, tokens: &[impl AsRef<str>]) -> Vec<u8> {
    let mut signer = Signer::new(shape);
    tokens.iter().for_each(|token| signer.add(token.as_ref()));
    bytes_of(kind, &mut signer)
}

fn bits(shape: SketchShape, tokens: &[impl AsRef<str>]) -> Vec<u8> {
    signed(SketchKind::Bits, shape, tokens)
}

fn estimate(a: &[u8], b: &[u8]) -> f64 {
    let (a, b) = (BitsView::stored(a).unwrap(), BitsView::stored(b).unwrap());
    a.similarity(&b).unwrap()
}

#[test]
fn every_kernel_gives_the_same() {
    for n in [1, 7, 31, 32, 33, 64, 128, 192, 1000, 1024] {
        for family in [0, 1, 65535] {
            for size in [0, 1, 2, 63, 64, 65, 200] {
                let sign = |kernel| {
                    let mut signer = Signer::with_kernel(shape(n, family), kernel);
                    (0..size).for_each(|i| signer.add(&format!("{n} {i}")));
                    bytes_of(SketchKind::Minima, &mut signer)
                };
                let all: Vec<_> = sketch::kernels().into_iter().map(sign).collect();
                assert!(
                    all.iter().all(|bytes| *bytes == all[0]),
                    "{n} {family} {size}"
                );
                assert!(size > 0 || all[0][HEADER..].iter().all(|&byte| byte == 0xff));
            }
        }
    }
}

#[test]
fn empty_sets_are_similar_to_nothing() {
    let none: [&str; 0] = [];
    let (empty, full) = (bits(shape(64, 0), &none), bits(shape(64, 0), &["a"]));
    for (a, b) in [(&empty, &empty), (&empty, &full), (&full, &empty)] {
        assert_eq!(estimate(a, b), 0.0);
        let (a, b) = (BitsView::stored(a).unwrap(), BitsView::stored(b).unwrap());
        assert_eq!(a.distance(&b).unwrap(), f64::INFINITY);
    }
    assert_eq!(estimate(&full, &full), 1.0);
    let (a, b) = (
        signed(SketchKind::Minima, shape(64, 0), &none),
        signed(SketchKind::Minima, shape(64, 0), &["a"]),
    );
    let (a, b) = (
        MinimaView::stored(&a).unwrap(),
        MinimaView::stored(&b).unwrap(),
    );
    assert_eq!(
        [a.similarity(&a), a.similarity(&b), b.similarity(&b)].map(Result::unwrap),
        [0.0, 0.0, 1.0]
    );
}

#[test]
fn other_shapes_are_errors_that_name_both() {
    let (a, b) = (bits(shape(64, 0), &["a"]), bits(shape(65, 7), &["a"]));
    let error = BitsView::stored(&a)
        .unwrap()
        .hamming(&BitsView::stored(&b).unwrap())
        .unwrap_err();
    assert_eq!(
        error.message(),
        "cannot compare minhash_bits(64) with minhash_bits(65,7)"
    );
    let (a, mut b) = (
        signed(SketchKind::Minima, shape(8, 1), &["a"]),
        signed(SketchKind::Minima, shape(8, 0), &["a"]),
    );
    let error = MinimaView::stored(&a)
        .unwrap()
        .unite_into(&mut b)
        .unwrap_err();
    assert_eq!(
        error.message(),
        "cannot compare minhash(8) with minhash(8,1)"
    );
    assert!(SketchShape::new(0, 0).is_err() && SketchShape::new(1025, 0).is_err());
    assert!(SketchShape::new(1, -1).is_err() && SketchShape::new(1, 65536).is_err());
}

/// Bounds and rewritten comparisons ask what the quotient answers, next to every quotient that there is.
#[test]
fn thresholds_ask_what_the_comparison_asks() {
    for n in [1u16, 2, 3, 7, 64, 100, 192, 1024] {
        let quotients: Vec<f64> = (0..=u32::from(n))
            .map(|agree| sketch::agreement(agree, n))
            .collect();
        let mut limits = vec![
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            -1.5,
            -0.0,
            2.0,
            1e300,
        ];
        limits.extend(
            quotients
                .iter()
                .flat_map(|q| [*q, q.next_up(), q.next_down()]),
        );
        for limit in limits {
            let least = quotients
                .iter()
                .position(|&q| q >= limit)
                .map(|agree| agree as u32);
            assert_eq!(sketch::least_agreeing(n, limit), least, "{n} {limit}");
            // an empty set has similarity 0
            for &q in quotients.iter().chain([&0.0]) {
                assert_eq!(q > limit, q >= above(limit, query::LEAST), "{q} > {limit}");
                assert_eq!(
                    q >= limit,
                    q >= at_least(limit, query::LEAST),
                    "{q} >= {limit}"
                );
            }
        }
    }
}

#[test]
fn modifiers() {
    for kind in KINDS {
        let parse = |written: &[&str]| typmod::parse(kind, written);
        assert_eq!(parse(&["192"]), Ok(shape(192, 0)));
        assert_eq!(parse(&[" 1024", "65535 "]), Ok(shape(1024, 65535)));
        for wrong in [
            &["0"][..],
            &["1025"],
            &["x"],
            &["1", "-1"],
            &["1", "65536"],
            &[],
            &["1", "2", "3"],
        ] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
        for shape in [shape(1, 0), shape(192, 0), shape(1024, 65535)] {
            let packed = typmod::pack(shape);
            assert!(packed >= 0);
            assert_eq!(typmod::unpack(packed), Ok(Some(shape)));
            assert_eq!(typmod::show(packed), shape.to_string());
            assert!(
                typmod::enforce(kind, packed, shape).is_ok()
                    && typmod::enforce(kind, -1, shape).is_ok()
            );
            assert!(
                typmod::enforce(kind, typmod::pack(SketchShape::new(2, 2).unwrap()), shape)
                    .is_err()
            );
        }
        assert_eq!(typmod::show(-1), "");
        assert_eq!(typmod::show(2000), "(2000)");
    }
}

fn token_set() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("\\PC{0,6}", 0..12)
}

proptest! {
    /// Order and repetitions of tokens do not matter, and a union is that of the sets.
    #[test]
    fn sketches_are_those_of_sets(a in token_set(), b in token_set(), n in 1i64..=1024, family in 0i64..=65535) {
        let shape = shape(n, family);
        let mut again: Vec<&String> = a.iter().rev().chain(&a).collect();
        again.sort();
        for kind in KINDS {
            prop_assert_eq!(signed(kind, shape, &a), signed(kind, shape, &again));
        }
        let (one, mut other) = (signed(SketchKind::Minima, shape, &a), signed(SketchKind::Minima, shape, &b));
        let view = MinimaView::untrusted(&one).unwrap();
        let mut sampled = vec![0xff; HEADER + SketchKind::Bits.payload(shape)];
        sketch::sample(&view, &mut sampled);
        prop_assert_eq!(&sampled, &bits(shape, &a));
        view.unite_into(&mut other).unwrap();
        prop_assert_eq!(other, signed(SketchKind::Minima, shape, &[&a[..], &b[..]].concat()));
    }

    /// Bytes and text come back as they were.
    #[test]
    fn forms_come_back(a in token_set(), n in 1i64..=1024, family in 0i64..=65535, threshold in -1.0..=1.0) {
        let shape = shape(n, family);
        for kind in KINDS {
            let bytes = signed(kind, shape, &a);
            let view = sketch::SketchView::untrusted(kind, &bytes).unwrap();
            prop_assert_eq!(view.is_empty(), a.is_empty());
            prop_assert_eq!(view.shape(), shape);
            let (mut text, mut back) = (String::new(), vec![1]);
            sketch::write_text(&view, &mut text);
            sketch::parse_text(kind, &text, &mut back).unwrap();
            prop_assert_eq!(&back, &bytes);
        }
        let bytes = [&bits(shape, &a)[..], &f64::to_le_bytes(threshold)].concat();
        let (mut text, mut back) = (String::new(), vec![1]);
        query::write_bits_query_text(&BitsQueryView::untrusted(&bytes).unwrap(), &mut text);
        query::parse_bits_query_text(&text, &mut back).unwrap();
        prop_assert_eq!(back, bytes);
    }

    /// Similarity is symmetric and within its bounds, 1 of equal sets, and distance goes with it.
    #[test]
    fn similarity_and_distance(a in token_set(), b in token_set(), n in 1i64..=1024) {
        let (a_bytes, b_bytes) = (bits(shape(n, 0), &a), bits(shape(n, 0), &b));
        let (a, b) = (BitsView::untrusted(&a_bytes).unwrap(), BitsView::untrusted(&b_bytes).unwrap());
        let similarity = a.similarity(&b).unwrap();
        prop_assert_eq!(similarity, b.similarity(&a).unwrap());
        prop_assert!((-1.0..=1.0).contains(&similarity));
        prop_assert_eq!(a.sketch().order(&b.sketch()).is_eq(), a_bytes == b_bytes);
        prop_assert_eq!(a.sketch().order(&b.sketch()), b.sketch().order(&a.sketch()).reverse());
        match a.hamming(&b).unwrap() {
            Some(differ) => {
                prop_assert_eq!(similarity, sketch::agreement(n as u32 - differ, n as u16));
                prop_assert_eq!(a.distance(&b).unwrap(), f64::from(differ));
            }
            None => prop_assert_eq!((similarity, a.distance(&b).unwrap()), (0.0, f64::INFINITY)),
        }
    }
}
