//! What the trigger that keeps near-duplicates out computes: what its arguments say, and what it tells of the rows that
//! it has found.

pub mod options;
pub mod similar_rows;
