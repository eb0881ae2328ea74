//! Signing: the minima of a set of tokens.

use super::kernel::{best, Minima, SketchKernel, BLOCK};
use super::shape::SketchShape;
use crate::split_mix::{split_mix, STEP};
use std::borrow::Cow;
use std::sync::LazyLock;
use text::tokens::token_hash;

/// Hashes that are kept until they are mixed together.
const PENDING: usize = 64;

/// Takes the tokens of a set, one after the other. It needs no memory besides itself, however many there are.
#[derive(Clone, Debug)]
pub struct Signer {
    kernel: SketchKernel,
    lanes: Cow<'static, Lanes>,
    shape: SketchShape,
    empty: bool,
    pending: usize,
    hashes: [u64; PENDING],
    minima: Minima,
}

impl Signer {
    /// One for an empty set, to which tokens are added.
    pub fn new(shape: SketchShape) -> Signer {
        Signer::with_kernel(shape, best())
    }

    /// The same by one of the kernels of this processor.
    pub fn with_kernel(shape: SketchShape, kernel: SketchKernel) -> Signer {
        Signer {
            kernel,
            lanes: Lanes::new(shape),
            shape,
            empty: true,
            pending: 0,
            hashes: [0; PENDING],
            minima: [u32::MAX; LANES],
        }
    }

    /// Adds a token; one that is there already changes nothing.
    #[inline]
    pub fn add(&mut self, token: &str) {
        self.add_hash(token_hash(token.as_bytes()));
    }

    /// Adds a token by its hash.
    #[inline]
    pub fn add_hash(&mut self, hash: u64) {
        self.hashes[self.pending] = hash;
        self.pending += 1;
        if self.pending == PENDING {
            self.mix();
        }
    }

    fn mix(&mut self) {
        let hashes = &self.hashes[..self.pending];
        self.empty &= hashes.is_empty();
        let lanes = self.shape.lanes();
        self.kernel
            .lower(&mut self.minima, &self.lanes, lanes, hashes);
        self.pending = 0;
    }

    /// Forgets all tokens.
    pub fn clear(&mut self) {
        self.empty = true;
        self.pending = 0;
        let lanes = self.shape.lanes().next_multiple_of(BLOCK);
        self.minima[..lanes].fill(u32::MAX);
    }

    /// What the sketch will be compared by.
    pub fn shape(&self) -> SketchShape {
        self.shape
    }

    /// Whether no token was added, and the minima so far: all are 2³² − 1 of an empty set.
    pub fn minima(&mut self) -> (bool, &[u32]) {
        self.mix();
        (self.empty, &self.minima[..self.shape.lanes()])
    }
}

// What tells one way of mixing a token's hash from another: two numbers for each lane, which follow from the hash
// family.

/// Lanes in all, as many as the largest sketch has minima.
pub(super) const LANES: usize = SketchShape::MOST as usize;

/// Two numbers of 32 bits for each lane. Lane i of family f has the halves of output number 1024·f + i, counted from 0,
/// of the generator SplitMix64 seeded by 0.
#[derive(Clone, Debug)]
pub(super) struct Lanes {
    /// The low halves, for the low half of a token's hash.
    pub low: [u32; LANES],
    /// The high halves, for the high half.
    pub high: [u32; LANES],
}

/// Most values are of this family.
static USUAL: LazyLock<Lanes> = LazyLock::new(|| Lanes::made(0, LANES));

impl Lanes {
    /// Those of a shape. What lies behind its minima is any.
    pub(super) fn new(shape: SketchShape) -> Cow<'static, Lanes> {
        match shape.family {
            0 => Cow::Borrowed(&USUAL),
            family => Cow::Owned(Lanes::made(family, shape.lanes())),
        }
    }

    fn made(family: u16, lanes: usize) -> Lanes {
        let mut made = Lanes {
            low: [0; LANES],
            high: [0; LANES],
        };
        let first = LANES as u64 * u64::from(family);
        let halves = made.low.iter_mut().zip(&mut made.high).take(lanes);
        for ((low, high), at) in halves.zip(first..) {
            let number = output(at);
            *low = number as u32;
            *high = (number >> 32) as u32;
        }
        made
    }
}

/// Output number `number` of SplitMix64 seeded by 0.
fn output(number: u64) -> u64 {
    split_mix((number + 1).wrapping_mul(STEP))
}

#[cfg(test)]
mod lanes_tests {
    use super::*;

    /// The first outputs of the reference implementation.
    #[test]
    fn known_values() {
        assert_eq!(output(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(output(1), 0x6e78_9e6a_a1b9_65f4);
        let lanes = Lanes::new(SketchShape::new(2, 0).unwrap());
        assert_eq!((lanes.low[0], lanes.high[1]), (0x7b1d_cdaf, 0x6e78_9e6a));
    }

    #[test]
    fn families_follow_one_another() {
        let lanes = Lanes::new(SketchShape::new(3, 7).unwrap());
        assert_eq!(u64::from(lanes.low[2]), output(7 * 1024 + 2) & 0xffff_ffff);
    }
}
