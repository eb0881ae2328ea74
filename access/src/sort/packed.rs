//! A row's tid and popcount in one word, where rows wait to be sorted.

use sigfile::{Geometry, SignatureRow};

use crate::page::PAGE_WORDS;

/// Bits of a tid: 32 for the block, 16 for the offset.
const TID_BITS: u32 = 48;

// The popcount stands above the tid. The greatest is that of a row without a signature, one more than there are bits.
const _: () = assert!(
    Geometry::most_bits(PAGE_WORDS) + 1 < 1 << (u64::BITS - TID_BITS),
    "a popcount must fit 16 bits"
);

/// The word of a tid and a popcount.
pub const fn join_tid(tid: u64, popcount: u32) -> u64 {
    tid | (popcount as u64) << TID_BITS
}

/// The tid and the popcount of a word.
pub const fn split_tid(word: u64) -> (u64, u32) {
    (word & ((1 << TID_BITS) - 1), (word >> TID_BITS) as u32)
}

/// Words of a row: its bits, then what [`pack`] makes, without the key where rows have none.
pub const fn width(geometry: &Geometry) -> usize {
    geometry.stride + 2 + geometry.keys as usize
}

/// What follows the bits of a row: its threshold, then tid and popcount, then its key.
pub fn pack(row: SignatureRow<'_>) -> [u64; 3] {
    let tid = join_tid(row.tid, row.popcount);
    [row.threshold.to_bits(), tid, row.key.into()]
}

/// The row of [`width`] words.
pub fn unpack<'a>(geometry: &Geometry, words: &'a [u64]) -> SignatureRow<'a> {
    let stride = geometry.stride;
    let (tid, popcount) = split_tid(words[stride + 1]);
    SignatureRow {
        words: &words[..stride],
        threshold: f64::from_bits(words[stride]),
        key: words.get(stride + 2).map_or(0, |&key| key as u32),
        tid,
        popcount,
    }
}
