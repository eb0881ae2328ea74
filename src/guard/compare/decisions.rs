//! What people have decided about pairs, where a guard asks for it (option `decisions`): rows that are decided to be
//! different from the new one, or about which nobody can tell, do not count. And what a session decides by
//! `bloom_ident.decide`.
//!
//! Entering a row needs no privilege on the table of decisions, as with the tables that foreign keys refer to. So it is
//! a plain table of the guarded table's owner, and what reads it runs no code but the server's own: it is read by an
//! index, with the latest snapshot, as foreign keys read.

use std::collections::BTreeSet;

use linkage::clusters::Verdict;
use linkage::record_hash::{RecordDigest, RecordHash};

use crate::guard::candidates::SearchOutcome;
use crate::pairs::decisions::DecisionTable;
use pg::catalog;
use pg::catalog::privileges::current_user;
use pg::function::rows::text_datum;
use pg::output::text_form;
use pg::row::Row;
use pg::session::fixed_settings::{FixedSettings, OF_TEXT_FORMS};
use pg::session::Session;
use pg::values::text::{known_utf8, server_name};
use types::settings::{self, Decide};

/// The row that is checked, as decisions are about it.
pub struct DecidedRow<'a> {
    pub decisions: &'a DecisionTable,
    pub row: &'a Row,
    /// As [`PrimaryKey::text`](crate::guard::tables::PrimaryKey::text) gives it.
    pub key: Vec<u8>,
}

impl DecidedRow<'_> {
    /// Whether a similar row, which has this key, does not count: people have decided that it is different from the new
    /// one, or could not tell, and neither has changed since.
    ///
    /// Errors: as [`DecisionTable::newest`].
    pub fn is_exempted_by(&self, key: &[u8], other: &Row) -> bool {
        let Some(found) = self.decisions.newest([&self.key, key]) else {
            return false;
        };
        if found.rank.1 .0 == Verdict::Same {
            return false;
        }
        let is_unchanged = |[own, of_other]: [RecordHash; 2]| {
            has_hash(self.row, &own) && has_hash(other, &of_other)
        };
        found.hash.is_none_or(is_unchanged)
    }

    /// Enters that it is different from the rows with these keys, as the current user.
    ///
    /// Errors: as the INSERT.
    fn enter(&self, others: &BTreeSet<Vec<u8>>) {
        let session = Session::begin(false);
        for other in others {
            let pair = [text_datum(&self.key), text_datum(other)];
            self.decisions.insert.run(&session, pair);
        }
    }
}

/// Whether a row has this hash. It has none over columns that its table does not have.
fn has_hash(row: &Row, hash: &RecordHash) -> bool {
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

/// What `search` finds, with the keys of all rows if it is told so. If the session says that the row is
/// different from what is found, and its user may enter that, it is entered for all of them at once and searched again:
/// then they are not found any more.
///
/// Errors: as entering a decision.
pub fn decide(row: Option<&DecidedRow>, search: impl Fn(bool) -> SearchOutcome) -> SearchOutcome {
    let says_different = |_: &&DecidedRow| settings::decide() == Decide::Different;
    let Some(row) = row.filter(says_different) else {
        return search(false);
    };
    let mut entered: BTreeSet<Vec<u8>> = BTreeSet::new();
    loop {
        let (found, keys) = match search(true) {
            SearchOutcome::Rows(found, keys) if found.count > 0 => (found, keys),
            other => return other,
        };
        // Code of users may have kept a decision out, or made another one.
        let is_known = found.best.iter().any(|row| entered.contains(&row.key));
        if is_known || !row.decisions.may_enter(current_user()) {
            return SearchOutcome::Rows(found, keys);
        }
        row.enter(&keys);
        entered.extend(keys);
    }
}
