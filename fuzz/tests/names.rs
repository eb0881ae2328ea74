//! What reads names: similarity, parts, forms.

use bloom_ident_fuzz::{fuzz, message};
use text::names;

fn seeds(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// Two names that are compared.
#[test]
fn names_compared() {
    let pairs = [
        "Erika Mustermann\nMustermann, Erika Anna",
        "Siemens AG\nSiemensAG",
        "aa ab\nab ac",
        "\n",
        "O'Brien\n高石 早苗",
    ];
    fuzz("names_compared", false, &seeds(&pairs), |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let (a, b) = text.split_once('\n').unwrap_or((&text, ""));
        let similarity = names::similarity(a, b, &names::Rarity::NONE, || ());
        assert!((0.0..=1.0).contains(&similarity), "{similarity}");
        let other = names::similarity(b, a, &names::Rarity::NONE, || ());
        assert_eq!(other, similarity);
        Ok(match similarity {
            0.0 => "none",
            1.0 => "equal",
            _ => "some",
        }
        .to_owned())
    });
}

/// A name that is taken apart.
#[test]
fn name_parts() {
    let names = [
        "Prof. Dr. Otto Graf von und zu Lambsdorff Jr.",
        "King, Martin Luther, Jr.",
        "María del Carmen García López",
        "Abd al-Rahman (Bob) ibn Khaldun",
        "高市早苗",
        "ジョン・スミス",
        "Kim Jong-un",
        "",
    ];
    let most = "ab ".repeat(names::MAX_PARTS + 1);
    let names: Vec<&str> = names.into_iter().chain([&*most]).collect();
    fuzz("name_parts", true, &seeds(&names), |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let parts = message(names::name_parts(&text, || ()))?;
        let no_blank =
            |part: &Option<String>| part.as_ref().is_none_or(|part| !part.trim().is_empty());
        assert!(no_blank(&parts.born) && no_blank(&parts.surname) && no_blank(&parts.given));
        let all = [
            &parts.titles,
            &parts.given,
            &parts.particles,
            &parts.surname,
            &parts.suffixes,
            &parts.nickname,
        ];
        let mut class = String::new();
        for part in all {
            assert!(part.as_ref().is_none_or(|part| !part.is_empty()));
            class += if part.is_some() { "some " } else { "none " };
        }
        let forms = message(names::name_forms(&text, names::FORMS_VERSION, || ()))?;
        assert!(forms.is_sorted());
        Ok(class)
    });
}
