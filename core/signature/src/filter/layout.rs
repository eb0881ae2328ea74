//! A signature's bytes, its text form, and the checks on what comes from outside.
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 1 | format version: 1, or 2 of keyed signatures |
//! | 1 | 1 | k, segments |
//! | 2 | 2 | p, bits of a segment, little-endian |
//! | 4 | 1 | ngram, symbols of an n-gram; 0 for tokens |
//! | 5 | 1 | rule set of the normaliser, or of tokens |
//! | 6 | 1 | hash family: 0 for n-grams, 1 for tokens, 2 for records and 3 for n-grams or tokens that are keyed |
//! | 7 | 1 | key id |
//! | 8 | 4 | popcount, the number of set bits, little-endian |
//! | 12 | 8 | of version 2: the id, as a big-endian number, which is not 0 |
//! | 12 or 20 | ⌈k·p/8⌉ | the bits, bit i in byte i/8 at 2^(i mod 8); those past k·p are 0 |
//!
//! The first eight bytes are the shape: two signatures compare when these are equal, and the ids. Equal
//! signatures have equal bytes.

use super::shape::Shape;
use crate::bits::{intersect_bits, popcount};
use crate::version::{check_version_to, KEYED, VERSION};
use base::error::shortened;
use base::error::Text;
use base::memory::reserve;
use base::{Error, ErrorKind, Result};
use bitvec::prelude::{BitSlice, Lsb0};
use bitvec::view::BitView;
use std::fmt::Write;

/// Bytes in front of the bits, of version 1.
pub const HEADER: usize = 12;

/// Bytes in front of the bits of a keyed signature.
pub const KEYED_HEADER: usize = HEADER + size_of::<u64>();

/// Bytes in front of the bits of a shape.
#[inline]
pub fn header_of(shape: Shape) -> usize {
    match shape.is_keyed() {
        true => KEYED_HEADER,
        false => HEADER,
    }
}

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
        let (view, rest) = View::split(bytes)?;
        rest.is_empty().then_some(view)
    }

    /// The same of bytes that begin with a signature, and those behind it.
    #[inline]
    pub fn split(bytes: &'a [u8]) -> Option<(View<'a>, &'a [u8])> {
        let header = match bytes.first() {
            Some(&VERSION) => HEADER,
            Some(&KEYED) => KEYED_HEADER,
            _ => return None,
        };
        if bytes.len() < header {
            return None;
        }
        let m = u32::from(bytes[1]) * u32::from(u16::from_le_bytes([bytes[2], bytes[3]]));
        let (bytes, rest) = bytes.split_at_checked(header + m.div_ceil(8) as usize)?;
        Some((View { bytes }, rest))
    }

    /// A view of bytes from anywhere.
    ///
    /// Errors: anything that the table above does not allow.
    pub fn untrusted(bytes: &'a [u8]) -> Result<View<'a>> {
        check_version_to(KEYED, "signature", "signature", bytes, HEADER)?;
        if bytes[0] == KEYED && bytes.len() < KEYED_HEADER {
            let message = format!("signature of {} bytes is too short", bytes.len());
            return Err(
                Error::new(ErrorKind::InvalidBinary, message).detail(format!(
                    "The header of a keyed one alone has {KEYED_HEADER} bytes."
                )),
            );
        }
        let bad = |message: String| Error::new(ErrorKind::InvalidBinary, message);
        let view = View { bytes };
        let raw = view.shape();
        let is_well = raw
            .check()
            .and_then(|()| match (bytes[0] == KEYED) == raw.is_keyed() {
                true => Ok(()),
                false => Err(Error::invalid("id 0 of a keyed signature")),
            });
        is_well.map_err(|e| e.of_kind(ErrorKind::InvalidBinary))?;
        let (length, wanted) = (view.bits().len(), raw.bytes());
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
        match self.bytes[0] {
            VERSION => &self.bytes[HEADER..],
            _ => &self.bytes[KEYED_HEADER..],
        }
    }

    /// The bits one by one, and behind them those that fill the last byte.
    #[inline]
    pub(super) fn positional(&self) -> &'a BitSlice<u8, Lsb0> {
        self.bits().view_bits()
    }

    /// Version, shape and id in one number, equal for signatures that compare.
    #[inline]
    pub fn tag(&self) -> u128 {
        let head = u64::from_le_bytes(self.bytes[..TAG].try_into().expect("eight bytes"));
        match self.bytes[0] {
            VERSION => u128::from(head),
            _ => {
                let id = self.bytes[HEADER..KEYED_HEADER].try_into();
                u128::from(head) | u128::from(u64::from_be_bytes(id.expect("eight bytes"))) << 64
            }
        }
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
        text,
        of: "bloom",
        example: "A signature is written as its shape and its bits in hexadecimal, for example (2,5,3):1f03.",
        hint: "Use bloom_signature() to make a signature of a text.",
    };
    let (shape, hex) = form.read_shape()?;
    let wanted = shape.bytes();
    form.check_digits(shape, hex, 2 * wanted)?;
    out.clear();
    let size = header_of(shape);
    reserve(out, size + wanted)?;
    out.resize(size, 0);
    write_header(shape, 0, out);
    form.read_bytes(hex, |byte| out.push(byte))?;
    let popcount = popcount(&out[size..]);
    out[POPCOUNT].copy_from_slice(&popcount.to_le_bytes());
    form.accept(View::untrusted(out))
}

