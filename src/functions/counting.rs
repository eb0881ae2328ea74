//! Counting filters: signatures that texts, or tokens, can be removed from again.

use base::Result;
use pgrx::pg_sys;
use signature::counting::{holds_text, holds_token, CountingBuilder};
use text::ngram::Gaps;
use text::tokens::TokenHashList;

use super::default_shape::{planned_shape, planned_shape_of_tokens};
use super::rule_sets::rules_argument;
use pg::error::OrRaise;
use pg::values::text::Text;
use pg::values::varlena::{aggregate_state, NewValue};
use pg::{check_for_interrupts, entry};
use types::{Counting, NewCounting, Tokens};

/// `(text text, ngram integer, max_chars integer, fpr float8, by_word boolean, filler boolean, rules integer) RETURNS counting_bloom`
#[entry]
fn counting_signature(
    text: Text<'_>,
    ngram: i32,
    max_chars: i32,
    fpr: f64,
    by_word: bool,
    filler: bool,
    fcinfo: pg_sys::FunctionCallInfo,
) -> NewCounting {
    // SAFETY: declared with these arguments, and perhaps an integer, and STRICT.
    let rules = unsafe { rules_argument(fcinfo, 6) };
    NewCounting::new(planned_shape(max_chars, ngram, fpr).by(rules), |builder| {
        let gaps = Gaps::new(by_word, filler)?;
        builder.add_text(text.as_str(), gaps, check_for_interrupts)
    })
}

#[entry]
fn counting_add(filter: Counting<'_>, text: Text<'_>, by_word: bool, filler: bool) -> NewCounting {
    NewCounting::changed(&filter.view(), |builder| {
        let gaps = Gaps::new(by_word, filler)?;
        builder.add_text(text.as_str(), gaps, check_for_interrupts)
    })
}

#[entry]
fn counting_remove(
    filter: Counting<'_>,
    text: Text<'_>,
    by_word: bool,
    filler: bool,
) -> NewCounting {
    NewCounting::changed(&filter.view(), |builder| {
        let gaps = Gaps::new(by_word, filler)?;
        builder.remove_text(text.as_str(), gaps, check_for_interrupts)
    })
}

#[entry]
fn counting_contains(filter: Counting<'_>, text: Text<'_>, by_word: bool, filler: bool) -> bool {
    let gaps = Gaps::new(by_word, filler).or_raise();
    holds_text(&filter.view(), text.as_str(), gaps, check_for_interrupts).or_raise()
}

/// The tokens in argument `i`.
///
/// # Safety
/// The argument is a `text[]`, and not NULL.
unsafe fn token_hashes(fcinfo: pg_sys::FunctionCallInfo, i: usize) -> Result<TokenHashList> {
    let mut hashes = TokenHashList::new();
    // SAFETY: such an argument.
    let tokens = unsafe { Tokens::argument(fcinfo, i) }?;
    tokens.all(|token| hashes.push(token).map(|()| true))?;
    Ok(hashes)
}

/// `(tokens text[], max_tokens integer, fpr float8) RETURNS counting_bloom`
#[entry]
fn counting_signature_of_tokens(fcinfo: pg_sys::FunctionCallInfo) -> NewCounting {
    // SAFETY: declared as this, and STRICT.
    let (tokens, max_tokens, fpr) = unsafe {
        let args = (*fcinfo).args.as_slice(3);
        (
            token_hashes(fcinfo, 0).or_raise(),
            args[1].value.value() as i32,
            f64::from_bits(args[2].value.value() as u64),
        )
    };
    NewCounting::new(planned_shape_of_tokens(max_tokens, fpr), |builder| {
        builder.add_tokens(tokens, check_for_interrupts)
    })
}

/// `(filter counting_bloom, tokens text[]) RETURNS counting_bloom`
#[entry]
fn counting_add_tokens(filter: Counting<'_>, fcinfo: pg_sys::FunctionCallInfo) -> NewCounting {
    // SAFETY: declared as this, and STRICT.
    let tokens = unsafe { token_hashes(fcinfo, 1) }.or_raise();
    NewCounting::changed(&filter.view(), |builder| {
        builder.add_tokens(tokens, check_for_interrupts)
    })
}

/// `(filter counting_bloom, tokens text[]) RETURNS counting_bloom`
#[entry]
fn counting_remove_tokens(filter: Counting<'_>, fcinfo: pg_sys::FunctionCallInfo) -> NewCounting {
    // SAFETY: declared as this, and STRICT.
    let tokens = unsafe { token_hashes(fcinfo, 1) }.or_raise();
    NewCounting::changed(&filter.view(), |builder| {
        builder.remove_tokens(tokens, check_for_interrupts)
    })
}

/// `(filter counting_bloom, tokens text[]) RETURNS boolean`
#[entry]
fn counting_contains_tokens(filter: Counting<'_>, fcinfo: pg_sys::FunctionCallInfo) -> bool {
    let view = filter.view();
    view.check_of_tokens().or_raise();
    // SAFETY: declared as this, and STRICT.
    let tokens = unsafe { Tokens::argument(fcinfo, 1) }.or_raise();
    tokens.all(|token| holds_token(&view, token)).or_raise()
}

#[entry]
fn counting_full(filter: Counting<'_>) -> i32 {
    filter.view().full() as i32
}

#[entry]
fn counting_merge(a: Counting<'_>, b: Counting<'_>) -> NewCounting {
    NewCounting::changed(&a.view(), |builder| builder.merge(&b.view()))
}

/// `(counting_bloom, counting_bloom) RETURNS counting_bloom`
///
/// Transition and combine function of the aggregate `counting_merge(counting_bloom)`: the state is a counting filter of
/// its own that changes in place. Called otherwise it is `counting_merge(a, b)`.
#[entry]
fn counting_merge_step(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: declared as (counting_bloom, counting_bloom), and STRICT.
    let (state, value) = unsafe {
        let args = (*fcinfo).args.as_slice(2);
        (args[0].value, Counting::from_raw(args[1].value))
    };
    // SAFETY: the state is the first argument of this call, and nothing else refers to it.
    let own = unsafe { aggregate_state(fcinfo, state) };
    if let Some(mut builder) = own.and_then(CountingBuilder::in_place) {
        builder.merge(&value.view()).or_raise();
        return NewValue(state);
    }
    // SAFETY: the state is a value of the type, and lives as long as the call.
    let state = unsafe { Counting::from_raw(state) };
    NewValue(counting_merge(state, value).datum())
}
