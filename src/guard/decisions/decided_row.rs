//! A new row, as decisions are about it.

use linkage::clusters::Verdict;
use linkage::record_hash::{RecordDigest, RecordHash};
use pgrx::pg_sys;

use super::table::DecisionTable;
use crate::guard::tables::column::attribute;
use pg::catalog;
use pg::output::text_form;
use pg::session::fixed_settings::{FixedSettings, OF_TEXT_FORMS};
use pg::values::text::{known_utf8, server_name};

/// Gives the value of a column of a row; `None` for NULL.
pub type ColumnValue<'a> = dyn Fn(i16) -> Option<pg_sys::Datum> + 'a;

/// A new row, its key, and its values.
pub struct DecidedRow<'a> {
    pub decisions: &'a DecisionTable,
    pub table: pg_sys::Oid,
    /// As [`PrimaryKey::text`](crate::guard::tables::key::PrimaryKey::text) gives it.
    pub key: Vec<u8>,
    pub value: &'a ColumnValue<'a>,
}

impl DecidedRow<'_> {
    /// Whether a similar row does not count: people have judged it different from the new one, or could not tell, and neither has changed since.
    ///
    /// Errors: as [`DecisionTable::newest`].
    ///
    /// # Safety
    /// `slot` holds a row of `table`, with this key.
    pub unsafe fn is_let_pass_by(
        &self,
        key: &[u8],
        table: pg_sys::Oid,
        slot: *mut pg_sys::TupleTableSlot,
    ) -> bool {
        let Some(found) = self.decisions.newest([&self.key, key]) else {
            return false;
        };
        if found.verdict == Verdict::Same {
            return false;
        }
        let Some([own, other]) = found.hash else {
            return true;
        };
        // SAFETY: the caller's row.
        let of_other = |column: i16| unsafe { attribute(slot, column) };
        is_as_then(&own, self.table, self.value) && is_as_then(&other, table, &of_other)
    }
}

/// Whether a row has this hash. It has none over columns that its table does not have.
fn is_as_then(hash: &RecordHash, table: pg_sys::Oid, value: &ColumnValue<'_>) -> bool {
    let number = |name: &String| catalog::column(table, &server_name(name)?);
    let columns: Option<Vec<i16>> = hash.columns.iter().map(number).collect();
    let Some(columns) = columns else {
        return false;
    };
    let fixed = FixedSettings::begin(OF_TEXT_FORMS);
    let mut digest = RecordDigest::new();
    for column in columns {
        let of_type = catalog::column_type(table, column);
        // SAFETY: a value of the column, which is of this type.
        let text = value(column).map(|value| unsafe { text_form(value, of_type) });
        digest.value(text.as_deref().map(known_utf8).as_deref());
    }
    fixed.end();
    digest.finish() == hash.digest
}
