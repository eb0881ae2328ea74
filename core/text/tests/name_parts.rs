//! Names taken apart: name_parts.json, which another program computes (tests/data/name_parts.py), the rules of
//! docs/names.md, one by one, and laws; forms of given names.

use base::ErrorKind;
use proptest::prelude::*;
use serde_json::Value;
use text::names::{name_forms, name_parts, NameParts, FORMS_VERSION, MAX_NAME, MAX_PARTS};
use text::normalize;

fn parts(text: &str) -> NameParts {
    name_parts(text, || ()).unwrap()
}

/// Given names, particles, surname, titles and suffixes with bars between.
fn shown(text: &str) -> String {
    let parts = parts(text);
    let all = [
        parts.given,
        parts.particles,
        parts.surname,
        parts.titles,
        parts.suffixes,
    ];
    all.map(Option::unwrap_or_default)
        .join("|")
        .trim_end_matches('|')
        .to_owned()
}

#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(&shown(text), expected, "{text}");
    }
}

#[test]
fn golden() {
    let golden = include_str!("../../../tests/data/name_parts.json");
    let all: Vec<Value> = serde_json::from_str(golden).unwrap();
    assert!(all.len() > 200);
    for case in &all {
        let of = |key: &str| case[key].as_str().unwrap();
        let parts = parts(of("name"));
        let [titles, given, particles, surname, suffixes] = [
            parts.titles,
            parts.given,
            parts.particles,
            parts.surname,
            parts.suffixes,
        ]
        .map(Option::unwrap_or_default);
        let surname = format!("{particles} {surname}");
        assert_eq!(
            [&*titles, &given, surname.trim(), &suffixes],
            ["titles", "given", "surname", "suffixes"].map(of),
            "{}",
            of("name")
        );
    }
}

#[test]
fn western_order_and_commas() {
    check(&[
        ("Erika Mustermann", "Erika||Mustermann"),
        ("Mustermann, Erika", "Erika||Mustermann"),
        ("Mustermann,Erika  Anna", "Erika Anna||Mustermann"),
        ("Mustermann", "||Mustermann"),
        ("John F. Kennedy", "John F.||Kennedy"),
        (
            "Müller-Lüdenscheidt, Hans-Peter",
            "Hans-Peter||Müller-Lüdenscheidt",
        ),
        ("DUPONT Jean", "Jean||DUPONT"),
        ("Jean DUPONT", "Jean||DUPONT"),
        ("JEAN DUPONT", "JEAN||DUPONT"),
        ("O'Brien, Conan", "Conan||O'Brien"),
        ("Иван Иванов", "Иван||Иванов"),
        ("", ""),
        (" , ;", ""),
        ("-", ""),
    ]);
}

#[test]
fn titles_and_suffixes() {
    check(&[
        ("Dr. Erika Mustermann", "Erika||Mustermann|Dr."),
        (
            "Prof. Dr. med. Erika Mustermann",
            "Erika||Mustermann|Prof. Dr. med.",
        ),
        ("Herr Dipl.-Ing. Max Muster", "Max||Muster|Herr Dipl.-Ing."),
        ("Mustermann, Dr. Erika", "Erika||Mustermann|Dr."),
        ("Erika Mustermann, Dr.", "Erika||Mustermann|Dr."),
        ("Dr. House", "||House|Dr."),
        ("Martin Luther King Jr.", "Martin Luther||King||Jr."),
        ("Martin Luther King, Jr.", "Martin Luther||King||Jr."),
        ("King, Martin Luther, Jr.", "Martin Luther||King||Jr."),
        ("King Jr., Martin Luther", "Martin Luther||King||Jr."),
        ("William Gates II", "William||Gates||II"),
        ("William H. Gates III", "William H.||Gates||III"),
        ("Sammy Davis Jr. PhD", "Sammy||Davis||Jr. PhD"),
        ("Jane Doe, M.D., Ph.D.", "Jane||Doe||M.D. Ph.D."),
        ("Sr. Juan Pérez", "Juan||Pérez|Sr."),
        ("John Smith Sr.", "John||Smith||Sr."),
        ("Jr.", "||Jr."),
        ("Dr.", "||Dr."),
    ]);
}

