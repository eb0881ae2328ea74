//! The type modifier `bloom(k,p,q)`, or that of another type with shapes: a column of one shape. With q = 0 it is one
//! of tokens, and that says the hash family. `bloom(clk,l)` is a column of keyed records of l bits, and
//! `bloom(keyed,k,p,q)` one of keyed n-grams or tokens, of whatever ids: those have more bits than a modifier.
//!
//! A rule set other than 1 stands behind the n-gram length: `bloom(k,p,q,2)`.
//!
//! Packed in 31 bits, negative is none; from the highest on: 1 bit of zero, 3 bits of what it is (0, 1 of records, 2 of
//! keyed n-grams or tokens), 4 bits of the rule set, counted from 0, and 23 bits: (k−1) in 6, p in 13, q in 4, or l.

use super::shape::Shape;
use base::{Error, Result};

/// What a modifier asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declared {
    /// This shape.
    Shape(Shape),
    /// Keyed signatures with the segments and n-grams of this shape.
    Keyed(Shape),
    /// Keyed records of so many bits.
    Records(u16),
}

/// Where it stands what a modifier is, and its bits.
const KIND: u32 = 27;
const KINDS: i32 = 15;
const RECORDS: i32 = 1;
const KEYED: i32 = 2;

/// Where the rule set stands, and its bits: its number less 1.
const RULES: u32 = 23;
const MOST_RULES: u8 = 16;

/// Bits of the shape.
const REST: i32 = (1 << RULES) - 1;

/// The modifier that asks for this.
pub fn pack(declared: Declared) -> i32 {
    let of_shape = |shape: Shape| {
        i32::from(shape.rules() - 1) << RULES
            | i32::from(shape.k() - 1) << 17
            | i32::from(shape.p()) << 4
            | i32::from(shape.ngram())
    };
    match declared {
        Declared::Shape(shape) => of_shape(shape),
        Declared::Keyed(shape) => KEYED << KIND | of_shape(shape),
        Declared::Records(bits) => RECORDS << KIND | i32::from(bits),
    }
}

/// What a modifier asks for; `None` for none.
///
/// Errors: a modifier that no declaration gives.
pub fn unpack(typmod: i32) -> Result<Option<Declared>> {
    if typmod < 0 {
        return Ok(None);
    }
    let (kind, rest) = (typmod >> KIND & KINDS, i64::from(typmod & REST));
    let rules = i64::from(typmod >> RULES & i32::from(MOST_RULES - 1)) + 1;
    let shape = || {
        Shape::new((rest >> 17) + 1, rest >> 4 & 0x1fff, rest & 15)
            .and_then(|shape| shape.with_rules(rules))
    };
    let declared = match kind {
        0 => Declared::Shape(shape()?),
        KEYED => Declared::Keyed(shape()?),
        RECORDS if rules == 1 => Declared::Records(Shape::of_records(rest, ANY)?.p()),
        _ => {
            return Err(Error::invalid(format!("type modifier {typmod} is unknown"))
                .hint("Install the version that made the column."))
        }
    };
    Ok(Some(declared))
}

/// Any id, since a modifier has none.
const ANY: u64 = 1;

/// The shape that a modifier asks for, of unkeyed values; `None` for none.
///
/// Errors: a modifier that no declaration gives; one of keyed signatures, whose ids it does not say.
pub fn shape_of(typmod: i32) -> Result<Option<Shape>> {
    match unpack(typmod)? {
        None => Ok(None),
        Some(Declared::Shape(shape)) => Ok(Some(shape)),
        Some(_) => Err(Error::invalid(format!(
            "type modifier {} is one of keyed signatures",
            show(typmod)
        ))
        .detail("It does not say by what secret and schema they are made.")),
    }
}

/// What a declaration asks for, of a type, by what stands between the parentheses behind its name.
///
/// Errors: another number of parts; no number; no shape.
pub fn parse(of: &ShapedType, written: &[impl AsRef<str>]) -> Result<Declared> {
    let written: Vec<&str> = written.iter().map(|part| part.as_ref().trim()).collect();
    let name = of.name;
    let number = |written: &str| {
        let number = written.parse();
        number.map_err(|_| {
            Error::invalid(format!(
                "invalid type modifier \"{written}\" for type {name}"
            ))
        })
    };
    let shape = |[k, p, ngram]: [&str; 3], rules: &str| {
        let rules = number(rules)?;
        if !(1..=i64::from(MOST_RULES)).contains(&rules) {
            return Err(Error::invalid(format!(
                "rule set {rules} of a type modifier is out of range"
            ))
            .detail(format!(
                "Rule sets of type modifiers go from 1 to {MOST_RULES}."
            )));
        }
        Shape::new(number(k)?, number(p)?, number(ngram)?)?.with_rules(rules)
    };
    match (of.has_keyed, &written[..]) {
        (true, &["keyed", k, p, ngram]) => shape([k, p, ngram], "1").map(Declared::Keyed),
        (true, &["keyed", k, p, ngram, rules]) => shape([k, p, ngram], rules).map(Declared::Keyed),
        (_, &[k, p, ngram]) => shape([k, p, ngram], "1").map(Declared::Shape),
        (_, &[k, p, ngram, rules]) => shape([k, p, ngram], rules).map(Declared::Shape),
        (true, &["clk", bits]) => Ok(Declared::Records(Shape::of_records(number(bits)?, ANY)?.p())),
        _ => Err(Error::invalid(format!(
            "type {name} takes 3 or 4 modifiers, not {}",
            written.len()
        ))
        .hint(format!("Write {name}(k,p,q): segments, bits of a segment, n-gram length, as bloom_plan() gives them; \
            n-gram length 0 is for tokens. A fourth number is a rule set other than 1.{}", if of.has_keyed {
            " Keyed records of l bits are bloom(clk,l), keyed signatures of the own family bloom(keyed,k,p,q)."
        } else {
            ""
        }))),
    }
}

