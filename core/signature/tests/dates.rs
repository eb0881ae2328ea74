//! Dates and times from text, and signatures of dates.

use std::collections::{BTreeMap, HashMap};

use chrono::{Datelike, Days, NaiveDate};
use proptest::prelude::*;
use signature::filter::{date_shape, Builder, View};
use signature::similarity::Popcounts;
use text::{date_digits, parse_date, parse_time, plausibility, DateFormats};

fn formats(list: &[&str]) -> DateFormats {
    let mut formats = DateFormats::new(list[0]).unwrap();
    list[1..].iter().for_each(|f| formats.push(f).unwrap());
    formats
}

/// The columns of the lines of tests/data/dates.tsv that begin with `kind`; tests/data/dates.py tells where they are
/// from.
fn golden(kind: &str) -> Vec<[&'static str; 3]> {
    let lines = include_str!("../../../tests/data/dates.tsv").lines();
    let columns = lines.map(|line| line.split('\t').collect::<Vec<_>>());
    let of_kind = columns.filter(|columns| columns[0] == kind);
    of_kind.map(|c| [c[1], c[2], c[3]]).collect()
}

#[test]
fn months_are_known_by_all_names_that_the_cldr_has() {
    let months = golden("month");
    assert!(months.len() > 200);
    for [language, number, name] in months {
        let text = format!("27 {name} 1964");
        let is = format!("1964{:0>2}27", number);
        assert_eq!(
            parse_date(&text, "DD Month YYYY").as_ref(),
            Ok(&is),
            "{language}: {name}"
        );
        assert_eq!(
            parse_date(&text.to_uppercase(), "DD Mon YYYY").as_ref(),
            Ok(&is),
            "{language}: {name}"
        );
    }
}

#[test]
fn dates_in_words_of_seven_languages() {
    let in_words = formats(&[
        "DDth Month YYYY",
        "Month DDth, YYYY",
        "DD \"de\" Month \"de\" YYYY",
    ]);
    let dates = golden("date");
    assert!(dates.len() > 200);
    for [language, digits, text] in dates {
        let read = in_words.date(text, || ()).unwrap();
        assert_eq!(read, digits, "{language}: {text}");
        assert_eq!(in_words.date_if_any(text, || ()).as_deref(), Some(digits));
        assert_eq!(in_words.date_digits(text, || ()), digits);
    }
}

#[test]
fn times_as_the_cldr_writes_them() {
    let times = golden("time");
    assert!(times.len() > 50);
    for [language, digits, text] in times {
        let format = match language {
            "en" => "HH:MI:SS AM",
            _ => "HH24:MI:SS",
        };
        assert_eq!(parse_time(text, format).as_deref(), Ok(digits), "{text}");
    }
}

#[test]
fn two_digits_of_a_year_do_not_depend_on_today() {
    for (text, year) in [("30", 1930), ("99", 1999), ("00", 2000), ("29", 2029)] {
        let date = parse_date(&format!("27.05.{text}"), "DD.MM.YY").unwrap();
        assert_eq!(date, format!("{year}0527"));
    }
    for text in ["27.05.1964", "27.05.6", "27.05."] {
        assert!(parse_date(text, "DD.MM.YY").is_err(), "{text}");
    }
}

#[test]
fn the_first_format_that_makes_a_date_counts() {
    let both = formats(&["DD/MM/YYYY", "MM/DD/YYYY", "DD/MM/YY"]);
    let read = |text: &str| both.date(text, || ()).map_err(|e| e.message().to_owned());
    assert_eq!(read("05/06/1964"), Ok("19640605".into()));
    assert_eq!(read("05/27/1964"), Ok("19640527".into()));
    assert_eq!(read("27/05/64"), Ok("19640527".into()));
    assert_eq!(read(" "), Ok(String::new()));
    assert_eq!(
        read("31/02/1964"),
        Err("day 31 is impossible in date \"31/02/1964\"".into())
    );
    assert_eq!(
        read("31.02.1964"),
        Err("date \"31.02.1964\" matches none of 3 formats".into())
    );
}

#[test]
fn what_is_impossible_keeps_its_digits() {
    let both = formats(&["YYYY-MM-DD", "DD.MM.YYYY"]);
    for (text, digits, date) in [
        ("1964-05-27", "19640527", Some("19640527")),
        ("1964-86-27", "19648627", None),
        ("31.02.1964", "19640231", None),
        ("0.0.1964", "19640000", None),
        ("27.05.0000", "00000527", None),
        ("27/05/64", "270564", None),
        ("born 1964", "1964", None),
        ("١٩٦٤-٠٥-٢٧", "19640527", Some("19640527")),
        ("1964-05-27 20:15", "19640527", None),
        ("unknown", "", None),
        (" ", "", None),
        ("", "", None),
    ] {
        assert_eq!(both.date_digits(text, || ()), digits, "{text}");
        assert_eq!(both.date_if_any(text, || ()).as_deref(), date, "{text}");
    }
}

