//! Which keys a search has to follow: consistent and distance.

use pg::entry;
use pgrx::pg_sys;
use sigfile::gist::TreeKey;
use types::{settings, Bloom, BloomQuery, MinhashBits, MinhashQuery};

use super::tree::IndexKey;
use crate::class::strategy::{COVERED_BY, COVERS, EQUAL, MATCHES, SIMILAR};

/// Strategy number of `~%` in `gist_bloom_ops`, to which the planner turns `%` with the column on the right; 6 is the
/// distance. The others are those of sigfile, and in `gist_minhash_bits_ops` the same.
const SIMILAR_COMMUTED: u16 = 7;

/// Strategy numbers of `gist_bloom_query_ops` and of `gist_minhash_query_ops`.
mod query_ops {
    /// `bloom_query % bloom_query`
    pub const MATCH: u16 = 1;
    /// `bloom_query % bloom`
    pub const MATCHES_SIGNATURE: u16 = 2;
}

/// The query and the strategy number of a call `(entry, query, strategy, subtype, recheck)`.
///
/// # Safety
/// `fcinfo` is that of a call of consistent or distance.
unsafe fn arguments(fcinfo: pg_sys::FunctionCallInfo) -> (pg_sys::Datum, u16) {
    // SAFETY: the call is one of consistent or distance, so there are five arguments.
    let args = unsafe { (*fcinfo).args.as_slice(5) };
    (args[1].value, args[2].value.value() as u16)
}

/// What `decide` says of the key of the entry and of the query. Leaves hold the whole signature, so only rows of another
/// shape are checked again: on a row that somebody sees the operator itself fails, and one that nobody sees does no
/// harm.
///
/// # Safety
/// `fcinfo` is that of a call of consistent or distance.
unsafe fn answer<T>(
    fcinfo: pg_sys::FunctionCallInfo,
    asked: TreeKey<'_>,
    decide: impl FnOnce(&TreeKey<'_>, &TreeKey<'_>) -> T,
) -> T {
    // SAFETY: the call is one of consistent or distance: the first argument is an entry, whose key outlives the call,
    // and the fifth is the recheck flag.
    unsafe {
        let args = (*fcinfo).args.as_slice(5);
        let stored = IndexKey::of_entry(args[0].value.cast_mut_ptr());
        let key = stored.key();
        *args[4].value.cast_mut_ptr::<bool>() = key.foreign(&asked);
        decide(&key, &asked)
    }
}

/// Whether a row below the entry may be similar.
///
/// # Safety
/// `fcinfo` is that of a call of consistent.
unsafe fn similar(fcinfo: pg_sys::FunctionCallInfo, asked: TreeKey<'_>) -> bool {
    // SAFETY: as the caller has it.
    unsafe { answer(fcinfo, asked, |key, asked| key.may_match(asked)) }
}

/// The same of a query. What it asks of n-grams is for the operator itself to see.
///
/// # Safety
/// `fcinfo` is that of a call of consistent, whose second argument is a `bloom_query`.
unsafe fn matches(fcinfo: pg_sys::FunctionCallInfo) -> bool {
    // SAFETY: as the caller has it; the fifth argument is the recheck flag.
    unsafe {
        let asked = BloomQuery::from_raw(arguments(fcinfo).0);
        let found = similar(fcinfo, asked.view().into());
        if asked.view().edited.is_some() {
            let recheck = (*fcinfo).args.as_slice(5)[4].value;
            *recheck.cast_mut_ptr::<bool>() = true;
        }
        found
    }
}

/// Whether a row below the entry may be equal.
///
/// # Safety
/// `fcinfo` is that of a call of consistent.
unsafe fn equal(fcinfo: pg_sys::FunctionCallInfo, asked: TreeKey<'_>) -> bool {
    // SAFETY: as the caller has it.
    unsafe { answer(fcinfo, asked, |key, asked| key.may_equal(asked)) }
}

