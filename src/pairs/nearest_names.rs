//! `bloom_nearest_names`: the names of a relation that are nearest to a name, found by an index and then compared as
//! names.

use std::collections::BinaryHeap;
use std::ffi::CStr;

use pgrx::{pg_sys, IntoDatum, PgSqlErrorCode};
use signature::filter::{typmod, Shape};
use text::names::{candidates, WantedName, MAX_OF_WORD, MAX_TIES};

use crate::pairs::records::{check_select, lock, RecordColumn};
use pg::catalog::operators::beside;
use pg::error::{raise, sql_error, OrRaise};
use pg::function::arguments::Arguments;
use pg::function::rows::{text_datum, ResultRows};
use pg::output::OutputFunction;
use pg::session::fixed_settings::FixedSettings;
use pg::session::{read, QueryRow, Rows};
use pg::sql;
use pg::sql::Sql;
use pg::values::text::{readable, Text};
use pg::values::varlena::NewValue;
use pg::{catalog, check_for_interrupts, entry};
use types::objects::is_signature;
use types::{Bloom, NewBloom};

/// Candidates fetched at a time.
const BATCH: i64 = 100;

/// Rows that are fetched behind the wanted ones, since some are often as far as the last one. With the least number that is
/// wanted, 50, they are the 64 that the first pass of an index sigfile keeps; a search for the next ones goes much further.
const BESIDE: i64 = 14;

/// `(rel regclass, key name, signature name, name_column name, text text, k integer, by_word boolean) RETURNS TABLE
/// (key text, name text, similarity float8)`
///
/// The nearest names come first. It reads as its caller does, with the caller's privileges and row-level security.
/// Without a text there are no rows.
///
/// Errors: no relation, column, k or by_word (22004), k out of range (22023), no privilege (42501), no such column
/// (42703), a signature column of another type (42804) or of tokens (22000).
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_nearest_names(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments, and the record is that of a running call.
    let (arguments, function) = unsafe { (Arguments::new(fcinfo), (*(*fcinfo).flinfo).fn_oid) };
    let list = NameList::given(function, arguments);
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
    let wanted = WantedName::new(text.as_str(), check_for_interrupts).or_raise();
    let words = wanted.words().iter().map(|word| {
        NewBloom::new(shape, |builder| {
            builder.add_text(word, by_word, check_for_interrupts)
        })
    });
    let mut found = list.candidates(signature, words, many);
    for (measure, row) in &mut found {
        let similarity = wanted.nearness(&readable(&row.name), check_for_interrupts);
        *measure = similarity.or_raise();
    }
    found.sort_by(|(x, a), (y, b)| y.total_cmp(x).then_with(|| a.cmp(b)));
    for (similarity, NamedRow { key, name }) in found.into_iter().take(k as usize) {
        rows.put([
            key.map(|key| text_datum(&key)),
            Some(text_datum(&name)),
            similarity.into_datum(),
        ]);
    }
    NewValue(pg_sys::Datum::null())
}

/// A row with a name, by the texts of both, in the database's encoding. They have the order of their keys, byte by
/// byte.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct NamedRow {
    /// `None` for NULL, as it may be in a view.
    key: Option<Vec<u8>>,
    name: Vec<u8>,
}

/// The relation and its columns, locked until the end of the transaction.
struct NameList {
    relation: pg_sys::Oid,
    key: RecordColumn,
    signature: RecordColumn,
    name: RecordColumn,
    /// The type `bloom`, of which the signatures are, or of a domain of it.
    bloom: pg_sys::Oid,
    /// `<->` and `@>` of this extension.
    distance: Sql,
    covers: Sql,
}

impl NameList {
    /// `function` is the one that is running.
    fn given(function: pg_sys::Oid, arguments: Arguments) -> NameList {
        let relation = arguments.oid(0);
        let columns = [1, 2, 3].map(|i| arguments.name(i));
        let of_relation = lock(relation);
        let [key, signature, name] = columns.map(|column| RecordColumn::new(relation, column));
        check_select(relation, [&key, &signature, &name].into_iter());
        if !is_signature(signature.type_oid) {
            let hint = "Name a column of signatures of the names, such as one GENERATED ALWAYS AS \
                        (bloom_signature(..., by_word => true)) STORED.";
            signature.refuse_type(&of_relation, "bloom", hint);
        }
        // SAFETY: a look-up in the catalogs by OID.
        let bloom = unsafe { pg_sys::getBaseType(signature.type_oid) };
        NameList {
            relation,
            key,
            signature,
            name,
            bloom,
            distance: own_operator(function, bloom, c"<->"),
            covers: own_operator(function, bloom, c"@>"),
        }
    }

