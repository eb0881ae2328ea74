//! Name of the street and number of the house, from what is left when the city is taken away.

use super::words::*;

/// Words of the street, of the number, and what stands behind a number and may be a city.
pub type Street<'a> = (Vec<&'a str>, Vec<&'a str>, Vec<&'a str>);

/// The street among segments. The first with a name and a number is it, then a name beside a number in a segment of its
/// own, then the first with a kind of street, then the first.
pub fn street(segments: Vec<Vec<&str>>) -> Street<'_> {
    let segments: Vec<Vec<&str>> = segments
        .iter()
        .map(|segment| without_units(segment))
        .filter(|segment| !segment.is_empty())
        .collect();
    for (at, segment) in segments.iter().enumerate() {
        if is_only_number(segment) {
            let before = at.checked_sub(1).map(|before| &segments[before]);
            if let Some(name) = before.or(segments.get(at + 1)) {
                return (name.clone(), segment.clone(), vec![]);
            }
        }
        // a name is followed by its number rather in the next segment than in one behind
        let next = segments
            .get(at + 1)
            .is_some_and(|next| is_only_number(next));
        if let Some(found) = numbered(segment).filter(|_| !next) {
            return found;
        }
    }
    let named = |segment: &&Vec<&str>| segment.iter().any(|word| is_street(word));
    match segments.iter().find(named).or(segments.first()) {
        Some(one) if is_only_number(one) => (vec![], one.clone(), vec![]),
        Some(one) => (one.clone(), vec![], vec![]),
        None => Street::default(),
    }
}

/// Street and city of a segment that has both and no postcode between.
pub fn split_city<'a>(segment: &[&'a str]) -> (Vec<&'a str>, Vec<&'a str>) {
    let words = without_units(segment);
    if words.first().is_some_and(|first| is_number(first)) {
        let kind = (2..words.len()).find(|&at| ENGLISH.has_written(words[at]));
        if let Some(mut at) = kind {
            while words
                .get(at + 1)
                .is_some_and(|next| DIRECTIONS.has_written(next))
            {
                at += 1;
            }
            return (words[..=at].to_vec(), words[at + 1..].to_vec());
        }
        return (words, vec![]);
    }
    match numbered(&words) {
        Some((mut street, number, rest)) if !rest.is_empty() => {
            street.extend(number);
            (street, rest)
        }
        _ => (words, vec![]),
    }
}

fn is_only_number(words: &[&str]) -> bool {
    match words {
        [] => false,
        [first, rest @ ..] => is_number(first) && rest.iter().all(|word| is_letter(word)),
    }
}

/// A letter behind a number, or what counts houses of one number.
fn is_letter(word: &str) -> bool {
    REPEATED.has_written(word) || word.len() == 1 && word.as_bytes()[0].is_ascii_alphabetic()
}

/// Drops what names flats, floors and doors, words for "number", and signs for none.
fn without_units<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let mut kept: Vec<&str> = Vec::with_capacity(words.len());
    let mut at = 0;
    while let Some(&word) = words.get(at) {
        let next = words.get(at + 1).copied();
        let names_one = |next: &str| has_digit(next) || next.chars().count() == 1;
        let names_unit = UNITS.has_written(word) && next.is_some_and(names_one)
            || is_ordinal(word) && next.is_some_and(|next| FLOORS.has_written(next));
        let is_door = is_ordinal(word)
            && !word.ends_with('.')
            && (kept.is_empty() && words.len() <= at + 3
                || kept.last().is_some_and(|last| is_number(last)))
            && next.is_none_or(is_side);
        let is_sign = word.starts_with('#') && word.len() > 1 && kept.iter().any(|k| is_number(k))
            || UNNUMBERED.has_written(word)
            || NUMBERED.has_written(word) && next.is_some_and(is_number);
        if names_unit || is_door && next.is_some() {
            at += 2;
        } else if is_door || is_sign {
            at += 1;
        } else {
            let bare = ["nº", "n°", "Nº", "N°", "#"]
                .iter()
                .find_map(|sign| word.strip_prefix(sign))
                .filter(|rest| is_number(rest));
            kept.push(bare.unwrap_or(word));
            at += 1;
        }
    }
    kept
}

/// A name and the number before it or behind it.
fn numbered<'a>(words: &[&'a str]) -> Option<Street<'a>> {
    // 8 mai 1945: the day, and the year behind day and month
    let is_date = |at: usize| {
        let month = |at: usize| words.get(at).is_some_and(|word| MONTHS.has_written(word));
        let year = at >= 2 && words[at].len() == 4 && month(at - 1) && has_digit(words[at - 2]);
        month(at + 1) || year
    };
    let has_name = |words: &[&str]| {
        words
            .iter()
            .any(|word| word.chars().any(char::is_alphabetic))
    };
    let end_of = |at: usize, leading: bool| {
        let mut end = at + 1;
        while let Some(word) = words.get(end) {
            let fraction = matches!(*word, "1/2" | "½");
            let letter = is_letter(word) && !(leading && DIRECTIONS.has_written(word));
            if !(fraction || letter) {
                break;
            }
            end += 1;
        }
        end
    };
    let of_road = |at: usize| NUMBERED_ROADS.has_written(words[at - 1]);
    let trailing = (1..words.len())
        .rev()
        .find(|&at| is_number(words[at]) && !is_date(at) && !of_road(at) && has_name(&words[..at]));
    let is_of = |word: &&&str| matches!(&*key(word), "de" | "di");
    let of_date = words.get(1).filter(is_of).is_some() && trailing.is_some();
    if words.len() > 1 && is_number(words[0]) && !is_date(0) && !of_date {
        let mut end = end_of(0, true);
        // 1202 A Avenue: there is no street of no name
        let no_name = matches!(&words[end..], [kind, rest @ ..] if ENGLISH.has_written(kind) && rest.iter().all(|word| is_any_direction(word)));
        if end > 1 && no_name {
            end = 1;
        }
        if has_name(&words[end..]) {
            return Some((words[end..].to_vec(), words[..end].to_vec(), vec![]));
        }
    }
    let at = trailing?;
    let end = end_of(at, false);
    Some((
        words[..at].to_vec(),
        words[at..end].to_vec(),
        words[end..].to_vec(),
    ))
}
