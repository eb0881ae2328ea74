//! Which counters belong to an n-gram or a token: those in the places of its bits in a signature.

use crate::filter::{hash_positions, Hasher, Shape};

/// What finds the counters in a filter of a shape.
#[derive(Clone, Copy)]
pub(super) enum Positions {
    OfNgrams(Hasher),
    OfTokens(Shape),
}

impl Positions {
    pub fn new(shape: Shape) -> Positions {
        match shape.family() {
            Shape::OF_TOKENS => Positions::OfTokens(shape),
            _ => Positions::OfNgrams(Hasher::new(shape)),
        }
    }

    pub fn shape(&self) -> Shape {
        match self {
            Positions::OfNgrams(hasher) => hasher.shape(),
            Positions::OfTokens(shape) => *shape,
        }
    }

    /// Calls `each` with the counters of an n-gram by its index, or of a token by its hash, until it says stop. Gives
    /// whether it never did.
    #[inline]
    pub fn of(&self, hash: u64, each: impl FnMut(u32) -> bool) -> bool {
        match self {
            Positions::OfNgrams(hasher) => hasher.positions(hash, each),
            Positions::OfTokens(shape) => hash_positions(*shape, hash, each),
        }
    }
}
