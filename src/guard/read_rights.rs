//! Who may have a block list checked.

use std::ffi::CString;

use pgrx::{pg_sys, PgSqlErrorCode};

use super::prepared::PreparedGuard;
use super::tables::column as relation;
use crate::pg::message::{words, Message, Result};

/// Whether a row is refused tells of the list, so the owner of the guarded table must be allowed to read it. Nothing runs as
/// that owner: rows are read as constraints read them, and what makes text of their keys is run by the invoking user: output
/// functions, and casts as far as `Key::text` trusts them.
///
/// Errors: 42501.
pub fn check_owner(guard: &PreparedGuard, trigger: impl FnOnce() -> CString) -> Result<()> {
    if !guard.is_list() || relation::is_owner(guard.searched, guard.owner) {
        return Ok(());
    }
    if relation::may_select(guard.searched, &guard.read, guard.owner)
        && !relation::has_policies_for(guard.searched, guard.owner)
    {
        return Ok(());
    }
    Err(Message::of(
        PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
        words!(
            "permission denied for table ",
            relation::name(guard.searched)
        ),
    )
    .detail(words!(
        "Trigger \"",
        trigger(),
        "\" reads it for the owner of table \"",
        relation::name(guard.top),
        "\", who may not read its signatures, or not those of all rows."
    ))
    .hint(words!(
        "Grant that owner SELECT on the block list, without row-level security."
    )))
}

/// The columns of `searched` that a guard tells of: the signature, and with a review table each key.
pub fn columns_told(searched: pg_sys::Oid, guard: &PreparedGuard) -> Vec<i16> {
    let wanted = guard.options.list_column.as_ref();
    let wanted = wanted.unwrap_or(&guard.options.column);
    let mut columns: Vec<i16> = relation::column(searched, wanted).into_iter().collect();
    if guard.review.is_none() {
        return columns;
    }
    for target in &guard.targets {
        for &c in target.key.iter().flat_map(|key| &key.columns) {
            let name = relation::column_name(target.table, c);
            columns.extend(relation::column(searched, &name));
        }
    }
    columns.sort_unstable();
    columns.dedup();
    columns
}
