//! Sorting numbers, with turns for the caller: the standard sort has none, and takes seconds for a hundred million.

use crate::tick::Ticker;

/// Sorts and drops repetitions.
pub(crate) fn sort_distinct<T: Copy + Ord + Into<u64>>(
    values: &mut Vec<T>,
    ticker: &mut Ticker<impl FnMut()>,
) {
    sort(values, ticker);
    values.dedup_by(|a, b| {
        ticker.step();
        a == b
    });
}

pub(crate) fn sort<T: Copy + Ord + Into<u64>>(values: &mut [T], ticker: &mut Ticker<impl FnMut()>) {
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
    const SMALL: usize = 1 << 12;
    if values.len() <= SMALL || bits == 0 {
        values.sort_unstable();
        ticker.turn();
        return;
    }
    let shift = bits.saturating_sub(8);
    let bucket = |value: T| (value.into() >> shift) as usize & 0xff;
    let mut ends = [0; 256];
    for &value in values.iter() {
        ticker.step();
        ends[bucket(value)] += 1;
    }
    for i in 1..256 {
        ends[i] += ends[i - 1];
    }
    let mut next = [0; 256];
    next[1..].copy_from_slice(&ends[..255]);
    let starts = next;
    for i in 0..256 {
        while next[i] < ends[i] {
            ticker.step();
            let home = bucket(values[next[i]]);
            values.swap(next[i], next[home]);
            next[home] += 1;
        }
    }
    for i in 0..256 {
        if ends[i] - starts[i] > 1 {
            sort_bits(&mut values[starts[i]..ends[i]], shift, ticker);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::sort_distinct;
    use crate::tick::Ticker;

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
}
