//! The same searches of sampled bits: consistent and distance of `gist_minhash_bits_ops` and `gist_minhash_query_ops`.

use pgrx::pg_sys;
use sigfile::gist::TreeKey;

use super::search::{answer, arguments};
use pg::entry;
use types::{MinhashBits, MinhashQuery};

/// Strategy numbers of `gist_minhash_bits_ops`, those of `gist_bloom_ops`; 6 is the distance.
mod bits_ops {
    /// `minhash_bits % minhash_query`
    pub const MATCHES: u16 = 2;
    /// `minhash_bits = minhash_bits`
    pub const EQUAL: u16 = 3;
}

/// Strategy numbers of `gist_minhash_query_ops`.
mod query_ops {
    /// `minhash_query % minhash_query`
    pub const MATCH: u16 = 1;
    /// `minhash_query % minhash_bits`
    pub const MATCHES_BITS: u16 = 2;
}

/// `(internal, minhash_bits, smallint, oid, internal) RETURNS boolean`
#[entry]
fn minhash_gist_consistent(fcinfo: pg_sys::FunctionCallInfo) -> bool {
    // SAFETY: declared as consistent function, with the right-hand types of the strategies.
    unsafe {
        let (stored, query, strategy) = arguments(fcinfo);
        let key = stored.key();
        match strategy {
            bits_ops::MATCHES => {
                let query = MinhashQuery::from_raw(query);
                let asked = TreeKey::of_bits_query(query.view());
                answer(fcinfo, &key, &asked, key.may_match(&asked))
            }
            bits_ops::EQUAL => {
                let query = MinhashBits::from_raw(query);
                let asked = TreeKey::of_bits(query.view());
                answer(fcinfo, &key, &asked, key.may_equal(&asked))
            }
            other => pg::error::internal!("unrecognized strategy number: {other}"),
        }
    }
}

/// `(internal, minhash_query, smallint, oid, internal) RETURNS boolean`
#[entry]
fn minhash_query_gist_consistent(fcinfo: pg_sys::FunctionCallInfo) -> bool {
    // SAFETY: declared as consistent function, with the right-hand types of the strategies.
    unsafe {
        let (stored, query, strategy) = arguments(fcinfo);
        let key = stored.key();
        match strategy {
            query_ops::MATCH => {
                let query = MinhashQuery::from_raw(query);
                let asked = TreeKey::of_bits_query(query.view());
                answer(fcinfo, &key, &asked, key.may_match(&asked))
            }
            query_ops::MATCHES_BITS => {
                let query = MinhashBits::from_raw(query);
                let asked = TreeKey::of_bits(query.view());
                answer(fcinfo, &key, &asked, key.may_match(&asked))
            }
            other => pg::error::internal!("unrecognized strategy number: {other}"),
        }
    }
}

/// `(internal, minhash_bits, smallint, oid, internal) RETURNS float8`
///
/// The bits that differ at least, and as many as differ for a leaf of the query's shape; infinity where one is that of
/// an empty set.
#[entry]
fn minhash_gist_distance(fcinfo: pg_sys::FunctionCallInfo) -> f64 {
    // SAFETY: declared as distance function of an operator on two of minhash_bits.
    unsafe {
        let (stored, query, _) = arguments(fcinfo);
        let (query, key) = (MinhashBits::from_raw(query), stored.key());
        let asked = TreeKey::of_bits(query.view());
        answer(fcinfo, &key, &asked, key.distance(&asked))
    }
}
