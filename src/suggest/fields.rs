//! What each column is good for.

use std::ffi::CString;

use linkage::model::values::{date_formats, Kind, Reading};
use linkage::model::{LeftOut, MOST_FIELDS};
use pgrx::pg_sys;

use super::relation::SuggestSubject;
use super::sample::{ColumnSeen, RelationSample};
use crate::models::{base_type, guess, is_date, is_fraction};
use pg::catalog;
use pg::sql;
use pg::sql::{literal, Sql};
use pg::values::text::to_database;

/// Of fewer records, one value or as many values as records say nothing of a column.
const FEW: u64 = 10;

/// Of fewer records, different values are no news.
const FEW_UNIQUE: u64 = 30;

/// What a column is compared by.
pub struct ProposedField {
    pub name: String,
    pub c_name: CString,
    pub kind: Kind,
    pub reading: Option<Reading>,
    /// E-mail addresses.
    pub is_email: bool,
    /// Texts of sentences, of which tokens are compared.
    pub is_long: bool,
    pub is_personal: bool,
    /// Its number in the sample.
    pub at: usize,
    /// Records of the sample with a value, in hundredths.
    pub filled: u64,
    /// What a signature is made of, within the expression of a generated column.
    pub signed: Option<Sql>,
}

impl ProposedField {
    /// As `bloom_model_fit` takes it.
    pub fn wish(&self) -> String {
        let reading = self.reading.as_ref();
        let reading = reading.map_or(String::new(), |r| format!("({})", r.name()));
        format!("{}:{}{reading}", self.name, self.kind)
    }
}

/// A text as a string constant.
pub fn text_literal(text: &str) -> Sql {
    literal(&CString::new(to_database(text)).unwrap_or_default())
}

/// What a value's text is in the expression of a generated column, which must not depend on settings; `functions` is
/// the schema of the extension's functions as SQL needs it.
fn signed(
    oid: pg_sys::Oid,
    name: &CString,
    field: (Kind, Option<&Reading>),
    functions: &Sql,
) -> Option<Sql> {
    let number = catalog::column(oid, name)?;
    // SAFETY: a look-up in the catalogs by OID and number.
    if unsafe { pg_sys::get_attgenerated(oid, number) } != 0 {
        return None;
    }
    match base_type(catalog::column_type(oid, number)) {
        pg_sys::DATEOID => Some(sql!("{functions}ident_date_or_null({name})")),
        pg_sys::TIMESTAMPOID => Some(sql!("{functions}ident_date_or_null({name}::date)")),
        pg_sys::TEXTOID | pg_sys::VARCHAROID | pg_sys::BPCHAROID => Some(match field {
            (Kind::Date | Kind::Day, Some(reading)) => {
                let formats = Sql::join(date_formats(reading.name()).map(text_literal), ", ");
                sql!("{functions}ident_date_or_null({name}, {formats})")
            }
            (Kind::Phone, Some(reading)) => {
                let region = text_literal(reading.name());
                sql!("{functions}ident_phone_or_null({name}, {region})")
            }
            _ => sql!("{name}"),
        }),
        _ => None,
    }
}

/// Why nothing is said by a column; `None` if something is.
fn says_nothing(seen: &ColumnSeen, rows: u64, kind: Kind) -> Option<String> {
    if rows == 0 {
        return None;
    }
    if seen.present == 0 {
        return Some("is empty".to_owned());
    }
    if rows >= FEW && seen.distinct() == 1 {
        return Some("has the same value wherever it has one".to_owned());
    }
    let is_code = 10 * seen.of_words < seen.present && 10 * seen.addresses < seen.present;
    let can_be = matches!(kind, Kind::Text | Kind::Number | Kind::Code);
    if seen.present >= FEW_UNIQUE && seen.distinct() == seen.present && is_code && can_be {
        return Some("has another value in every record, as a number of records would".to_owned());
    }
    None
}

/// The fields, and why other columns are none.
pub fn fields(
    subject: &SuggestSubject,
    names: &[String],
    sample: &RelationSample,
    functions: &Sql,
    left_out: &mut Vec<LeftOut>,
) -> Vec<ProposedField> {
    let mut fields = Vec::new();
    for (at, (name, seen)) in names.iter().zip(&sample.columns).enumerate() {
        let c_name = CString::new(to_database(name)).unwrap_or_default();
        let Some(number) = catalog::column(subject.oid, &c_name) else {
            continue;
        };
        let of_type = catalog::column_type(subject.oid, number);
        let (kind, reading) = guess::kind(name, is_date(of_type), is_fraction(of_type), &seen.seen);
        let reason = says_nothing(seen, sample.rows, kind);
        let reason = reason.or_else(|| {
            (fields.len() == MOST_FIELDS).then(|| format!("more than {MOST_FIELDS} columns"))
        });
        if let Some(reason) = reason {
            let column = name.clone();
            left_out.push(LeftOut { column, reason });
            continue;
        }
        fields.push(ProposedField {
            is_email: seen.present > 0 && 10 * seen.addresses >= 9 * seen.present,
            is_long: seen.present > 0 && 2 * seen.long > seen.present,
            is_personal: guess::is_personal(name, &seen.seen),
            at,
            filled: match sample.rows {
                0 => 100,
                rows => 100 * seen.present / rows,
            },
            signed: signed(subject.oid, &c_name, (kind, reading.as_ref()), functions),
            name: name.clone(),
            c_name,
            kind,
            reading,
        });
    }
    fields
}
