//! A model as JSON.

use std::collections::BTreeMap;

use serde::ser::Error as _;
use serde::{Serialize, Serializer};

use super::FORMAT;
use crate::model::mixture::{DependentFields, Shares};
use crate::model::values::{Reading, ORDERED};
use crate::model::{Class, FieldModel, MatchModel, PlannedSearch, Search};
use base::{Error, ErrorKind, Result};
use text::RULES;

/// Whole numbers below this one are written without a decimal point.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A number, written with as many digits as it takes to read the same one.
#[derive(Clone, Copy)]
struct Exact(f64);

impl Serialize for Exact {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        match self.0 {
            value if value.fract() == 0.0 && value.abs() < EXACT => to.serialize_i64(value as i64),
            value if value.is_finite() => to.serialize_f64(value),
            value => Err(S::Error::custom(format!("one of its numbers is {value}"))),
        }
    }
}

#[derive(Serialize)]
struct WrittenModel<'m> {
    bloom_ident_model: u64,
    library: &'static str,
    rules: u8,
    status: &'static str,
    linkage: bool,
    records: Exact,
    pairs: Exact,
    matches_per_record: Exact,
    duplicates_per_1000: Exact,
    rounds: usize,
    fields: Vec<WrittenField<'m>>,
    swap: Option<[&'m str; 2]>,
    together: Vec<WrittenEdge<'m>>,
    classes: Vec<WrittenClass<'m>>,
    searches: Vec<WrittenSearch<'m>>,
    left_out: BTreeMap<&'m str, &'m str>,
}

#[derive(Serialize)]
struct WrittenField<'m> {
    name: &'m str,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reading: Option<&'m str>,
    segment: u16,
    personal: bool,
    filled: Exact,
    bits: Exact,
    m: Vec<Exact>,
    u: Vec<Exact>,
    rare_level: u8,
    frequent: BTreeMap<&'m str, Exact>,
}

#[derive(Serialize)]
struct WrittenEdge<'m> {
    fields: [&'m str; 2],
    information: Exact,
    logs: Vec<[Exact; ORDERED]>,
}

#[derive(Serialize)]
struct WrittenClass<'m> {
    differ: Vec<&'m str>,
    pairs_per_record: Exact,
    levels: BTreeMap<&'m str, Vec<Exact>>,
}

#[derive(Serialize)]
struct WrittenSearch<'m> {
    #[serde(flatten)]
    search: WrittenWay<'m>,
    pairs_per_record: Exact,
    matches_per_record: Exact,
    recall: Exact,
}

#[derive(Serialize)]
#[serde(untagged)]
enum WrittenWay<'m> {
    Equal {
        equal: Vec<&'m str>,
        most: u32,
    },
    Similar {
        similar: Vec<&'m str>,
        least: u32,
        most: u32,
    },
    Scan {
        scan: u32,
    },
}

/// Writes a model.
///
/// Errors: it has no class of matches, or a number that is infinite or none.
pub fn write_model(model: &MatchModel) -> Result<String> {
    let failed = |why: String| {
        let message = format!("match model cannot be stored: {why}");
        Error::new(ErrorKind::DataException, message)
    };
    let Some((matches, others)) = model.classes.split_first() else {
        return Err(failed("it has no class of matches".into()));
    };
    let name = |k: usize| model.fields[k].name.as_str();
    let edges = model.dependence.edges.iter();
    let says_something =
        |edge: &&DependentFields| edge.logs.iter().flatten().any(|&log| log != 0.0);
    let left_out = model.left_out.iter();
    let written = WrittenModel {
        bloom_ident_model: FORMAT,
        library: env!("CARGO_PKG_VERSION"),
        rules: RULES,
        status: model.status.name(),
        linkage: model.linkage,
        records: Exact(model.records),
        pairs: Exact(model.all_pairs),
        matches_per_record: Exact(matches.pairs_per_record),
        duplicates_per_1000: Exact(1000.0 * matches.pairs_per_record),
        rounds: model.rounds,
        fields: model
            .fields
            .iter()
            .zip(&matches.shares)
            .map(field)
            .collect(),
        swap: model.swap.map(|swap| swap.map(name)),
        together: edges
            .filter(says_something)
            .map(|edge| WrittenEdge {
                fields: edge.fields.map(name),
                information: Exact(edge.information),
                logs: edge.logs.iter().map(|row| row.map(Exact)).collect(),
            })
            .collect(),
        classes: others.iter().map(|class| other(class, &name)).collect(),
        searches: model.searches.iter().map(|s| search(s, &name)).collect(),
        left_out: left_out
            .map(|column| (column.column.as_str(), column.reason.as_str()))
            .collect(),
    };
    serde_json::to_string(&written).map_err(|error| failed(error.to_string()))
}

fn numbers(shares: &Shares) -> Vec<Exact> {
    shares.iter().copied().map(Exact).collect()
}

fn field<'m>((field, m): (&'m FieldModel, &Shares)) -> WrittenField<'m> {
    let frequent = field.frequent.iter();
    WrittenField {
        name: &field.name,
        kind: field.layout.kind().name(),
        reading: field.layout.reading().map(Reading::name),
        segment: field.layout.segment(),
        personal: field.personal,
        filled: Exact(field.filled),
        bits: Exact(field.information),
        m: numbers(m),
        u: numbers(&field.u),
        rare_level: field.rare_level,
        frequent: frequent
            .map(|(value, share)| (value.as_str(), Exact(*share)))
            .collect(),
    }
}

fn other<'m>(class: &Class, name: &impl Fn(usize) -> &'m str) -> WrittenClass<'m> {
    let differs = |k: &usize| class.chance >> k & 1 == 1;
    let fields = 0..class.shares.len();
    let levels = fields.clone().filter(|k| !differs(k));
    WrittenClass {
        differ: fields.filter(differs).map(name).collect(),
        pairs_per_record: Exact(class.pairs_per_record),
        levels: levels
            .map(|k| (name(k), numbers(&class.shares[k])))
            .collect(),
    }
}

fn search<'m>(search: &PlannedSearch, name: &impl Fn(usize) -> &'m str) -> WrittenSearch<'m> {
    let names = |fields: &[usize]| fields.iter().map(|&k| name(k)).collect();
    WrittenSearch {
        search: match &search.search {
            Search::Equal { fields, most } => WrittenWay::Equal {
                equal: names(fields),
                most: *most,
            },
            Search::Similar {
                fields,
                least,
                most,
            } => WrittenWay::Similar {
                similar: names(fields),
                least: *least,
                most: *most,
            },
            Search::Scan { least } => WrittenWay::Scan { scan: *least },
        },
        pairs_per_record: Exact(search.pairs_per_record),
        matches_per_record: Exact(search.matches_per_record),
        recall: Exact(search.recall),
    }
}
