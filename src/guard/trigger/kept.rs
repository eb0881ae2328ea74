//! Option `keep`: a row that is changed must stay similar to what it was, or another record has been written over it.
//!
//! Each UPDATE is judged by itself, by its old and its new version, whatever happens to the row afterwards. A row without a
//! signature, or with an empty one, is nobody's yet and may become anybody's; one that loses its signature keeps nothing. With option `verify` tokens
//! are compared, as those of other rows are.

use std::ffi::c_int;

use linkage::guard::options::GuardAction;
use linkage::guard::similar_rows::SimilarRows;
use pgrx::{pg_sys, PgLogLevel, PgSqlErrorCode};

use super::call::TriggerCall;
use super::skipped;
use crate::guard::prepared::PreparedGuard;
use crate::guard::read_rights;
use crate::guard::tables::column::attribute;
use crate::guard::tables::signature::ComparedSignature;
use crate::guard::tables::tokens::WantedTokens;
use pg::catalog::{self, privileges::current_user};
use pg::error::OrRaise;
use pg::message::{sqlstate, words, Message, OrMessage};

/// In class 23, integrity constraint violation; PostgreSQL itself does not use it.
pub const NOT_KEPT: c_int = sqlstate(b"23P86");

/// What has become of a row.
struct LostRow {
    /// To what it was.
    similarity: f64,
    /// The least that it had to be.
    keep: f64,
    /// What it has no more, if it has no signature, or an empty one, or no tokens where these are compared.
    without: Option<&'static str>,
}

/// Looks at a row that is changed, and does with one that has become another what the action says. Returns whether the row may
/// go on. `new` is its new signature, `None` for NULL; `tokens` are its new tokens, `None` for NULL, or if the guard does not compare them.
///
/// Errors: it has become another (23P86), and the action is `reject`; the signatures are of different shapes; those of writing
/// to the review table.
///
/// # Safety
/// `new` is NULL or a signature of the guard's column, `tokens` is NULL or a `text[]`; they are readable during the call, which does not outlive the trigger's call.
pub unsafe fn check(
    call: &TriggerCall,
    guard: &PreparedGuard,
    new: Option<pg_sys::Datum>,
    tokens: Option<pg_sys::Datum>,
) -> OrMessage<bool> {
    let (Some(keep), Some(old)) = (guard.options.keep, call.old_row()) else {
        return Ok(true);
    };
    // SAFETY: the slot holds a row of the trigger's table, and the guard's columns are one of signatures and one of tokens.
    let lost = unsafe {
        match guard.tokens {
            Some(column) => lost_tokens(attribute(old, column.number), tokens, keep),
            None => lost(guard, attribute(old, guard.column.number), new, keep),
        }
    };
    let Some(lost) = lost else {
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
                GuardAction::Skip => {
                    // SAFETY: the trigger's slots hold rows of its table.
                    let itself = unsafe { itself(call, guard, &lost) };
                    // SAFETY: the slot holds the new row.
                    unsafe { skipped::skip(call, guard, message, itself.as_ref())? };
                }
                _ => return Err(message),
            }
            Ok(action != GuardAction::Skip)
        }
    }
}

/// What was lost by signatures.
///
/// # Safety
/// Each value is NULL or a readable signature of the guard's type.
unsafe fn lost(
    guard: &PreparedGuard,
    old: Option<pg_sys::Datum>,
    new: Option<pg_sys::Datum>,
    keep: f64,
) -> Option<LostRow> {
    // SAFETY: the values are signatures, as the caller promises.
    let (old, new) = unsafe {
        let old = ComparedSignature::of(guard.column.of_type, old?);
        let new = new.map(|new| old.other(new));
        (old, new)
    };
    if old.is_empty() {
        return None;
    }
    let similarity = new
        .as_ref()
        .map_or(0.0, |new| old.similarity(new).or_raise());
    let is_empty = new.is_none_or(|new| new.is_empty());
    LostRow::of(similarity, keep, is_empty.then_some("signature"))
}

/// The same by tokens.
///
/// # Safety
/// Each value is NULL or a readable `text[]`.
unsafe fn lost_tokens(
    old: Option<pg_sys::Datum>,
    new: Option<pg_sys::Datum>,
    keep: f64,
) -> Option<LostRow> {
    // SAFETY: the values are of type text[], as the caller promises.
    let similarity = unsafe { WantedTokens::of(old)?.similarity(new) };
    let without = similarity.is_none().then_some("tokens");
    LostRow::of(similarity.unwrap_or(0.0), keep, without)
}

impl LostRow {
    fn of(similarity: f64, keep: f64, without: Option<&'static str>) -> Option<LostRow> {
        // An estimate may be below 0, and nothing is less similar than that.
        (similarity.max(0.0) < keep).then_some(LostRow {
            similarity,
            keep,
            without,
        })
    }
}

/// Enters the row as similar to itself: no other pair of the table has the same key twice.
///
/// # Safety
/// The call's slots hold rows of the trigger's table.
unsafe fn flag(call: &TriggerCall, guard: &PreparedGuard, lost: &LostRow) -> OrMessage<()> {
    let Some(review) = &guard.review else {
        return Ok(());
    };
    // SAFETY: the slots hold rows, as the caller promises.
    let Some(itself) = (unsafe { itself(call, guard, lost) }) else {
        return Ok(());
    };
    let key = itself.best[0].key.clone();
    read_rights::check_review_owner(guard, &itself, review.table(), || call.trigger_name())?;
    review.enter(guard.owner, &key, &itself)
}

/// The row as one that is similar to itself; `None` if the table has no key.
///
/// # Safety
/// The call's slots hold rows of the trigger's table.
unsafe fn itself(call: &TriggerCall, guard: &PreparedGuard, lost: &LostRow) -> Option<SimilarRows> {
    let key = guard.key.as_ref()?;
    // SAFETY: the slot holds a row of the trigger's table, to which the key belongs.
    let key = unsafe { key.text(call.table(), call.new_row(), guard.owner) };
    let mut itself = SimilarRows::default();
    itself.add(lost.similarity, call.table().to_u32(), || key.clone());
    Some(itself)
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
    let (detail, hint) = if let Some(without) = lost.without {
        (
            words!("The new version of ", row, " has no ", without, "."),
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
