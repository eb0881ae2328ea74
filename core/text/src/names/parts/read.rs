//! A name's words, what is in quotation marks, and what stands before and behind the name itself.

use super::lists::{
    is_born, is_first_title, is_legal_form, is_ruler, is_suffix, OF_TITLES, TITLES,
};
use crate::normalize;
use base::{Error, ErrorKind, Result};

/// Most words of a name. What is longer is no name of a person, and is refused.
pub const MAX_PARTS: usize = 256;

/// A word as it is written, and its normal form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub written: String,
    pub key: String,
}

impl AsRef<str> for Word {
    fn as_ref(&self) -> &str {
        &self.written
    }
}

impl Word {
    /// Whether it has letters, and all that have a case are capitals; at least two of them.
    pub fn is_in_capitals(&self) -> bool {
        let mut capitals = self.written.chars().filter(|c| c.is_uppercase());
        let two = capitals.by_ref().take(2).count() == 2;
        two && !self.written.chars().any(char::is_lowercase)
    }

    pub fn begins_small(&self) -> bool {
        self.written.chars().next().is_some_and(char::is_lowercase)
    }
}

/// A name as it was read.
pub(super) struct Reading {
    /// The words between commas.
    pub segments: Vec<Vec<Word>>,
    pub nickname: Vec<String>,
}

/// What closes a nickname that this opens. An apostrophe opens none, since names have some.
fn closing(open: char) -> Option<&'static [char]> {
    Some(match open {
        '"' => &['"'],
        '“' => &['”'],
        '„' => &['“', '”'],
        '«' => &['»'],
        '»' => &['«'],
        '(' => &[')'],
        '（' => &['）'],
        '「' => &['」'],
        _ => return None,
    })
}

/// Characters of the longest nickname. What is opened and not closed so soon opens nothing, so that no text is searched
/// to its end again and again.
const LONGEST_NICKNAME: usize = 200;

fn end_of_nickname(after: &str, close: &[char]) -> Option<usize> {
    let mut near = after.char_indices().take(LONGEST_NICKNAME);
    near.find(|(_, c)| close.contains(c)).map(|(at, _)| at)
}

fn is_comma(c: char) -> bool {
    matches!(c, ',' | '，' | '、' | '،' | ';')
}

