//! Telephone numbers and e-mail addresses against other programs, and laws that hold for every text.

use proptest::prelude::*;
use signature::filter::{plan_tokens, Builder, View};
use signature::similarity::Popcounts;
use text::contact::{email, email_or_none, phone, phone_or_none};
use text::identity::{for_each_encoding, IdentityKind};

/// The lines of a file of golden values, without the one that says where they come from.
fn golden(file: &'static str) -> impl Iterator<Item = Vec<&'static str>> {
    let lines = file.lines().filter(|line| !line.starts_with("# "));
    lines.map(|line| line.split('\t').collect())
}

#[test]
fn telephones_are_read_as_phonenumbers_does() {
    let mut n = 0;
    for line in golden(include_str!("../../../tests/data/contact/phones.tsv")) {
        let [region, text, digits, extension] = line[..] else {
            panic!("{line:?}");
        };
        let got = phone_or_none(text, region);
        let got = got.map(|phone| (phone.digits, phone.extension.unwrap_or_default()));
        let expected = (!digits.is_empty()).then(|| (digits.to_owned(), extension.to_owned()));
        assert_eq!(got, expected, "{region} {text}");
        n += 1;
    }
    assert!(n > 400);
}

#[test]
fn addresses_are_read_as_email_validator_does() {
    let mut n = 0;
    for line in golden(include_str!("../../../tests/data/contact/emails.tsv")) {
        let [text, domain, registrable] = line[..] else {
            panic!("{line:?}");
        };
        // It refuses what parts a list, too, which is left where an address is copied out of one.
        if text.ends_with(';') {
            continue;
        }
        let got = email_or_none(text);
        assert_eq!(got.is_some(), !domain.is_empty(), "{text}");
        if let Some(email) = got {
            assert_eq!(email.domain, domain.to_lowercase(), "{text}");
            let ours = email.parts().registrable.unwrap_or_default();
            assert_eq!(ours, registrable, "{text}");
        }
        n += 1;
    }
    assert!(n > 400);
}

/// What email-validator refuses, or reads otherwise, and people write all the same.
#[test]
fn what_is_read_more_generously() {
    for (text, address) in [
        ("e@x.de (Erika)", "e@x.de"),
        ("(a (b) \\) c) e@x.de", "e@x.de"),
        ("e (tag) @ x.de", "e@x.de"),
        ("e @ x.de", "e@x.de"),
        ("e@x.de.", "e@x.de"),
        ("<e@x.de>", "e@x.de"),
        (". <e@x.de>", "e@x.de"),
        ("f@y.de <e@x.de>", "e@x.de"),
        ("\"f@y.de\" < e@x.de > (g)", "e@x.de"),
        ("\"e\\.f\"@x.de", "e.f@x.de"),
        ("e@x.local", "e@x.local"),
    ] {
        assert_eq!(
            email(text).map(|e| e.text()).as_deref(),
            Ok(address),
            "{text}"
        );
    }
}

/// A form is read again as it is: what becomes another character by composition or in lower case has been looked at
/// before.
#[test]
fn characters_that_compose_to_punctuation_are_refused() {
    for text in [
        "e\u{37e}f@x.de",
        "e\u{200b}@x.de",
        "e\u{a0}f@x.de",
        "e\u{e000}@x.de",
    ] {
        assert_eq!(email_or_none(text), None, "{text:?}");
    }
    let kelvin = email("\u{212a}arl@x.de").unwrap();
    assert_eq!(kelvin.text(), "karl@x.de");
}

#[test]
fn mailboxes_are_folded_as_their_providers_say_and_no_further() {
    let same = |a: &str, b: &str| email(a).unwrap().text() == email(b).unwrap().text();
    for (a, b) in [
        ("e.m@gmail.com", "em+x+y@googlemail.com"),
        ("e.m+x@outlook.com", "e.m@outlook.com"),
        ("e+x@hotmail.co.uk", "e@hotmail.co.uk"),
        ("e-x@yahoo.com", "e-y@yahoo.com"),
        ("e+x@fastmail.com", "e@fastmail.com"),
        ("e.m_x-y+z@proton.me", "emxy@proton.me"),
    ] {
        assert!(same(a, b), "{a} {b}");
    }
    for (a, b) in [
        ("e@yahoo.com", "e@yahoo.co.uk"),
        ("e@outlook.com", "e@hotmail.com"),
        ("e@proton.me", "e@protonmail.com"),
        ("e@icloud.com", "e@me.com"),
        ("e.m@outlook.com", "em@outlook.com"),
        ("e+x@yahoo.com", "e@yahoo.com"),
        ("e-x@yahoo.co.jp", "e@yahoo.co.jp"),
        ("e+x@example.org", "e@example.org"),
        ("e.m@gmail.example.org", "em@gmail.example.org"),
        ("+x@gmail.com", "+y@gmail.com"),
        ("e.-x@yahoo.com", "e.-y@yahoo.com"),
        ("\"e+x\\\"\"@gmail.com", "e@gmail.com"),
    ] {
        assert!(!same(a, b), "{a} {b}");
    }
}

#[test]
fn addresses_as_they_are_pasted() {
    let form = |text: &str| email(text).map(|e| e.text());
    for text in [
        "mailto:john@example.com",
        "MAILTO: John@Example.com",
        "<mailto:john@example.com>",
        "John <mailto:john@example.com?subject=a%20b&cc=x@y.z>",
        "mailto:john@example.com?subject=x",
        "john@example.com;",
        "john@example.com ; ,",
        "John <john@example.com>,",
        "john＠example.com",
        "ｊｏｈｎ＠ｅｘａｍｐｌｅ．ｃｏｍ",
        "Ｊohn@example。com；",
        "\u{200f}john@example.com",
        "john@example.com\u{200b}",
        "\u{feff}\u{202a} john@example.com \u{202c}",
        "john @example.com",
        "john\u{3000}＠ example.com",
    ] {
        assert_eq!(form(text).as_deref(), Ok("john@example.com"), "{text:?}");
    }
    for (text, is) in [
        ("a.b.@docomo.ne.jp", "a.b.@docomo.ne.jp"),
        ("A..b@EZweb.ne.jp.", "a..b@ezweb.ne.jp"),
        ("\"a..b\"@ezweb.ne.jp", "a..b@ezweb.ne.jp"),
        ("\"a..b\"@example.jp", "\"a..b\"@example.jp"),
    ] {
        assert_eq!(form(text).as_deref(), Ok(is), "{text}");
    }
    for text in [
        ".a@docomo.ne.jp",
        ".@docomo.ne.jp",
        "a.b.@example.ne.jp",
        "a..b@x.ezweb.ne.jp",
        "mailto:",
        "mailto:john%2Bx@example.com",
        "mailto:a@x.de,b@x.de",
        "mailtojohn:x@example.com",
        ";john@example.com",
        "a@x.de; b@x.de",
        "\u{200b}",
        "jo\u{200b}hn@example.com",
    ] {
        assert!(form(text).is_err(), "{text:?}");
    }
}

fn signature(kind: IdentityKind, value: &str) -> Vec<u8> {
    let shape = plan_tokens(256, 0.5).unwrap().shape;
    let mut bytes = vec![0; Builder::size(shape)];
    let mut builder = Builder::new(shape, &mut bytes);
    for_each_encoding(kind, value, || (), |token| builder.add_token(token)).unwrap();
    builder.finish();
    bytes
}

fn similarity(kind: IdentityKind, a: &str, b: &str) -> f64 {
    let (a, b) = (signature(kind, a), signature(kind, b));
    let (a, b) = (View::stored(&a).unwrap(), View::stored(&b).unwrap());
    Popcounts::new(&a, &b).unwrap().jaccard()
}

#[test]
fn addresses_of_one_pattern_are_similar_and_others_are_not() {
    use IdentityKind::{Email, Name, Phone};
    let pattern = similarity(
        Email,
        "alex_lastname32@yahoo.com",
        "alex_lastname746@yahoo.co.uk",
    );
    assert!(pattern >= 0.6, "{pattern}");
    let names = "anna boris carla dieter emil frida gustav helga ingo julia".split(' ');
    let surnames =
        "schmidt kowalski rossi garcia dubois novak jansen petrov okafor tanaka".split(' ');
    let all: Vec<String> = names
        .zip(surnames)
        .map(|(a, b)| format!("{a}.{b}@gmx.de"))
        .collect();
    let mut unrelated: Vec<f64> = vec![];
    for (i, a) in all.iter().enumerate() {
        unrelated.extend(all[..i].iter().map(|b| similarity(Email, a, b)));
    }
    unrelated.sort_by(f64::total_cmp);
    assert!(unrelated[unrelated.len() / 2] < 0.15, "{unrelated:?}");
    assert!(unrelated.last().unwrap() < &0.35, "{unrelated:?}");
    assert_eq!(
        similarity(Name, "Erika Mustermann", "Mustermann, Erika"),
        1.0
    );
    assert!(similarity(Phone, "49404228384625", "49404228384626") > 0.6);
    assert!(similarity(Phone, "49404228384625", "13105550199") < 0.2);
}

proptest! {
    #[test]
    fn a_form_is_its_own_form(text in addresses()) {
        if let Some(first) = email_or_none(&text) {
            let again = email(&first.text()).unwrap();
            prop_assert_eq!(again.text(), first.text());
            let parts = first.parts();
            prop_assert!(first.domain.is_ascii() && first.domain.contains('.'));
            prop_assert!(parts.registrable.is_none_or(|name| first.domain.ends_with(&name)));
            prop_assert_eq!(email(&text.trim().to_uppercase()).is_ok() || !text.is_ascii(), true);
        }
    }

    #[test]
    fn any_text_is_a_number_or_is_not(text in any::<String>(), tail in "[-+0-9 ()/x#;=a-z٠-٩]{0,30}", region in "(DE|us|It|BR|CN|gb|AR|MX)") {
        for text in [text.clone(), tail.clone(), text + &tail] {
            if let Some(first) = phone_or_none(&text, &region) {
                prop_assert!(first.digits.bytes().all(|b| b.is_ascii_digit()));
                let again = phone(&format!("+{}", first.digits), "US").unwrap();
                prop_assert_eq!((again.digits, again.extension), (first.digits, None));
            }
        }
    }

    #[test]
    fn encodings_do_not_depend_on_the_spelling(name in "[a-zA-ZäöüéñŁß' -]{0,40}") {
        let collect = |name: &str| {
            let mut tokens = vec![];
            for_each_encoding(IdentityKind::Name, name, || (), |token| { tokens.push(token.to_owned()); Ok(()) }).unwrap();
            tokens
        };
        prop_assert_eq!(collect(&name), collect(&name.replace('ä', "a\u{308}").replace(' ', "  ")));
    }
}

/// Addresses, nearly so, and anything.
fn addresses() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "\\PC{0,12}@\\PC{1,12}\\.[a-z]{2,3}",
        "[a-zA-Z0-9.+_\"\\\\ ()-]{1,16}@(gmail|Yahoo|proton|x-y|müller|xn--mller-kva)\\.(com|me|co\\.uk)",
        "[a-zé]{0,5} ?<?[a-z.+-]{1,9}@[a-zäßа-я.-]{1,12}>?",
    ]
}
