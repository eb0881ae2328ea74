//! Sorting numbers, with turns for the caller: the standard sort has none, and takes seconds for a hundred million.
//!
//! What has few distinct keys is put in order by counting ([`order_by_count`]). The other sorts are by digits: [`sort`]
//! in place, from the highest digit on (P. M. McIlroy, K. Bostic, M. D. McIlroy: Engineering Radix Sort, Computing
//! Systems 6, 1993), [`sort_stably`] with a second buffer, from the lowest on. For a million postings the second
//! takes 14 to 17 ms, where the first takes 26.

use std::cmp::Ordering;

use crate::{memory, Result, Ticker};

/// The numbers below `n` in the order of their keys, those of one key in their own order, and where in it each key
/// begins, for the keys 0 to `greatest` + 1 and one more. `key` gives the key of a number, `greatest` at the most. 4
/// bytes a number, and 4 a key.
///
/// Errors: out of memory.
pub fn order_by_count(
    n: u32,
    greatest: u32,
    key: impl Fn(u32) -> u32,
    turn: impl FnMut(),
) -> Result<(Vec<u32>, Vec<u32>)> {
    let ticker = &mut Ticker::new(turn);
    let (n, keys) = (n as usize, greatest as usize + 3);
    let mut order = memory::filled_in_turns(n, 0, ticker)?;
    let mut first = memory::filled_in_turns(keys, 0u32, ticker)?;
    for i in 0..n as u32 {
        ticker.step();
        first[key(i) as usize + 2] += 1;
    }
    for k in 1..keys {
        first[k] += first[k - 1];
    }
    // where key k begins is at k + 1 as yet, moves on with each number, and so comes to be where k ends
    for i in 0..n as u32 {
        ticker.step();
        let slot = &mut first[key(i) as usize + 1];
        order[*slot as usize] = i;
        *slot += 1;
    }
    Ok((order, first))
}

/// Sorts records of several numbers in place, by the first of them first; `turn` is called now and then.
pub fn sort_records<const N: usize>(records: &mut [[u64; N]], turn: impl FnMut()) {
    sort_from(records, 0, &mut Ticker::new(turn));
}

/// Sorts records that agree in what is before their number `word`.
fn sort_from<const N: usize>(
    records: &mut [[u64; N]],
    word: usize,
    ticker: &mut Ticker<impl FnMut()>,
) {
    if word == N || records.len() < 2 {
        return;
    }
    // digits that all agree in are not looked at
    let first = records[0][word];
    let differ = records.iter().fold(0, |all, record| {
        ticker.step();
        all | (record[word] ^ first)
    });
    sort_records_bits(records, word, 64 - differ.leading_zeros(), ticker);
}

/// The same for records that also agree above the lowest `bits` bits of that number.
fn sort_records_bits<const N: usize>(
    records: &mut [[u64; N]],
    word: usize,
    bits: u32,
    ticker: &mut Ticker<impl FnMut()>,
) {
    if bits == 0 {
        return sort_from(records, word + 1, ticker);
    }
    if records.len() <= SMALL {
        records.sort_unstable();
        ticker.turn();
        return;
    }
    let shift = bits.saturating_sub(8);
    let ends = distribute(records, |record| (record[word] >> shift) as u8, ticker);
    let mut begin = 0;
    for end in ends {
        if end - begin > 1 {
            sort_records_bits(&mut records[begin..end], word, shift, ticker);
        }
        begin = end;
    }
}

/// Puts values in the order of their digits, in place. Returns where each digit ends.
fn distribute<T: Copy>(
    values: &mut [T],
    digit: impl Fn(T) -> u8,
    ticker: &mut Ticker<impl FnMut()>,
) -> [usize; 256] {
    let mut ends = [0; 256];
    for &value in values.iter() {
        ticker.step();
        ends[usize::from(digit(value))] += 1;
    }
    for i in 1..256 {
        ends[i] += ends[i - 1];
    }
    let mut next = [0; 256];
    next[1..].copy_from_slice(&ends[..255]);
    for i in 0..256 {
        while next[i] < ends[i] {
            ticker.step();
            let home = usize::from(digit(values[next[i]]));
            values.swap(next[i], next[home]);
            next[home] += 1;
        }
    }
    ends
}

/// So few values are sorted by the standard sort.
const SMALL: usize = 1 << 12;

/// Sorts as the standard library does, by comparisons; `ticker` steps with each of them.
pub fn sort_by<T>(
    values: &mut [T],
    ticker: &mut Ticker<impl FnMut()>,
    mut compare: impl FnMut(&T, &T) -> Ordering,
) {
    values.sort_unstable_by(|x, y| {
        ticker.step();
        compare(x, y)
    });
}

/// Sorts and drops repetitions.
pub fn sort_distinct<T: Copy + Ord + Into<u64>>(
    values: &mut Vec<T>,
    ticker: &mut Ticker<impl FnMut()>,
) {
    sort(values, ticker);
    values.dedup_by(|a, b| {
        ticker.step();
        a == b
    });
}

