//! Postal addresses taken apart. The rules are those of docs/addresses.md; they know no list of cities or streets.

mod postcode;
mod street;
mod words;

use base::{Error, ErrorKind, Result};
use postcode::{only_region, Kind};
use words::{
    begins_street, has_digit, is_country, is_county, is_department, is_region, is_state, is_street,
    key,
};

/// The parts of an address, with one blank between words as they are written; `None` for what it does not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressParts {
    /// Name of the street.
    pub street: Option<String>,
    /// Number of the house, with the letter behind it.
    pub number: Option<String>,
    /// Postcode in capitals, without letters of a country.
    pub postcode: Option<String>,
    /// City.
    pub city: Option<String>,
}

/// Takes an address apart, of German, English, Spanish, French, Italian or Danish habit.
///
/// Errors: more than [`MAX_ADDRESS_WORDS`] words, or [`MAX_ADDRESS`] bytes.
pub fn address_parts(text: &str, tick: impl FnMut()) -> Result<AddressParts> {
    let mut segments = segments(text, tick)?;
    drop_country(&mut segments);
    let mut with_region = false;
    while segments.len() > 1 && segments.last().is_some_and(|last| only_region(last)) {
        segments.pop();
        with_region = true;
    }
    let mut parts = AddressParts::default();
    let mut city = vec![];
    let streets = match postcode::postcode(&segments, with_region) {
        Some(found) => {
            parts.postcode = Some(found.text.clone());
            let own = segments.remove(found.segment);
            let mut behind = segments.split_off(found.segment);
            let (mut before, mut after) = (own[..found.from].to_vec(), own[found.to..].to_vec());
            if is_country(&after) {
                after.clear();
            }
            if !after.is_empty() {
                city = town(after);
                segments.push(before);
            } else {
                let region = before.last().is_some_and(|last| is_region(last));
                if region && found.kind != Kind::British {
                    before.pop();
                }
                let next = found.kind == Kind::Digits && !region && before.is_empty();
                if next && !behind.is_empty() {
                    city = town(behind.remove(0));
                } else if !before.is_empty() {
                    let (street, rest) = street::split_city(&before);
                    let inner = segments.len() > 1
                        && (segments.last())
                            .is_some_and(|last| is_town(last) && !begins_street(last))
                        && (is_state(&before) || is_county(&before));
                    if inner {
                        // Springfield, Illinois 62701
                        city = last_town(&mut segments);
                    } else if rest.is_empty()
                        && (found.segment > 0
                            || !before.iter().any(|w| is_street(w) || has_digit(w)))
                    {
                        city = before;
                    } else {
                        city = rest;
                        segments.push(street);
                    }
                } else {
                    city = last_town(&mut segments);
                    let alone = matches!(&segments[..], [only] if is_town(only) && !only.iter().any(|w| is_street(w)));
                    if city.is_empty() && region && alone {
                        // Keyser, WV 26726
                        city = segments.remove(0);
                    }
                }
            }
            segments.retain(|segment| !segment.is_empty());
            if segments.is_empty() {
                behind
            } else {
                segments
            }
        }
        None => {
            city = last_town(&mut segments);
            segments
        }
    };
    let only = streets.len() == 1;
    let (mut street, number, rest) = street::street(streets);
    if city.is_empty() {
        city = rest;
    }
    if city.is_empty() && only && parts.postcode.is_none() {
        (street, city) = street::part_english(&street, !number.is_empty());
    }
    parts.street = joined(&street);
    parts.number = joined(&number);
    parts.city = joined(&city);
    Ok(parts)
}

fn joined(words: &[&str]) -> Option<String> {
    let text = words.join(" ");
    // marks at the ends of words belong to none
    let text = text.trim_matches([' ', ':', '-', '/']);
    (!text.is_empty()).then(|| text.to_owned())
}

fn drop_country(segments: &mut Vec<Vec<&str>>) {
    while segments.len() > 1 && segments.last().is_some_and(|last| is_country(last)) {
        segments.pop();
    }
    if let Some(last) = segments.last_mut() {
        let at = last.len().saturating_sub(1);
        if at > 0 && is_country(&last[at..]) && has_digit(last[at - 1]) {
            last.pop();
        }
    }
}

