//! Signing: the minima of a set of tokens.

use std::borrow::Cow;

use super::kernel::{best, Minima, SketchKernel, BLOCK};
use super::lanes::{Lanes, LANES};
use super::shape::SketchShape;
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
            lanes: Lanes::of(shape),
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
