//! Option `keep`: a row that is changed must stay similar to what it was, or another record has been written over it.
//!
//! Each UPDATE is judged by itself, by its old and its new version, whatever happens to the row afterwards. A row that
//! cannot be compared, such as one without a signature or with an empty one, is nobody's yet and may become anybody's;
//! one that can be compared no more keeps nothing.

use base::{Error, ErrorKind, Result};
use pg::error::sql_error;
use std::ffi::c_int;

use linkage::guard::options::GuardAction;
use linkage::guard::similar_rows::SimilarRows;
use pgrx::PgSqlErrorCode;

use super::{act, read_rights, too_similar};
use crate::guard::compare::Change;
use crate::guard::prepared::PreparedGuard;
use crate::guard::row::Row;
use crate::guard::trigger::call::TriggerCall;
use pg::catalog::{self, privileges::current_user};
use pg::message::{sqlstate, words};

/// In class 23, integrity constraint violation; PostgreSQL itself does not use it.
pub const NOT_KEPT: c_int = sqlstate(b"23P86");

/// Looks at a row that is changed, and does with one that has become another what the action says. Returns whether the
/// row may go on.
///
/// Errors: it has become another (23P86), and the action is `reject`; the signatures are of different shapes; those of
/// writing to the review table.
pub fn check(call: &TriggerCall, guard: &PreparedGuard, new: &Row) -> Result<bool> {
    let (Some(keep), Some(old)) = (guard.options.keep, call.old_row()) else {
        return Ok(true);
    };
    let own = &guard.own;
    match own.judge.change(own.judged(&old), own.judged(new)) {
        // An estimate may be below 0, and nothing is less similar than that.
        Some(change) if change.similarity.max(0.0) < keep => {
            // The row as one that is similar to itself: no other pair of the table has the same key twice.
            let is_written = matches!(guard.options.action, GuardAction::Flag | GuardAction::Skip);
            let key = own.key.as_ref().filter(|_| is_written);
            let itself = key.map(|key| {
                let mut itself = SimilarRows::default();
                let table = call.table().to_u32();
                itself.add(change.similarity, table, || key.text(new, guard.owner));
                itself
            });
            act(call, guard, new, itself.as_ref(), || {
                message(call, guard, &old, &change, keep)
            })
        }
        _ => Ok(true),
    }
}

fn message(
    call: &TriggerCall,
    guard: &PreparedGuard,
    old: &Row,
    change: &Change,
    keep: f64,
) -> Error {
    let primary = words!(
        "updated row for relation \"{}\" is {}too different from what it was",
        catalog::name(guard.top),
        too_similar::skipped(guard)
    );
    let may_read = read_rights::may_read_own(guard, call.table(), current_user());
    let row = match &guard.own.key {
        Some(key) if may_read => {
            let text = key.text(old, guard.owner);
            words!("key {}", key.shown(call.table(), &text))
        }
        _ => words!("the row"),
    };
    let detail = match change.without {
        Some(without) => words!("The new version of {} has no {}.", row, without),
        None if may_read => words!(
            "Similarity of {} to its old version is {}, less than {}.",
            row,
            format!("{:.4}", change.similarity),
            keep.to_string()
        ),
        None => words!(
            "Its similarity to its old version is not shown, since the current user \
                may not read the row."
        ),
    };
    let hint = match change.without {
        Some(_) => words!(
            "Delete the row, or disable trigger \"{}\" to empty it.",
            guard.trigger
        ),
        None => words!(
            "Insert another record as a row of its own; if this is a correction, \
                lower option \"keep\" of trigger \"{}\".",
            guard.trigger
        ),
    };
    guard.about(
        Error::new(ErrorKind::State(NOT_KEPT), primary)
            .detail(detail)
            .hint(hint),
    )
}

/// Errors: the guard has the option, and its trigger does not fire for UPDATE (39P01).
pub fn check_event(call: &TriggerCall, keep: Option<f64>) -> Result<()> {
    if keep.is_none() || call.fires_for_update() {
        return Ok(());
    }
    Err(sql_error(
        PgSqlErrorCode::ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED,
        "option \"keep\" of bloom_guard needs a trigger fired for UPDATE",
    )
    .hint(words!(
        "Create trigger \"{}\" for INSERT OR UPDATE, or leave the option out.",
        call.trigger_name()
    )))
}
