//! The type modifiers `minhash(n)`, `minhash(n,family)`, and the same of `minhash_bits`: a column of one shape.
//!
//! Packed as family in 16 bits, n in 11; negative is none.

use super::shape::{SketchKind, SketchShape};
use base::{Error, Result};

const N_BITS: u32 = 11;

/// The modifier that asks for this shape.
pub fn pack(shape: SketchShape) -> i32 {
    i32::from(shape.family) << N_BITS | i32::from(shape.n)
}

/// The shape that a modifier asks for; `None` for none.
///
/// Errors: a modifier that no shape has.
pub fn unpack(typmod: i32) -> Result<Option<SketchShape>> {
    if typmod < 0 {
        return Ok(None);
    }
    let n = typmod & ((1 << N_BITS) - 1);
    SketchShape::new(n.into(), (typmod >> N_BITS).into()).map(Some)
}

/// The shape that a declaration asks for, by what stands between its parentheses.
///
/// Errors: not one or two of them; no number; no shape.
pub fn parse(kind: SketchKind, written: &[impl AsRef<str>]) -> Result<SketchShape> {
    let name = kind.type_name();
    let number = |written: &str| -> Result<i64> {
        let number = written.trim().parse();
        number.map_err(|_| {
            Error::invalid(format!(
                "invalid type modifier \"{written}\" for type {name}"
            ))
        })
    };
    match written {
        [n] => SketchShape::new(number(n.as_ref())?, 0),
        [n, family] => SketchShape::new(number(n.as_ref())?, number(family.as_ref())?),
        _ => Err(Error::invalid(format!(
            "type {name} takes 1 or 2 modifiers, not {}",
            written.len()
        ))
        .hint(format!(
            "Write {name}(n), or {name}(n,family) for another hash family than 0."
        ))),
    }
}

/// A modifier as it stands behind the type's name. One that no declaration gives has a form too: it must not keep
/// anybody from looking at its table.
pub fn show(typmod: i32) -> String {
    match unpack(typmod) {
        Ok(shape) => shape.map_or(String::new(), |s| s.to_string()),
        Err(_) => format!("({typmod})"),
    }
}

/// Compares a sketch's shape with the one that a modifier asks for.
///
/// Errors: another one; a modifier that no shape has.
pub fn enforce(kind: SketchKind, typmod: i32, is: SketchShape) -> Result<()> {
    let name = kind.type_name();
    match unpack(typmod)? {
        Some(wanted) if wanted != is => Err(Error::data_exception(format!(
            "value is a {name}{is}, not {name}{wanted}"
        ))
        .detail(format!("The column or cast is declared as {name}{wanted}."))
        .hint("Compute it with that n and family.")),
        _ => Ok(()),
    }
}
