//! The same of sampled bits: bounds on the bits that differ, and empty sets, which have none.

use proptest::prelude::*;
use sigfile::gist::{split, unite, united_size, TreeKey};
use signature::sketch::{write_stored, BitsQueryView, BitsView, SketchKind, SketchShape, HEADER};

fn sketch(shape: SketchShape, words: Option<&[u64]>) -> Vec<u8> {
    let mut bytes = vec![0; HEADER + SketchKind::Bits.payload(shape)];
    let n = usize::from(shape.n());
    let mut kept: Vec<u64> = words.map_or(vec![0; 16], <[u64]>::to_vec);
    kept.truncate(n.div_ceil(64));
    if let Some(last) = kept.last_mut().filter(|_| n % 64 > 0) {
        *last &= (1 << (n % 64)) - 1;
    }
    write_stored(shape, words.is_none(), &kept, &mut bytes);
    BitsView::untrusted(&bytes).unwrap();
    bytes
}

fn united(keys: &[TreeKey<'_>]) -> Vec<u8> {
    let mut bytes = vec![0; united_size(keys.iter().copied()).unwrap()];
    unite(keys.iter().copied(), &mut bytes);
    bytes
}

fn of(bytes: &[u8]) -> BitsView<'_> {
    BitsView::stored(bytes).unwrap()
}

/// Sketches that are near to one of three, any others, and those of empty sets. 48 bits have as many bytes as the
/// header of a signature.
fn sketches() -> impl Strategy<Value = (Vec<Vec<u8>>, Vec<u8>)> {
    let shape = (
        prop_oneof![1..=70i64, Just(48), Just(192), Just(1024)],
        prop_oneof![Just(0i64), Just(7)],
    );
    let words = |few: bool| {
        let word = match few {
            true => prop_oneof![4 => Just(0u64), 1 => (0..64u32).prop_map(|i| 1 << i)].boxed(),
            false => any::<u64>().boxed(),
        };
        prop::collection::vec(word, 16)
    };
    (shape, prop::collection::vec(words(false), 3)).prop_flat_map(move |((n, family), centres)| {
        let shape = SketchShape::new(n, family).unwrap();
        let one = move || {
            let centres = centres.clone();
            let near = (0..3usize, words(true)).prop_map(move |(c, noise)| {
                let near: Vec<u64> = centres[c].iter().zip(&noise).map(|(a, b)| a ^ b).collect();
                Some(near)
            });
            let some = prop_oneof![6 => near, 1 => words(false).prop_map(Some), 1 => words(true).prop_map(Some), 1 => Just(None)];
            some.prop_map(move |words| sketch(shape, words.as_deref()))
        };
        (prop::collection::vec(one(), 1..20), one())
    })
}

/// All thresholds that there are, and those beside them.
fn thresholds() -> impl Strategy<Value = f64> {
    prop_oneof![
        -1.0f64..=1.0,
        Just(0.0),
        Just(-1.0),
        Just(1.0),
        Just(2.0),
        Just(-1e-12),
        Just(1e-12),
        (0..=64i32).prop_map(|i| f64::from(i) / 32.0 - 1.0)
    ]
}

