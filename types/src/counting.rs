//! The type `counting_bloom`: as argument and as result, input and output, modifier, casts.

use std::ffi::{CStr, CString};

use base::{Error, Result};
use pgrx::callconv::{BoxRet, FcInfo};
use pgrx::datum::Datum;
use pgrx::{pg_sys, FromDatum, Internal};
use signature::counting::{parse_text, write_text, CountingBuilder, CountingView, TYPE};
use signature::filter::{typmod, Shape};

use super::array::Elements;
use super::bloom::{corrupt, NewBloom};
use super::io::message_bytes;
use pg::entry;
use pg::error::{save_or_raise, OrRaise};
use pg::values::varlena::{build, Varlena};

/// A counting filter argument.
pub struct Counting<'a>(Varlena<'a>);

pg::values::argument!(Counting, "counting_bloom");

impl<'a> Counting<'a> {
    /// # Safety
    /// `datum` is a non-null `counting_bloom` that lives as long as `'a`.
    pub unsafe fn from_raw(datum: pg_sys::Datum) -> Self {
        // SAFETY: a counting_bloom is a varlena.
        let counting = Counting(unsafe { Varlena::of(datum) });
        if CountingView::stored(counting.0.bytes()).is_none() {
            corrupt(TYPE.name, counting.0.bytes());
        }
        counting
    }

    pub fn view(&self) -> CountingView<'_> {
        CountingView::stored(self.0.bytes()).expect("from_raw has checked the bytes")
    }
}

impl FromDatum for Counting<'_> {
    unsafe fn from_polymorphic_datum(
        datum: pg_sys::Datum,
        is_null: bool,
        _: pg_sys::Oid,
    ) -> Option<Self> {
        // SAFETY: the argument is declared as counting_bloom, and is not null.
        (!is_null).then(|| unsafe { Counting::from_raw(datum) })
    }
}

/// A counting filter result, in the memory of the current context.
pub struct NewCounting(*mut pg_sys::varlena);

pg::values::stands_for!(NewCounting, "counting_bloom");

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

    /// Bytes from outside, checked.
    fn from_untrusted(bytes: &[u8]) -> Result<NewCounting> {
        CountingView::untrusted(bytes)?;
        build(bytes.len(), |to| {
            to.copy_from_slice(bytes);
            Ok(())
        })
        .map(NewCounting)
    }

    /// The value for the server.
    pub fn datum(self) -> pg_sys::Datum {
        pg_sys::Datum::from(self.0)
    }
}

// SAFETY: the pointer is a whole varlena in a memory context of the server.
unsafe impl BoxRet for NewCounting {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> Datum<'fcx> {
        // SAFETY: the pointer is a whole varlena of type counting_bloom.
        unsafe { fcinfo.return_raw_datum(self.datum()) }
    }
}

/// `(cstring, oid, integer) RETURNS counting_bloom`
///
/// `counting_bloom_in(cstring, oid, integer)`
#[entry]
fn counting_bloom_in(
    text: &CStr,
    _element: pg_sys::Oid,
    typmod: i32,
    fcinfo: pg_sys::FunctionCallInfo,
) -> Option<NewCounting> {
    let parse = || {
        let mut bytes = Vec::new();
        parse_text(&text.to_string_lossy(), &mut bytes)?;
        typmod::enforce(&TYPE, typmod, CountingView::untrusted(&bytes)?.shape())?;
        NewCounting::from_untrusted(&bytes)
    };
    match parse() {
        Ok(counting) => Some(counting),
        Err(e) => {
            save_or_raise(fcinfo, &e);
            None
        }
    }
}

#[entry]
fn counting_bloom_out(value: Counting<'_>) -> CString {
    let view = value.view();
    let mut text = String::new();
    let size = 40 + view.shape().m() as usize;
    text.try_reserve(size)
        .map_err(|_| Error::out_of_memory(size))
        .or_raise();
    write_text(&view, &mut text);
    CString::new(text).expect("no zero byte")
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
    let array = unsafe { (*fcinfo).args.as_slice(1)[0].value };
    // SAFETY: the array is that argument.
    let written = unsafe { Elements::of(array) }.or_raise().c_strings();
    typmod::pack(typmod::parse(&TYPE, &written).or_raise())
}

/// The length coercion: the value itself, or an error.
#[entry]
fn counting_bloom_apply_typmod(value: Counting<'_>, typmod: i32, _explicit: bool) -> NewCounting {
    typmod::enforce(&TYPE, typmod, value.view().shape()).or_raise();
    NewCounting(value.0.keep())
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
