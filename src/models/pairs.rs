//! `bloom_model_duplicates` and `bloom_model_linkage`: the pairs that a model takes for matches.

use bloom_ident_core::model::json::read_model;
use bloom_ident_core::model::{FrequentLevels, MatchModel, PlannedSearch, Scorer, Search, Status};
use bloom_ident_core::range::unit;
use bloom_ident_core::{Error, ErrorKind};
use pgrx::{pg_sys, IntoDatum};

use super::assignment::{Assignment, FoundPair};
use super::fields::columns;
use super::fit;
use super::options::ModelOptions;
use super::scores::Scores;
use crate::models::records::identities::Identities;
use crate::models::records::read::{RecordTexts, Table};
use crate::models::records::store::{settle_levels, RowStore, RowStoreBuilder};
use crate::models::search::candidates::{Candidates, Distinct};
use crate::models::search::{equality, scan};
use crate::pairs::records::Records;
use crate::pg::budget::Budget;
use crate::pg::catalog;
use crate::pg::error::{notice, raise, OrRaise};
use crate::pg::function::arguments::Arguments;
use crate::pg::function::rows::ResultRows;
use crate::pg::progress::Progress;
use crate::pg::values::text::readable;
use crate::pg::values::varlena::NewValue;
use crate::pg::{check_for_interrupts, entry};

/// `(rel regclass, key name, model jsonb, min_probability float8, options jsonb)`
#[entry]
fn bloom_model_duplicates(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::of(fcinfo) };
    let records = Records::new(arguments.oid(0), arguments.name(1), Vec::new());
    // SAFETY: the SQL function is declared to return a set of these rows.
    let rows = unsafe { ResultRows::new(fcinfo) };
    let search = ModelSearch {
        model: model(arguments, 2),
        least: probability(arguments, 3),
        one_to_one: false,
        options: options(arguments, 4),
        job: "bloom_model_duplicates",
    };
    search.run(vec![records], rows);
    NewValue(pg_sys::Datum::null())
}

/// `(a_rel regclass, a_key name, b_rel regclass, b_key name, model jsonb, min_probability float8, one_to_one boolean, options jsonb)`
#[entry]
fn bloom_model_linkage(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::of(fcinfo) };
    let side = |i: usize| Records::new(arguments.oid(i), arguments.name(i + 1), Vec::new());
    let relations = vec![side(0), side(2)];
    // SAFETY: the SQL function is declared to return a set of these rows.
    let rows = unsafe { ResultRows::new(fcinfo) };
    let search = ModelSearch {
        model: model(arguments, 4),
        least: probability(arguments, 5),
        one_to_one: arguments.boolean(6),
        options: options(arguments, 7),
        job: "bloom_model_linkage",
    };
    search.run(relations, rows);
    NewValue(pg_sys::Datum::null())
}

/// A model that is an argument.
///
/// Errors: it is none.
pub fn model(arguments: Arguments, i: usize) -> MatchModel {
    read_model(&arguments.jsonb(i)).or_raise()
}

fn probability(arguments: Arguments, i: usize) -> f64 {
    let least = arguments.float8(i);
    unit("min_probability", least).or_raise();
    least
}

/// Options that are an argument.
pub fn options(arguments: Arguments, i: usize) -> ModelOptions {
    let json = arguments.datum(i).map(|_| arguments.jsonb(i));
    ModelOptions::of(json.as_deref())
}

/// What is asked for.
struct ModelSearch {
    model: MatchModel,
    least: f64,
    one_to_one: bool,
    options: ModelOptions,
    job: &'static str,
}

/// Records made ready for a model.
pub struct ModelRecords {
    pub texts: RecordTexts,
    pub store: RowStore,
    pub identities: Identities,
    pub all_pairs: f64,
}

impl ModelRecords {
    /// Reads the fields of the model.
    ///
    /// Errors: as [`RecordTexts::read`]; a field that a relation does not have.
    pub fn read(
        model: &MatchModel,
        relations: Vec<Records>,
        memory: usize,
        job: &'static str,
    ) -> ModelRecords {
        let tables: Vec<Table> = relations
            .into_iter()
            .map(|records| {
                let name = readable(catalog::name(records.oid).to_bytes());
                let columns = columns(
                    records.oid,
                    model.fields.iter().map(|field| field.name.as_str()),
                    &name,
                );
                Table { records, columns }
            })
            .collect();
        let levels = FrequentLevels::new(model);
        let mut builder = RowStoreBuilder::new(model.layout(), memory / 2);
        let mut identities = Identities::new(model.fields.len());
        let (mut of_record, mut bytes) = (vec![0; model.fields.len()], Vec::new());
        let texts = RecordTexts::read(
            &tables,
            job,
            |_, _, _| (),
            |_, values| {
                builder.push(|layout, row| {
                    for (field, value) in values.iter().enumerate() {
                        let value = layout
                            .write(row, field, value.unwrap_or(""), &mut bytes)
                            .or_raise();
                        of_record[field] = value.identity;
                    }
                    settle_levels(layout, &levels, row);
                });
                identities.push(&of_record);
            },
        );
        let n = f64::from(texts.records);
        let all_pairs = match texts.second.map(f64::from) {
            None => n * (n - 1.0) / 2.0,
            Some(second) => second * (n - second),
        };
        ModelRecords {
            texts,
            store: builder.finish(),
            identities,
            all_pairs,
        }
    }
}

