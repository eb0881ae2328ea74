//! Records of all that a schema can say, as clkhash 0.18.3 has encoded them (vectors.py).

use base64::prelude::{Engine, BASE64_STANDARD};
use clk::{to_base64, Encoder, Hardening, Schema};
use serde_json::Value;

/// The text of a member.
fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().expect("a text")
}

fn array<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().expect("an array")
}

#[test]
fn records_are_encoded_as_by_clkhash() {
    let (mut records, mut refused, mut wrong) = (0, 0, Vec::new());
    for line in include_str!("data/clkhash.jsonl").lines() {
        let case: Value = serde_json::from_str(line).expect("a case");
        let schema =
            Schema::new(&case["schema"]).unwrap_or_else(|e| panic!("{e:?}: {}", case["schema"]));
        let secret = BASE64_STANDARD
            .decode(text(&case, "secret"))
            .expect("base64");
        let length = schema.length().div_ceil(8) as usize;
        let mut encoder =
            Encoder::new(schema, Hardening::default(), &secret, 1 << 12).expect("a secret");
        for (record, clk) in array(&case, "records").iter().zip(array(&case, "clks")) {
            let mut bits = vec![0; length];
            let value = |n: usize| Ok(record[n].as_str().expect("a text").into());
            let encoded = encoder
                .encode(value, &mut bits, || ())
                .map(|()| to_base64(&bits));
            records += 1;
            refused += usize::from(clk.is_null());
            if encoded.as_deref().ok() != clk.as_str() {
                wrong.push(format!(
                    "{record}: {encoded:?}, not {clk}: {}",
                    case["schema"]
                ));
            }
        }
    }
    assert!(
        records >= 10_000 && refused > 100,
        "{records} records, {refused} refused"
    );
    assert!(
        wrong.is_empty(),
        "{} of {records} are otherwise, the first ones: {:#?}",
        wrong.len(),
        &wrong[..wrong.len().min(5)]
    );
}

/// The vectors of clkhash's own test_encoding_regression, secret "chicken".
#[test]
fn records_of_the_regression_test_are_encoded() {
    let of = |ngram: u32, weight: f64, positional: bool| serde_json::json!({"ngram": ngram, "weight": weight, "positional": positional});
    let salt =
        "SCbL2zHNnmsckfzchsNkZY9XoHk96P/G5nUBrM7ybymlEFsMV6PAeDZCNp3rfNUPCtLDMOGQHG4pCQpfhiHCyA==";
    let schema = serde_json::json!({
        "version": 1,
        "clkConfig": {
            "l": 1024, "k": 30, "hash": {"type": "doubleHash"},
            "kdf": {"type": "HKDF", "hash": "SHA256", "salt": salt, "info": "c2NoZW1hX2V4YW1wbGU=", "keySize": 64},
        },
        "features": [
            {"identifier": "name", "format": {"type": "string", "encoding": "utf-8", "case": "upper"}, "hashing": of(2, 2.0, false)},
            {"identifier": "id", "format": {"type": "string", "encoding": "ascii", "pattern": r"[a-z][a-z][a-z]\d\d\d"}, "hashing": of(1, 1.0, true)},
            {"identifier": "dob", "format": {"type": "date", "format": "%Y-%m-%d"}, "hashing": of(2, 0.5, true)},
            {"identifier": "gender", "format": {"type": "enum", "values": ["M", "F"]}, "hashing": of(1, 1.0, false)},
            {"identifier": "children", "format": {"type": "integer", "maximum": 20}, "hashing": of(1, 1.0, true)},
        ],
    });
    let mut encoder = Encoder::new(
        Schema::new(&schema).expect("a schema"),
        Hardening::default(),
        b"chicken",
        1 << 12,
    )
    .expect("a secret");
    let mut encode = |record: [&'static str; 5]| {
        let mut bits = vec![0; 128];
        encoder
            .encode(|n| Ok(record[n].into()), &mut bits, || ())
            .expect("a record");
        to_base64(&bits)
    };
    assert_eq!(
        encode(["KÉVIN", "kev007", "1963-12-13", "M", "1"]),
        "SU9+/O/Jzzi0sfzH8K2l3+qfhn8Ky3jVI21DVdH9j2fXE++JH8GcQGSeYxDZFxALCAT8CHwYJyQcRT3MhUQOFWcOf5fWdr6ofh6DYy8iv////weyunbMahfV9RMWkRwQmBL3fjreUVOCS9D9kAbQC2XgULidKCTHd9ZpbPJ91eE="
    );
    assert_eq!(
        encode(["JOHN HOWARD, ESQ.", "stv534", "1992-02-29", "M", "16"]),
        "Pfl1/d7/31/+9u9x9zv//76/83//0v1Xt/dX/3X/e79XP7vd+Xfkf//2/9Xb/7Fd73e9f/n0f/c7Vb99B/X29d8997Pz/vJ87X/X/vcX9vt1d+/+5bP1fvfevnfX8d/f/j0XPL7f999kc/28/3d4c7t/9b/+Pf411/f2+3z1d/s="
    );
    encode(["JULIA", "alp423", "0123-01-12", "F", "0"]);
}

/// What decides the bits decides the id, and nothing else does.
#[test]
fn ids_are_those_of_what_decides_the_bits() {
    let schema = |version: u32, format: Value, hashing: Value| {
        let mut schema = serde_json::json!({
            "version": version,
            "clkConfig": {"l": 1024, "kdf": {"type": "HKDF"}},
            "features": [{"identifier": "x", "format": format, "hashing": hashing}],
        });
        if version == 1 {
            schema["clkConfig"]["k"] = 20.into();
            schema["clkConfig"]["hash"] = serde_json::json!({"type": "blakeHash"});
        }
        Schema::new(&schema).expect("a schema")
    };
    let id = |schema: Schema, secret: &[u8]| {
        Encoder::new(schema, Hardening::default(), secret, 0)
            .expect("a secret")
            .id()
    };
    let (text, ngrams) = (
        serde_json::json!({"type": "string"}),
        serde_json::json!({"ngram": 2}),
    );
    let of_3 = serde_json::json!({"comparison": {"type": "ngram", "n": 2}, "strategy": {"bitsPerToken": 20}});
    let first = id(schema(1, text.clone(), ngrams.clone()), b"secret");
    let upper = serde_json::json!({"type": "string", "case": "upper", "description": "a name"});
    assert_eq!(first, id(schema(3, upper, of_3.clone()), b"secret"));
    let date = serde_json::json!({"type": "date", "format": "%Y"});
    let wide = serde_json::json!({"type": "string", "encoding": "utf-16"});
    let other = serde_json::json!({"ngram": 2, "weight": 2, "missingValue": {"sentinel": ""}});
    let others = [
        id(schema(1, text.clone(), ngrams.clone()), b"Secret"),
        id(schema(3, date, of_3.clone()), b"secret"),
        id(schema(3, wide, of_3), b"secret"),
        id(schema(1, text, other), b"secret"),
    ];
    let all: std::collections::BTreeSet<u64> = others.into_iter().chain([first]).collect();
    assert_eq!(all.len(), 5);
    assert_ne!(clk::check_value(b"secret"), clk::check_value(b"Secret"));
}
