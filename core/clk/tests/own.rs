//! The own family, against `own.py`, which works bits out from its description.

use clk::{Encoder, Hardening, Schema};
use serde_json::{json, Value};

fn hardening(hardening: Value) -> Hardening {
    Hardening::new(&hardening).expect("a hardening")
}

fn encoder(schema: &Value, hardened: Value, secret: &[u8]) -> Encoder {
    let schema = Schema::new(schema).expect("a schema");
    Encoder::new(schema, hardening(hardened), secret, 1 << 12).expect("a secret")
}

fn encode(encoder: &mut Encoder, texts: &[&str]) -> Vec<u32> {
    let mut bits = vec![0; encoder.shape().expect("a shape").bytes()];
    encoder
        .encode(|n| Ok(texts[n].into()), &mut bits, || ())
        .expect("texts");
    (0..8 * bits.len() as u32)
        .filter(|at| bits[*at as usize / 8] >> (at % 8) & 1 == 1)
        .collect()
}

#[test]
fn bits_are_those_of_the_description() {
    let (mut cases, mut set) = (0, 0);
    for line in include_str!("data/own.jsonl").lines() {
        let case: Value = serde_json::from_str(line).expect("a case");
        let schema = json!({"bloom_ident": 1, "ngram": case["ngram"], "max_chars": case["max_chars"], "fpr": case["fpr"],
            "features": ["a", "b"]});
        let hex = case["secret"].as_str().expect("a secret");
        let secret: Vec<u8> = (0..hex.len() / 2)
            .map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).expect("hex"))
            .collect();
        let mut encoder = encoder(&schema, json!({}), &secret);
        let shape = encoder.shape().expect("a shape");
        assert_eq!(json!([shape.k(), shape.p()]), json!([case["k"], case["p"]]));
        let texts = [0, 1].map(|n| case["texts"][n].as_str().expect("a text"));
        let bits = encode(&mut encoder, &texts);
        assert_eq!(json!(bits), case["bits"], "{line}");
        (cases, set) = (cases + 1, set + bits.len());
    }
    assert!(cases == 60 && set > 1000, "{cases} cases, {set} bits");
}

/// It does not matter in which members texts are, nor how they are written; a salt, another secret and another shape do.
#[test]
fn texts_are_normal_and_features_are_alike() {
    let one = json!({"bloom_ident": 1, "features": ["name"]});
    let two = json!({"bloom_ident": 1, "ngram": 3, "max_chars": 30, "fpr": 0.01, "features": ["given", "surname"]});
    let (mut one, mut two) = (
        encoder(&one, json!({}), b"secret"),
        encoder(&two, json!({}), b"secret"),
    );
    assert_eq!(one.id(), two.id());
    let swapped =
        [["Jürgen", "MÜLLER"], ["mueller", "juergen"]].map(|texts| encode(&mut two, &texts));
    assert_eq!(swapped[0], swapped[1]);
    assert_eq!(
        encode(&mut two, &["Erika", ""]),
        encode(&mut one, &["erika"])
    );
    let words = json!({"bloom_ident": 1, "ngram": 0, "features": ["name"]});
    let mut words = encoder(&words, json!({}), b"secret");
    let bits = encode(&mut words, &["Otto von Otto"]);
    assert_eq!(bits, encode(&mut words, &["VON otto"]));
    assert!((8..=14).contains(&bits.len()), "{bits:?}");
    let ids = [
        (
            json!({"bloom_ident": 1, "ngram": 2, "features": ["name"]}),
            json!({}),
        ),
        (
            json!({"bloom_ident": 1, "features": ["name"]}),
            json!({"salt": ["born"]}),
        ),
        (
            json!({"bloom_ident": 1, "features": ["name"]}),
            json!({"diffusion": 8}),
        ),
        (
            json!({"bloom_ident": 1, "features": ["name"]}),
            json!({"balance": true}),
        ),
    ];
    for (schema, hardened) in ids {
        assert_ne!(encoder(&schema, hardened, b"secret").id(), one.id());
    }
    let other = json!({"bloom_ident": 1, "features": ["name"]});
    assert_ne!(encoder(&other, json!({}), b"Secret").id(), one.id());
    let mut balanced = encoder(&other, json!({"balance": true}), b"secret");
    assert_eq!(balanced.shape().expect("a shape").k(), 14);
    assert_eq!(encode(&mut balanced, &["erika"]).len(), 301);
}

#[test]
fn what_is_wrong_is_refused() {
    for wrong in [
        json!({"bloom_ident": 2, "features": ["name"]}),
        json!({"bloom_ident": 1, "features": []}),
        json!({"bloom_ident": 1, "features": [{"identifier": "name"}]}),
        json!({"bloom_ident": 1}),
        json!({"bloom_ident": 1, "ngram": 1, "features": ["name"]}),
        json!({"bloom_ident": 1, "ngram": 9, "features": ["name"]}),
        json!({"bloom_ident": 1, "max_chars": 0, "features": ["name"]}),
        json!({"bloom_ident": 1, "fpr": 1, "features": ["name"]}),
        json!({"bloom_ident": 1, "fpr": "low", "features": ["name"]}),
        json!({"bloom_ident": 1, "l": 1024, "features": ["name"]}),
    ] {
        assert!(Schema::new(&wrong).is_err(), "{wrong}");
    }
    let schema = Schema::new(
        &json!({"bloom_ident": 1, "max_chars": 100, "fpr": 1e-12, "features": ["name"]}),
    )
    .expect("a schema");
    let encoder =
        Encoder::new(schema, hardening(json!({"balance": true})), b"secret", 0).expect("a secret");
    assert!(encoder.shape().is_err());
}
