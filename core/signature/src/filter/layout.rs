//! A signature's bytes, its text form, and the checks on what comes from outside.
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 1 | format version, 1 |
//! | 1 | 1 | k, segments |
//! | 2 | 2 | p, bits of a segment, little-endian |
//! | 4 | 1 | ngram, symbols of an n-gram; 0 for tokens |
//! | 5 | 1 | rule set of the normaliser, or of tokens |
//! | 6 | 1 | hash family: 0 for n-grams, 1 for tokens |
//! | 7 | 1 | key id |
//! | 8 | 4 | popcount, the number of set bits, little-endian |
//! | 12 | ⌈k·p/8⌉ | the bits, bit i in byte i/8 at 2^(i mod 8); those past k·p are 0 |
//!
//! The first eight bytes are the shape: two signatures compare when these are equal. Equal
//! signatures have equal bytes.

use std::fmt::Write;

use bitvec::prelude::{BitSlice, Lsb0};
use bitvec::view::BitView;

use super::shape::Shape;
use super::text_form::{write_hex, TextForm};
use crate::bits::{intersect_bits, popcount};
use crate::version::{check_version, VERSION};
use base::{Error, ErrorKind, Result};

/// Bytes in front of the bits.
pub const HEADER: usize = 12;

/// Version and shape.
const TAG: usize = size_of::<u64>();

const POPCOUNT: std::ops::Range<usize> = TAG..TAG + size_of::<u32>();

const _: () = assert!(POPCOUNT.end == HEADER);

/// A signature's bytes, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View<'a> {
    bytes: &'a [u8],
}

impl<'a> View<'a> {
    /// A view of bytes that a checked path has stored: only what memory safety needs is looked at.
    /// `None` when they are no signature of this format.
    #[inline]
    pub fn stored(bytes: &'a [u8]) -> Option<View<'a>> {
        if bytes.len() < HEADER || bytes[0] != VERSION {
            return None;
        }
        let view = View { bytes };
        let m = u32::from(bytes[1]) * u32::from(u16::from_le_bytes([bytes[2], bytes[3]]));
        (bytes.len() - HEADER == m.div_ceil(8) as usize).then_some(view)
    }

    /// A view of bytes from anywhere.
    ///
    /// Errors: anything that the table above does not allow.
    pub fn untrusted(bytes: &'a [u8]) -> Result<View<'a>> {
        check_version("signature", "signature", bytes, HEADER)?;
        let bad = |message: String| Error::new(ErrorKind::InvalidBinary, message);
        let view = View { bytes };
        let raw = view.shape();
        raw.check()
            .map_err(|e| e.of_kind(ErrorKind::InvalidBinary))?;
        let (length, wanted) = (bytes.len() - HEADER, raw.bytes());
        if length != wanted {
            return Err(bad(format!(
                "signature has {length} bytes of bits, not {wanted}"
            ))
            .detail(format!("Shape {raw} has {} bits.", raw.m())));
        }
        let padding = &view.positional()[raw.m() as usize..];
        if padding.any() {
            let padding = padding.len();
            return Err(
                bad("padding bits of the signature are set".into()).detail(format!(
                    "Shape {raw} leaves the last {padding} bits unused; they must be 0."
                )),
            );
        }
        let counted = popcount(view.bits());
        if counted != view.popcount() {
            return Err(
                bad(format!("signature's popcount {} is wrong", view.popcount()))
                    .detail(format!("{counted} bits are set.")),
            );
        }
        Ok(view)
    }

    /// All bytes, header included.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The bits, ⌈m/8⌉ bytes.
    #[inline]
    pub fn bits(&self) -> &'a [u8] {
        &self.bytes[HEADER..]
    }

    /// The bits one by one, and behind them those that fill the last byte.
    #[inline]
    pub(super) fn positional(&self) -> &'a BitSlice<u8, Lsb0> {
        self.bits().view_bits()
    }

