//! The tables of secrets: `bloom_secrets`, their names and check values, which all may read and dumps have;
//! `bloom_secret_values`, the secrets themselves and their owners, and `bloom_secret_grants`, who may use them, which nobody
//! but the tables' owner may read, and no dump has. Whoever restores a dump may write to the first one, so no rights depend
//! on what is there.

use std::cell::Cell;
use std::ffi::{CStr, CString};

use pg::key_table::{index_on, types_of_columns, KeyTable};
use pg::relation::OpenRelation;
use pgrx::pg_sys;

use super::moment::Moment;
use crate::functions::own_table;

/// The three tables, as those of the extension that a function belongs to.
#[derive(Clone, Copy)]
pub struct SecretTables {
    pub secrets: KeyTable,
    pub grants: KeyTable,
    pub values: KeyTable,
}

pg::session_state! {
    /// Those of the last call: a function that encodes is called for each row.
    static LAST: Cell<Option<((pg_sys::Oid, Moment), SecretTables)>> = Cell::default();
    "tables of secrets" by "function" until "the next command";
}

/// Collation "C", which columns of type name have.
const C_COLLATION: u32 = 950;

impl SecretTables {
    /// The tables in the schema of a running function, whatever the search_path is.
    ///
    /// Errors: one of them is not there, or not as it was made.
    ///
    /// # Safety
    /// `fcinfo` is that of a running call.
    pub unsafe fn of_call(fcinfo: pg_sys::FunctionCallInfo) -> SecretTables {
        // SAFETY: the record of a running call.
        let function = unsafe { (*(*fcinfo).flinfo).fn_oid };
        let asked = (function, Moment::now());
        if let Some((_, tables)) = LAST.get().filter(|(last, _)| *last == asked) {
            return tables;
        }
        let tables = SecretTables::beside(function);
        LAST.set(Some((asked, tables)));
        tables
    }

    fn beside(function: pg_sys::Oid) -> SecretTables {
        let (id, time) = (pg_sys::TEXTOID, pg_sys::TIMESTAMPTZOID);
        let (name, role) = (pg_sys::NAMEOID, pg_sys::REGROLEOID);
        let (count, bytes) = (pg_sys::INT8OID, pg_sys::BYTEAOID);
        SecretTables {
            secrets: table(function, c"bloom_secrets", &[name, id, time]),
            grants: table(function, c"bloom_secret_grants", &[name, role]),
            values: table(
                function,
                c"bloom_secret_values",
                &[name, count, role, bytes],
            ),
        }
    }
}

fn table(function: pg_sys::Oid, name: &CStr, types: &[pg_sys::Oid]) -> KeyTable {
    let oid = own_table(function, name);
    let open = OpenRelation::table(oid, pg_sys::AccessShareLock);
    let column = (1, false);
    let found = index_on(&open, column);
    KeyTable {
        oid,
        index: found.map_or(pg_sys::InvalidOid, |(index, _)| index),
        column,
        is_covered: false,
        equality: (pg_sys::F_NAMEEQ.into(), C_COLLATION.into()),
        types: types_of_columns(types),
    }
}

/// A name as a value of type name, which is zero-padded.
pub struct NameValue(pg_sys::NameData);

impl NameValue {
    /// The name is one that the server has given, so it is not too long.
    pub fn new(name: &CString) -> NameValue {
        let mut value = pg_sys::NameData::default();
        for (to, from) in value.data.iter_mut().zip(name.as_bytes()) {
            *to = *from as std::ffi::c_char;
        }
        NameValue(value)
    }

    /// The value, which points into this.
    pub fn datum(&self) -> pg_sys::Datum {
        pg_sys::Datum::from(&raw const self.0)
    }
}
