//! What is done about a row that is too similar to others, or has become another: it is refused, told of, left out or
//! written down.
//!
//! [`act`] does what the action says. [`too_similar`] and [`keep`] say what is wrong with a row; [`once`] tells things
//! once in a statement. [`review_table`] and [`skipped_table`] are the tables that are written to, in the way of
//! [`written_table`], if they are of a [`table_form`]; [`acting_user`] says with whose rights, and [`builtin`] what
//! code that may run; [`switched_user`] changes the user. [`read_rights`]: whose rows may be searched, and who may be
//! told of what was found.

pub mod acting_user;
mod builtin;
pub mod keep;
pub mod once;
pub mod read_rights;
pub mod review_table;
pub mod skipped_table;
mod switched_user;
pub mod table_form;
pub mod too_similar;
mod written_table;

use base::{Error, Result};
use linkage::guard::options::GuardAction;
use linkage::guard::similar_rows::SimilarRows;
use pg::error::Tell;
use pgrx::PgLogLevel;

use super::prepared::PreparedGuard;
use super::row::Row;
use super::trigger::call::TriggerCall;
use once::{is_first, News};
use pg::catalog;
use pg::message::words;

/// Does with a row what the action says, and returns whether the row goes on. `found` has the rows that it is similar
/// to, if they are known; `message` says so.
///
/// Errors: the message, where the action is `reject`; those of writing to the review table or to that of skipped rows.
pub fn act(
    call: &TriggerCall,
    guard: &PreparedGuard,
    row: &Row,
    found: Option<&SimilarRows>,
    message: impl FnOnce() -> Error,
) -> Result<bool> {
    match guard.options.action {
        GuardAction::Reject => Err(message()),
        GuardAction::Warn => {
            message().send(PgLogLevel::WARNING);
            Ok(true)
        }
        GuardAction::Flag => {
            if let (Some(review), Some(key), Some(found)) = (&guard.review, &guard.own.key, found) {
                read_rights::check_review_owner(guard, found, review.table())?;
                review.enter(guard.owner, &key.text(row, guard.owner), found)?;
            }
            Ok(true)
        }
        GuardAction::Skip => {
            if let Some(skipped) = &guard.skipped {
                if let Some(found) = found {
                    read_rights::check_review_owner(guard, found, skipped.table())?;
                }
                let similar = found.and_then(|found| found.best.first());
                skipped.enter(guard.owner, row, similar)?;
            }
            if is_first(call, guard, News::Skipped) {
                tell_skipped(guard, message());
            }
            Ok(false)
        }
    }
}

fn tell_skipped(guard: &PreparedGuard, message: Error) {
    let hint = match &guard.skipped {
        Some(skipped) => words!(
            " Table \"{}\" has what is left out.",
            catalog::name(skipped.table())
        ),
        None => words!(" Option \"skipped\" can keep what is left out in a table."),
    };
    message
        .more(
            " Further rows of this statement are skipped without a notice.",
            &hint,
        )
        .send(PgLogLevel::NOTICE);
}
