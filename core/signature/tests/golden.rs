//! Every value of golden.json, which an independent program computes: tests/data/golden.py.

mod json_tokens;

use std::process::Command;

use json_tokens::json_tokens;
use serde_json::Value;
use signature::filter::{self, contains_token, rates, Builder, Shape, View};
use signature::similarity::{profile, Popcounts, Weights};
use text::tokens::{self, Overlap};
use text::{self, ngram};

#[path = "golden/dates.rs"]
mod dates;
#[path = "golden/sketches.rs"]
mod sketches;

fn golden(key: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("../../../tests/data/golden.json")).unwrap();
    all[key]
        .as_array()
        .unwrap_or_else(|| panic!("{key}"))
        .clone()
}

fn s<'v>(v: &'v Value, key: &str) -> &'v str {
    v[key].as_str().unwrap()
}

fn n(v: &Value, key: &str) -> i64 {
    v[key].as_i64().unwrap()
}

fn f(v: &Value, key: &str) -> f64 {
    v[key].as_f64().unwrap()
}

/// Equal except for the last bits of a transcendental function.
fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-14 * b.abs().max(1e-300)
}

fn shape(v: &Value) -> Shape {
    Shape::new(n(v, "k"), n(v, "p"), n(v, "q")).unwrap()
}

fn signature(shape: Shape, text: &str, by_word: bool) -> Vec<u8> {
    let mut bytes = vec![0; Builder::size(shape)];
    let mut builder = Builder::new(shape, &mut bytes);
    builder.add_text(text, by_word, || ()).unwrap();
    builder.finish();
    bytes
}

fn counts(shape: Shape, a: &str, b: &str) -> Popcounts {
    let (a, b) = (signature(shape, a, false), signature(shape, b, false));
    Popcounts::new(&View::stored(&a).unwrap(), &View::stored(&b).unwrap()).unwrap()
}

#[test]
fn all_sections_are_tested() {
    let all: Value = serde_json::from_str(include_str!("../../../tests/data/golden.json")).unwrap();
    let this = concat!(
        include_str!("golden.rs"),
        include_str!("golden_counting.rs"),
        include_str!("golden/dates.rs"),
        include_str!("golden/sketches.rs")
    );
    for key in all.as_object().unwrap().keys() {
        assert!(
            this.contains(&format!("golden(\"{key}\")")) || key == "idx",
            "{key}"
        );
    }
}

/// Where there is no Python the file is taken as it is.
#[test]
fn golden_json_is_what_its_generator_gives() {
    let generator = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data/golden.py");
    match Command::new("python3")
        .args([generator, "--check"])
        .output()
    {
        Ok(run) => assert!(
            run.status.success(),
            "{}",
            String::from_utf8_lossy(&run.stderr)
        ),
        Err(error) => eprintln!("not checked: python3: {error}"),
    }
}

#[test]
fn idx() {
    let all: Value = serde_json::from_str(include_str!("../../../tests/data/golden.json")).unwrap();
    for (word, index) in all["idx"].as_object().unwrap() {
        assert_eq!(
            ngram::index(word).unwrap(),
            index.as_u64().unwrap(),
            "{word}"
        );
    }
}

#[test]
fn ngrams() {
    for v in golden("ngrams") {
        let mut words = Vec::new();
        ngram::for_each_ngram(
            s(&v, "s"),
            text::Rules::FIRST,
            n(&v, "q") as u8,
            false,
            |w, _| words.push(w.ngram()),
            || (),
        );
        assert_eq!(Value::from(words), v["words"]);
    }
}

#[test]
fn normalize() {
    for v in golden("normalize") {
        assert_eq!(
            text::normalize(s(&v, "s"), false, || ()).unwrap(),
            s(&v, "out")
        );
    }
}

#[test]
fn luhn() {
    for v in golden("luhn") {
        assert_eq!(text::luhn(s(&v, "s")), v["valid"].as_bool().unwrap(), "{v}");
    }
}

#[test]
fn signatures() {
    for v in golden("signature") {
        let bytes = signature(shape(&v), s(&v, "s"), false);
        let positions: Vec<u32> = View::untrusted(&bytes).unwrap().positions().collect();
        assert_eq!(Value::from(positions), v["bits"], "{v}");
    }
}

fn strings(v: &Value) -> Vec<String> {
    let elements = v.as_array().unwrap().iter();
    elements.map(|e| e.as_str().unwrap().to_owned()).collect()
}

#[test]
fn token_hashes() {
    for v in golden("token_hash") {
        let hash = tokens::token_hash(s(&v, "token").as_bytes());
        assert_eq!(hash, v["hash"].as_u64().unwrap(), "{v}");
    }
}

