//! What a guard says of a row that is too similar to others.

use base::{Error, ErrorKind};
use std::ffi::c_int;

use linkage::guard::options::GuardAction;
use linkage::guard::similar_rows::{SimilarRow, SimilarRows};

use super::read_rights::may_read;
use crate::guard::prepared::PreparedGuard;
use pg::catalog::{self, privileges::current_user};
use pg::message::{sqlstate, words};

/// In class 23, integrity constraint violation; PostgreSQL itself does not use it.
pub const TOO_SIMILAR: c_int = sqlstate(b"23P85");

/// "new row … is too similar to …", with the best matches as far as the user may read them.
pub fn to_rows(guard: &PreparedGuard, found: &SimilarRows) -> Error {
    message(guard).detail(detail(guard, found))
}

/// The same, where the similar row is not committed, and its transaction waits for this one.
pub fn to_a_waiting_row(guard: &PreparedGuard) -> Error {
    message(guard)
        .detail("A transaction in progress has entered a similar row, and waits for this one.")
}

/// What stands in front of what a row is, in a message.
pub fn skipped(guard: &PreparedGuard) -> &'static str {
    match guard.options.action {
        GuardAction::Skip => "skipped: ",
        _ => "",
    }
}

fn message(guard: &PreparedGuard) -> Error {
    let similar_to = match guard.is_list() {
        true => words!("a row of block list \"{}\"", catalog::name(guard.searched)),
        false => words!("an existing row"),
    };
    let primary = match &guard.options.message {
        Some(text) => text.to_bytes().to_vec(),
        None => words!(
            "new row for relation \"{}\" is {}too similar to {}",
            catalog::name(guard.top),
            skipped(guard),
            similar_to
        ),
    };
    let hint = match &guard.decisions {
        Some(decisions) => words!(
            "If they are different, enter that into table \"{}\", or SET \
                bloom_ident.decide = 'different' for this statement.",
            catalog::name(decisions.table)
        ),
        None if guard.is_list() => words!(
            "If the list does not mean this row, raise the threshold of trigger \"{}\".",
            guard.trigger
        ),
        None => words!(
            "Use the existing row; if they are different, raise the threshold of trigger \"{}\".",
            guard.trigger
        ),
    };
    guard.about(Error::new(ErrorKind::State(TOO_SIMILAR), primary).hint(hint))
}

fn detail(guard: &PreparedGuard, found: &SimilarRows) -> Vec<u8> {
    let user = current_user();
    let mut detail = Vec::new();
    for row in &found.best {
        if !may_read(guard, row, user) {
            continue;
        }
        let begin = if detail.is_empty() {
            "Similarity to "
        } else {
            ", to "
        };
        let similarity = format!(" is {:.4}", row.similarity);
        detail.extend(words!("{}{}{}", begin, shown(guard, row), similarity));
    }
    if detail.is_empty() {
        return words!(
            "The similar rows are not shown, since the current user may not read \
                them."
        );
    }
    let more = found.count.saturating_sub(found.best.len() as u64);
    if more > 0 {
        detail.extend(words!("; {} more", more.to_string()));
    }
    detail.push(b'.');
    detail
}

/// `key (id)=(1)`, or `(ctid)=(0,1)` for a row of a table without primary key.
fn shown(guard: &PreparedGuard, row: &SimilarRow) -> Vec<u8> {
    let table = row.table.into();
    match guard.target(table).and_then(|t| t.key.as_ref()) {
        Some(key) => words!("key {}", key.shown(table, &row.key)),
        None => words!("(ctid)={}", row.key),
    }
}
