//! `bloom_report_pairs`: a report of pairs that were found before.

use std::collections::HashMap;
use std::ffi::{CStr, CString};

use bloom_ident_core::clusters::sweep::best;
use bloom_ident_core::clusters::{Links, PairCounts, Sweep};
use bloom_ident_core::model::json::read_model;
use bloom_ident_core::model::Explainer;
use pgrx::pg_sys;

use super::facts::{beginning, columns, take_clusters, Facts, Measured, NearestPairs};
use super::histogram::{hundredth, Histogram};
use super::{literal, made, pairs_html, Edge, Limits, LIMITS};
use crate::clusters::{Clustered, Grouping, Method, PairList, Resolution, Source, Truth};
use crate::models::{field_columns, field_value};
use crate::pairs::dictionary::KeyDictionary;
use crate::pairs::records::{RecordColumn, Records};
use crate::pairs::unique::repeated;
use crate::pg::catalog::{self, quoted};
use crate::pg::check_for_interrupts;
use crate::pg::cursor::Cursor;
use crate::pg::entry;
use crate::pg::error::OrRaise;
use crate::pg::function::arguments::Arguments;
use crate::pg::function::rows::text_datum;
use crate::pg::progress::{self, phases};
use crate::pg::sql::Sql;
use crate::pg::values::text::{readable, to_database, Text};
use crate::pg::values::varlena::NewValue;

/// Pairs of this probability are taken for matches.
const CUT: f64 = 0.5;

/// Rows fetched at a time.
const BATCH: i64 = 200;

/// Where a report of pairs comes from. Names are as SQL writes them.
pub struct PairsOrigin {
    pub pairs: String,
    pub relation: String,
    pub key: String,
    pub method: &'static str,
    columns: Option<Vec<String>>,
    has_model: bool,
    truth: Option<String>,
    pub database: String,
    pub date: String,
    pub server: String,
}

impl PairsOrigin {
    /// The statement that makes this report. A model is too long to be in it, and stands as a variable of psql.
    pub fn statement(&self) -> String {
        let [pairs, relation, key] =
            [&self.pairs, &self.relation, &self.key].map(|text| literal(text));
        let mut sql = format!("SELECT bloom_report_pairs({pairs}, {relation}, {key}");
        if let Some(columns) = &self.columns {
            let names: Vec<String> = columns.iter().map(|name| literal(name)).collect();
            let names = names.join(", ");
            sql.push_str(&format!(",\n    columns => ARRAY[{names}]::name[]"));
        }
        if self.has_model {
            sql.push_str(",\n    model => :'model'");
        }
        if let Some(truth) = &self.truth {
            sql.push_str(&format!(",\n    truth => {}", literal(truth)));
        }
        sql.push_str(");");
        sql
    }
}

/// Everything that a report of pairs says.
pub struct PairFacts {
    pub facts: Facts,
    /// How many pairs there are, each counted once.
    pub all: u64,
    /// How many records are in pairs.
    pub records: u64,
    /// How many records are shown that the relation does not have.
    pub missing: usize,
    pub model: Option<Explainer>,
    /// The values of the model's fields of the records that are shown, by key.
    pub texts: HashMap<Vec<u8>, Vec<Option<String>>>,
}

