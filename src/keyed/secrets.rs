//! A secret: its bytes, its check value, and who may use it.

use std::ffi::{CStr, CString};

use pg::catalog::privileges::current_user;
use pg::error::{raise, sql_error};
use pg::key_table::{FoundRow, KeyTable};
use pg::message::words;
use pg::snapshot::now;
use pg::values::text::Text;
use pg::values::varlena::Varlena;
use pgrx::pg_sys;
use pgrx::PgSqlErrorCode::{
    ERRCODE_INSUFFICIENT_PRIVILEGE, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
    ERRCODE_UNDEFINED_OBJECT,
};

use super::tables::{NameValue, SecretTables};

/// What all may know of a secret, and whose it is.
pub struct KnownSecret {
    pub name: CString,
    /// Its check value, sixteen hexadecimal digits.
    pub id: String,
    /// Its owner, if this database has its bytes.
    pub owner: Option<pg_sys::Oid>,
    tid: pg_sys::ItemPointerData,
}

/// The first row of a table with a name, as the statement that wants to know it begins: what others have committed
/// meanwhile counts, since rights that were taken away are gone with the next command.
fn first<T>(table: &KeyTable, name: &CString, read: impl FnOnce(&FoundRow<'_>) -> T) -> Option<T> {
    let (mut found, mut read) = (None, Some(read));
    let name = NameValue::new(name);
    table.read(&now()).each_of(name.datum(), |row| {
        found = read.take().map(|read| read(row));
        false
    });
    found
}

/// A column that is not NULL.
fn column(row: &FoundRow<'_>, number: i16) -> pg_sys::Datum {
    row.row().get(number).unwrap_or(pg_sys::Datum::null())
}

/// The same of type oid or regrole.
fn oid(row: &FoundRow<'_>, number: i16) -> pg_sys::Oid {
    pg_sys::Oid::from(column(row, number).value() as u32)
}

impl KnownSecret {
    /// Its owner.
    ///
    /// Errors: this database does not have it.
    fn owner(&self) -> pg_sys::Oid {
        self.owner.unwrap_or_else(|| self.raise_missing())
    }

    fn raise_missing(&self) -> ! {
        let KnownSecret { name, id, .. } = self;
        raise(
            &sql_error(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                words!("secret \"{name}\" is not in this database"),
            )
            .detail(words!(
                "It was restored from a dump, which has no secrets. Its check value is {id}."
            ))
            .hint("Export it where it is, and bring it here by bloom_secret_import()."),
        )
    }
}

impl SecretTables {
    /// A secret, whether this database has its bytes or not.
    pub fn find(&self, name: &CString) -> Option<KnownSecret> {
        let owner = first(&self.values, name, |row| oid(row, 3));
        first(&self.secrets, name, |row| KnownSecret {
            name: name.clone(),
            // SAFETY: a text that is not NULL, and lives as long as the row.
            id: unsafe { Text::from_raw(column(row, 2)) }
                .as_str()
                .to_owned(),
            owner,
            tid: row.tid(),
        })
    }

    /// The same.
    ///
    /// Errors: there is none.
    pub fn known(&self, name: &CString) -> KnownSecret {
        self.find(name).unwrap_or_else(|| {
            raise(
                &sql_error(
                    ERRCODE_UNDEFINED_OBJECT,
                    words!("secret \"{name}\" does not exist"),
                )
                .hint(
                    "Make it by bloom_secret_create(), or bring it here by bloom_secret_import().",
                ),
            )
        })
    }

    /// The bytes of a secret, and where its row is.
    ///
    /// Errors: this database does not have them.
    pub fn value(&self, secret: &KnownSecret) -> (Vec<u8>, pg_sys::ItemPointerData) {
        let value = first(&self.values, &secret.name, |row| {
            // SAFETY: a bytea that is not NULL; it is copied before the row goes.
            let bytes = unsafe { Varlena::new(column(row, 4)) };
            (bytes.bytes().to_vec(), row.tid())
        });
        value.unwrap_or_else(|| secret.raise_missing())
    }

    /// Errors: this database does not have the secret; the user may not encode by it. Its owner may, and whom it was granted
    /// to, and members of these; superusers may.
    pub fn check_use(&self, secret: &KnownSecret, user: pg_sys::Oid) {
        let name = NameValue::new(&secret.name);
        if has_rights_of(user, secret.owner()) {
            return;
        }
        let mut may = false;
        self.grants.read(&now()).each_of(name.datum(), |row| {
            may = has_rights_of(user, oid(row, 2));
            !may
        });
        if !may {
            denied(
                &secret.name,
                "Whoever may encode by a secret can find out what is encoded, by encoding a dictionary.",
            );
        }
    }

    /// Errors: this database does not have the secret; the current user does not own it.
    pub fn check_owner(&self, secret: &KnownSecret) {
        if !has_rights_of(current_user(), secret.owner()) {
            denied(&secret.name, "Its owner may do this.");
        }
    }

    /// Adds a secret of the current user.
    pub fn add(&self, name: &CString, id: &str, bytes: pg_sys::Datum) {
        let name_value = NameValue::new(name);
        // SAFETY: a function of the server's that reads a clock.
        let created = unsafe { pg_sys::GetCurrentTransactionStartTimestamp() };
        let id = pg::function::rows::text_datum(id.as_bytes());
        let mut writer = self.secrets.write();
        writer.insert(&[
            Some(name_value.datum()),
            Some(id),
            Some(pg_sys::Datum::from(created)),
        ]);
        writer.write();
        self.add_value(name, bytes);
    }

    /// Adds the bytes of a secret that is known, and the current user as its owner.
    pub fn add_value(&self, name: &CString, bytes: pg_sys::Datum) {
        let name = NameValue::new(name);
        let mut writer = self.values.write();
        let (none, owner) = (
            pg_sys::Datum::from(0_i64),
            pg_sys::Datum::from(current_user()),
        );
        writer.insert(&[Some(name.datum()), Some(none), Some(owner), Some(bytes)]);
        writer.write();
    }

    /// Takes a secret away, with the rights to it.
    pub fn remove(&self, secret: &KnownSecret) {
        for table in [&self.values, &self.grants] {
            self.remove_rows(table, &secret.name, |_| true);
        }
        self.secrets.write().delete(secret.tid);
    }

    /// Deletes rows of a name. How many.
    pub fn remove_rows(
        &self,
        table: &KeyTable,
        name: &CString,
        mut which: impl FnMut(&FoundRow<'_>) -> bool,
    ) -> usize {
        let (mut found, name) = (Vec::new(), NameValue::new(name));
        table.read(&now()).each_of(name.datum(), |row| {
            if which(row) {
                found.push(row.tid());
            }
            true
        });
        let writer = table.write();
        for &tid in &found {
            writer.delete(tid);
        }
        found.len()
    }

    /// The role that was granted the use of a secret by a row of the table of grants.
    pub fn grantee(row: &FoundRow<'_>) -> pg_sys::Oid {
        oid(row, 2)
    }
}

/// Whether a user has the rights of a role.
fn has_rights_of(user: pg_sys::Oid, role: pg_sys::Oid) -> bool {
    // SAFETY: look-ups in the catalogs by OIDs.
    unsafe { pg_sys::has_privs_of_role(user, role) }
}

fn denied(name: &CStr, detail: &'static str) -> ! {
    raise(
        &sql_error(
            ERRCODE_INSUFFICIENT_PRIVILEGE,
            words!("permission denied for secret \"{name}\""),
        )
        .detail(detail),
    )
}