    /// Version and shape in one number, equal for signatures that compare.
    #[inline]
    pub fn tag(&self) -> u64 {
        u64::from_le_bytes(self.bytes[..TAG].try_into().expect("eight bytes"))
    }

    /// What another signature must have in common to be compared.
    #[inline]
    pub fn shape(&self) -> Shape {
        Shape::of_tag(self.tag())
    }

    /// Set bits.
    #[inline]
    pub fn popcount(&self) -> u32 {
        u32::from_le_bytes(self.bytes[POPCOUNT].try_into().expect("four bytes"))
    }

    /// Share of set bits, in 0…1.
    pub fn fill(&self) -> f64 {
        f64::from(self.popcount()) / f64::from(self.shape().m())
    }

    /// Whether so many bits are set that it is similar to others whatever was signed.
    pub fn is_full(&self) -> bool {
        super::is_full(self.popcount(), self.shape().m())
    }

    /// Bits set in both.
    ///
    /// Errors: different shapes.
    #[inline]
    pub fn common(&self, other: &View<'_>) -> Result<u32> {
        if self.tag() != other.tag() {
            return Err(Shape::mismatch(self.shape(), other.shape()));
        }
        Ok(intersect_bits(self.bits(), other.bits()))
    }

    /// Positions of the set bits, ascending.
    pub fn positions(&self) -> impl Iterator<Item = u32> + 'a {
        let bits = self.positional().iter().by_vals();
        bits.zip(0..).filter_map(|(set, i)| set.then_some(i))
    }

    /// Total order that never fails: by shape, then by the bits. Equal means equal bytes.
    pub fn order(&self, other: &View<'_>) -> std::cmp::Ordering {
        self.shape()
            .cmp(&other.shape())
            .then_with(|| self.bits().cmp(other.bits()))
    }
}

/// Appends the text form: the shape, a colon, and the bits' bytes in hexadecimal.
pub fn write_text(view: &View<'_>, out: &mut String) {
    let _ = write!(out, "{}:", view.shape());
    write_hex(view.bits(), out);
}

/// Reads the text form into `out`, which is emptied first. Blanks around it are allowed.
///
/// Errors: malformed text; out of memory.
pub fn parse_text(text: &str, out: &mut Vec<u8>) -> Result<()> {
    let form = TextForm {
        of: "bloom",
        example: "A signature is written as its shape and its bits in hexadecimal, for example (2,5,3):1f03.",
        hint: "Use bloom_signature() to make a signature of a text.",
    };
    let (shape, hex) = form.read_shape(text)?;
    let bad = |detail: String| form.malformed(text, detail);
    let wanted = shape.bytes();
    form.check_digits(text, shape, hex, 2 * wanted)?;
    out.clear();
    out.try_reserve(HEADER + wanted)
        .map_err(|_| Error::out_of_memory(HEADER + wanted))?;
    write_header(out, shape, 0);
    let mut digits = hex.chars().map(|c| form.digit(text, c));
    while let Some(high) = digits.next() {
        let low = digits.next().ok_or_else(|| bad(form.example.into()))?;
        out.push(high? << 4 | low?);
    }
    let popcount = popcount(&out[HEADER..]);
    out[POPCOUNT].copy_from_slice(&popcount.to_le_bytes());
    View::untrusted(out)
        .map(|_| ())
        .map_err(|e| bad(e.detail_text().unwrap_or(e.message()).to_owned()))
}

/// Appends a header to `out`.
pub(super) fn write_header(out: &mut Vec<u8>, shape: Shape, popcount: u32) {
    out.extend_from_slice(&header(shape, popcount));
}

/// The first [`HEADER`] bytes.
pub(super) fn header(shape: Shape, popcount: u32) -> [u8; HEADER] {
    let [p0, p1] = shape.p.to_le_bytes();
    let [c0, c1, c2, c3] = popcount.to_le_bytes();
    [
        VERSION,
        shape.k,
        p0,
        p1,
        shape.ngram,
        shape.rules,
        shape.family,
        shape.key,
        c0,
        c1,
        c2,
        c3,
    ]
}
