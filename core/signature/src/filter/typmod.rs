//! The type modifier `bloom(k,p,q)`, or that of another type with shapes: a column of one shape. With q = 0 it is one
//! of tokens, and that says the hash family.
//!
//! Packed as (k−1) in 6 bits, p in 13, q in 4; negative is none.

use super::shape::Shape;
use base::{Error, Result};

/// The modifier that asks for this shape's k, p and n-gram length.
pub fn pack(shape: Shape) -> i32 {
    i32::from(shape.k() - 1) << 17 | i32::from(shape.p()) << 4 | i32::from(shape.ngram())
}

/// The shape that a modifier asks for; `None` for none.
///
/// Errors: a modifier that no shape has.
pub fn unpack(typmod: i32) -> Result<Option<Shape>> {
    if typmod < 0 {
        return Ok(None);
    }
    let typmod = i64::from(typmod);
    Shape::new((typmod >> 17) + 1, typmod >> 4 & 0x1fff, typmod & 15).map(Some)
}

/// The shape that a declaration asks for, of a type, by what stands between the parentheses behind its name.
///
/// Errors: not three of them; no number; no shape.
pub fn parse(of: &ShapedType, written: &[impl AsRef<str>]) -> Result<Shape> {
    let of = of.name;
    let [k, p, ngram] = written else {
        return Err(Error::invalid(format!(
            "type {of} takes 3 modifiers, not {}",
            written.len()
        ))
        .hint(format!("Write {of}(k,p,q): segments, bits of a segment, n-gram length, as bloom_plan() gives them; \
            n-gram length 0 is for tokens.")));
    };
    let number = |written: &str| {
        let number = written.trim().parse();
        number.map_err(|_| {
            Error::invalid(format!("invalid type modifier \"{written}\" for type {of}"))
        })
    };
    Shape::new(
        number(k.as_ref())?,
        number(p.as_ref())?,
        number(ngram.as_ref())?,
    )
}

/// A modifier as it stands behind the type's name. One that no declaration gives has a form too: it must not keep
/// anybody from looking at its table.
pub fn show(typmod: i32) -> String {
    match unpack(typmod) {
        Ok(shape) => shape.map_or(String::new(), declared),
        Err(_) => format!("({typmod})"),
    }
}

fn declared(shape: Shape) -> String {
    format!("({},{},{})", shape.k(), shape.p(), shape.ngram())
}

/// What a type with shapes calls its values, for messages.
pub struct ShapedType {
    /// Name of the type.
    pub name: &'static str,
    /// What one of its values is called.
    pub value: &'static str,
    /// The function that makes values of texts.
    pub of_text: &'static str,
    /// The function that makes values of tokens.
    pub of_tokens: &'static str,
}

/// Signatures.
pub const BLOOM: ShapedType = ShapedType {
    name: "bloom",
    value: "signature",
    of_text: "bloom_signature()",
    of_tokens: "bloom_signature_of_tokens()",
};

/// Compares a value's shape with the one that a modifier asks for.
///
/// Errors: another one; a modifier that no shape has.
pub fn enforce(of: &ShapedType, typmod: i32, is: Shape) -> Result<()> {
    match unpack(typmod)? {
        Some(wanted) if wanted != is => Err(Error::data_exception(format!("{} has shape {is}, not {wanted}", of.value),
        )
        .detail(format!("The column or cast is declared as {}{}.", of.name, declared(wanted)))
        .hint(match wanted.family() {
            Shape::OF_TOKENS => format!("Give {} other arguments; bloom_plan(max_tokens, 0, fpr) shows the shape \
                that they give.", of.of_tokens),
            _ => format!("Give {} other arguments; bloom_plan(max_chars, ngram, fpr) shows the shape that they \
                give.", of.of_text),
        })),
        _ => Ok(()),
    }
}
