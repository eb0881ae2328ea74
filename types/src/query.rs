//! The type `bloom_query`: a signature and the similarity that it is searched with.

use std::ffi::{CStr, CString};

use base::range::unit;
use base::ErrorKind;
use pgrx::{pg_sys, Internal};
use signature::filter::query::{parse_query_text, write_query_text};
use signature::filter::{QueryView, View};
use signature::similarity::{above, at_least, jaccard_of_dice};

use super::bloom::Bloom;
use super::value::{build_query, input, message_bytes, output, value_type};
use pg::entry;
use pg::error::OrRaise;

value_type!(BloomQuery, NewQuery, QueryView, "bloom_query");

impl NewQuery {
    /// `threshold` is in [0,1].
    pub fn new(signature: &View<'_>, threshold: f64) -> NewQuery {
        NewQuery(build_query(signature.bytes(), threshold))
    }
}

/// `(cstring) RETURNS bloom_query`
#[entry]
fn bloom_query_in(text: &CStr, fcinfo: pg_sys::FunctionCallInfo) -> Option<NewQuery> {
    input(text, fcinfo, |text| {
        let mut bytes = Vec::new();
        parse_query_text(text, &mut bytes)?;
        NewQuery::from_untrusted(&bytes)
    })
}

#[entry]
fn bloom_query_out(query: BloomQuery<'_>) -> CString {
    let view = query.view();
    let size = 64 + 2 * view.signature.bits().len();
    output(size, |to| write_query_text(&view, to))
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
