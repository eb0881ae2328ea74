//! What every crate of the core stands on. Nothing of the core knows the server: memory sized by data is reserved before
//! it is used ([`memory`]), errors are values ([`Error`]) that carry message, detail and hint, and long loops call back
//! ([`Ticker`]) so that the caller can look for interrupts; so do the sorts here ([`sort`]).

#![warn(missing_docs)]

pub mod closest;
pub mod error;
pub mod memory;
mod named;
pub mod range;
pub mod sort;
mod tick;

pub use error::{Error, ErrorKind, Result};
pub use tick::Ticker;