#[test]
fn token_signatures() {
    for v in golden("token_signature") {
        let shape = Shape::new(n(&v, "k"), n(&v, "p"), 0).unwrap();
        let plan = filter::plan_tokens(n(&v, "max_tokens"), f(&v, "fpr")).unwrap();
        assert_eq!(plan.shape, shape, "{v}");
        let tokens = strings(&v["tokens"]);
        let mut bytes = vec![0; Builder::size(shape)];
        let mut builder = Builder::new(shape, &mut bytes);
        tokens.iter().for_each(|t| builder.add_token(t).unwrap());
        builder.finish();
        let view = View::untrusted(&bytes).unwrap();
        let positions: Vec<u32> = view.positions().collect();
        assert_eq!(Value::from(positions), v["bits"], "{v}");
        assert!(tokens.iter().all(|t| contains_token(&view, t).unwrap()));
    }
}

fn list(of: &[String]) -> Vec<&[u8]> {
    of.iter().map(String::as_bytes).collect()
}

#[test]
fn token_sims() {
    for v in golden("token_sims") {
        let (a, b) = (strings(&v["a"]), strings(&v["b"]));
        let overlap = Overlap::new(&mut list(&a), &mut list(&b), || ());
        let overlap = overlap.unwrap();
        assert_eq!(overlap.jaccard(), f(&v, "jaccard"), "{v}");
        assert_eq!(overlap.containment(), f(&v, "containment"), "{v}");
    }
}

#[test]
fn tokens_of_texts_and_json() {
    for v in golden("tokens") {
        let mut found = vec![];
        let keep = |token: &str| {
            found.push(token.to_owned());
            Ok(())
        };
        tokens::for_each_token(s(&v, "s"), || (), keep).unwrap();
        assert_eq!(found, strings(&v["tokens"]), "{v}");
    }
    for v in golden("json_tokens") {
        let mut found = json_tokens(&v["json"], true);
        found.sort();
        assert_eq!(found, strings(&v["tokens"]), "{v}");
    }
    for v in golden("singular") {
        let (stem, ending) = tokens::singular(s(&v, "key"));
        assert_eq!(format!("{stem}{ending}"), s(&v, "singular"));
    }
}

#[test]
fn jaccard() {
    for v in golden("jaccard") {
        let (a, b) = (s(&v, "a"), s(&v, "b"));
        assert_eq!(counts(shape(&v), a, b).jaccard(), f(&v, "bits"));
        let words = ngram::similarity(a, b, n(&v, "q") as u8, false, || ()).unwrap();
        assert_eq!(words, f(&v, "words"));
    }
}

#[test]
fn measures() {
    let shape = Shape::new(7, 43, 3).unwrap();
    for v in golden("measures") {
        let c = counts(shape, s(&v, "a"), s(&v, "b"));
        assert_eq!(i64::from(c.a), n(&v, "bits_a"));
        assert_eq!(i64::from(c.b), n(&v, "bits_b"));
        assert_eq!(i64::from(c.common), n(&v, "common"));
        assert_eq!(i64::from(c.hamming()), n(&v, "hamming"));
        assert_eq!(c.jaccard(), f(&v, "jaccard"));
        assert_eq!(c.dice(), f(&v, "dice"));
        assert_eq!(c.overlap(), f(&v, "overlap"));
        assert_eq!(c.cosine(), f(&v, "cosine"));
        assert_eq!(c.containment(), f(&v, "containment"));
    }
}

#[test]
fn estimates() {
    let shape = Shape::new(7, 43, 3).unwrap();
    for v in golden("estimates") {
        let bytes = signature(shape, s(&v, "s"), false);
        let fill = View::stored(&bytes).unwrap().fill();
        assert_eq!(fill, f(&v, "fill"));
        assert!(close(fill.powf(7.0), f(&v, "fpr")));
        assert!(close(rates::ngrams(43.0, fill), f(&v, "words")));
    }
}

#[test]
fn by_word() {
    let shape = Shape::new(7, 43, 3).unwrap();
    for v in golden("by_word") {
        let text = |key: &str| {
            let words: Vec<&str> = v[key]
                .as_array()
                .unwrap()
                .iter()
                .map(|w| w.as_str().unwrap())
                .collect();
            words.join(", ")
        };
        let (a, b) = (
            signature(shape, &text("a"), true),
            signature(shape, &text("b"), true),
        );
        let c = Popcounts::new(&View::stored(&a).unwrap(), &View::stored(&b).unwrap()).unwrap();
        assert_eq!(c.jaccard(), f(&v, "jaccard"));
    }
}

