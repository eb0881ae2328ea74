//! `bloom_report_pairs` and `bloom_report_linkage`: a report of pairs that were found before.

mod entities;
mod values;

use std::collections::HashMap;
use std::ffi::{CStr, CString};

use linkage::clusters::Links;
use linkage::model::json::read_model;
use linkage::model::ReadyModel;
use pgrx::pg_sys;

use super::facts::{names, Facts};
use super::histogram::hundredth;
use super::review::{block, of_signatures, ReviewSubject};
use super::survey::{Known, Survey};
use super::why::Explainer;
use super::{arguments, html, limits, literal, made, name_array, Limits};
use crate::clusters::{Method, PairList, Source};
use crate::models::field_columns;
use crate::pairs::dictionary::KeySides;
use crate::pairs::records::{Records, Relations};
use crate::register::ReadableEntities;
use pg::catalog::{self, quoted};
use pg::error::OrRaise;
use pg::function::arguments::Arguments;
use pg::function::rows::text_datum;
use pg::progress::{self, phases};
use pg::values::text::{readable, to_database};
use pg::values::varlena::NewValue;
use pg::{check_for_interrupts, entry};

/// `(pairs regclass, rel regclass, key name, columns name[], model jsonb, truth regclass, decisions regclass) RETURNS
/// text`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_report_pairs(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let relations = vec![(arguments.oid(1), arguments.name(2))];
    report("bloom_report_pairs", arguments, relations)
}

/// `(pairs regclass, a_rel regclass, a_key name, b_rel regclass, b_key name, columns name[], model jsonb, truth
/// regclass, decisions regclass) RETURNS text`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_report_linkage(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let relations = vec![
        (arguments.oid(1), arguments.name(2)),
        (arguments.oid(3), arguments.name(4)),
    ];
    report("bloom_report_linkage", arguments, relations)
}

/// What a page is about.
enum Content {
    Pairs(Source),
    Entities(ReadableEntities),
}

impl Content {
    /// What a relation has, of records of these relations.
    ///
    /// Errors: neither pairs nor entities; entities of other records, or of such that the caller may not read.
    fn of(oid: pg_sys::Oid, relations: &[(pg_sys::Oid, CString)]) -> Content {
        let (entities, sides) = match relations {
            [(relation, key)] => (entities::entities_in(oid, *relation, key), KeySides::One),
            _ => (None, KeySides::Two),
        };
        let pairs = || Source {
            sides,
            ..Source::of_similar_pairs(oid)
        };
        entities.map_or_else(|| Content::Pairs(pairs()), Content::Entities)
    }

    fn entities(&self) -> Option<&ReadableEntities> {
        match self {
            Content::Pairs(_) => None,
            Content::Entities(entities) => Some(entities),
        }
    }
}

/// The page on pairs of records of these relations. Behind their arguments are the columns, the model, the truth and
/// the decisions.
fn report(
    function: &'static str,
    arguments: Arguments,
    relations: Vec<(pg_sys::Oid, CString)>,
) -> NewValue {
    let _job = progress::job(function, relations[0].0);
    let first = 1 + 2 * relations.len();
    let relation = |i: usize| arguments.datum(i).map(|_| arguments.oid(i));
    let sides = match relations.len() {
        1 => KeySides::One,
        _ => KeySides::Two,
    };
    let pairs = arguments.oid(0);
    let content = Content::of(pairs, &relations);
    let entities = content.entities();
    let given = arguments.datum(first).map(|_| arguments.names(first));
    let given_model = arguments.datum(first + 1).map(|_| {
        let json = arguments.jsonb(first + 1);
        ReadyModel::new(read_model(&json).or_raise())
    });
    let model = match entities {
        None => given_model.as_ref().map(Explainer::of_fit),
        // The probabilities of a register are for so many records.
        Some(entities) => {
            let register = &entities.register;
            let model = given_model.as_ref().unwrap_or(&register.known.ready);
            Some(Explainer::of_records(model, register.records))
        }
    };
    let (truth, given_decisions) = (relation(first + 2), relation(first + 3));
    let decisions = given_decisions.or_else(|| entities?.decisions());
    let true_in = truth.map(|oid| match sides {
        KeySides::One => Source::of_pairs_or_labels(oid),
        KeySides::Two => Source::of_linked_pairs(oid),
    });
    let records = relations
        .into_iter()
        .map(|(oid, key)| Records::new(oid, key, Vec::new()));
    let records: Vec<Records> = records.collect();
    let name = |name: &CStr| readable(name.to_bytes());
    let fields = records.iter().map(|records| {
        model.as_ref().map_or(Vec::new(), |explainer| {
            let names = explainer.model.model().fields.iter();
            let names = names.map(|field| field.name.as_str());
            field_columns(records.oid, names, &name(&catalog::name(records.oid)))
        })
    });
    let fields: Vec<_> = fields.collect();
    let (database, date, server) = made();
    let origin = PairsOrigin {
        function,
        pairs: name(&quoted(pairs)),
        relations: records
            .iter()
            .map(|records| (name(&quoted(records.oid)), name(&records.key.name)))
            .collect(),
        method: match entities {
            Some(entities) => entities.settings().method.clone(),
            None => "centre".to_owned(),
        },
        columns: given.as_deref().map(names),
        has_model: given_model.is_some(),
        truth: truth.map(|oid| name(&quoted(oid))),
        decisions: given_decisions.map(|oid| name(&quoted(oid))),
        database,
        date,
        server,
    };
    let has_columns = given.is_some();
    let mut shown = values::columns(&records, given);
    if entities.is_some() && !has_columns {
        // What the model compares has room on the page in any case.
        shown.sort_by_key(|column| !fields[0].iter().any(|field| field.name == *column));
    }
    let relations = Relations {
        left: &records[0],
        right: records.get(1),
    };
    let known = Known::read(true_in.as_ref(), decisions, relations);
    let limits = limits();
    let mut found = PairFacts {
        facts: match &content {
            Content::Pairs(source) => find(source, &known, &limits),
            Content::Entities(entities) => entities::find(entities, &known, &limits),
        },
        missing: 0,
        model,
        texts: HashMap::new(),
    };
    found.facts.more_columns = shown.len().saturating_sub(limits.columns);
    shown.truncate(limits.columns);
    values::take(&mut found, &records, &shown, &fields);
    found.facts.mark_stale(&known);
    found.facts.drop_empty_columns();
    let of_model = fields.iter().flatten().map(|field| field.name.clone());
    let of_signatures = records.iter().flat_map(|of| of_signatures(of.oid));
    let used: Vec<CString> = match model.is_some() {
        true => of_model.collect(),
        false => of_signatures.collect(),
    };
    let table_of_decisions = decisions.map(|oid| name(&quoted(oid)));
    let subject = ReviewSubject {
        known: &known,
        relations: origin
            .relations
            .iter()
            .map(|(r, k)| (r.as_str(), k.as_str()))
            .collect(),
        used: names(&used),
        lacking: values::lacking(&records, &shown)
            .into_iter()
            .map(|(side, column)| (side, name(column)))
            .collect(),
        model: found.model,
        texts: Some(&found.texts),
        searched: false,
        // A column that only a review queue has.
        asked: catalog::column(pairs, c"alike").is_some(),
        decisions: table_of_decisions.as_deref(),
    };
    let data = block(&found.facts, &subject);
    progress::phase(phases::WRITING_REPORT, None);
    let page = html::pairs_html(&found, &origin, &data);
    NewValue(text_datum(&to_database(&page)))
}

