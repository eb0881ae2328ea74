use super::*;

/// A row of `bits` bits, of which about one in `sparse` is set.
fn row(seed: &mut u64, bits: u32, sparse: u64) -> Vec<u64> {
    let mut words = vec![0; bits.div_ceil(64) as usize];
    for bit in 0..bits as usize {
        *seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        if (*seed >> 33).is_multiple_of(sparse) {
            words[bit / 64] |= 1 << (bit % 64);
        }
    }
    words
}

fn count(words: &[u64]) -> u32 {
    words.iter().map(|w| w.count_ones()).sum()
}

fn pairs(bits: u32, sparse: u64, threshold: f64, is_long: bool) -> [Vec<(usize, u64)>; 2] {
    let mut seed = u64::from(bits) + sparse;
    let mut going: Vec<Vec<u64>> = (0..2500).map(|_| row(&mut seed, bits, sparse)).collect();
    let wanted: Vec<Vec<u64>> = (0..300)
        .map(|i| {
            // near to one that goes by, more or less
            let mut words = going[i * 7].clone();
            for flip in 0..i % 40 {
                let bit = (i * 31 + flip * 17) % bits as usize;
                words[bit / 64] ^= 1 << (bit % 64);
            }
            words
        })
        .collect();
    going.sort_by_key(|words| count(words));
    let mut rows = WantedRows::default();
    wanted
        .iter()
        .for_each(|words| rows.push(words, count(words)).unwrap());
    let mut search = ManySearch::new(rows, bits, threshold, 1 << 16).expect("worth while");
    assert!((1..=300).contains(&search.rows()));
    let mut found = Vec::new();
    let mut hit = |i: usize, tid: u64| found.push((i, tid));
    search.follow(if is_long { LONG } else { 0 });
    for (tid, words) in going.iter().enumerate() {
        search.pass_row(words, count(words), tid as u64).unwrap();
        if search.is_full() {
            search.sweep(&mut || (), &mut hit).unwrap();
        }
    }
    search.sweep(&mut || (), &mut hit).unwrap();
    found.retain(|&(i, _)| search.is_wanted(i));
    let mut expected = Vec::new();
    let numbers = (0..search.rows()).filter(|&i| search.is_wanted(i));
    for (i, a) in numbers.map(|i| (i, &wanted[i])) {
        for (tid, b) in going.iter().enumerate() {
            let counts = Popcounts {
                a: count(a),
                b: count(b),
                common: intersect_words(a, b),
            };
            if counts.jaccard() >= threshold {
                expected.push((i, tid as u64));
            }
        }
    }
    found.sort_unstable();
    [found, expected]
}

#[test]
fn it_finds_what_a_loop_finds() {
    for (bits, sparse, threshold) in [
        (301, 3, 0.9),
        (301, 3, 0.8),
        (301, 8, 0.7),
        (581, 2, 0.85),
        (64, 4, 0.9),
        (65, 6, 0.9),
        (128, 8, 0.85),
        (301, 4, 1.0),
    ] {
        for is_long in [false, true] {
            let [found, expected] = pairs(bits, sparse, threshold, is_long);
            assert!(!expected.is_empty());
            assert_eq!(found, expected, "{bits} {sparse} {threshold}");
        }
    }
}

#[test]
fn low_thresholds_are_not_worth_while() {
    let search = |threshold| {
        let mut rows = WantedRows::default();
        rows.push(&[u64::MAX, u64::MAX, 0, 0, 0], 128).unwrap();
        ManySearch::new(rows, 320, threshold, 1 << 16)
    };
    assert!(search(0.5).is_none() && search(0.0).is_none() && search(0.85).is_some());
}