/// Reads a shape as it stands before the bits.
///
/// Errors: malformed text; no shape.
pub fn parse_shape(text: &str) -> Result<Shape> {
    let form = TextForm {
        text: &format!("{}:", text.trim()),
        of: "bloom",
        example: "A shape is written as segments, bits of a segment and length of n-grams, for example (2,5,3).",
        hint: "Write what stands before the bits of a signature.",
    };
    match form.read_shape()? {
        (shape, "") => Ok(shape),
        _ => Err(form.malformed(form.example)),
    }
}

/// Writes the first [`header_of`] bytes.
pub fn write_header(shape: Shape, popcount: u32, to: &mut [u8]) {
    to[..TAG].copy_from_slice(&shape.to_bytes());
    to[POPCOUNT].copy_from_slice(&popcount.to_le_bytes());
    if shape.is_keyed() {
        to[HEADER..KEYED_HEADER].copy_from_slice(&shape.id().to_be_bytes());
    }
}

// What the text forms of filters have in common: `(k,p,ngram):` and hexadecimal digits behind it.

/// Characters of a text that messages show.
pub(crate) const LONGEST: usize = 60;

/// Appends bytes in hexadecimal.
pub(crate) fn write_hex(bytes: &[u8], out: &mut String) {
    for byte in bytes {
        for nibble in [byte >> 4, byte & 15] {
            out.push(char::from_digit(nibble.into(), 16).expect("a nibble"));
        }
    }
}

/// An id as it is written: sixteen hexadecimal digits, in lower case.
///
/// Errors: another text.
pub fn parse_id(text: &str) -> Result<u64> {
    let digits = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let id = match text.len() == 16 && text.bytes().all(digits) {
        true => u64::from_str_radix(text, 16).ok(),
        false => None,
    };
    id.ok_or_else(|| {
        let text = shortened(text, LONGEST);
        Error::new(
            ErrorKind::InvalidText,
            format!("\"{text}\" is no id of sixteen hexadecimal digits"),
        )
    })
}

/// A text that has a form, or not, and what messages say of that.
pub(crate) struct TextForm<'t> {
    /// The text.
    pub text: &'t str,
    /// Name of the type.
    pub of: &'static str,
    /// A sentence with an example of the form.
    pub example: &'static str,
    /// What to do instead of writing it.
    pub hint: &'static str,
}

