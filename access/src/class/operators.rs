//! The operators of a class.

use pgrx::pg_sys;

use super::column::key_columns;
use super::strategy;
use crate::page::SigfileIndex;

/// Whether rows of the index have thresholds: its operator class is one for `bloom_query` then.
pub fn has_thresholds(index: SigfileIndex<'_>) -> bool {
    // SAFETY: the relation is open, and the families and types of its key columns are kept with it.
    unsafe {
        let relation = &*index.relation();
        let last = key_columns(index.relation()) - 1;
        let family = *relation.rd_opfamily.add(last);
        let input = *relation.rd_opcintype.add(last);
        let operator = pg_sys::get_opfamily_member(family, input, input, strategy::MATCH as i16);
        operator != pg_sys::InvalidOid
    }
}

/// The operators of a family.
///
/// # Safety
/// In a transaction.
pub unsafe fn operators(family: pg_sys::Oid) -> Vec<pg_sys::FormData_pg_amop> {
    // SAFETY: in a transaction; the rows of the list are copied before it is released.
    unsafe {
        let list = pg_sys::SearchSysCacheList(
            pg_sys::SysCacheIdentifier::AMOPSTRATEGY as i32,
            1,
            pg_sys::Datum::from(family),
            pg_sys::Datum::null(),
            pg_sys::Datum::null(),
        );
        let n = (*list).n_members as usize;
        let members = (*list).members.as_slice(n);
        let rows = members
            .iter()
            .map(|&m| {
                *pg_sys::heap_tuple_get_struct::<pg_sys::FormData_pg_amop>(&raw mut (*m).tuple)
            })
            .collect();
        pg_sys::ReleaseCatCacheList(list);
        rows
    }
}
