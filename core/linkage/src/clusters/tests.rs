//! Pairs for the unit tests of this room.

use super::components::Clusters;
use super::links::{Links, Pair};
use base::Result;

/// A way of clustering, with its threshold and turns.
pub type Method = fn(&Links, f64, &mut dyn FnMut()) -> Result<Clusters>;

/// 0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1, the sums of the records 0 and 1, differ in float8.
pub const SUMS: [(u32, u32, f64); 6] = [
    (0, 2, 0.3),
    (0, 3, 0.2),
    (0, 4, 0.1),
    (1, 2, 0.1),
    (1, 3, 0.2),
    (1, 4, 0.3),
];

/// No records are no error, an odd threshold is one, and the caller has its turns.
pub fn check_method(cluster: Method) {
    let none = links(0, &[]);
    assert!(cluster(&none, 0.5, &mut || ()).unwrap().is_empty());
    for t in [-0.1, 1.1, f64::NAN] {
        assert!(cluster(&none, t, &mut || ()).is_err());
    }
    let pairs: Vec<_> = (1..100_000).map(|i| (0, i, 0.9)).collect();
    let star = links(100_000, &pairs);
    let mut turns = 0;
    cluster(&star, 0.8, &mut || turns += 1).unwrap();
    assert!(turns >= 8, "{turns}");
}

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
