//! Columns that the server computes from others.

use std::ffi::CStr;

use pgrx::pg_sys;

use crate::relation::OpenRelation;

/// The columns that a generated column of an open table is computed from, ascending; none if it is no generated column.
pub fn sources(table: &OpenRelation, column: i16) -> Vec<i16> {
    // SAFETY: the table is open, so its descriptor stays as it is; the server made the expressions, and reads what it
    // has written.
    unsafe {
        if pg_sys::get_attgenerated(table.rd_id, column) == 0 {
            return Vec::new();
        }
        let Some(constraints) = (*table.rd_att).constr.as_ref() else {
            return Vec::new();
        };
        let defaults = match constraints.num_defval {
            0 => &[],
            n => std::slice::from_raw_parts(constraints.defval, n.into()),
        };
        let Some(found) = defaults.iter().find(|d| d.adnum == column) else {
            return Vec::new();
        };
        let expression = CStr::from_ptr(found.adbin);
        let mut used = std::ptr::null_mut();
        let node = pg_sys::stringToNode(expression.as_ptr()).cast();
        pg_sys::pull_varattnos(node, 1, &mut used);
        let mut columns = Vec::new();
        let mut member = -1;
        loop {
            member = pg_sys::bms_next_member(used, member);
            if member < 0 {
                break columns;
            }
            // A member is the number of a column, moved so that those of the system are not negative. A generated
            // column has no whole row.
            let number = member + pg_sys::FirstLowInvalidHeapAttributeNumber;
            columns.extend(i16::try_from(number).ok().filter(|&n| n > 0));
        }
    }
}