/// `(pairs regclass, rel regclass, key name, columns name[], model jsonb, truth regclass)`
#[entry]
fn bloom_report_pairs(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::of(fcinfo) };
    let pairs = arguments.oid(0);
    let (relation, key) = (arguments.oid(1), arguments.name(2));
    let source = Source::of_similar_pairs(pairs);
    let given = arguments.datum(3).map(|_| arguments.names(3));
    let model = arguments.datum(4).map(|_| arguments.jsonb(4));
    let model = model.map(|json| Explainer::new(read_model(&json).or_raise()));
    let truth = arguments.datum(5).map(|_| arguments.oid(5));
    let true_in = truth.map(Source::of_pairs_or_labels);
    let records = Records::new(relation, key, Vec::new());
    let name = |name: &CStr| readable(name.to_bytes());
    let fields = model.as_ref().map_or(Vec::new(), |explainer| {
        let names = explainer.model().fields.iter();
        let names = names.map(|field| field.name.as_str());
        field_columns(relation, names, &name(&catalog::name(relation)))
    });
    let (database, date, server) = made();
    let origin = PairsOrigin {
        pairs: name(&quoted(pairs)),
        relation: name(&quoted(relation)),
        key: name(&records.key.name),
        method: "centre",
        columns: given
            .as_ref()
            .map(|given| given.iter().map(|column| name(column)).collect()),
        has_model: model.is_some(),
        truth: truth.map(|oid| name(&quoted(oid))),
        database,
        date,
        server,
    };
    let _job = progress::job("bloom_report_pairs", relation);
    let mut shown = columns(&records, given);
    let mut found = find(&source, true_in.as_ref(), &LIMITS);
    found.facts.more_columns = shown.len().saturating_sub(LIMITS.columns);
    shown.truncate(LIMITS.columns);
    take_values(&mut found, &records, &shown, &fields);
    found.model = model;
    progress::phase(phases::WRITING_REPORT, None);
    let page = pairs_html::html(&found, &origin);
    NewValue(text_datum(&to_database(&page)))
}

/// Reads the pairs. Values of records, and the model, are left out.
///
/// Errors: more than maintenance_work_mem; as reading pairs and the truth.
fn find(source: &Source, true_in: Option<&Source>, limits: &Limits) -> PairFacts {
    let method = Method::Centre;
    let mut keys = KeyDictionary::new();
    let truth = true_in.map(|source| {
        let truth = Truth::new(Resolution::read(source, &mut keys, 0));
        (truth, source.name.clone())
    });
    let held = truth.as_ref().map_or(0, |(truth, _)| truth.memory());
    let mut list = PairList::with(keys, Grouping::new(0.0, method).overhead(held));
    list.read(source.similar_rows(), &source.name, 0.0);
    let (mut pairs, keys) = list.finish();
    let mut least = 1.0f64;
    for pair in &pairs {
        check_for_interrupts();
        least = least.min(pair.similarity);
    }
    let threshold = match source.value {
        "probability" => CUT,
        _ => hundredth(least),
    };
    let floor = hundredth(least.min(threshold));

    progress::phase(phases::MEASURING, None);
    // Links have each pair once.
    let links = Links::new(keys.len() as u32, &pairs, check_for_interrupts).or_raise();
    let mut histogram = Histogram::new(floor);
    let mut sweep = Sweep::grid(100).or_raise();
    let mut counts = PairCounts {
        truth: truth.as_ref().map_or(0, |(truth, _)| truth.pairs()),
        ..PairCounts::default()
    };
    let (mut unknown, mut reached, mut records) = (0, 0, 0);
    let mut sides = [
        NearestPairs::new(Edge::Above, limits.near),
        NearestPairs::new(Edge::Below, limits.near),
    ];
    for i in 0..links.records() {
        records += u64::from(!links.of(i).is_empty());
        for link in links.of(i).iter().take_while(|link| link.to < i) {
            check_for_interrupts();
            let value = link.similarity;
            let above = value >= threshold;
            histogram.add(value);
            reached += u64::from(above);
            let is_true = truth
                .as_ref()
                .and_then(|(truth, _)| truth.knows(i, link.to));
            if let Some(is_true) = is_true {
                sweep.add(value, is_true);
                counts.found += u64::from(above);
                counts.both += u64::from(above && is_true);
            } else {
                unknown += u64::from(truth.is_some());
            }
            sides[usize::from(!above)].offer(value, is_true, || {
                let mut keys = [i, link.to].map(|record| keys.key(record).to_vec());
                keys.sort();
                keys
            });
        }
    }
    let all = links.pairs() as u64;
    drop(links);
    let truth = truth.map(|(truth, name)| {
        let mut steps = sweep.steps(truth.pairs()).or_raise();
        steps.retain(|step| step.threshold >= floor);
        Measured {
            name,
            counts,
            best: best(&steps),
            steps,
            unknown,
        }
    });
    pairs.retain(|pair| pair.similarity >= threshold);
    let clustered = Clustered::new(keys, pairs, &Grouping::new(threshold, method), None);
    let [mut above, below] = sides;
    above.pairs.reverse();
    above.pairs.extend(below.pairs);
    let mut facts = Facts {
        measure: source.value,
        threshold,
        floor,
        rows: records,
        signed: 0,
        pairs: reached,
        histogram,
        sizes: Vec::new(),
        clustered: 0,
        largest: Vec::new(),
        near: above.pairs,
        columns: Vec::new(),
        more_columns: 0,
        values: HashMap::new(),
        truth,
    };
    take_clusters(&mut facts, &clustered, limits);
    PairFacts {
        facts,
        all,
        records,
        missing: 0,
        model: None,
        texts: HashMap::new(),
    }
}

