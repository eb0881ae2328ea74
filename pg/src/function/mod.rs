//! Raw arguments of functions that SQL calls, and results of several columns or rows.

pub mod arguments;
pub mod record;
pub mod rows;
