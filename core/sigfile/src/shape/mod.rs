//! What an index compares, as a number that all its rows share.

pub mod margin;
pub mod plan;

use base::Error;
use signature::bits::{popcount, to_words};
use signature::filter::typmod::declaration;
use signature::filter::{Shape, View};
use signature::similarity::Measure;
use signature::sketch::{self, BitsView, SketchKind, SketchShape};
use std::fmt;

/// The shape of the rows' signatures, whatever their type is.
///
/// Its tag is a number of sixteen bytes. The low eight of a signature are its first ones: format version, k, which is not
/// 0, and the rest of the shape; the high ones are its id, 0 if it is not keyed. Those of the lowest bits of minima are
/// format version, 0, the number of bits, hash family, and zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowShape {
    /// Signatures, type `bloom`, compared by their Jaccard similarity.
    Filter(Shape),
    /// The lowest bits of minima, type `minhash_bits`, compared by how many agree.
    Bits(SketchShape),
}

impl RowShape {
    /// The shape with this tag, which [`RowShape::check`] may find impossible; 0 stands for no rows.
    #[inline]
    pub fn of_tag(tag: u128) -> RowShape {
        let [version, k, ..] = tag.to_le_bytes();
        match k == 0 && version == sketch::VERSION {
            true => RowShape::of_tag_without_k(tag),
            false => RowShape::Filter(Shape::of_tag(tag)),
        }
    }

    /// The same where k is 0. It stands apart since a search of a signature tree asks for the shape of each key that it
    /// sees.
    fn of_tag_without_k(tag: u128) -> RowShape {
        let [_, _, n @ .., a, b, 0, 0] = (tag as u64).to_le_bytes() else {
            return RowShape::Filter(Shape::of_tag(tag));
        };
        if tag > u128::from(u64::MAX) {
            return RowShape::Filter(Shape::of_tag(tag));
        }
        let (n, family) = (u16::from_le_bytes(n), u16::from_le_bytes([a, b]));
        match SketchShape::new(n.into(), family.into()) {
            Ok(shape) => RowShape::Bits(shape),
            Err(_) => RowShape::Filter(Shape::of_tag(tag)),
        }
    }

    /// The tag of rows that are the lowest bits of minima.
    pub fn tag_of_bits(shape: SketchShape) -> u128 {
        let (n, family) = (shape.n().to_le_bytes(), shape.family().to_le_bytes());
        let bytes = [sketch::VERSION, 0, n[0], n[1], family[0], family[1], 0, 0];
        u64::from_le_bytes(bytes).into()
    }

    /// Bits of a row.
    pub fn bits(self) -> u32 {
        match self {
            RowShape::Filter(shape) => shape.m(),
            RowShape::Bits(shape) => shape.n().into(),
        }
    }

    /// Bytes that hold them.
    pub fn bytes(self) -> usize {
        self.bits().div_ceil(8) as usize
    }

    /// How rows are compared.
    #[inline]
    pub fn measure(self) -> Measure {
        match self {
            RowShape::Filter(_) => Measure::Jaccard,
            RowShape::Bits(_) => Measure::Agreement { bits: self.bits() },
        }
    }

    /// The type of a column that takes rows of this shape only.
    pub fn column_type(self) -> String {
        match self {
            RowShape::Filter(shape) => format!("bloom{}", declaration(shape)),
            RowShape::Bits(shape) => format!("minhash_bits{shape}"),
        }
    }

    /// The error of rows that cannot be compared.
    #[cold]
    pub fn mismatch(new: u128, old: u128) -> Error {
        match (RowShape::of_tag(new), RowShape::of_tag(old)) {
            (RowShape::Bits(new), RowShape::Bits(old)) => {
                SketchShape::mismatch(SketchKind::Bits, new, old)
            }
            _ => Shape::mismatch(Shape::of_tag(new), Shape::of_tag(old)),
        }
    }

    /// Whether a value can have this tag.
    pub fn is_possible(tag: u128) -> bool {
        match RowShape::of_tag(tag) {
            RowShape::Filter(shape) => shape.tag() == tag && shape.check().is_ok(),
            RowShape::Bits(_) => true,
        }
    }
}

impl fmt::Display for RowShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RowShape::Filter(shape) => shape.fmt(f),
            RowShape::Bits(shape) => shape.fmt(f),
        }
    }
}

// The bits of one value, whatever its type is.

/// The bits of a signature, or those of a sketch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowBits<'a> {
    /// That of [`RowShape`].
    pub tag: u128,
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
                false => popcount(payload),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_tell_shapes_apart() {
        for (n, family) in [(1, 0), (192, 0), (192, 7), (1024, 65535)] {
            let shape = SketchShape::new(n, family).unwrap();
            let tag = RowShape::tag_of_bits(shape);
            assert_eq!(RowShape::of_tag(tag), RowShape::Bits(shape));
            assert_eq!(i64::from(RowShape::of_tag(tag).bits()), n);
            assert!(RowShape::is_possible(tag));
        }
        let filter = u64::from_le_bytes([1, 7, 43, 0, 3, 1, 0, 0]).into();
        assert!(matches!(RowShape::of_tag(filter), RowShape::Filter(s) if s.m() == 301));
        assert!(RowShape::is_possible(filter));
        // one segment, which is not taken for an empty mark
        let one = u64::from_le_bytes([1, 1, 43, 0, 3, 1, 0, 0]).into();
        assert_eq!(RowShape::of_tag(one).bits(), 43);
        for wrong in [
            [1, 0, 0, 0, 0, 0, 0, 0],
            [1, 0, 1, 8, 0, 0, 0, 0],
            [2, 0, 9, 0, 0, 0, 0, 0],
            [1, 0, 9, 0, 0, 0, 0, 1],
        ] {
            assert!(
                !RowShape::is_possible(u64::from_le_bytes(wrong).into()),
                "{wrong:?}"
            );
        }
        assert_eq!(RowShape::of_tag(0).bits(), 0);
        // keyed ones are told apart by their ids
        let keyed = Shape::of_records(1024, 7).unwrap().tag();
        assert!(RowShape::is_possible(keyed) && keyed != Shape::of_records(1024, 8).unwrap().tag());
        assert!(
            matches!(RowShape::of_tag(keyed), RowShape::Filter(s) if (s.m(), s.id()) == (1024, 7))
        );
        // an id without its version, and a version without an id
        assert!(!RowShape::is_possible(filter | 1 << 64));
        assert!(!RowShape::is_possible(keyed & u128::from(u64::MAX)));
    }
}
