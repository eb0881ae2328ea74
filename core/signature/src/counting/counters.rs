//! Counters of four bits, two a byte. Counter i is in byte i/2, the even ones in the low half.
//!
//! Shifts and masks by hand: `cargo bench -p sigfile counting` compares them with bitvec. The loops over whole filters
//! go byte by byte without a branch, so that the compiler makes vector instructions of them.

use super::FULL;

/// Bytes of so many counters.
pub fn bytes(counters: u32) -> usize {
    counters.div_ceil(2) as usize
}

/// What counter `at` holds.
#[inline]
pub fn get(counters: &[u8], at: u32) -> u8 {
    counters[at as usize / 2] >> (4 * (at % 2)) & 15
}

/// Adds 1, unless the counter is full.
#[inline]
pub fn increment(counters: &mut [u8], at: u32) {
    if get(counters, at) < FULL {
        counters[at as usize / 2] += 1 << (4 * (at % 2));
    }
}

/// Takes 1 away, unless the counter is full. Gives false, and changes nothing, where there is nothing to take.
#[inline]
pub fn decrement(counters: &mut [u8], at: u32) -> bool {
    match get(counters, at) {
        0 => return false,
        FULL => (),
        _ => counters[at as usize / 2] -= 1 << (4 * (at % 2)),
    }
    true
}

/// Adds counter by counter. What is too much for a counter makes it full.
pub fn merge(to: &mut [u8], from: &[u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        let low = (*to & 15) + (from & 15);
        let high = (*to >> 4) + (from >> 4);
        *to = low.min(FULL) | high.min(FULL) << 4;
    }
}

/// How many are full.
pub fn full(counters: &[u8]) -> u32 {
    let in_byte = |byte: &u8| u32::from(byte & 15 == FULL) + u32::from(byte >> 4 == FULL);
    counters.iter().map(in_byte).sum()
}

/// A bit for each counter, bit i in byte i/8 at 2^(i mod 8): whether it holds something.
pub fn to_bits(counters: &[u8], bits: &mut [u8]) {
    for (bits, counters) in bits.iter_mut().zip(counters.chunks(4)) {
        *bits = counters.iter().rev().fold(0, |bits, byte| {
            bits << 2 | u8::from(byte >> 4 > 0) << 1 | u8::from(byte & 15 > 0)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_do_not_touch_their_neighbours() {
        for at in 0..6 {
            let mut counters = [0x55; 3];
            for value in 6..=FULL {
                increment(&mut counters, at);
                assert_eq!(get(&counters, at), value);
            }
            increment(&mut counters, at);
            assert_eq!(get(&counters, at), FULL);
            assert!(decrement(&mut counters, at));
            assert_eq!(get(&counters, at), FULL);
            assert_eq!(full(&counters), 1);
            assert!((0..6).all(|other| other == at || get(&counters, other) == 5));
        }
    }

    #[test]
    fn a_counter_goes_down_to_nothing_and_no_further() {
        for at in 0..4 {
            let mut counters = [0xee; 2];
            for value in (0..14).rev() {
                assert!(decrement(&mut counters, at));
                assert_eq!(get(&counters, at), value);
            }
            assert!(!decrement(&mut counters, at));
            assert!((0..4).all(|other| get(&counters, other) == if other == at { 0 } else { 14 }));
        }
    }

    #[test]
    fn every_pair_of_bytes_merges() {
        for a in 0..=255u8 {
            for b in 0..=255u8 {
                let mut to = [a];
                merge(&mut to, &[b]);
                for at in 0..2 {
                    let sum = get(&[a], at) + get(&[b], at);
                    assert_eq!(get(&to, at), sum.min(15), "{a:02x} {b:02x}");
                }
            }
        }
    }

    #[test]
    fn bits_are_those_of_the_counters() {
        for counters in [
            &[0x10, 0x02, 0xff, 0x00, 0x01][..],
            &[0x01],
            &[0xf0, 0, 0, 0x80],
        ] {
            let mut bits = vec![0xff; counters.len().div_ceil(4)];
            to_bits(counters, &mut bits);
            for at in 0..8 * bits.len() as u32 {
                let counted = at < 2 * counters.len() as u32 && get(counters, at) > 0;
                assert_eq!(bits[at as usize / 8] >> (at % 8) & 1 == 1, counted, "{at}");
            }
        }
    }
}
