//! Temporary files, and what is kept in them.

pub mod temporary;
pub mod texts;

pub use temporary::TemporaryFile;
pub use texts::Texts;
