//! A bound of an inner key is at least the similarity of everything below it, whatever is asked.

use sigfile::gist::{split, unite, united_size, TreeKey};
use signature::filter::{QueryView, Shape, View};

#[path = "../../signature/tests/common/mod.rs"]
mod common;

use common::{build, counts, PRIMES};
use proptest::prelude::*;

fn united(keys: &[TreeKey<'_>]) -> Vec<u8> {
    let mut bytes = vec![0; united_size(keys.iter().copied()).unwrap()];
    unite(keys.iter().copied(), &mut bytes);
    bytes
}

/// Sparse and dense signatures, equal and empty ones.
fn signatures() -> impl Strategy<Value = (Vec<Vec<u8>>, Vec<u8>)> {
    let small = (1..=12i64, prop::sample::select(&PRIMES[..7]))
        .prop_map(|(k, p)| Shape::new(k, p, 3).unwrap());
    small.prop_flat_map(|shape| {
        let one = move || {
            ("[a-d]{0,12}", 0..40usize)
                .prop_map(move |(text, repeat)| build(shape, &text.repeat(repeat)))
        };
        (prop::collection::vec(one(), 1..20), one())
    })
}

proptest! {
    #[test]
    fn bounds_hold((rows, query) in signatures(), threshold in 0.0f64..=1.0, own in 0.0f64..=1.0) {
        let leaf = |bytes| TreeKey::from(View::stored(bytes).unwrap());
        let keys: Vec<TreeKey<'_>> = rows.iter().map(|r| leaf(r)).collect();
        let (half, all) = (united(&keys[..keys.len().div_ceil(2)]), united(&keys));
        let levels = [united(&[TreeKey::stored(&half).unwrap(), TreeKey::stored(&all).unwrap()]), all];
        let asked = [query.as_slice(), &threshold.to_le_bytes()].concat();
        let asked = TreeKey::from(QueryView::stored(&asked).unwrap());
        for inner in &levels {
            let inner = TreeKey::stored(inner).unwrap();
            for (row, key) in rows.iter().zip(&keys) {
                let c = counts(row, &query);
                prop_assert_eq!(key.bound(&asked), c.jaccard());
                prop_assert!(inner.bound(&asked) >= c.jaccard());
                prop_assert_eq!(key.may_match(&asked), c.jaccard() >= threshold);
                prop_assert!(inner.may_match(&asked) || c.jaccard() < threshold);
                prop_assert_eq!(key.may_contain(&asked), c.contains());
                prop_assert!(inner.may_contain(&asked) || !c.contains());
                prop_assert_eq!(key.may_be_within(&asked), c.common == c.a);
                prop_assert!(inner.may_be_within(&asked) || c.common < c.a);
                prop_assert_eq!(key.may_equal(&asked), row == &query);
                prop_assert!(inner.may_equal(&asked) || row != &query);
            }
        }
        // queries as keys: the larger threshold counts
        let stored: Vec<Vec<u8>> = rows.iter().map(|r| [r.as_slice(), &own.to_le_bytes()].concat()).collect();
        let keys: Vec<TreeKey<'_>> = stored.iter().map(|r| TreeKey::stored(r).unwrap()).collect();
        let inner = united(&keys);
        let inner = TreeKey::stored(&inner).unwrap();
        for (row, key) in rows.iter().zip(&keys) {
            let matches = counts(row, &query).jaccard() >= threshold.max(own);
            prop_assert_eq!(key.may_match(&asked), matches);
            prop_assert!(inner.may_match(&asked) || !matches);
        }
    }

    #[test]
    fn a_split_is_balanced_and_a_union_covers((rows, _) in signatures()) {
        let keys: Vec<TreeKey<'_>> = rows.iter().map(|r| TreeKey::stored(r).unwrap()).collect();
        if keys.len() > 1 {
            let right = split(&keys).unwrap();
            let n = right.iter().filter(|r| **r).count();
            prop_assert!(n >= keys.len() / 3 && keys.len() - n >= keys.len() / 3 && n > 0 && n < keys.len());
        }
        let inner = united(&keys);
        let inner = TreeKey::stored(&inner).unwrap();
        prop_assert!(keys.iter().all(|key| inner.penalty(key) == 0.0));
        prop_assert!(united(&[inner]) == united(&keys));
    }

    /// Of two shapes nothing is missed, nothing is refused, and a split parts them.
    #[test]
    fn shapes_mix((rows, query) in signatures(), other in "[a-d]{0,12}", few in 1..20usize) {
        let other = build(Shape::new(2, 61, 4).unwrap(), &other);
        let foreign = TreeKey::stored(&other).unwrap();
        let own: Vec<TreeKey<'_>> = rows.iter().map(|r| TreeKey::stored(r).unwrap()).collect();
        let keys: Vec<TreeKey<'_>> = own.iter().copied().chain(vec![foreign; few]).collect();
        let (mixed, ours, theirs) = (united(&keys), united(&own), united(&[foreign]));
        let (mixed, ours, theirs) = (TreeKey::stored(&mixed).unwrap(), TreeKey::stored(&ours).unwrap(), TreeKey::stored(&theirs).unwrap());
        prop_assert!(united(&[mixed, ours]) == united(&keys) && united(&[theirs, ours]) == united(&keys));
        let asked = TreeKey::stored(&query).unwrap();
        prop_assert!(mixed.bound(&asked) == 1.0 && mixed.may_match(&asked) && mixed.may_contain(&asked) && mixed.may_be_within(&asked) && mixed.may_equal(&asked));
        for key in [foreign, theirs] {
            prop_assert!(key.bound(&asked) == 1.0 && key.may_match(&asked) && key.may_contain(&asked) && key.may_be_within(&asked) && !key.may_equal(&asked));
        }
        prop_assert!(foreign.foreign(&asked) && !theirs.foreign(&asked) && !mixed.foreign(&asked) && !own[0].foreign(&asked));
        prop_assert!(ours.penalty(&own[0]) < mixed.penalty(&own[0]) && mixed.penalty(&own[0]) < theirs.penalty(&own[0]));
        let right = split(&keys).unwrap();
        prop_assert!(right[..own.len()].iter().all(|r| *r == right[0]) && right[own.len()..].iter().all(|r| *r != right[0]));
        prop_assert_eq!(mixed.describe(), "several shapes");
    }
}
