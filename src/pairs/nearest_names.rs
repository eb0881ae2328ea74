//! `bloom_nearest_names`: the names of a relation that are nearest to a name, found by an index and then compared as names.

use std::ffi::CStr;

use bloom_ident_core::filter::{typmod, Shape};
use bloom_ident_core::names::{candidates, WantedName};
use bloom_ident_core::{Error, ErrorKind};
use pgrx::{pg_sys, IntoDatum, PgSqlErrorCode};

use crate::objects::is_signature;
use crate::pairs::records::{lock, RecordColumn};
use crate::pg::cursor::Cursor;
use crate::pg::error::{raise_as, shown, OrRaise};
use crate::pg::function::arguments::Arguments;
use crate::pg::function::rows::{text_datum, ResultRows};
use crate::pg::sql::Sql;
use crate::pg::values::text::{readable, Text};
use crate::pg::values::varlena::NewValue;
use crate::pg::{catalog, check_for_interrupts, entry};
use crate::types::{Bloom, NewBloom};

/// Candidates fetched at a time.
const BATCH: i64 = 100;

/// `(rel regclass, key name, signature name, name_column name, text text, k integer, by_word boolean)`, returns a table of `key text`,
/// `name text` and `similarity float8`, the nearest names first. It reads as its caller does, with the caller's privileges and row-level
/// security. Without a text there are no rows.
///
/// Errors: no relation, column, k or by_word (22004), k out of range (22023), no such column (42703), a signature column of another
/// type (42804) or of tokens (22000).
#[entry]
fn bloom_nearest_names(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments, and the record is that of a running call.
    let (arguments, function) = unsafe { (Arguments::of(fcinfo), (*(*fcinfo).flinfo).fn_oid) };
    let list = NameList::of(function, arguments);
    let k = arguments.given(5).value() as i32;
    let many = candidates(k.into()).or_raise();
    let by_word = arguments.boolean(6);
    // SAFETY: the SQL function is declared to return a set of rows with OUT columns.
    let mut rows = unsafe { ResultRows::new(fcinfo) };
    let Some(text) = arguments.datum(4) else {
        return NewValue(pg_sys::Datum::null());
    };
    // SAFETY: the argument is declared as text, and lives as long as the call.
    let text = unsafe { Text::from_raw(text) };
    let Some(shape) = list.shape() else {
        return NewValue(pg_sys::Datum::null());
    };
    shape.check_of_ngrams().or_raise();
    let signature = NewBloom::new(shape, |builder| {
        builder.add_text(text.as_str(), by_word, check_for_interrupts)
    });
    let wanted = WantedName::new(text.as_str().to_owned(), check_for_interrupts).or_raise();
    let mut found = list.candidates(signature, many, &wanted);
    found.sort_by(|a, b| {
        b.similarity
            .total_cmp(&a.similarity)
            .then_with(|| a.key.cmp(&b.key))
    });
    for one in found.into_iter().take(k as usize) {
        let name = text_datum(&one.name);
        rows.put([
            one.key.map(|key| text_datum(&key)),
            Some(name),
            one.similarity.into_datum(),
        ]);
    }
    NewValue(pg_sys::Datum::null())
}

/// A row whose name is compared. The texts are in the database's encoding.
struct NamedRow {
    /// `None` for NULL, as it may be in a view.
    key: Option<Vec<u8>>,
    name: Vec<u8>,
    similarity: f64,
}

/// The relation and its columns, locked until the end of the transaction.
struct NameList {
    relation: pg_sys::Oid,
    key: RecordColumn,
    signature: RecordColumn,
    name: RecordColumn,
    /// The type `bloom`, of which the signatures are, or of a domain of it.
    bloom: pg_sys::Oid,
    /// `<->` of this extension.
    distance: Sql,
}

impl NameList {
    /// `function` is the one that is running.
    fn of(function: pg_sys::Oid, arguments: Arguments) -> NameList {
        let relation = arguments.oid(0);
        let columns = [1, 2, 3].map(|i| arguments.name(i));
        let of_relation = lock(relation);
        let [key, signature, name] =
            columns.map(|column| RecordColumn::of(relation, column, &of_relation));
        if !is_signature(signature.type_oid) {
            let of_type = readable(catalog::type_name(signature.type_oid).to_bytes());
            let column = readable(signature.name.to_bytes());
            let message = format!(
                "column \"{column}\" of relation \"{of_relation}\" is of type {of_type}, not bloom"
            );
            let hint = "Name a column of signatures of the names, such as one GENERATED ALWAYS AS (bloom_signature(..., by_word => true)) STORED.";
            raise_as(
                PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
                &Error::new(ErrorKind::InvalidParameter, shown(&message)).hint(hint),
            );
        }
        // SAFETY: a look-up in the catalogs by OID.
        let bloom = unsafe { pg_sys::getBaseType(signature.type_oid) };
        NameList {
            relation,
            key,
            signature,
            name,
            bloom,
            distance: distance_beside(function, bloom),
        }
    }

