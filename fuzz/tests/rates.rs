//! What reads numbers only: rates by formula.

use bloom_ident_fuzz::{fuzz, message};
use signature::filter::omissions;
use signature::filter::rates::{
    collision, distinct_ngrams, expected, optimal_k, segment_length, CollisionModel,
};

/// Some numbers, eight bytes each.
fn seed(numbers: [i64; 3]) -> Vec<u8> {
    numbers.iter().flat_map(|n| n.to_le_bytes()).collect()
}

#[test]
fn rates() {
    let seeds = [
        seed([7, 301, 32]),
        seed([8, 1000, 100]),
        seed([1, 1, 1]),
        seed([0, -1, i64::MIN]),
        seed([i64::MAX, i64::MAX, i64::MAX]),
        seed([64, 1 << 40, 1 << 33]),
    ];
    fuzz("rates", true, &seeds, |bytes| {
        let mut bytes = bytes.to_vec();
        bytes.resize(24, 0);
        let mut numbers = bytes.chunks_exact(8).map(|eight| {
            let number = i64::from_le_bytes(eight.try_into().expect("eight bytes"));
            // most numbers that anybody gives are small
            number >> (number.unsigned_abs() % 64)
        });
        let mut next = || numbers.next().expect("three numbers");
        let (k, m, n) = (next(), next(), next());
        let (fpr, exact) = message(expected(k, m, n))?;
        assert!((0.0..=1.0).contains(&fpr) && (0.0..=1.0).contains(&exact));
        let of = message(omissions(k, m, n, || ()))?;
        assert!((0.0..=1.0).contains(&of.any) && (0.0..=n as f64).contains(&of.expected));
        let words = message(distinct_ngrams(m, k))?;
        assert!(words == "0" || !words.starts_with('0'), "{words}");
        assert!(message(optimal_k(m, n))? >= 1);
        for model in [CollisionModel::Fpr, CollisionModel::Coll] {
            let p = message(segment_length(model, n, k, 0.1))?;
            assert!(message(collision(model, p.into(), n, k))? <= 0.1);
        }
        Ok(String::new())
    });
}
