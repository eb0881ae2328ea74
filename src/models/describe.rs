//! `bloom_model_levels` and `bloom_model_classes`: what a model has learned. `bloom_model_explain`: why two records have
//! their bits.

use std::cell::Cell;

use linkage::model::json::{read_model, read_record};
use linkage::model::{Explainer, MatchModel, Reason};
use pgrx::{pg_sys, IntoDatum};

use pg::entry;
use pg::error::OrRaise;
use pg::function::arguments::Arguments;
use pg::function::rows::{text_datum, ResultRows};
use pg::values::text::to_database;
use pg::values::varlena::{NewValue, Varlena};

/// # Safety
/// `fcinfo` is that of a running function whose first argument is a model, and that returns a set of rows.
unsafe fn model_and_rows(fcinfo: pg_sys::FunctionCallInfo) -> (MatchModel, ResultRows) {
    // SAFETY: as above.
    unsafe {
        let model = read_model(&Arguments::new(fcinfo).jsonb(0)).or_raise();
        (model, ResultRows::new(fcinfo))
    }
}

/// `(model jsonb) RETURNS TABLE (field text, level integer, meaning text, m float8, u float8, bits float8, pairs
/// float8, weak boolean)`
#[entry]
fn bloom_model_levels(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared so.
    let (model, mut rows) = unsafe { model_and_rows(fcinfo) };
    for facts in model.levels() {
        let name = to_database(&model.fields[facts.field].name);
        rows.make(|| {
            Some([
                Some(text_datum(&name)),
                (facts.level as i32).into_datum(),
                Some(text_datum(facts.meaning.as_bytes())),
                facts.m.into_datum(),
                facts.u.into_datum(),
                facts.bits.into_datum(),
                facts.pairs.into_datum(),
                facts.is_weak().into_datum(),
            ])
        });
    }
    NewValue(pg_sys::Datum::null())
}

/// `(model jsonb) RETURNS TABLE (class integer, meaning text, pairs float8)`
#[entry]
fn bloom_model_classes(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared so.
    let (model, mut rows) = unsafe { model_and_rows(fcinfo) };
    for facts in model.class_facts() {
        let meaning = to_database(&facts.meaning);
        rows.make(|| {
            Some([
                (facts.class as i32).into_datum(),
                Some(text_datum(&meaning)),
                facts.pairs.into_datum(),
            ])
        });
    }
    NewValue(pg_sys::Datum::null())
}

/// Models of more bytes are read for every pair.
const MOST_BYTES: usize = 4 << 20;

/// A model and the bytes of the jsonb that it was read from.
type LastModel = Option<(Vec<u8>, Explainer)>;

pg::session_state! {
    /// A statement explains pair after pair by one model, so the last is kept.
    static LAST: Cell<LastModel> = Cell::default();
    "model that explains" by "its jsonb" until "another explains" bytes |last| {
        let model = last.take();
        // What the model has of its fields is about as large as the jsonb that it was read from.
        let bytes = model.as_ref().map_or(0, |(jsonb, _)| 2 * jsonb.len());
        last.set(model);
        bytes
    };
}

/// Explains by the model that is the first argument.
fn with_model<T>(arguments: Arguments, explain: impl FnOnce(&Explainer) -> T) -> T {
    // SAFETY: a jsonb is a varlena, and lives as long as the call.
    let stored = unsafe { Varlena::new(arguments.given(0)) };
    let (bytes, explainer) = match LAST.take() {
        Some((bytes, explainer)) if bytes == stored.bytes() => (bytes, explainer),
        _ => {
            let explainer = Explainer::new(read_model(&arguments.jsonb(0)).or_raise());
            (stored.bytes().to_vec(), explainer)
        }
    };
    let result = explain(&explainer);
    if bytes.len() <= MOST_BYTES {
        LAST.set(Some((bytes, explainer)));
    }
    result
}

/// `(model jsonb, a jsonb, b jsonb, pairs float8) RETURNS TABLE (field text, a text, b text, level text, bits float8)`
#[entry(called_on_null)]
fn bloom_model_explain(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    // SAFETY: the SQL function is declared to return a set of rows.
    let mut rows = unsafe { ResultRows::new(fcinfo) };
    with_model(arguments, |explainer| {
        let model = explainer.model();
        let record = |i: usize, name| read_record(&model.fields, name, &arguments.jsonb(i));
        let (a, b) = (record(1, "a").or_raise(), record(2, "b").or_raise());
        let pairs = arguments.datum(3).map(|_| arguments.float8(3));
        let (records, all_pairs) = explainer.records(pairs).or_raise();
        let pattern = explainer.pattern(&a, &b).or_raise();
        for addend in explainer.explain(pattern, records, all_pairs) {
            let value = |record: &[Option<String>]| match addend.reason {
                Reason::Field(k) => record[k].clone(),
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
    });
    NewValue(pg_sys::Datum::null())
}
