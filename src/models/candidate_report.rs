//! `bloom_model_candidates` and `bloom_model_candidates_linkage`: what the searches for pairs will find, before the work.

use bloom_ident_core::model::{MatchModel, Search};
use pgrx::{pg_sys, IntoDatum};

use super::pairs::{model, options, ModelRecords};
use crate::models::search::equality;
use crate::pairs::records::Records;
use crate::pg::budget::Budget;
use crate::pg::entry;
use crate::pg::function::arguments::Arguments;
use crate::pg::function::rows::{text_datum, ResultRows};
use crate::pg::values::text::to_database;
use crate::pg::values::varlena::NewValue;

/// `(rel regclass, key name, model jsonb, options jsonb)`
#[entry]
fn bloom_model_candidates(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::of(fcinfo) };
    let records = Records::new(arguments.oid(0), arguments.name(1), Vec::new());
    // SAFETY: the SQL function is declared to return a set of these rows.
    let rows = unsafe { ResultRows::new(fcinfo) };
    report(arguments, 2, vec![records], rows, "bloom_model_candidates")
}

/// `(a_rel regclass, a_key name, b_rel regclass, b_key name, model jsonb, options jsonb)`
#[entry]
fn bloom_model_candidates_linkage(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::of(fcinfo) };
    let side = |i: usize| Records::new(arguments.oid(i), arguments.name(i + 1), Vec::new());
    let relations = vec![side(0), side(2)];
    // SAFETY: the SQL function is declared to return a set of these rows.
    let rows = unsafe { ResultRows::new(fcinfo) };
    report(
        arguments,
        4,
        relations,
        rows,
        "bloom_model_candidates_linkage",
    )
}

fn report(
    arguments: Arguments,
    at: usize,
    relations: Vec<Records>,
    mut rows: ResultRows,
    job: &'static str,
) -> NewValue {
    let (model, options) = (model(arguments, at), options(arguments, at + 1));
    let memory = Budget::of_setting().bytes();
    let mut records = ModelRecords::read(&model, relations, memory, job);
    let n = f64::from(records.store.records);
    let second = records.texts.second;
    let chosen = equality::chosen(&model, n, records.all_pairs, options.most_pairs(n));
    for (planned, is_chosen) in model.searches.iter().zip(chosen) {
        let mut found = equality::Found::default();
        match &planned.search {
            Search::Scan { .. } => found.pairs = records.all_pairs as u64,
            Search::Equal { fields, most } => {
                found = equality::pairs(
                    &mut records.identities,
                    fields,
                    *most,
                    second,
                    memory / 4,
                    |_, _| (),
                );
            }
        }
        let name = to_database(&describe(&model, &planned.search));
        rows.make(|| {
            Some([
                Some(text_datum(&name)),
                (found.pairs as i64).into_datum(),
                (planned.matches_per_record * n).into_datum(),
                planned.recall.into_datum(),
                (found.cut_blocks as i64).into_datum(),
                (found.cut_pairs as i64).into_datum(),
                is_chosen.into_datum(),
            ])
        });
    }
    NewValue(pg_sys::Datum::null())
}

fn describe(model: &MatchModel, search: &Search) -> String {
    match search {
        Search::Scan { least } => {
            format!("all pairs with a mean similarity of 0.{least:02} or more")
        }
        Search::Equal { fields, most } => {
            let names: Vec<&str> = fields
                .iter()
                .map(|&field| model.fields[field].name.as_str())
                .collect();
            format!(
                "equal {}, blocks of {most} records at most",
                names.join(" and ")
            )
        }
    }
}
