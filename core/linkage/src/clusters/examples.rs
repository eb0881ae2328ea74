//! Pairs for the unit tests of this room.

use super::links::{Links, Pair};

/// Links of `(a, b, similarity)`, among so many records.
pub fn links(records: u32, pairs: &[(u32, u32, f64)]) -> Links {
    let pair = |&(a, b, similarity)| Pair { a, b, similarity };
    let pairs: Vec<Pair> = pairs.iter().map(pair).collect();
    Links::new(records, &pairs, || ()).unwrap()
}

/// A chain of five, and a record by itself.
pub fn chain() -> Links {
    let pairs = [(0, 1, 0.9), (1, 2, 0.8), (2, 3, 0.9), (3, 4, 0.9)];
    links(6, &pairs)
}
