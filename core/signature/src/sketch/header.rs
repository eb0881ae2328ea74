//! The bytes that both types have in front, and the checks on what comes from outside.
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 1 | format version, 1 |
//! | 1 | 1 | 1 for the sketch of an empty set, else 0 |
//! | 2 | 2 | n, number of minima, little-endian |
//! | 4 | 2 | hash family, little-endian |
//! | 6 | 4·n or ⌈n/8⌉ | the minima, or their lowest bits |
//!
//! Equal sketches have equal bytes.

use super::shape::{SketchKind, SketchShape};
use crate::filter::{write_hex, TextForm};
use crate::version::{check_version, VERSION};
use base::memory::reserve;
use base::{Error, ErrorKind, Result};
use std::cmp::Ordering;
use std::fmt::Write;

/// Bytes in front of minima and bits.
pub const HEADER: usize = 6;

const EMPTY_AT: usize = 1;

/// Writes a header to the first bytes of `to`.
pub(super) fn write_header(shape: SketchShape, empty: bool, to: &mut [u8]) {
    to[0] = VERSION;
    to[EMPTY_AT] = u8::from(empty);
    to[2..4].copy_from_slice(&shape.n.to_le_bytes());
    to[4..HEADER].copy_from_slice(&shape.family.to_le_bytes());
}

/// A sketch of either kind, its length checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SketchView<'a> {
    bytes: &'a [u8],
}

impl<'a> SketchView<'a> {
    /// A view of bytes that a checked path has stored: only what memory safety needs is looked at.
    /// `None` when they are no sketch of this kind and format.
    #[inline]
    pub fn stored(kind: SketchKind, bytes: &'a [u8]) -> Option<SketchView<'a>> {
        if bytes.len() < HEADER || bytes[0] != VERSION {
            return None;
        }
        let view = SketchView { bytes };
        (bytes.len() - HEADER == kind.payload(view.shape())).then_some(view)
    }

    /// A view of bytes that a checked path has stored, of whichever kind. `None` when they are no sketch of this
    /// format.
    #[inline]
    pub fn of_any_kind(bytes: &'a [u8]) -> Option<SketchView<'a>> {
        SketchView::stored(SketchKind::Bits, bytes)
            .or_else(|| SketchView::stored(SketchKind::Minima, bytes))
    }

    /// A view of bytes from anywhere.
    ///
    /// Errors: anything that the table above does not allow.
    pub fn untrusted(kind: SketchKind, bytes: &'a [u8]) -> Result<SketchView<'a>> {
        let name = kind.type_name();
        check_version(name, "value", bytes, HEADER)?;
        let bad = |message: String| Error::new(ErrorKind::InvalidBinary, message);
        let view = SketchView { bytes };
        let raw = view.shape();
        let shape = SketchShape::new(raw.n.into(), raw.family.into())
            .map_err(|e| e.of_kind(ErrorKind::InvalidBinary))?;
        let (length, wanted) = (view.payload().len(), kind.payload(shape));
        if length != wanted {
            return Err(bad(format!(
                "{name} has {length} bytes behind its header, not {wanted}"
            ))
            .detail(format!("It is one of {} minima.", shape.n)));
        }
        if bytes[EMPTY_AT] > 1 {
            return Err(
                bad(format!("mark {} of {name} is unknown", bytes[EMPTY_AT]))
                    .detail("It is 1 for the sketch of an empty set, else 0."),
            );
        }
        view.check_payload(kind)?;
        Ok(view)
    }

    /// Errors: what an empty set cannot have, or no set.
    fn check_payload(&self, kind: SketchKind) -> Result<()> {
        let name = kind.type_name();
        let bad = |message: String| Error::new(ErrorKind::InvalidBinary, message);
        let filler = match kind {
            SketchKind::Minima => u8::MAX,
            SketchKind::Bits => 0,
        };
        if self.is_empty() && self.payload().iter().any(|&byte| byte != filler) {
            return Err(bad(format!("{name} of an empty set is not empty"))
                .detail(format!("All bytes behind its header must be {filler}.")));
        }
        let used = self.shape().lanes() % 8;
        if kind == SketchKind::Bits && used > 0 {
            let last = self.payload().last().copied().unwrap_or_default();
            if last >> used != 0 {
                return Err(bad(format!("padding bits of the {name} are set"))
                    .detail(format!("Bits from {} on must be 0.", self.shape().lanes())));
            }
        }
        Ok(())
    }

    /// All bytes, header included.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The minima or the bits.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        &self.bytes[HEADER..]
    }

    /// What another sketch must have in common to be compared.
    #[inline]
    pub fn shape(&self) -> SketchShape {
        let number = |at: usize| u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]);
        SketchShape {
            n: number(2),
            family: number(4),
        }
    }

    /// Whether it is that of an empty set, which is similar to nothing.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes[EMPTY_AT] != 0
    }

    /// Total order that never fails: by shape, empty sets first, then by the bytes. Equal means equal bytes.
    pub fn order(&self, other: &SketchView<'_>) -> Ordering {
        self.shape()
            .cmp(&other.shape())
            .then_with(|| other.is_empty().cmp(&self.is_empty()))
            .then_with(|| self.payload().cmp(other.payload()))
    }
}

// The text form: the shape, a colon, and the bytes behind the header in hexadecimal, or `empty`.

/// What stands for the bytes of an empty set.
const EMPTY: &str = "empty";

/// Appends the text form.
pub fn write_text(view: &SketchView<'_>, out: &mut String) {
    let _ = write!(out, "{}:", view.shape());
    if view.is_empty() {
        out.push_str(EMPTY);
        return;
    }
    write_hex(view.payload(), out);
}

/// Reads the text form into `out`, which is emptied first. Blanks around it are allowed.
///
/// Errors: malformed text; out of memory.
pub fn parse_text(kind: SketchKind, text: &str, out: &mut Vec<u8>) -> Result<()> {
    let form = TextForm {
        text,
        of: kind.type_name(),
        example: match kind {
            SketchKind::Minima => {
                "A minhash is written as its shape and its bytes in hexadecimal, for example (1):0a1b2c3d, \
                 or as (8):empty."
            }
            SketchKind::Bits => {
                "A minhash_bits is written as its shape and its bytes in hexadecimal, for example (8):1f, \
                 or as (8):empty."
            }
        },
        hint: match kind {
            SketchKind::Minima => "Use minhash() to make one of tokens.",
            SketchKind::Bits => "Use minhash_bits() to make one of tokens.",
        },
    };
    let (head, rest) = form.split()?;
    let number = |digits: &str| form.number(digits.trim());
    let (n, family) = head.split_once(',').unwrap_or((head, "0"));
    let shape = SketchShape::new(number(n)?, number(family)?)?;
    let payload = kind.payload(shape);
    out.clear();
    reserve(out, HEADER + payload)?;
    out.resize(HEADER + payload, 0);
    write_header(shape, rest == EMPTY, out);
    let bytes = &mut out[HEADER..];
    if rest == EMPTY {
        if kind == SketchKind::Minima {
            bytes.fill(u8::MAX);
        }
        return Ok(());
    }
    if rest.len() != 2 * payload {
        let (wanted, are) = (2 * payload, rest.len());
        let detail = format!("{wanted} hexadecimal digits are needed behind {shape}:, not {are}.");
        return Err(form.malformed(detail));
    }
    let mut to = bytes.iter_mut();
    form.read_bytes(rest, |byte| {
        to.next().into_iter().for_each(|to| *to = byte);
    })?;
    form.accept(SketchView::untrusted(kind, out))
}
