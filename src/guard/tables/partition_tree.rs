//! A table with all its partitions, and whether their rows can be searched.

use base::{Error, Result};
use pg::error::sql_error;
use std::ffi::CStr;

use pgrx::{pg_sys, PgSqlErrorCode};

use super::column::signature_column;
use pg::catalog::{self, storage::is_read_from};
use pg::check_for_interrupts;
use pg::message::words;
use pg::relation::{self, OpenRelation};

/// All tables of a partition tree, or the one table.
pub struct PartitionTree {
    /// The tables that have rows of their own, in the order of their OIDs.
    pub leaves: Vec<pg_sys::Oid>,
    /// All tables, locked by this transaction. The first is the topmost one.
    pub all: Vec<pg_sys::Oid>,
}

impl PartitionTree {
    /// A tree that is to be searched in this column.
    ///
    /// Errors: a relation that is no table of this server (42809), or a table whose rows cannot be searched in its own
    /// storage (0A000).
    pub fn to_search(top: pg_sys::Oid, column: &CStr) -> Result<PartitionTree> {
        let tree = PartitionTree::of(top, false)?;
        tree.check_storage(top, column)?;
        Ok(tree)
    }

    /// A tree that is not to be searched. Its leaves may be foreign tables.
    ///
    /// Errors: a relation that is no table (42809).
    pub fn with_foreign_tables(top: pg_sys::Oid) -> Result<PartitionTree> {
        PartitionTree::of(top, true)
    }

    fn of(top: pg_sys::Oid, with_foreign: bool) -> Result<PartitionTree> {
        let mut tree = PartitionTree {
            leaves: Vec::new(),
            all: Vec::new(),
        };
        let mut to_visit = vec![top];
        while let Some(table) = to_visit.pop() {
            check_for_interrupts();
            lock(table);
            tree.all.push(table);
            match catalog::kind(table) {
                pg_sys::RELKIND_RELATION => tree.leaves.push(table),
                pg_sys::RELKIND_FOREIGN_TABLE if with_foreign => tree.leaves.push(table),
                pg_sys::RELKIND_PARTITIONED_TABLE => {
                    to_visit.extend(OpenRelation::locked_table(table).partitions(true));
                }
                _ => {
                    return Err(sql_error(
                        PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE,
                        words!("cannot check against relation \"{}\"", catalog::name(table)),
                    )
                    .detail(
                        "Only tables and partitions with rows of their own can be checked \
                against.",
                    ))
                }
            }
        }
        tree.leaves.sort_by_key(|table| table.to_u32());
        Ok(tree)
    }

    /// Errors: the rows are not in the tables themselves, or are kept by another access method than heap (0A000).
    fn check_storage(&self, top: pg_sys::Oid, column: &CStr) -> Result<()> {
        self.leaves
            .iter()
            .try_for_each(|&leaf| check_access_method(leaf))?;
        let column = signature_column(top, column)?.number;
        let is_partitioned = catalog::kind(top) == pg_sys::RELKIND_PARTITIONED_TABLE;
        let leaves = self.leaves.iter().copied();
        // SAFETY: `top` is a table with this column, and locked. The guard runs in a statement, so a snapshot is
        // active.
        if unsafe { is_read_from(leaves, top, column, is_partitioned) } {
            return Ok(());
        }
        Err(not_searchable(top)
            .detail(
                "Its rows are not in its own storage: queries read them in another way, \
                as those of a distributed table.",
            )
            .hint(
                "Look for similar rows by a query with bloom_sim before one is entered, \
                or guard the tables that hold the rows.",
            ))
    }
}

fn not_searchable(table: pg_sys::Oid) -> Error {
    sql_error(
        PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
        words!(
            "bloom_guard cannot check against table \"{}\"",
            catalog::name(table)
        ),
    )
}

/// The search reads the headers of heap's tuples to know which rows are not committed. The table is locked.
///
/// Errors: another access method (0A000).
fn check_access_method(table: pg_sys::Oid) -> Result<()> {
    let open = OpenRelation::locked_table(table);
    if open.is_heap() {
        return Ok(());
    }
    Err(not_searchable(table)
        .detail(words!(
            "It has access method \"{}\", of which simultaneous changes cannot be \
                seen.",
            catalog::access_method(open.form().relam)
        ))
        .hint(words!(
            "ALTER TABLE {} SET ACCESS METHOD heap, or look for similar rows by a \
                query with bloom_sim before one is entered.",
            catalog::quoted(table)
        )))
}

/// Locks a table against changes of its definition, until the end of the transaction. Whether it is there is found out
/// afterwards.
pub fn lock(table: pg_sys::Oid) {
    relation::lock(table, pg_sys::AccessShareLock);
}
