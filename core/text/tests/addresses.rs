//! Addresses taken apart: address_parts.json, which another program computes (tests/data/address_parts.py), the rules
//! of docs/addresses.md, and laws.

use base::ErrorKind;
use proptest::prelude::*;
use serde_json::Value;
use text::contact::{address_parts, AddressParts, MAX_ADDRESS, MAX_ADDRESS_WORDS};

fn parts(text: &str) -> AddressParts {
    address_parts(text, || ()).unwrap()
}

/// Street, number, postcode and city with bars between.
fn shown(text: &str) -> String {
    let parts = parts(text);
    [parts.street, parts.number, parts.postcode, parts.city]
        .map(Option::unwrap_or_default)
        .join("|")
}

#[test]
fn golden() {
    let golden = include_str!("../../../tests/data/address_parts.json");
    let all: Vec<Value> = serde_json::from_str(golden).unwrap();
    assert_eq!(all.len(), 660);
    let mut wrong = vec![];
    for case in &all {
        let expected =
            ["street", "number", "postcode", "city"].map(|key| case[key].as_str().unwrap());
        let text = case["text"].as_str().unwrap();
        let got = shown(text);
        if got != expected.join("|") {
            wrong.push(format!("{text:?}: {got}"));
        }
    }
    assert!(wrong.is_empty(), "{}: {}", wrong.len(), wrong.join("\n"));
}

