//! Columns that the server computes from others, or fills by itself.

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
        let Some(node) = expression(table, column) else {
            return Vec::new();
        };
        let mut used = std::ptr::null_mut();
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

/// Whether the server fills a column, where nobody gives a value, with something else each time, such as the time.
pub fn has_changing_default(table: &OpenRelation, column: i16) -> bool {
    // SAFETY: an expression that the server has made.
    unsafe {
        pg_sys::get_attgenerated(table.rd_id, column) == 0
            && expression(table, column).is_some_and(|node| pg_sys::contain_mutable_functions(node))
    }
}

/// The expression of a column's default, or that by which it is generated, in the current memory context.
fn expression(table: &OpenRelation, column: i16) -> Option<*mut pg_sys::Node> {
    // SAFETY: the table is open, so its descriptor stays as it is; the server made the expressions, as many as it says, and
    // reads what it has written.
    unsafe {
        let constraints = (*table.rd_att).constr.as_ref()?;
        let defaults = match constraints.num_defval {
            0 => &[],
            n => std::slice::from_raw_parts(constraints.defval, n.into()),
        };
        let found = defaults.iter().find(|d| d.adnum == column)?;
        Some(pg_sys::stringToNode(found.adbin).cast())
    }
}
