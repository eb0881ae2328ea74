//! The functions that are looked for, and what they are for.

use std::ffi::CStr;

use pgrx::pg_sys;

/// What the functions are for that are looked for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Purpose {
    SignatureInput,
    QueryInput,
    Sim,
    Dice,
    SimAbove,
    SimAtLeast,
    DiceAbove,
    DiceAtLeast,
    Query,
    QueryAbove,
    QueryAtLeast,
    QueryOfDice,
    /// What is behind `bloom % bloom_query`.
    Matches,
    // The same of minhash_bits and minhash_query.
    BitsInput,
    BitsQueryInput,
    BitsSim,
    BitsSimAbove,
    BitsSimAtLeast,
    BitsQuery,
    BitsQueryAbove,
    BitsQueryAtLeast,
    BitsMatches,
}

impl Purpose {
    /// How many arguments it takes, where that matters: SQL may declare a function in C with any.
    pub fn arguments(self) -> Option<usize> {
        match self {
            Purpose::SignatureInput | Purpose::QueryInput => None,
            Purpose::BitsInput | Purpose::BitsQueryInput => None,
            Purpose::Sim | Purpose::Dice | Purpose::Matches => Some(2),
            Purpose::BitsSim | Purpose::BitsMatches => Some(2),
            Purpose::BitsQuery | Purpose::BitsQueryAbove | Purpose::BitsQueryAtLeast => Some(2),
            Purpose::BitsSimAbove | Purpose::BitsSimAtLeast => Some(3),
            Purpose::Query | Purpose::QueryAbove | Purpose::QueryAtLeast | Purpose::QueryOfDice => {
                Some(2)
            }
            Purpose::SimAbove | Purpose::SimAtLeast | Purpose::DiceAbove | Purpose::DiceAtLeast => {
                Some(3)
            }
        }
    }
}

/// All of them, with the names that they are installed under; those of their C functions end in `_wrapper`.
pub const FUNCTIONS: [(Purpose, &CStr); 22] = [
    (Purpose::SignatureInput, c"bloom_in"),
    (Purpose::QueryInput, c"bloom_query_in"),
    (Purpose::Sim, c"bloom_sim"),
    (Purpose::Dice, c"bloom_dice"),
    (Purpose::SimAbove, c"bloom_sim_above"),
    (Purpose::SimAtLeast, c"bloom_sim_at_least"),
    (Purpose::DiceAbove, c"bloom_dice_above"),
    (Purpose::DiceAtLeast, c"bloom_dice_at_least"),
    (Purpose::Query, c"bloom_query"),
    (Purpose::QueryAbove, c"bloom_query_above"),
    (Purpose::QueryAtLeast, c"bloom_query_at_least"),
    (Purpose::QueryOfDice, c"bloom_query_of_dice"),
    (Purpose::Matches, c"bloom_matches"),
    (Purpose::BitsInput, c"minhash_bits_in"),
    (Purpose::BitsQueryInput, c"minhash_query_in"),
    (Purpose::BitsSim, c"minhash_sim"),
    (Purpose::BitsSimAbove, c"minhash_sim_above"),
    (Purpose::BitsSimAtLeast, c"minhash_sim_at_least"),
    (Purpose::BitsQuery, c"minhash_query"),
    (Purpose::BitsQueryAbove, c"minhash_query_above"),
    (Purpose::BitsQueryAtLeast, c"minhash_query_at_least"),
    (Purpose::BitsMatches, c"minhash_matches"),
];

/// A function of ours.
#[derive(Clone, Copy)]
pub struct Function {
    pub purpose: Purpose,
    /// The type of its first argument, a signature where it has two.
    pub first: pg_sys::Oid,
    pub result: pg_sys::Oid,
}
