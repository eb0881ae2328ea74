//! What is no model is refused.

use serde_json::{json, Value};

use super::comes_back;
use crate::model::json::{read_model, write_model};
use crate::model::tests::people;
use base::ErrorKind;

/// The message and detail of the error of the model with one value exchanged; `Value::Null` takes the member away.
#[track_caller]
fn with(pointer: &str, value: Value) -> (ErrorKind, String, String) {
    let mut model: Value = serde_json::from_str(&write_model(&people()).unwrap()).unwrap();
    let (above, last) = pointer.rsplit_once('/').unwrap();
    match (model.pointer_mut(above).unwrap(), value) {
        (Value::Object(of), Value::Null) => {
            of.remove(last).unwrap();
        }
        (Value::Object(of), value) => {
            of.insert(last.into(), value);
        }
        (of, value) => of[last.parse::<usize>().unwrap()] = value,
    }
    let error = read_model(&model.to_string()).unwrap_err();
    assert!(error.hint_text().is_some());
    let detail = error.detail_text().unwrap_or_default().to_owned();
    (error.kind(), error.message().to_owned(), detail)
}

/// What is put where, and what the error says of it; `N * x` is an array of so many.
const IMPOSSIBLE: &str = r#"
/bloom_ident_model := null => bloom_ident_model is missing
/bloom_ident_model := 1.5 => bloom_ident_model is 1.5
/rules := "1" => rules is "1"
/status := "done" => status is "done"
/linkage := 0 => linkage is 0
/calibration := 1 => calibration is 1
/calibration := {"slope": 0, "shift": 0, "answers": 20} => calibration.slope is 0
/calibration := {"slope": 1, "shift": 1e4, "answers": 20} => calibration.shift is 10000
/calibration := {"slope": 1, "shift": 0, "answers": -1} => calibration.answers is -1
/calibration := {"slope": 1, "shift": 0} => calibration.answers is missing
/recall := 1.5 => recall is 1.5
/recall := "all" => recall is "all"
/records := -1 => records is -1
/pairs := 1e37 => pairs is 1e37
/rounds := 0.5 => rounds is 0.5
/matches_per_record := "NaN" => matches_per_record is "NaN"
/fields := {} => fields is an object
/fields := [] => fields is an array of 0
/fields := 33 * 0 => fields has 33 elements
/fields/1 := "dob" => fields[1] is "dob"
/fields/1/name := "" => fields[1].name is ""
/fields/2/name := "given_name" => fields[2].name is "given_name"
/fields/2/kind := "month" => fields[2].kind is "month"
/fields/2/segment := 4 => fields[2].segment is 4
/fields/2/segment := 24 => fields[2].segment is 24
/fields/2/segment := -7 => fields[2].segment is -7
/fields/2/segment := 8209 => fields[2].segment is 8209
/fields/2/personal := "yes" => fields[2].personal is "yes"
/fields/2/filled := 1.5 => fields[2].filled is 1.5
/fields/2/bits := 1e300 => fields[2].bits is 1e300
/fields/2/rare_level := 4 => fields[2].rare_level is 4
/fields/2/m := [] => fields[2].m is an array of 0
/fields/2/m/3 := -0.5 => fields[2].m[3] is -0.5
/fields/2/m/3 := 1.1 => fields[2].m[3] is 1.1
/fields/2/u := 13 * 0 => fields[2].u is an array of 13
/fields/2/u/0 := [0] => fields[2].u[0] is an array of 1
/fields/3/frequent := [] => fields[3].frequent is an array of 0
/fields/3/frequent/ber lin := 2 => fields[3].frequent."ber lin" is 2
/swap := ["given_name"] => swap is an array of 1
/swap := ["given_name", "name"] => swap[1] is "name"
/swap := ["dob", "dob"] => swap[1] is "dob"
/swap := ["dob", "city"] => the fields "dob" and "city" of swap are not compared alike
/together := [{"fields": ["city", "phone"], "logs": []}] => together[0].logs is an array of 0
/together := 5 * {} => together has 5 elements
/together/0/fields/1 := "x" => together[0].fields[1] is "x"
/together/0/logs/9 := [0] => together[0].logs[9] is an array of 1
/together/0/logs/9/9 := 51 => together[0].logs[9][9] is 51
/classes := 65 * {} => classes has 65 elements
/classes/1/differ/0 := "x" => classes[1].differ[0] is "x"
/classes/1/differ/0 := "dob" => classes[1].differ[1] is "dob"
/classes/1/differ := [] => classes[1].levels.given_name is missing
/classes/1/levels/city := null => classes[1].levels.city is missing
/classes/1/levels/town := 1 => classes[1].levels.town is 1
/classes/1/pairs_per_record := -1 => classes[1].pairs_per_record is -1
/searches := 61 * {} => searches has 61 elements
/searches/0/equal := [] => searches[0].equal is an array of 0
/searches/0/equal := ["x"] => searches[0].equal[0] is "x"
/searches/0/equal := null => searches[0] is an object
/searches/0/scan := 30 => searches[0] is an object
/searches/0/most := 1 => searches[0].most is 1
/searches/0/similar := ["surname"] => searches[0] is an object
/searches/1/similar := ["given_name", "surname", "dob"] => searches[1].similar is an array of 3
/searches/1/least := 101 => searches[1].least is 101
/searches/1/similar := [] => searches[1].similar is an array of 0
/searches/1/most := 1 => searches[1].most is 1
/searches/1/crosswise := [] => searches[1] is an object
/searches/0 := {"crosswise": ["x"], "most": 5} => searches[0].crosswise[0] is "x"
/searches/0 := {"crosswise": ["dob", "surname"], "most": 5} => searches[0].crosswise is an array of 2
/searches/0 := {"crosswise": [], "most": 1} => searches[0].most is 1
/searches/2/scan := 101 => searches[2].scan is 101
/left_out/id := 1 => left_out.id is 1
/warnings := {} => warnings is an object
/warnings := 1001 * "a" => warnings has 1001 elements
/warnings/0 := "" => warnings[0] is ""
"#;

