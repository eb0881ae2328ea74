//! Option `keep`: a row that is changed must stay similar to what it was, or another record has been written over it.
//!
//! Each UPDATE is judged by itself, by its old and its new version, whatever happens to the row afterwards. A row without a
//! signature, or with an empty one, is nobody's yet and may become anybody's; one that loses its signature keeps nothing.

use std::ffi::c_int;

use bloom_ident_core::guard::options::GuardAction;
use bloom_ident_core::guard::similar_rows::SimilarRows;
use pgrx::{pg_sys, PgLogLevel, PgSqlErrorCode};

use super::call::TriggerCall;
use crate::guard::prepared::PreparedGuard;
use crate::guard::read_rights;
use crate::guard::tables::column::attribute;
use crate::guard::tables::signature::ComparedSignature;
use crate::pg::catalog::{self, privileges::current_user};
use crate::pg::error::OrRaise;
use crate::pg::message::{sqlstate, words, Message, OrMessage};
use crate::sigfile::SignatureType;

/// In class 23, integrity constraint violation; PostgreSQL itself does not use it.
pub const NOT_KEPT: c_int = sqlstate(b"23P86");

/// What has become of a row.
struct LostRow {
    /// To what it was.
    similarity: f64,
    /// The least that it had to be.
    keep: f64,
    /// Whether it has no signature any more, or an empty one.
    is_empty: bool,
}

/// Looks at a row that is changed, and does with one that has become another what the action says. Returns whether the row may
/// go on. `new` is its new signature, `None` for NULL.
///
/// Errors: it has become another (23P86), and the action is `reject`; the signatures are of different shapes; those of writing
/// to the review table.
///
/// # Safety
/// `new` is NULL or a signature of the guard's column that is readable during the call, which does not outlive the trigger's call.
pub unsafe fn check(
    call: &TriggerCall,
    guard: &PreparedGuard,
    new: Option<pg_sys::Datum>,
) -> OrMessage<bool> {
    let (Some(keep), Some(old)) = (guard.options.keep, call.old_row()) else {
        return Ok(true);
    };
    // SAFETY: the slot holds a row of the trigger's table, and the guard's column is a signature column of it.
    let Some(lost) = (unsafe {
        lost(
            guard.column.of_type,
            attribute(old, guard.column.number),
            new,
            keep,
        )
    }) else {
        return Ok(true);
    };
    match guard.options.action {
        GuardAction::Flag => {
            // SAFETY: the trigger's slots hold rows of its table.
            unsafe { flag(call, guard, &lost)? };
            Ok(true)
        }
        action => {
            // SAFETY: the slot holds a row of the trigger's table.
            let message = unsafe { message(call, guard, old, &lost) };
            match action {
                GuardAction::Warn => message.send(PgLogLevel::WARNING),
                GuardAction::Skip => message.send(PgLogLevel::NOTICE),
                _ => return Err(message),
            }
            Ok(action != GuardAction::Skip)
        }
    }
}

/// # Safety
/// Each value is NULL or a readable signature of this type.
unsafe fn lost(
    of_type: SignatureType,
    old: Option<pg_sys::Datum>,
    new: Option<pg_sys::Datum>,
    keep: f64,
) -> Option<LostRow> {
    // SAFETY: the values are signatures, as the caller promises.
    let (old, new) = unsafe {
        let old = ComparedSignature::of(of_type, old?);
        let new = new.map(|new| old.other(new));
        (old, new)
    };
    if old.is_empty() {
        return None;
    }
    let similarity = new
        .as_ref()
        .map_or(0.0, |new| old.similarity(new).or_raise());
    (similarity < keep).then(|| LostRow {
        similarity,
        keep,
        is_empty: new.is_none_or(|new| new.is_empty()),
    })
}

/// Enters the row as similar to itself: no other pair of the table has the same key twice.
///
/// # Safety
/// The call's slots hold rows of the trigger's table.
unsafe fn flag(call: &TriggerCall, guard: &PreparedGuard, lost: &LostRow) -> OrMessage<()> {
    let (Some(review), Some(key)) = (&guard.review, &guard.key) else {
        return Ok(());
    };
    // SAFETY: the slot holds a row of the trigger's table, to which the key belongs.
    let key = unsafe { key.text(call.table(), call.new_row(), guard.owner) };
    let mut itself = SimilarRows::default();
    itself.add(lost.similarity, call.table().to_u32(), || key.clone());
    read_rights::check_review_owner(guard, &itself, review.table, || call.trigger_name())?;
    review.enter(guard.owner, &key, &itself)
}

/// # Safety
/// `old` holds a row of the trigger's table.
unsafe fn message(
    call: &TriggerCall,
    guard: &PreparedGuard,
    old: *mut pg_sys::TupleTableSlot,
    lost: &LostRow,
) -> Box<Message> {
    let (table, trigger) = (catalog::name(guard.top), call.trigger_name());
    let primary = words!(
        "updated row for relation \"",
        table,
        "\" is ",
        if guard.options.action == GuardAction::Skip {
            "skipped: "
        } else {
            ""
        },
        "too different from what it was"
    );
    let may_read = read_rights::may_read_own(guard, call.table(), current_user());
    let row = match &guard.key {
        Some(key) if may_read => {
            // SAFETY: the slot holds a row of the trigger's table, to which the key belongs.
            let text = unsafe { key.text(call.table(), old, guard.owner) };
            words!("key ", key.shown(call.table(), &text))
        }
        _ => words!("the row"),
    };
    let (detail, hint) = if lost.is_empty {
        (
            words!("The new version of ", row, " has no signature."),
            words!(
                "Delete the row, or disable trigger \"",
                trigger,
                "\" to empty it."
            ),
        )
    } else {
        let (similarity, keep) = (format!("{:.4}", lost.similarity), lost.keep.to_string());
        let detail = if may_read {
            words!(
                "Similarity of ",
                row,
                " to its old version is ",
                similarity,
                ", less than ",
                keep,
                "."
            )
        } else {
            words!(
                "Its similarity to its old version is not shown, since the current user may not read the row."
            )
        };
        (
            detail,
            words!(
                "Insert another record as a row of its own; if this is a correction, lower option \"keep\" of trigger \"",
                trigger,
                "\"."
            ),
        )
    };
    Message::new(NOT_KEPT, primary)
        .detail(detail)
        .hint(hint)
        .about(
            words!(catalog::schema(guard.top)),
            words!(table),
            words!(trigger),
        )
}

/// Errors: the guard has the option, and its trigger does not fire for UPDATE (39P01).
pub fn check_event(call: &TriggerCall, keep: Option<f64>) -> OrMessage<()> {
    if keep.is_none() || call.fires_for_update() {
        return Ok(());
    }
    Err(Message::of(
        PgSqlErrorCode::ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED,
        words!("option \"keep\" of bloom_guard needs a trigger fired for UPDATE"),
    )
    .hint(words!(
        "Create trigger \"",
        call.trigger_name(),
        "\" for INSERT OR UPDATE, or leave the option out."
    )))
}
