//! The floor under everything: how the server is called, how it calls us, and what errors are.

#![allow(dead_code)] // until the other rooms use it

pub mod boundary;
pub mod budget;
pub mod catalog;
pub mod cursor;
pub mod error;
pub mod ffi;
pub mod file;
pub mod function;
pub mod list;
pub mod memory;
pub mod message;
pub mod node;
pub mod output;
pub mod progress;
pub mod relation;
pub mod sql;
pub mod tid;
pub mod values;

pub use bloom_ident_macros::entry;
pub use ffi::{check_for_interrupts, interrupts_are_pending};
#[allow(unused_imports)] // until the other rooms use file::Texts
pub use file::texts;