/// Takes the values of the records that are shown, those of `columns` to show them and those of `fields` for the model.
///
/// Errors: two records that are shown have the same key; what the query fails with.
fn take_values(
    found: &mut PairFacts,
    records: &Records,
    columns: &[CString],
    fields: &[RecordColumn],
) {
    let facts = &mut found.facts;
    facts.columns = columns
        .iter()
        .map(|name| readable(name.to_bytes()))
        .collect();
    let of_clusters = facts.largest.iter().flat_map(|cluster| &cluster.records);
    let of_clusters = of_clusters.map(|record| &record.key);
    let near = facts.near.iter().flat_map(|near| &near.keys);
    let mut wanted: Vec<Vec<u8>> = of_clusters.chain(near).cloned().collect();
    wanted.sort();
    wanted.dedup();

    let key = &records.key.name;
    let mut sql = Sql::new("SELECT ").name(key);
    for column in columns {
        sql = sql.text(", ").name(column);
    }
    for field in fields {
        sql = field_value(sql.text(", "), field);
    }
    // Pairs have keys as the output of their type writes them, and so does format.
    let sql = sql
        .text(" FROM ")
        .relation(records.oid)
        .text(" WHERE pg_catalog.format('%s', ")
        .name(key)
        .text(") COLLATE pg_catalog.\"C\" OPERATOR(pg_catalog.=) ANY (ARRAY[")
        .list(&wanted, |sql, key| {
            sql.literal(&CString::new(key.as_slice()).unwrap_or_default())
        })
        .text("]::pg_catalog.text[])");
    progress::phase(phases::READING, None);
    let cursor = Cursor::open(sql, &[], BATCH);
    let mut key_output = cursor.output(0);
    let mut outputs: Vec<_> = (0..columns.len()).map(|i| cursor.output(i + 1)).collect();
    cursor.each(|row| {
        let Some(key) = row.datum(0) else { return };
        let key = key_output.show(key, <[u8]>::to_vec);
        if wanted.binary_search(&key).is_err() {
            return;
        }
        let shown = outputs.iter_mut().enumerate();
        let shown = shown.map(|(i, output)| Some(output.show(row.datum(i + 1)?, beginning)));
        if facts.values.insert(key.clone(), shown.collect()).is_some() {
            repeated(&key, records);
        }
        let texts = (0..fields.len()).map(|i| {
            let datum = row.datum(1 + columns.len() + i)?;
            // SAFETY: the query selects texts, which live as long as the row.
            Some(unsafe { Text::from_raw(datum) }.as_str().to_owned())
        });
        found.texts.insert(key, texts.collect());
    });
    found.missing = wanted.len() - facts.values.len();
}
