//! Where in its part of a text a word stands, which says what an abbreviation means there.

use std::collections::VecDeque;

use super::pieces::{Dictionary, Piece};

/// How many pieces behind a word are looked at.
pub(super) const BEHIND: usize = 6;

/// What stands before a word.
#[derive(Default)]
pub(super) struct Place {
    /// It is in the second part of the text, or a later one.
    later: bool,
    /// Words stand before it in its part; numbers are none.
    words: bool,
    /// A number stands before it in its part.
    number: bool,
    /// How many names stand behind that number.
    names: usize,
    /// A kind of street stands before it in its part, behind a name.
    street: bool,
    /// What stands right before it.
    before: Before,
}

#[derive(Default, PartialEq, Clone, Copy)]
enum Before {
    #[default]
    Nothing,
    /// A number that opens the part.
    FirstNumber,
    Number,
    /// As `2nd`.
    Ordinal,
    /// What is no name.
    Stop,
    Name,
}

/// A house number or the like: it begins with a digit and is no ordinal.
fn is_number(word: &str) -> bool {
    word.as_bytes()[0].is_ascii_digit() && !is_ordinal(word)
}

fn is_ordinal(word: &str) -> bool {
    let number = ["st", "nd", "rd", "th"]
        .iter()
        .find_map(|end| word.strip_suffix(end));
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

fn is_zip(word: &str) -> bool {
    word.len() == 5 && word.bytes().all(|b| b.is_ascii_digit())
}

fn is(dictionary: &Dictionary, kind: &'static str, word: &str) -> bool {
    dictionary.words.contains_key(&(kind, word))
}

/// Whether a word may be a name: it has two letters or more, and is no `stop`.
fn is_name(dictionary: &Dictionary, word: &str) -> bool {
    word.len() > 1 && !word.as_bytes()[0].is_ascii_digit() && !is(dictionary, "stop", word)
}

/// Whether a name follows in the same part of the text.
pub(super) fn before_name(
    dictionary: &Dictionary,
    piece: &Piece,
    behind: &VecDeque<Piece>,
) -> bool {
    let next = behind.front().filter(|_| !piece.last);
    next.is_some_and(|next| is_name(dictionary, &next.normal))
}

impl Place {
    /// Goes on behind a piece, whose words are `written` if it was an abbreviation.
    pub(super) fn pass(&mut self, dictionary: &Dictionary, piece: &Piece, written: &str) {
        let word = piece.normal.as_str();
        if piece.last {
            *self = Place {
                later: true,
                ..Place::default()
            };
        } else if is_number(word) {
            self.before = match self.before {
                Before::Nothing => Before::FirstNumber,
                _ => Before::Number,
            };
            self.number = true;
            self.names = 0;
        } else {
            let kind = if written.is_empty() { word } else { written };
            self.street |= self.names > 0 && is(dictionary, "kind", kind);
            self.words = true;
            if is_ordinal(word) {
                self.before = Before::Ordinal;
                self.names += 1;
            } else if is(dictionary, "stop", word) {
                self.before = Before::Stop;
                // a direction may be all the name that a street has: 100 North St
                self.names += usize::from(matches!(word, "north" | "south" | "east" | "west"));
            } else {
                self.before = Before::Name;
                self.names += 1;
            }
        }
    }

    /// Only numbers stand before the word in its part of the text.
    pub(super) fn opens(&self) -> bool {
        !self.words
    }

    /// A number stands before the word in its part, a name between, and no kind of street.
    pub(super) fn in_address(&self) -> bool {
        self.number && self.names > 0 && !self.street
    }

    /// Whether a word with two meanings has that before a name: `St` is a saint, and no street. A name follows, and the
    /// word is not one of an address where the street ends: behind a number and a name, or an ordinal, where no kind of
    /// street came before, and none follows behind another name. A word that is alone in its part counts as one before
    /// a name.
    pub(super) fn in_front(
        &self,
        dictionary: &Dictionary,
        piece: &Piece,
        behind: &VecDeque<Piece>,
    ) -> bool {
        if piece.last || behind.is_empty() {
            return self.before == Before::Nothing;
        }
        if !before_name(dictionary, piece, behind) {
            return false;
        }
        if self.before == Before::Ordinal && !self.street {
            return false;
        }
        let ends_street = self.in_address()
            && (self.before == Before::Name || self.before == Before::Stop && self.names > 0)
            && !street_follows(dictionary, behind);
        !ends_street
    }

    /// Whether the word is the code of a state: behind a comma, alone or before a postcode or the country; before a
    /// postcode; or last of a part in which a kind of street has been.
    pub(super) fn is_state(
        &self,
        dictionary: &Dictionary,
        piece: &Piece,
        behind: &VecDeque<Piece>,
    ) -> bool {
        if piece.raw.ends_with('.') || !is(dictionary, "state", &piece.normal) {
            return false;
        }
        let next = behind.front().filter(|_| !piece.last);
        let before_zip = next.is_some_and(|next| is_zip(&next.normal));
        let before_country =
            next.is_some_and(|next| matches!(&*next.normal, "usa" | "us" | "united"));
        let alone = self.before == Before::Nothing;
        alone && self.later && (next.is_none() || before_zip || before_country)
            || before_zip && self.words
            || (next.is_none() || before_country) && self.street && self.before == Before::Name
    }

    /// Whether the word is a unit behind a number, which is written small or opens the part.
    pub(super) fn is_unit(&self, dictionary: &Dictionary, piece: &Piece) -> bool {
        is(dictionary, "unit", &piece.normal)
            && (self.before == Before::FirstNumber || self.before == Before::Number && piece.small)
    }

    /// A number stands right before the word, or behind it.
    pub(super) fn beside_number(&self, piece: &Piece, behind: &VecDeque<Piece>) -> bool {
        let next = behind.front().filter(|_| !piece.last);
        matches!(
            self.before,
            Before::FirstNumber | Before::Number | Before::Ordinal
        ) || next.is_some_and(|next| next.normal.as_bytes()[0].is_ascii_digit())
    }
}

/// Whether a kind of street follows in the same part, behind a name.
fn street_follows(dictionary: &Dictionary, behind: &VecDeque<Piece>) -> bool {
    let mut names = 0;
    for piece in behind {
        let word = piece.normal.as_str();
        if is(dictionary, "kind", word) {
            if names > 0 {
                return true;
            }
            // Main St St Louis
            if names == 0 && word == "st" {
                return false;
            }
        }
        names += usize::from(is_name(dictionary, word));
        if piece.last {
            break;
        }
    }
    false
}
