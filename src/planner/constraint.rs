//! The index of a constraint on `bloom_query(sig, 0.85)` also holds the signatures by themselves, so
//! it serves searches of `sig`: the planner gets it once more, as an index on that.
//!
//! The server finds the strategy of a condition in the operator family of the index itself, and both classes
//! of sigfile are in one family.

use pgrx::pg_sys::{self, NodeTag};

use crate::pg::list::{self, nodes};
use crate::pg::node::{bare, cast};
use crate::sigfile::{is_estimated_by_sigfile, queried_signature};

/// Offers the indexes of a table for what they hold.
///
/// # Safety
/// `rel` is a table's, as the planner has read it from the catalogs.
pub unsafe fn offer(rel: &mut pg_sys::RelOptInfo) {
    // SAFETY: the planner has read the table and its indexes from the catalogs; the new node is of the planner's memory.
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
    // SAFETY: the index is of the planner's list; such an index has one column, and an expression if that is 0.
    unsafe {
        if *index.indexkeys != 0 {
            return None;
        }
        let signature = queried_signature(*nodes(index.indexprs).first()?)?;
        let mut more = *index;
        more.indexkeys = in_planner(0);
        more.opcintype = in_planner(signature.bloom);
        // what can be returned is the query
        more.canreturn = in_planner(false);
        match cast::<pg_sys::Var>(bare(signature.of), NodeTag::T_Var) {
            Some(column) => {
                more.indexkeys.write(column.varattno.into());
                more.indexprs = std::ptr::null_mut();
            }
            None => more.indexprs = list::of(&[signature.of]),
        }
        Some(in_planner(more))
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
