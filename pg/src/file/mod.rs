//! Temporary files, and what is kept in them.

pub mod sorted_records;
pub mod sorted_words;
pub mod temporary;
pub mod texts;

pub use sorted_records::{RecordSort, SortedRecords};
pub use sorted_words::{SortedWords, WordSort};
pub use temporary::TemporaryFile;
pub use texts::Texts;
