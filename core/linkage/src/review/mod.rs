//! What a page needs on which people decide about pairs: which of them are shown, and how two values differ as
//! signatures see them.

mod data_block;
mod marks;
mod parts;
mod sample;

pub use data_block::data_block;
pub use marks::{marks, marks_of_shown, Mark, Marks};
pub use parts::{parts, DiffPart};
pub use sample::BandSample;
