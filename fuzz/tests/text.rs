//! What reads text: normalisation, n-grams, check digits, similarity, abbreviations, sound, the text forms of
//! signatures and queries.

use std::collections::HashMap;

use base::ErrorKind;
use bloom_ident_fuzz::{fuzz, Outcome};
use signature::filter::typmod::Declared;
use signature::filter::{
    parse_text,
    query::{parse_query_text, write_query_text},
    typmod, write_text, QueryView, Shape, View,
};
use text::{self, ngram, Rules};

fn seeds(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

/// An error's message, and its detail up to what that quotes.
fn message<T>(result: base::Result<T>) -> Result<T, String> {
    result.map_err(|error| {
        let detail = error.detail_text().unwrap_or("").split('"').next();
        format!("{error}\" {}", detail.unwrap_or(""))
    })
}

/// Two texts, parted by the first line feed.
fn two(bytes: &[u8]) -> (String, String) {
    let text = String::from_utf8_lossy(bytes);
    let (a, b) = text.split_once('\n').unwrap_or((&text, ""));
    (a.to_owned(), b.to_owned())
}

#[test]
fn normalize() {
    let names = [
        "Müller-Lüdenscheidt",
        "Þórður ﬁsh ＡＢＣ１",
        "O'Brien d’Été",
        "たなか 김 Ωμέγα Жуков",
        "a\u{301}\u{308}_b  c",
        "İı ẞ",
    ];
    fuzz("normalize", false, &seeds(&names), |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let mut class = String::new();
        for filler in [false, true] {
            let normal = message(text::normalize(&text, filler, || ()))?;
            assert!(
                normal
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || filler && b == b'_'),
                "{normal}"
            );
            assert_eq!(message(text::normalize(&normal, filler, || ()))?, normal);
            class += if normal.is_empty() { "empty " } else { "text " };
        }
        Ok(class)
    });
}

#[test]
fn ngrams() {
    fuzz(
        "ngrams",
        true,
        &seeds(&["3erika", "2Erika Mustermann", "8 1 2", "9x"]),
        |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let length = bytes.first().map_or(0, |b| i64::from(*b) - i64::from(b'0'));
            let length = message(ngram::check_length(length))?;
            let mut seen = 0;
            for (rules, by_word) in Rules::all().flat_map(|rules| [(rules, false), (rules, true)]) {
                seen = 0;
                ngram::for_each_ngram(
                    &text,
                    rules,
                    length,
                    by_word,
                    |window, index| {
                        assert_eq!(ngram::index(&window.ngram()).ok(), Some(index));
                        seen += 1;
                    },
                    || (),
                );
                let set = message(ngram::ngram_set(&text, rules, length, by_word, || ()))?;
                assert!(set.is_sorted() && set.len() <= seen);
                let same = message(ngram::similarity(&text, &text, length, by_word, || ()))?;
                assert_eq!(same, if set.is_empty() { 0.0 } else { 1.0 });
            }
            message(ngram::index(&text))?;
            Ok(format!("n-grams: {}", seen > 0))
        },
    );
}

/// Similarity symbol by symbol, of two texts.
#[test]
fn edits() {
    let pairs = [
        "Martha\nMarhta",
        "Müller\nMuller",
        "ab ab ab\nba ba",
        "\n",
        "Коваль\n高石",
    ];
    fuzz("edits", false, &seeds(&pairs), |bytes| {
        let (a, b) = two(bytes);
        let mut class = String::new();
        type Similarity = fn(&str, &str) -> base::Result<f64>;
        let all: [Similarity; 3] = [
            |a, b| text::edit_similarity(a, b, || ()),
            |a, b| text::damerau_similarity(a, b, || ()),
            |a, b| text::jaro_winkler(a, b, || ()),
        ];
        for of in all {
            let similarity = message(of(&a, &b))?;
            assert!((0.0..=1.0).contains(&similarity), "{similarity}");
            assert!((message(of(&b, &a))? - similarity).abs() < 1e-12);
            class += match similarity {
                0.0 => "none ",
                1.0 => "equal ",
                _ => "some ",
            };
        }
        for of in [text::as_written::jaro, text::as_written::jaro_winkler] {
            let similarity = message(of(&a, &b))?;
            assert!((0.0..=1.0).contains(&similarity), "{similarity}");
            assert!((message(of(&b, &a))? - similarity).abs() < 1e-12);
        }
        let edits = message(text::as_written::damerau_levenshtein(&a, &b, || ()))?;
        assert_eq!(
            message(text::as_written::damerau_levenshtein(&b, &a, || ())),
            Ok(edits)
        );
        assert!(edits <= a.chars().count().max(b.chars().count()));
        Ok(class)
    });
}

