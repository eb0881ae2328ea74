//! The planner's structures: lists, and the nodes of expressions.

pub mod list;
pub mod node;
