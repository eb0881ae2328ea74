//! What becomes of a row that `skip` leaves out: it is entered into the table of option `skipped`, and the first one of a statement is told of.

use linkage::guard::similar_rows::SimilarRows;
use pgrx::PgLogLevel;

use super::call::TriggerCall;
use super::told::{is_first, News};
use crate::guard::prepared::PreparedGuard;
use crate::guard::read_rights;
use pg::catalog;
use pg::message::{words, Message, OrMessage};

/// `message` says why the row is left out, and `found` has the rows that it is similar to, if they are known.
///
/// Errors: those of writing to the table of option `skipped`.
///
/// # Safety
/// The call's slots hold rows of the trigger's table.
pub unsafe fn skip(
    call: &TriggerCall,
    guard: &PreparedGuard,
    message: Box<Message>,
    found: Option<&SimilarRows>,
) -> OrMessage<()> {
    if let Some(skipped) = &guard.skipped {
        if let Some(found) = found {
            read_rights::check_review_owner(guard, found, skipped.table(), || call.trigger_name())?;
        }
        let similar = found.and_then(|found| found.best.first());
        // SAFETY: the slot holds a row of the trigger's table, as the caller promises.
        unsafe { skipped.enter(guard.owner, (call.relation(), call.new_row()), similar)? };
    }
    // SAFETY: the function is that of the running call.
    if unsafe { is_first(call, guard, News::Skipped) } {
        let hint = match &guard.skipped {
            Some(skipped) => words!(
                " Table \"",
                catalog::name(skipped.table()),
                "\" has what is left out."
            ),
            None => words!(" Option \"skipped\" can keep what is left out in a table."),
        };
        message
            .more_detail(b" Further rows of this statement are skipped without a notice.")
            .more_hint(&hint)
            .send(PgLogLevel::NOTICE);
    }
    Ok(())
}