/// Where a report of pairs comes from. Names are as SQL writes them.
pub struct PairsOrigin {
    pub function: &'static str,
    pub pairs: String,
    /// The relations of the records, each with its key: one, or two that are linked.
    pub relations: Vec<(String, String)>,
    pub method: String,
    pub columns: Option<Vec<String>>,
    pub has_model: bool,
    pub truth: Option<String>,
    pub decisions: Option<String>,
    pub database: String,
    pub date: String,
    pub server: String,
}

impl PairsOrigin {
    /// The statement that makes this report. A model is too long to be in it, and stands as a variable of psql.
    pub fn statement(&self) -> String {
        let mut sql = format!("SELECT {}({}", self.function, literal(&self.pairs));
        for (relation, key) in &self.relations {
            sql.push_str(&format!(", {}, {}", literal(relation), literal(key)));
        }
        let text = |text: &Option<String>| text.as_deref().map(literal);
        let given = [
            ("columns", self.columns.as_deref().map(name_array)),
            ("model", self.has_model.then(|| ":'model'".to_owned())),
            ("truth", text(&self.truth)),
            ("decisions", text(&self.decisions)),
        ];
        sql + &arguments(given, ",\n    ") + ");"
    }
}

/// Pairs of this probability are taken for matches.
const CUT: f64 = 0.5;

/// Everything that a report of pairs says.
pub struct PairFacts<'a> {
    pub facts: Facts,
    /// How many records are shown that the relation does not have.
    pub missing: usize,
    pub model: Option<Explainer<'a>>,
    /// The values of the model's fields of the records that are shown, by key.
    pub texts: HashMap<Vec<u8>, Vec<Option<String>>>,
}

/// Reads the pairs. Values of records, and the model, are left out.
///
/// Errors: more than maintenance_work_mem; as reading pairs.
fn find(source: &Source, known: &Known, limits: &Limits) -> Facts {
    let method = Method::Centre;
    let overhead = known.grouping(0.0, method).overhead(known.memory());
    let mut list = PairList::new(overhead.of_report()).of_sides(source.sides);
    list.read(source.similar_rows(), &source.name, 0.0);
    let (pairs, keys) = list.finish();
    let mut least = 1.0f64;
    for pair in &pairs {
        check_for_interrupts();
        least = least.min(pair.similarity);
    }
    let threshold = match source.value {
        "probability" => CUT,
        _ => hundredth(least),
    };
    let searched = hundredth(least.min(threshold));

    progress::phase(phases::MEASURING, None);
    // Links have each pair once.
    let links = Links::new(keys.len() as u32, &pairs, check_for_interrupts).or_raise();
    let mut survey = Survey::new(known, threshold, searched, limits);
    let mut records = 0;
    for i in 0..links.records() {
        records += u64::from(!links.from(i).is_empty());
        for link in links.from(i).iter().take_while(|link| link.to < i) {
            check_for_interrupts();
            let of = [i, link.to];
            survey.take(of.map(|n| keys.key(n)), of, link.similarity);
        }
    }
    drop(links);
    let mut facts = Facts::new(survey, pairs, keys, method, None, limits);
    (facts.measure, facts.sides, facts.rows) = (source.value, source.sides, records);
    facts
}