proptest! {
    #[test]
    fn bounds_of_sampled_bits_hold((rows, query) in sketches(), threshold in thresholds(), own in thresholds()) {
        let keys: Vec<TreeKey<'_>> = rows.iter().map(|r| TreeKey::from(of(r))).collect();
        let (half, all) = (united(&keys[..keys.len().div_ceil(2)]), united(&keys));
        let levels = [united(&[TreeKey::stored(&half).unwrap(), TreeKey::stored(&all).unwrap()]), all];
        let asked = [query.as_slice(), &threshold.to_le_bytes()].concat();
        let asked = TreeKey::from(BitsQueryView::stored(&asked).unwrap());
        for inner in &levels {
            let inner = TreeKey::stored(inner).unwrap();
            for (row, key) in rows.iter().zip(&keys) {
                let similarity = of(row).similarity(&of(&query)).unwrap();
                let distance = of(row).distance(&of(&query)).unwrap();
                prop_assert_eq!(key.distance(&asked), distance);
                prop_assert!(inner.distance(&asked) <= distance);
                prop_assert_eq!(key.may_match(&asked), similarity >= threshold);
                prop_assert!(inner.may_match(&asked) || similarity < threshold);
                prop_assert_eq!(key.may_equal(&asked), row == &query);
                prop_assert!(inner.may_equal(&asked) || row != &query);
                prop_assert!((0.0..=1.0).contains(&inner.bound(&asked)));
            }
        }
        // what is stored is read as what it is, and of queries the larger threshold counts
        let stored: Vec<Vec<u8>> = rows.iter().map(|r| [r.as_slice(), &own.to_le_bytes()].concat()).collect();
        let keys: Vec<TreeKey<'_>> = stored.iter().map(|r| TreeKey::stored(r).unwrap()).collect();
        let inner = united(&keys);
        let inner = TreeKey::stored(&inner).unwrap();
        let plain = TreeKey::stored(&query).unwrap();
        for (row, key) in rows.iter().zip(&keys) {
            let similarity = of(row).similarity(&of(&query)).unwrap();
            let matches = similarity >= threshold.max(own);
            prop_assert_eq!(key.may_match(&asked), matches);
            prop_assert!(inner.may_match(&asked) || !matches);
            prop_assert_eq!(key.may_match(&plain), similarity >= own);
            prop_assert!(inner.may_match(&plain) || similarity < own);
        }
    }

    /// A bound is no worse than what the bits that all have, and those that any has, say without popcounts.
    #[test]
    fn bounds_are_those_of_and_and_or((rows, query) in sketches()) {
        let rows: Vec<_> = rows.iter().filter(|r| !of(r).sketch().is_empty()).collect();
        prop_assume!(!rows.is_empty() && !of(&query).sketch().is_empty());
        let keys: Vec<TreeKey<'_>> = rows.iter().map(|r| TreeKey::stored(r).unwrap()).collect();
        let inner = united(&keys);
        let ones = |of: &dyn Fn(usize) -> u8| (HEADER..query.len()).map(|i| of(i).count_ones()).sum::<u32>();
        let all = |i: usize| rows.iter().fold(0xff, |all, r| all & r[i]);
        let any = |i: usize| rows.iter().fold(0, |any, r| any | r[i]);
        let least = ones(&|i| all(i) & !query[i]) + ones(&|i| query[i] & !any(i));
        let asked = TreeKey::stored(&query).unwrap();
        prop_assert!(TreeKey::stored(&inner).unwrap().distance(&asked) >= f64::from(least));
    }

    #[test]
    fn a_split_is_balanced_and_a_union_covers((rows, _) in sketches()) {
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

    /// Another number or family is never pruned, and never equal.
    #[test]
    fn shapes_mix((rows, query) in sketches(), empty: bool) {
        let other = sketch(SketchShape::new(99, 3).unwrap(), (!empty).then_some(&[5; 16]));
        let foreign = TreeKey::stored(&other).unwrap();
        let own = TreeKey::stored(&rows[0]).unwrap();
        let mixed = united(&[own, foreign]);
        let mixed = TreeKey::stored(&mixed).unwrap();
        let asked = TreeKey::stored(&query).unwrap();
        prop_assert!(mixed.distance(&asked) == 0.0 && mixed.may_match(&asked) && mixed.may_equal(&asked));
        prop_assert!(foreign.distance(&asked) == 0.0 && foreign.may_match(&asked) && !foreign.may_equal(&asked) && foreign.foreign(&asked));
    }
}

#[test]
fn keys_are_described() {
    let shape = SketchShape::new(64, 0).unwrap();
    let (few, none) = (sketch(shape, Some(&[7])), sketch(shape, None));
    let (few, none) = (
        TreeKey::stored(&few).unwrap(),
        TreeKey::stored(&none).unwrap(),
    );
    assert_eq!(few.describe(), "(64) with 3 bits");
    assert_eq!(none.describe(), "(64) of an empty set");
    let both = united(&[few, none]);
    assert_eq!(
        TreeKey::stored(&both).unwrap().describe(),
        "(64) with 3 to 64 bits, union of 3, intersection of 0, empty sets"
    );
}
