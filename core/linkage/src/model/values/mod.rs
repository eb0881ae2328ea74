//! Values of fields, in the form in which they are compared, and how far two of them agree.

mod code;
mod conventions;
mod date;
mod digits;
mod encode;
mod kind;
mod level;
mod number;
mod reading;
mod row;
pub mod sketch;
pub mod things;
pub mod words;

pub use conventions::{is_plain_date, Conventions, Odd};
pub use encode::{Depth, FieldLayout, ReadValue, Value};
pub use kind::Kind;
pub use level::{
    equal_level, last_level, meaning, more_frequent_from, EQUAL, LEVELS, MISSING, ORDERED, PRESENT,
    SWAPPED, UNLIKE, UNLIKE_LEVELS,
};
pub use number::is_number;
pub use reading::{date_formats, Reading};
pub use row::RowLayout;
