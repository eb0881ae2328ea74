//! `bloom_model_score`, `bloom_model_keys` and `bloom_model_explain`: what a model says of two records, or of one.

use base::{Error, ErrorKind};
use linkage::model::{ReadyModel, Reason};
use pgrx::{pg_sys, IntoDatum};

use super::known::{known_model, KnownModel, SingleRecord};
use pg::entry;
use pg::error::{raise, OrRaise};
use pg::function::arguments::{of_name, Arguments};
use pg::function::place::place;
use pg::function::rows::{text_datum, ResultRows};
use pg::values::jsonb::{JsonObject, NoScalar};
use pg::values::text::to_database;
use pg::values::varlena::NewValue;

/// An argument that is a record.
///
/// Errors: NULL; no object.
fn object<'a>(arguments: Arguments, i: usize) -> JsonObject<'a> {
    // SAFETY: a jsonb that lives as long as the call, in which the result is used.
    unsafe { object_of(arguments, i, arguments.given(i)) }
}

/// The object that a `jsonb` is, which was made of argument `i`.
///
/// Errors: no object.
///
/// # Safety
/// `value` is a `jsonb` that is not NULL, and lives as long as `'a`.
pub unsafe fn object_of<'a>(
    arguments: Arguments,
    i: usize,
    value: pg_sys::Datum,
) -> JsonObject<'a> {
    // SAFETY: the caller's.
    unsafe { JsonObject::new(value) }.unwrap_or_else(|| {
        raise(
            &Error::invalid(format!(
                "argument \"{}\" is not a JSON object",
                arguments.name_of(i)
            ))
            .detail("A record is an object with the model's fields as members."),
        )
    })
}

/// The values of the model's fields. A member that is `null`, or that there is not, is a missing value; others are ignored.
///
/// Errors: a value that is an array or an object.
pub fn record<'o>(
    arguments: Arguments,
    i: usize,
    known: &KnownModel,
    object: &'o JsonObject<'_>,
) -> SingleRecord<'o> {
    let fields = known.names.iter().zip(&known.ready.model().fields);
    let value = |(name, field): (&Vec<u8>, &linkage::model::FieldModel)| {
        object.member(name).unwrap_or_else(|NoScalar| {
            raise(
                &Error::invalid(format!(
                    "member \"{}\" of argument \"{}\" is an array or an object",
                    field.name,
                    arguments.name_of(i)
                ))
                .detail("A field's value is a string, a number, a boolean or null."),
            )
        })
    };
    fields.map(value).collect()
}

/// So many records of one table, and all pairs of them; those of the fit if argument `i` is NULL.
///
/// Errors: fewer than two.
fn records(arguments: Arguments, i: usize, ready: &ReadyModel) -> (f64, f64) {
    match arguments.datum(i) {
        None => (ready.model().records, ready.model().all_pairs),
        Some(_) => ReadyModel::pairs_of(arguments.int8(i)).or_raise(),
    }
}

/// Errors: the model is of two tables.
pub fn check_of_one_table(ready: &ReadyModel, what: &str) {
    if ready.model().linkage {
        refuse_of_two_tables(what);
    }
}

/// Fails, since the model is of two tables.
pub fn refuse_of_two_tables(what: &str) -> ! {
    raise(
        &Error::new(
            ErrorKind::NotSupported,
            "match model is for pairs of two tables".to_owned(),
        )
        .detail(format!("{what} is about the records of one table."))
        .hint("Fit a model to one table, by bloom_model_fit()."),
    )
}

