//! The extension's own functions, types and operators: how they are recognized under any name and in any schema.
//!
//! A name proves nothing, since anybody can make a `bloom_sim` of types called `bloom`. A function is ours if it is
//! written in C and calling it would run the code of this library, which only a superuser can arrange. Types are
//! recognized by their input functions, operators by the functions behind them. What was found is kept for the session,
//! until some function changes.

mod beside;
mod cache;
mod functions;
mod purpose;
mod types;

pub use beside::{beside, match_beside};
pub use functions::{function, is_bits_match, is_match};
pub use purpose::Purpose;
pub use types::{is_bits, is_bits_query, is_query, is_signature};
