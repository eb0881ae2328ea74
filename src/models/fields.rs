//! Which columns of a relation are compared.

use std::ffi::CString;

use bloom_ident_core::model::values::Kind;
use bloom_ident_core::model::{LeftOut, MOST_FIELDS};
use bloom_ident_core::{Error, ErrorKind};
use pgrx::pg_sys;

use super::guess;
use crate::pairs::records::RecordColumn;
use crate::pg::catalog;
use crate::pg::catalog::privileges::may_select;
use crate::pg::error::{raise, shown};
use crate::pg::relation::OpenRelation;
use crate::pg::values::text::{readable, to_database};

/// A field that is to be compared.
#[derive(Clone, Debug)]
pub struct FieldWish {
    /// The column, in UTF-8.
    pub name: String,
    /// `None`: to be guessed.
    pub kind: Option<Kind>,
}

fn c_name(name: &str) -> CString {
    CString::new(to_database(name)).unwrap_or_default()
}

/// The fields of `given`, each `column` or `column:kind`; without them all columns that can serve, but for the key.
///
/// Errors: a column that does not exist, or is given twice; an unknown kind; too many; none.
pub fn wishes(
    oid: pg_sys::Oid,
    key: &RecordColumn,
    given: Option<&[String]>,
    left_out: &mut Vec<LeftOut>,
) -> Vec<FieldWish> {
    let mut fields = match given {
        Some(given) => given.iter().map(|field| parse(oid, field)).collect(),
        None => all(oid, key, left_out),
    };
    for (i, field) in fields.iter().enumerate() {
        if fields[..i].iter().any(|other| other.name == field.name) {
            invalid(format!("field \"{}\" is given twice", shown(&field.name)));
        }
    }
    if given.is_some() && fields.len() > MOST_FIELDS {
        invalid(format!(
            "cannot compare {} fields, but {MOST_FIELDS} at most",
            fields.len()
        ));
    }
    for field in fields.drain(fields.len().min(MOST_FIELDS)..) {
        left_out.push(LeftOut {
            column: field.name,
            reason: format!("more than {MOST_FIELDS} columns"),
        });
    }
    if fields.is_empty() {
        let name = shown(&readable(catalog::name(oid).to_bytes()));
        invalid(format!("no column of \"{name}\" can be compared"));
    }
    fields
}

fn invalid(message: String) -> ! {
    raise(&Error::new(ErrorKind::InvalidParameter, message))
}

/// `column`, or `column:kind`. A column's name may have a colon.
fn parse(oid: pg_sys::Oid, field: &str) -> FieldWish {
    let wish = |name: &str, kind| FieldWish {
        name: name.to_owned(),
        kind,
    };
    if catalog::column(oid, &c_name(field)).is_some() {
        return wish(field, None);
    }
    match field.rsplit_once(':') {
        Some((name, kind)) => match Kind::of_name(kind) {
            Ok(kind) => wish(name, Some(kind)),
            Err(e) => raise(&e.detail(format!(
                "It is written behind the column \"{}\".",
                shown(name)
            ))),
        },
        None => wish(field, None),
    }
}

fn all(oid: pg_sys::Oid, key: &RecordColumn, left_out: &mut Vec<LeftOut>) -> Vec<FieldWish> {
    let mut fields = Vec::new();
    // SAFETY: a variable of the server.
    let user = unsafe { pg_sys::GetUserId() };
    // SAFETY: an open relation has a descriptor.
    let columns = unsafe { (*OpenRelation::locked_table(oid).rd_att).natts };
    for number in 1..=columns as i16 {
        let c_name = catalog::column_name(oid, number);
        // not one that has been dropped
        if c_name == key.name || catalog::column(oid, &c_name) != Some(number) {
            continue;
        }
        let name = readable(c_name.to_bytes());
        let of_type = catalog::column_type(oid, number);
        let reason = if !is_comparable(of_type) {
            let of_type = readable(catalog::type_name(of_type).to_bytes());
            Some(format!("values of type {of_type} are not compared"))
        } else if guess::is_record_number(&name) {
            Some("looks like the number of a record, or of a group of records".to_owned())
        } else if !may_select(oid, &[number], user) {
            Some("may not be read".to_owned())
        } else {
            None
        };
        match reason {
            Some(reason) => left_out.push(LeftOut {
                column: name,
                reason,
            }),
            None => fields.push(FieldWish { name, kind: None }),
        }
    }
    fields
}

/// Whether a column of this type serves where nobody has asked for it.
fn is_comparable(of_type: pg_sys::Oid) -> bool {
    // SAFETY: a catalog look-up of a type that exists.
    let base = unsafe { pg_sys::getBaseType(of_type) };
    let (mut category, mut preferred) = (0, false);
    // SAFETY: the same, with two variables for the result.
    unsafe { pg_sys::get_type_category_preferred(base, &mut category, &mut preferred) };
    let numbers = [
        pg_sys::INT2OID,
        pg_sys::INT4OID,
        pg_sys::INT8OID,
        pg_sys::NUMERICOID,
        pg_sys::FLOAT4OID,
        pg_sys::FLOAT8OID,
    ];
    matches!(category as u8, b'S' | b'E') || is_date(base) || numbers.contains(&base)
}

/// Whether a type has a day.
pub fn is_date(of_type: pg_sys::Oid) -> bool {
    // SAFETY: a catalog look-up of a type that exists.
    let base = unsafe { pg_sys::getBaseType(of_type) };
    [
        pg_sys::DATEOID,
        pg_sys::TIMESTAMPOID,
        pg_sys::TIMESTAMPTZOID,
    ]
    .contains(&base)
}

/// Whether a type has fractions.
pub fn is_fraction(of_type: pg_sys::Oid) -> bool {
    // SAFETY: a catalog look-up of a type that exists.
    let base = unsafe { pg_sys::getBaseType(of_type) };
    [pg_sys::NUMERICOID, pg_sys::FLOAT4OID, pg_sys::FLOAT8OID].contains(&base)
}

/// The columns of these names. `relation` is its name for messages.
///
/// Errors: a column that does not exist.
pub fn columns<'a>(
    oid: pg_sys::Oid,
    names: impl Iterator<Item = &'a str>,
    relation: &str,
) -> Vec<RecordColumn> {
    names
        .map(|name| RecordColumn::of(oid, c_name(name), relation))
        .collect()
}
