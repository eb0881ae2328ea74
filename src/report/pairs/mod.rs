//! `bloom_report_pairs` and `bloom_report_linkage`: a report of pairs that were found before.

mod find;
mod origin;
mod values;

use std::ffi::{CStr, CString};

use linkage::model::json::read_model;
use linkage::model::Explainer;
use pgrx::pg_sys;

pub use self::find::PairFacts;
pub use self::origin::PairsOrigin;
use super::facts::names;
use super::review::{block, of_signatures, ReviewSubject};
use super::survey::Known;
use super::{limits, made, pairs_html};
use crate::clusters::Source;
use crate::models::field_columns;
use crate::pairs::dictionary::KeySides;
use crate::pairs::records::{Records, Relations};
use pg::catalog::{self, quoted};
use pg::entry;
use pg::error::OrRaise;
use pg::function::arguments::Arguments;
use pg::function::rows::text_datum;
use pg::progress::{self, phases};
use pg::values::text::{readable, to_database};
use pg::values::varlena::NewValue;

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
    let mut source = Source::of_similar_pairs(pairs);
    source.sides = sides;
    let given = arguments.datum(first).map(|_| arguments.names(first));
    let model = arguments.datum(first + 1).map(|_| {
        let json = arguments.jsonb(first + 1);
        Explainer::new(read_model(&json).or_raise())
    });
    let (truth, decisions) = (relation(first + 2), relation(first + 3));
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
            let names = explainer.model().fields.iter();
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
        method: "centre",
        columns: given.as_deref().map(names),
        has_model: model.is_some(),
        truth: truth.map(|oid| name(&quoted(oid))),
        decisions: decisions.map(|oid| name(&quoted(oid))),
        database,
        date,
        server,
    };
    let mut shown = values::columns(&records, given);
    let relations = Relations {
        left: &records[0],
        right: records.get(1),
    };
    let known = Known::read(true_in.as_ref(), decisions, relations);
    let limits = limits();
    let mut found = find::find(&source, &known, &limits);
    found.facts.more_columns = shown.len().saturating_sub(limits.columns);
    shown.truncate(limits.columns);
    values::take(&mut found, &records, &shown, &fields);
    found.facts.mark_stale(&known);
    found.facts.drop_empty_columns();
    found.model = model;
    let of_model = fields.iter().flatten().map(|field| field.name.clone());
    let of_signatures = records.iter().flat_map(|of| of_signatures(of.oid));
    let used: Vec<CString> = match origin.has_model {
        true => of_model.collect(),
        false => of_signatures.collect(),
    };
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
        model: found.model.as_ref(),
        texts: Some(&found.texts),
        searched: false,
        total: found.all,
        decisions: origin.decisions.as_deref(),
    };
    let data = block(&found.facts, &subject);
    progress::phase(phases::WRITING_REPORT, None);
    let page = pairs_html::html(&found, &origin, &data);
    NewValue(text_datum(&to_database(&page)))
}
