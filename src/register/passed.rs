//! Rows that a guard lets pass before they are in the table, as one that skips does.
//!
//! The register's own trigger fires when the statement ends, so rows of one statement would not find each other. The row that
//! was let pass last is in the table when the next one comes: then it is kept, and the register's trigger finds that it is.

use std::cell::RefCell;

use base::Result;
use pgrx::pg_sys;

use super::stored::Register;
use pg::memory::within;
use pg::row::Row;
use pg::snapshot::now;

/// The row of a register that was let pass last.
#[derive(Clone, Copy)]
struct PassedRow {
    register: pg_sys::Oid,
    /// The transaction in whose memory the key is.
    transaction: u64,
    /// The type of the key, which may have been changed since.
    of_type: pg_sys::Oid,
    id: pg_sys::Datum,
}

pg::session_state! {
    static PASSED: RefCell<Vec<PassedRow>> = RefCell::default();
    "the rows that guards have let pass" by "register, the last" until "the next row, or another transaction"
        bytes |passed| passed.borrow().capacity() * size_of::<PassedRow>();
}

impl Register {
    /// Keeps the row that was let pass last, if it is in the table, and remembers this one.
    ///
    /// Errors: those of [`Register::keep_row`].
    pub fn let_pass(&self, row: &Row) -> Result<()> {
        // SAFETY: a trigger runs in a transaction that may write.
        let transaction = unsafe { pg_sys::GetTopFullTransactionId() }.value;
        let before = PASSED.with_borrow_mut(|passed| {
            passed.retain(|row| row.transaction == transaction);
            let place = passed.iter().position(|row| row.register == self.oid)?;
            Some(passed.swap_remove(place))
        });
        // A key of another type is of a statement that has ended, so it is kept.
        if let Some(before) = before.filter(|row| row.of_type == self.key_type.oid) {
            let mut kept = Ok(());
            let mut rows = self.rows.read(&now());
            rows.each_of(before.id, |row| {
                let row = row.row();
                kept = self.keep_row(&row, &self.keys_of(&self.texts.of_row(&row)));
                false
            });
            drop(rows);
            kept?;
            if !self.key_type.by_value {
                // SAFETY: a copy that was made below, in this transaction.
                unsafe { pg_sys::pfree(before.id.cast_mut_ptr()) };
            }
        }
        let Some(id) = row.get(self.key_number) else {
            return Ok(());
        };
        // SAFETY: of the key's type. The memory lives as long as the transaction.
        let id = unsafe { within(pg_sys::TopTransactionContext, || self.key_type.copy(id)) };
        PASSED.with_borrow_mut(|passed| {
            passed.push(PassedRow {
                register: self.oid,
                transaction,
                of_type: self.key_type.oid,
                id,
            });
        });
        Ok(())
    }
}
