//! What a guard says of a row that is too similar to others, or has become another.
//!
//! Option `keep`: a row that is changed must stay similar to what it was, or another record has been written over it.
//!
//! Each UPDATE is compared by itself, by its old and its new version, whatever happens to the row afterwards. A row
//! that cannot be compared, such as one without a signature or with an empty one, is nobody's yet and may become
//! anybody's; one that can be compared no more keeps nothing.

use base::{Error, ErrorKind, Result};
use std::ffi::c_int;

use linkage::guard::options::GuardAction;
use linkage::guard::similar_rows::{SimilarRow, SimilarRows};

use super::{act, rights};
use crate::guard::compare::Change;
use crate::guard::prepared::PreparedGuard;
use crate::guard::trigger::TriggerCall;
use pg::catalog::privileges::current_user;
use pg::message::{sqlstate, words};
use pg::row::Row;

/// In class 23, integrity constraint violation; PostgreSQL itself does not use it.
const TOO_SIMILAR: c_int = sqlstate(b"23P85");

/// What stands in front of what a row is, in a message.
fn skipped(guard: &PreparedGuard) -> &'static str {
    match guard.options.action {
        GuardAction::Skip => "skipped: ",
        _ => "",
    }
}

/// "new row … is too similar to …", with the best matches as far as the user may read them. `None`: the similar row is
/// not committed, and its transaction waits for this one.
pub fn too_similar(guard: &PreparedGuard, found: Option<&SimilarRows>) -> Error {
    let similar_to = match guard.is_list() {
        true => words!("a row of block list \"{guard.searched}\""),
        false => words!("an existing row"),
    };
    let skipped = skipped(guard);
    let primary = match &guard.options.message {
        Some(text) => text.to_bytes().to_vec(),
        None => {
            let is = match guard.options.register {
                Some(_) => "probably the same as",
                None => "too similar to",
            };
            words!("new row for relation \"{guard.top}\" is {skipped}{is} {similar_to}")
        }
    };
    let hint = match &guard.decisions {
        Some(decisions) if !decisions.may_enter(current_user()) => words!(
            "Use the existing row; if they are different, ask somebody who may write to table \"{decisions.table}\" to enter that."
        ),
        Some(decisions) => words!(
            "If they are different, enter that into table \"{decisions.table}\", or SET LOCAL \
             bloom_ident.decide = 'different' in its transaction."
        ),
        None if guard.is_list() => words!(
            "If the list does not mean this row, raise the threshold of trigger \"{guard.trigger}\"."
        ),
        None if guard.options.register.is_some() => words!(
            "Use the existing row; if they are different, make trigger \"{guard.trigger}\" anew with a table of decisions (option decisions), and enter there that they are."
        ),
        None => words!(
            "Use the existing row; if they are different, raise the threshold of trigger \"{guard.trigger}\"."
        ),
    };
    let in_progress =
        "A transaction in progress has entered a similar row, and waits for this one.";
    let detail = found.map_or_else(|| in_progress.into(), |found| detail(guard, found));
    guard.about(
        Error::new(ErrorKind::State(TOO_SIMILAR), primary)
            .hint(hint)
            .detail(detail),
    )
}

fn detail(guard: &PreparedGuard, found: &SimilarRows) -> Vec<u8> {
    let user = current_user();
    let mut detail = Vec::new();
    let is_shown = |row: &&SimilarRow| rights::may_read(guard, row, user);
    for row in found.best.iter().filter(is_shown) {
        let by_model = guard.options.register.is_some();
        let begin = match (detail.is_empty(), by_model) {
            (true, true) => "Probability of ",
            (true, false) => "Similarity to ",
            (false, true) => "; of ",
            (false, false) => ", to ",
        };
        let (key, similarity) = (shown(guard, row), format!("{:.4}", row.similarity));
        detail.extend(words!("{begin}{key} is {similarity}"));
        if !row.reason.is_empty() {
            detail.extend(words!(": {row.reason}"));
        }
    }
    if detail.is_empty() {
        let hidden = "The similar rows are not shown, since the current user may not read them.";
        return hidden.into();
    }
    let more = found.count.saturating_sub(found.best.len() as u64);
    if more > 0 {
        detail.extend(format!("; {more} more").into_bytes());
    }
    detail.push(b'.');
    detail
}

/// `key (id)=(1)`, or `(ctid)=(0,1)` for a row of a table without primary key.
fn shown(guard: &PreparedGuard, row: &SimilarRow) -> Vec<u8> {
    let table = row.table.into();
    match guard.target(table).and_then(|t| t.table.key.as_ref()) {
        Some(key) => key.shown(table, &row.key),
        None => words!("(ctid)={row.key}"),
    }
}

/// In class 23, integrity constraint violation; PostgreSQL itself does not use it.
const TOO_DIFFERENT: c_int = sqlstate(b"23P86");

/// Looks at a row that is changed, and does with one that has become another what the action says. Returns whether the
/// row may go on.
///
/// Errors: it has become another (23P86), and the action is `reject`; the signatures are of different shapes; those of
/// writing to the review table.
pub fn check_change(call: &TriggerCall, guard: &PreparedGuard, new: &Row) -> Result<bool> {
    let (Some(keep), Some(old)) = (guard.options.keep, call.old_row()) else {
        return Ok(true);
    };
    let own = &guard.own;
    match guard.comparator.change(own.row(&old), own.row(new)) {
        // An estimate may be below 0, and nothing is less similar than that.
        Some(change) if change.similarity.max(0.0) < keep => {
            // The row as one that is similar to itself: no other pair of the table has the same key twice.
            let is_written = matches!(guard.options.action, GuardAction::Flag | GuardAction::Skip);
            let key = own.key.as_ref().filter(|_| is_written);
            let itself = key.map(|key| {
                let mut itself = SimilarRows::default();
                let table = call.table().to_u32();
                let key = || key.text(new, guard.owner);
                itself.add(change.similarity, table, key, Vec::new);
                itself
            });
            act(call, guard, new, itself.as_ref(), || {
                too_different(call, guard, &old, &change, keep)
            })
        }
        _ => Ok(true),
    }
}

fn too_different(
    call: &TriggerCall,
    guard: &PreparedGuard,
    old: &Row,
    change: &Change,
    keep: f64,
) -> Error {
    let skipped = skipped(guard);
    let primary = words!(
        "updated row for relation \"{guard.top}\" is {skipped}too different from what it was"
    );
    let may_read = rights::may_read_own(guard, current_user());
    let row = match &guard.own.key {
        Some(key) if may_read => key.shown(call.table(), &key.text(old, guard.owner)),
        _ => words!("the row"),
    };
    let detail = match change.lacks {
        Some(lacks) => words!("The new version of {row} has no {lacks}."),
        None if may_read => {
            let than = format!("{:.4}, less than {keep}", change.similarity);
            words!("Similarity of {row} to its old version is {than}.")
        }
        None => words!(
            "Its similarity to its old version is not shown, since the current user may not read \
             the row."
        ),
    };
    let hint = match change.lacks {
        Some(_) => words!("Delete the row, or disable trigger \"{guard.trigger}\" to empty it."),
        None => words!(
            "Insert another record as a row of its own; if this is a correction, lower option \
             \"keep\" of trigger \"{guard.trigger}\"."
        ),
    };
    guard.about(
        Error::new(ErrorKind::State(TOO_DIFFERENT), primary)
            .detail(detail)
            .hint(hint),
    )
}