#[test]
fn names_at_birth() {
    for (text, born) in [
        ("Anna Müller geb. Schmidt", "Schmidt"),
        ("Anna Müller, geb. von Schmidt", "von Schmidt"),
        ("Müller geb. Schmidt, Anna", "Schmidt"),
        ("Müller, Anna, geborene Schmidt", "Schmidt"),
        ("Anna Müller (geb. Schmidt)", "Schmidt"),
        ("Anna Müller née Schmidt", "Schmidt"),
        ("Anna Müller nee Schmidt", "Schmidt"),
        ("Anna Müller, born Schmidt", "Schmidt"),
    ] {
        assert_eq!(shown(text), "Anna||Müller", "{text}");
        assert_eq!(parts(text).born.as_deref(), Some(born), "{text}");
    }
    for text in [
        "Max Born",
        "Born, Max",
        "Max Born Jr.",
        "geb. Schmidt",
        "geb.",
        "Brandon Nee Smith",
    ] {
        assert_eq!(parts(text).born, None, "{text}");
    }
}

#[test]
fn rulers_companies_and_two_persons() {
    check(&[
        ("King Charles III", "Charles|||King|III"),
        ("Prince Charles", "Charles|||Prince"),
        ("Papst Benedikt XVI.", "Benedikt|||Papst|XVI."),
        ("Papst Johannes Paul II.", "Johannes Paul|||Papst|II."),
        ("Kaiser Wilhelm II.", "Wilhelm|||Kaiser|II."),
        ("Kaiser Franz", "Kaiser||Franz"),
        ("Stephen King", "Stephen||King"),
        ("Martin Luther King", "Martin Luther||King"),
        ("Prince Rogers Nelson", "Prince Rogers||Nelson"),
        ("Müller GmbH", "||Müller GmbH"),
        ("Hans Müller GmbH & Co. KG", "||Hans Müller GmbH & Co. KG"),
        ("Siemens AG", "||Siemens AG"),
        ("Sportverein Ulm e.V.", "||Sportverein Ulm e.V."),
        ("Acme, Inc.", "||Acme Inc."),
        ("García S.L.", "||García S.L."),
        ("KIM SE", "SE||KIM"),
        ("Sa Kim", "Sa||Kim"),
        ("Hans & Anna Müller", "Hans & Anna||Müller"),
        ("Müller, Hans & Anna", "Hans & Anna||Müller"),
        ("Hans und Anna Müller", "Hans und Anna||Müller"),
        ("Hans Huber & Anna Meier", "||Hans Huber & Anna Meier"),
        ("& Huber &", "||Huber"),
        ("Anne-Marie 't Hart", "Anne-Marie|'t|Hart"),
        ("Gerard van 't Hooft", "Gerard|van 't|Hooft"),
        ("محمد بن سلمان", "محمد|بن|سلمان"),
        ("Sun Yat-sen", "Yat-sen||Sun"),
        ("Ban Ki-moon", "Ki-moon||Ban"),
        ("Roh Moo-hyun", "Moo-hyun||Roh"),
        ("Chiang Kai-shek", "Kai-shek||Chiang"),
        ("Wong Kar-wai", "Kar-wai||Wong"),
        ("Jean-Luc Picard", "Jean-Luc||Picard"),
        ("Lee Ann-Marie", "Lee||Ann-Marie"),
    ]);
}

#[test]
fn particles() {
    check(&[
        ("Johann Wolfgang von Goethe", "Johann Wolfgang|von|Goethe"),
        ("von Goethe, Johann Wolfgang", "Johann Wolfgang|von|Goethe"),
        ("Goethe, Johann Wolfgang von", "Johann Wolfgang|von|Goethe"),
        ("Ludwig van Beethoven", "Ludwig|van|Beethoven"),
        ("Jan van der Berg", "Jan|van der|Berg"),
        ("Charles de la Tour", "Charles|de la|Tour"),
        ("von Goethe", "|von|Goethe"),
        ("Van Morrison", "Van||Morrison"),
        ("Usama bin Laden", "Usama|bin|Laden"),
        ("Bashar al-Assad", "Bashar|al-|Assad"),
        ("Bashar Al Assad", "Bashar|Al|Assad"),
        ("al-Assad, Bashar", "Bashar|al-|Assad"),
        ("Abd al-Rahman ibn Khaldun", "Abd al-Rahman|ibn|Khaldun"),
        ("Charles d'Artagnan", "Charles|d'|Artagnan"),
        ("Beverly D'Angelo", "Beverly||D'Angelo"),
    ]);
}

