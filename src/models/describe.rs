//! `bloom_model_summary`, `bloom_model_levels` and `bloom_model_classes`: what a model has learned.

use linkage::model::json::{read_any_model, AnyModel};
use linkage::model::summary::summary;
use pgrx::{pg_sys, IntoDatum};

use pg::entry;
use pg::error::OrRaise;
use pg::function::arguments::Arguments;
use pg::function::rows::{text_datum, ResultRows};
use pg::values::text::to_database;
use pg::values::varlena::NewValue;

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

/// `(model jsonb) RETURNS TABLE (topic text, name text, text text)`
#[entry]
fn bloom_model_summary(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared so.
    let (model, mut rows) = unsafe { model_and_rows(fcinfo) };
    for row in summary(&model) {
        let [name, text] = [row.name.unwrap_or_default(), row.text].map(|text| to_database(&text));
        rows.make(|| {
            Some([
                Some(text_datum(row.topic.as_bytes())),
                (!name.is_empty()).then(|| text_datum(&name)),
                Some(text_datum(&text)),
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
