//! `bloom_model_candidates` and `bloom_model_candidates_linkage`: what the searches for pairs will find, before the
//! work.

use linkage::model::Search;
use pgrx::{pg_sys, IntoDatum};

use super::options::ModelOptions;
use super::pair_limit::chosen;
use super::pairs::{check_tables, model, relations};
use crate::models::records::prepared::PreparedRecords;
use crate::models::search::blocks::Found;
use crate::models::search::candidates::Candidates;
use pg::budget::Budget;
use pg::function::arguments::Arguments;
use pg::function::rows::{text_datum, ResultRows};
use pg::progress;
use pg::values::text::to_database;
use pg::values::varlena::NewValue;
use pg::{check_for_interrupts, entry};

/// `(rel regclass, key name, model jsonb, options jsonb) RETURNS TABLE (search text, pairs bigint, matches float8,
/// recall float8, cut_blocks bigint, cut_pairs bigint, runs boolean)`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_model_candidates(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    report(fcinfo, 1, "bloom_model_candidates")
}

/// `(a_rel regclass, a_key name, b_rel regclass, b_key name, model jsonb, options jsonb) RETURNS TABLE (search text,
/// pairs bigint, matches float8, recall float8, cut_blocks bigint, cut_pairs bigint, runs boolean)`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_model_candidates_linkage(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    report(fcinfo, 2, "bloom_model_candidates_linkage")
}

fn report(fcinfo: pg_sys::FunctionCallInfo, sides: usize, job: &'static str) -> NewValue {
    // SAFETY: the SQL functions are declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let (relations, at) = (relations(arguments, sides), 2 * sides);
    // SAFETY: the SQL functions are declared to return a set of these rows.
    let mut rows = unsafe { ResultRows::new(fcinfo) };
    let (model, options) = (model(arguments, at), ModelOptions::given(arguments, at + 1));
    check_tables(&model, &relations, &options);
    let _job = progress::job(job, relations[0].oid);
    let memory = Budget::of_setting().bytes();
    let mut records = PreparedRecords::read(&model, relations, memory, job);
    let there = f64::from(records.store.records);
    let (n, all_pairs) = options.stands_for(there, records.all_pairs, sides);
    let chosen = chosen(&model.searches, n, all_pairs, options.most_pairs(n));
    let searches = model.searches.iter().map(|planned| &planned.search);
    records.read_sketches(&model.fields, searches, |_| true);
    for (planned, is_chosen) in model.searches.iter().zip(chosen) {
        let mut found = Found::default();
        match &planned.search {
            Search::Scan { .. } => found.pairs = records.all_pairs as u64,
            search if search.is_exact() => {
                found = records.search(search, None, memory / 4, |_, _| ());
            }
            search => {
                let mut candidates = Candidates::new(&records.store, memory / 4, u64::MAX);
                let push = |a: u32, b: u32| candidates.push(a, b, 0);
                found = records.search(search, None, memory / 4, push);
                found.pairs = 0;
                for (i, _) in candidates.finish().enumerate() {
                    if i % 256 == 0 {
                        check_for_interrupts();
                    }
                    found.pairs += 1;
                }
            }
        }
        let name = to_database(&model.search_meaning(&planned.search));
        rows.make(|| {
            Some([
                Some(text_datum(&name)),
                (found.pairs as i64).into_datum(),
                (planned.matches_per_record * n).into_datum(),
                None,
                (found.cut_blocks as i64).into_datum(),
                (found.cut_pairs as i64).into_datum(),
                is_chosen.into_datum(),
            ])
        });
    }
    NewValue(pg_sys::Datum::null())
}
