//! Which keys a search has to follow: consistent and distance.

use pgrx::pg_sys;
use sigfile::gist::TreeKey;
use signature::filter::{QueryView, View};

use super::key::IndexKey;
use pg::entry;
use types::settings;
use types::{Bloom, BloomQuery};

/// Strategy numbers of `gist_bloom_ops`. One for each right-hand type: exclusion checks leave
/// the subtype of a scan key unset.
mod bloom_ops {
    /// `bloom % bloom`
    pub const SIMILAR: u16 = 1;
    /// `bloom % bloom_query`
    pub const MATCHES: u16 = 2;
    /// `bloom = bloom`
    pub const EQUAL: u16 = 3;
    /// `bloom @> bloom`
    pub const COVERS: u16 = 4;
    /// `bloom <@ bloom`
    pub const COVERED_BY: u16 = 5;
    /// `~%`, to which the planner turns `%` with the column on the right; 6 is the distance.
    pub const SIMILAR_COMMUTED: u16 = 7;
}

/// Strategy numbers of `gist_bloom_query_ops`.
mod query_ops {
    /// `bloom_query % bloom_query`
    pub const MATCH: u16 = 1;
    /// `bloom_query % bloom`
    pub const MATCHES_SIGNATURE: u16 = 2;
}

/// The arguments of consistent and distance: `(entry, query, strategy, subtype, recheck)`.
///
/// # Safety
/// `fcinfo` is that of such a call.
pub(super) unsafe fn arguments(fcinfo: pg_sys::FunctionCallInfo) -> (IndexKey, pg_sys::Datum, u16) {
    // SAFETY: the call is one of consistent or distance, so there are five arguments; the entry's key outlives the
    // call.
    unsafe {
        let args = (*fcinfo).args.as_slice(5);
        let entry: *const pg_sys::GISTENTRY = args[0].value.cast_mut_ptr();
        (
            IndexKey::of_entry(entry),
            args[1].value,
            args[2].value.value() as u16,
        )
    }
}

/// The answer about a key. Leaves hold the whole signature, so only rows of another shape are checked again: on a row
/// that somebody sees the operator itself fails, and one that nobody sees does no harm.
///
/// # Safety
/// `fcinfo` is that of a call of consistent or distance.
pub(super) unsafe fn answer<T>(
    fcinfo: pg_sys::FunctionCallInfo,
    key: &TreeKey<'_>,
    asked: &TreeKey<'_>,
    answer: T,
) -> T {
    // SAFETY: the call is one of consistent or distance, whose fifth argument is the recheck flag.
    unsafe {
        let args = (*fcinfo).args.as_slice(5);
        *args[4].value.cast_mut_ptr::<bool>() = key.foreign(asked);
    }
    answer
}

fn with_threshold(signature: View<'_>, threshold: f64) -> TreeKey<'_> {
    TreeKey::of_query(QueryView {
        signature,
        threshold,
    })
}

/// `(internal, bloom, smallint, oid, internal) RETURNS boolean`
#[entry(stable)]
fn bloom_gist_consistent(fcinfo: pg_sys::FunctionCallInfo) -> bool {
    // SAFETY: declared as consistent function.
    let (stored, query, strategy) = unsafe { arguments(fcinfo) };
    let key = stored.key();
    let answer = |may: bool, asked: &TreeKey<'_>| {
        // SAFETY: the record is that of this call of consistent.
        unsafe { answer(fcinfo, &key, asked, may) }
    };
    if strategy == bloom_ops::MATCHES {
        // SAFETY: the strategy's right-hand type.
        let query = unsafe { BloomQuery::from_raw(query) };
        let asked = TreeKey::of_query(query.view());
        return answer(key.may_match(&asked), &asked);
    }
    // SAFETY: the right-hand type of all others.
    let query = unsafe { Bloom::from_raw(query) };
    let signature = TreeKey::of_signature(query.view());
    let may = match strategy {
        bloom_ops::SIMILAR | bloom_ops::SIMILAR_COMMUTED => {
            key.may_match(&with_threshold(query.view(), settings::threshold()))
        }
        bloom_ops::EQUAL => key.may_equal(&signature),
        bloom_ops::COVERS => key.may_contain(&signature),
        bloom_ops::COVERED_BY => key.may_be_within(&signature),
        other => pg::error::internal!("unrecognized strategy number: {other}"),
    };
    answer(may, &signature)
}

/// `(internal, bloom_query, smallint, oid, internal) RETURNS boolean`
#[entry]
fn bloom_query_gist_consistent(fcinfo: pg_sys::FunctionCallInfo) -> bool {
    // SAFETY: declared as consistent function.
    let (stored, query, strategy) = unsafe { arguments(fcinfo) };
    let key = stored.key();
    let answer = |asked: &TreeKey<'_>| {
        let may = key.may_match(asked);
        // SAFETY: the record is that of this call of consistent.
        unsafe { answer(fcinfo, &key, asked, may) }
    };
    match strategy {
        query_ops::MATCH => {
            // SAFETY: the strategy's right-hand type.
            let query = unsafe { BloomQuery::from_raw(query) };
            answer(&TreeKey::of_query(query.view()))
        }
        query_ops::MATCHES_SIGNATURE => {
            // SAFETY: the strategy's right-hand type.
            let query = unsafe { Bloom::from_raw(query) };
            answer(&with_threshold(query.view(), 0.0))
        }
        other => pg::error::internal!("unrecognized strategy number: {other}"),
    }
}

/// `(internal, bloom, smallint, oid, internal) RETURNS float8`
///
/// What no signature below can undercut, and exact for a leaf of the query's shape.
#[entry]
fn bloom_gist_distance(fcinfo: pg_sys::FunctionCallInfo) -> f64 {
    // SAFETY: declared as distance function of an operator on two blooms.
    unsafe {
        let (stored, query, _) = arguments(fcinfo);
        let (query, key) = (Bloom::from_raw(query), stored.key());
        let asked = TreeKey::of_signature(query.view());
        answer(fcinfo, &key, &asked, key.distance(&asked))
    }
}
