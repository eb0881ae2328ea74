//! Pairs that are worth a look.

pub mod candidates;
pub mod equality;
pub mod pattern_counts;
pub mod pattern_table;
pub mod scan;
pub mod similar;
pub mod wanted;
