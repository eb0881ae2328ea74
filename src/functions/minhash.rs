//! Sketches of sets of tokens: `minhash`, and `minhash_bits` with its queries.

use pgrx::{pg_sys, IntoDatum};
use sigfile::shape::plan::{plan, NUMBERS};
use signature::sketch::{standard_error, MinimaView, Signer, SketchKind, SketchShape, HEADER};

use pg::entry;
use pg::error::OrRaise;
use pg::function::arguments::Arguments;
use pg::function::rows::ResultRows;
use pg::values::varlena::{aggregate_state, stored, NewValue};
use types::{Minhash, MinhashBits, MinhashQuery, NewMinhash, NewMinhashBits, Tokens};

// Tokens to sketches.

/// Calls `with` with what has signed the tokens of an array; NULLs are skipped. A signer is too large to be handed out.
///
/// # Safety
/// `fcinfo` is that of a call with (text[], integer, integer), none of them NULL.
unsafe fn signed<T>(fcinfo: pg_sys::FunctionCallInfo, with: impl FnOnce(&mut Signer) -> T) -> T {
    // SAFETY: the call has these arguments.
    let (tokens, n, family) = unsafe {
        let args = (*fcinfo).args.as_slice(3);
        let number = |i: usize| args[i].value.value() as i32;
        (Tokens::argument(fcinfo, 0).or_raise(), number(1), number(2))
    };
    let mut signer = Signer::new(SketchShape::new(n.into(), family.into()).or_raise());
    let add = |token: &str| {
        signer.add(token);
        Ok(true)
    };
    tokens.all(add).or_raise();
    with(&mut signer)
}

/// `(tokens text[], n integer, family integer) RETURNS minhash`
#[entry]
fn minhash(fcinfo: pg_sys::FunctionCallInfo) -> NewMinhash {
    // SAFETY: declared with these arguments, and STRICT.
    unsafe { signed(fcinfo, NewMinhash::signed) }
}

/// `(tokens text[], n integer, family integer) RETURNS minhash_bits`
///
/// The same, keeping the lowest bits alone.
#[entry]
fn minhash_bits(fcinfo: pg_sys::FunctionCallInfo) -> NewMinhashBits {
    // SAFETY: declared with these arguments, and STRICT.
    unsafe { signed(fcinfo, NewMinhashBits::signed) }
}

#[entry]
fn minhash_bits_of_minhash(minima: Minhash<'_>) -> NewMinhashBits {
    NewMinhashBits::sampled(&minima.view())
}

// Estimated similarity of two sets by their sketches.

/// Of two of `minhash_bits`. The planner knows this one.
#[entry]
fn minhash_sim(a: MinhashBits<'_>, b: MinhashBits<'_>) -> f64 {
    a.view().similarity(&b.view()).or_raise()
}

#[entry]
fn minhash_sim_of_minima(a: Minhash<'_>, b: Minhash<'_>) -> f64 {
    a.view().similarity(&b.view()).or_raise()
}

/// `<->` of `minhash`
#[entry]
fn minhash_distance(a: Minhash<'_>, b: Minhash<'_>) -> f64 {
    1.0 - a.view().similarity(&b.view()).or_raise()
}

/// `<->` of `minhash_bits`
#[entry]
fn minhash_bits_distance(a: MinhashBits<'_>, b: MinhashBits<'_>) -> f64 {
    a.view().distance(&b.view()).or_raise()
}

#[entry]
fn minhash_standard_error(similarity: f64, n: i32, bits: bool) -> f64 {
    let kind = if bits {
        SketchKind::Bits
    } else {
        SketchKind::Minima
    };
    standard_error(similarity, n.into(), kind).or_raise()
}

// Similarity held against a threshold: the operators of `minhash_query`, and what comparisons of `minhash_sim` are
// rewritten to.

/// `minhash_bits % minhash_query`
#[entry]
fn minhash_matches(bits: MinhashBits<'_>, query: MinhashQuery<'_>) -> bool {
    let query = query.view();
    bits.view().similarity(&query.sketch).or_raise() >= query.threshold
}

/// `minhash_query % minhash_bits`
#[entry]
fn minhash_query_matches(query: MinhashQuery<'_>, bits: MinhashBits<'_>) -> bool {
    minhash_matches(bits, query)
}

/// `minhash_query % minhash_query`: the larger threshold counts.
#[entry]
fn minhash_queries_match(a: MinhashQuery<'_>, b: MinhashQuery<'_>) -> bool {
    let (a, b) = (a.view(), b.view());
    a.sketch.similarity(&b.sketch).or_raise() >= a.threshold.max(b.threshold)
}

#[entry]
fn minhash_sim_above(a: MinhashBits<'_>, b: MinhashBits<'_>, limit: f64) -> bool {
    a.view().similarity(&b.view()).or_raise() > limit
}

#[entry]
fn minhash_sim_at_least(a: MinhashBits<'_>, b: MinhashBits<'_>, least: f64) -> bool {
    a.view().similarity(&b.view()).or_raise() >= least
}

// The sketch of a union of sets, from their sketches.

#[entry]
fn minhash_union(a: Minhash<'_>, b: Minhash<'_>) -> NewMinhash {
    NewMinhash::union(&a.view(), &b.view()).or_raise()
}

/// `(minhash, minhash) RETURNS minhash`
///
/// Transition and combine function of `minhash_union(minhash)`: the state is a sketch of its own whose minima sink in
/// place. Called otherwise it is the function of two.
#[entry]
fn minhash_union_step(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: declared as (minhash, minhash), and STRICT.
    let (state, value) = unsafe {
        let args = (*fcinfo).args.as_slice(2);
        (args[0].value, Minhash::from_raw(args[1].value))
    };
    // SAFETY: the state is the first argument of this call, and nothing else refers to it.
    let own = unsafe { aggregate_state(fcinfo, state) };
    if let Some(bytes) = own.filter(|bytes| MinimaView::stored(bytes).is_some()) {
        value.view().unite_into(bytes).or_raise();
        return NewValue(state);
    }
    // SAFETY: the state is a value of the type, and lives as long as the call.
    let state = unsafe { Minhash::from_raw(state) };
    NewValue(minhash_union(state, value).datum())
}

// `minhash_plan`: how many sampled bits to keep.

/// `(rows bigint, similarity float8, recall float8) RETURNS TABLE (n integer, threshold float8, margin float8,
/// expected_recall float8, chance float8, bytes integer, chunks integer, probes float8, scans boolean)`
#[entry]
fn minhash_plan(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments, and STRICT.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let (table, similarity, recall) = (arguments.int8(0), arguments.float8(1), arguments.float8(2));
    // SAFETY: the SQL function is declared to return a set of rows.
    let mut rows = unsafe { ResultRows::new(fcinfo) };
    for n in NUMBERS {
        let plan = plan(table, similarity, recall, n).or_raise();
        let bytes = stored(HEADER + usize::from(n).div_ceil(8));
        rows.put([
            i32::from(n).into_datum(),
            plan.threshold.into_datum(),
            plan.margin.into_datum(),
            plan.recall.into_datum(),
            plan.chance.into_datum(),
            (bytes as i32).into_datum(),
            (plan.chunks as i32).into_datum(),
            plan.probes.into_datum(),
            plan.scans.into_datum(),
        ]);
    }
    NewValue(pg_sys::Datum::null())
}
