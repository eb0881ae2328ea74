//! Who may have a block list checked.

use pgrx::PgSqlErrorCode;

use super::call::Call;
use super::prepare::Guard;
use super::relation;
use crate::pg::message::{words, Message, Result};

/// Whether a row is refused tells of the list, so the owner of the guarded table must be allowed to read it.
///
/// Errors: 42501.
pub fn check_owner(guard: &Guard, call: &Call) -> Result<()> {
    if !guard.is_list() || relation::is_owner(guard.searched, guard.owner) {
        return Ok(());
    }
    let wanted = guard.options.list_column.as_ref();
    let wanted = wanted.unwrap_or(&guard.options.column);
    let mut columns: Vec<i16> = relation::column(guard.searched, wanted)
        .into_iter()
        .collect();
    if guard.review.is_some() {
        if let Some((target, key)) = guard
            .targets
            .first()
            .and_then(|t| Some((t, t.key.as_ref()?)))
        {
            let of_list = |&c: &i16| {
                relation::column(guard.searched, &relation::column_name(target.table, c))
            };
            columns.extend(key.columns.iter().filter_map(of_list));
        }
    }
    if relation::may_select(guard.searched, &columns, guard.owner)
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
        call.trigger_name(),
        "\" reads it for the owner of table \"",
        relation::name(guard.top),
        "\", who may not read its signatures, or not those of all rows."
    ))
    .hint(words!(
        "Grant that owner SELECT on the block list, without row-level security."
    )))
}
