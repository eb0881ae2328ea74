//! The bits of one value, whatever its type is.

use super::RowShape;
use signature::bits::to_words;
use signature::filter::View;
use signature::sketch::BitsView;

/// The bits of a signature, or those of a sketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowBits<'a> {
    /// That of [`RowShape`].
    pub tag: u64,
    /// Bit i is in byte i/8 at 2^(i mod 8).
    pub bits: &'a [u8],
    /// Bits that are set, and one more than there are for the empty set of tokens.
    pub popcount: u32,
}

impl<'a> From<View<'a>> for RowBits<'a> {
    fn from(signature: View<'a>) -> RowBits<'a> {
        RowBits {
            tag: signature.tag(),
            bits: signature.bits(),
            popcount: signature.popcount(),
        }
    }
}

impl<'a> From<BitsView<'a>> for RowBits<'a> {
    fn from(bits: BitsView<'a>) -> RowBits<'a> {
        let sketch = bits.sketch();
        let (shape, payload) = (sketch.shape(), sketch.payload());
        RowBits {
            tag: RowShape::tag_of_bits(shape),
            bits: payload,
            popcount: match sketch.is_empty() {
                true => u32::from(shape.n()) + 1,
                false => payload.iter().map(|byte| byte.count_ones()).sum(),
            },
        }
    }
}

impl RowBits<'_> {
    /// What the value is.
    pub fn shape(&self) -> RowShape {
        RowShape::of_tag(self.tag)
    }

    /// Appends the words of the value.
    pub fn append_words(&self, to: &mut Vec<u64>) {
        to_words(self.bits, self.shape().bits().div_ceil(64) as usize, to);
    }
}
