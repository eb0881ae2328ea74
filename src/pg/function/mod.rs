//! The arguments of a function that is called from SQL, and its result of several columns or rows.

pub mod arguments;
pub mod record;
pub mod rows;
