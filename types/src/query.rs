//! The type `bloom_query`: a signature and the similarity that it is searched with.

use std::ffi::{CStr, CString};

use base::range::unit;
use base::{Error, ErrorKind, Result};
use pgrx::callconv::{BoxRet, FcInfo};
use pgrx::datum::Datum;
use pgrx::{pg_sys, FromDatum, Internal};
use signature::filter::query::{parse_query_text, write_query_text, THRESHOLD};
use signature::filter::{QueryView, View};
use signature::similarity::{above, at_least, jaccard_of_dice};

use super::bloom::{corrupt, Bloom};
use super::io::message_bytes;
use pg::entry;
use pg::error::{save_or_raise, OrRaise};
use pg::values::varlena::{build, Varlena};

/// A query argument.
pub struct BloomQuery<'a>(Varlena<'a>);

pg::values::argument!(BloomQuery, "bloom_query");

impl<'a> BloomQuery<'a> {
    /// # Safety
    /// `datum` is a non-null `bloom_query` that lives as long as `'a`.
    #[inline]
    pub unsafe fn from_raw(datum: pg_sys::Datum) -> Self {
        // SAFETY: a bloom_query is a varlena.
        let query = BloomQuery(unsafe { Varlena::of(datum) });
        if QueryView::stored(query.0.bytes()).is_none() {
            corrupt("bloom_query", query.0.bytes());
        }
        query
    }

    #[inline]
    pub fn view(&self) -> QueryView<'_> {
        QueryView::stored(self.0.bytes()).expect("from_raw has checked the bytes")
    }
}

impl FromDatum for BloomQuery<'_> {
    #[inline]
    unsafe fn from_polymorphic_datum(
        datum: pg_sys::Datum,
        is_null: bool,
        _: pg_sys::Oid,
    ) -> Option<Self> {
        // SAFETY: the argument is declared as bloom_query, and is not null.
        (!is_null).then(|| unsafe { BloomQuery::from_raw(datum) })
    }
}

/// A query result, in the memory of the current context.
pub struct NewQuery(*mut pg_sys::varlena);

pg::values::stands_for!(NewQuery, "bloom_query");

impl NewQuery {
    /// `threshold` is in [0,1].
    pub fn new(signature: &View<'_>, threshold: f64) -> NewQuery {
        let bytes = signature.bytes();
        let query = build(bytes.len() + THRESHOLD, |to| {
            let (signature, at_end) = to.split_at_mut(bytes.len());
            signature.copy_from_slice(bytes);
            at_end.copy_from_slice(&threshold.to_le_bytes());
            Ok(())
        });
        NewQuery(query.or_raise())
    }

    /// The value for the server.
    pub fn datum(self) -> pg_sys::Datum {
        pg_sys::Datum::from(self.0)
    }

    fn from_untrusted(bytes: &[u8]) -> Result<NewQuery> {
        let query = QueryView::untrusted(bytes)?;
        Ok(NewQuery::new(&query.signature, query.threshold))
    }
}

// SAFETY: the pointer is a whole varlena in a memory context of the server.
unsafe impl BoxRet for NewQuery {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> Datum<'fcx> {
        // SAFETY: the pointer is a whole varlena of type bloom_query.
        unsafe { fcinfo.return_raw_datum(pg_sys::Datum::from(self.0)) }
    }
}

/// `(cstring) RETURNS bloom_query`
#[entry]
fn bloom_query_in(text: &CStr, fcinfo: pg_sys::FunctionCallInfo) -> Option<NewQuery> {
    let parse = || {
        let mut bytes = Vec::new();
        parse_query_text(&text.to_string_lossy(), &mut bytes)?;
        NewQuery::from_untrusted(&bytes)
    };
    match parse() {
        Ok(query) => Some(query),
        Err(e) => {
            save_or_raise(fcinfo, &e);
            None
        }
    }
}

#[entry]
fn bloom_query_out(query: BloomQuery<'_>) -> CString {
    let mut text = String::new();
    let size = 64 + 2 * query.view().signature.bits().len();
    text.try_reserve(size)
        .map_err(|_| Error::out_of_memory(size))
        .or_raise();
    write_query_text(&query.view(), &mut text);
    CString::new(text).expect("no zero byte")
}

#[entry]
fn bloom_query_recv(message: Internal) -> NewQuery {
    NewQuery::from_untrusted(message_bytes(message)).or_raise()
}

#[entry]
fn bloom_query_send(query: BloomQuery<'_>) -> Vec<u8> {
    query.0.bytes().to_vec()
}

/// `bloom_query(bloom, float8)`, the user's: the threshold lies in [0,1].
#[entry]
fn bloom_query(signature: Bloom<'_>, threshold: f64) -> NewQuery {
    unit("threshold", threshold)
        .map_err(|e| e.of_kind(ErrorKind::InvalidParameter))
        .or_raise();
    NewQuery::new(&signature.view(), threshold)
}

/// The planner's: whatever `bloom_sim(…) >= c` asks.
#[entry]
fn bloom_query_at_least(signature: Bloom<'_>, least: f64) -> NewQuery {
    NewQuery::new(&signature.view(), at_least(least))
}

/// The planner's: whatever `bloom_sim(…) > c` asks.
#[entry]
fn bloom_query_above(signature: Bloom<'_>, limit: f64) -> NewQuery {
    NewQuery::new(&signature.view(), above(limit))
}

/// The planner's: at least what `bloom_dice(…) >= c` asks.
#[entry]
fn bloom_query_of_dice(signature: Bloom<'_>, least: f64) -> NewQuery {
    NewQuery::new(&signature.view(), jaccard_of_dice(least))
}
