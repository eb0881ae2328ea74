//! `bloom_audit_keyed`: what somebody without the secret reads from a column of keyed signatures.

use std::ffi::CString;

use audit::{audit, Reference, Signatures, MOST_REFERENCE};
use base::Error;
use pg::catalog::{self, column_name};
use pg::error::{raise, sql_error, OrRaise};
use pg::function::arguments::Arguments;
use pg::function::rows::{text_datum, ResultRows};
use pg::message::words;
use pg::relation::OpenRelation;
use pg::session::read;
use pg::sql::Sql;
use pg::values::text::Text;
use pg::values::varlena::NewValue;
use pg::{check_for_interrupts, entry, sql};
use pgrx::PgSqlErrorCode::{
    ERRCODE_DATATYPE_MISMATCH, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE, ERRCODE_UNDEFINED_COLUMN,
    ERRCODE_WRONG_OBJECT_TYPE,
};
use pgrx::{pg_sys, IntoDatum};
use signature::filter::Shape;
use signature::mix;
use types::Bloom;

/// Most signatures that are looked at, and fewest, whatever `work_mem` is.
const MOST: usize = 100_000;
const FEWEST: usize = 1000;

/// The attacks have as many copies of the bits.
const COPIES: usize = 5;

/// Rows fetched at a time.
const BATCH: i64 = 500;

/// How often a row of the reference comes at most.
const MOST_TIMES: usize = 1_000_000_000_000_000;

/// Characters of a value that are looked at.
const CHARACTERS: usize = 100;

/// `(rel regclass, signature name, reference regclass) RETURNS TABLE (measure text, value float8, expected float8, advice text)`
///
/// Errors: no such column, or none of keyed signatures; signatures of several ids; a reference without a text column; what
/// the queries fail with, which the caller's rights decide.
#[entry(stable, parallel_unsafe)]
fn bloom_audit_keyed(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the record of a running call, which is declared with these arguments, and STRICT.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let (table, column, list) = (arguments.oid(0), arguments.name(1), arguments.oid(2));
    // SAFETY: the SQL function is declared to return a set of rows.
    let mut rows = unsafe { ResultRows::new(fcinfo) };
    let reference = reference(list);
    let signatures = signatures(table, &column);
    for found in audit(&signatures, &reference, &mut check_for_interrupts) {
        rows.put([
            Some(text_datum(found.measure.as_bytes())),
            found.value.into_datum(),
            found.expected.and_then(f64::into_datum),
            found.advice.map(|advice| text_datum(advice.as_bytes())),
        ]);
    }
    NewValue(pg_sys::Datum::null())
}

/// All signatures of a column, or as many as there is memory for, by chance, but the same ones each time.
fn signatures(table: pg_sys::Oid, column: &CString) -> Signatures {
    check_relation(table);
    let Some(number) = catalog::column(table, column) else {
        raise(&sql_error(
            ERRCODE_UNDEFINED_COLUMN,
            words!("column \"{column}\" of relation \"{table}\" does not exist"),
        ));
    };
    if !types::objects::is_signature(catalog::column_type(table, number)) {
        raise(&sql_error(
            ERRCODE_DATATYPE_MISMATCH,
            words!("column \"{column}\" is not of type bloom"),
        ));
    }
    let mut shape: Option<Shape> = None;
    let mut taken: Vec<Vec<u8>> = Vec::new();
    let (mut seen, mut most) = (0, 0);
    let column = sql!("{column}");
    let query = sql!("SELECT {column} FROM {table} WHERE {column} IS NOT NULL");
    read(query, &[], BATCH).each(|row| {
        check_for_interrupts();
        let Some(datum) = row.datum(0) else {
            return;
        };
        // SAFETY: the query selects signatures, which live as long as the row.
        let signature = unsafe { Bloom::from_raw(datum) };
        let view = signature.view();
        let first = *shape.get_or_insert(view.shape());
        check_shape(first, view.shape());
        if most == 0 {
            // SAFETY: a setting, in kilobytes.
            let memory = 1024 * unsafe { pg_sys::work_mem } as usize;
            most = (memory / (COPIES * view.bits().len()).max(1)).clamp(FEWEST, MOST);
        }
        seen += 1;
        match taken.len() < most {
            true => taken.push(view.bits().to_vec()),
            false => {
                let place = (mix(seen) % seen) as usize;
                if let Some(old) = taken.get_mut(place) {
                    *old = view.bits().to_vec();
                }
            }
        }
    });
    let bits = shape.map_or(0, |shape| shape.m() as usize);
    Signatures::new(bits, taken.iter().map(Vec::as_slice))
}

/// Errors: signatures that are not keyed, or of another secret, schema or hardening than the first.
fn check_shape(first: Shape, shape: Shape) {
    if !shape.is_keyed() {
        raise(
            &Error::data_exception(format!("signature of shape {shape} is not keyed"))
                .detail(
                    "Everybody can compute it of a name, so that it needs no attack to be read.",
                )
                .hint("Make keyed signatures by bloom_clk() or bloom_clk_column()."),
        );
    }
    if shape != first {
        raise(&Shape::mismatch(first, shape));
    }
}

