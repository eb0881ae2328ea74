//! Decisions that a guard writes for who says by setting `bloom_ident.decide` that the rows are different.

use std::collections::HashSet;

use super::DecidedRow;
use crate::guard::candidates::{FoundKeys, SearchOutcome};
use pg::catalog::column;
use pg::catalog::privileges::{current_user, may_insert, may_use_schema};
use pg::function::rows::text_datum;
use pg::session::Session;
use types::settings::{self, Decide};

/// What `search` finds, which writes the keys of all rows where it is told to. If the session says that the row is
/// different from what is found, and its user may enter that, it is entered for all of them at once and searched again:
/// then they are not found any more.
///
/// Errors: as entering a decision.
pub fn decide(
    row: Option<&DecidedRow>,
    search: impl Fn(Option<&FoundKeys>) -> SearchOutcome,
) -> SearchOutcome {
    let says_different = |_: &&DecidedRow| settings::decide() == Decide::Different;
    let Some(row) = row.filter(says_different) else {
        return search(None);
    };
    let mut entered: HashSet<Vec<u8>> = HashSet::new();
    loop {
        let all = FoundKeys::default();
        let found = match search(Some(&all)) {
            SearchOutcome::Rows(found) if found.count > 0 => found,
            other => return other,
        };
        // Code of users may have kept a decision out, or made another one.
        let is_entered = found.best.iter().any(|row| entered.contains(&row.key));
        if is_entered || !row.may_be_decided() {
            return SearchOutcome::Rows(found);
        }
        let keys = all.distinct();
        row.enter(&keys);
        entered.extend(keys);
    }
}

impl DecidedRow<'_> {
    /// Whether the current user may enter decisions.
    fn may_be_decided(&self) -> bool {
        let (table, user) = (self.decisions.table, current_user());
        if !may_use_schema(table, user) {
            return false;
        }
        let columns = [c"a", c"b", c"decision"].map(|name| column(table, name));
        let columns: Option<Vec<i16>> = columns.into_iter().collect();
        columns.is_some_and(|columns| may_insert(table, &columns, user))
    }

    /// Enters that it is different from the rows with these keys, as the current user.
    ///
    /// Errors: as the INSERT.
    fn enter(&self, others: &[Vec<u8>]) {
        let session = Session::begin(false);
        for other in others {
            let pair = [text_datum(&self.key), text_datum(other)];
            self.decisions.insert.run(&session, pair);
        }
    }
}
