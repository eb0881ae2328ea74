//! Properties of how the values of a model's fields are read and compared.

use linkage::model::values::{Conventions, FieldLayout, Kind, Reading, LEVELS, MISSING};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

/// Every kind as it is, and with each of its readings.
fn layouts() -> Vec<FieldLayout> {
    let read = [
        (Kind::Phone, "DE"),
        (Kind::Phone, "US"),
        (Kind::Text, "mailbox"),
        (Kind::Email, "mailbox"),
        (Kind::Date, "DD.MM.YYYY"),
        (Kind::Date, "Month DD, YYYY"),
        (Kind::Name, "double_metaphone"),
        (Kind::Name, "cologne"),
    ];
    let plain = Kind::OF_THINGS.map(|kind| FieldLayout::new(kind, 12).unwrap());
    let read = read.map(|(kind, name)| {
        let reading = Reading::of_name(kind, name).unwrap();
        FieldLayout::new(kind, 12)
            .unwrap()
            .with_reading(Some(reading))
    });
    plain.into_iter().chain(read).collect()
}

fn value(layout: &FieldLayout, text: &str) -> Vec<u64> {
    let mut words = vec![7; layout.words()];
    layout.write(text, &mut words, &mut Vec::new()).unwrap();
    words
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,40}",
        "[+(]{0,2}[0-9 /().-]{0,20}",
        "[a-zA-Z.+]{1,12}@[a-z]{1,8}\\.(com|example)",
        "[0-3]?[0-9]\\.[01]?[0-9]\\.(19|20)[0-9]{2}",
        Just("p.1+x@googlemail.com".to_owned()),
        Just("p1@gmail.com".to_owned()),
    ]
}

/// Signatures of ten bits, of which few or none may be set.
fn signature() -> impl Strategy<Value = String> {
    (0..1024_u16).prop_map(|bits| format!("(2,5,3):{:02x}{:02x}", bits & 0xff, bits >> 8))
}

/// What holds for two values of any field.
fn alike_either_way(layout: &FieldLayout, a: &str, b: &str) -> Result<(), TestCaseError> {
    let (x, y) = (value(layout, a), value(layout, b));
    let level = layout.level(&x, &y);
    prop_assert_eq!(level, layout.level(&y, &x), "{:?}", layout);
    prop_assert!(usize::from(level) < LEVELS);
    let (normal_a, normal_b) = (layout.normal(a).unwrap(), layout.normal(b).unwrap());
    let is_missing = usize::from(level) == MISSING;
    prop_assert_eq!(is_missing, normal_a.is_empty() || normal_b.is_empty());
    // what stands in a model for a value is equal where the values are
    prop_assert_eq!(
        FieldLayout::identity_of(&x),
        FieldLayout::identity(&normal_a)
    );
    if normal_a == normal_b && !is_missing {
        prop_assert_eq!(level, 0);
    }
    if layout.sketch(a).unwrap() != layout.sketch(b).unwrap() {
        prop_assert_ne!(normal_a, normal_b);
    }
    Ok(())
}

proptest! {
    #[test]
    fn values_are_compared_alike_either_way(a in text(), b in text()) {
        for layout in layouts() {
            alike_either_way(&layout, &a, &b)?;
        }
    }

    #[test]
    fn signatures_are_compared_alike_either_way(a in signature(), b in signature()) {
        let reading = Reading::of_name(Kind::Signature, "(2,5,3)").unwrap();
        let layout = FieldLayout::new(Kind::Signature, 0).unwrap().with_reading(Some(reading));
        alike_either_way(&layout, &a, &b)?;
        prop_assert!(layout.normal("(2,7,3):0000").is_err());
        prop_assert!(layout.normal("Erika").is_err());
    }

    #[test]
    fn any_values_have_habits(values in prop::collection::vec(text(), 0..20)) {
        let mut conventions = Conventions::default();
        values.iter().for_each(|value| conventions.add(value));
        let found = [conventions.date_format(), conventions.phone_region(), conventions.mailbox()];
        for (kind, reading) in [Kind::Date, Kind::Phone, Kind::Text].into_iter().zip(found) {
            if let Some(reading) = reading {
                prop_assert_eq!(Reading::of_name(kind, reading.name()).unwrap(), reading);
            }
        }
    }
}

#[test]
fn names_that_sound_alike_are_similar() {
    let plain = FieldLayout::new(Kind::Name, 12).unwrap();
    let reading = Reading::of_name(Kind::Name, "double_metaphone").unwrap();
    let heard = plain.clone().with_reading(Some(reading));
    let levels = |a: &str, b: &str| {
        let level = |layout: &FieldLayout| layout.level(&value(layout, a), &value(layout, b));
        (level(&plain), level(&heard))
    };
    assert_eq!(levels("Meyer", "Maier"), (8, 7));
    assert_eq!(levels("Catherine", "Kathryn"), (9, 7));
    // what is more similar stays so, and what sounds otherwise stays unlike
    assert_eq!(levels("Katharina", "Kathrina"), (6, 6));
    assert_eq!(levels("Anna", "Peter"), (9, 9));
    assert_eq!(levels("42", "43"), (9, 9));
}
