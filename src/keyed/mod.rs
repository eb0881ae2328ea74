//! Keyed signatures: secrets that a database keeps, and records that are encoded by them.
//!
//! - [`tables`]: the extension's own tables of secrets, which are read and written without the executor, so that nobody
//!   needs rights on them, and no code but the server's own runs.
//! - [`secrets`]: a secret, and who may use it; [`manage`]: `bloom_secret_create` and its like.
//! - [`uses`]: how often secrets were used, counted whatever becomes of the transaction.
//! - [`ready`]: what a session remembers of a secret and a schema; [`encode`]: `bloom_clk` and its like; [`keep`]: the
//!   trigger that keeps a column, and [`column`] what makes, fills and replaces such columns. [`audit`]: what
//!   others read from such a column. [`moment`]: for how long what was looked up holds.

mod audit;
mod column;
mod encode;
mod keep;
mod manage;
mod moment;
mod ready;
mod secrets;
mod tables;
mod uses;

pub use column::is_kept_column;
