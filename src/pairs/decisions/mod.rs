//! What people have decided about pairs of records: read from a relation with the columns a, b, decision, at and maybe
//! hash.

mod create;
mod hashes;
mod read;
mod table;

pub use hashes::each_hash;
pub use table::DecisionTable;

use std::cell::Cell;

use linkage::clusters::{Decision, Verdict};

use crate::pairs::dictionary::{KeyDictionary, KeySides};
use crate::pairs::records::Relations;
use pg::error::notice;
use pg::function::arguments::Arguments;

/// The newest decision about a pair.
#[derive(Clone, Copy)]
pub struct Judgement {
    pub verdict: Verdict,
    /// One of the records is not any more what it was then, or is gone. The decision does not count.
    pub changed: bool,
}

/// A pair of `Decisions`, by the numbers of its keys.
struct JudgedPair {
    a: u32,
    b: u32,
    /// Greater for later ones.
    at: i64,
    judgement: Judgement,
    /// Where its hashes are while decisions are read.
    hash: u32,
}

/// The newest decision about each pair.
pub struct Decisions {
    /// The relation, for messages.
    pub name: String,
    /// Of the records of one relation, where (a, b) is unordered, or of both sides.
    keys: Vec<KeyDictionary>,
    /// In the order of a and b. Of one relation the lesser number is a.
    pairs: Vec<JudgedPair>,
    /// How many pairs were given again since a record has changed.
    reopened: Cell<u64>,
}

/// The decisions that an argument names, about the records of these relations; `None` if it is NULL.
///
/// Errors: as [`Decisions::read`].
pub fn decisions(arguments: Arguments, i: usize, relations: Relations<'_>) -> Option<Decisions> {
    arguments.datum(i)?;
    Some(Decisions::read(arguments.oid(i), Some(relations), false))
}

impl Decisions {
    /// What is decided about a pair, by its keys.
    pub fn get(&self, keys: [&[u8]; 2]) -> Option<Judgement> {
        Some(self.at(self.place(keys)?))
    }

    /// What is decided about the pair of this place.
    pub fn at(&self, place: usize) -> Judgement {
        self.pairs[place].judgement
    }

    /// Which of the decided pairs this is, by its keys.
    pub fn place(&self, keys: [&[u8]; 2]) -> Option<usize> {
        let second = self.keys.len() - 1;
        let (a, b) = (self.keys[0].get(keys[0])?, self.keys[second].get(keys[1])?);
        let pair = if second == 0 {
            (a.min(b), a.max(b))
        } else {
            (a, b)
        };
        self.pairs.binary_search_by_key(&pair, |p| (p.a, p.b)).ok()
    }

    /// Whether a pair that was found is left out, since it is judged different or unsure. Pairs that are asked again
    /// are counted.
    pub fn leaves_out(&self, keys: [&[u8]; 2]) -> bool {
        match self.get(keys) {
            Some(Judgement { verdict, changed }) => {
                self.reopened.set(self.reopened.get() + u64::from(changed));
                !changed && verdict != Verdict::Same
            }
            None => false,
        }
    }

    /// Whether anything is decided about the record of this key on this side.
    pub fn knows(&self, side: usize, key: &[u8]) -> bool {
        let side = side.min(self.keys.len() - 1);
        self.keys[side].get(key).is_some()
    }

    /// Whether a pair is judged the same.
    pub fn are_same(&self, keys: [&[u8]; 2]) -> bool {
        let judgement = self.get(keys);
        judgement.is_some_and(|j| !j.changed && j.verdict == Verdict::Same)
    }

    /// Tells the user how many pairs were found again although they had been judged.
    pub fn tell_reopened(&self) {
        let reopened = self.reopened.replace(0);
        if reopened > 0 {
            notice!(
                "{reopened} {} asked again, since a record has changed after it was judged in \"{}\"",
                if reopened == 1 { "pair is" } else { "pairs are" },
                self.name
            );
        }
    }

    /// Memory in use, in bytes.
    pub fn memory(&self) -> usize {
        let keys: usize = self.keys.iter().map(KeyDictionary::memory).sum();
        keys + self.pairs.capacity() * size_of::<JudgedPair>()
    }

    /// How many pairs are judged.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// What counts, by the numbers of a dictionary that has the keys of records with pairs. Records that are judged the
    /// same as another one are added to it; what is judged different from a record without pairs changes nothing.
    /// Decisions about two relations name its keys with their sides.
    pub fn among(&self, records: &mut KeyDictionary, mut each: impl FnMut(Decision)) {
        let second = self.keys.len() - 1;
        let sides = match second {
            0 => KeySides::One,
            _ => KeySides::Two,
        };
        // What is judged the same comes first, since it adds records.
        for verdict in [Verdict::Same, Verdict::Different] {
            let counts =
                |pair: &&JudgedPair| !pair.judgement.changed && pair.judgement.verdict == verdict;
            for pair in self.pairs.iter().filter(counts) {
                let (a, b) = (self.keys[0].key(pair.a), self.keys[second].key(pair.b));
                let numbers = match verdict {
                    Verdict::Same => {
                        Some((sides.number(records, 0, a), sides.number(records, 1, b)))
                    }
                    _ => sides.get(records, 0, a).zip(sides.get(records, 1, b)),
                };
                if let Some((a, b)) = numbers {
                    let at = pair.at;
                    each(Decision { a, b, verdict, at });
                }
            }
        }
    }
}
