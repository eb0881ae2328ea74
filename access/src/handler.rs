//! The routines of the access method.

use pgrx::{pg_sys, PgBox};

use super::class::{leading, options, strategy, validate};
use super::scan;
use super::scan::cost;
use super::write::{build, insert, vacuum};
use pg::entry;
use pg::values::varlena::NewValue;

/// Whether a relation is a sigfile index.
///
/// # Safety
/// `index` is an open index.
pub unsafe fn is_sigfile(index: pg_sys::Relation) -> bool {
    // SAFETY: an open index has the routines of its access method.
    let method = unsafe { &*(*index).rd_indam };
    method.ambuild.map(|f| f as usize) == Some(build::ambuild as *const () as usize)
}

/// Whether the planner knows an index as one of sigfile.
pub fn is_estimated_by_sigfile(index: &pg_sys::IndexOptInfo) -> bool {
    let estimate = cost::amcostestimate as *const () as usize;
    index.amcostestimate.map(|f| f as usize) == Some(estimate)
}

/// `(internal) RETURNS index_am_handler`
///
/// The routines of the access method.
#[entry(volatile, parallel_unsafe)]
fn sigfile_handler(_fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: all zero, with its tag, is a node of that type.
    let mut am =
        unsafe { PgBox::<pg_sys::IndexAmRoutine>::alloc_node(pg_sys::NodeTag::T_IndexAmRoutine) };
    am.amstrategies = strategy::COUNT;
    am.amsupport = leading::HASH;
    am.amcanmulticol = true;
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
    am.amcanreturn = Some(scan::amcanreturn);
    am.amcostestimate = Some(cost::amcostestimate);
    am.amoptions = Some(options::amoptions);
    am.ambuildphasename = Some(build::ambuildphasename);
    am.amvalidate = Some(validate::amvalidate);
    am.ambeginscan = Some(scan::ambeginscan);
    am.amrescan = Some(scan::amrescan);
    am.amgettuple = Some(scan::amgettuple);
    am.amgetbitmap = Some(scan::amgetbitmap);
    am.amendscan = Some(scan::amendscan);
    NewValue(pg_sys::Datum::from(am.into_pg()))
}
