//! A register: what live matching needs of a table, so that one record is judged by a model as soon as it is there.
//!
//! - [`create`]: `bloom_register_create` and `bloom_register_drop`. [`fill`]: all keys of a table, and which blocks are
//!   closed.
//! - [`stored`]: a register as its tables say, and ready for use. [`pg::key_table`]: rows by a key, without the
//!   executor. [`key_type`]: values of the key.
//! - [`row`]: the row of a register. [`options`]: those of its creation.
//! - [`texts`]: the values of a row as the model reads them.
//! - [`logged`]: a table that is made unlogged, or logged, under its register.
//! - [`passed`]: rows that a guard has let pass before they are in the table.
//! - [`trigger`]: keeps the keys of every row that changes. [`entities`]: which of its records are one.
//! - [`find`]: `bloom_register_match`. [`prefix`]: the same for names as they are typed. [`why`]:
//!   `bloom_register_why`. [`check`]: `bloom_register_check`. [`ignored`]: what of a record is not compared.
//! - [`refit`]: `bloom_register_refit`. [`refit_sample`]: the pairs that it changes, of some records.
//!
//! A block has the records that have a key in common. It is open as long as it has no more records than its search
//! allows; then it is closed, which is a stored fact, and the search does not go by it any more.

mod check;
mod create;
mod entities;
mod fill;
mod find;
mod ignored;
mod key_type;
mod logged;
mod options;
mod passed;
mod prefix;
mod refit;
mod refit_sample;
mod row;
mod stored;
mod texts;
mod trigger;
mod why;

pub use entities::{Link, ReadableEntities};
pub use key_type::KeyType;
pub use stored::Register;