/// `(model jsonb, a jsonb, b jsonb, records bigint) RETURNS (bits float8, probability float8)`
#[entry(called_on_null)]
fn bloom_model_score(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments, and nothing else uses fn_extra.
    let (arguments, place) = unsafe { (Arguments::new(fcinfo), place(fcinfo)) };
    let known = known_model(arguments, place, 0);
    check_of_one_table(&known.ready, "bloom_model_score()");
    let objects = [1, 2].map(|i| object(arguments, i));
    let (records, all_pairs) = records(arguments, 3, &known.ready);
    let pattern = known.pattern([&objects[0], &objects[1]], |side| {
        record(arguments, 1 + side, &known, &objects[side])
    });
    let of = known.for_records(records, all_pairs);
    let score = of.scorer.score(pattern);
    let values = [score.bits, score.probability].map(|value| value.to_bits().into());
    // SAFETY: the SQL function is declared with two OUT columns of type float8.
    unsafe { place.record(fcinfo, values) }
}

/// `(model jsonb, record jsonb, records bigint, side text) RETURNS TABLE (search integer, key bigint)`
#[entry(called_on_null)]
fn bloom_model_keys(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments, and nothing else uses fn_extra.
    let (arguments, place) = unsafe { (Arguments::new(fcinfo), place(fcinfo)) };
    let known = known_model(arguments, place, 0);
    check_of_one_table(&known.ready, "bloom_model_keys()");
    let object = object(arguments, 1);
    let record = record(arguments, 1, &known, &object);
    let (records, all_pairs) = records(arguments, 2, &known.ready);
    // Each search brings together what has one key of it, whichever of two records was there before.
    let sides = [("stored", ()), ("asked", ()), ("both", ())];
    of_name(&arguments.text(3), &sides, "side", "sides");
    let of = known.for_records(records, all_pairs);
    // SAFETY: the SQL function is declared to return a set of rows.
    let mut rows = unsafe { ResultRows::new(fcinfo) };
    let each = |search: usize, key: u64| {
        rows.put([(search as i32).into_datum(), (key as i64).into_datum()])
    };
    known.ready.keys(&of.keys, &record, each).or_raise();
    NewValue(pg_sys::Datum::null())
}

/// `(model jsonb, a jsonb, b jsonb, pairs float8, records bigint) RETURNS TABLE (field text, a text, b text, level text,
/// bits float8)`
#[entry(called_on_null)]
fn bloom_model_explain(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments, and nothing else uses fn_extra.
    let (arguments, place) = unsafe { (Arguments::new(fcinfo), place(fcinfo)) };
    let known = known_model(arguments, place, 0);
    let (ready, model) = (&known.ready, known.ready.model());
    let objects = [1, 2].map(|i| object(arguments, i));
    let a = record(arguments, 1, &known, &objects[0]);
    let b = record(arguments, 2, &known, &objects[1]);
    let (records, all_pairs) = match (arguments.datum(3), arguments.datum(4)) {
        (Some(_), Some(_)) => raise(
            &Error::invalid("pairs and records are given both".to_owned())
                .hint("Give the number of records, or that of all their pairs."),
        ),
        (_, Some(_)) => {
            check_of_one_table(ready, "The argument \"records\"");
            records(arguments, 4, ready)
        }
        (pairs, None) => {
            let pairs = pairs.map(|_| arguments.float8(3));
            ready.records(pairs).or_raise()
        }
    };
    // SAFETY: the SQL function is declared to return a set of rows.
    let mut rows = unsafe { ResultRows::new(fcinfo) };
    let pattern = ready.pattern(&a, &b).or_raise();
    for addend in ready.explain(pattern, records, all_pairs) {
        let value = |record: &SingleRecord<'_>| match addend.reason {
            Reason::Field(k) => record[k].as_deref().map(|value| {
                let shown = ready.layout(k).shown(value).or_raise();
                shown.into_owned()
            }),
            _ => None,
        };
        let name = addend.reason.name(model).to_owned();
        let texts = [Some(name), value(&a), value(&b), addend.words.clone()];
        let texts = texts.map(|text| text.map(|text| to_database(&text)));
        rows.make(|| {
            let [name, a, b, words] = texts.map(|text| text.map(|text| text_datum(&text)));
            Some([name, a, b, words, addend.bits.into_datum()])
        });
    }
    NewValue(pg_sys::Datum::null())
}
