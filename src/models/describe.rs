//! `bloom_model_levels` and `bloom_model_classes`: what a model has learned.

use linkage::model::json::read_model;
use linkage::model::MatchModel;
use pgrx::{pg_sys, IntoDatum};

use pg::entry;
use pg::error::OrRaise;
use pg::function::arguments::Arguments;
use pg::function::rows::{text_datum, ResultRows};
use pg::values::text::to_database;
use pg::values::varlena::NewValue;

/// # Safety
/// `fcinfo` is that of a running function whose first argument is a model, and that returns a set of rows.
unsafe fn model_and_rows(fcinfo: pg_sys::FunctionCallInfo) -> (MatchModel, ResultRows) {
    // SAFETY: as above.
    unsafe {
        let model = read_model(&Arguments::of(fcinfo).jsonb(0)).or_raise();
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