/// Abbreviations: a language and a text, parted by a line feed.
#[test]
fn abbreviations() {
    let texts = [
        "de\nHauptstr. 5, 10115 Berlin",
        "en\nSt. James St., London",
        "es\nc/Mayor Mª",
        "fr\nbd St-Michel",
        "it\nF.lli Rossi S.p.A.",
        "xx\na",
    ];
    fuzz("abbreviations", true, &seeds(&texts), |bytes| {
        let (language, text) = two(bytes);
        let out = message(text::expand(&text, &language, 1, || ()))?;
        assert!(!out.starts_with(' ') && !out.ends_with(' ') && !out.contains("  "));
        assert!(out
            .bytes()
            .all(|b| b == b' ' || b.is_ascii_lowercase() || b.is_ascii_digit()));
        Ok(if out.is_empty() { "empty" } else { "text" }.to_owned())
    });
}

/// Abbreviations of one's own: a language, lines of an abbreviation and its words parted by an equals sign, and a text,
/// parted by line feeds.
#[test]
fn own_abbreviations() {
    let texts = [
        "de\nag nord=verein\nDie AG Nord, 5 kg",
        "en\nst=sankt\nhigh st=x y\n10 High St, St Ives",
        "es\nc o=a\nc/o C/Mayor Pº",
        "it\na=b\n",
        "xx\na",
    ];
    fuzz("own_abbreviations", true, &seeds(&texts), |bytes| {
        let (language, rest) = two(bytes);
        let (lines, text) = rest.rsplit_once('\n').unwrap_or(("", &rest));
        let plain = |text: &str| text::plain_words(text, || ()).unwrap();
        let own: HashMap<String, String> = lines
            .lines()
            .filter_map(|line| line.split_once('='))
            .map(|(short, long)| (plain(short), plain(long)))
            .filter(|(short, long)| !short.is_empty() && !long.is_empty())
            .collect();
        let out = message(text::expand_with(text, &language, 1, &own, || ()))?;
        assert!(
            !out.starts_with(' ') && !out.ends_with(' ') && !out.contains("  "),
            "{out:?}"
        );
        let asked = message(text::own_candidates(text, &language, 1, 1 << 20, || ()))?.unwrap();
        // those that are not asked for change nothing
        let of_asked = own.iter().filter(|(short, _)| asked.contains(short));
        let of_asked: HashMap<String, String> =
            of_asked.map(|(a, b)| (a.clone(), b.clone())).collect();
        assert_eq!(
            message(text::expand_with(text, &language, 1, &of_asked, || ()))?,
            out
        );
        if of_asked.is_empty() {
            assert_eq!(message(text::expand(text, &language, 1, || ()))?, out);
        }
        let few = message(text::own_candidates(text, &language, 1, 2, || ()))?;
        Ok(format!(
            "{} {} {}",
            out.is_empty(),
            of_asked.is_empty(),
            few.is_none()
        ))
    });
}

/// Codes of sound: the number of an algorithm, and a text.
#[test]
fn sounds() {
    const ALL: [&str; 8] = [
        "cologne",
        "soundex",
        "metaphone",
        "double_metaphone",
        "daitch_mokotoff",
        "nysiis",
        "caverphone",
        "beider_morse",
    ];
    let texts = [
        "0Schwarzenegger",
        "1Tymczak O'Brien",
        "2gnocchi",
        "3Jose Wright",
        "4Auerbach Peters",
        "5MacKnight",
        "6enough trough",
        "7Katz",
        "8x",
    ];
    fuzz("sounds", true, &seeds(&texts), |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let at = text.chars().next().map_or(0, |c| c as usize ^ 0x30);
        let name = ALL.get(at).copied().unwrap_or("none");
        let sound = message(name.parse())?;
        let mut words = 0;
        let each = |code: &str| {
            assert!(!code.is_empty() && code.is_ascii(), "{code:?}");
            words += 1;
            Ok(())
        };
        let rest = text.get(1..).unwrap_or("");
        message(text::for_each_sound(rest, sound, each, || ()))?;
        Ok(format!(
            "{name} {}",
            if words > 0 { "some" } else { "none" }
        ))
    });
}

#[test]
fn luhn() {
    fuzz(
        "luhn",
        true,
        &seeds(&[
            "4111111111111111",
            "79927398713",
            "4111 1111-1111 1111",
            "0",
            "4111111111111112",
        ]),
        |bytes| {
            let number = String::from_utf8_lossy(bytes);
            let digits: Option<Vec<u32>> = number
                .chars()
                .filter(|c| !" -".contains(*c))
                .map(|c| c.to_digit(10))
                .collect();
            let valid = digits.is_some_and(|digits| {
                let doubled = |(i, d): (usize, &u32)| {
                    if i % 2 == 0 {
                        *d
                    } else {
                        2 * d / 10 + 2 * d % 10
                    }
                };
                !digits.is_empty()
                    && digits.iter().rev().enumerate().map(doubled).sum::<u32>() % 10 == 0
            });
            assert_eq!(text::luhn(&number), valid);
            if valid {
                Ok("valid".into())
            } else {
                Err("not valid".into())
            }
        },
    );
}