fn check_relation(oid: pg_sys::Oid) {
    catalog::check_exists(oid).or_raise();
    let kinds = [
        pg_sys::RELKIND_RELATION,
        pg_sys::RELKIND_PARTITIONED_TABLE,
        pg_sys::RELKIND_MATVIEW,
        pg_sys::RELKIND_VIEW,
        pg_sys::RELKIND_FOREIGN_TABLE,
    ];
    if !kinds.contains(&catalog::kind(oid)) {
        raise(&sql_error(
            ERRCODE_WRONG_OBJECT_TYPE,
            words!("relation \"{oid}\" is not a table or view"),
        ));
    }
}

/// The text columns of a relation, as fields, and the number in its column `count`, if there is one, as how often a row
/// comes. Of more rows than are looked at those that come most often are taken, or without numbers some by chance.
fn reference(list: pg_sys::Oid) -> Reference {
    check_relation(list);
    let (mut fields, mut weight) = (Vec::new(), None);
    {
        let open = OpenRelation::table(list, pg_sys::AccessShareLock);
        for column in open.columns().filter(|column| !column.attisdropped) {
            let name = column_name(list, column.attnum);
            if is_text(column.atttypid) {
                fields.push(name);
            } else if name.as_bytes() == b"count" && is_number(column.atttypid) {
                weight = Some(name);
            }
        }
    }
    if fields.is_empty() {
        raise(
            &sql_error(
                ERRCODE_DATATYPE_MISMATCH,
                words!("relation \"{list}\" has no column of type text"),
            )
            .detail("The reference of an audit has names as texts, and how often each comes in a column named count."),
        );
    }
    let texts = fields
        .iter()
        .map(|name| sql!(", pg_catalog.left({name}::pg_catalog.text, {CHARACTERS})"));
    let texts = Sql::join(texts, "");
    let query = match &weight {
        Some(count) => {
            let times = times(count);
            sql!("SELECT {times}{texts} FROM {list} WHERE {count} OPERATOR(pg_catalog.>) 0 ORDER BY 1 DESC LIMIT {MOST_REFERENCE}")
        }
        None => sql!("SELECT 1::pg_catalog.float8{texts} FROM {list}"),
    };
    let mut taken: Vec<(Vec<String>, f64)> = Vec::new();
    let mut seen = 0;
    read(query, &[], BATCH).each(|row| {
        check_for_interrupts();
        seen += 1;
        let place = match taken.len() < MOST_REFERENCE {
            true => taken.len(),
            false => (mix(seen) % seen) as usize,
        };
        if place >= MOST_REFERENCE {
            return;
        }
        let text = |n: usize| {
            row.text(n + 1)
                .map_or(String::new(), |text: Text<'_>| text.as_str().to_owned())
        };
        let values = (0..fields.len()).map(text).collect();
        let times = row
            .datum(0)
            .map_or(0.0, |times| f64::from_bits(times.value() as u64));
        if times > MOST_TIMES as f64 {
            let count = CString::from(c"count");
            raise(
                &sql_error(
                    ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
                    words!("number in column \"{count}\" of relation \"{list}\" is out of range"),
                )
                .detail(format!("A row comes {MOST_TIMES} times at most.")),
            );
        }
        let record = (values, times);
        match taken.get_mut(place) {
            Some(old) => *old = record,
            None => taken.push(record),
        }
    });
    Reference::new(fields.len(), &taken)
}

/// How often a row comes, as a float; infinite beyond [`MOST_TIMES`], and for what is no number. A numeric may be too large for a
/// float, or too small.
fn times(count: &CString) -> Sql {
    let number = sql!("{count}::pg_catalog.numeric");
    sql!(
        "CASE WHEN {number} OPERATOR(pg_catalog.>) {MOST_TIMES} THEN pg_catalog.float8 'infinity' \
        WHEN {number} OPERATOR(pg_catalog.<) 1e-9 THEN 0 ELSE {count}::pg_catalog.float8 END"
    )
}

/// Whether a type is `text`, `varchar` or `char`, or a domain of them.
fn is_text(of_type: pg_sys::Oid) -> bool {
    // SAFETY: a look-up of a type that a column has.
    let base = unsafe { pg_sys::getBaseType(of_type) };
    [pg_sys::TEXTOID, pg_sys::VARCHAROID, pg_sys::BPCHAROID].contains(&base)
}

fn is_number(of_type: pg_sys::Oid) -> bool {
    // SAFETY: as above.
    let base = unsafe { pg_sys::getBaseType(of_type) };
    let numbers = [
        pg_sys::INT2OID,
        pg_sys::INT4OID,
        pg_sys::INT8OID,
        pg_sys::FLOAT4OID,
        pg_sys::FLOAT8OID,
        pg_sys::NUMERICOID,
    ];
    numbers.contains(&base)
}