proptest! {
    #[test]
    fn every_date_is_read_as_it_was_written(days in 0u64..3_652_058, digits in any::<bool>()) {
        let date = NaiveDate::from_ymd_opt(1, 1, 1).unwrap().checked_add_days(Days::new(days)).unwrap();
        let (y, m, d) = (date.year(), date.month(), date.day());
        let is = date_digits(y, m, d).unwrap();
        let text = if digits { format!("{d}.{m}.{y:04}") } else { format!("{y:04}-{m:02}-{d:02}") };
        let both = formats(&["DD.MM.YYYY", "YYYY-MM-DD"]);
        prop_assert_eq!(both.date(&text, || ()), Ok(is.clone()));
        prop_assert_eq!(both.date_digits(&text, || ()), is);
    }

    #[test]
    fn the_three_ways_to_read_a_date_agree(text in "\\PC{0,12}|[0-9]{1,2}[./-][0-9]{1,2}[./-][0-9]{2,4}") {
        let list = ["DD.MM.YYYY", "MM/DD/YY", "YYYY-MM-DD"];
        let all = formats(&list);
        let read = all.date(&text, || ());
        let or_null = all.date_if_any(&text, || ());
        let digits = all.date_digits(&text, || ());
        prop_assert!(digits.len() <= 8 && digits.bytes().all(|b| b.is_ascii_digit()));
        match read {
            Ok(date) if text.trim().is_empty() => prop_assert!(date.is_empty() && digits.is_empty() && or_null.is_none()),
            Ok(date) => {
                prop_assert_eq!(or_null.as_ref(), Some(&date));
                prop_assert_eq!(&date, &digits);
                prop_assert!(list.iter().any(|f| parse_date(&text, f).as_ref() == Ok(&date)));
            }
            Err(_) => {
                prop_assert_eq!(or_null, None);
                prop_assert!(list.iter().all(|f| !plausibility(&text, f).unwrap().plausible));
            }
        }
    }

    #[test]
    fn every_time_is_read_as_it_was_written(h in 0u32..24, m in 0u32..60, s in 0u32..60) {
        let is = format!("{h:02}{m:02}{s:02}");
        prop_assert_eq!(parse_time(&format!("{h}:{m:02}:{s:02}"), "HH24:MI:SS"), Ok(is.clone()));
        let (hour, half) = ((h + 11) % 12 + 1, if h < 12 { "am" } else { "pm" });
        prop_assert_eq!(parse_time(&format!("{hour}:{m:02}:{s:02} {half}"), "HH12:MI:SS AM"), Ok(is.clone()));
        prop_assert_eq!(parse_time(&is, "HHMISS"), Ok(is.clone()));
    }
}

fn signature(date: &str) -> Vec<u8> {
    let mut bytes = vec![0; Builder::size(date_shape())];
    let mut builder = Builder::new(date_shape(), &mut bytes);
    builder.add_date(date, || ()).unwrap();
    builder.finish();
    bytes
}

fn similarity(a: &[u8], b: &[u8]) -> f64 {
    Popcounts::new(&View::stored(a).unwrap(), &View::stored(b).unwrap())
        .unwrap()
        .jaccard()
}

/// Signatures that have been computed.
#[derive(Default)]
struct Signed(HashMap<String, Vec<u8>>);

impl Signed {
    fn similarity(&mut self, a: &str, b: &str) -> f64 {
        for date in [a, b] {
            self.0
                .entry(date.to_owned())
                .or_insert_with(|| signature(date));
        }
        similarity(&self.0[a], &self.0[b])
    }
}

