//! Abbreviations written out.

use base::ErrorKind;
use proptest::prelude::*;
use text::{expand, plain_words};

#[test]
fn abbreviations_by_language_and_place() {
    for (language, text, expected) in [
        (
            "de",
            "Hauptstr. 5, 10115 Berlin",
            "hauptstrasse 5 10115 berlin",
        ),
        ("de", "Kurt-Schumacher-Str. 1", "kurt schumacher strasse 1"),
        ("de", "Str. des 17. Juni", "strasse des 17 juni"),
        ("de", "Marktpl. 3", "marktplatz 3"),
        ("de", "St. Gallen", "sankt gallen"),
        (
            "de",
            "Meier G.m.b.H. & Co. KG",
            "meier gesellschaft mit beschraenkter haftung compagnie kommanditgesellschaft",
        ),
        ("en", "St. James St., London", "saint james street london"),
        ("en", "12 Oak St Apt 4", "12 oak street apartment 4"),
        ("en", "St Andrews Rd", "saint andrews road"),
        ("en", "5 High St, Oxford", "5 high street oxford"),
        ("en", "Smith Bros. Ltd.", "smith brothers limited"),
        ("es", "C/Mayor 3", "calle mayor 3"),
        ("es", "c/ Mayor, 3", "calle mayor 3"),
        ("es", "Mª Carmen", "maria carmen"),
        ("es", "Mª. del Pilar", "maria del pilar"),
        (
            "es",
            "Avda. de la Constitución",
            "avenida de la constitucion",
        ),
        (
            "es",
            "Hnos. García S.L.",
            "hermanos garcia sociedad limitada",
        ),
        ("fr", "12, bd St-Michel", "12 boulevard saint michel"),
        (
            "fr",
            "Ets Dupont S.A.R.L.",
            "etablissements dupont societe a responsabilite limitee",
        ),
        ("it", "V.le Roma", "viale roma"),
        (
            "it",
            "F.lli Rossi S.p.A.",
            "fratelli rossi societa per azioni",
        ),
        ("it", "Иванов", "ivanov"),
        ("de", "", ""),
        ("de", " , ; ", ""),
        ("en", "st", "saint"),
    ] {
        assert_eq!(
            expand(text, language, 1, || ()).unwrap(),
            expected,
            "{text}"
        );
    }
}

/// Everyday spellings and what they say in full, written by hand for this project: language, as it is written, in full.
#[test]
fn everyday_spellings() {
    let mut wrong = vec![];
    for line in include_str!("../../../tests/data/abbreviations.tsv").lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let found = expand(fields[1], fields[0], 1, || ()).unwrap();
        let expected = plain_words(fields[2], || ()).unwrap();
        if found != expected {
            wrong.push(format!("{}: {found}, not {expected}", fields[1]));
        }
        let upper = fields[0].to_uppercase();
        assert_eq!(expand(fields[1], &upper, 1, || ()).unwrap(), found);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn dictionaries_that_are_not_there() {
    for (language, version) in [("de", 0), ("de", 2), ("de", -1), ("xx", 1), ("", 1)] {
        let error = expand("a", language, version, || ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter, "{error}");
        assert!(error.hint_text().or(error.detail_text()).is_some());
    }
}

proptest! {
    #[test]
    fn words_of_the_alphabet(text in prop_oneof!["\\PC{0,60}", "([a-zA-Z]{1,6}[.,/ ª-]{0,2}){0,8}", "(st|str|c/|pl|Mª|S.A|co|dr)[., ]{0,2}(st|str|c/|pl|mª|sa)?.{0,5}"]) {
        for language in ["de", "en", "es", "fr", "it"] {
            let out = expand(&text, language, 1, || ()).unwrap();
            prop_assert!(out.bytes().all(|b| b == b' ' || b.is_ascii_lowercase() || b.is_ascii_digit()), "{}", out);
            prop_assert!(!out.starts_with(' ') && !out.ends_with(' ') && !out.contains("  "), "{:?}", out);
        }
    }
}