    /// The shape of the signatures: that of the column, or of any of its values; `None` if there is none.
    fn shape(&self) -> Option<Shape> {
        let number = catalog::column(self.relation, &self.signature.name)?;
        let (_, modifier) = catalog::base_type(self.relation, number);
        if let Some(shape) = typmod::shape_of(modifier).or_raise() {
            return Some(shape);
        }
        let (signature, column) = (self.signature(), &self.signature.name);
        let sql = sql!(
            "SELECT {signature} FROM {self.relation} AS t WHERE t.{column} IS NOT NULL LIMIT 1"
        );
        let mut shape = None;
        read(sql, &[], 1).each(|row| {
            // SAFETY: the query selects a signature, which lives as long as the row.
            shape = row
                .datum(0)
                .map(|value| unsafe { Bloom::from_raw(value) }.view().shape());
        });
        shape
    }

    /// A row's signature. That of a domain is cast to the type itself, so that no operator of the domain is found.
    fn signature(&self) -> Sql {
        let bloom = Sql::new("").type_name(self.bloom);
        sql!("CAST(t.{self.signature.name} AS {bloom})")
    }

    /// `SELECT` of key, name and distance from `$1`, of all rows that have a name and a signature.
    fn rows(&self) -> Sql {
        let (signature, name) = (&self.signature.name, &self.name.name);
        let distance = self.wanted_distance();
        sql!(
            "SELECT t.{self.key.name}, t.{name}, {distance} FROM {self.relation} AS t \
             WHERE t.{signature} IS NOT NULL AND t.{name} IS NOT NULL"
        )
    }

    /// The distance of a row from `$1`.
    fn wanted_distance(&self) -> Sql {
        self.signature().text(" ").sql(&self.distance).text(" $1")
    }

    /// The rows with a name whose signatures are nearest to one, so many, and those that are as far as the last of
    /// them; and all rows that have one of the words, unless these are too many. They come with their distances. Which
    /// rows they are is a matter of distances and keys alone, not of the order in which a plan finds them.
    fn candidates(
        &self,
        signature: NewBloom,
        words: impl Iterator<Item = NewBloom>,
        many: i64,
    ) -> Vec<(f64, NamedRow)> {
        let signature = (self.bloom, signature.datum());
        let limit = many + MAX_TIES;
        let (rows, order, most) = (self.rows(), self.wanted_distance(), limit as usize + 1);
        let sql = sql!("{rows} ORDER BY {order} LIMIT {most}");
        let mut found: Vec<(f64, NamedRow)> = Vec::new();
        let cursor = read(sql, &[signature], many + BESIDE);
        let mut output = RowOutput::new(&cursor);
        cursor.each_while(|row| {
            let Some((distance, row)) = output.row(row) else {
                return true;
            };
            let last = (found.get(many as usize - 1)).map(|(last, _)| *last);
            let is_candidate = last.is_none_or(|last| distance <= last);
            if is_candidate {
                found.push((distance, row));
            }
            is_candidate
        });
        let Some(last) = found.get(many as usize - 1).map(|(last, _)| *last) else {
            // These are all rows.
            return found;
        };
        if found.len() as i64 > limit {
            found.retain(|(distance, _)| *distance < last);
            let more = limit as usize - found.len();
            found.extend(self.first_of_equal(signature, last, more));
        }
        self.with_words(signature, words, last, &mut found);
        found
    }

