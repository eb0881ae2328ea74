//! Tests of values as words.

use super::*;

fn level(kind: Kind, a: &str, b: &str) -> u8 {
    let layout = FieldLayout::new(kind, 12).unwrap();
    let value = |text: &str| {
        let mut words = vec![7; layout.words()];
        layout.write(text, &mut words, &mut Vec::new()).unwrap();
        words
    };
    let (a, b) = (value(a), value(b));
    assert_eq!(layout.level(&a, &b), layout.level(&b, &a));
    layout.level(&a, &b)
}

#[test]
fn points_in_time_are_those_of_utc() {
    let normal = |kind, text| FieldLayout::new(kind, 12).unwrap().normal(text).unwrap();
    for (kind, a, b) in [
        (Kind::Date, "2020-01-06T00:30:00+02:00", "2020-01-05"),
        (Kind::Day, "2020-01-05T22:30:00", "2020-01-05"),
        (
            Kind::Text,
            "2020-01-06T00:30:00.25+02:00",
            "2020-01-05T22:30:00.25",
        ),
        (
            Kind::Code,
            "2020-01-06T00:30:00+02:00",
            "2020-01-05T22:30:00",
        ),
        (Kind::Date, "-infinity", ""),
        (Kind::Number, "0.30000000000000004", "0.3"),
    ] {
        assert_eq!(normal(kind, a), normal(kind, b), "{a}");
    }
    assert_ne!(
        normal(Kind::Number, "0.3000000000001"),
        normal(Kind::Number, "0.3")
    );
}

#[test]
fn values_are_read_or_not() {
    use Kind::*;
    let dates = || Reading::dates("DD.MM.YYYY").ok();
    let cases = [
        (Date, None, "1964-05-27", true),
        (Date, None, "19640527", true),
        // a digit is wrong
        (Date, None, "19641327", true),
        (Date, None, "1964-05-27T22:30:00+02:00", true),
        (Date, None, "infinity", true),
        (Date, None, "27.05.1964", false),
        (Date, None, "unknown", false),
        (Date, dates(), "27.05.1964", true),
        (Date, dates(), "27.13.1964", true),
        (Date, dates(), "1964-05-27", true),
        (Date, dates(), "05/27/1964", false),
        (Phone, None, "040 422838", true),
        (Phone, None, "none", false),
        (Phone, Reading::phone("DE").ok(), "040 4228384625", true),
        // compared by its digits
        (Phone, Reading::phone("DE").ok(), "040 12", true),
        (Phone, Reading::phone("DE").ok(), "none", false),
        (Email, Some(Reading::Mailbox), "eva@web.example", true),
        (Email, Some(Reading::Mailbox), "eva", false),
        (Text, Some(Reading::Mailbox), "eva", false),
        (Text, None, "eva", true),
        (Number, None, "12.5", true),
        (Number, None, "12,50 EUR", false),
        (Number, Some(Reading::Amount), "$1,234.50", true),
        (Code, None, "?", true),
    ];
    for (kind, reading, text, is) in cases {
        let layout = FieldLayout::new(kind, 12).unwrap().with_reading(reading);
        assert_eq!(layout.reads(text), is, "{kind} {text}");
    }
}

#[test]
fn signatures_have_levels() {
    let shape = Shape::of_records(32, 7).unwrap();
    let reading = Some(Reading::signatures(shape).unwrap());
    let layout = FieldLayout::new(Kind::Signature, 0).unwrap();
    let layout = layout.with_reading(reading);
    let text = |bits: u32| {
        let bytes = bits.to_le_bytes().map(|byte| format!("{byte:02x}"));
        format!("{shape}:{}", bytes.concat())
    };
    let words = |text: &str| {
        let mut words = vec![7; layout.words()];
        layout.write(text, &mut words, &mut Vec::new()).unwrap();
        words
    };
    // with 16 bits that are all set in the other one: Dice 2 * 16 / (16 + n)
    let cases = [
        (0xffff, 0),
        (0x1_ffff, 4),
        (0x3_ffff, 4),
        (0x7_ffff, 5),
        (0xf_ffff, 5),
        (0x7f_ffff, 5),
        (0xff_ffff, 6),
        (0xfff_ffff, 6),
        (0xffff_ffff, 7),
        (0xff, 7),
        (0x1f, 8),
        (0xf, 8),
        (0x7, 9),
        (0xff0_0000, 9),
        (0, 11),
    ];
    let one = words(&text(0xffff));
    for (bits, level) in cases {
        let other = words(&text(bits));
        assert_eq!(layout.level(&one, &other), level, "{bits:x}");
        assert_eq!(layout.level(&other, &one), level, "{bits:x}");
    }
    assert_eq!(words(" "), words(&text(0)));
    assert_eq!(words(&text(5)), words(&format!(" {} ", text(5))));
    assert_eq!(layout.shown(&text(5)).unwrap(), "2 bits");
    let other = format!("{}:00000001", shape.with_other_id(8).unwrap());
    for text in ["Novak", &other] {
        assert!(layout.read_value(text).is_err(), "{text}");
        assert!(layout.normal(text).is_err(), "{text}");
    }
}

#[test]
fn values_have_levels() {
    use Kind::*;
    let cases = [
        (Text, "Müller", "mueller", 0),
        (Text, "", "mueller", 11),
        (Text, "--", "mueller", 11),
        (Text, "katharina", "kathrina", 6),
        (Text, "abc", "xyz", 9),
        (Date, "1990-01-02", "19900102", 0),
        (Date, "1990-01-02", "1990-02-01", 5),
        (Date, "1990-01-02", "unknown", 9),
        (Date, "1990-01-02T22:30:00", "19900102", 0),
        (Day, "1990-01-02T22:30:00", "1990-01-03T02:30:00+02:00", 4),
        (Day, "Tuesday", "1990-01-03", 9),
        (Code, "A-123", "a 124", 4),
        (Code, "A-123", "b 124", 9),
        (Number, "10", "10.0", 0),
        (Number, "-0", "0", 0),
        (Number, "100", "100.5", 5),
        (Number, "1e308", "-1e308", 9),
        (Number, "NaN", "10", 9),
        (Phone, "030/1234567", "0301234567", 0),
        (Phone, "+49301234567", "0301234567", 4),
        (Email, "a.b@x.example", "A.B@x.example", 0),
        (Email, "a.b@x.example", "A.B@y.example", 4),
        (Email, "katharina@x.example", "katharinas@x.example", 5),
        (Email, "a.b@x.example", "q@x.example", 8),
    ];
    for (kind, a, b, is) in cases {
        assert_eq!(level(kind, a, b), is, "{kind} {a} {b}");
    }
}