/// The words of a city, without what is behind it: CEDEX, an Italian province.
fn town(mut words: Vec<&str>) -> Vec<&str> {
    if let Some(at) = words.iter().position(|word| key(word) == "cedex") {
        words.truncate(at);
    }
    if words.len() > 1 && words.last().is_some_and(|last| is_region(last)) {
        words.pop();
    }
    words
}

fn is_town(words: &[&str]) -> bool {
    !words.iter().any(|word| has_digit(word))
}

/// Takes the last segment that can be a city: one without digits, behind another segment, and no county.
fn last_town<'a>(segments: &mut Vec<Vec<&'a str>>) -> Vec<&'a str> {
    while segments.len() > 1 && segments.last().is_some_and(|last| only_region(last)) {
        segments.pop();
    }
    let colombian = segments.iter().any(|segment| street::is_colombian(segment));
    while segments.len() > 2
        && segments.last().is_some_and(|last| {
            is_county(last) || is_state(last) || colombian && is_department(last)
        })
        && is_town(&segments[segments.len() - 2])
        && !begins_street(&segments[segments.len() - 2])
    {
        segments.pop();
    }
    match segments.len() {
        2.. if segments.last().is_some_and(|last| is_town(last)) => {
            town(segments.pop().expect("not empty"))
        }
        _ => vec![],
    }
}

// The text of an address to its segments: what is parted by commas, lines and dashes.

/// Most words of an address. What is longer is none, and is refused.
pub const MAX_ADDRESS_WORDS: usize = 256;

/// Bytes of the longest address that is taken apart.
pub const MAX_ADDRESS: usize = 1 << 16;

/// Words, segment by segment; no segment is empty. What stands in parentheses is left out.
pub fn segments<'a>(text: &'a str, mut tick: impl FnMut()) -> Result<Vec<Vec<&'a str>>> {
    if text.len() > MAX_ADDRESS {
        let message = format!("address of {} bytes is too long", text.len());
        return Err(Error::new(ErrorKind::LimitExceeded, message)
            .detail(format!("An address has {MAX_ADDRESS} bytes at most.")));
    }
    let mut all = vec![vec![]];
    let mut words = 0;
    let mut hidden = 0usize;
    let mut from = 0;
    let mut before = ' ';
    let mut add = |all: &mut Vec<Vec<&'a str>>, word: &'a str| -> Result<()> {
        if word.is_empty() {
            return Ok(());
        }
        words += 1;
        if words > MAX_ADDRESS_WORDS {
            return Err(Error::new(
                ErrorKind::LimitExceeded,
                format!("address of more than {MAX_ADDRESS_WORDS} words"),
            )
            .detail("That is no postal address."));
        }
        all.last_mut().expect("one segment at least").push(word);
        Ok(())
    };
    for (at, c) in text.char_indices() {
        tick();
        let ends = matches!(c, ',' | ';' | '\n' | '\r' | '(' | ')');
        if ends || c.is_whitespace() {
            if hidden == 0 {
                add(&mut all, &text[from..at])?;
            }
            from = at + c.len_utf8();
        } else if before == '.' && c.is_ascii_digit() && !has_digit(&text[from..at]) {
            // Str.12
            if hidden == 0 {
                add(&mut all, &text[from..at])?;
            }
            from = at;
        }
        match c {
            '(' => hidden += 1,
            ')' => hidden = hidden.saturating_sub(1),
            _ if ends && hidden == 0 && all.last().is_some_and(|last| !last.is_empty()) => {
                all.push(vec![]);
            }
            _ => (),
        }
        before = c;
    }
    if hidden == 0 {
        add(&mut all, &text[from..])?;
    }
    Ok(all.iter().flat_map(|segment| parted(segment)).collect())
}

/// A segment, parted at dashes between blanks.
fn parted<'a>(segment: &[&'a str]) -> Vec<Vec<&'a str>> {
    segment
        .split(|word| matches!(*word, "-" | "–" | "—" | "|" | "·"))
        .filter(|part| !part.is_empty())
        .map(<[&str]>::to_vec)
        .collect()
}
