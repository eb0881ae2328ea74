//! The tables that a guard looks in, and the index that serves each.

use pgrx::{pg_sys, PgSqlErrorCode};

use super::column as relation;
use super::key::PrimaryKey;
use crate::objects;
use crate::pg::catalog::storage::{is_heap, is_read_from};
use crate::pg::message::{words, Message, Result};
use crate::pg::node;
use crate::pg::{check_for_interrupts, ffi};
use crate::sigfile;

/// An index, and how to ask it.
pub struct SearchIndex {
    pub oid: pg_sys::Oid,
    /// Number of the column in the index.
    pub column: i16,
    pub strategy: u16,
    pub function: pg_sys::Oid,
}

/// A table with rows, and what is asked of it.
pub struct SearchTarget {
    pub table: pg_sys::Oid,
    /// The signature.
    pub column: i16,
    pub index: Option<SearchIndex>,
    pub key: Option<PrimaryKey>,
}

/// All tables of a partition tree, or the one table.
pub struct PartitionTree {
    /// Those with rows.
    pub leaves: Vec<pg_sys::Oid>,
    /// All of them, locked by this transaction.
    pub all: Vec<pg_sys::Oid>,
}

impl PartitionTree {
    /// To be searched in this column.
    ///
    /// Errors: something that is no table of this server (42809), or rows that are not in the tables (0A000).
    pub fn below(top: pg_sys::Oid, column: &std::ffi::CStr) -> Result<PartitionTree> {
        let tree = PartitionTree::of(top, false)?;
        tree.check_storage(top, column)?;
        Ok(tree)
    }

    /// With foreign tables among those with rows, and not to be searched.
    pub fn with_foreign(top: pg_sys::Oid) -> Result<PartitionTree> {
        PartitionTree::of(top, true)
    }

    fn of(top: pg_sys::Oid, foreign: bool) -> Result<PartitionTree> {
        let mut tree = PartitionTree {
            leaves: Vec::new(),
            all: Vec::new(),
        };
        let mut open = vec![top];
        while let Some(table) = open.pop() {
            check_for_interrupts();
            lock(table);
            tree.all.push(table);
            match relation::kind(table) {
                pg_sys::RELKIND_RELATION => tree.leaves.push(table),
                pg_sys::RELKIND_FOREIGN_TABLE if foreign => tree.leaves.push(table),
                pg_sys::RELKIND_PARTITIONED_TABLE => open.extend(partitions(table)),
                _ => {
                    return Err(Message::of(
                        PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE,
                        words!(
                            "cannot check against relation \"",
                            relation::name(table),
                            "\""
                        ),
                    )
                    .detail(words!(
                        "Only tables and partitions with rows of their own can be checked against."
                    )))
                }
            }
        }
        tree.leaves.sort_by_key(|table| table.to_u32());
        Ok(tree)
    }

    /// Errors: rows that are not in the tables themselves, or kept by another access method than heap (0A000).
    fn check_storage(&self, top: pg_sys::Oid, column: &std::ffi::CStr) -> Result<()> {
        self.leaves
            .iter()
            .try_for_each(|&leaf| check_method(leaf))?;
        let column = relation::signature_column(top, column)?;
        let partitioned = relation::kind(top) == pg_sys::RELKIND_PARTITIONED_TABLE;
        // SAFETY: a table, locked; a function runs with a snapshot.
        if unsafe { is_read_from(self.leaves.iter().copied(), top, column, partitioned) } {
            return Ok(());
        }
        Err(not_readable(top)
            .detail(words!(
                "Its rows are not in its own storage: queries read them in another way, as those of a distributed table."
            ))
            .hint(words!(
                "Look for similar rows by a query with bloom_sim before one is entered, or guard the tables that hold the rows."
            )))
    }
}

fn not_readable(table: pg_sys::Oid) -> Box<Message> {
    Message::of(
        PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
        words!(
            "bloom_guard cannot check against table \"",
            relation::name(table),
            "\""
        ),
    )
}

/// Rows that are not decided yet are told from others by what heap says of them.
///
/// Errors: another access method (0A000).
fn check_method(table: pg_sys::Oid) -> Result<()> {
    // SAFETY: a table, locked.
    let (heap, method) = unsafe {
        let open = ffi::table_open(table, pg_sys::NoLock as i32);
        let of_table = (is_heap(open), (*(*open).rd_rel).relam);
        pg_sys::table_close(open, pg_sys::NoLock as i32);
        of_table
    };
    if heap {
        return Ok(());
    }
    Err(not_readable(table)
        .detail(words!(
            "It has access method \"",
            relation::access_method(method),
            "\", of which simultaneous changes cannot be seen."
        ))
        .hint(words!(
            "ALTER TABLE ",
            relation::quoted(table),
            " SET ACCESS METHOD heap, or look for similar rows by a query with bloom_sim before one is entered."
        )))
}

