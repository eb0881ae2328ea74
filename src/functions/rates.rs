//! What formulas say of filters of any size, and shapes to choose from.

use pgrx::{pg_sys, AnyNumeric, IntoDatum};
use signature::filter::{self, rates};
use signature::similarity::candidates;

use pg::error::{internal, OrRaise};
use pg::function::record::record;
use pg::function::rows::ResultRows;
use pg::values::text::Text;
use pg::values::varlena::{stored, NewValue};
use pg::{check_for_interrupts, entry};

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
