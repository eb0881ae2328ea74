//! Sketches of sets of tokens.

use serde_json::Value;
use signature::sketch::{self, BitsView, MinimaView, Signer, SketchKind, SketchShape, SketchView};

use super::{close, f, golden, n, s};

fn tokens<'v>(v: &'v Value, key: &str) -> Vec<&'v str> {
    let tokens = v[key].as_array().unwrap();
    tokens.iter().map(|token| token.as_str().unwrap()).collect()
}

fn signer(n: i64, family: i64, tokens: &[&str]) -> Signer {
    let mut signer = Signer::new(SketchShape::new(n, family).unwrap());
    tokens.iter().for_each(|token| signer.add(token));
    signer
}

#[test]
fn sketches() {
    for v in golden("sketch") {
        let (n, family) = (n(&v, "n"), n(&v, "family"));
        let mut signer = signer(n, family, &tokens(&v, "tokens"));
        let shape = signer.shape();
        for (kind, key) in [
            (SketchKind::Minima, "minima"),
            (SketchKind::Bits, "sampled"),
        ] {
            let mut bytes = vec![0; sketch::HEADER + kind.payload(shape)];
            match kind {
                SketchKind::Minima => sketch::write_minima(&mut signer, &mut bytes),
                SketchKind::Bits => sketch::write_bits(&mut signer, &mut bytes),
            }
            let mut text = String::new();
            sketch::write_text(&SketchView::untrusted(kind, &bytes).unwrap(), &mut text);
            assert_eq!(text, format!("{shape}:{}", s(&v, key)));
        }
    }
}

#[test]
fn sketch_similarities() {
    for v in golden("sketch_sim") {
        let n = n(&v, "n");
        let sign = |key| {
            let mut signer = signer(n, 0, &tokens(&v, key));
            let mut minima = vec![0; sketch::HEADER + SketchKind::Minima.payload(signer.shape())];
            let mut bits = vec![0; sketch::HEADER + SketchKind::Bits.payload(signer.shape())];
            sketch::write_minima(&mut signer, &mut minima);
            sketch::write_bits(&mut signer, &mut bits);
            (minima, bits)
        };
        let (a, b) = (sign("a"), sign("b"));
        let (x, y) = (
            MinimaView::stored(&a.0).unwrap(),
            MinimaView::stored(&b.0).unwrap(),
        );
        assert_eq!(x.similarity(&y).unwrap(), f(&v, "minima"));
        let (x, y) = (
            BitsView::stored(&a.1).unwrap(),
            BitsView::stored(&b.1).unwrap(),
        );
        assert_eq!(x.similarity(&y).unwrap(), f(&v, "bits"));
        assert_eq!(x.distance(&y).unwrap(), f(&v, "differ"));
    }
}

#[test]
fn sketch_errors() {
    for v in golden("sketch_error") {
        for (kind, key) in [(SketchKind::Minima, "minima"), (SketchKind::Bits, "bits")] {
            let error = sketch::standard_error(f(&v, "similarity"), n(&v, "n"), kind).unwrap();
            assert!(close(error, f(&v, key)), "{error} {v}");
        }
    }
}