#[test]
fn what_cannot_be_is_refused() {
    for line in IMPOSSIBLE.trim().lines() {
        let (pointer, rest) = line.split_once(" := ").unwrap();
        let (value, message) = rest.split_once(" => ").unwrap();
        let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let value = match value.split_once(" * ") {
            Some((n, of)) => Value::Array(vec![json(of); n.parse().unwrap()]),
            None => json(value),
        };
        let (kind, said, detail) = with(pointer, value);
        assert_eq!(said, format!("invalid match model: {message}"));
        assert_eq!(kind, ErrorKind::InvalidParameter);
        assert_eq!(
            detail.is_empty(),
            said.ends_with(" is missing"),
            "{said}: {detail}"
        );
    }
    let (_, _, detail) = with("/fields/2/segment", json!(24));
    assert_eq!(detail, "p is a prime from 5 to 8191.");
}

#[test]
fn circles_of_fields_are_refused() {
    let mut model = people();
    let mut other = model.dependence.edges[0].clone();
    other.fields = [2, 3];
    model.dependence.edges.push(other.clone());
    comes_back(&model);
    other.fields = [2, 4];
    model.dependence.edges.push(other);
    let error = read_model(&write_model(&model).unwrap()).unwrap_err();
    assert_eq!(
        error.message(),
        "invalid match model: together[2].fields is an array of 2"
    );
}

#[test]
fn other_versions_are_refused() {
    let (kind, message, detail) = with("/bloom_ident_model", json!(7));
    assert_eq!(message, "match model has format version 7");
    assert_eq!(
        (kind, &*detail),
        (
            ErrorKind::NotSupported,
            "This release knows the versions 1 and 2."
        )
    );
    let (kind, message, _) = with("/rules", json!(2));
    assert_eq!(
        message,
        "match model was made by version 2 of the rules of text"
    );
    assert_eq!(kind, ErrorKind::NotSupported);
}

#[test]
fn what_is_no_model_is_refused() {
    let deep = "[".repeat(100_000);
    let many = format!("[{}0]", "0,".repeat(3_300_000));
    let long = format!("{{\"bloom_ident_model\": \"{}\"}}", "x".repeat(100_000));
    let cases: [(&str, &str); 9] = [
        ("", "it cannot be read as JSON"),
        ("nonsense", "it cannot be read as JSON"),
        ("{\"a\": 1, \"a\": 2}", "it cannot be read as JSON"),
        (
            "{\"bloom_ident_model\": 1e999}",
            "it cannot be read as JSON",
        ),
        (&deep, "it cannot be read as JSON"),
        (&many, "it cannot be read as JSON"),
        ("[1]", "it is an array of 1"),
        ("{}", "bloom_ident_model is missing"),
        (
            &long,
            &format!("bloom_ident_model is \"{}…\"", "x".repeat(60)),
        ),
    ];
    for (text, message) in cases {
        let error = read_model(text).unwrap_err();
        assert_eq!(error.message(), format!("invalid match model: {message}"));
    }
    let details = [
        (
            "{\"a\": 1, \"a\": 2}",
            "The member \"a\" is there twice at line 1 column 16.",
        ),
        (
            &*many,
            "There are more than 3300000 values at line 1 column 6599999.",
        ),
    ];
    for (text, detail) in details {
        assert_eq!(read_model(text).unwrap_err().detail_text(), Some(detail));
    }
}

#[test]
fn too_many_frequent_values_are_refused() {
    let mut model = people();
    let frequent = |n: u32| (0..n).map(|i| (format!("{i:06}"), 0.001)).collect();
    model.fields[0].frequent = frequent(100_000);
    comes_back(&model);
    model.fields[0].frequent = frequent(100_001);
    let error = read_model(&write_model(&model).unwrap()).unwrap_err();
    assert_eq!(
        error.message(),
        "invalid match model: fields[0].frequent has 100001 elements"
    );
}
