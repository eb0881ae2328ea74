//! The index of a constraint on `bloom_query(sig, 0.85)` also holds the signatures by themselves, so
//! it serves searches of `sig`: the planner gets it once more, as an index on that.
//!
//! The server finds the strategy of a condition in the operator family of the index itself, and both classes
//! of sigfile are in one family.

use pgrx::pg_sys::{self, NodeTag};

use access::{is_estimated_by_sigfile, queried_signature};
use pg::tree::list::{self, nodes};
use pg::tree::node::{bare, cast};

/// Offers the indexes of a table for what they hold.
///
/// # Safety
/// `rel` is a table's, as the planner has read it from the catalogs.
pub unsafe fn offer(rel: &mut pg_sys::RelOptInfo) {
    // SAFETY: the planner has read the table and its indexes from the catalogs; the new node is of the planner's
    // memory.
    unsafe {
        for index in nodes(rel.indexlist) {
            let index = &*index.cast::<pg_sys::IndexOptInfo>();
            if let Some(more) = signatures(index) {
                rel.indexlist = pg_sys::lappend(rel.indexlist, more.cast());
            }
        }
    }
}

/// The index as one on the signatures, if it is one on `bloom_query(signature, constant)`.
///
/// # Safety
/// `index` is of the planner's list.
unsafe fn signatures(index: &pg_sys::IndexOptInfo) -> Option<*mut pg_sys::IndexOptInfo> {
    if !is_estimated_by_sigfile(index) {
        return None;
    }
    // SAFETY: the index is of the planner's list, with a key column at least; where the number of the last is 0, it is
    // the last expression.
    unsafe {
        let columns = index.nkeycolumns as usize;
        let last = columns - 1;
        if *index.indexkeys.add(last) != 0 {
            return None;
        }
        let mut expressions = nodes(index.indexprs);
        let signature = queried_signature(expressions.pop()?)?;
        let mut more = *index;
        more.indexkeys = copied(index.indexkeys, columns);
        more.opcintype = copied(index.opcintype, columns);
        more.opcintype.add(last).write(signature.bloom);
        // what can be returned is the query
        more.canreturn = copied(index.canreturn, columns);
        more.canreturn.add(last).write(false);
        match cast::<pg_sys::Var>(bare(signature.of), NodeTag::T_Var) {
            Some(column) => more.indexkeys.add(last).write(column.varattno.into()),
            None => expressions.push(signature.of),
        }
        more.indexprs = match expressions[..] {
            [] => std::ptr::null_mut(),
            _ => list::of(&expressions),
        };
        Some(in_planner(more))
    }
}

/// # Safety
/// In the planner's memory context; there are `n` values at `from`.
unsafe fn copied<T: Copy>(from: *const T, n: usize) -> *mut T {
    // SAFETY: memory of that size.
    unsafe {
        let to = pg_sys::palloc(size_of::<T>() * n).cast::<T>();
        std::ptr::copy_nonoverlapping(from, to, n);
        to
    }
}

/// # Safety
/// In the planner's memory context.
unsafe fn in_planner<T>(value: T) -> *mut T {
    // SAFETY: memory of that size.
    unsafe {
        let to = pg_sys::palloc(size_of::<T>()).cast::<T>();
        to.write(value);
        to
    }
}
