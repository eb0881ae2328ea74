//! A counting filter's bytes, its text form, and the checks on what comes from outside.
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 1 | format version, 1 |
//! | 1 | 1 | k, segments |
//! | 2 | 2 | p, counters of a segment, little-endian |
//! | 4 | 1 | ngram, symbols of an n-gram; 0 for tokens |
//! | 5 | 1 | rule set of the normaliser, or of tokens |
//! | 6 | 1 | hash family: 0 for n-grams, 1 for tokens |
//! | 7 | 1 | key id |
//! | 8 | ⌈k·p/2⌉ | the counters of four bits, counter i in byte i/2, the even ones in the low half; behind the last of an odd number 0 |
//!
//! The first eight bytes are the shape, as those of a signature are. Equal counting filters have equal bytes.

use base::memory::reserve;
use std::fmt::Write;

use super::counters;
use crate::filter::typmod::ShapedType;
use crate::filter::{self, Shape, TextForm};
use crate::version::{check_version, VERSION};
use base::{Error, ErrorKind, Result};

/// Bytes in front of the counters: version and shape.
pub const HEADER: usize = size_of::<u64>();

/// What messages call counting filters.
pub const TYPE: ShapedType = ShapedType {
    name: "counting_bloom",
    value: "counting filter",
    of_text: "counting_signature()",
    of_tokens: "counting_signature_of_tokens()",
    has_keyed: false,
};

/// A counting filter's bytes, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountingView<'a> {
    bytes: &'a [u8],
}

impl<'a> CountingView<'a> {
    /// A view of bytes that a checked path has stored: only what memory safety needs is looked at.
    /// `None` when they are no counting filter of this format.
    #[inline]
    pub fn stored(bytes: &'a [u8]) -> Option<CountingView<'a>> {
        let (header, counters) = bytes.split_first_chunk::<HEADER>()?;
        let m = u32::from(header[1]) * u32::from(u16::from_le_bytes([header[2], header[3]]));
        (header[0] == VERSION && counters.len() == counters::bytes(m))
            .then_some(CountingView { bytes })
    }

    /// A view of bytes from anywhere.
    ///
    /// Errors: anything that the table above does not allow.
    pub fn untrusted(bytes: &'a [u8]) -> Result<CountingView<'a>> {
        check_version(TYPE.value, TYPE.value, bytes, HEADER)?;
        let bad = |message: String| Error::new(ErrorKind::InvalidBinary, message);
        let (header, counters) = bytes.split_first_chunk().expect("it has a header");
        let shape = Shape::of_tag(u64::from_le_bytes(*header).into());
        shape
            .check()
            .map_err(|e| e.of_kind(ErrorKind::InvalidBinary))?;
        let (length, wanted) = (counters.len(), counters::bytes(shape.m()));
        if length != wanted {
            let message = format!("counting filter has {length} bytes of counters, not {wanted}");
            let detail = format!("Shape {shape} has {} counters of four bits.", shape.m());
            return Err(bad(message).detail(detail));
        }
        let last = counters.last().map_or(0, |byte| byte >> 4);
        if shape.m() % 2 == 1 && last > 0 {
            let message = "padding bits of the counting filter are set".to_owned();
            let detail = format!("Shape {shape} leaves the last four bits unused; they must be 0.");
            return Err(bad(message).detail(detail));
        }
        Ok(CountingView { bytes })
    }

    /// All bytes, header included.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The counters, two a byte.
    pub(super) fn counters(&self) -> &'a [u8] {
        &self.bytes[HEADER..]
    }

    /// What another counting filter must have in common to be merged with it.
    pub fn shape(&self) -> Shape {
        let tag = self.bytes[..HEADER].try_into().expect("eight bytes");
        Shape::of_tag(u64::from_le_bytes(tag).into())
    }

    /// The counters in order, each from 0 to 15.
    pub fn values(&self) -> impl Iterator<Item = u8> + 'a {
        let counters = self.counters();
        (0..self.shape().m()).map(move |at| counters::get(counters, at))
    }

    /// That the filter counts tokens.
    ///
    /// Errors: it counts n-grams.
    pub fn check_of_tokens(&self) -> Result<()> {
        check_of_tokens(self.shape())
    }

    /// How many counters are full.
    pub fn full(&self) -> u32 {
        counters::full(self.counters())
    }

    /// Sets the bits of a signature of this shape where counters hold something.
    ///
    /// Panics when the signature has another shape.
    pub fn to_signature(&self, signature: &mut filter::Builder<'_>) {
        assert_eq!(signature.shape(), self.shape(), "shape of the signature");
        counters::to_bits(self.counters(), signature.bits());
    }
}

/// The error of two counting filters of different shapes.
#[cold]
pub(super) fn mismatch(a: Shape, b: Shape) -> Error {
    let message = format!("different shapes of counting filters {a} and {b}");
    Error::data_exception(message)
        .detail("Counting filters merge only when segments, segment length, n-gram length and rule set are the same.")
        .hint("Make both by the same function with the same arguments.")
}

/// That a counting filter of this shape counts n-grams.
///
/// Errors: it counts tokens.
pub(super) fn check_of_ngrams(shape: Shape) -> Result<()> {
    if shape.family() != Shape::OF_TOKENS {
        return Ok(());
    }
    let message = format!("counting filter of shape {shape} is one of tokens, not of texts");
    Err(Error::data_exception(message)
        .detail("The n-grams of a text are not among its tokens.")
        .hint("Give tokens as text[]."))
}

/// That a counting filter of this shape counts tokens.
///
/// Errors: it counts n-grams.
pub(super) fn check_of_tokens(shape: Shape) -> Result<()> {
    if shape.family() == Shape::OF_TOKENS {
        return shape.check_of_tokens();
    }
    let message = format!("counting filter of shape {shape} is one of n-grams, not of tokens");
    Err(Error::data_exception(message)
        .detail("It counts the n-grams of texts.")
        .hint("Give a text; counting_signature_of_tokens() makes counting filters of tokens."))
}

/// Appends the text form: the shape, a colon, and a hexadecimal digit for each counter, in order.
pub fn write_text(view: &CountingView<'_>, out: &mut String) {
    let _ = write!(out, "{}:", view.shape());
    let digits = view.values().map(u32::from);
    out.extend(digits.map(|digit| char::from_digit(digit, 16).expect("four bits")));
}

/// Reads the text form into `out`, which is emptied first. Blanks around it are allowed.
///
/// Errors: malformed text; out of memory.
pub fn parse_text(text: &str, out: &mut Vec<u8>) -> Result<()> {
    let form = TextForm {
        text,
        of: TYPE.name,
        example: "A counting filter is written as its shape and a hexadecimal digit for each counter, for example \
            (2,5,3):1020000013.",
        hint: "Use counting_signature() to make a counting filter of a text.",
    };
    let (shape, digits) = form.read_shape()?;
    form.check_digits(shape, digits, shape.m() as usize)?;
    let size = HEADER + counters::bytes(shape.m());
    out.clear();
    reserve(out, size)?;
    out.extend_from_slice(&shape.to_bytes());
    for (at, digit) in digits.chars().enumerate() {
        let value = form.digit(digit)?;
        match out.last_mut() {
            Some(byte) if at % 2 == 1 => *byte |= value << 4,
            _ => out.push(value),
        }
    }
    Ok(())
}
