//! Which columns of a relation are compared.

use std::ffi::{CStr, CString};

use base::Error;
use linkage::model::values::{Kind, Reading};
use linkage::model::{column_names, LeftOut, MOST_FIELDS};
use pgrx::{pg_sys, PgSqlErrorCode};

use super::missing_columns::missing_columns;
use crate::keyed::is_kept_column;
use crate::pairs::records::{RecordColumn, Records};
use pg::catalog;
use pg::catalog::generated::{has_changing_default, sources};
use pg::catalog::privileges::may_select;
use pg::error::{raise, sql_error};
use pg::relation::OpenRelation;
use pg::values::text::{readable, to_database};
use types::objects::is_signature;

/// A field that is to be compared.
#[derive(Clone, Debug)]
pub struct FieldWish {
    /// The column, in UTF-8.
    pub name: String,
    /// `None`: to be guessed.
    pub kind: Option<Kind>,
    /// How texts are read, where that is given.
    pub reading: Option<Reading>,
}

impl FieldWish {
    /// Kind and reading are to be guessed.
    fn guessed(name: String) -> FieldWish {
        FieldWish {
            name,
            kind: None,
            reading: None,
        }
    }
}

const MAY_NOT_BE_READ: &str = "may not be read";

fn c_name(name: &str) -> CString {
    CString::new(to_database(name)).unwrap_or_default()
}

