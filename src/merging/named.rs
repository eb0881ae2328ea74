//! References that no foreign key declares: columns that the caller names.

use pg::error::{raise, sql_error};
use std::cell::OnceCell;
use std::ffi::{CStr, CString};

use pgrx::{pg_sys, PgSqlErrorCode};

use super::narrow::{equal_texts, Narrow};
use super::references::{Reference, Referring};
use super::subject::{columns_of, refuse_column, text, Subject};
use crate::pairs::records::lock;
use pg::catalog;
use pg::session::tuple_store::StoreColumn;
use pg::values::text::to_database;

/// A column that the caller names, as `table.column` or `schema.table.column`.
///
/// Errors: no such table or column; it is of another type than the key, and no text.
pub fn named(subject: &Subject, given: &str) -> Reference {
    let invalid = |message: String| -> ! {
        raise(
            &sql_error(PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE, message)
                .hint("Name a column that holds keys as table.column or schema.table.column."),
        )
    };
    let c = CString::new(to_database(given))
        .unwrap_or_else(|_| invalid("name of a column has a zero byte".to_owned()));
    // SAFETY: the server reads names from a text, and finds the table of all but the last. Without a lock: that comes
    // next, when it is known that the caller may read it.
    let (oid, column) = unsafe {
        let text = pg_sys::cstring_to_text(c.as_ptr());
        let parts = pg_sys::textToQualifiedNameList(text);
        let count = (*parts).length;
        if !(2..=3).contains(&count) {
            invalid(format!("\"{}\" does not name a column of a table", given));
        }
        let last = pg_sys::list_nth(parts, count - 1);
        // The server has made a String of each name.
        let column = CStr::from_ptr((*last.cast::<pg_sys::String>()).sval).to_owned();
        let of_table = pg_sys::list_truncate(parts, count - 1);
        let range = pg_sys::makeRangeVarFromNameList(of_table);
        let none = pg_sys::NoLock as pg_sys::LOCKMODE;
        let oid = pg_sys::RangeVarGetRelidExtended(range, none, 0, None, std::ptr::null_mut());
        (oid, column)
    };
    let name = lock(oid);
    let columns = columns_of(oid);
    let Some(found) = columns.iter().find(|c| c.name == column) else {
        refuse_column(&text(&column), &name)
    };
    let key = subject.key_type;
    let of_column = (found.store.type_oid, found.store.typmod);
    // SAFETY: a catalog look-up of a type that exists.
    let base = unsafe { pg_sys::getBaseType(found.store.type_oid) };
    let equal = match base == subject.key_type.type_oid {
        true => Some(catalog::operators::named(subject.equal)),
        false if found.is_text() && base != pg_sys::BPCHAROID => None,
        false => raise(
            &sql_error(
                PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
                format!(
                    "column \"{}\" of relation \"{name}\" is of type {}",
                    text(&column),
                    text(&catalog::type_name(base))
                ),
            )
            .detail(format!(
                "The keys are of type {}.",
                text(&catalog::type_name(subject.key_type.type_oid))
            ))
            .hint("A column that holds keys is of their type, or a text."),
        ),
    };
    let by_collation = match found.store.collation == key.collation || equal.is_none() {
        true => pg_sys::InvalidOid,
        false => key.collation,
    };
    // A text is compared with the text of a key.
    let compared = match equal {
        Some(_) => key,
        None => StoreColumn::plain(pg_sys::TEXTOID),
    };
    let narrow = Narrow::of(
        of_column,
        (compared.type_oid, compared.typmod),
        equal.clone().unwrap_or_else(equal_texts),
        compared.collation,
    );
    Reference {
        child: oid,
        name: column.clone(),
        pairs: vec![Referring {
            child: column,
            referenced: subject.key_name().to_owned(),
            equal,
            collation: by_collation,
            narrow,
        }],
        on_delete: None,
        on_update: None,
        deferred: false,
        own: subject.tree.contains(&oid),
        part: None,
        stored: OnceCell::new(),
    }
}
