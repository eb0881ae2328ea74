//! Decisions that a guard writes for who says by setting `bloom_ident.decide` that the rows are different.

use super::table::DecisionTable;
use pg::catalog::column;
use pg::catalog::privileges::{current_user, may_insert, may_use_schema};
use pg::ffi;
use pg::function::rows::text_datum;

impl DecisionTable {
    /// Whether the current user may enter decisions.
    pub fn may_be_written(&self) -> bool {
        let user = current_user();
        if !may_use_schema(self.table, user) {
            return false;
        }
        let columns = [c"a", c"b", c"decision"].map(|name| column(self.table, name));
        let columns: Option<Vec<i16>> = columns.into_iter().collect();
        columns.is_some_and(|columns| may_insert(self.table, &columns, user))
    }

    /// Enters pairs of one row and others as different, as the current user.
    ///
    /// Errors: as the INSERT.
    pub fn enter<'a>(&self, own: &[u8], others: impl Iterator<Item = &'a [u8]>) {
        // SAFETY: a trigger runs in a transaction. The connection is finished here, or by the server after an error. The values are of the types of the
        // parameters.
        unsafe {
            ffi::SPI_connect();
            for other in others {
                self.insert.run(&mut [text_datum(own), text_datum(other)]);
            }
            ffi::SPI_finish();
        }
    }
}
