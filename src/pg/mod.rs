//! The floor under everything: how the server is called, how it calls us, and what errors are.

pub mod boundary;
pub mod error;
pub mod ffi;
pub mod message;

pub use bloom_ident_macros::entry;
pub use ffi::check_for_interrupts;
