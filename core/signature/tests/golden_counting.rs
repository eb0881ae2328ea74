//! The counters of golden.json, which an independent program computes: tests/data/golden.py.

use serde_json::Value;
use signature::counting::{parse_text, write_text, CountingBuilder};
use signature::filter::Shape;
use text::tokens::TokenHashList;

fn golden(key: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("../../../tests/data/golden.json")).unwrap();
    all[key].as_array().unwrap().clone()
}

fn shape(v: &Value) -> Shape {
    let n = |key: &str| v[key].as_i64().unwrap();
    Shape::new(n("k"), n("p"), n("q")).unwrap()
}

/// The counters of what `add` puts into an empty filter, compared with the golden ones; and so is the text form.
fn compare(v: &Value, add: impl FnOnce(&mut CountingBuilder<'_>)) {
    let shape = shape(v);
    let mut bytes = vec![0; CountingBuilder::size(shape)];
    let mut builder = CountingBuilder::new(shape, &mut bytes);
    add(&mut builder);
    let view = builder.finish();
    let counters: Vec<u8> = view.values().collect();
    let digits: String = counters.iter().map(|c| format!("{c:x}")).collect();
    assert_eq!(Value::from(counters), v["counters"], "{v}");
    let mut text = String::new();
    write_text(&view, &mut text);
    assert_eq!(text, format!("{shape}:{digits}"));
    let mut read = vec![];
    parse_text(&text, &mut read).unwrap();
    assert_eq!(read, bytes);
}

fn strings(v: &Value) -> Vec<&str> {
    let elements = v.as_array().unwrap().iter();
    elements.map(|text| text.as_str().unwrap()).collect()
}

#[test]
fn texts() {
    for v in golden("counting") {
        compare(&v, |builder| {
            for text in strings(&v["texts"]) {
                builder.add_text(text, false, || ()).unwrap();
            }
        });
    }
}

/// Another text that was added before each and removed after it leaves nothing, unless there was a full counter.
#[test]
fn texts_with_another_in_between() {
    let mut compared = 0;
    for v in golden("counting") {
        let before_full = v["counters"].as_array().unwrap().iter();
        if before_full.clone().any(|c| c.as_u64() > Some(9)) {
            continue;
        }
        compared += 1;
        compare(&v, |builder| {
            for text in strings(&v["texts"]) {
                builder.add_text("Max", true, || ()).unwrap();
                builder.add_text(text, false, || ()).unwrap();
                builder.remove_text("max", false, || ()).unwrap();
            }
        });
    }
    assert!(compared > 3, "{compared}");
}

#[test]
fn sets_of_tokens() {
    for v in golden("counting_tokens") {
        compare(&v, |builder| {
            for set in v["sets"].as_array().unwrap() {
                let mut hashes = TokenHashList::new();
                strings(set)
                    .iter()
                    .for_each(|token| hashes.push(token).unwrap());
                builder.add_tokens(hashes, || ()).unwrap();
            }
        });
    }
}
