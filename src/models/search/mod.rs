//! Pairs that are worth a look.

pub mod candidates;
pub mod equality;
pub mod scan;
pub mod similar;
