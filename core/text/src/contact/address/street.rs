//! Name of the street and number of the house, from what is left when the city is taken away.

use super::words::*;

/// Words of the street, of the number, and what stands behind a number and may be a city.
pub type Street<'a> = (Vec<&'a str>, Vec<&'a str>, Vec<&'a str>);

/// The street among segments. The first with a name and a number is it, then a name beside a number in a segment of its
/// own, then the first with a kind of street, then the first.
pub fn street(segments: Vec<Vec<&str>>) -> Street<'_> {
    if let Some(found) = segments.iter().find_map(|segment| colombian(segment)) {
        return found;
    }
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

/// Calle 100 # 19-54: the road, and behind the sign the road that it crosses and the metres from there, which are the
/// number of the house.
fn colombian<'a>(words: &[&'a str]) -> Option<Street<'a>> {
    if !words.iter().take(2).any(|word| COLOMBIAN.has_written(word)) {
        return None;
    }
    for at in 2..words.len() {
        let glued = words[at].strip_prefix('#').filter(|rest| is_number(rest));
        let sign = NUMBERED.has_written(words[at]);
        let (number, mut end) = match glued {
            Some(number) => (number, at + 1),
            None if sign => (*words.get(at + 1).filter(|next| is_number(next))?, at + 2),
            None => continue,
        };
        // a house has two numbers
        if !number.contains('-') {
            return None;
        }
        let mut numbers = vec![number];
        while let Some(side) = words
            .get(end)
            .filter(|word| SIDES_OF_CITY.has_written(word))
        {
            numbers.push(side);
            end += 1;
        }
        return Some((words[..at].to_vec(), numbers, without_units(&words[end..])));
    }
    None
}

/// Whether a segment is a road of Colombia with its house.
pub fn is_colombian(words: &[&str]) -> bool {
    colombian(words).is_some()
}

/// Street and city of an English address without commas and postcode: Oxford St London.
pub fn part_english<'a>(street: &[&'a str], numbered: bool) -> (Vec<&'a str>, Vec<&'a str>) {
    let kind = (1..street.len()).find(|&at| PARTING.has_written(street[at]));
    let Some(mut at) = kind.filter(|_| !is_street(street[0])) else {
        return (street.to_vec(), vec![]);
    };
    while street
        .get(at + 1)
        .is_some_and(|next| is_any_direction(next))
    {
        at += 1;
    }
    let (name, city) = street.split_at(at + 1);
    let digits = city.iter().any(|word| has_digit(word));
    // Court Road Gardens Square is all street
    let kinds = city.iter().skip(1).any(|word| ENGLISH.has_written(word));
    if digits || kinds && !numbered {
        (street.to_vec(), vec![])
    } else {
        (name.to_vec(), city.to_vec())
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
        // 2. tv., st. th.
        let danish = next.is_some_and(|next| DANISH_SIDES.has_written(next))
            && (is_ordinal(word) || DANISH_FLOORS.has_written(word));
        let is_sign = word.starts_with('#') && word.len() > 1 && kept.iter().any(|k| is_number(k))
            || UNNUMBERED.has_written(word)
            || NUMBERED.has_written(word) && next.is_some_and(is_number);
        if names_unit || danish || is_door && next.is_some() {
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
