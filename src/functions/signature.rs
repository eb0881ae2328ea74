//! Texts and tokens to signatures, which texts and tokens a signature may hold, and several signatures into one.

use base::error::shortened;
use base::Result;
use pgrx::{pg_sys, AnyNumeric, PgSqlErrorCode};
use signature::filter::{contains_text, contains_token, Builder, Edited, QueryView, Shape};
use signature::similarity::{at_least, edit_bound, Popcounts};
use text::ngram::Gaps;
use text::{check_edits, Rules};

use super::default_shape::{
    planned_shape, planned_shape_of_tokens, DEFAULT_FPR, DEFAULT_MAX_CHARS, DEFAULT_NGRAM,
};
use super::rule_sets::rules_argument;
use pg::error::{raise, sql_error, OrRaise};
use pg::values::text::Text;
use pg::values::varlena::{aggregate_state, NewValue};
use pg::{check_for_interrupts, entry};
use types::{Bloom, NewBloom, NewQuery, Tokens};

// Text to signatures.

/// `(text text, ngram integer, max_chars integer, fpr float8, by_word boolean, filler boolean, rules integer) RETURNS bloom`
#[entry]
fn bloom_signature(
    text: Text<'_>,
    ngram: i32,
    max_chars: i32,
    fpr: f64,
    by_word: bool,
    filler: bool,
    fcinfo: pg_sys::FunctionCallInfo,
) -> NewBloom {
    // SAFETY: declared with these arguments, and perhaps an integer, and STRICT.
    let rules = unsafe { rules_argument(fcinfo, 6) };
    let shape = planned_shape(max_chars, ngram, fpr).by(rules);
    signature(text.as_str(), shape, by_word, filler)
}

/// What is not told by "function bloom_signature(integer) does not exist".
///
/// Errors: always.
#[entry]
fn bloom_signature_of_number(number: AnyNumeric) -> NewBloom {
    let digits = shortened(&number.to_string(), 40);
    raise(
        &sql_error(
            PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
            format!("bloom_signature() signs texts, not the number {digits}"),
        )
        .detail("A number lacks the zeros in front that a postcode or a customer number may be written with.")
        .hint(
            "Give it as a text, such as '0123', or cast a column, as in bloom_signature(number::text) or, with zeros in front, \
             bloom_signature(lpad(number::text, 8, '0')).",
        ),
    )
}

/// Errors: an argument is out of its range, or by_word and filler are used together.
pub fn signature(text: &str, shape: Shape, by_word: bool, filler: bool) -> NewBloom {
    let gaps = Gaps::new(by_word, filler).or_raise();
    NewBloom::new(shape, |builder| {
        builder.add_text(text, gaps, check_for_interrupts)
    })
}

/// The least similarity of signatures of texts that are within `k` edits.
#[entry]
fn bloom_edit_bound(text: Text<'_>, k: i32, ngram: i32, max_chars: i32, fpr: f64) -> f64 {
    let edits = check_edits(k.into()).or_raise();
    let shape = planned_shape(max_chars, ngram, fpr);
    edit_bound(text.as_str(), edits, shape, check_for_interrupts).or_raise()
}

