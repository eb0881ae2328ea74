//! Whose rows may be searched, and who may be told of what was found.

use base::{Error, Result};
use linkage::guard::similar_rows::{SimilarRow, SimilarRows};
use pg::error::sql_error;
use pgrx::pg_sys;
use pgrx::PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE;

use crate::guard::prepared::PreparedGuard;
use pg::catalog;
use pg::catalog::privileges::{current_user, has_policies_for, is_owner, may_select};
use pg::message::words;

fn permission_denied(table: pg_sys::Oid) -> Error {
    sql_error(
        ERRCODE_INSUFFICIENT_PRIVILEGE,
        words!("permission denied for table {table}"),
    )
}

/// Whether a row is refused tells what is in the block list, so the owner of the guarded table must be allowed to read
/// it. Nothing runs as that owner: the search reads rows without privileges, as constraints do. The output functions
/// and the casts that make keys a text run as the invoking user; `PrimaryKey::text` says which casts are used.
///
/// Errors: the owner may not (42501).
pub fn check_owner(guard: &PreparedGuard) -> Result<()> {
    if !guard.is_list()
        || is_owner(guard.searched, guard.owner)
        || may_read_columns(guard.searched, &guard.disclosed, guard.owner)
    {
        return Ok(());
    }
    let what = guard.comparator.reads();
    Err(permission_denied(guard.searched)
        .detail(words!(
            "Trigger \"{guard.trigger}\" reads it for the owner of table \"{guard.top}\", who may \
             not read its {what}, or not those of all rows."
        ))
        .hint("Grant that owner SELECT on the block list, without row-level security."))
}

/// A user who has TRIGGER on a table could name a review table, or one of skipped rows, of their own in a trigger,
/// enter rows, and read there which rows are similar to them.
///
/// Errors: the invoking user owns the review table and not the guarded one, and may not read a row that was found
/// (42501).
pub fn check_written_owner(
    guard: &PreparedGuard,
    found: &SimilarRows,
    review: pg_sys::Oid,
) -> Result<()> {
    let user = current_user();
    if is_owner(guard.top, user) || !is_owner(review, user) {
        return Ok(());
    }
    let is_hidden = |row: &&SimilarRow| !may_read(guard, row, user);
    let Some(hidden) = found.best.iter().find(is_hidden) else {
        return Ok(());
    };
    Err(permission_denied(hidden.table.into())
        .detail(words!(
            "Trigger \"{guard.trigger}\" would enter the key of a row that the current user may \
             not read into table \"{review}\" of this user."
        ))
        .hint(
            "Name a table of the guarded table's owner, or grant SELECT on the \
                table that was searched.",
        ))
}

/// Whether the user may see the key and the similarity of a row, and that it is equal to another in some columns:
/// whether the user could SELECT them from the partition, or from the table that is searched as a whole.
pub fn may_read(guard: &PreparedGuard, row: &SimilarRow, user: pg_sys::Oid) -> bool {
    let table = pg_sys::Oid::from(row.table);
    let Some(target) = guard.target(table) else {
        return false;
    };
    let compared = target
        .table
        .columns
        .iter()
        .chain(target.table.key_columns());
    let columns: Vec<i16> = compared
        .copied()
        .chain(target.table.within.numbers())
        .collect();
    may_read_row((table, guard.searched), &columns, user)
}

/// The same of a row of the table that the trigger fires for, without the columns in which rows must be equal.
pub fn may_read_own(guard: &PreparedGuard, user: pg_sys::Oid) -> bool {
    let columns = guard.own.columns.iter().chain(guard.own.key_columns());
    let columns: Vec<i16> = columns.copied().collect();
    may_read_row((guard.own.oid, guard.top), &columns, user)
}

/// Whether the user could SELECT the columns from the table, or from `top`, of which it may be a partition.
fn may_read_row(
    (table, top): (pg_sys::Oid, pg_sys::Oid),
    columns: &[i16],
    user: pg_sys::Oid,
) -> bool {
    if may_read_columns(table, columns, user) {
        return true;
    }
    if table == top {
        return false;
    }
    let of_top = |&c: &i16| catalog::column(top, &catalog::column_name(table, c));
    let of_top: Option<Vec<i16>> = columns.iter().map(of_top).collect();
    of_top.is_some_and(|columns| may_read_columns(top, &columns, user))
}

/// Whether the user may read these columns of all rows.
pub fn may_read_columns(table: pg_sys::Oid, columns: &[i16], user: pg_sys::Oid) -> bool {
    may_select(table, columns, user) && !has_policies_for(table, user)
}
