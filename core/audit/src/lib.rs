//! What an attacker without the secret reads from keyed signatures, by what is public: a list of records or names of such a
//! population, and how signatures are made. No attack sees the secret, or a signature of a known record.
//!
//! - [`Signatures`] are those attacked, [`Reference`] what is known; the attacks count by sets of records for each bit.
//! - [`by_patterns`], [`by_graphs`] and [`by_differences`] each find some records that are believed to have some tokens; what
//!   follows from that is the same for all: the bits of tokens, the values of records by these, and the bits of more tokens.
//! - [`audit`] says what signatures show by themselves and what each attack reads.

#![warn(missing_docs)]

mod align;
mod bits;
mod clues;
mod differences;
mod findings;
mod graph;
mod patterns;
mod read;
mod reference;
mod room;

pub use bits::Signatures;
pub use findings::{audit, Finding, TOKENS};
pub use read::{guessed, Reading};
pub use reference::{Reference, Token, Tokens, MOST_REFERENCE};
pub use room::Room;

/// A bit is a token's if so large a share of the records that have the token have it.
const SHARE: f64 = 0.9;

/// Attacks by pattern mining. `turn` is called again and again.
pub fn by_patterns(of: &Signatures, reference: &Reference, turn: &mut dyn FnMut()) -> Reading {
    patterns::clues(of, reference, turn).read(of, reference, turn)
}

/// Attacks by graph matching. `turn` is called again and again.
pub fn by_graphs(of: &Signatures, reference: &Reference, turn: &mut dyn FnMut()) -> Reading {
    graph::clues(of, reference, turn).read(of, reference, turn)
}

/// Attacks by the differences of similar signatures. `turn` is called again and again.
pub fn by_differences(of: &Signatures, reference: &Reference, turn: &mut dyn FnMut()) -> Reading {
    differences::clues(of, reference, turn).read(of, reference, turn)
}