impl<'t> TextForm<'t> {
    /// The error of a text that has not this form.
    pub fn malformed(&self, detail: impl Into<Text>) -> Error {
        let (of, text) = (self.of, shortened(self.text, LONGEST));
        let message = format!("invalid input syntax for type {of}: \"{text}\"");
        Error::new(ErrorKind::InvalidText, message).detail(detail)
    }

    /// What stands between the parentheses that a text begins with, and what is behind the colon after them. Blanks
    /// around the text are left out.
    ///
    /// Errors: no parentheses and colon.
    pub fn split(&self) -> Result<(&'t str, &'t str)> {
        let behind = self.text.trim().strip_prefix('(');
        let parts = behind.and_then(|text| text.split_once("):"));
        parts.ok_or_else(|| self.malformed(self.example).hint(self.hint))
    }

    /// A number of decimal digits.
    ///
    /// Errors: it is none.
    pub fn number(&self, digits: &str) -> Result<i64> {
        let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        match digits.parse() {
            Ok(n) if plain => Ok(n),
            _ => Err(self.malformed(format!("\"{}\" is no number.", shortened(digits, LONGEST)))),
        }
    }

    /// The shape that a text begins with, and what is behind its colon.
    ///
    /// Errors: no shape.
    pub fn read_shape(&self) -> Result<(Shape, &'t str)> {
        let (head, digits) = self.split()?;
        let number = |digits: &str| self.number(digits);
        let parts: Vec<&str> = head.splitn(8, ',').map(str::trim).collect();
        let [k, p, ngram, ref rest @ ..] = parts[..] else {
            return Err(self.malformed(self.example));
        };
        let shape = [number(k)?, number(p)?, number(ngram)?];
        let mut variant = [
            ("rules=", 1),
            ("hash=", Shape::family_of(shape[2])),
            ("key=", 0),
        ];
        let mut rest = rest.iter().peekable();
        for (name, value) in &mut variant {
            if let Some(digits) = rest.peek().and_then(|part| part.strip_prefix(*name)) {
                *value = number(digits)?;
                rest.next();
            }
        }
        let mut id = 0;
        if let Some(written) = rest.peek().and_then(|part| part.strip_prefix("id=")) {
            id = parse_id(written).map_err(|e| self.malformed(e.message().to_owned() + "."))?;
            rest.next();
        }
        if rest.next().is_some() {
            return Err(self.malformed(self.example));
        }
        let shape = Shape::written(shape, variant.map(|(_, value)| value), id)?;
        Ok((shape, digits))
    }

    /// Errors: another number of digits than `wanted`.
    pub fn check_digits(&self, shape: Shape, digits: &str, wanted: usize) -> Result<()> {
        if digits.len() == wanted {
            return Ok(());
        }
        let are = digits.chars().count();
        let detail = format!("Shape {shape} takes {wanted} hexadecimal digits, not {are}.");
        Err(self.malformed(detail))
    }

    /// The value of a hexadecimal digit.
    ///
    /// Errors: it is none.
    pub fn digit(&self, digit: char) -> Result<u8> {
        let value = digit.to_digit(16).map(|value| value as u8);
        value.ok_or_else(|| self.malformed(format!("\"{digit}\" is no hexadecimal digit.")))
    }

    /// Calls `each` with the bytes that hexadecimal digits stand for, two a byte.
    ///
    /// Errors: one that is none.
    pub fn read_bytes(&self, digits: &str, mut each: impl FnMut(u8)) -> Result<()> {
        let mut digits = digits.chars();
        while let Some(high) = digits.next() {
            let high = self.digit(high)?;
            let low = digits.next().ok_or_else(|| self.malformed(self.example))?;
            each(high << 4 | self.digit(low)?);
        }
        Ok(())
    }

    /// Errors: what was read is no value after all.
    pub fn accept<V>(&self, value: Result<V>) -> Result<()> {
        let wrong = |e: Error| self.malformed(e.detail_text().unwrap_or(e.message()));
        value.map(|_| ()).map_err(wrong)
    }
}
