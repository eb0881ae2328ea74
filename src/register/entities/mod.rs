//! Entities: which records of a register are one, kept by the trigger that keeps the register.
//!
//! - [`table`]: the tables of entities, and how they are set. [`create`]: `bloom_entities_create` and
//!   `bloom_entities_drop`.
//! - [`neighbours`]: the records that a record makes pairs with. [`component`]: all that hangs together by such pairs, and
//!   what entities it makes.
//! - [`settle`]: what becomes of entities when records change. [`decided`]: when people decide. [`turn`]: two sessions at
//!   once. [`known_pairs`]: what one record of a statement leaves to the next. [`key_text`]: keys as texts.
//! - [`preview`]: `bloom_register_preview`. [`how`]: `bloom_entities_how`. [`links`]: what to ask
//!   people about.
//!
//! Two records make a pair if a search brings them together and the model finds them probable enough. Whoever is in a
//! block when it is closed stays in it, so pairs that were found stay. What entities there are depends on the records, on
//! what the blocks have and on decisions, and on nothing else: not on the order in which records have come. A record is
//! always in one entity, if only by itself.

mod component;
mod create;
mod decided;
mod how;
mod key_text;
mod known_pairs;
mod links;
mod neighbours;
mod preview;
mod settle;
mod table;
mod turn;

pub use links::{Link, ReadableEntities};
pub use table::{EntityTable, Settings};