    /// The shape of the signatures: that of the column, or of any of its values; `None` if there is none.
    fn shape(&self) -> Option<Shape> {
        let number = catalog::column(self.relation, &self.signature.name)?;
        let (_, modifier) = catalog::base_type(self.relation, number);
        if let Some(shape) = typmod::unpack(modifier).or_raise() {
            return Some(shape);
        }
        let sql = Sql::new("SELECT ")
            .sql(&self.signature())
            .text(" FROM ")
            .relation(self.relation)
            .text(" AS t WHERE t.")
            .name(&self.signature.name)
            .text(" IS NOT NULL LIMIT 1");
        let mut shape = None;
        Cursor::open(sql, &[], 1).each(|row| {
            // SAFETY: the query selects a signature, which lives as long as the row.
            shape = row
                .datum(0)
                .map(|value| unsafe { Bloom::from_raw(value) }.view().shape());
        });
        shape
    }

    /// A row's signature. That of a domain is cast to the type itself, so that no operator of the domain is found.
    fn signature(&self) -> Sql {
        Sql::new("CAST(t.")
            .name(&self.signature.name)
            .text(" AS ")
            .type_name(self.bloom)
            .text(")")
    }

    /// The rows with a name whose signatures are nearest to one, so many at most, compared with the name.
    fn candidates(&self, signature: NewBloom, many: i64, wanted: &WantedName) -> Vec<NamedRow> {
        let sql = Sql::new("SELECT t.")
            .name(&self.key.name)
            .text(", t.")
            .name(&self.name.name)
            .text(" FROM ")
            .relation(self.relation)
            .text(" AS t WHERE t.")
            .name(&self.signature.name)
            .text(" IS NOT NULL AND t.")
            .name(&self.name.name)
            .text(" IS NOT NULL ORDER BY ")
            .sql(&self.signature())
            .text(" ")
            .sql(&self.distance)
            .text(&format!(" $1 LIMIT {many}"));
        let cursor = Cursor::open(sql, &[(self.bloom, signature.datum())], BATCH);
        let (mut key_output, mut name_output) = (cursor.output(0), cursor.output(1));
        let mut found = Vec::new();
        cursor.each(|row| {
            let Some(name) = row.datum(1) else {
                return;
            };
            let key = row.datum(0);
            let key = key.map(|key| key_output.show(key, <[u8]>::to_vec));
            let name = name_output.show(name, <[u8]>::to_vec);
            let similarity = wanted.nearness(&readable(&name), check_for_interrupts);
            found.push(NamedRow {
                key,
                similarity: similarity.or_raise(),
                name,
            });
        });
        found
    }
}

/// `OPERATOR(schema.<->)` for signatures, in the schema of the running function.
///
/// Errors: it is not there, or not of this extension (42704).
fn distance_beside(function: pg_sys::Oid, bloom: pg_sys::Oid) -> Sql {
    let schema = catalog::schema_of_function(function);
    // SAFETY: look-ups in the catalogs; the key of the cache OPERNAMENSP is name, left and right type and namespace.
    let is_ours = unsafe {
        let operator = pg_sys::GetSysCacheOid(
            pg_sys::SysCacheIdentifier::OPERNAMENSP as i32,
            pg_sys::Anum_pg_operator_oid as pg_sys::AttrNumber,
            pg_sys::Datum::from(c"<->".as_ptr()),
            pg_sys::Datum::from(bloom),
            pg_sys::Datum::from(bloom),
            pg_sys::Datum::from(pg_sys::get_func_namespace(function)),
        );
        let extension = |class, oid| pg_sys::getExtensionOfObject(class, oid);
        operator != pg_sys::InvalidOid
            && extension(pg_sys::OperatorRelationId, operator)
                == extension(pg_sys::ProcedureRelationId, function)
    };
    if !is_ours {
        let message = format!(
            "operator <-> of bloom_ident is not in schema {}",
            readable(catalog::quoted_column(&schema).to_bytes())
        );
        raise_as(
            PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT,
            &Error::new(ErrorKind::InvalidParameter, shown(&message))
                .detail("bloom_nearest_names looks for it where it is itself.")
                .hint("Move all of them back, or all to one schema by ALTER EXTENSION bloom_ident SET SCHEMA."),
        );
    }
    operator_in(&schema)
}

fn operator_in(schema: &CStr) -> Sql {
    Sql::new("OPERATOR(").name(schema).text(".<->)")
}
