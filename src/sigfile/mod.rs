//! The index access method `sigfile`: exact similarity search over signatures.
//!
//! ARCHITECTURE.md explains the structure; what is computed is in the core.

mod access;
mod blocks;
mod build;
mod cache;
mod column;
mod cost;
mod damage;
mod insert;
mod inspect;
mod meta;
mod nearest;
mod options;
mod page;
mod rewrite;
mod runs;
mod scan;
mod store;
mod vacuum;
mod validate;

use pgrx::{pg_sys, PgBox};

pub use options::define;

// what jobs over a whole table read
pub use cache::{segment, Loaded};
pub use column::{queried_signature, signature_column};
pub use meta::{Entry, Meta, Part};
pub use page::{Index, Kind as PageKind, PAGE_WORDS};
pub use runs::{merge, Collected, Run, Sorting};
pub use store::{check_places, Reader};
pub use validate::operators;

/// Whether a relation is a sigfile index.
///
/// SAFETY: `index` is an open index.
pub unsafe fn is_sigfile(index: pg_sys::Relation) -> bool {
    // SAFETY: as promised by the caller.
    let method = unsafe { &*(*index).rd_indam };
    method.ambuild.map(|f| f as usize) == Some(build::ambuild as *const () as usize)
}

/// Whether the planner knows an index as one of sigfile.
pub fn is_estimated_by_sigfile(index: &pg_sys::IndexOptInfo) -> bool {
    let estimate = cost::amcostestimate as *const () as usize;
    index.amcostestimate.map(|f| f as usize) == Some(estimate)
}

use crate::pg::entry;
use crate::types::NewValue;

/// `(internal)`: the routines of the method.
#[entry]
fn sigfile_handler(_fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: a node of that type, zeroed.
    let mut am =
        unsafe { PgBox::<pg_sys::IndexAmRoutine>::alloc_node(pg_sys::NodeTag::T_IndexAmRoutine) };
    am.amstrategies = access::strategy::COUNT;
    am.amcanorderbyop = true;
    am.amoptionalkey = true;
    am.amsearchnulls = true;
    am.amusemaintenanceworkmem = true;
    am.amparallelvacuumoptions = (pg_sys::VACUUM_OPTION_PARALLEL_BULKDEL
        | pg_sys::VACUUM_OPTION_PARALLEL_COND_CLEANUP) as u8;
    am.ambuild = Some(build::ambuild);
    am.ambuildempty = Some(build::ambuildempty);
    am.aminsert = Some(insert::aminsert);
    am.ambulkdelete = Some(vacuum::ambulkdelete);
    am.amvacuumcleanup = Some(vacuum::amvacuumcleanup);
    am.amcanreturn = Some(access::amcanreturn);
    am.amcostestimate = Some(cost::amcostestimate);
    am.amoptions = Some(options::amoptions);
    am.ambuildphasename = Some(build::ambuildphasename);
    am.amvalidate = Some(validate::amvalidate);
    am.ambeginscan = Some(access::ambeginscan);
    am.amrescan = Some(access::amrescan);
    am.amgettuple = Some(access::amgettuple);
    am.amgetbitmap = Some(access::amgetbitmap);
    am.amendscan = Some(access::amendscan);
    NewValue(pg_sys::Datum::from(am.into_pg()))
}
