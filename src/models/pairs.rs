//! `bloom_model_duplicates` and `bloom_model_linkage`: the pairs that a model takes for matches.

use std::collections::HashMap;

use bloom_ident_core::model::json::read_model;
use bloom_ident_core::model::{MatchModel, Pattern, PlannedSearch, Score, Scorer, Search, Status};
use bloom_ident_core::range::counted;
use bloom_ident_core::{Error, ErrorKind};
use pgrx::{pg_sys, IntoDatum};

use super::fit;
use super::model_records::ModelRecords;
use super::options::{min_probability, ModelOptions};
use crate::models::records::read::RecordTexts;
use crate::models::search::candidates::{Candidates, Distinct};
use crate::models::search::{equality, scan, similar};
use crate::pairs::records::Records;
use crate::pg::budget::{push, Budget};
use crate::pg::error::{notice, raise, OrRaise};
use crate::pg::function::arguments::Arguments;
use crate::pg::function::rows::ResultRows;
use crate::pg::progress::Progress;
use crate::pg::values::varlena::NewValue;
use crate::pg::{check_for_interrupts, entry};

/// Patterns whose scores are remembered.
const REMEMBERED: usize = 1 << 20;

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
        least: min_probability(arguments, 3),
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
        least: min_probability(arguments, 5),
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

impl ModelSearch {
    fn run(&self, relations: Vec<Records>, rows: ResultRows) {
        if !self.may_run(&relations) {
            return;
        }
        let memory = Budget::of_setting().bytes();
        let mut records = ModelRecords::read(&self.model, relations, memory, self.job);
        let n = f64::from(records.store.records);
        let pairs = self.candidates(&mut records, memory);
        let mut scores = Scores {
            scorer: Scorer::new(&self.model, n, records.all_pairs),
            known: HashMap::new(),
        };
        let mut output = Output {
            rows,
            found: Vec::new(),
            progress: Progress::new(self.job),
            done: 0,
        };
        let most = self.options.most_pairs(n);
        for (i, (pair, found)) in pairs.enumerate() {
            if i % 256 == 0 {
                check_for_interrupts();
                output.report();
            }
            let compared = records.store.compare(pair);
            if !self.takes(compared.pattern, found) {
                continue;
            }
            output.done += 1;
            if output.done as f64 > most {
                too_many(most);
            }
            let score = scores.of(compared.pattern);
            if score.probability >= self.least {
                let found = FoundPair {
                    a: compared.a,
                    b: compared.b,
                    score,
                };
                match self.one_to_one {
                    true => push(&mut output.found, found),
                    false => output.put(&found, &mut records.texts),
                }
            }
        }
        if self.one_to_one {
            output.assign(&mut records.texts);
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
                &Error::new(
                    ErrorKind::InvalidParameter,
                    format!("match model has the status {}", status.name()),
                )
                .detail(fit::detail(&self.model))
                .hint(fit::OTHER_DATA),
            ),
        }
    }

    /// Whether a pair is one that a search is for that has come across it.
    fn takes(&self, pattern: Pattern, found: u64) -> bool {
        let searches = self.model.searches.iter().enumerate();
        searches
            .filter(|(number, _)| found >> number & 1 == 1)
            .any(|(_, planned)| planned.search.takes(pattern))
    }

    /// The pairs that the model's searches come across.
    fn candidates(&self, records: &mut ModelRecords, memory: usize) -> Distinct {
        let mut candidates = Candidates::new(&records.store, memory / 4, u64::MAX);
        let second = records.texts.second;
        let n = f64::from(records.store.records);
        let most = self.options.most_pairs(n);
        let chosen = equality::chosen(&self.model, n, records.all_pairs, most);
        let mut sketches = records.sketches(&self.model, &chosen);
        for (number, planned) in self.model.searches.iter().enumerate() {
            if !chosen[number] {
                continue;
            }
            let is_exact = !matches!(planned.search, Search::Similar { .. });
            let mut found = 0u64;
            let mut push = |a: u32, b: u32| {
                candidates.push(a, b, number);
                found += 1;
                // what is similar is known when it is compared
                if is_exact && found as f64 > most {
                    too_many(most);
                }
            };
            match &planned.search {
                Search::Similar {
                    fields,
                    least,
                    most: block,
                } => {
                    similar::pairs(
                        &mut sketches,
                        fields,
                        *least,
                        *block,
                        second,
                        memory / 4,
                        push,
                    );
                }
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
            let others = searches().filter(|s| *s.1 == runs && !is_scan(s.0));
            others
                .map(|(planned, _)| planned.matches_per_record * n)
                .sum()
        };
        let scanned = searches().find(|s| is_scan(s.0) && scan::is_possible(all_pairs));
        let lost = match scanned {
            Some((planned, _)) => (planned.matches_per_record * n - matches(true)).max(0.0),
            None => matches(false),
        };
        let others = searches().filter(|s| !is_scan(s.0) && !s.1).count();
        let left_out = others + usize::from(scanned.is_some());
        if left_out > 0 {
            let lost = lost.round() as u64;
            notice!(
                "{}: {} left out, as {} would bring more than {most:.0} pairs; {} expected to be lost",
                self.job,
                counted(left_out as u64, "search is", "searches are"),
                if left_out == 1 { "it" } else { "they" },
                counted(lost, "match is", "matches are"),
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

/// Scores by pattern.
struct Scores<'m> {
    scorer: Scorer<'m>,
    known: HashMap<Pattern, Score>,
}

impl Scores<'_> {
    fn of(&mut self, pattern: Pattern) -> Score {
        if self.known.len() >= REMEMBERED {
            self.known.clear();
        }
        *self
            .known
            .entry(pattern)
            .or_insert_with(|| self.scorer.score(pattern))
    }
}

struct FoundPair {
    a: u32,
    b: u32,
    score: Score,
}

struct Output {
    rows: ResultRows,
    /// Pairs that are not given before all are known.
    found: Vec<FoundPair>,
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

    /// Each record once, by falling bits, and by the order of the keys where they are equal.
    fn assign(&mut self, texts: &mut RecordTexts) {
        let mut found = std::mem::take(&mut self.found);
        found.sort_unstable_by(|x, y| {
            y.score
                .bits
                .total_cmp(&x.score.bits)
                .then((x.a, x.b).cmp(&(y.a, y.b)))
        });
        let mut taken = vec![0u64; (texts.records as usize).div_ceil(64)];
        let is_taken =
            |taken: &[u64], record: u32| taken[record as usize / 64] >> (record % 64) & 1 == 1;
        for pair in &found {
            check_for_interrupts();
            if !is_taken(&taken, pair.a) && !is_taken(&taken, pair.b) {
                for record in [pair.a, pair.b] {
                    taken[record as usize / 64] |= 1 << (record % 64);
                }
                self.put(pair, texts);
            }
        }
    }
}