const SIGNATURE: &str = "(2,5,3):1f03";

#[test]
fn signature_text() {
    fuzz(
        "signature_text",
        true,
        &seeds(&[
            SIGNATURE,
            "(1,5,2):00",
            " (2,5,3) : 1F03 ",
            "(7,43,3):",
            "(2,5,3,rules=1):1f03",
            "(2,5,0):1001",
            "(2,5,0,hash=1):1001",
            "(1,16,0,hash=2,id=00000000000000ab):0180",
            "(2,5,3,hash=3,id=0123456789abcdef):1f03",
        ]),
        |bytes| {
            let mut read = vec![];
            message(parse_text(&String::from_utf8_lossy(bytes), &mut read))?;
            let view = message(View::untrusted(&read)).expect("what is read is a signature");
            let (mut written, mut again) = (String::new(), vec![]);
            write_text(&view, &mut written);
            message(parse_text(&written, &mut again))?;
            assert_eq!(again, read);
            Ok(format!("empty: {}", view.popcount() == 0))
        },
    );
}

#[test]
fn query_text() {
    let query = format!("0.5 {SIGNATURE}");
    fuzz(
        "query_text",
        true,
        &seeds(&[
            &query,
            "1 (1,5,2):00",
            "0.5 (1,5,2):00 2 ab1",
            "0.5 (1,5,2):00 32 ab",
            "0.5 (1,5,2):00 2 a b",
            "2 (1,5,2):00",
            "-0 (1,5,2):00",
            "nan (1,5,2):00",
        ]),
        |bytes| -> Outcome {
            let mut read = vec![];
            message(parse_query_text(&String::from_utf8_lossy(bytes), &mut read))?;
            let view = message(QueryView::untrusted(&read)).expect("what is read is a query");
            let (mut written, mut again) = (String::new(), vec![]);
            write_query_text(&view, &mut written);
            message(parse_query_text(&written, &mut again))?;
            assert_eq!(again, read);
            Ok(format!("empty: {}", view.signature.popcount() == 0))
        },
    );
}

/// What stands between the parentheses of `bloom(k,p,q)`.
#[test]
fn type_modifier() {
    let declared = [
        "7,43,3",
        "64,8191,8",
        "1,5,2",
        " 7 ,+43, 3",
        "7,43",
        "7,43,3,1",
        "a,43,3",
        "65,43,3",
        "7,44,3",
        "7,43,9",
        "7,43,0",
        "clk,1024",
        "keyed,7,43,3",
    ];
    fuzz("type_modifier", true, &seeds(&declared), |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let written: Vec<&str> = text.split(',').collect();
        let parsed = typmod::parse(&typmod::BLOOM, &written);
        if let Err(error) = &parsed {
            assert_eq!(error.kind(), ErrorKind::InvalidParameter);
        }
        let declared = message(parsed)?;
        let packed = typmod::pack(declared);
        assert_eq!(typmod::unpack(packed), Ok(Some(declared)));
        let shown = typmod::show(packed);
        let inner = shown.strip_prefix('(').and_then(|s| s.strip_suffix(')'));
        let again: Vec<&str> = inner.expect("parentheses").split(',').collect();
        assert_eq!(typmod::parse(&typmod::BLOOM, &again), Ok(declared));
        let (of, shape) = match declared {
            Declared::Shape(shape) => (shape, shape),
            Declared::Keyed(shape) => (shape, shape.keyed(7).unwrap()),
            Declared::Records(bits) => {
                let shape = Shape::of_records(bits.into(), 7).unwrap();
                assert_eq!(typmod::enforce(&typmod::BLOOM, packed, shape), Ok(()));
                let other = Shape::of_records(i64::from(bits) % 65535 + 1, 7).unwrap();
                typmod::enforce(&typmod::BLOOM, packed, other).expect_err("another length");
                return Ok("records".to_owned());
            }
        };
        let (k, p, ngram) = (of.k(), of.p(), of.ngram());
        assert!(
            (1..=64).contains(&k)
                && (5..=8191).contains(&p)
                && (ngram == 0 || (2..=8).contains(&ngram))
        );
        assert!((2..p).take_while(|d| d * d <= p).all(|d| p % d > 0));
        assert_eq!(typmod::enforce(&typmod::BLOOM, packed, shape), Ok(()));
        let other = Shape::new(i64::from(k) % 64 + 1, p.into(), ngram.into()).unwrap();
        let refused = typmod::enforce(&typmod::BLOOM, packed, other).expect_err("another shape");
        assert_eq!(refused.kind(), ErrorKind::DataException);
        Ok(format!("one segment: {}, tokens: {}", k == 1, ngram == 0))
    });
}
