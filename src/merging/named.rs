//! References that no foreign key declares: columns that the caller names.

use pg::error::{raise, sql_error};
use std::cell::OnceCell;

use base::Error;
use pgrx::{pg_sys, PgSqlErrorCode};

use super::references::{equal_texts, Narrow, Reference, Referring};
use super::subject::{columns_of, text, Subject};
use crate::pairs::records::lock;
use pg::catalog;
use pg::catalog::named::{find, split};
use pg::session::tuple_store::StoreColumn;

/// A column that the caller names, as `table.column` or `schema.table.column`.
///
/// Errors: no such table or column; it is of another type than the key, and no text.
pub fn named(subject: &Subject, given: &str) -> Reference {
    let invalid = |message: &str| -> ! {
        raise(
            &Error::invalid(message)
                .hint("Name a column that holds keys as table.column or schema.table.column."),
        )
    };
    let mut names = split(given).unwrap_or_else(|| invalid("name of a column has a zero byte"));
    if !(2..=3).contains(&names.len()) {
        invalid(&format!("\"{given}\" does not name a column of a table"));
    }
    let column = names.pop().expect("two names at least");
    let oid = find(&names, 0);
    let name = lock(oid);
    let columns = columns_of(oid);
    let Some(found) = columns.iter().find(|c| c.name == column) else {
        raise(&catalog::no_column(oid, &column))
    };
    let key = subject.key_type;
    let of_column = (found.store.type_oid, found.store.typmod);
    // SAFETY: a catalog look-up of a type that exists.
    let base = unsafe { pg_sys::getBaseType(found.store.type_oid) };
    let equal = match base == subject.key_type.type_oid {
        true => Some(catalog::operators::named(subject.equal)),
        false if found.is_text() && base != pg_sys::BPCHAROID => None,
        false => {
            let [of_column, of_key] = [base, key.type_oid].map(|t| text(&catalog::type_name(t)));
            let column = text(&column);
            raise(
                &sql_error(
                    PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
                    format!("column \"{column}\" of relation \"{name}\" is of type {of_column}"),
                )
                .detail(format!("The keys are of type {of_key}."))
                .hint("A column that holds keys is of their type, or a text."),
            )
        }
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
    let narrow = Narrow::new(
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
