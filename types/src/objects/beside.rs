//! Functions and operators of ours that are in the same schema as another one.

use pgrx::pg_sys;

use super::cache::{kept, BESIDE};
use super::functions::{function, is_bits_match, is_match};
use super::purpose::{Purpose, FUNCTIONS};

/// The function of ours that is in the same schema as `near`, for signatures of a type.
pub fn beside(near: pg_sys::Oid, purpose: Purpose, bloom: pg_sys::Oid) -> Option<pg_sys::Oid> {
    kept(&BESIDE, (purpose, [near, bloom]), || {
        let arguments: &[pg_sys::Oid] = match purpose {
            Purpose::SignatureInput | Purpose::QueryInput => return None,
            Purpose::BitsInput | Purpose::BitsQueryInput => return None,
            Purpose::Matches | Purpose::BitsMatches => return None,
            Purpose::Sim | Purpose::Dice | Purpose::BitsSim => &[bloom, bloom],
            Purpose::SimAbove | Purpose::SimAtLeast | Purpose::DiceAbove | Purpose::DiceAtLeast => {
                &[bloom, bloom, pg_sys::FLOAT8OID]
            }
            Purpose::BitsSimAbove | Purpose::BitsSimAtLeast => &[bloom, bloom, pg_sys::FLOAT8OID],
            Purpose::Query | Purpose::QueryAbove | Purpose::QueryAtLeast | Purpose::QueryOfDice => {
                &[bloom, pg_sys::FLOAT8OID]
            }
            Purpose::BitsQuery | Purpose::BitsQueryAbove | Purpose::BitsQueryAtLeast => {
                &[bloom, pg_sys::FLOAT8OID]
            }
        };
        let (_, name) = FUNCTIONS.iter().find(|f| f.0 == purpose)?;
        // SAFETY: the key of the cache PROCNAMEARGSNSP is name, argument types and namespace.
        let found = unsafe {
            pg_sys::GetSysCacheOid(
                pg_sys::SysCacheIdentifier::PROCNAMEARGSNSP as i32,
                pg_sys::Anum_pg_proc_oid as pg_sys::AttrNumber,
                pg_sys::Datum::from(name.as_ptr()),
                pg_sys::Datum::from(pg_sys::buildoidvector(
                    arguments.as_ptr(),
                    arguments.len() as i32,
                )),
                pg_sys::Datum::from(pg_sys::get_func_namespace(near)),
                pg_sys::Datum::null(),
            )
        };
        function(found)
            .is_some_and(|f| f.purpose == purpose)
            .then_some(found)
    })
}

/// Whether there is `bloom % bloom_query`, or `minhash_bits % minhash_query`, in the same schema as `near`, and ours.
pub fn match_beside(near: pg_sys::Oid, bloom: pg_sys::Oid, query: pg_sys::Oid) -> bool {
    // SAFETY: the key of the cache OPERNAMENSP is name, left and right type and namespace.
    let found = unsafe {
        pg_sys::GetSysCacheOid(
            pg_sys::SysCacheIdentifier::OPERNAMENSP as i32,
            pg_sys::Anum_pg_operator_oid as pg_sys::AttrNumber,
            pg_sys::Datum::from(c"%".as_ptr()),
            pg_sys::Datum::from(bloom),
            pg_sys::Datum::from(query),
            pg_sys::Datum::from(pg_sys::get_func_namespace(near)),
        )
    };
    is_match(found) || is_bits_match(found)
}
