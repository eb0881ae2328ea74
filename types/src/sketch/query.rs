//! The type `minhash_query`: sampled bits and the similarity that they are searched with.

use std::ffi::{CStr, CString};

use base::range::unit;
use base::Result;
use pgrx::callconv::{BoxRet, FcInfo};
use pgrx::datum::Datum;
use pgrx::{pg_sys, FromDatum, Internal};
use signature::filter::query::THRESHOLD;
use signature::sketch::query::{
    estimate_above, estimate_at_least, parse_bits_query_text, write_bits_query_text,
};
use signature::sketch::{BitsQueryView, BitsView};

use super::values::MinhashBits;
use crate::bloom::corrupt;
use crate::io::message_bytes;
use pg::entry;
use pg::error::{save_or_raise, OrRaise};
use pg::values::varlena::{build, Varlena};

/// A query argument.
pub struct MinhashQuery<'a>(Varlena<'a>);

pg::values::argument!(MinhashQuery, "minhash_query");

impl<'a> MinhashQuery<'a> {
    /// # Safety
    /// `datum` is a non-null value of the type that lives as long as `'a`.
    #[inline]
    pub unsafe fn from_raw(datum: pg_sys::Datum) -> MinhashQuery<'a> {
        // SAFETY: a query is a varlena.
        MinhashQuery(unsafe { Varlena::of(datum) })
    }

    #[inline]
    pub fn view(&self) -> BitsQueryView<'_> {
        let bytes = self.0.bytes();
        BitsQueryView::stored(bytes).unwrap_or_else(|| corrupt("minhash_query", bytes))
    }
}

impl FromDatum for MinhashQuery<'_> {
    #[inline]
    unsafe fn from_polymorphic_datum(
        datum: pg_sys::Datum,
        is_null: bool,
        _: pg_sys::Oid,
    ) -> Option<Self> {
        // SAFETY: the argument is declared as minhash_query, and is not null.
        (!is_null).then(|| unsafe { MinhashQuery::from_raw(datum) })
    }
}

/// A query result, in the memory of the current context.
pub struct NewMinhashQuery(*mut pg_sys::varlena);

pg::values::stands_for!(NewMinhashQuery, "minhash_query");

impl NewMinhashQuery {
    /// `threshold` is one that a query can have.
    fn new(bits: &BitsView<'_>, threshold: f64) -> NewMinhashQuery {
        let bytes = bits.sketch().bytes();
        let query = build(bytes.len() + THRESHOLD, |to| {
            let (sketch, at_end) = to.split_at_mut(bytes.len());
            sketch.copy_from_slice(bytes);
            at_end.copy_from_slice(&threshold.to_le_bytes());
            Ok(())
        });
        NewMinhashQuery(query.or_raise())
    }

    /// What finds the rows with an estimate of at least `least`, which is any number.
    pub fn at_least(bits: &BitsView<'_>, least: f64) -> NewMinhashQuery {
        NewMinhashQuery::new(bits, estimate_at_least(least))
    }

    /// The value for the server.
    pub fn datum(self) -> pg_sys::Datum {
        pg_sys::Datum::from(self.0)
    }

    fn from_untrusted(bytes: &[u8]) -> Result<NewMinhashQuery> {
        let query = BitsQueryView::untrusted(bytes)?;
        Ok(NewMinhashQuery::new(&query.sketch, query.threshold))
    }
}

// SAFETY: the pointer is a whole varlena in a memory context of the server.
unsafe impl BoxRet for NewMinhashQuery {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> Datum<'fcx> {
        // SAFETY: the pointer is a whole varlena of type minhash_query.
        unsafe { fcinfo.return_raw_datum(self.datum()) }
    }
}

/// `(cstring) RETURNS minhash_query`
#[entry]
fn minhash_query_in(text: &CStr, fcinfo: pg_sys::FunctionCallInfo) -> Option<NewMinhashQuery> {
    let parse = || {
        let mut bytes = Vec::new();
        parse_bits_query_text(&text.to_string_lossy(), &mut bytes)?;
        NewMinhashQuery::from_untrusted(&bytes)
    };
    parse().map_err(|e| save_or_raise(fcinfo, &e)).ok()
}

#[entry]
fn minhash_query_out(query: MinhashQuery<'_>) -> CString {
    let mut text = String::new();
    write_bits_query_text(&query.view(), &mut text);
    CString::new(text).expect("no zero byte")
}

#[entry]
fn minhash_query_recv(message: Internal) -> NewMinhashQuery {
    NewMinhashQuery::from_untrusted(message_bytes(message)).or_raise()
}

#[entry]
fn minhash_query_send(query: MinhashQuery<'_>) -> Vec<u8> {
    query.view();
    query.0.bytes().to_vec()
}

/// `minhash_query(minhash_bits, float8)`, the user's: the similarity lies in [0,1].
#[entry]
fn minhash_query(bits: MinhashBits<'_>, similarity: f64) -> NewMinhashQuery {
    unit("similarity", similarity).or_raise();
    NewMinhashQuery::new(&bits.view(), similarity)
}

/// The planner's: whatever `minhash_sim(…) >= c` asks.
#[entry]
fn minhash_query_at_least(bits: MinhashBits<'_>, least: f64) -> NewMinhashQuery {
    NewMinhashQuery::at_least(&bits.view(), least)
}

/// The planner's: whatever `minhash_sim(…) > c` asks.
#[entry]
fn minhash_query_above(bits: MinhashBits<'_>, limit: f64) -> NewMinhashQuery {
    NewMinhashQuery::new(&bits.view(), estimate_above(limit))
}
