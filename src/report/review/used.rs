//! Which columns a signature is made of.

use std::ffi::CString;

use pgrx::pg_sys;

use pg::catalog;
use pg::catalog::generated::sources;
use pg::relation::OpenRelation;
use types::objects::{is_bits, is_signature};

fn names(table: &OpenRelation, numbers: Vec<i16>) -> Vec<CString> {
    let names = numbers
        .into_iter()
        .map(|number| catalog::column_name(table.rd_id, number));
    names.collect()
}

/// The columns that a generated column of a locked relation is computed from.
pub fn of_signature(relation: pg_sys::Oid, column: &CString) -> Vec<CString> {
    let table = OpenRelation::locked_table(relation);
    let number = catalog::column(relation, column);
    let used = number.map_or(Vec::new(), |number| sources(&table, number));
    names(&table, used)
}

/// The columns that any signature or sketch of a locked relation is computed from.
pub fn of_signatures(relation: pg_sys::Oid) -> Vec<CString> {
    let table = OpenRelation::locked_table(relation);
    // SAFETY: an open relation has a descriptor.
    let columns = unsafe { (*table.rd_att).natts } as i16;
    let mut used: Vec<i16> = Vec::new();
    for number in 1..=columns {
        let of_type = catalog::column_type(relation, number);
        if is_signature(of_type) || is_bits(of_type) {
            used.extend(sources(&table, number));
        }
    }
    used.sort_unstable();
    used.dedup();
    names(&table, used)
}