#[test]
fn nobility() {
    check(&[
        ("Otto Graf Lambsdorff", "Otto||Lambsdorff|Graf"),
        (
            "Otto Friedrich Wilhelm Freiherr von der Wenge Graf Lambsdorff",
            "Otto Friedrich Wilhelm|von der|Wenge Lambsdorff|Freiherr Graf",
        ),
        (
            "Karl-Theodor Freiherr von und zu Guttenberg",
            "Karl-Theodor|von und zu|Guttenberg|Freiherr",
        ),
        ("Lambsdorff, Otto Graf", "Otto||Lambsdorff|Graf"),
        (
            "Guttenberg, Karl-Theodor Freiherr von und zu",
            "Karl-Theodor|von und zu|Guttenberg|Freiherr",
        ),
        ("Dr. Otto Graf Lambsdorff", "Otto||Lambsdorff|Dr. Graf"),
        ("Steffi Graf", "Steffi||Graf"),
        ("Graf, Steffi", "Steffi||Graf"),
        ("Graf Zahl", "||Zahl|Graf"),
        ("Birgit Prinz", "Birgit||Prinz"),
    ]);
}

#[test]
fn two_surnames() {
    check(&[
        ("Gabriel García Márquez", "Gabriel||García Márquez"),
        ("Pablo Ruiz Picasso", "Pablo||Ruiz Picasso"),
        ("José Ortega y Gasset", "José||Ortega y Gasset"),
        (
            "María del Carmen García López",
            "María del Carmen||García López",
        ),
        ("Juan García", "Juan||García"),
        ("García Márquez, Gabriel", "Gabriel||García Márquez"),
        (
            "Félix Rodríguez de la Fuente",
            "Félix||Rodríguez de la Fuente",
        ),
        ("María del Carmen", "María|del|Carmen"),
    ]);
}

#[test]
fn surname_first() {
    check(&[
        ("毛泽东", "泽东||毛"),
        ("欧阳修", "修||欧阳"),
        ("高市早苗", "早苗||高市"),
        ("高市 早苗", "早苗||高市"),
        ("김철수", "철수||김"),
        ("남궁민수", "민수||남궁"),
        ("김 철수", "철수||김"),
        ("さくら", "||さくら"),
        ("ジョン・スミス", "ジョン||スミス"),
        ("约翰·史密斯", "约翰||史密斯"),
        ("Mao Zedong", "Zedong||Mao"),
        ("Kim Jong-un", "Jong-un||Kim"),
        ("Kim Jong Il", "Jong Il||Kim"),
        ("Lee Kun-hee", "Kun-hee||Lee"),
        ("Nguyen Van Thieu", "Van Thieu||Nguyen"),
        ("Kim Basinger", "Kim||Basinger"),
        ("Lee Harvey Oswald", "Lee Harvey||Oswald"),
        ("Jackie Chan", "Jackie||Chan"),
        ("Thanh Nguyen", "Thanh||Nguyen"),
    ]);
}

#[test]
fn nicknames() {
    for text in [
        "William \"Bill\" Gates",
        "William (Bill) Gates",
        "William „Bill“ Gates",
        "Gates, William (Bill)",
    ] {
        assert_eq!(parts(text).nickname.as_deref(), Some("Bill"), "{text}");
        assert_eq!(shown(text), "William||Gates", "{text}");
    }
    assert_eq!(parts("William (Bill Gates").nickname, None);
    assert_eq!(parts("()").nickname, None);
}

#[test]
fn forms() {
    let of = |name: &str| name_forms(name, 1, || ()).unwrap();
    for (form, name) in [
        ("Bill", "William"),
        ("BOB", "Robert"),
        ("Peggy", "Margaret"),
        ("Pepa", "Josefa"),
        ("Sascha", "Alexander"),
        ("Саша", "Aleksandr"),
        ("Gosia", "Małgorzata"),
        ("Sepp", "Josef"),
        ("Paco", "Francisco"),
        ("Beppe", "Giuseppe"),
        ("Jaap", "Jacobus"),
    ] {
        let normal = normalize(name, false, || ()).unwrap();
        assert!(of(form).contains(&normal), "{form}: {:?}", of(form));
        assert!(of(name).contains(&normal), "{name}");
        assert!(of(form).is_sorted());
    }
    assert!(of("Josefa").contains(&"josefa".to_owned()));
    assert!(!of("Josefa").contains(&"pepa".to_owned()));
    assert_eq!(of("Xqzt"), ["xqzt"]);
    assert_eq!(of(" -"), [""; 0]);
    assert_eq!(of(&"a".repeat(MAX_NAME)).len(), 1);
    for version in [0, FORMS_VERSION + 1, -1, i64::MAX] {
        let error = name_forms("Bill", version, || ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParameter);
    }
}