impl ModelSearch {
    fn run(&self, relations: Vec<Records>, rows: ResultRows) {
        if !self.may_run(&relations) {
            return;
        }
        let memory = Budget::of_setting().bytes();
        let mut records = ModelRecords::read(&self.model, relations, memory, self.job);
        let n = f64::from(records.store.records);
        let pairs = self.candidates(&mut records, memory);
        let scorer = Scorer::new(&self.model, n, records.all_pairs);
        let mut scores = Scores::new(scorer, memory / 16);
        let mut assignment = self
            .one_to_one
            .then(|| Assignment::new(records.store.records, memory / 8));
        let mut output = Output {
            rows,
            progress: Progress::new(self.job),
            done: 0,
        };
        let most = self.options.most_pairs(n);
        for (pair, _) in pairs {
            output.done += 1;
            if output.done.is_multiple_of(256) {
                check_for_interrupts();
                output.report();
            }
            if output.done as f64 > most {
                too_many(most);
            }
            let compared = records.store.compare(pair);
            let score = scores.of(compared.pattern);
            if score.probability >= self.least {
                let found = FoundPair {
                    a: compared.a,
                    b: compared.b,
                    score,
                };
                match &mut assignment {
                    Some(assignment) => assignment.push(&found),
                    None => output.put(&found, &mut records.texts),
                }
            }
        }
        if let Some(assignment) = assignment {
            assignment.finish(|found| output.put(found, &mut records.texts));
        }
    }

    /// Whether the model is to be used, and finds anything.
    ///
    /// Errors: a model that must not be used.
    fn may_run(&self, relations: &[Records]) -> bool {
        let linkage = relations.len() == 2;
        if linkage != self.model.linkage && !self.options.force {
            let of = |linkage: bool| {
                if linkage {
                    "pairs of two tables"
                } else {
                    "pairs of one table"
                }
            };
            raise(
                &Error::new(
                    ErrorKind::InvalidParameter,
                    format!("match model is for {}, not for {}", of(self.model.linkage), of(linkage)),
                )
                .hint("Fit another one, by bloom_model_fit() for one table and bloom_model_fit_linkage() for two."),
            );
        }
        match self.model.status {
            Status::Converged => true,
            _ if self.options.force && !self.model.classes.is_empty() => true,
            Status::NoneExpected | Status::NoPersonalFields => {
                fit::tell(&self.model);
                false
            }
            status => raise(
                &Error::new(ErrorKind::InvalidParameter, format!("match model has the status {}", status.name()))
                    .detail(fit::detail(&self.model))
                    .hint("Fit it to more records or to other fields, or use it all the same by the option {\"force\": true}."),
            ),
        }
    }

    /// The pairs that the model's searches find.
    fn candidates(&self, records: &mut ModelRecords, memory: usize) -> Distinct {
        let mut candidates = Candidates::new(&records.store, memory / 4, u64::MAX);
        let second = records.texts.second;
        let n = f64::from(records.store.records);
        let most = self.options.most_pairs(n);
        let chosen = equality::chosen(&self.model, n, records.all_pairs, most);
        for (number, planned) in self.model.searches.iter().enumerate() {
            if !chosen[number] {
                continue;
            }
            let mut found = 0u64;
            let mut push = |a: u32, b: u32| {
                candidates.push(a, b, number);
                found += 1;
                if found as f64 > most {
                    too_many(most);
                }
            };
            match &planned.search {
                Search::Scan { least } => {
                    scan::pairs(&mut records.store, second, *least, |a, b, _| push(a, b));
                }
                Search::Equal {
                    fields,
                    most: block,
                } => {
                    let identities = &mut records.identities;
                    equality::pairs(identities, fields, *block, second, memory / 4, push);
                }
            }
        }
        self.tell_left_out(&chosen, n, records.all_pairs, most);
        candidates.finish()
    }

    /// Says which searches are left out, and what is lost by that.
    fn tell_left_out(&self, chosen: &[bool], n: f64, all_pairs: f64, most: f64) {
        let searches = || self.model.searches.iter().zip(chosen);
        let is_scan = |planned: &PlannedSearch| matches!(planned.search, Search::Scan { .. });
        if searches().any(|(planned, &runs)| runs && is_scan(planned)) {
            return;
        }
        let matches = |runs: bool| -> f64 {
            let equal = searches().filter(|s| *s.1 == runs && !is_scan(s.0));
            equal
                .map(|(planned, _)| planned.matches_per_record * n)
                .sum()
        };
        let scanned = searches().find(|s| is_scan(s.0) && scan::is_possible(all_pairs));
        let lost = match scanned {
            Some((planned, _)) => (planned.matches_per_record * n - matches(true)).max(0.0),
            None => matches(false),
        };
        let equal = searches().filter(|s| !is_scan(s.0) && !s.1).count();
        let left_out = equal + usize::from(scanned.is_some());
        if left_out > 0 {
            notice!(
                "{}: {left_out} searches are left out, as they would bring more than {most:.0} pairs; {lost:.0} matches are expected to be lost",
                self.job
            );
        }
    }
}

fn too_many(most: f64) -> ! {
    raise(
        &Error::new(
            ErrorKind::LimitExceeded,
            format!("the searches find more than {most:.0} pairs"),
        )
        .detail("They bring more pairs than the model's records did.")
        .hint("Raise the option pair_limit, or fit the model to these records."),
    )
}

struct Output {
    rows: ResultRows,
    progress: Progress,
    done: u64,
}

impl Output {
    fn report(&mut self) {
        let done = self.done;
        self.progress.report(|| format!("{done} pairs compared"));
    }

    fn put(&mut self, found: &FoundPair, texts: &mut RecordTexts) {
        self.rows.make(|| {
            Some([
                texts.keys.get(found.a.into()),
                texts.keys.get(found.b.into()),
                found.score.probability.into_datum(),
                found.score.bits.into_datum(),
            ])
        });
    }
}
