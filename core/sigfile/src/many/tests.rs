use signature::bits::intersect_words;

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

/// What a search in so much memory finds, and what a loop over all pairs does.
fn pairs(
    (bits, sparse): (u32, u64),
    (measure, threshold): (Measure, f64),
    memory: usize,
) -> [Vec<(usize, u64)>; 2] {
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
    let stride = bits.div_ceil(64) as usize;
    let mut rows = WantedRows::with_room(stride, wanted.len()).unwrap();
    wanted
        .iter()
        .for_each(|words| rows.push(words, count(words)));
    let search = ManySearch::new(rows, (bits, measure), threshold, 100, memory).unwrap();
    let mut search = search.expect("worth while");
    let is_wanted: Vec<bool> = (0..wanted.len()).map(|i| search.is_wanted(i)).collect();
    let mut found = Vec::new();
    let mut hit = |i: usize, tid: u64| {
        found.push((i, tid));
        true
    };
    for (tid, words) in (1..).zip(&going) {
        search.block.extend(words, &[count(words)], &[0]);
        search.tids.push(tid);
        if search.is_full() {
            search.sweep(&mut || (), &mut hit).unwrap();
        }
    }
    search.sweep(&mut || (), &mut hit).unwrap();
    let mut expected = Vec::new();
    for (i, a) in wanted.iter().enumerate().filter(|&(i, _)| is_wanted[i]) {
        for (tid, b) in (1..).zip(&going) {
            let counts = Popcounts {
                a: count(a),
                b: count(b),
                common: intersect_words(a, b),
            };
            if measure.similarity(counts) >= threshold {
                expected.push((i, tid));
            }
        }
    }
    found.sort_unstable();
    let twice = found.windows(2).filter(|two| two[0] == two[1]).count();
    assert!(
        20 * twice <= found.len(),
        "{twice} of {} twice",
        found.len()
    );
    found.dedup();
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
        for memory in [0, 1 << 16, 1 << 22] {
            let by = (Measure::Jaccard, threshold);
            let [found, expected] = pairs((bits, sparse), by, memory);
            assert!(!expected.is_empty());
            assert_eq!(found, expected, "{bits} {sparse} {threshold} {memory}");
        }
    }
}

#[test]
fn it_finds_sampled_bits_as_a_loop_does() {
    for (bits, estimate) in [(64, 0.9), (65, 0.8), (192, 0.85), (512, 0.8), (192, 1.0)] {
        let measure = Measure::Agreement { bits };
        for memory in [0, 1 << 22] {
            let [found, expected] = pairs((bits, 2), (measure, measure.asked(estimate)), memory);
            assert!(!expected.is_empty());
            assert_eq!(found, expected, "{bits} {estimate} {memory}");
        }
    }
}

/// A search for one row of so many bits, all of them set.
fn search_for(popcount: u32, threshold: f64) -> Option<ManySearch> {
    let mut rows = WantedRows::with_room(5, 1).unwrap();
    let mut words = [0; 5];
    for bit in 0..popcount as usize {
        words[bit / 64] |= 1 << (bit % 64);
    }
    rows.push(&words, popcount);
    ManySearch::new(rows, (320, Measure::Jaccard), threshold, 100, 1 << 16).unwrap()
}

#[test]
fn low_thresholds_are_not_worth_while() {
    assert!(search_for(128, 0.5).is_none());
    assert!(search_for(128, 0.0).is_none());
    assert!(search_for(128, 0.85).is_some());
}

#[test]
fn rows_that_are_done_are_searched_for_no_more() {
    let mut search = search_for(64, 0.9).unwrap();
    let words = search.wanted.columns.iter().map(|column| column[0]);
    let words: Vec<u64> = words.collect();
    let mut hits = 0;
    for _ in 0..2 {
        for tid in 1..=30 {
            search.block.extend(&words, &[64], &[0]);
            search.tids.push(tid);
        }
        let mut hit = |_, _| {
            hits += 1;
            hits < 7
        };
        search.sweep(&mut || (), &mut hit).unwrap();
    }
    assert_eq!(hits, 7);
}

#[test]
fn no_more_rows_are_within_reach_than_can_be_similar() {
    assert_eq!(
        search_for(100, 0.8).unwrap().within_reach(),
        Some((80, 125))
    );
    assert_eq!(search_for(1, 0.8).unwrap().within_reach(), Some((1, 1)));
    assert_eq!(search_for(100, f64::NAN).unwrap().within_reach(), None);
}

#[test]
fn steps_are_those_of_all_popcounts() {
    let thresholds = [0.5, 0.62, 2.0 / 3.0, 0.8, 0.85, 0.9, 1.0, f64::NAN];
    let measures = [
        (Measure::Jaccard, 1),
        (Measure::Agreement { bits: 89 }, 0),
        (Measure::Agreement { bits: 64 }, 0),
    ];
    let all = measures.map(|by| thresholds.map(|threshold| (by, threshold)));
    for ((measure, first), threshold) in all.into_iter().flatten() {
        let least = LeastCommon::new(measure, threshold);
        let bits = match measure {
            Measure::Jaccard => 89,
            Measure::Agreement { bits } => bits,
        };
        for own in first..60 {
            for from in 0..70 {
                for to in from..=bits {
                    let differ = |other: u32| Some(own + other - 2 * least.bits(own, other)?);
                    let most = (from..=to).filter_map(differ).max();
                    let expected = most.map_or(0, |most| most + 1);
                    let steps = plan::steps(own, (from, to), least);
                    assert_eq!(
                        u32::from(steps),
                        expected,
                        "{measure:?} {threshold} {own} {from} {to}"
                    );
                }
            }
        }
    }
}

#[test]
fn flips_are_all_values_that_differ_in_few_bits() {
    for width in [1, 2, 3, 13, 32] {
        let mut flips = Vec::new();
        let counts = all_flips(width, &mut flips);
        for (lists, &count) in counts.iter().enumerate() {
            let some = &flips[..usize::from(count)];
            assert!(some.iter().all(|flip| (flip.count_ones() as usize) < lists));
            assert!(some.iter().all(|&flip| u64::from(flip) < 1 << width));
            let expected =
                (0..lists).map(|k| (0..k).fold(1, |c, i| c * (width.max(i) - i) / (i + 1)));
            assert_eq!(some.len(), expected.sum::<usize>(), "{width} {lists}");
            let mut distinct = some.to_vec();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), some.len());
        }
    }
}
