//! The text form: the shape, a colon, and the bytes behind the header in hexadecimal, or `empty`.

use std::fmt::Write;

use super::header::{write_header, SketchView, HEADER};
use super::shape::{SketchKind, SketchShape};
use crate::filter::{write_hex, LONGEST};
use base::error::shortened;
use base::{Error, ErrorKind, Result};

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
    let name = kind.type_name();
    let bad = |detail: String| {
        let shown = shortened(text, LONGEST);
        let message = format!("invalid input syntax for type {name}: \"{shown}\"");
        Error::new(ErrorKind::InvalidText, message).detail(detail)
    };
    let form = || {
        bad(format!(
            "A {name} is written as its shape and its bytes in hexadecimal, for example {}, or as (8):empty.",
            match kind {
                SketchKind::Minima => "(1):0a1b2c3d",
                SketchKind::Bits => "(8):1f",
            }
        ))
    };
    let (head, rest) = text
        .trim()
        .strip_prefix('(')
        .and_then(|t| t.split_once("):"))
        .ok_or_else(|| form().hint(format!("Use {name}() to make one of tokens.")))?;
    let number = |digits: &str| -> Result<i64> {
        let digits = digits.trim();
        let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        match digits.parse() {
            Ok(n) if plain => Ok(n),
            _ => Err(bad(format!(
                "\"{}\" is no number.",
                shortened(digits, LONGEST)
            ))),
        }
    };
    let (n, family) = head.split_once(',').unwrap_or((head, "0"));
    let shape = SketchShape::new(number(n)?, number(family)?)?;
    let payload = kind.payload(shape);
    out.clear();
    out.try_reserve_exact(HEADER + payload)
        .map_err(|_| Error::out_of_memory(HEADER + payload))?;
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
        return Err(bad(format!(
            "{} hexadecimal digits are needed behind {shape}:, not {}.",
            2 * payload,
            rest.len()
        )));
    }
    let digit = |byte: u8| {
        let value = char::from(byte).to_digit(16);
        value.map(|digit| digit as u8).ok_or_else(|| {
            let no_digit = rest.chars().find(|c| !c.is_ascii_hexdigit());
            let no_digit = no_digit.unwrap_or(char::REPLACEMENT_CHARACTER);
            bad(format!("\"{no_digit}\" is no hexadecimal digit."))
        })
    };
    for (to, [high, low]) in bytes.iter_mut().zip(rest.as_bytes().as_chunks().0) {
        *to = digit(*high)? << 4 | digit(*low)?;
    }
    SketchView::untrusted(kind, out)
        .map(|_| ())
        .map_err(|e| bad(e.detail_text().unwrap_or(e.message()).to_owned()))
}
