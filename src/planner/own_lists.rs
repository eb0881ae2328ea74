//! What an index of sigfile says of a search before it is searched: how many rows there are that nearly equal the
//! query. A sample of thousands does not tell one such row in a million from 26.

use pgrx::pg_sys;
use sigfile::RowBits;

use access::{is_estimated_by_sigfile, rows_alike};
use pg::tree::list::nodes;
use pg::tree::node::{bare, cast, Node};

/// Rows that nearly equal a signature, if there is an index on the expression. Those that came after its last merge are
/// not counted.
///
/// # Safety
/// `table` is of the query that is planned, `expression` is of that table alone, and the user may know statistics of
/// it.
pub unsafe fn alike(
    table: *mut pg_sys::RelOptInfo,
    expression: *mut Node,
    query: &RowBits<'_>,
    threshold: f64,
) -> Option<f64> {
    // SAFETY: the planner has read the table's indexes from the catalogs, and locked them.
    unsafe {
        let table = table.as_ref()?;
        let index = nodes(table.indexlist)
            .into_iter()
            .map(|index| &*index.cast::<pg_sys::IndexOptInfo>())
            .filter(|index| serves(index, table, expression))
            // With columns before the signature a list is not limited to rows with about as many bits.
            .min_by_key(|index| index.nkeycolumns)?;
        rows_alike(index.indexoid, query, threshold)
    }
}

/// Whether an index holds the expression for all rows, as its signatures. Columns before them do not matter.
///
/// # Safety
/// As for [`alike`].
unsafe fn serves(
    index: &pg_sys::IndexOptInfo,
    table: &pg_sys::RelOptInfo,
    expression: *mut Node,
) -> bool {
    let usable = is_estimated_by_sigfile(index) && !index.hypothetical && index.indpred.is_null();
    if !usable {
        return false;
    }
    // SAFETY: an index has a key column at least; where the number of the last is 0, it is the last expression.
    unsafe {
        match *index.indexkeys.add(index.nkeycolumns as usize - 1) {
            0 => nodes(index.indexprs)
                .last()
                .is_some_and(|&indexed| pg_sys::equal(bare(indexed).cast(), expression.cast())),
            column => cast::<pg_sys::Var>(expression, pg_sys::NodeTag::T_Var).is_some_and(|var| {
                var.varno as u32 == table.relid && i32::from(var.varattno) == column
            }),
        }
    }
}
