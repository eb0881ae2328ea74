//! Which records are the same: match models ([`model`]) say how probable it is of a pair, [`clusters`] and
//! [`assignment`] group pairs, [`merging`] chooses what is kept, and [`review`] shows pairs to people who decide.

#![warn(missing_docs)]

pub mod assignment;
pub mod clusters;
pub mod guard;
pub mod merging;
pub mod model;
pub mod record_hash;
pub mod review;
