//! What people have decided about pairs, where a guard asks for it (option `decisions`): rows that are judged different from the new one, or about
//! which nobody can tell, do not count.
//!
//! Entering a row needs no privilege on the table of decisions, as with the tables that foreign keys refer to. So it is a plain table of the guarded table's
//! owner, and what reads it runs no code but the server's own: it is read by an index, with the latest snapshot, as foreign keys read.

mod decided_row;
mod lookup;
mod table;
mod write;

pub use decided_row::{ColumnValue, DecidedRow};
pub use table::DecisionTable;
