//! The shape for a text length and an error rate, and estimates about shapes.

use base::{Error, ErrorKind};
use pgrx::datum::IntoDatum;
use pgrx::pg_sys;
use signature::filter::{self, rates};

use pg::entry;
use pg::error::OrRaise;
use pg::function::record::record;
use pg::values::text::Text;
use pg::values::varlena::NewValue;

/// `(max_chars integer, ngram integer, fpr float8) RETURNS (k integer, p integer, m integer, n integer, actual_fpr
/// float8, pattern_floor float8)`
///
/// With n-gram length 0 the plan is for tokens, of which there are `max_chars` then.
#[entry]
fn bloom_plan(max_chars: i32, ngram: i32, fpr: f64, fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    let plan = match ngram {
        0 => filter::plan_tokens(max_chars.into(), fpr),
        _ => filter::plan(max_chars.into(), ngram.into(), fpr),
    };
    let plan = plan.or_raise();
    record(
        fcinfo,
        [
            i32::from(plan.shape.k()).into_datum(),
            i32::from(plan.shape.p()).into_datum(),
            (plan.shape.m() as i32).into_datum(),
            (plan.n as i32).into_datum(),
            plan.actual_fpr.into_datum(),
            plan.pattern_floor.into_datum(),
        ],
    )
}

#[entry]
fn bloom_collision_rate(model: Text<'_>, p: i32, n: i32, k: i32) -> f64 {
    let model = model.as_str().parse().or_raise();
    rates::collision(model, p.into(), n.into(), k.into()).or_raise()
}

#[entry]
fn bloom_corrected_threshold(threshold: f64, delta: f64) -> f64 {
    rates::corrected_threshold(threshold, delta).or_raise()
}

#[entry]
fn bloom_jain_estimate(m: i32, n: i32, k: f64, c: i32) -> f64 {
    rates::jain(m.into(), n.into(), k, c.into()).or_raise()
}

#[entry]
fn bloom_superimposed_fpr(m: i32, n: i32, filters: i32) -> f64 {
    for (name, value) in [("m", m), ("n", n), ("filters", filters)] {
        if value < 1 {
            Err(Error::new(
                ErrorKind::InvalidParameter,
                format!("{name} = {value} is out of range"),
            )
            .detail(format!("{name} is at least 1.")))
            .or_raise()
        }
    }
    rates::superimposed(m.into(), n.into(), filters.into())
}
