//! What is written comes back.

mod refused;

use proptest::prelude::*;
use serde_json::{json, Value};

use super::{read_model, write_model};
use crate::model::tests::people;
use crate::model::{Calibration, LeftOut, MatchModel, PlannedSearch, Search, Status};

/// The text that PostgreSQL's jsonb has of a JSON text: members sorted by length and name, numbers without an exponent.
fn stored(text: &str) -> String {
    fn show(value: &Value) -> String {
        match value {
            Value::Number(number) if number.is_f64() => number.as_f64().unwrap().to_string(),
            Value::Array(all) => {
                let all: Vec<String> = all.iter().map(show).collect();
                format!("[{}]", all.join(", "))
            }
            Value::Object(all) => {
                let mut all: Vec<_> = all.iter().collect();
                all.sort_by_key(|(name, _)| (name.len(), name.as_bytes()));
                let all = all.iter().map(|(name, value)| {
                    format!("{}: {}", Value::from(name.as_str()), show(value))
                });
                format!("{{{}}}", all.collect::<Vec<_>>().join(", "))
            }
            other => other.to_string(),
        }
    }
    show(&serde_json::from_str(text).unwrap())
}

fn comes_back(model: &MatchModel) {
    let text = write_model(model).unwrap();
    let read = read_model(&text).unwrap();
    assert_eq!(write_model(&read).unwrap(), text);
    let stored = read_model(&stored(&text)).unwrap();
    assert_eq!(write_model(&stored).unwrap(), text);
    // all but the order of what has none, and edges that say nothing
    let mut sorted = model.clone();
    for field in &mut sorted.fields {
        field.frequent.sort_by(|a, b| a.0.cmp(&b.0));
    }
    sorted.left_out.sort_by(|a, b| a.column.cmp(&b.column));
    for together in [&mut sorted.dependence, &mut sorted.match_dependence] {
        let says_something = |log: &f64| *log != 0.0;
        let edges = &mut together.edges;
        edges.retain(|edge| edge.logs.iter().flatten().any(says_something));
    }
    assert_eq!(format!("{stored:?}"), format!("{sorted:?}"));
}

#[test]
fn a_model_comes_back() {
    comes_back(&people());
    let mut model = people();
    model.swap = None;
    model.linkage = true;
    for together in [&mut model.dependence, &mut model.match_dependence] {
        let rows = together.edges[0].logs.iter_mut();
        rows.for_each(|row| row.fill(0.0));
    }
    model.classes.truncate(1);
    model.searches.clear();
    model.left_out.clear();
    model.warnings.clear();
    model.calibration = Some(Calibration {
        slope: 0.625,
        shift: -1.5,
        answers: 87,
    });
    model.fields[1].name = "nom de famille \"é\u{1F600}\"".into();
    comes_back(&model);
    assert!(!write_model(&model).unwrap().contains("logs"));
}

#[test]
fn what_is_not_finite_is_not_written() {
    let mut model = people();
    model.fields[2].information = f64::NAN;
    let error = write_model(&model).unwrap_err();
    assert_eq!(
        error.message(),
        "match model cannot be stored: one of its numbers is NaN"
    );
    model.classes.clear();
    assert!(write_model(&model).is_err());
}

/// Shares of all sizes.
fn share() -> impl Strategy<Value = f64> {
    prop_oneof![
        0.0..=1.0f64,
        (0u64..=1.0f64.to_bits()).prop_map(f64::from_bits),
        Just(0.0),
        Just(1.0)
    ]
}

fn count() -> impl Strategy<Value = f64> {
    prop_oneof![0.0..1e36f64, 0.0..10.0f64, (0u32..).prop_map(f64::from)]
}

fn models() -> impl Strategy<Value = MatchModel> {
    let numbers = proptest::collection::vec(share(), 12 * 5 * 5);
    let texts = proptest::collection::btree_map("\\PC{1,9}", share(), 0..9);
    let columns = proptest::collection::btree_map("\\PC{1,9}", "\\PC{1,9}", 0..4);
    let counts = (count(), count(), proptest::collection::vec(count(), 4));
    let rest = (
        0usize..5,
        any::<bool>(),
        any::<u16>(),
        0u32..32,
        -2.1..2.1f64,
    );
    (numbers, texts, columns, counts, rest).prop_map(|(shares, texts, columns, counts, rest)| {
        let mut model = people();
        let mut shares = shares.into_iter();
        let mut fill = |to: &mut [f64]| to.fill_with(|| shares.next().unwrap());
        let (status, linkage, rounds, chance, log) = rest;
        for field in &mut model.fields {
            fill(&mut field.u);
        }
        model.classes[3].chance = chance;
        for class in &mut model.classes {
            for (k, to) in class.shares.iter_mut().enumerate() {
                match class.chance >> k & 1 {
                    1 => *to = model.fields[k].u,
                    _ => fill(to),
                }
            }
        }
        for (class, pairs) in model.classes.iter_mut().zip(counts.2) {
            class.pairs_per_record = pairs;
        }
        (model.records, model.all_pairs) = (counts.0, counts.1);
        model.fields[3].frequent = texts.into_iter().collect();
        model.left_out = columns
            .into_iter()
            .map(|(column, reason)| LeftOut { column, reason })
            .collect();
        model.status = Status::ALL[status];
        (model.linkage, model.rounds) = (linkage, rounds.into());
        model.dependence.edges[0].logs[3][7] = log;
        model.searches.push(PlannedSearch {
            search: Search::Equal {
                fields: vec![1],
                most: 2 + u32::from(rounds),
            },
            pairs_per_record: counts.0,
            matches_per_record: counts.1,
        });
        model.searches.push(PlannedSearch {
            search: Search::Crosswise {
                fields: vec![2; usize::from(linkage)],
                most: 5,
            },
            pairs_per_record: counts.1,
            matches_per_record: counts.0,
        });
        model
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_model_comes_back(model in models()) {
        comes_back(&model);
    }

    #[test]
    fn cut_texts_are_refused(cut in 0.0..1.0f64) {
        let text = write_model(&people()).unwrap();
        let end = (cut * text.len() as f64) as usize;
        prop_assert!(read_model(&text[..end]).is_err());
    }
}

#[test]
fn unknown_members_are_ignored() {
    let mut model: Value = serde_json::from_str(&write_model(&people()).unwrap()).unwrap();
    model["later"] = json!({"a": [1, {"b": null}]});
    model["fields"][0]["later"] = json!(true);
    let read = read_model(&model.to_string()).unwrap();
    assert_eq!(write_model(&read).unwrap(), write_model(&people()).unwrap());
}

#[test]
fn a_model_of_before_there_were_warnings_has_none() {
    let mut model: Value = serde_json::from_str(&write_model(&people()).unwrap()).unwrap();
    model.as_object_mut().unwrap().remove("warnings").unwrap();
    assert!(read_model(&model.to_string()).unwrap().warnings.is_empty());
}