/// A modifier as it stands behind the type's name. One that no declaration gives has a form too: it must not keep
/// anybody from looking at its table.
pub fn show(typmod: i32) -> String {
    match unpack(typmod) {
        Ok(declared) => declared.map_or(String::new(), shown),
        Err(_) => format!("({typmod})"),
    }
}

/// What a column is to be declared as for signatures of a shape.
pub fn declaration(shape: Shape) -> String {
    shown(match shape.family() {
        Shape::OF_RECORDS => Declared::Records(shape.p()),
        Shape::OF_KEYED => Declared::Keyed(shape),
        _ => Declared::Shape(shape),
    })
}

fn shown(declared: Declared) -> String {
    let of = |shape: Shape| match shape.rules() {
        1 => format!("{},{},{}", shape.k(), shape.p(), shape.ngram()),
        rules => format!("{},{},{},{rules}", shape.k(), shape.p(), shape.ngram()),
    };
    match declared {
        Declared::Shape(shape) => format!("({})", of(shape)),
        Declared::Keyed(shape) => format!("(keyed,{})", of(shape)),
        Declared::Records(bits) => format!("(clk,{bits})"),
    }
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
    /// Whether there are keyed ones.
    pub has_keyed: bool,
}

/// Signatures.
pub const BLOOM: ShapedType = ShapedType {
    name: "bloom",
    value: "signature",
    of_text: "bloom_signature()",
    of_tokens: "bloom_signature_of_tokens()",
    has_keyed: true,
};

/// Compares a value's shape with the one that a modifier asks for.
///
/// Errors: another one; a modifier that no shape has.
pub fn enforce(of: &ShapedType, typmod: i32, is: Shape) -> Result<()> {
    let Some(declared) = unpack(typmod)? else {
        return Ok(());
    };
    let parts = |shape: Shape| (shape.k(), shape.p(), shape.ngram(), shape.rules());
    let (is_well, hint) = match declared {
        Declared::Shape(wanted) if wanted.family() == Shape::OF_TOKENS => (
            wanted == is,
            format!("Give {} other arguments; bloom_plan(max_tokens, 0, fpr) shows the shape that they give.", of.of_tokens),
        ),
        Declared::Shape(wanted) => (
            wanted == is,
            format!("Give {} other arguments; bloom_plan(max_chars, ngram, fpr) shows the shape that they give.", of.of_text),
        ),
        Declared::Keyed(wanted) => (
            is.family() == Shape::OF_KEYED && parts(is) == parts(wanted),
            "Give the linkage schema, which is of bloom_ident's own family, other numbers; bloom_plan(max_chars, ngram, fpr) shows \
                the shape that they give."
                .to_owned(),
        ),
        Declared::Records(bits) => (
            is.family() == Shape::OF_RECORDS && is.p() == bits,
            format!("Make records by a schema whose \"l\" is {bits}."),
        ),
    };
    if is_well {
        return Ok(());
    }
    let is_other_kind = match declared {
        Declared::Shape(_) => is.is_keyed(),
        Declared::Keyed(_) => is.family() != Shape::OF_KEYED,
        Declared::Records(_) => is.family() != Shape::OF_RECORDS,
    };
    let is_of_other_rules = match declared {
        Declared::Shape(wanted) => wanted.with_rules(is.rules().into()) == Ok(is),
        _ => false,
    };
    let hint = match (is_other_kind, declared) {
        (true, _) => format!("Such values are of type {}{}.", of.name, declaration(is)),
        (_, Declared::Shape(wanted)) if is_of_other_rules => format!(
            "Give {} rules => {}, or declare the column as {}{}.",
            of.of_text,
            wanted.rules(),
            of.name,
            declaration(is)
        ),
        _ => hint,
    };
    let wanted = shown(declared);
    let written = match declared {
        Declared::Shape(shape) => shape.to_string(),
        _ => wanted.clone(),
    };
    Err(
        Error::data_exception(format!("{} has shape {is}, not {written}", of.value))
            .detail(format!(
                "The column or cast is declared as {}{wanted}.",
                of.name
            ))
            .hint(hint),
    )
}