/// Sorts in place.
pub fn sort<T: Copy + Ord + Into<u64>>(values: &mut [T], ticker: &mut Ticker<impl FnMut()>) {
    let bits = values.iter().fold(0, |all, &value| {
        ticker.step();
        all | value.into()
    });
    sort_bits(values, 64 - bits.leading_zeros(), ticker);
}

/// Sorts values that agree above their lowest `bits` bits: by eight bits at a time, in place, down to
/// pieces that the standard sort does quickly.
fn sort_bits<T: Copy + Ord + Into<u64>>(
    values: &mut [T],
    bits: u32,
    ticker: &mut Ticker<impl FnMut()>,
) {
    if values.len() <= SMALL || bits == 0 {
        values.sort_unstable();
        ticker.turn();
        return;
    }
    let shift = bits.saturating_sub(8);
    let ends = distribute(values, |value| (value.into() >> shift) as u8, ticker);
    let mut begin = 0;
    for end in ends {
        if end - begin > 1 {
            sort_bits(&mut values[begin..end], shift, ticker);
        }
        begin = end;
    }
}

/// Sorts by the bits `bits` only, and leaves the order of those that agree in them. `spare` has room for as many
/// values.
pub fn sort_stably(
    values: &mut Vec<u64>,
    spare: &mut Vec<u64>,
    bits: std::ops::Range<u32>,
    ticker: &mut Ticker<impl FnMut()>,
) {
    const DIGIT: u32 = 11;
    /// Values between two turns.
    const TURN: usize = 1 << 12;
    for shift in bits.step_by(DIGIT as usize) {
        let digit = |value: u64| (value >> shift & ((1 << DIGIT) - 1)) as usize;
        let mut next = [0usize; 1 << DIGIT];
        for some in values.chunks(TURN) {
            for &value in some {
                next[digit(value)] += 1;
            }
            ticker.turn();
        }
        let mut sum = 0;
        for slot in &mut next {
            sum += std::mem::replace(slot, sum);
        }
        spare.resize(values.len(), 0);
        for some in values.chunks(TURN) {
            for &value in some {
                let slot = &mut next[digit(value)];
                spare[*slot] = value;
                *slot += 1;
            }
            ticker.turn();
        }
        std::mem::swap(values, spare);
    }
}

#[cfg(test)]
mod tests {
    use super::{order_by_count, sort_distinct, sort_records, sort_stably};
    use crate::tick::Ticker;

    #[test]
    fn counting_orders_as_a_stable_sort_does() {
        for greatest in [0, 1, 7, 300] {
            let key = |i: u32| i.wrapping_mul(2_654_435_761) % (greatest + 1);
            let mut expected: Vec<u32> = (0..5000).collect();
            expected.sort_by_key(|&i| key(i));
            let mut turns = 0;
            let (order, first) = order_by_count(5000, greatest, key, || turns += 1).unwrap();
            assert!(order == expected && turns > 4, "{greatest}");
            for k in 0..=greatest + 1 {
                let begins = expected.partition_point(|&i| key(i) < k);
                assert_eq!(first[k as usize] as usize, begins);
            }
        }
        assert!(order_by_count(0, 3, |_| 0, || ()).unwrap().0.is_empty());
    }

    #[test]
    fn equals_keep_their_order() {
        for bits in [0, 1, 11, 12, 32] {
            let upper = |i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 & ((1 << bits) - 1);
            let mut values: Vec<u64> = (0..50_000).map(|i| upper(i) << 32 | i).collect();
            let mut expected = values.clone();
            expected.sort_by_key(|value| value >> 32);
            let mut turns = 0;
            let ticker = &mut Ticker::new(|| turns += 1);
            sort_stably(&mut values, &mut Vec::new(), 32..32 + bits, ticker);
            assert!(values == expected && (turns > 10) == (bits > 0), "{bits}");
        }
    }

    /// Spread out, crowded, and all equal: as the standard sort does it, with turns on the way.
    #[test]
    fn sorts_as_the_standard_does() {
        for spread in [1u64, 3, 300, 70_000, 1 << 40, u64::MAX] {
            let mut state = 1u64;
            let mut values: Vec<u64> = (0..200_000)
                .map(|_| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    state.rotate_right(20) % spread
                })
                .collect();
            let mut expected = values.clone();
            expected.sort_unstable();
            expected.dedup();
            let mut turns = 0;
            sort_distinct(&mut values, &mut Ticker::new(|| turns += 1));
            assert!(values == expected && turns > 10, "{spread}");
        }
    }

    /// Records that differ in all numbers, in some, and in none.
    #[test]
    fn records_are_sorted_by_all_numbers() {
        for spread in [[1u64, 1, 1], [1, 3, 1 << 50], [5, 1, 70_000], [u64::MAX; 3]] {
            let mut state = 1u64;
            let mut number = |spread: u64| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                state.rotate_right(20) % spread
            };
            let mut records: Vec<[u64; 3]> =
                (0..100_000).map(|_| spread.map(&mut number)).collect();
            let mut expected = records.clone();
            expected.sort_unstable();
            let mut turns = 0;
            sort_records(&mut records, || turns += 1);
            assert!(records == expected && turns > 10, "{spread:?}");
        }
    }
}
