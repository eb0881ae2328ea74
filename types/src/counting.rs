//! The type `counting_bloom`: as argument and as result, input and output, modifier, casts.

use std::ffi::{CStr, CString};

use base::Result;
use pgrx::{pg_sys, Internal};
use signature::counting::{parse_text, write_text, CountingBuilder, CountingView, TYPE};
use signature::filter::{typmod, Shape};

use super::bloom::NewBloom;
use super::value::{input, message_bytes, modifier, output, value_type};
use pg::entry;
use pg::error::OrRaise;
use pg::values::varlena::build;

value_type!(Counting, NewCounting, CountingView, "counting_bloom");

impl NewCounting {
    /// An empty counting filter of `shape`, with what `fill` puts in.
    pub fn new(
        shape: Shape,
        fill: impl FnOnce(&mut CountingBuilder<'_>) -> Result<()>,
    ) -> NewCounting {
        build(CountingBuilder::size(shape), |bytes| {
            fill(&mut CountingBuilder::new(shape, bytes))
        })
        .map(NewCounting)
        .or_raise()
    }

    /// A copy of `view`, changed by `change`.
    pub fn changed(
        view: &CountingView<'_>,
        change: impl FnOnce(&mut CountingBuilder<'_>) -> Result<()>,
    ) -> NewCounting {
        build(view.bytes().len(), |bytes| {
            change(&mut CountingBuilder::from_view(view, bytes))
        })
        .map(NewCounting)
        .or_raise()
    }
}

/// `(cstring, oid, integer) RETURNS counting_bloom`
#[entry]
fn counting_bloom_in(
    text: &CStr,
    _element: pg_sys::Oid,
    typmod: i32,
    fcinfo: pg_sys::FunctionCallInfo,
) -> Option<NewCounting> {
    input(text, fcinfo, |text| {
        let mut bytes = Vec::new();
        parse_text(text, &mut bytes)?;
        typmod::enforce(&TYPE, typmod, CountingView::untrusted(&bytes)?.shape())?;
        NewCounting::from_untrusted(&bytes)
    })
}

#[entry]
fn counting_bloom_out(value: Counting<'_>) -> CString {
    let view = value.view();
    output(40 + view.shape().m() as usize, |to| write_text(&view, to))
}

/// `counting_bloom_recv(internal, oid, integer)`
#[entry]
fn counting_bloom_recv(message: Internal, _element: pg_sys::Oid, typmod: i32) -> NewCounting {
    let bytes = message_bytes(message);
    let view = CountingView::untrusted(bytes).or_raise();
    typmod::enforce(&TYPE, typmod, view.shape()).or_raise();
    NewCounting::from_untrusted(bytes).or_raise()
}

/// The stored bytes themselves.
#[entry]
fn counting_bloom_send(value: Counting<'_>) -> Vec<u8> {
    value.view().bytes().to_vec()
}

/// `(cstring[]) RETURNS integer`
///
/// `counting_bloom(7,43,3)`, from an array of C strings.
#[entry]
fn counting_bloom_typmod_in(fcinfo: pg_sys::FunctionCallInfo) -> i32 {
    // SAFETY: declared as taking one cstring[], and STRICT.
    let written = unsafe { modifier(fcinfo) };
    typmod::pack(typmod::parse(&TYPE, &written).or_raise())
}

/// The length coercion: the value itself, or an error.
#[entry]
fn counting_bloom_apply_typmod(value: Counting<'_>, typmod: i32, _explicit: bool) -> NewCounting {
    typmod::enforce(&TYPE, typmod, value.view().shape()).or_raise();
    value.into_result()
}

/// The stored bytes, checked as those of a binary value.
#[entry]
fn bytea_to_counting_bloom(bytes: &[u8]) -> NewCounting {
    NewCounting::from_untrusted(bytes).or_raise()
}

/// The signature of what is in the filter.
#[entry]
fn counting_bloom_to_bloom(value: Counting<'_>) -> NewBloom {
    let view = value.view();
    NewBloom::new(view.shape(), |signature| {
        view.to_signature(signature);
        Ok(())
    })
}