/// Until the end of the transaction.
pub fn lock(table: pg_sys::Oid) {
    // SAFETY: a lock by OID; that a table is gone is found out afterwards.
    unsafe { ffi::LockRelationOid(table, pg_sys::AccessShareLock as i32) };
}

fn partitions(table: pg_sys::Oid) -> Vec<pg_sys::Oid> {
    // SAFETY: a partitioned table, locked.
    unsafe {
        let relation = ffi::table_open(table, pg_sys::NoLock as i32);
        let described = ffi::RelationGetPartitionDesc(relation, true);
        let n = (*described).nparts as usize;
        let oids = if n == 0 {
            Vec::new()
        } else {
            std::slice::from_raw_parts((*described).oids, n).to_vec()
        };
        pg_sys::table_close(relation, pg_sys::NoLock as i32);
        oids
    }
}

impl SearchTarget {
    /// `table` is locked, and has rows.
    ///
    /// Errors: as for [`relation::signature_column`].
    pub fn new(table: pg_sys::Oid, column: &std::ffi::CStr) -> Result<SearchTarget> {
        let column = relation::signature_column(table, column)?;
        // SAFETY: a table, locked.
        unsafe {
            let open = ffi::table_open(table, pg_sys::NoLock as i32);
            let target = SearchTarget {
                table,
                column,
                index: best_index(open, column),
                key: PrimaryKey::of(open),
            };
            pg_sys::table_close(open, pg_sys::NoLock as i32);
            Ok(target)
        }
    }
}

/// sigfile before others, an index on the signature alone before one on more.
///
/// SAFETY: `table` is open and locked.
unsafe fn best_index(table: pg_sys::Relation, column: i16) -> Option<SearchIndex> {
    let mut best: Option<((bool, bool, u32), SearchIndex)> = None;
    // SAFETY: as promised by the caller.
    unsafe {
        let list = pg_sys::RelationGetIndexList(table);
        for oid in node::oids(list) {
            let index = ffi::index_open(oid, pg_sys::AccessShareLock as i32);
            if let Some(usable) = usable(index, column) {
                let many = (*(*index).rd_index).indnkeyatts > 1;
                let rank = (!sigfile::is_sigfile(index), many, oid.to_u32());
                if best.as_ref().is_none_or(|(r, _)| rank < *r) {
                    best = Some((rank, usable));
                }
            }
            pg_sys::index_close(index, pg_sys::AccessShareLock as i32);
        }
        pg_sys::list_free(list);
    }
    best.map(|(_, index)| index)
}

/// An index that has every row with a signature, and finds it by `% bloom_query`.
///
/// That an index is not yet for old snapshots (indcheckxmin) does not matter to a dirty one, which sees
/// the newest version of a row only.
///
/// SAFETY: `index` is open.
unsafe fn usable(index: pg_sys::Relation, column: i16) -> Option<SearchIndex> {
    // SAFETY: as promised by the caller; as many classes and columns as the index says.
    unsafe {
        let form = &*(*index).rd_index;
        if !form.indisvalid || !form.indisready || !form.indislive || !complete(index, column) {
            return None;
        }
        let columns = form.indkey.values.as_slice(form.indnkeyatts as usize);
        for (i, &of_table) in columns.iter().enumerate() {
            let in_constraint =
                || sigfile::is_sigfile(index) && sigfile::signature_column(index) == Some(column);
            if of_table != column && !in_constraint() {
                continue;
            }
            let family = *(*index).rd_opfamily.add(i);
            let mut operators = sigfile::operators(family).into_iter();
            if let Some(operator) = operators.find(|o| objects::is_match(o.amopopr)) {
                return Some(SearchIndex {
                    oid: form.indexrelid,
                    column: i as i16 + 1,
                    strategy: operator.amopstrategy as u16,
                    function: pg_sys::get_opcode(operator.amopopr),
                });
            }
        }
        None
    }
}

/// Not partial, or only by leaving out NULL signatures.
///
/// SAFETY: `index` is open.
unsafe fn complete(index: pg_sys::Relation, column: i16) -> bool {
    // SAFETY: as promised by the caller; a predicate is a list of expressions.
    unsafe {
        let parts = node::nodes(ffi::RelationGetIndexPredicate(index));
        parts.iter().all(|&part| {
            let Some(test) = node::cast::<pg_sys::NullTest>(part, pg_sys::NodeTag::T_NullTest)
            else {
                return false;
            };
            let var = node::cast::<pg_sys::Var>(test.arg.cast(), pg_sys::NodeTag::T_Var);
            test.nulltesttype == pg_sys::NullTestType::IS_NOT_NULL
                && var.is_some_and(|v| v.varattno == column)
        })
    }
}
