//! A model as JSON.

use serde_json::{json, Number, Value};

use super::FORMAT;
use crate::model::doubts::not_known;
use crate::model::mixture::{Dependence, Shares};
use crate::model::values::Reading;
use crate::model::{Class, FieldModel, LeftOut, MatchModel, PlannedSearch, Search};
use base::{Error, Result};
use text::Rules;

/// Whole numbers below this one are written without a decimal point.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A number, written with as many digits as it takes to read the same one.
///
/// Errors: it is infinite or none.
pub(super) fn exact(value: f64) -> Result<Value> {
    if value.fract() == 0.0 && value.abs() < EXACT {
        return Ok((value as i64).into());
    }
    let number = Number::from_f64(value).map(Value::Number);
    number.ok_or_else(|| failed(format!("one of its numbers is {value}")))
}

pub(super) fn numbers(all: &[f64]) -> Result<Value> {
    all.iter().copied().map(exact).collect()
}

fn failed(why: String) -> Error {
    Error::data_exception(format!("match model cannot be stored: {why}"))
}

/// Writes a model.
///
/// Errors: it has no class of matches, or a number that is infinite or none.
pub fn write_model(model: &MatchModel) -> Result<String> {
    let Some((matches, others)) = model.classes.split_first() else {
        return Err(failed("it has no class of matches".into()));
    };
    let name = |k: usize| model.fields[k].name.as_str();
    let fields = model.fields.iter().zip(&matches.shares).map(field);
    let classes = others.iter().map(|class| other(model, class, &name));
    let searches = model.searches.iter().map(|s| search(s, &name));
    let calibration = model.calibration.map(|of| {
        Ok(json!({
            "slope": exact(of.slope)?,
            "shift": exact(of.shift)?,
            "answers": of.answers,
        }))
    });
    let calibration: Option<Value> = calibration.transpose()?;
    let written = json!({
        "bloom_ident_model": FORMAT,
        "library": env!("CARGO_PKG_VERSION"),
        "rules": Rules::FIRST.number(),
        "status": model.status.name(),
        "linkage": model.linkage,
        "records": exact(model.records)?,
        "pairs": exact(model.all_pairs)?,
        "matches_per_record": exact(matches.pairs_per_record)?,
        "duplicates_per_1000": exact(1000.0 * matches.pairs_per_record)?,
        "rounds": model.rounds,
        "fields": fields.collect::<Result<Value>>()?,
        "swap": model.swap.map(|swap| swap.map(name)),
        "together": together(&model.dependence, &name)?,
        "together_in_matches": together(&model.match_dependence, &name)?,
        "classes": classes.collect::<Result<Value>>()?,
        "searches": searches.collect::<Result<Value>>()?,
        "left_out": left_out(&model.left_out),
        "recall": model.recall.map(exact).transpose()?,
        "calibration": calibration,
        "warnings": model.warnings,
        "not_known": not_known(model),
    });
    Ok(written.to_string())
}

/// How fields go together.
pub(super) fn together<'m, const N: usize>(
    dependence: &Dependence<N>,
    name: &impl Fn(usize) -> &'m str,
) -> Result<Value> {
    let edges = dependence.edges.iter().filter(|edge| edge.says_something());
    let edges = edges.map(|edge| {
        let logs: Result<Value> = edge.logs.iter().map(|row| numbers(row)).collect();
        Ok(json!({
            "fields": edge.fields.map(name),
            "information": exact(edge.information)?,
            "logs": logs?,
        }))
    });
    edges.collect()
}

pub(super) fn left_out(columns: &[LeftOut]) -> Value {
    let columns = columns.iter();
    columns
        .map(|column| (column.column.clone(), column.reason.clone()))
        .collect()
}

fn field((field, m): (&FieldModel, &Shares)) -> Result<Value> {
    let frequent = field.frequent.iter();
    let frequent = frequent.map(|(value, share)| Ok((value.clone(), exact(*share)?)));
    let mut written = json!({
        "name": field.name,
        "kind": field.layout.kind().name(),
        "segment": field.layout.segment(),
        "personal": field.personal,
        "filled": exact(field.filled)?,
        "bits": exact(field.information)?,
        "m": numbers(m)?,
        "u": numbers(&field.u)?,
        "rare_level": field.rare_level,
        "frequent": frequent.collect::<Result<Value>>()?,
    });
    if let Some(reading) = field.layout.reading().map(Reading::name) {
        written["reading"] = reading.into();
    }
    Ok(written)
}

fn other<'m>(model: &MatchModel, class: &Class, name: &impl Fn(usize) -> &'m str) -> Result<Value> {
    let fields = 0..class.shares.len();
    let differs = |k: &usize| class.chance >> k & 1 == 1;
    // what differs as in random pairs is not written
    let levels = fields
        .clone()
        .filter(|k| !differs(k) || class.shares[*k] != model.fields[*k].u);
    let levels = levels.map(|k| Ok((name(k), numbers(&class.shares[k])?)));
    let differ = fields.filter(differs);
    Ok(json!({
        "differ": differ.map(name).collect::<Value>(),
        "pairs_per_record": exact(class.pairs_per_record)?,
        "levels": levels.collect::<Result<Value>>()?,
    }))
}

fn search<'m>(search: &PlannedSearch, name: &impl Fn(usize) -> &'m str) -> Result<Value> {
    let names = |fields: &[usize]| fields.iter().map(|&k| name(k)).collect::<Value>();
    let mut written = match &search.search {
        Search::Equal { fields, most } => json!({"equal": names(fields), "most": most}),
        Search::Crosswise { fields, most } => json!({"crosswise": names(fields), "most": most}),
        Search::Similar {
            fields,
            least,
            most,
        } => json!({"similar": names(fields), "least": least, "most": most}),
        Search::Scan { least } => json!({ "scan": least }),
    };
    written["pairs_per_record"] = exact(search.pairs_per_record)?;
    written["matches_per_record"] = exact(search.matches_per_record)?;
    Ok(written)
}
