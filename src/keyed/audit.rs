//! `bloom_audit_keyed`: what somebody without the secret reads from a column of keyed signatures.

use std::ffi::CString;

use audit::{audit, Reference, Room, Signatures, Tokens, MOST_REFERENCE};
use base::Error;
use pg::budget::{reserve, Budget};
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
    ERRCODE_DATATYPE_MISMATCH, ERRCODE_FEATURE_NOT_SUPPORTED, ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
    ERRCODE_WRONG_OBJECT_TYPE,
};
use pgrx::{pg_sys, IntoDatum};
use signature::bits::to_words;
use signature::filter::Shape;
use signature::mix;
use text::Rules;
use types::Bloom;

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
    let list = List::read(list);
    let (signatures, reference) = signatures(table, &column, &list);
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

/// All signatures of a column, or as many as there is memory for, by chance, but the same ones each time; and the list as
/// a reference, its values taken apart as the signatures take them.
///
/// Errors: no such column, or none of keyed signatures; several ids; not even some fit into `maintenance_work_mem`; out of memory.
fn signatures(table: pg_sys::Oid, column: &CString, list: &List) -> (Signatures, Reference) {
    check_relation(table);
    let Some(number) = catalog::column(table, column) else {
        raise(&catalog::no_column(table, column));
    };
    if !types::objects::is_signature(catalog::column_type(table, number)) {
        raise(&sql_error(
            ERRCODE_DATATYPE_MISMATCH,
            words!("column \"{column}\" is not of type bloom"),
        ));
    }
    let mut sample: Option<Sample> = None;
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
        let shape = view.shape();
        let sample = sample.get_or_insert_with(|| Sample::new(shape, list));
        check_shape(sample.shape, shape);
        sample.add(view.bits());
    });
    match sample {
        Some(sample) => sample.all(),
        None => {
            let reference = list.reference(Tokens::Bigrams);
            (
                Signatures::of_words(0, Vec::new(), &mut check_for_interrupts),
                reference,
            )
        }
    }
}

/// Signatures as they are read.
struct Sample {
    shape: Shape,
    reference: Reference,
    room: Room,
    most: usize,
    differences: usize,
    seen: u64,
    /// The words of those that are taken, one after the other.
    rows: Vec<u64>,
}

impl Sample {
    fn new(shape: Shape, list: &List) -> Sample {
        check_shape(shape, shape);
        let reference = list.reference(tokens(shape));
        let room = Room::new(shape.m() as usize, &reference);
        let budget = Budget::of_setting();
        budget.check_all(room.least(), "signatures to be audited", || {
            let (bits, tokens) = (shape.m(), reference.tokens().len());
            format!("some signatures of {bits} bits and {tokens} tokens of the reference")
        });
        let [most, differences] = room.within(budget.bytes());
        Sample {
            shape,
            reference,
            room,
            most,
            differences,
            seen: 0,
            rows: Vec::new(),
        }
    }

    fn stride(&self) -> usize {
        self.shape.m().div_ceil(64) as usize
    }

    fn add(&mut self, bits: &[u8]) {
        let stride = self.stride();
        self.seen += 1;
        if self.rows.len() < self.most * stride {
            if self.rows.capacity() - self.rows.len() < stride {
                let left = self.most * stride - self.rows.len();
                let more = (self.rows.len() / 2).max(64 * stride);
                reserve(&mut self.rows, more.min(left));
            }
            to_words(bits, stride, &mut self.rows);
            return;
        }
        let place = (mix(self.seen) % self.seen) as usize;
        if place < self.most {
            let mut words = Vec::with_capacity(stride);
            to_words(bits, stride, &mut words);
            self.rows[place * stride..][..stride].copy_from_slice(&words);
        }
    }

    /// Errors: out of memory.
    fn all(self) -> (Signatures, Reference) {
        let records = self.rows.len() / self.stride();
        // What is allocated one by one cannot say that there is no memory: all that is not there yet is asked for before.
        let needed = self.room.bytes(records, self.differences.min(32 * records));
        let there = size_of_val(&self.rows[..]) + self.reference.taken();
        reserve(&mut Vec::<u8>::new(), needed.saturating_sub(there));
        let bits = self.shape.m() as usize;
        let mut signatures = Signatures::of_words(bits, self.rows, &mut check_for_interrupts);
        signatures.limit_differences(self.differences);
        (signatures, self.reference)
    }
}

/// How signatures take values apart, as far as their shape says it: of those by clkhash's rules it is what is usual.
///
/// Errors: they are of words.
fn tokens(shape: Shape) -> Tokens {
    match (shape.family(), shape.ngram()) {
        (Shape::OF_RECORDS, _) => Tokens::Bigrams,
        (_, 0) => raise(
            &sql_error(
                ERRCODE_FEATURE_NOT_SUPPORTED,
                format!("bloom_audit_keyed does not audit signatures of words, as those of shape {shape} are"),
            )
            .detail("The attacks tell tokens by how they come together in names, and a name is only a word or two.")
            .hint("Count how often each signature comes: whoever knows how common names are tells the common ones by that."),
        ),
        (_, n) => Tokens::Normal(n, Rules::of(shape.rules().into()).or_raise()),
    }
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

/// What the attacker knows, as it was read.
struct List {
    fields: usize,
    /// Values of the fields, and how often they come.
    records: Vec<(Vec<String>, f64)>,
}

impl List {
    fn reference(&self, tokens: Tokens) -> Reference {
        Reference::new(
            self.fields,
            &self.records,
            tokens,
            &mut check_for_interrupts,
        )
    }

    /// The text columns of a relation, as fields, and the number in its column `count`, if there is one, as how often a row
    /// comes. Of more rows than are looked at those that come most often are taken, or without numbers some by chance.
    ///
    /// Errors: no text column; names that do not fit into a quarter of `maintenance_work_mem`.
    fn read(list: pg_sys::Oid) -> List {
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
        let (mut seen, mut bytes) = (0, 0);
        let budget = Budget::of_setting();
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
            let values: Vec<String> = (0..fields.len()).map(text).collect();
            let size =
                |values: &[String]| values.iter().map(|value| value.len() + 32).sum::<usize>();
            bytes += size(&values);
            let times = row
                .datum(0)
                .map_or(0.0, |times| f64::from_bits(times.value() as u64));
            if times > MOST_TIMES as f64 {
                let count = CString::from(c"count");
                raise(
                    &sql_error(
                        ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
                        words!(
                            "number in column \"{count}\" of relation \"{list}\" is out of range"
                        ),
                    )
                    .detail(format!("A row comes {MOST_TIMES} times at most.")),
                );
            }
            let record = (values, times);
            match taken.get_mut(place) {
                Some(old) => {
                    bytes -= size(&old.0);
                    *old = record;
                }
                None => taken.push(record),
            }
            budget.check_all(4 * bytes, "names of the reference", || {
                format!(
                    "{} rows of {} columns and what is made of them",
                    taken.len(),
                    fields.len()
                )
            });
        });
        List {
            fields: fields.len(),
            records: taken,
        }
    }
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
