//! What a guard says of similar rows.

use std::ffi::c_int;

use pgrx::{pg_sys, PgSqlErrorCode};

use super::call::TriggerCall;
use crate::guard::options::GuardAction;
use crate::guard::prepared::PreparedGuard;
use crate::guard::review::ReviewTable;
use crate::guard::search::found::{SimilarRow, SimilarRows};
use crate::guard::tables::column as relation;
use crate::pg::message::{sqlstate, words, Message, Result};

/// In class 23, integrity constraint violation; none of PostgreSQL's.
pub const TOO_SIMILAR: c_int = sqlstate(b"23P85");

/// "row … is too similar to …" with the best matches, as far as the user may read them.
pub fn too_similar(guard: &PreparedGuard, call: &TriggerCall, found: &SimilarRows) -> Box<Message> {
    message(guard, call).detail(detail(guard, found))
}

/// The same, where the similar row is not committed and its transaction waits for this one.
pub fn too_similar_to_waiting(guard: &PreparedGuard, call: &TriggerCall) -> Box<Message> {
    message(guard, call).detail(words!(
        "A transaction in progress has entered a similar row, and waits for this one."
    ))
}

fn message(guard: &PreparedGuard, call: &TriggerCall) -> Box<Message> {
    let table = relation::name(guard.top);
    let trigger = call.trigger_name();
    let similar_to = if guard.is_list() {
        let list = relation::name(guard.searched);
        words!("too similar to a row of block list \"", list, "\"")
    } else {
        words!("too similar to an existing row")
    };
    let primary = match &guard.options.message {
        Some(text) => words!(text),
        None => words!(
            "new row for relation \"",
            table,
            "\" is ",
            if guard.options.action == GuardAction::Skip {
                "skipped: "
            } else {
                ""
            },
            similar_to
        ),
    };
    let hint = words!(
        if guard.is_list() {
            "If the list does not mean this row, raise the threshold of trigger \""
        } else {
            "Use the existing row; if they are different, raise the threshold of trigger \""
        },
        trigger,
        "\"."
    );
    Message::new(TOO_SIMILAR, primary).hint(hint).about(
        words!(relation::schema(guard.top)),
        words!(table),
        words!(trigger),
    )
}

fn detail(guard: &PreparedGuard, found: &SimilarRows) -> Vec<u8> {
    // SAFETY: in a transaction.
    let user = unsafe { pg_sys::GetUserId() };
    let mut detail = Vec::new();
    for m in &found.best {
        if !may_read(guard, m, user) {
            continue;
        }
        let begin = if detail.is_empty() {
            "Similarity to "
        } else {
            ", to "
        };
        let percent = format!(" is {:.4}", m.similarity);
        detail.extend(words!(begin, shown(guard, m), percent));
    }
    if detail.is_empty() {
        return words!("The similar rows are not shown, since the current user may not read them.");
    }
    let more = found.count.saturating_sub(found.best.len() as u64);
    if more > 0 {
        detail.extend(words!("; ", more.to_string(), " more"));
    }
    detail.push(b'.');
    detail
}

fn shown(guard: &PreparedGuard, m: &SimilarRow) -> Vec<u8> {
    let target = guard.targets.iter().find(|t| t.table == m.table);
    match target.and_then(|t| t.key.as_ref()) {
        Some(key) => words!("key ", key.shown(m.table, &m.key)),
        None => words!("(ctid)=", m.key),
    }
}

/// Who has TRIGGER on a table can name a review table of their own, enter rows, and read there what is like them.
///
/// Errors: the invoking user owns the review table, but not the guarded one, and may not read a row that was found (42501).
pub fn check_told(
    guard: &PreparedGuard,
    call: &TriggerCall,
    found: &SimilarRows,
    review: &ReviewTable,
) -> Result<()> {
    // SAFETY: in a transaction.
    let user = unsafe { pg_sys::GetUserId() };
    let to_itself = !relation::is_owner(guard.top, user) && relation::is_owner(review.table, user);
    let hidden = |m: &&SimilarRow| !may_read(guard, m, user);
    let Some(hidden) = found.best.iter().find(hidden).filter(|_| to_itself) else {
        return Ok(());
    };
    Err(Message::of(
        PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
        words!("permission denied for table ", relation::name(hidden.table)),
    )
    .detail(words!(
        "Trigger \"",
        call.trigger_name(),
        "\" would enter the key of a row that the current user may not read into review table \"",
        relation::name(review.table),
        "\" of this user."
    ))
    .hint(words!(
        "Name a review table of the guarded table's owner, or grant SELECT on the table that was searched."
    )))
}

/// Key and similarity are for those who could SELECT them: from the partition, or the table that was asked for.
fn may_read(guard: &PreparedGuard, m: &SimilarRow, user: pg_sys::Oid) -> bool {
    let Some(target) = guard.targets.iter().find(|t| t.table == m.table) else {
        return false;
    };
    let mut columns = vec![target.column];
    columns.extend(target.key.iter().flat_map(|k| &k.columns));
    if readable(m.table, &columns, user) {
        return true;
    }
    if m.table == guard.searched {
        return false;
    }
    let of_top = |&c: &i16| relation::column(guard.searched, &relation::column_name(m.table, c));
    let of_top: Option<Vec<i16>> = columns.iter().map(of_top).collect();
    of_top.is_some_and(|columns| readable(guard.searched, &columns, user))
}

fn readable(table: pg_sys::Oid, columns: &[i16], user: pg_sys::Oid) -> bool {
    relation::may_select(table, columns, user) && !relation::has_policies_for(table, user)
}