/// As people have labelled them for the parsers usaddress (measure_performance/test_data, aa7699b) and libpostal
/// (test/test_parser.c, 4c030d8), both MIT.
#[test]
fn labelled_by_others() {
    for (text, expected) in [
        ("Keyser, WV 26726", "||26726|Keyser"),
        (
            "Highway 80, Allentown, GA 31003",
            "Highway 80||31003|Allentown",
        ),
        (
            "Highway 59 North, Detroit Lakes, MN 56501",
            "Highway 59 North||56501|Detroit Lakes",
        ),
        (
            "Route 16, North Conway, NH 03860",
            "Route 16||03860|North Conway",
        ),
        (
            "1202 A Avenue, Douglas, AZ 85607",
            "A Avenue|1202|85607|Douglas",
        ),
        (
            "3320 M Street Northwest, Washington, DC 20007",
            "M Street Northwest|3320|20007|Washington",
        ),
        (
            "9112 Mendenhall Mall Road, Juneau, AK 99801",
            "Mendenhall Mall Road|9112|99801|Juneau",
        ),
        (
            "496 Broad Street, San Luis Obispo, California 93405",
            "Broad Street|496|93405|San Luis Obispo",
        ),
        (
            "1400 West Transport Road, Fayetteville, AR, 72704",
            "West Transport Road|1400|72704|Fayetteville",
        ),
        (
            "1600 Pennsylvania Ave NW, Washington D.C. 20500",
            "Pennsylvania Ave NW|1600|20500|Washington",
        ),
        (
            "29 Lottbridge Drove, Eastbourne, East Sussex BN23 6QD",
            "Lottbridge Drove|29|BN23 6QD|Eastbourne",
        ),
        (
            "The Rushes, Loughborough, Leicestershire LE11 5BG, United Kingdom",
            "The Rushes||LE11 5BG|Loughborough",
        ),
        (
            "44 Court St, 6th Floor, Brooklyn 11201",
            "Court St|44|11201|Brooklyn",
        ),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn habits_of_countries() {
    for (text, expected) in [
        ("Hauptstr. 12a, 50667 Köln", "Hauptstr.|12a|50667|Köln"),
        ("12 High St, London SW1A 1AA", "High St|12|SW1A 1AA|London"),
        (
            "350 5th Ave Apt 4B, New York, NY 10118",
            "5th Ave|350|10118|New York",
        ),
        ("C/ Mayor 5, 3º B, 28013 Madrid", "C/ Mayor|5|28013|Madrid"),
        (
            "12 bis rue de Rivoli, 75001 Paris",
            "rue de Rivoli|12 bis|75001|Paris",
        ),
        ("Via Roma 10, 00184 Roma", "Via Roma|10|00184|Roma"),
        // Canadian
        (
            "123 Main St, Toronto, ON M5V 2T6, Canada",
            "Main St|123|M5V 2T6|Toronto",
        ),
        (
            "1234 rue Sainte-Catherine Ouest, Montréal QC H3B1A7",
            "rue Sainte-Catherine Ouest|1234|H3B 1A7|Montréal",
        ),
        (
            "10 Bay Street, Ottawa, Ontario, K1A 0B1",
            "Bay Street|10|K1A 0B1|Ottawa",
        ),
        (
            "12, rue Saint-Jean, Québec (Québec) G1R 4S9",
            "rue Saint-Jean|12|G1R 4S9|Québec",
        ),
        (
            "45 King St W Suite 200, Québec, QC G1R 4S9",
            "King St W|45|G1R 4S9|Québec",
        ),
        (
            "12 Granville Street Vancouver BC V6C 1T2",
            "Granville Street|12|V6C 1T2|Vancouver",
        ),
        // Colombian
        ("Calle 100 # 19-54, Bogotá", "Calle 100|19-54||Bogotá"),
        (
            "Carrera 7 No. 71-21, Bogotá D.C., 110221",
            "Carrera 7|71-21|110221|Bogotá",
        ),
        (
            "Cra. 15 #93-60 Apto 501, Bogotá, Colombia",
            "Cra. 15|93-60||Bogotá",
        ),
        (
            "Av. Calle 26 Sur # 69-76 Este, Medellín, Antioquia",
            "Av. Calle 26 Sur|69-76 Este||Medellín",
        ),
        // Danish
        (
            "Vesterbrogade 12, 2. tv., 1620 København V",
            "Vesterbrogade|12|1620|København V",
        ),
        (
            "Vesterbrogade 12 1620 København V",
            "Vesterbrogade|12|1620|København V",
        ),
        (
            "Nørregade 5B, st. th., DK-1165 København K, Danmark",
            "Nørregade|5B|1165|København K",
        ),
        (
            "Store Torv 1, 3. sal, 8000 Aarhus C",
            "Store Torv|1|8000|Aarhus C",
        ),
        // of New Zealand
        (
            "12 Queen Street, Auckland 1010, New Zealand",
            "Queen Street|12|1010|Auckland",
        ),
        (
            "2/15 Lambton Quay, Wellington Central, Wellington 6011",
            "Lambton Quay|2/15|6011|Wellington",
        ),
        (
            "12 Queen Street Auckland 1010",
            "Queen Street|12|1010|Auckland",
        ),
        ("PO Box 123, Wellington 6140", "PO Box|123|6140|Wellington"),
        ("12 High St, PO Box 1234", "High St|12||"),
        ("12 High St, Suite 1234", "High St|12||"),
        // street and city without a comma
        ("Oxford St London", "Oxford St|||London"),
        ("12 Oxford St London", "Oxford St|12||London"),
        ("High Street St Albans", "High Street|||St Albans"),
        (
            "Church Street East Milton Keynes",
            "Church Street East|||Milton Keynes",
        ),
        ("Church Lane", "Church Lane|||"),
        ("Notting Hill Gate", "Notting Hill Gate|||"),
        ("St Mary Street", "St Mary Street|||"),
        ("Court Road Gardens Square", "Court Road Gardens Square|||"),
        // German
        (
            "Hauptstraße 12 a\nD-50667 Köln\nDeutschland",
            "Hauptstraße|12 a|50667|Köln",
        ),
        ("Hauptstr.12 50667 Köln", "Hauptstr.|12|50667|Köln"),
        ("50667 Köln, Hauptstr. 12a", "Hauptstr.|12a|50667|Köln"),
        (
            "Straße des 17. Juni 135, 10623 Berlin",
            "Straße des 17. Juni|135|10623|Berlin",
        ),
        (
            "Straße des 17. Juni, 10623 Berlin",
            "Straße des 17. Juni||10623|Berlin",
        ),
        (
            "Unter den Linden 12-14, 2. OG, 10117 Berlin",
            "Unter den Linden|12-14|10117|Berlin",
        ),
        (
            "Mariahilfer Str. 5/3, 1060 Wien, Österreich",
            "Mariahilfer Str.|5/3|1060|Wien",
        ),
        ("Hauptstraße 12a Köln", "Hauptstraße|12a||Köln"),
        ("Hauptstraße 12a, Köln", "Hauptstraße|12a||Köln"),
        ("Postfach 1234, 50667 Köln", "Postfach|1234|50667|Köln"),
        ("50667 Köln", "||50667|Köln"),
        ("Hauptstr. 12a", "Hauptstr.|12a||"),
        (
            "Hauptstr. 12a, 50667 Frankfurt am Main (Höchst)",
            "Hauptstr.|12a|50667|Frankfurt am Main",
        ),
        // English
        (
            "Flat 3, 12-14 High Street, Oxford, Oxfordshire, OX1 1AA, UK",
            "High Street|12-14|OX1 1AA|Oxford",
        ),
        ("12 high st london sw1a1aa", "high st|12|SW1A 1AA|london"),
        (
            "Rose Cottage, Church Lane, Oxford OX1 1AA",
            "Church Lane||OX1 1AA|Oxford",
        ),
        (
            "350 W 42nd St #4B, New York NY 10036-1234, USA",
            "W 42nd St|350|10036-1234|New York",
        ),
        (
            "12345 Main St, Springfield, IL 62701",
            "Main St|12345|62701|Springfield",
        ),
        ("12345 Broadway, New York, NY", "Broadway|12345||New York"),
        (
            "12 1/2 Oak Ave, Salem, OR 97301",
            "Oak Ave|12 1/2|97301|Salem",
        ),
        (
            "350 Park Ave S New York NY 10010",
            "Park Ave S|350|10010|New York",
        ),
        // Spanish
        (
            "Calle de Alcalá, 42, 3º izq., 28014 Madrid (España)",
            "Calle de Alcalá|42|28014|Madrid",
        ),
        (
            "Avda. de la Constitución s/n, 41001 Sevilla",
            "Avda. de la Constitución||41001|Sevilla",
        ),
        (
            "Calle Mayor nº 5, Valladolid, 47001",
            "Calle Mayor|5|47001|Valladolid",
        ),
        (
            "Calle 2 de Mayo 7, 28004 Madrid",
            "Calle 2 de Mayo|7|28004|Madrid",
        ),
        // French
        (
            "12, rue de Rivoli, 75001 PARIS CEDEX 01",
            "rue de Rivoli|12|75001|PARIS",
        ),
        (
            "5 B rue du 8 mai 1945, 69003 Lyon, France",
            "rue du 8 mai 1945|5 B|69003|Lyon",
        ),
        (
            "rue du 8 mai 1945, 69003 Lyon",
            "rue du 8 mai 1945||69003|Lyon",
        ),
        // Italian
        (
            "Via 4 Novembre 10 - 00187 Roma RM",
            "Via 4 Novembre|10|00187|Roma",
        ),
        (
            "Corso Italia, 10/A, int. 5, 20122 Milano (MI)",
            "Corso Italia|10/A|20122|Milano",
        ),
        (
            "Via XX Settembre 5\n00187 Roma",
            "Via XX Settembre|5|00187|Roma",
        ),
        // nothing to take apart
        ("", "|||"),
        (" , ; ()", "|||"),
        ("12", "|12||"),
        ("улица Ленина 5, Москва", "улица Ленина|5||Москва"),
        ("高石", "高石|||"),
    ] {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn no_address_of_many_words() {
    let most = "a ".repeat(MAX_ADDRESS_WORDS);
    assert!(address_parts(&most, || ()).is_ok());
    let error = address_parts(&format!("{most}a"), || ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::LimitExceeded);
    assert!(address_parts(&"a".repeat(MAX_ADDRESS), || ()).is_ok());
    let longer = address_parts(&"a".repeat(MAX_ADDRESS + 1), || ()).unwrap_err();
    assert_eq!(longer.kind(), ErrorKind::LimitExceeded);
    let mut ticks = 0;
    let _ = address_parts(&"(".repeat(MAX_ADDRESS), || ticks += 1);
    assert!(ticks >= MAX_ADDRESS, "{ticks}");
}

proptest! {
    /// Whatever comes in, each part is made of its words, and no part is empty or has blanks at its ends.
    #[test]
    fn parts_are_of_the_text(text in "[A-Za-zäßº0-9.,;()#/ \n-]{0,60}|\\PC{0,40}") {
        let parts = parts(&text);
        for part in [&parts.street, &parts.number, &parts.city].into_iter().flatten() {
            prop_assert!(!part.is_empty() && part.trim() == part, "{part:?}");
            for word in part.split(' ') {
                prop_assert!(text.contains(word), "{word:?}");
            }
        }
    }

    /// How a German address is put together does not matter.
    #[test]
    fn composed(number in 1u32..9999, letter in "[a-d]?", code in 10_000u32..99_999, between in "(, |\n|; | - )") {
        let text = format!("Lindenweg {number}{letter}{between}{code} Bonn");
        prop_assert_eq!(shown(&text), format!("Lindenweg|{number}{letter}|{code}|Bonn"));
        let turned = format!("{code} Bonn{between}Lindenweg {number}{letter}");
        prop_assert_eq!(shown(&turned), format!("Lindenweg|{number}{letter}|{code}|Bonn"));
    }
}