impl Reading {
    /// Errors: too many words; out of memory.
    pub fn new(text: &str, mut tick: impl FnMut()) -> Result<Reading> {
        let mut reading = Reading {
            segments: vec![Vec::new()],
            nickname: Vec::new(),
        };
        let mut words = 0;
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let after = &rest[c.len_utf8()..];
            if let Some(end) = closing(c).and_then(|close| end_of_nickname(after, close)) {
                words += 1;
                reading.nickname(after[..end].trim());
                rest = &after[end..];
                rest = &rest[rest.chars().next().map_or(0, char::len_utf8)..];
            } else if is_comma(c) {
                // Commas without words between them are one.
                if reading.segments.last().is_some_and(|last| !last.is_empty()) {
                    reading.segments.push(Vec::new());
                }
                rest = after;
            } else if c.is_whitespace() {
                rest = after;
            } else {
                let ends = |c: char| c.is_whitespace() || is_comma(c) || closing(c).is_some();
                let end = after
                    .find(ends)
                    .map_or(rest.len(), |end| c.len_utf8() + end);
                words += 1;
                reading.word(&rest[..end], &mut tick)?;
                rest = &rest[end..];
            }
            if words > MAX_PARTS {
                return Err(Error::new(
                    ErrorKind::LimitExceeded,
                    format!("name of more than {MAX_PARTS} words"),
                )
                .detail("That is no name of a person."));
            }
            tick();
        }
        for segment in &mut reading.segments {
            // at an end there is nobody to join
            while segment.pop_if(|word| is_and(word)).is_some() {}
            let leading = segment.iter().take_while(|word| is_and(word)).count();
            segment.drain(..leading);
        }
        reading.segments.retain(|segment| !segment.is_empty());
        Ok(reading)
    }

    fn nickname(&mut self, text: &str) {
        if !text.is_empty() {
            self.nickname.push(text.to_owned());
        }
    }

    fn word(&mut self, written: &str, tick: impl FnMut()) -> Result<()> {
        let key = match written {
            // Dutch, in full: it is no initial
            "'t" | "’t" | "‘t" => "het".to_owned(),
            // between two persons
            "&" | "+" => written.to_owned(),
            _ => normalize(written, false, tick)?,
        };
        // A mere hyphen is no word.
        if !key.is_empty() {
            let word = Word {
                written: written.to_owned(),
                key,
            };
            self.segments.last_mut().expect("there is one").push(word);
        }
        Ok(())
    }

    /// Whether this is a company, or two persons with surnames of their own: "Hans Huber & Anna Meier".
    pub fn is_no_person(&self) -> bool {
        let mut words = self.segments.iter().flatten();
        let n = words.clone().count();
        let capitals = !words
            .clone()
            .any(|word| word.written.chars().any(char::is_lowercase));
        let is_form = |word: &Word| is_legal_form(&word.key, &word.written, capitals);
        if n > 1 && words.clone().skip(1).any(is_form) {
            return true;
        }
        let [one] = &self.segments[..] else {
            return false;
        };
        let names = |words: &[Word]| words.len() - titles_of(words);
        words
            .position(is_and)
            .is_some_and(|at| names(&one[..at]) > 1 && names(&one[at + 1..]) > 1)
    }

    /// Takes the name at birth: what stands behind geb. and the like in its segment or nickname.
    pub fn take_born(&mut self) -> Vec<String> {
        let mut born = Vec::new();
        self.nickname.retain(|nickname| {
            let (marker, name) = nickname.split_once(' ').unwrap_or((nickname, ""));
            let key = normalize(marker, false, || ()).unwrap_or_default();
            let is_it = is_born(&key, marker) && !name.trim().is_empty();
            if is_it {
                born.push(name.trim().to_owned());
            }
            !is_it
        });
        for (i, segment) in self.segments.iter_mut().enumerate() {
            let is_it = |word: &Word| is_born(&word.key, &word.written);
            let at = segment.iter().position(is_it);
            if let Some(at) = at.filter(|&at| at + 1 < segment.len() && at + i > 0) {
                let name = segment.drain(at..).skip(1);
                born.extend(name.map(|word| word.written));
            }
        }
        self.segments.retain(|segment| !segment.is_empty());
        born
    }

    /// Takes King, Papst and the like in front of one word, or of a name with a Roman number, which is a given name
    /// then.
    pub fn take_ruler(&mut self, titles: &mut Vec<Word>) -> bool {
        let [segment] = &mut self.segments[..] else {
            return false;
        };
        let number = segment.last().is_some_and(|word| is_roman(&word.written));
        let one = segment.len() == 2 + usize::from(number);
        let [first, _, ..] = &segment[..] else {
            return false;
        };
        let is_it = is_ruler(&first.key, number)
            && (one || number)
            && segment.len() > 1 + usize::from(number);
        if is_it {
            titles.push(segment.remove(0));
        }
        is_it
    }

    /// Takes the titles in front of each segment and the suffixes behind it, but never the last word of a name.
    pub fn take_affixes(&mut self, titles: &mut Vec<Word>, suffixes: &mut Vec<Word>) {
        // A segment behind a comma may be all titles or suffixes: Dr.; Jr.
        let mut i = 1;
        while i < self.segments.len() {
            let segment = &self.segments[i];
            if segment
                .iter()
                .all(|word| is_suffix(&word.key, &word.written))
            {
                suffixes.append(&mut self.segments.remove(i));
            } else if titles_of(segment) == segment.len() {
                titles.append(&mut self.segments.remove(i));
            } else {
                i += 1;
            }
        }
        let mut words: usize = self.segments.iter().map(Vec::len).sum();
        for segment in &mut self.segments {
            let most = segment.len().min(words - 1);
            let leading = titles_of(segment).min(most);
            titles.extend(segment.drain(..leading));
            words -= leading;
            if let [first, _, ..] = &segment[..] {
                if is_first_title(&first.key) {
                    titles.push(segment.remove(0));
                    words -= 1;
                }
            }
            let mut behind = Vec::new();
            while words > 1 {
                match segment.pop_if(|word| is_suffix(&word.key, &word.written)) {
                    Some(word) => behind.push(word),
                    None => break,
                }
                words -= 1;
            }
            suffixes.extend(behind.into_iter().rev());
        }
        self.segments.retain(|segment| !segment.is_empty());
    }
}

/// What joins two persons.
fn is_and(word: &Word) -> bool {
    matches!(&*word.key, "&" | "+")
}

/// A number such as XVI, with a full stop or without.
fn is_roman(written: &str) -> bool {
    let number = written.trim_end_matches('.');
    (1..=6).contains(&number.len()) && number.bytes().all(|b| matches!(b, b'I' | b'V' | b'X'))
}

/// How many words at the beginning are titles.
fn titles_of(segment: &[Word]) -> usize {
    let mut n = 0;
    while let Some(word) = segment.get(n) {
        // "h. c." and the like belong to the title before them if they have a full stop.
        let belongs = n > 0 && OF_TITLES.has(&word.key) && word.written.ends_with('.');
        let compound = word.written.contains('.')
            && word.written.split(['.', '-']).all(|part| {
                let key = part.to_lowercase();
                key.is_empty() || TITLES.has(&key) || OF_TITLES.has(&key)
            });
        if !(TITLES.has(&word.key) || belongs || compound && word.key.len() > 2) {
            break;
        }
        n += 1;
    }
    n
}