/// Every seventh day from 1930 to 2009, each as if it were written with all errors of each sort, whether a date comes
/// out or not.
#[test]
fn nearly_equal_dates_have_much_in_common() {
    let mut signed = Signed::default();
    let mut found: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let first = NaiveDate::from_ymd_opt(1930, 1, 1).unwrap();
    let last = NaiveDate::from_ymd_opt(2009, 12, 31).unwrap();
    let dates: Vec<String> = first
        .iter_days()
        .step_by(7)
        .take_while(|d| *d <= last)
        .map(|d| date_digits(d.year(), d.month(), d.day()).unwrap())
        .collect();
    for (i, date) in dates.iter().enumerate() {
        let mut errors: Vec<(&str, String)> = vec![];
        for at in 2..8 {
            for digit in '0'..='9' {
                let wrong = format!("{}{digit}{}", &date[..at], &date[at + 1..]);
                errors.push(("one digit wrong", wrong));
            }
        }
        for at in 2..7 {
            let (a, b) = (&date[at..=at], &date[at + 1..at + 2]);
            let wrong = format!("{}{b}{a}{}", &date[..at], &date[at + 2..]);
            errors.push(("neighbours swapped", wrong));
        }
        let swapped = format!("{}{}{}", &date[..4], &date[6..], &date[4..6]);
        errors.push(("day and month swapped", swapped));
        let year: i32 = date[..4].parse().unwrap();
        for year in [year - 1, year + 1] {
            errors.push(("year ± 1", format!("{year}{}", &date[4..])));
        }
        // others, from all over the list; none of the same day
        for k in 1..=40 {
            let other = &dates[(i + 1 + k * k * 97 + k * 13) % dates.len()];
            errors.push(("unrelated", other.clone()));
        }
        for (sort, wrong) in errors {
            if wrong[2..] != date[2..] {
                let similarity = signed.similarity(date, &wrong);
                found.entry(sort).or_default().push(similarity);
            }
        }
    }
    let mut average = BTreeMap::new();
    for (sort, similarities) in &mut found {
        similarities.sort_by(f64::total_cmp);
        let n = similarities.len();
        let mean = similarities.iter().sum::<f64>() / n as f64;
        let of_100 = [n / 100, n * 99 / 100].map(|at| similarities[at]);
        eprintln!("{sort}: {n} pairs, {mean:.3}, 98 % within {of_100:.3?}");
        average.insert(*sort, mean);
    }
    assert!(average["one digit wrong"] >= 0.4);
    assert!(average["day and month swapped"] >= 0.4);
    assert!(average["neighbours swapped"] >= 0.4);
    assert!(average["year ± 1"] >= 0.45);
    assert!(average["unrelated"] <= 0.1);
    let unrelated = &found["unrelated"];
    assert!(unrelated[unrelated.len() * 99 / 100] <= 0.3);
}

#[test]
fn different_dates_of_a_century_have_different_signatures() {
    let mut seen: HashMap<Vec<u8>, String> = HashMap::new();
    let first = NaiveDate::from_ymd_opt(1900, 1, 1).unwrap();
    for day in first.iter_days().take_while(|d| d.year() < 2000) {
        let date = date_digits(day.year(), day.month(), day.day()).unwrap();
        if let Some(other) = seen.insert(signature(&date), date.clone()) {
            panic!("{date} and {other}");
        }
    }
}

#[test]
fn what_a_signature_of_a_date_leaves_out() {
    let of = |a: &str, b: &str| similarity(&signature(a), &signature(b));
    // the century, and what is no digit
    assert_eq!(of("19640527", "20640527"), 1.0);
    assert_eq!(of("19640527", "1964-05-27"), 1.0);
    // an impossible month counts as it is written
    assert!((0.1..0.5).contains(&of("19648627", "19640527")));
    assert_eq!(of("19648627", "19648627"), 1.0);
    // parts that are not known
    assert!(of("19640500", "19640527") > 0.1);
    assert!(of("19640500", "19710500") < 0.3);
    for nothing in ["19640000", "", " ", "1964", "640527", "unknown"] {
        assert_eq!(of(nothing, nothing), 0.0, "{nothing}");
        assert_eq!(of(nothing, "19640527"), 0.0, "{nothing}");
    }
}

#[test]
fn digits_in_another_order_are_no_date() {
    let mut bytes = vec![0; Builder::size(date_shape())];
    for other in [
        "196405271",
        "27.05.1964",
        "5/27/1964",
        "64-05-27",
        "1964-5-27",
    ] {
        let mut builder = Builder::new(date_shape(), &mut bytes);
        assert!(builder.add_date(other, || ()).is_err(), "{other}");
    }
}

/// Bit by bit from the tokens as the manual has them, by the hash of tokens.
#[test]
fn a_signature_of_a_date_is_one_of_these_tokens() {
    let mut tokens = std::collections::BTreeSet::new();
    for digits in ["640527", "640527", "460527"] {
        for i in 0..6 {
            for j in i + 1..6 {
                let (a, b) = (&digits[i..=i], &digits[j..=j]);
                tokens.insert(format!("{}{a}{}{b}", i + 1, j + 1));
            }
        }
    }
    let mut bytes = vec![0; Builder::size(date_shape())];
    let mut builder = Builder::new(date_shape(), &mut bytes);
    tokens.iter().for_each(|t| builder.add_token(t).unwrap());
    builder.finish();
    assert_eq!(bytes, signature("19640527"));
}
