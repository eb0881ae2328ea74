//! What reads linkage schemas, and values by them; and the base64 form of keyed signatures.

use bloom_ident_fuzz::{fuzz, message};
use clk::{from_base64, to_base64, Encoder, Hardening, Schema};
use serde_json::Value;

/// Schemas that say all that a schema can say.
fn schemas() -> Vec<Vec<u8>> {
    let cases = include_str!("../../core/clk/tests/data/clkhash.jsonl").lines();
    let schema = |line: &str| {
        let case: Value = serde_json::from_str(line).expect("a case");
        case["schema"].to_string().into_bytes()
    };
    let own = [
        r#"{"bloom_ident": 1, "features": ["name"]}"#,
        r#"{"bloom_ident": 1, "ngram": 0, "max_chars": 20, "fpr": 0.001, "features": ["given", "surname"]}"#,
    ];
    cases
        .map(schema)
        .chain(own.map(|schema| schema.as_bytes().to_vec()))
        .collect()
}

#[test]
fn linkage_schema() {
    fuzz("linkage_schema", true, &schemas(), |bytes| {
        let value: Value = serde_json::from_slice(bytes).map_err(|_| "no JSON".to_owned())?;
        let schema = message(Schema::new(&value))?;
        let canonical = schema.canonical();
        assert_eq!(
            Schema::new(&value).expect("once more").canonical(),
            canonical
        );
        let mut bits = vec![0; schema.length().div_ceil(8) as usize];
        let mut encoder = message(Encoder::new(
            schema,
            Hardening::default(),
            b"secret",
            1 << 10,
        ))?;
        let values = ["", "Erika", "7", "1964-08-12", "1.5", "x\u{301}"];
        let mut taken = 0;
        for value in values {
            bits.fill(0);
            taken += usize::from(
                encoder
                    .encode(|_| Ok(value.into()), &mut bits, || ())
                    .is_ok(),
            );
            let length = encoder.schema().length() as usize;
            let padding = bits.len() * 8 - length;
            assert!(padding == 0 || bits.last().is_some_and(|last| last >> (8 - padding) == 0));
        }
        Ok(format!("values: {}", taken > 0))
    });
}

/// The value of one feature: texts, numbers, dates, by each format.
#[test]
fn linkage_values() {
    let seeds = [
        "Erika",
        "+1_000",
        "1964-08-12",
        "1e308",
        "-0.5",
        "12. Aug 1964",
        "inf",
    ]
    .map(|s| s.as_bytes().to_vec());
    let format = |format: Value, comparison: Value| {
        let schema = serde_json::json!({
            "version": 3,
            "clkConfig": {"l": 64, "kdf": {"type": "HKDF"}},
            "features": [{"identifier": "x", "format": format, "hashing": {"comparison": comparison, "strategy": {"bitsPerToken": 3}}}],
        });
        Encoder::new(
            Schema::new(&schema).expect("a schema"),
            Hardening::default(),
            b"secret",
            1 << 10,
        )
        .expect("a secret")
    };
    let (grams, numeric) = (
        serde_json::json!({"type": "ngram", "n": 2, "positional": true}),
        serde_json::json!({"type": "numeric", "thresholdDistance": 2.5, "resolution": 2, "fractional_precision": 3}),
    );
    let encoders = std::cell::RefCell::new([
        format(
            serde_json::json!({"type": "string", "pattern": r"\w+[ .-]?\d*"}),
            grams.clone(),
        ),
        format(
            serde_json::json!({"type": "integer", "minimum": -5}),
            grams.clone(),
        ),
        format(
            serde_json::json!({"type": "date", "format": "%d. %b %Y"}),
            grams.clone(),
        ),
        format(
            serde_json::json!({"type": "date", "format": "%Y-%m-%d"}),
            grams,
        ),
        format(serde_json::json!({"type": "string"}), numeric),
    ]);
    fuzz("linkage_values", true, &seeds, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let taken = encoders.borrow_mut().each_mut().map(|encoder| {
            let mut bits = [0; 8];
            encoder
                .encode(|_| Ok(text.as_ref().into()), &mut bits, || ())
                .is_ok()
        });
        match taken.contains(&true) {
            true => Ok(format!("{taken:?}")),
            false => Err("by none".to_owned()),
        }
    });
}

#[test]
fn keyed_base64() {
    let seeds = ["gAE=", "", "AAAA", "////"].map(|text| text.as_bytes().to_vec());
    fuzz("keyed_base64", true, &seeds, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let bits = message(from_base64(&text))?;
        assert_eq!(from_base64(&to_base64(&bits)).expect("its own form"), bits);
        assert_eq!(to_base64(&bits), text.trim());
        Ok(format!("empty: {}", bits.is_empty()))
    });
}
