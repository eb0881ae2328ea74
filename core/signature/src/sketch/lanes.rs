//! What tells one way of mixing a token's hash from another: two numbers for each lane, which follow from the hash
//! family.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::shape::SketchShape;
use crate::split_mix::{split_mix, STEP};

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
    pub(super) fn of(shape: SketchShape) -> Cow<'static, Lanes> {
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
mod tests {
    use super::*;

    /// The first outputs of the reference implementation.
    #[test]
    fn known_values() {
        assert_eq!(output(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(output(1), 0x6e78_9e6a_a1b9_65f4);
        let lanes = Lanes::of(SketchShape::new(2, 0).unwrap());
        assert_eq!((lanes.low[0], lanes.high[1]), (0x7b1d_cdaf, 0x6e78_9e6a));
    }

    #[test]
    fn families_follow_one_another() {
        let lanes = Lanes::of(SketchShape::new(3, 7).unwrap());
        assert_eq!(u64::from(lanes.low[2]), output(7 * 1024 + 2) & 0xffff_ffff);
    }
}