/// What no signature below the entry can undercut, and exact for a leaf of the query's shape.
///
/// # Safety
/// `fcinfo` is that of a call of distance.
unsafe fn distance(fcinfo: pg_sys::FunctionCallInfo, asked: TreeKey<'_>) -> f64 {
    // SAFETY: as the caller has it.
    unsafe { answer(fcinfo, asked, |key, asked| key.distance(asked)) }
}

fn unknown(strategy: u16) -> ! {
    pg::error::internal!("unrecognized strategy number: {strategy}")
}

/// `(internal, bloom, smallint, oid, internal) RETURNS boolean`
#[entry(stable)]
fn bloom_gist_consistent(fcinfo: pg_sys::FunctionCallInfo) -> bool {
    // SAFETY: declared as consistent function, with the right-hand types of the strategies.
    unsafe {
        let (query, strategy) = arguments(fcinfo);
        if strategy == MATCHES {
            return matches(fcinfo);
        }
        let query = Bloom::from_raw(query);
        let (view, asked) = (query.view(), query.view().into());
        match strategy {
            SIMILAR | SIMILAR_COMMUTED => {
                similar(fcinfo, TreeKey::leaf(view.into(), settings::threshold()))
            }
            EQUAL => equal(fcinfo, asked),
            COVERS => answer(fcinfo, asked, |key, asked| key.may_contain(asked)),
            COVERED_BY => answer(fcinfo, asked, |key, asked| key.may_be_within(asked)),
            other => unknown(other),
        }
    }
}

/// `(internal, bloom_query, smallint, oid, internal) RETURNS boolean`
#[entry]
fn bloom_query_gist_consistent(fcinfo: pg_sys::FunctionCallInfo) -> bool {
    // SAFETY: declared as consistent function, with the right-hand types of the strategies.
    unsafe {
        let (query, strategy) = arguments(fcinfo);
        match strategy {
            query_ops::MATCH => matches(fcinfo),
            query_ops::MATCHES_SIGNATURE => similar(fcinfo, Bloom::from_raw(query).view().into()),
            other => unknown(other),
        }
    }
}

/// `(internal, bloom, smallint, oid, internal) RETURNS float8`
#[entry]
fn bloom_gist_distance(fcinfo: pg_sys::FunctionCallInfo) -> f64 {
    // SAFETY: declared as distance function of an operator on two blooms.
    unsafe { distance(fcinfo, Bloom::from_raw(arguments(fcinfo).0).view().into()) }
}

/// `(internal, minhash_bits, smallint, oid, internal) RETURNS boolean`
#[entry]
fn minhash_gist_consistent(fcinfo: pg_sys::FunctionCallInfo) -> bool {
    // SAFETY: declared as consistent function, with the right-hand types of the strategies.
    unsafe {
        let (query, strategy) = arguments(fcinfo);
        match strategy {
            MATCHES => similar(fcinfo, MinhashQuery::from_raw(query).view().into()),
            EQUAL => equal(fcinfo, MinhashBits::from_raw(query).view().into()),
            other => unknown(other),
        }
    }
}

/// `(internal, minhash_query, smallint, oid, internal) RETURNS boolean`
#[entry]
fn minhash_query_gist_consistent(fcinfo: pg_sys::FunctionCallInfo) -> bool {
    // SAFETY: declared as consistent function, with the right-hand types of the strategies.
    unsafe {
        let (query, strategy) = arguments(fcinfo);
        match strategy {
            query_ops::MATCH => similar(fcinfo, MinhashQuery::from_raw(query).view().into()),
            query_ops::MATCHES_SIGNATURE => {
                similar(fcinfo, MinhashBits::from_raw(query).view().into())
            }
            other => unknown(other),
        }
    }
}

/// `(internal, minhash_bits, smallint, oid, internal) RETURNS float8`
///
/// The bits that differ; infinity where one is that of an empty set.
#[entry]
fn minhash_gist_distance(fcinfo: pg_sys::FunctionCallInfo) -> f64 {
    // SAFETY: declared as distance function of an operator on two of minhash_bits.
    unsafe {
        distance(
            fcinfo,
            MinhashBits::from_raw(arguments(fcinfo).0).view().into(),
        )
    }
}
