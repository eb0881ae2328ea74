//! The own family of keyed signatures: n-grams of texts in their normal form, as unkeyed signatures have them, or words, each
//! of which sets one bit in each segment, which a keyed hash chooses.
//!
//! A schema of it says no more than `bloom_signature` is told: `{"bloom_ident": 1, "ngram": 3, "max_chars": 30, "fpr": 0.01,
//! "features": ["given", "surname"]}`, and perhaps "rules", a rule set of normal forms other than 1; with n-gram length 0 tokens are words, and `max_chars` is how many there are. All
//! features have the same key, so that names which were swapped are alike, and a name in two members is like one in one.

use base::{Error, Result};
use signature::filter::{plan, plan_tokens, Shape};
use text::Rules;

use crate::compare::Comparison;
use crate::format::{Case, Encoding, Format};
use crate::hash::{HashKind, Strategy};
use crate::json::Member;
use crate::keys::KeyDerivation;
use crate::schema::{Feature, Hashed, Schema, MOST_FEATURES};

/// The member that tells such a schema, and its only value as yet.
pub(crate) const VERSION: &str = "bloom_ident";

/// Reads a schema.
///
/// Errors: another version, or other members; values out of their range.
pub(crate) fn schema(root: &Member<'_>) -> Result<Schema> {
    root.check_members(&[VERSION, "ngram", "max_chars", "fpr", "rules", "features"])?;
    let version = root.need(VERSION)?;
    match version.integer(0, 1 << 20)? {
        1 => (),
        other => return Err(version.unsupported(&format!("version {other}"))),
    }
    let number = |name: &str, default: u64, most: u64| match root.get(name)? {
        Some(member) => member.integer(0, most),
        None => Ok(default),
    };
    let (ngram, most) = (number("ngram", 3, 8)?, number("max_chars", 30, 10_000)?);
    let fpr = match root.get("fpr")? {
        Some(member) => member.number()?.as_f64().unwrap_or(f64::NAN),
        None => 0.01,
    };
    let planned = match ngram {
        0 => plan_tokens(most as i64, fpr),
        _ => plan(most as i64, ngram as i64, fpr),
    };
    let rules = number("rules", 1, 255)?;
    let shape = planned?.shape.with_rules(rules as i64)?;
    if ngram > 0 {
        Rules::of(rules as i64)?;
    } else {
        shape.check_of_tokens()?;
    }
    let features = root.need("features")?;
    let features = features.items()?.map(|feature| {
        let name = feature.text()?.to_owned();
        Ok(Feature {
            name,
            hashed: Some(hashed(shape)?),
        })
    });
    let features = features.collect::<Result<Vec<_>>>()?;
    if features.is_empty() || features.len() > MOST_FEATURES {
        return Err(
            Error::invalid(format!("linkage schema has {} features", features.len()))
                .detail(format!("It has 1 to {MOST_FEATURES}.")),
        );
    }
    Ok(Schema {
        length: shape.m(),
        folds: 0,
        derivation: KeyDerivation::Own,
        features,
        own: Some(shape),
    })
}

/// Errors: a rule set that this version does not have.
fn hashed(shape: Shape) -> Result<Hashed> {
    Ok(Hashed {
        format: Format::Text {
            case: Case::Mixed,
            least: 0,
            most: None,
        },
        encoding: Encoding::Utf8,
        comparison: match shape.ngram() {
            0 => Comparison::Words,
            n => Comparison::NormalNgrams(n, Rules::of(shape.rules().into())?),
        },
        strategy: Strategy::PerToken(shape.k().into()),
        hash: HashKind::Segments(shape.p()),
        missing: None,
    })
}

/// All that decides bits: not which members of a record the texts are in.
pub(crate) fn canonical(shape: Shape) -> String {
    let (k, p, ngram, rules) = (shape.k(), shape.p(), shape.ngram(), shape.rules());
    format!("{VERSION} 1\nsegments {k} {p} ngram {ngram} rules {rules}\n")
}

/// The shape of signatures with an id.
///
/// Errors: balanced ones have too many segments.
pub(crate) fn keyed(shape: Shape, is_balanced: bool, id: u64) -> Result<Shape> {
    let wider = |shape: Shape| {
        let k = 2 * i64::from(shape.k());
        Shape::new(k, shape.p().into(), shape.ngram().into())?.with_rules(shape.rules().into())
    };
    match is_balanced {
        true => wider(shape)?.keyed(id),
        false => shape.keyed(id),
    }
}
