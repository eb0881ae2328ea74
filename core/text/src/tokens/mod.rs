//! Sets of tokens: how texts, JSON values and sequences become tokens, one hash of a token, and the exact similarity of
//! two sets.
//!
//! A token is a text that is compared as it is, byte by byte. Functions that make tokens give them in order,
//! repetitions included; a set has each once.

mod characters;
mod hashes;
mod json;
mod sequence;
mod similarity;
mod singular;
mod text;
mod words;
mod writing;

pub use characters::for_each_character;
pub use hashes::{token_hash, TokenHashList, TokenHashes};
pub use json::JsonTokens;
pub use sequence::{check_width, for_each_numbered, for_each_run};
pub use similarity::Overlap;
pub use singular::singular;
pub use text::for_each_token;
pub use words::{for_each_uax29_word, for_each_word};

/// All tokens that a function gives.
#[cfg(test)]
fn collected(
    give: impl FnOnce(&mut dyn FnMut(&str) -> base::Result<()>) -> base::Result<()>,
) -> Vec<String> {
    let mut tokens = vec![];
    let mut keep = |token: &str| {
        tokens.push(token.to_owned());
        Ok(())
    };
    give(&mut keep).unwrap();
    tokens
}

/// Version of the rules by which texts, JSON values and dates ([`crate::for_each_digit_pair`]) become tokens. Stored
/// signatures of tokens depend on every rule and on the versions of the crates behind them, so a change of either is a
/// new version, and signatures of different versions do not compare.
pub const RULES: u8 = 1;

/// Version of the rules by which East Asian text becomes tokens, its characters.
pub const CHARACTER_RULES: u8 = 1;
