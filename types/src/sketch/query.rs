//! The type `minhash_query`: sampled bits and the similarity that they are searched with.

use std::ffi::{CStr, CString};

use base::range::unit;
use pgrx::{pg_sys, Internal};
use signature::filter::query::THRESHOLD;
use signature::sketch::query::{
    estimate_above, estimate_at_least, parse_bits_query_text, write_bits_query_text,
};
use signature::sketch::{BitsQueryView, BitsView};

use super::values::MinhashBits;
use crate::value::{input, message_bytes, output, value_type};
use pg::entry;
use pg::error::OrRaise;
use pg::values::varlena::build;

value_type!(
    MinhashQuery,
    NewMinhashQuery,
    BitsQueryView,
    "minhash_query"
);

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
}

/// `(cstring) RETURNS minhash_query`
#[entry]
fn minhash_query_in(text: &CStr, fcinfo: pg_sys::FunctionCallInfo) -> Option<NewMinhashQuery> {
    input(text, fcinfo, |text| {
        let mut bytes = Vec::new();
        parse_bits_query_text(text, &mut bytes)?;
        NewMinhashQuery::from_untrusted(&bytes)
    })
}

#[entry]
fn minhash_query_out(query: MinhashQuery<'_>) -> CString {
    let view = query.view();
    let size = 64 + 2 * view.sketch.sketch().payload().len();
    output(size, |to| write_bits_query_text(&view, to))
}

#[entry]
fn minhash_query_recv(message: Internal) -> NewMinhashQuery {
    NewMinhashQuery::from_untrusted(message_bytes(message)).or_raise()
}

#[entry]
fn minhash_query_send(query: MinhashQuery<'_>) -> Vec<u8> {
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
