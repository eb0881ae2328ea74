//! Names of persons and companies: their parts, other forms of given names, how similar two names are, and which of
//! many are nearest to one.

mod forms;
mod nearest;
mod parts;
mod similarity;
mod words;

pub use forms::{name_forms, FORMS_VERSION};
pub use nearest::{candidates, WantedName, MAX_NEAREST, MAX_OF_WORD, MAX_TIES};
pub use parts::{name_parts, NameParts, MAX_PARTS};
pub use similarity::{
    check_version, similarity, Rarity, MAX_RARITY, MAX_WORD, MAX_WORDS, SIMILARITY_VERSION,
};

use base::{Error, ErrorKind, Result};

/// Version of the rules by which names are taken apart; lists of forms, and how names are compared, have versions of
/// their own, which are asked for.
pub const RULES: u8 = 1;

/// Bytes of the longest name that is taken apart, or has forms.
pub const MAX_NAME: usize = 1 << 16;

/// Errors: a text of more than [`MAX_NAME`] bytes.
fn check_length(name: &str) -> Result<()> {
    if name.len() <= MAX_NAME {
        return Ok(());
    }
    let message = format!("name of {} bytes is too long", name.len());
    Err(Error::new(ErrorKind::LimitExceeded, message)
        .detail(format!("A name has {MAX_NAME} bytes at most.")))
}
