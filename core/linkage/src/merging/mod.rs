//! Which record of a cluster is kept, and which values it has afterwards.

mod choice;
mod keep;
mod rules;

pub use choice::{choose, keep, Given, Place, Standing};
pub use keep::KeepBy;
pub use rules::{Rule, Rules};