/// The fields of `given`, each `column` or `column:kind`; without them all columns of the first relation that can
/// serve, but for the key, and that the second one has, too, if there are two.
///
/// Errors: a column that is given twice; an unknown kind; too many; none.
pub fn wishes(
    relations: &[Records],
    given: Option<&[String]>,
    are_things: bool,
    left_out: &mut Vec<LeftOut>,
) -> Vec<FieldWish> {
    let first = &relations[0];
    let oid = first.oid;
    if given.is_some_and(<[String]>::is_empty) {
        raise(
            &Error::invalid("fields are given, and there are none")
                .hint("Name the columns to compare, or leave fields out: then all are taken that can serve."),
        );
    }
    let mut fields = match given {
        Some(given) => {
            let fields = given.iter().map(|field| parse(oid, field, are_things));
            let fields: Vec<FieldWish> = fields.collect();
            // What the caller has named is perhaps misspelled.
            for field in &fields {
                RecordColumn::new(oid, c_name(&field.name));
            }
            fields
        }
        None => all(oid, &first.key.name, !are_things, left_out),
    };
    let mut may_be_same = None;
    if let (None, Some(second)) = (given, relations.get(1)) {
        may_be_same = take_those_of_both(&mut fields, [first, second], !are_things, left_out);
    }
    for (i, field) in fields.iter().enumerate() {
        if fields[..i].iter().any(|other| other.name == field.name) {
            invalid(format!("field \"{}\" is given twice", &field.name));
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
    let is_denied = |left: &LeftOut| left.reason == MAY_NOT_BE_READ;
    if fields.is_empty() && left_out.iter().any(is_denied) {
        let name = readable(catalog::name(oid).to_bytes());
        raise(
            &sql_error(
                PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
                format!("permission denied for relation \"{name}\""),
            )
            .detail("You may read none of the columns that can be compared.")
            .hint("Ask its owner for SELECT on the key and on the columns to compare."),
        );
    }
    if fields.is_empty() && are_things {
        let columns = comparable_columns(oid, &first.key.name, true, &mut Vec::new());
        if let Some(name) = columns.first() {
            raise(&not_of_things(name));
        }
    }
    if fields.is_empty() {
        let names: Vec<String> = relations.iter().map(relation_name).collect();
        let message = match &names[..] {
            [a, b] => format!("no column that \"{a}\" and \"{b}\" have both can be compared"),
            _ => format!("no column of \"{}\" can be compared", names.concat()),
        };
        let error = Error::invalid(message);
        raise(&match may_be_same {
            Some(LeftOut { column, reason }) => error
                .detail(format!("Column \"{column}\" {reason}."))
                .hint("Use a view that gives columns that mean the same one name."),
            None => error,
        });
    }
    fields
}

fn relation_name(relation: &Records) -> String {
    readable(catalog::name(relation.oid).to_bytes())
}

/// Leaves out the fields of the first relation that the second one lacks, and the other way round, and says which of
/// the other one's may be the same. Returns the first of which that is said.
fn take_those_of_both(
    fields: &mut Vec<FieldWish>,
    relations: [&Records; 2],
    signatures: bool,
    left_out: &mut Vec<LeftOut>,
) -> Option<LeftOut> {
    let [first, second] = relations;
    let mut may_be_same = None;
    let mut left_out_too = Vec::new();
    let others = comparable_columns(second.oid, &second.key.name, signatures, &mut left_out_too);
    let own: Vec<String> = fields.iter().map(|field| field.name.clone()).collect();
    fields.retain(|field| others.contains(&field.name));
    // what both leave out is said once, and what only the second one leaves out is no field
    left_out_too.retain(|left| left_out.iter().all(|known| known.column != left.column));
    for (columns, of_other, other) in [(&own, &others, second), (&others, &own, first)] {
        for name in columns.iter().filter(|name| !of_other.contains(name)) {
            let is_known = |left: &LeftOut| &left.column == name;
            if left_out.iter().any(is_known) || left_out_too.iter().any(is_known) {
                continue;
            }
            let mut reason = format!("is not in \"{}\"", relation_name(other));
            let free = of_other.iter().filter(|other| !columns.contains(other));
            let same = free
                .into_iter()
                .find(|other| column_names::may_be_same(name, other));
            if let Some(same) = same {
                reason.push_str(&format!(", and may be the same as its \"{same}\""));
            }
            let left = LeftOut {
                column: name.clone(),
                reason,
            };
            if same.is_some() {
                may_be_same.get_or_insert_with(|| left.clone());
            }
            left_out.push(left);
        }
    }
    left_out.append(&mut left_out_too);
    may_be_same
}

fn invalid(message: String) -> ! {
    raise(&Error::invalid(message))
}

/// The error of a field of signatures where pairs compete.
pub fn not_of_things(name: &str) -> Error {
    Error::invalid(format!(
        "field \"{name}\" of kind signature is not compared where pairs compete"
    ))
    .detail(
        "Pairs that compete are looked for by the words of all fields, and a signature has none.",
    )
    .hint("Fit with one_to_one => 'none', and give bloom_model_linkage() one_to_one => true.")
}

/// `column`, `column:kind` or `column:kind(reading)`. A column's name may have a colon.
fn parse(oid: pg_sys::Oid, field: &str, are_things: bool) -> FieldWish {
    if catalog::column(oid, &c_name(field)).is_some() {
        return FieldWish::guessed(field.to_owned());
    }
    // A format of dates may have a colon as well.
    let (head, argument) = match field.strip_suffix(')').and_then(|all| all.split_once('(')) {
        Some((head, argument)) if head.contains(':') => (head, Some(argument)),
        _ => (field, None),
    };
    let Some((name, kind)) = head.rsplit_once(':') else {
        return FieldWish::guessed(field.to_owned());
    };
    let kinds: &[Kind] = match are_things {
        true => &Kind::OF_THINGS,
        false => &Kind::OF_PAIRS,
    };
    if are_things && Kind::named(kind) == Some(Kind::Signature) {
        raise(&not_of_things(name));
    }
    if Kind::named(kind).is_some_and(|kind| !kinds.contains(&kind)) {
        raise(
            &Error::invalid(format!("field \"{name}\" of kind {kind} is not compared where pairs do not compete"))
                .detail("What a word weighs depends on all records, which a model of single pairs does not know.")
                .hint(
                    "Use the kind text. Two tables are compared by words, too, by bloom_model_fit_linkage() with \
                     one_to_one => 'both', 'a' or 'b'.",
                ),
        );
    }
    let known = Kind::of_name(kind, kinds).and_then(|kind| {
        let reading = argument.map(|name| Reading::of_name(kind, name));
        Ok((kind, reading.transpose()?))
    });
    match known {
        Ok((kind, reading)) => FieldWish {
            name: name.to_owned(),
            kind: Some(kind),
            reading,
        },
        Err(e) => raise(&e.detail(format!("It is written behind the column \"{}\".", name))),
    }
}

/// The columns that can be compared and that the caller may read, but for `key`.
///
/// `signatures`: whether signatures of fields are among them.
pub fn comparable_columns(
    oid: pg_sys::Oid,
    key: &CStr,
    signatures: bool,
    left_out: &mut Vec<LeftOut>,
) -> Vec<String> {
    let fields = all(oid, key, signatures, left_out).into_iter();
    fields.map(|field| field.name).collect()
}

fn all(
    oid: pg_sys::Oid,
    key: &CStr,
    signatures: bool,
    left_out: &mut Vec<LeftOut>,
) -> Vec<FieldWish> {
    let mut fields = Vec::new();
    let mut signed = Vec::new();
    // Those that the server computes, with what it computes them from.
    let mut computed: Vec<(i16, Vec<i16>)> = Vec::new();
    let mut chosen = Vec::new();
    // SAFETY: a variable of the server.
    let user = unsafe { pg_sys::GetUserId() };
    let table = OpenRelation::locked_table(oid);
    // SAFETY: an open relation has a descriptor.
    let columns = unsafe { (*table.rd_att).natts };
    for number in 1..=columns as i16 {
        let c_name = catalog::column_name(oid, number);
        // not one that has been dropped
        if c_name.as_c_str() == key || catalog::column(oid, &c_name) != Some(number) {
            continue;
        }
        let name = readable(c_name.to_bytes());
        let of_type = catalog::column_type(oid, number);
        let is_signed = signatures && is_signature(of_type);
        let reason = if is_signed && is_kept_column(&table, &c_name) {
            Some("is encoded from other columns".to_owned())
        } else if !is_signed && !is_comparable(of_type) {
            let of_type = readable(catalog::type_name(of_type).to_bytes());
            Some(format!("values of type {of_type} are not compared"))
        } else if column_names::is_record_number(&name) {
            Some("looks like the number of a record, or of a group of records".to_owned())
        } else if is_date(of_type)
            && (column_names::says_when_entered(&name) || has_changing_default(&table, number))
        {
            Some("says when a record was entered or changed".to_owned())
        } else if !may_select(oid, &[number], user) {
            Some(MAY_NOT_BE_READ.to_owned())
        } else {
            None
        };
        match reason {
            Some(reason) => left_out.push(LeftOut {
                column: name,
                reason,
            }),
            None => {
                let sources = sources(&table, number);
                if !sources.is_empty() {
                    computed.push((number, sources));
                }
                chosen.push(number);
                if is_signed {
                    signed.push(name.clone());
                }
                fields.push(FieldWish::guessed(name));
            }
        }
    }
    for (number, sources) in computed {
        // What is said twice counts twice.
        let Some(source) = sources.iter().find(|source| chosen.contains(source)) else {
            continue;
        };
        let name = readable(catalog::column_name(oid, number).to_bytes());
        let source = readable(catalog::column_name(oid, *source).to_bytes());
        fields.retain(|field| field.name != name);
        left_out.push(LeftOut {
            column: name,
            reason: format!("is computed from \"{}\"", &source),
        });
    }
    signed.retain(|name| fields.iter().any(|field| field.name == *name));
    if let [only] = &signed[..] {
        // what it tells, other columns may tell, too
        fields.retain(|field| field.name != *only);
        left_out.push(LeftOut {
            column: only.clone(),
            reason: "is a single signature, which may be of the whole record; name it among the fields if it is of one"
                .to_owned(),
        });
    }
    fields
}

/// The type that a domain is of, or the type itself.
pub fn base_type(of_type: pg_sys::Oid) -> pg_sys::Oid {
    // SAFETY: a catalog look-up of a type that exists.
    unsafe { pg_sys::getBaseType(of_type) }
}

/// The category of a type, as pg_type has it.
fn category(base: pg_sys::Oid) -> u8 {
    let (mut category, mut preferred) = (0, false);
    // SAFETY: a catalog look-up of a type that exists, with two variables for the result.
    unsafe { pg_sys::get_type_category_preferred(base, &mut category, &mut preferred) };
    category as u8
}

/// Whether a column of this type serves where nobody has asked for it.
fn is_comparable(of_type: pg_sys::Oid) -> bool {
    let base = base_type(of_type);
    let integers = [pg_sys::INT2OID, pg_sys::INT4OID, pg_sys::INT8OID];
    matches!(category(base), b'S' | b'E')
        || is_date(base)
        || is_fraction(base)
        || integers.contains(&base)
}

/// Whether a type has a day.
pub fn is_date(of_type: pg_sys::Oid) -> bool {
    [
        pg_sys::DATEOID,
        pg_sys::TIMESTAMPOID,
        pg_sys::TIMESTAMPTZOID,
    ]
    .contains(&base_type(of_type))
}

/// Whether a type has fractions.
pub fn is_fraction(of_type: pg_sys::Oid) -> bool {
    let fractions = [pg_sys::NUMERICOID, pg_sys::FLOAT4OID, pg_sys::FLOAT8OID];
    fractions.contains(&base_type(of_type))
}

/// Whether the text of a value is another one where the session has other settings, and nothing is done about it.
fn has_changing_text(of_type: pg_sys::Oid) -> bool {
    let base = base_type(of_type);
    // SAFETY: a catalog look-up of a type that exists.
    let element = unsafe { pg_sys::get_element_type(base) };
    if element != pg_sys::InvalidOid {
        let changed = [pg_sys::FLOAT4OID, pg_sys::FLOAT8OID];
        return is_date(element)
            || changed.contains(&base_type(element))
            || has_changing_text(element);
    }
    let changing = [
        pg_sys::MONEYOID,
        pg_sys::BYTEAOID,
        pg_sys::REGPROCOID,
        pg_sys::REGPROCEDUREOID,
        pg_sys::REGOPEROID,
        pg_sys::REGOPERATOROID,
        pg_sys::REGCLASSOID,
        pg_sys::REGCOLLATIONOID,
        pg_sys::REGTYPEOID,
        pg_sys::REGCONFIGOID,
        pg_sys::REGDICTIONARYOID,
    ];
    // composite types, geometric types, ranges, intervals
    matches!(category(base), b'C' | b'G' | b'R' | b'T') || changing.contains(&base)
}

/// The columns by which records are compared. `relation` is its name for messages.
///
/// Errors: a column that does not exist; one whose text depends on the session's settings.
pub fn columns<'a>(
    oid: pg_sys::Oid,
    names: impl Iterator<Item = &'a str>,
    relation: &str,
) -> Vec<RecordColumn> {
    let names: Vec<&str> = names.collect();
    let is_missing = |name: &&str| catalog::column(oid, &c_name(name)).is_none();
    let missing: Vec<&str> = names.iter().copied().filter(is_missing).collect();
    if !missing.is_empty() {
        raise(&missing_columns(oid, &names, &missing));
    }
    names
        .into_iter()
        .map(|name| {
            let column = RecordColumn::new(oid, c_name(name));
            if has_changing_text(column.type_oid) {
                let of_type = readable(catalog::type_name(column.type_oid).to_bytes());
                let message = format!(
                    "column \"{name}\" of relation \"{relation}\" is of type {of_type}, which cannot be compared"
                );
                raise(
                    &Error::invalid(message)
                        .detail("How such a value is written depends on settings of the session.")
                        .hint("Use a view that gives it as a text, a number or a date."),
                );
            }
            column
        })
        .collect()
}
