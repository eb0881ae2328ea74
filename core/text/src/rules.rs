//! Rule sets of the normal form, by number. What is stored says by which one it was made, so none ever changes: another rule is
//! another rule set.

use base::{Error, ErrorKind, Result};

use crate::letters::is_latin;

/// A rule set that this version has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rules(u8);

/// What a rule set decides in its own way. The crates behind the rest are the same for all as yet; one that is to change is taken
/// twice then, under two names.
struct Table {
    /// The Latin letters on which a diaeresis leaves an `e`; all of them if none are named.
    umlauts: Option<&'static str>,
}

/// Rule set 1 takes the diaeresis of `Zoë`, `Noël` and `Anaïs`, which only parts two vowels, for the umlaut of `Müller`.
const TABLES: [Table; 2] = [
    Table { umlauts: None },
    Table {
        umlauts: Some("AOUaou"),
    },
];

impl Rules {
    /// The one by which everything is made unless another one is asked for.
    pub const FIRST: Rules = Rules(1);
    /// The one with the highest number.
    pub const NEWEST: Rules = Rules(TABLES.len() as u8);

    /// Errors: this version has no rule set of this number.
    pub fn of(number: i64) -> Result<Rules> {
        match (1..=i64::from(Self::NEWEST.0)).contains(&number) {
            true => Ok(Rules(number as u8)),
            false => Err(Error::new(
                ErrorKind::NotSupported,
                format!("rule set {number} is unknown to this version of bloom_ident"),
            )
            .detail(format!(
                "This version has rule sets 1 to {}.",
                Self::NEWEST.0
            ))),
        }
    }

    /// Its number.
    pub fn number(self) -> u8 {
        self.0
    }

    /// All of them.
    pub fn all() -> impl Iterator<Item = Rules> {
        (1..=Self::NEWEST.0).map(Rules)
    }

    /// Where it is in a list of one for each.
    pub(crate) fn place(self) -> usize {
        usize::from(self.0) - 1
    }

    /// Whether a diaeresis on this letter, which has no other mark any more, leaves an `e`.
    pub(crate) fn takes_e(self, letter: char) -> bool {
        match TABLES[self.place()].umlauts {
            None => is_latin(letter),
            Some(letters) => letters.contains(letter),
        }
    }
}
