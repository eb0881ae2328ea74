//! Similarity held against a threshold: the operators of `minhash_query`, and what comparisons of `minhash_sim` are
//! rewritten to.

use pg::entry;
use pg::error::OrRaise;
use types::{MinhashBits, MinhashQuery};

/// `minhash_bits % minhash_query`
#[entry]
fn minhash_matches(bits: MinhashBits<'_>, query: MinhashQuery<'_>) -> bool {
    let query = query.view();
    bits.view().similarity(&query.sketch).or_raise() >= query.threshold
}

/// `minhash_query % minhash_bits`
#[entry]
fn minhash_query_matches(query: MinhashQuery<'_>, bits: MinhashBits<'_>) -> bool {
    minhash_matches(bits, query)
}

/// `minhash_query % minhash_query`: the larger threshold counts.
#[entry]
fn minhash_queries_match(a: MinhashQuery<'_>, b: MinhashQuery<'_>) -> bool {
    let (a, b) = (a.view(), b.view());
    a.sketch.similarity(&b.sketch).or_raise() >= a.threshold.max(b.threshold)
}

#[entry]
fn minhash_sim_above(a: MinhashBits<'_>, b: MinhashBits<'_>, limit: f64) -> bool {
    a.view().similarity(&b.view()).or_raise() > limit
}

#[entry]
fn minhash_sim_at_least(a: MinhashBits<'_>, b: MinhashBits<'_>, least: f64) -> bool {
    a.view().similarity(&b.view()).or_raise() >= least
}