#[test]
fn initials_are_no_surname() {
    for name in [
        "J.K. Rowling",
        "JK Rowling",
        "C.S. Lewis",
        "JRR Tolkien",
        "JD Vance",
        "H.-P. Müller",
    ] {
        let (given, surname) = name.split_once(' ').unwrap();
        assert_eq!(shown(name), format!("{given}||{surname}"));
    }
    assert_eq!(shown("DUPONT Jean"), "Jean||DUPONT");
    assert_eq!(shown("KIM Anna"), "Anna||KIM");
}

#[test]
fn two_surnames_are_those_of_spanish_use() {
    for (name, expected) in [
        ("Hans Martin Schleyer", "Hans Martin||Schleyer"),
        ("Paul Leon Meier", "Paul Leon||Meier"),
        ("Juan Martin Garcia", "Juan||Martin Garcia"),
        ("Gabriel García Márquez", "Gabriel||García Márquez"),
        ("Juan de la Cruz Ramirez", "Juan|de la|Cruz Ramirez"),
        ("Carlos de León García", "Carlos|de|León García"),
        ("Pedro del Castillo Moreno", "Pedro|del|Castillo Moreno"),
        ("Maria dos Santos Silva", "Maria|dos|Santos Silva"),
        ("Maria da Silva Santos", "Maria|da|Silva Santos"),
        (
            "María del Carmen García López",
            "María del Carmen||García López",
        ),
    ] {
        assert_eq!(shown(name), expected, "{name}");
    }
}

#[test]
fn what_is_too_long_is_refused() {
    let name = "ab ".repeat(MAX_PARTS);
    assert!(parts(&name).surname.is_some());
    for many in ["ab ", "()", "("] {
        let error = name_parts(&many.repeat(MAX_PARTS + 1), || ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{many}");
    }
    let word = "a".repeat(MAX_NAME);
    assert!(parts(&word).surname.is_some());
    assert_eq!(
        parts(&format!("Wang {}", &word[5..])).given.as_deref(),
        Some("Wang")
    );
    let longer = word + "a";
    for error in [
        name_parts(&longer, || ()).unwrap_err(),
        name_forms(&longer, 1, || ()).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    }
}

proptest! {
    #[test]
    fn no_letter_is_lost(text in "[A-Za-zäé.,' -]{0,40}|(Dr|Graf|von|al-|van|Jr|II|Garcia|Maria|del|Kim|Li|Xu|abd|und|y|geb.|née|born|,|Sr| |-){0,12}|\\PC{0,30}|[高市早苗김철수ジョン・ ]{0,8}") {
        let parts = parts(&text);
        let letters = |text: &str| {
            let mut letters: Vec<char> = text.chars().filter(|c| c.is_alphanumeric()).collect();
            letters.sort_unstable();
            letters.into_iter().collect::<String>()
        };
        let all = [&parts.titles, &parts.given, &parts.particles, &parts.surname, &parts.suffixes, &parts.nickname, &parts.born];
        let all: Vec<&str> = all.into_iter().flatten().map(String::as_str).collect();
        prop_assert!(all.iter().all(|part| !part.is_empty()));
        let whole = all.join(" ");
        // A word without a symbol in its normal form is dropped, and so is the one that announces a name at birth.
        if letters(&whole) != letters(&text) {
            let announced = if parts.born.is_some() { 5 } else { 0 };
            let [left, before] = [&*whole, &*text].map(|t| normalize(t, false, || ()).unwrap().len());
            prop_assert!(whole.len() < text.len() && left <= before && left + announced >= before, "{left} of {before}");
        }
        prop_assert!(parts.nickname.is_some() || parts.surname.is_some() || all.is_empty(), "{:?}", parts);
    }
}