#[test]
fn profiles() {
    for v in golden("profile") {
        let list = |key: &str| -> Vec<Option<f64>> {
            v[key]
                .as_array()
                .unwrap()
                .iter()
                .map(Value::as_f64)
                .collect()
        };
        let weights: Vec<f64> = list("weights").into_iter().flatten().collect();
        let sims = list("sims");
        let got = profile(Weights::new(&weights).unwrap(), sims.into_iter().map(Ok)).unwrap();
        assert_eq!(got, v["result"].as_f64());
    }
}

#[test]
fn plan() {
    for v in golden("plan") {
        let plan = match n(&v, "q") {
            0 => filter::plan_tokens(n(&v, "max_chars"), f(&v, "fpr")),
            ngram => filter::plan(n(&v, "max_chars"), ngram, f(&v, "fpr")),
        };
        let plan = plan.unwrap();
        assert_eq!(plan.shape, shape(&v));
        assert_eq!(i64::from(plan.n), n(&v, "n"));
        assert_eq!(i64::from(plan.shape.m()), n(&v, "m"));
        assert!(close(plan.actual_fpr, f(&v, "actual_fpr")));
        assert!(close(plan.pattern_floor, f(&v, "pattern_floor")));
    }
}

#[test]
fn rates_by_formula() {
    for v in golden("fpr") {
        assert!(close(
            rates::false_positive(f(&v, "k"), f(&v, "m"), f(&v, "n")),
            f(&v, "fpr")
        ));
    }
    for v in golden("m_over_n_rate") {
        let (k, r) = (f(&v, "k"), f(&v, "m_over_n"));
        assert_eq!(rates::optimal_hashes(r), k);
        assert!(close(rates::false_positive(k, r, 1.0), f(&v, "fpr")));
    }
    for v in golden("optimal_hashes") {
        assert_eq!(rates::optimal_hashes(f(&v, "m_over_n")), f(&v, "k"));
    }
    for v in golden("distinct_words") {
        let words = rates::distinct_ngrams(n(&v, "m"), n(&v, "k"));
        assert_eq!(words, Ok(n(&v, "n").to_string()));
    }
    for v in golden("collision") {
        for model in ["fpr", "birthday", "coll"] {
            let rate = rates::collision(model.parse().unwrap(), n(&v, "p"), n(&v, "n"), n(&v, "k"));
            assert!((rate.unwrap() - f(&v, model)).abs() < 1e-13, "{model} {v}");
        }
    }
    for v in golden("corrected") {
        let (delta, factor) = (f(&v, "delta"), f(&v, "factor"));
        assert!(close(
            rates::corrected_threshold(1.0, delta).unwrap(),
            factor
        ));
        assert!(close(
            rates::corrected_similarity(factor, delta).unwrap(),
            1.0
        ));
    }
    for v in golden("superimposed_fpr") {
        let rate = rates::superimposed(f(&v, "m"), f(&v, "n"), f(&v, "filters"));
        assert!(close(rate, f(&v, "fpr")));
    }
}

/// The ratios that Jain, Dahlin and Tewari print for m/n = 1, 2, 4, 8, 10, 11, with no word in
/// common and k = (m/n)·ln 2 unrounded.
#[test]
fn jain() {
    for (r, printed) in [
        (1.0, 0.6973),
        (2.0, 0.4658),
        (4.0, 0.1929),
        (8.0, 0.0295),
        (10.0, 0.0113),
        (11.0, 0.0070),
    ] {
        let estimate = rates::jain(1000.0 * r, 1000.0, r * std::f64::consts::LN_2, 0.0).unwrap();
        assert!((estimate - printed).abs() < 1e-4, "{r} {estimate}");
    }
}

/// The bytes themselves: the format cannot move unnoticed.
#[test]
fn bytes_of_a_signature() {
    let shape = Shape::new(2, 5, 3).unwrap();
    let bytes = signature(shape, "a", false);
    assert_eq!(bytes, [1, 2, 5, 0, 3, 1, 0, 0, 6, 0, 0, 0, 0x7a, 0x01]);
    let bytes = signature(Shape::new(7, 43, 3).unwrap(), "erika", false);
    let mut text = String::new();
    filter::write_text(&View::stored(&bytes).unwrap(), &mut text);
    assert_eq!(
        text,
        "(7,43,3):000008051500c003020440010500208208a10020040400085282010241010108800082008404"
    );
    let shape = Shape::new(2, 5, 0).unwrap();
    let mut bytes = vec![0; Builder::size(shape)];
    let mut builder = Builder::new(shape, &mut bytes);
    builder.add_token("a").unwrap();
    builder.finish();
    assert_eq!(bytes, [1, 2, 5, 0, 0, 1, 1, 0, 2, 0, 0, 0, 0x10, 0x01]);
}
