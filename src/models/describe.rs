//! `bloom_model_levels` and `bloom_model_classes`: what a model has learned. `bloom_model_explain`: why two records have
//! their bits.

use std::cell::Cell;

use linkage::model::json::{read_any_model, read_model, read_record, AnyModel};
use linkage::model::{Explainer, Reason};
use pgrx::{pg_sys, IntoDatum};

use pg::entry;
use pg::error::OrRaise;
use pg::function::arguments::Arguments;
use pg::function::rows::{text_datum, ResultRows};
use pg::values::text::to_database;
use pg::values::varlena::{NewValue, Varlena};

/// # Safety
/// `fcinfo` is that of a running function whose first argument is a model, and that returns a set of rows.
unsafe fn model_and_rows(fcinfo: pg_sys::FunctionCallInfo) -> (AnyModel, ResultRows) {
    // SAFETY: as above.
    unsafe {
        let model = read_any_model(&Arguments::new(fcinfo).jsonb(0)).or_raise();
        (model, ResultRows::new(fcinfo))
    }
}

/// `(model jsonb) RETURNS TABLE (field text, level integer, meaning text, m float8, u float8, bits float8, pairs
/// float8, weak boolean)`
#[entry]
fn bloom_model_levels(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared so.
    let (model, mut rows) = unsafe { model_and_rows(fcinfo) };
    let mut put = |level: Option<(&str, usize)>,
                   meaning: &str,
                   m: f64,
                   of_chance: [Option<f64>; 2],
                   pairs: f64,
                   is_weak: bool| {
        let [name, meaning] = [level.map_or("", |of| of.0), meaning].map(to_database);
        rows.make(|| {
            let [u, bits] = of_chance.map(IntoDatum::into_datum);
            Some([
                level.map(|_| text_datum(&name)),
                level.map(|of| of.1 as i32).into_datum(),
                Some(text_datum(&meaning)),
                m.into_datum(),
                u,
                bits,
                pairs.into_datum(),
                is_weak.into_datum(),
            ])
        });
    };
    match model {
        AnyModel::OfPairs(model) => {
            for of in model.levels() {
                let name = &model.fields[of.field].name;
                let of_chance = [Some(of.u), Some(of.bits)];
                put(
                    Some((name, of.level)),
                    of.meaning,
                    of.m,
                    of_chance,
                    of.pairs,
                    of.is_weak(),
                );
            }
        }
        AnyModel::OfThings(model) => {
            for of in model.levels() {
                let level = of
                    .level
                    .map(|(k, level)| (model.fields[k].name.as_str(), level));
                put(
                    level,
                    &of.meaning,
                    of.m,
                    [of.u, of.bits()],
                    of.pairs,
                    of.is_weak(),
                );
            }
        }
    }
    NewValue(pg_sys::Datum::null())
}

/// `(model jsonb) RETURNS TABLE (class integer, meaning text, pairs float8)`
#[entry]
fn bloom_model_classes(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared so.
    let (model, mut rows) = unsafe { model_and_rows(fcinfo) };
    let classes = match model {
        AnyModel::OfPairs(model) => model.class_facts(),
        AnyModel::OfThings(model) => model.class_facts().into(),
    };
    for facts in classes {
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
