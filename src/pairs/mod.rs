//! All pairs of similar records, in one relation or between two; and the records of a relation that are nearest to a
//! name.
//!
//! What things are called here:
//! - A *relation* is what a caller names: a table or a view. Its *records* ([`records::Records`]) are its rows with a
//!   signature, each known by its key. A search is over one relation, or over two, the left and the right one
//!   ([`records::Relations`]), which are *sides* 0 and 1.
//! - A *table* has records and an index on their signatures. A relation has several if it is partitioned; all tables of
//!   a search are `IndexedTables`, each known by its `TableNumber`.
//! - A *row* is what a join compares: a row of a table by its tid (`TableRow`), or a record that a query has read by
//!   its *number*, from 1 on. *Unlisted* rows are those of tables without posting lists, which are numbered, too.
//! - A *group* has the records that are equal in the columns *within* which pairs are searched.
//! - A *piece* has rows that are joined as a whole, a *band* has some of them, and a *unit* is what one process does of
//!   a join at a time.
//!
//! A search goes from `jobs` to `find`, which knows whether there are indexes: `from_index` and `only_new` join rows of
//! tables, `from_query` and `within` records that a query reads, all of them by `join`. What `join` finds goes through
//! a `JoinSink`, which knows the keys of rows, to one `PairOutput`.

pub mod decisions;
pub mod dictionary;
mod estimate;
mod find;
mod from_index;
mod from_query;
mod jobs;
mod join;
pub mod keys;
mod nearest_names;
pub mod one_to_one;
pub mod only_new;
mod output;
mod profiles;
pub mod random;
pub mod records;
pub mod source_columns;
mod table;
pub mod unique;
pub mod verify;
mod within;

pub use find::each_pair;
