//! Where the postcode of an address is.

use super::street::is_colombian;
use super::words::{has_digit, is_number, is_region, is_street, BOXES, ENGLISH, UNITS};

/// Letters of countries before a postcode.
const COUNTRIES: [&str; 14] = [
    "D-", "DE-", "A-", "AT-", "CH-", "F-", "FR-", "E-", "ES-", "I-", "IT-", "US-", "DK-", "NZ-",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Digits, which stand before the city or behind it.
    Digits,
    /// Letters and digits, which stand behind the city.
    British,
    /// The same, behind city and province.
    Canadian,
}

/// Words `from..to` of segment `segment`.
#[derive(Debug)]
pub struct Postcode {
    pub segment: usize,
    pub from: usize,
    pub to: usize,
    pub kind: Kind,
    /// In one form: capitals, no letters of a country.
    pub text: String,
}

/// The last postcode of an address. A number that it begins with is that of a house if a kind of street or the region
/// of a state says so.
pub fn postcode(segments: &[Vec<&str>], with_region: bool) -> Option<Postcode> {
    let found = |length: usize| {
        for (segment, words) in segments.iter().enumerate().rev() {
            for at in (0..words.len()).rev() {
                let one = |to, kind, text| {
                    Some(Postcode {
                        segment,
                        from: at,
                        to,
                        kind,
                        text,
                    })
                };
                if length == 5 {
                    let lettered = |out: &str, inward: &str| {
                        let canadian = canadian(out, inward).map(|text| (Kind::Canadian, text));
                        canadian.or_else(|| Some((Kind::British, british(out, inward)?)))
                    };
                    if let Some((kind, text)) =
                        words.get(at + 1).and_then(|next| lettered(words[at], next))
                    {
                        return one(at + 2, kind, text);
                    }
                    let middle = words[at].len().wrapping_sub(3);
                    if let Some((out, inward)) = words[at].split_at_checked(middle) {
                        if let Some((kind, text)) = lettered(out, inward) {
                            return one(at + 1, kind, text);
                        }
                    }
                }
                let Some((text, named)) = digits(words[at], length) else {
                    continue;
                };
                let street = words.iter().any(|word| is_street(word));
                if segment == 0 && at == 0 && (with_region || street && words.len() > 1) && !named {
                    continue;
                }
                // four digits are a postcode only before the city, behind the street
                let city = words.get(at + 1).is_some_and(|next| {
                    next.chars().next().is_some_and(char::is_uppercase) && !has_digit(next)
                });
                let before_city = city
                    && if at == 0 {
                        // Aarhus C is in no calle
                        segment > 0 && !words.iter().any(|word| word.len() > 1 && is_street(word))
                    } else {
                        // Vesterbrogade 12 1620 København V
                        is_number(words[at - 1]) && words[..at - 1].iter().any(|w| is_street(w))
                    };
                let last = segment + 1 == segments.len();
                let placed = || before_city || last && behind_city(segments, words, at);
                if length == 4 && !named && !placed() {
                    continue;
                }
                return one(at + 1, Kind::Digits, text.to_owned());
            }
        }
        None
    };
    let colombian = segments.iter().any(|segment| is_colombian(segment));
    (colombian.then(|| found(6)).flatten())
        .or_else(|| found(5))
        .or_else(|| found(4))
}

/// Whether four digits are a postcode behind a city, as in New Zealand: Auckland 1010.
fn behind_city(segments: &[Vec<&str>], words: &[&str], at: usize) -> bool {
    let is_name = |word: &str| word.chars().next().is_some_and(char::is_uppercase);
    if at == 0 || at + 1 < words.len() || !is_name(words[at - 1]) || has_digit(words[at - 1]) {
        return false;
    }
    if segments.len() == 1 {
        // 12 Queen Street Auckland 1010
        let kind = words[1..at]
            .iter()
            .rposition(|word| ENGLISH.has_written(word));
        return is_number(words[0]) && kind.is_some_and(|kind| kind > 0 && kind + 2 < at);
    }
    // Kelburn Hill 6012, behind a street
    let street = segments[..segments.len() - 1]
        .iter()
        .any(|words| words.iter().any(|word| is_street(word)));
    !words[..at].iter().any(|word| {
        has_digit(word)
            || is_street(word) && !(street && ENGLISH.has_written(word))
            || UNITS.has_written(word)
            || BOXES.has_written(word)
    })
}

/// The digits of a postcode, and whether letters of a country stand before them.
fn digits(word: &str, length: usize) -> Option<(&str, bool)> {
    let bare = COUNTRIES
        .iter()
        .find_map(|country| word.strip_prefix(country));
    let text = bare.unwrap_or(word);
    let (head, tail) = text.split_once('-').unwrap_or((text, "0000"));
    let are = |text: &str, n: usize| text.len() == n && text.bytes().all(|b| b.is_ascii_digit());
    let long = length == 5 || text.len() == length;
    (are(head, length) && are(tail, 4) && long).then_some((text, bare.is_some()))
}

/// SW1A and 1AA, in capitals with a blank between.
fn british(out: &str, inward: &str) -> Option<String> {
    let out_form = |b: &[u8]| {
        let letters = b.iter().take_while(|b| b.is_ascii_alphabetic()).count();
        (1..=2).contains(&letters)
            && b.get(letters).is_some_and(u8::is_ascii_digit)
            && b.len() <= letters + 2
            && b.iter().all(u8::is_ascii_alphanumeric)
    };
    let in_form = |b: &[u8]| matches!(b, [d, x, y] if d.is_ascii_digit() && x.is_ascii_alphabetic() && y.is_ascii_alphabetic());
    (out_form(out.as_bytes()) && in_form(inward.as_bytes()))
        .then(|| format!("{out} {inward}").to_ascii_uppercase())
}

/// K1A and 0B1, in capitals with a blank between.
fn canadian(out: &str, inward: &str) -> Option<String> {
    let out_form = |b: &[u8]| matches!(b, [x, d, y] if x.is_ascii_alphabetic() && d.is_ascii_digit() && y.is_ascii_alphabetic());
    let in_form = |b: &[u8]| matches!(b, [c, x, d] if c.is_ascii_digit() && x.is_ascii_alphabetic() && d.is_ascii_digit());
    (out_form(out.as_bytes()) && in_form(inward.as_bytes()))
        .then(|| format!("{out} {inward}").to_ascii_uppercase())
}

/// Whether a segment is nothing but the region of a state: NY.
pub fn only_region(words: &[&str]) -> bool {
    matches!(words, [one] if is_region(one))
}