/// Has the query for signatures of what is within `k` edits of a text, whose signature is `signature`, and `least` the bound.
fn with_edits<T>(
    signature: &Bloom<'_>,
    least: f64,
    text: &str,
    k: i32,
    run: impl FnOnce(&QueryView<'_>) -> T,
) -> T {
    let edits = check_edits(k.into()).or_raise();
    let signature = signature.view();
    let threshold = at_least(least, 0.0);
    let rules = signature.shape().text_rules().or_raise();
    let normal = text::normalize_by(text, rules, false, check_for_interrupts).or_raise();
    // Without a bound signatures need not have anything in common, and above all similarities there is nothing.
    let edited = (0.0..=1.0).contains(&threshold) && threshold > 0.0;
    run(&QueryView {
        signature,
        threshold,
        edited: edited.then(|| Edited::new(&normal, edits)).flatten(),
    })
}

/// The planner's: what `ident_edit_within(…, text, k)` asks of signatures.
#[entry]
fn bloom_query_edit(signature: Bloom<'_>, least: f64, text: Text<'_>, k: i32) -> NewQuery {
    with_edits(&signature, least, text.as_str(), k, |query| {
        match &query.edited {
            Some(edited) => NewQuery::of_edited(&query.signature, query.threshold, edited),
            None => NewQuery::new(&query.signature, query.threshold),
        }
    })
}

/// What that query finds.
#[entry]
fn bloom_edit_possible(a: Bloom<'_>, b: Bloom<'_>, least: f64, text: Text<'_>, k: i32) -> bool {
    let counts = Popcounts::new(&a.view(), &b.view()).or_raise();
    check_edits(k.into()).or_raise();
    // Before the text is normalised, which takes longer.
    if counts.jaccard() < at_least(least, 0.0) {
        return false;
    }
    let matched = with_edits(&b, least, text.as_str(), k, |query| {
        query.is_matched_by(&a.view(), 0.0)
    });
    matched.or_raise()
}

/// Each field normalised and padded by itself, all in one signature; NULL fields are skipped.
///
/// # Safety
/// Argument `i` is a `text[]`, and not NULL.
unsafe fn of_fields(
    fcinfo: pg_sys::FunctionCallInfo,
    i: usize,
    shape: Shape,
    gaps: Gaps,
) -> NewBloom {
    // SAFETY: such an argument.
    let fields = unsafe { Tokens::argument(fcinfo, i) }.or_raise();
    NewBloom::new(shape, |builder| {
        let add = |field: &str| builder.add_text(field, gaps, check_for_interrupts);
        all(&fields, add)
    })
}

/// `(VARIADIC fields text[]) RETURNS bloom`
///
/// The signature has the shape that bloom_signature gives by default.
#[entry]
fn bloom_signature_of_fields(fcinfo: pg_sys::FunctionCallInfo) -> NewBloom {
    let shape = planned_shape(DEFAULT_MAX_CHARS, DEFAULT_NGRAM, DEFAULT_FPR);
    // SAFETY: declared as this, and STRICT.
    unsafe { of_fields(fcinfo, 0, shape, Gaps::Closed) }
}

/// `(ngram integer, max_chars integer, fpr float8, VARIADIC fields text[]) RETURNS bloom`
#[entry]
fn bloom_signature_of_fields_shaped(
    ngram: i32,
    max_chars: i32,
    fpr: f64,
    fcinfo: pg_sys::FunctionCallInfo,
) -> NewBloom {
    let shape = planned_shape(max_chars, ngram, fpr);
    // SAFETY: declared as this, and STRICT.
    unsafe { of_fields(fcinfo, 3, shape, Gaps::Closed) }
}

/// `(ngram integer, max_chars integer, fpr float8, filler boolean, VARIADIC fields text[]) RETURNS bloom`
#[entry]
fn bloom_signature_of_fields_filled(
    ngram: i32,
    max_chars: i32,
    fpr: f64,
    filler: bool,
    fcinfo: pg_sys::FunctionCallInfo,
) -> NewBloom {
    let gaps = Gaps::new(false, filler).or_raise();
    let shape = planned_shape(max_chars, ngram, fpr);
    // SAFETY: declared as this, and STRICT.
    unsafe { of_fields(fcinfo, 4, shape, gaps) }
}

/// `(ngram integer, max_chars integer, fpr float8, filler boolean, rules integer, VARIADIC fields text[]) RETURNS bloom`
#[entry]
fn bloom_signature_of_fields_by_rules(
    ngram: i32,
    max_chars: i32,
    fpr: f64,
    filler: bool,
    rules: i32,
    fcinfo: pg_sys::FunctionCallInfo,
) -> NewBloom {
    let gaps = Gaps::new(false, filler).or_raise();
    let rules = Rules::of(rules.into()).or_raise();
    let shape = planned_shape(max_chars, ngram, fpr).by(rules);
    // SAFETY: declared as this, and STRICT.
    unsafe { of_fields(fcinfo, 5, shape, gaps) }
}

// Tokens to signatures, and which tokens a signature may hold.

/// Adds each of these texts or tokens.
fn all(texts: &Tokens<'_>, mut add: impl FnMut(&str) -> Result<()>) -> Result<()> {
    texts.all(|text| add(text).map(|()| true)).map(|_| ())
}

/// `(tokens text[], max_tokens integer, fpr float8) RETURNS bloom`
#[entry]
fn bloom_signature_of_tokens(fcinfo: pg_sys::FunctionCallInfo) -> NewBloom {
    // SAFETY: declared as this, and STRICT.
    let (tokens, max_tokens, fpr) = unsafe {
        let args = (*fcinfo).args.as_slice(3);
        (
            Tokens::argument(fcinfo, 0).or_raise(),
            args[1].value.value() as i32,
            f64::from_bits(args[2].value.value() as u64),
        )
    };
    NewBloom::new(planned_shape_of_tokens(max_tokens, fpr), |builder| {
        all(&tokens, |token| builder.add_token(token))
    })
}

/// `(signature bloom, tokens text[]) RETURNS bloom`
#[entry]
fn bloom_add_tokens(signature: Bloom<'_>, fcinfo: pg_sys::FunctionCallInfo) -> NewBloom {
    let view = signature.view();
    view.shape().check_of_tokens().or_raise();
    // SAFETY: declared as this, and STRICT.
    let tokens = unsafe { Tokens::argument(fcinfo, 1) }.or_raise();
    NewBloom::changed(&view, |builder| {
        all(&tokens, |token| builder.add_token(token))
    })
}

/// `(signature bloom, tokens text[]) RETURNS boolean`
#[entry]
fn bloom_contains_tokens(signature: Bloom<'_>, fcinfo: pg_sys::FunctionCallInfo) -> bool {
    let view = signature.view();
    view.shape().check_of_tokens().or_raise();
    // SAFETY: declared as this, and STRICT.
    let tokens = unsafe { Tokens::argument(fcinfo, 1) }.or_raise();
    tokens.all(|token| contains_token(&view, token)).or_raise()
}

// Which texts a signature may hold, and adding one.

#[entry]
fn bloom_contains(signature: Bloom<'_>, text: Text<'_>, by_word: bool, filler: bool) -> bool {
    let gaps = Gaps::new(by_word, filler).or_raise();
    contains_text(&signature.view(), text.as_str(), gaps, check_for_interrupts).or_raise()
}

#[entry]
fn bloom_add(signature: Bloom<'_>, text: Text<'_>, by_word: bool, filler: bool) -> NewBloom {
    NewBloom::changed(&signature.view(), |builder| {
        let gaps = Gaps::new(by_word, filler)?;
        builder.add_text(text.as_str(), gaps, check_for_interrupts)
    })
}

// Several signatures into one.

/// `|`
#[entry]
fn bloom_or(a: Bloom<'_>, b: Bloom<'_>) -> NewBloom {
    NewBloom::changed(&a.view(), |builder| builder.unite(&b.view()))
}

/// `&`
#[entry]
fn bloom_and(a: Bloom<'_>, b: Bloom<'_>) -> NewBloom {
    NewBloom::changed(&a.view(), |builder| builder.intersect(&b.view()))
}

/// `(bloom, bloom) RETURNS bloom`
///
/// Transition and combine function of `bloom_union(bloom)`: the state is a signature of its own
/// that grows in place. Called otherwise it is `|`.
#[entry]
fn bloom_union_step(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: declared as (bloom, bloom), and STRICT.
    let (state, value) = unsafe {
        let args = (*fcinfo).args.as_slice(2);
        (args[0].value, Bloom::from_raw(args[1].value))
    };
    // SAFETY: the state is the first argument of this call, and nothing else refers to it.
    let own = unsafe { aggregate_state(fcinfo, state) };
    if let Some(mut builder) = own.and_then(Builder::in_place) {
        builder.unite(&value.view()).or_raise();
        builder.finish();
        return NewValue(state);
    }
    // SAFETY: the state is a value of the type, and lives as long as the call.
    let state = unsafe { Bloom::from_raw(state) };
    NewValue(bloom_or(state, value).datum())
}
