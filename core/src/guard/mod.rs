//! What the trigger that keeps near-duplicates out computes: what it tells of the rows that it has found.

pub mod similar_rows;
