//! Names of persons and companies: their parts, other forms of given names, how similar two names are, and which of many are nearest to one.

mod forms;
mod nearest;
mod parts;
mod similarity;
mod words;

pub use forms::{name_forms, FORMS_VERSION};
pub use nearest::{candidates, WantedName, MAX_NEAREST};
pub use parts::{name_parts, NameParts, MAX_PARTS};
pub use similarity::{similarity, MAX_WORD, MAX_WORDS};
