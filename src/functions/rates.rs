//! What formulas and the fill of a signature say of filters, and shapes to choose from.

use base::Error;
use pgrx::{pg_sys, AnyNumeric, IntoDatum};
use signature::filter::{self, rates};
use signature::fingerprint;
use signature::similarity::candidates;

use pg::error::{internal, raise, OrRaise};
use pg::function::record::record;
use pg::function::rows::ResultRows;
use pg::values::text::Text;
use pg::values::varlena::{stored, NewValue};
use pg::{check_for_interrupts, entry};
use types::Bloom;

// The shape for a text length and an error rate, and estimates about shapes.

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
            raise(
                &Error::invalid(format!("{name} = {value} is out of range"))
                    .detail(format!("{name} is at least 1.")),
            )
        }
    }
    rates::superimposed(m.into(), n.into(), filters.into())
}

// What formulas say of filters of any size, and shapes to choose from.

/// `(k integer, m bigint, n bigint) RETURNS (fpr float8, exact float8)`
#[entry]
fn bloom_expected_fpr(k: i32, m: i64, n: i64, fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    let (fpr, exact) = rates::expected(k.into(), m, n).or_raise();
    record(fcinfo, [fpr.into_datum(), exact.into_datum()])
}

#[entry]
fn bloom_optimal_k(m: i64, n: i64) -> i32 {
    rates::optimal_k(m, n).or_raise()
}

#[entry]
fn bloom_distinct_ngrams(m: i64, k: i32) -> AnyNumeric {
    let digits = rates::distinct_ngrams(m, k.into()).or_raise();
    AnyNumeric::try_from(digits.as_str()).unwrap_or_else(|e| internal!("{digits}: {e}"))
}

#[entry]
fn bloom_segment_length(model: Text<'_>, n: i32, k: i32, delta: f64) -> i32 {
    let model = model.as_str().parse().or_raise();
    rates::segment_length(model, n.into(), k.into(), delta).or_raise()
}

/// `(k integer, m bigint, n bigint) RETURNS (expected float8, "any" float8)`
#[entry]
fn bloom_omissions(k: i32, m: i64, n: i64, fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    let of = filter::omissions(k.into(), m, n, check_for_interrupts).or_raise();
    record(fcinfo, [of.expected.into_datum(), of.any.into_datum()])
}

/// `(max_chars integer, ngram integer) RETURNS TABLE (planned_chars integer, fpr float8, k integer, p integer, m
/// integer, actual_fpr float8, bytes integer, collision_rate float8, bias float8, deviation float8, unrelated float8)`
#[entry]
fn bloom_shapes(max_chars: i32, ngram: i32, fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    let all = candidates(max_chars.into(), ngram.into(), check_for_interrupts).or_raise();
    // SAFETY: the SQL function is declared to return a set of rows.
    let mut rows = unsafe { ResultRows::new(fcinfo) };
    for c in all {
        rows.put([
            (c.max_chars as i32).into_datum(),
            c.fpr.into_datum(),
            i32::from(c.shape.k()).into_datum(),
            i32::from(c.shape.p()).into_datum(),
            (c.shape.m() as i32).into_datum(),
            c.actual_fpr.into_datum(),
            (stored(c.bytes) as i32).into_datum(),
            c.collision.into_datum(),
            c.bias.into_datum(),
            c.deviation.into_datum(),
            c.unrelated.into_datum(),
        ]);
    }
    NewValue(pg_sys::Datum::null())
}

// What the fill of one signature says.

#[entry]
fn bloom_bits(signature: Bloom<'_>) -> i32 {
    signature.view().popcount() as i32
}

#[entry]
fn bloom_fill(signature: Bloom<'_>) -> f64 {
    signature.view().fill()
}

#[entry]
fn bloom_ngram_count(signature: Bloom<'_>) -> f64 {
    let view = signature.view();
    view.shape().check_unkeyed().or_raise();
    rates::ngrams(view.shape().p().into(), view.fill())
}

#[entry]
fn bloom_fpr(signature: Bloom<'_>) -> f64 {
    let view = signature.view();
    view.shape().check_unkeyed().or_raise();
    view.fill().powf(view.shape().k().into())
}

// On what stored values depend.

#[entry]
fn bloom_fingerprint() -> String {
    let (values, clkhash) = (fingerprint::fingerprint(), clk::CLKHASH);
    let (models, keys) = (
        linkage::model::json::THINGS_FORMAT,
        linkage::model::keys::VERSION,
    );
    format!("{values}\nclkhash {clkhash}\nmatch models {models}\nregister keys {keys}")
}
