//! What people have decided about pairs, where a guard asks for it (option `decisions`): rows that are judged different
//! from the new one, or about which nobody can tell, do not count. And what a session decides by `bloom_ident.decide`.
//!
//! Entering a row needs no privilege on the table of decisions, as with the tables that foreign keys refer to. So it is
//! a plain table of the guarded table's owner, and what reads it runs no code but the server's own: it is read by an
//! index, with the latest snapshot, as foreign keys read.

mod lookup;
pub mod table;
pub mod write;

use linkage::clusters::Verdict;
use linkage::record_hash::{RecordDigest, RecordHash};

use crate::guard::row::Row;
use pg::catalog;
use pg::output::text_form;
use pg::session::fixed_settings::{FixedSettings, OF_TEXT_FORMS};
use pg::values::text::{known_utf8, server_name};
use table::DecisionTable;

/// The row that is checked, as decisions are about it.
pub struct DecidedRow<'a> {
    pub decisions: &'a DecisionTable,
    pub row: &'a Row,
    /// As [`PrimaryKey::text`](crate::guard::tables::key::PrimaryKey::text) gives it.
    pub key: Vec<u8>,
}

impl DecidedRow<'_> {
    /// Whether a similar row, which has this key, does not count: people have judged it different from the new one, or
    /// could not tell, and neither has changed since.
    ///
    /// Errors: as [`DecisionTable::newest`].
    pub fn is_let_pass_by(&self, key: &[u8], other: &Row) -> bool {
        let Some(found) = self.decisions.newest([&self.key, key]) else {
            return false;
        };
        if found.verdict == Verdict::Same {
            return false;
        }
        let as_then = |[own, of_other]: [RecordHash; 2]| {
            is_as_then(&own, self.row) && is_as_then(&of_other, other)
        };
        found.hash.is_none_or(as_then)
    }
}

/// Whether a row has this hash. It has none over columns that its table does not have.
fn is_as_then(hash: &RecordHash, row: &Row) -> bool {
    let table = row.table_oid();
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
        let text = row
            .get(column)
            .map(|value| unsafe { text_form(value, of_type) });
        digest.value(text.as_deref().map(known_utf8).as_deref());
    }
    fixed.end();
    digest.finish() == hash.digest
}
