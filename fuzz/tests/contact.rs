//! What reads telephone numbers, e-mail addresses, postal addresses and values of identities.

use bloom_ident_fuzz::fuzz;
use text::contact::{address_parts, email, phone, phone_or_none, MAX_ADDRESS_WORDS};
use text::identity::{for_each_encoding, IdentityKind};

fn seeds(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// An error's message and detail, up to the region that it names.
fn message<T>(result: base::Result<T>) -> Result<T, String> {
    result.map_err(|error| {
        let detail = error
            .detail_text()
            .unwrap_or("")
            .split(" number of ")
            .next();
        format!("{error}\" {}", detail.unwrap_or(""))
    })
}

#[test]
fn phones() {
    let numbers = [
        "DE040/422838-4625",
        "us1-800-FLOWERS",
        "US(650) 253-0000 ext. 123",
        "DEtel:040-4228384625;phone-context=+49",
        "DE;phone-context=+49tel:5",
        "IT02 1234 5678 int. 5",
        "BR0 15 21 2345-6789",
        "MX044 55 1234 5678",
        "DE+49 (0)40 422838;isub=1;ext=7",
        "DE٠٤٠٤٢٢٨٣٨٤٦٢٥",
        "XX1",
    ];
    fuzz("phones", true, &seeds(&numbers), |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let (region, text) = text.split_at_checked(2).unwrap_or((&text, ""));
        let first = phone(text, region);
        let or_none = phone_or_none(text, region);
        if first.is_ok() || or_none.is_none() {
            assert_eq!(or_none, first.clone().ok());
        } else {
            // a region that is not known, and a number that needs none
            assert!(phone(text, "").is_ok());
        }
        let first = message(first)?;
        let again = message(phone(&format!("+{}", first.digits), "DE"))?;
        assert_eq!(again.digits, first.digits);
        Ok(format!("extension: {}", first.extension.is_some()))
    });
}

#[test]
fn emails() {
    let addresses = [
        "\"Erika, M.\" <erika.m+x@gmail.com> (home (a\\)b))",
        "käthe@müller.de",
        "e@xn--mller-kva.de.",
        "\"two words\\\"\"@example.co.uk",
        "用户@例え。jp",
        "base-key@yahoo.com",
        "e@@x.de",
        "e@[192.0.2.1]",
        "e\u{37e}f@x.de",
    ];
    fuzz("emails", true, &seeds(&addresses), |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let first = message(email(&text))?;
        let again = message(email(&first.text()));
        assert_eq!(again.map(|again| again.text()), Ok(first.text()), "{text}");
        let parts = first.parts();
        Ok(format!(
            "free: {} quoted: {} registrable: {} tag: {}",
            parts.free,
            first.local.starts_with('"'),
            parts.registrable.is_some(),
            first.tag.is_some()
        ))
    });
}

#[test]
fn addresses() {
    let addresses = [
        "Hauptstr.12a - D-50667 Köln (Süd), Deutschland",
        "Flat 3, 12-14 High St, London SW1A 1AA",
        "350 W 42nd St #4B, New York, NY 10036-1234",
        "C/ Mayor 5, 3º B, 28013 Madrid",
        "12 bis rue du 8 mai 1945, 75001 Paris CEDEX 01",
        "Via 4 Novembre n. 10, 00187 Roma RM",
        "Mariahilfer Str. 5 a, 1060 Wien",
        "350 5th Ave New York",
    ];
    let most = "ab ".repeat(MAX_ADDRESS_WORDS + 1);
    let addresses: Vec<&str> = addresses.into_iter().chain([&*most]).collect();
    fuzz("addresses", true, &seeds(&addresses), |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let parts = message(address_parts(&text, || ()))?;
        let all = [&parts.street, &parts.number, &parts.postcode, &parts.city];
        let mut class = String::new();
        for part in all {
            assert!(part.as_ref().is_none_or(|part| !part.is_empty()));
            class += if part.is_some() { "some " } else { "none " };
        }
        Ok(class)
    });
}

#[test]
fn identities() {
    let values = [
        "email alex_lastname32@yahoo.com",
        "email 12@qq.com",
        "name Erika Mustermann",
        "phone 49404228384625",
        "text Hauptstraße 5",
        "iban DE",
    ];
    fuzz("identities", true, &seeds(&values), |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let (kind, value) = text.split_once(' ').unwrap_or((&text, ""));
        let kind = message(IdentityKind::of_name(kind))?;
        let mut n = 0;
        let count = |token: &str| {
            assert!(token.contains(':'));
            n += 1;
            Ok(())
        };
        message(for_each_encoding(kind, value, || (), count))?;
        Ok(format!("{kind:?} {}", n > 0))
    });
}
