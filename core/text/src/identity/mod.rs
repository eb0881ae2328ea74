//! Several encodings of one value, as tokens: what is written differently in one of them still agrees in others
//! (redundant encodings, as they are used against fraud).

mod digits;
mod encodings;
mod letters;

use crate::contact::{email, Email};
use crate::is_letter_or_digit;
use base::{Error, Result, Ticker};

use encodings::Encodings;
use letters::{whole_ngrams, word_encodings};

/// Version of the encodings below, for `bloom_fingerprint()`: a change of any takes a new number.
pub const ENCODINGS: u8 = 1;

base::named! {
    /// What a value is. It is part of each token, so that values of two kinds have none in common.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum IdentityKind {
        /// An e-mail address, in any form that [`email`] reads.
        Email = "email",
        /// A name of a person or a company.
        Name = "name",
        /// Digits of a telephone number, as [`crate::contact::phone`] gives them.
        Phone = "phone",
        /// Any other text.
        Text = "text",
    }
}

impl IdentityKind {
    /// The kind of this name.
    ///
    /// Errors: there is none.
    pub fn of_name(name: &str) -> Result<IdentityKind> {
        Self::named(name).ok_or_else(|| {
            let shown: String = name.chars().take(40).collect();
            Error::invalid(format!("kind of identity \"{shown}\" is not known")).hint(format!(
                "Use one of {}.",
                Self::ALL.map(Self::name).join(", ")
            ))
        })
    }
}

/// Calls `each` with the tokens of a value, repetitions included; `turn` is called now and then. Blank values of kinds
/// `Name` and `Text` have none.
///
/// Errors: those of `each`; a value that is not of its kind; out of memory.
pub fn for_each_encoding(
    kind: IdentityKind,
    value: &str,
    mut turn: impl FnMut(),
    each: impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    let mut to = Encodings::new(each);
    match kind {
        IdentityKind::Email => of_email(&email(value)?, &mut to),
        IdentityKind::Phone => digits::of_phone(value, &mut to),
        IdentityKind::Name => {
            let normal = crate::normalize(value, true, &mut turn)?;
            word_encodings("n", &normal, &mut Ticker::new(&mut turn), &mut to)?;
            // Double Metaphone helps most of the algorithms, and counts twice: on labelled pairs of names that is
            // better than once.
            let sounds = |code: &str| {
                ["ns", "ns2"]
                    .iter()
                    .try_for_each(|kind| to.give(kind, code))
            };
            crate::for_each_sound(value, crate::Sound::DoubleMetaphone, sounds, turn)
        }
        IdentityKind::Text => {
            let normal = crate::normalize(value, true, &mut turn)?;
            let mut ticker = Ticker::new(turn);
            whole_ngrams("t3", &normal, &mut ticker, &mut to)?;
            word_encodings("t", &normal, &mut ticker, &mut to)
        }
    }
}

/// Who invents addresses by a pattern changes digits and provider. What stays counts most: letters and pattern, twice
/// each. The domain counts little, since so many have the same.
fn of_email(email: &Email, to: &mut Encodings<impl FnMut(&str) -> Result<()>>) -> Result<()> {
    let parts = email.parts();
    let normal = crate::normalize(&parts.letters, false, || ())?;
    if normal.is_empty() {
        // Nothing but digits: their n-grams stand in for those of letters.
        whole_ngrams("ed3", &parts.digits, &mut Ticker::new(|| ()), to)?;
    } else {
        whole_ngrams("e3", &normal, &mut Ticker::new(|| ()), to)?;
        to.give("el", &normal)?;
        to.give("el2", &normal)?;
        to.give("ep", &parts.pattern)?;
        to.give("ep2", &parts.pattern)?;
    }
    if !parts.digits.is_empty() {
        to.give("ed", &parts.digits)?;
    }
    for word in parts
        .pattern
        .split(|c: char| !is_letter_or_digit(c))
        .filter(|word| !word.is_empty())
    {
        to.give("ew", word)?;
    }
    to.give("eh", parts.registrable.as_deref().unwrap_or(&email.domain))?;
    let name = parts
        .registrable
        .as_deref()
        .and_then(|domain| domain.split('.').next());
    name.map_or(Ok(()), |name| to.give("eo", name))
}