    /// Adds the rows that have one of the words and are further than `last`. A word that too many of them have is left
    /// out: it tells none of them from the others.
    fn with_words(
        &self,
        signature: (pg_sys::Oid, pg_sys::Datum),
        words: impl Iterator<Item = NewBloom>,
        last: f64,
        found: &mut Vec<(f64, NamedRow)>,
    ) {
        let mut parameters = vec![signature];
        // Rows of the words before, which are there already.
        let mut others = Sql::new("");
        for word in words {
            let (rows, of_row, covers) = (self.rows(), self.signature(), &self.covers);
            let number = parameters.len() + 1;
            let has_word = sql!(" {of_row} {covers} ${number}");
            let most = MAX_OF_WORD + 1;
            let sql = sql!("{rows} AND{has_word}{others} LIMIT {most}");
            parameters.push((self.bloom, word.datum()));
            let mut having = Vec::new();
            let mut n = 0;
            // A bitmap has all rows of a frequent word before the first of them is read. What the query calls sees the
            // settings of the session again.
            let settings = FixedSettings::begin(&[(c"enable_bitmapscan", c"off")]);
            let cursor = read(sql, &parameters, most as i64);
            settings.end();
            let mut output = RowOutput::new(&cursor);
            cursor.each(|row| {
                n += 1;
                having.extend(output.row(row).filter(|(distance, _)| *distance > last));
            });
            if n > MAX_OF_WORD {
                parameters.pop();
            } else {
                others = sql!("{others} AND NOT{has_word}");
                found.append(&mut having);
            }
        }
    }

    /// Of the rows at one distance, so many with the least keys. All of them are read.
    fn first_of_equal(
        &self,
        signature: (pg_sys::Oid, pg_sys::Datum),
        distance: f64,
        many: usize,
    ) -> impl Iterator<Item = (f64, NamedRow)> {
        let (rows, of_row) = (self.rows(), self.wanted_distance());
        let sql = sql!("{rows} AND {of_row} OPERATOR(pg_catalog.=) $2");
        let distance_datum = (
            pg_sys::FLOAT8OID,
            pg_sys::Datum::from(distance.to_bits() as usize),
        );
        let cursor = read(sql, &[signature, distance_datum], BATCH);
        let mut output = RowOutput::new(&cursor);
        let mut first = BinaryHeap::with_capacity(many + 1);
        cursor.each(|row| {
            first.extend(output.row(row).map(|(_, row)| row));
            if first.len() > many {
                first.pop();
            }
        });
        first.into_iter().map(move |row| (distance, row))
    }
}

/// How rows of [`NameList::rows`] become texts.
struct RowOutput {
    key: OutputFunction,
    name: OutputFunction,
}

impl RowOutput {
    fn new(cursor: &Rows) -> RowOutput {
        RowOutput {
            key: cursor.output(0),
            name: cursor.output(1),
        }
    }

    /// A row and its distance. `None` if it has none, or no name.
    fn row(&mut self, row: QueryRow<'_>) -> Option<(f64, NamedRow)> {
        let distance = f64::from_bits(row.datum(2)?.value() as u64);
        let name = self.name.show(row.datum(1)?, <[u8]>::to_vec);
        let key = row.datum(0).map(|key| self.key.show(key, <[u8]>::to_vec));
        Some((distance, NamedRow { key, name }))
    }
}

/// `OPERATOR(schema.name)` for two signatures, in the schema of the running function.
///
/// Errors: it is not there, or not of this extension (42704).
fn own_operator(function: pg_sys::Oid, bloom: pg_sys::Oid, name: &'static CStr) -> Sql {
    let schema = catalog::schema_of_function(function);
    let operator = beside(function, name, [bloom, bloom]);
    let shown = name.to_str().expect("ASCII");
    // SAFETY: look-ups in the catalogs.
    let is_ours = unsafe {
        let extension = |class, oid| pg_sys::getExtensionOfObject(class, oid);
        operator != pg_sys::InvalidOid
            && extension(pg_sys::OperatorRelationId, operator)
                == extension(pg_sys::ProcedureRelationId, function)
    };
    if !is_ours {
        let message = format!(
            "operator {shown} of bloom_ident is not in schema {}",
            readable(catalog::quoted_column(&schema).to_bytes())
        );
        raise(&sql_error(PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT, message)
                .detail("bloom_nearest_names looks for it where it is itself.")
                .hint("Move all of them back, or all to one schema by ALTER EXTENSION bloom_ident SET SCHEMA."),
        );
    }
    sql!("OPERATOR({schema}.").text(shown).text(")")
}
