//! `bloom_model_duplicates` and `bloom_model_linkage`: the pairs that a model takes for matches.

use base::Error;
use linkage::model::json::{read_any_model, read_model, AnyModel};
use linkage::model::{MatchModel, Pattern, Score, Scorer, Status};
use pgrx::{pg_sys, IntoDatum};

use super::fit;

use super::options::{min_probability, ModelOptions};
use super::pair_limit::PairLimit;
use super::things::ThingsLinkage;
use crate::models::records::prepared::PreparedRecords;
use crate::models::records::read::RecordTexts;
use crate::models::records::sketches::Sketches;
use crate::models::search::blocks::WantedPairs;
use crate::models::search::candidates::{Candidates, Distinct};
use crate::pairs::decisions::{decisions, Decisions};
use crate::pairs::one_to_one::BestFirst;
use crate::pairs::only_new;
use crate::pairs::records::{Records, Relations};
use pg::budget::Budget;
use pg::error::{raise, OrRaise};
use pg::function::arguments::Arguments;
use pg::function::rows::ResultRows;
use pg::progress::{self, phases, Progress};
use pg::values::varlena::NewValue;
use pg::{check_for_interrupts, entry};
use signature::mix;

/// `(rel regclass, key name, model jsonb, min_probability float8, options jsonb, decisions regclass, new regclass)
/// RETURNS TABLE (a text, b text, probability float8, bits float8)`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_model_duplicates(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let options = ModelOptions::of_duplicates(arguments, 4);
    let records = Records::new(arguments.oid(0), arguments.name(1), Vec::new());
    let records = records.only(only_new::given(arguments, 6));
    let records = records.with_keys(options.keys.as_deref());
    // SAFETY: the SQL function is declared to return a set of these rows.
    let rows = unsafe { ResultRows::new(fcinfo) };
    let search = ModelSearch {
        model: model(arguments, 2),
        least: min_probability(arguments, 3),
        one_to_one: false,
        options,
        decisions: decisions(arguments, 5, Relations::one(&records)),
        job: "bloom_model_duplicates",
    };
    search.run(vec![records], rows);
    NewValue(pg_sys::Datum::null())
}

/// `(a_rel regclass, a_key name, b_rel regclass, b_key name, model jsonb, min_probability float8, one_to_one boolean,
/// options jsonb, decisions regclass) RETURNS TABLE (a text, b text, probability float8, bits float8)`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_model_linkage(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let relations = relations(arguments, 2);
    // SAFETY: the SQL function is declared to return a set of these rows.
    let rows = unsafe { ResultRows::new(fcinfo) };
    let model = read_any_model(&arguments.jsonb(4)).or_raise();
    let (least, one_to_one) = (min_probability(arguments, 5), arguments.boolean(6));
    let options = ModelOptions::given(arguments, 7);
    let decisions = decisions(arguments, 8, Relations::two(&relations[0], &relations[1]));
    let job = "bloom_model_linkage";
    match model {
        AnyModel::OfPairs(model) => {
            let search = ModelSearch {
                model,
                least,
                one_to_one,
                options,
                decisions,
                job,
            };
            search.run(relations, rows);
        }
        AnyModel::OfThings(model) => {
            let _job = progress::job(job, relations[0].oid);
            let linkage = ThingsLinkage {
                model: &model,
                least,
                one_to_one,
                options,
                decisions: &decisions,
                memory: Budget::of_setting().bytes(),
                job,
            };
            let mut output = Output::new(rows, job);
            linkage.run(relations, |pair, measures, texts| {
                output.put(pair, measures, texts);
            });
            decisions.iter().for_each(Decisions::tell_reopened);
        }
    }
    NewValue(pg_sys::Datum::null())
}

/// The relations whose records are compared: the first arguments, each with its key.
pub fn relations(arguments: Arguments, sides: usize) -> Vec<Records> {
    let side = |i: usize| Records::new(arguments.oid(i), arguments.name(i + 1), Vec::new());
    (0..sides).map(|i| side(2 * i)).collect()
}

/// A model that is an argument.
///
/// Errors: it is none.
pub fn model(arguments: Arguments, i: usize) -> MatchModel {
    read_model(&arguments.jsonb(i)).or_raise()
}

/// Errors: a model of one table is to be used for two, or the other way round, and nobody forces it.
pub fn check_tables(model: &MatchModel, relations: &[Records], options: &ModelOptions) {
    let linkage = relations.len() == 2;
    if linkage == model.linkage || options.force {
        return;
    }
    let of = |linkage: bool| match linkage {
        true => "pairs of two tables",
        false => "pairs of one table",
    };
    let (made_for, given) = (of(model.linkage), of(linkage));
    raise(
        &Error::invalid(format!("match model is for {made_for}, not for {given}"))
        .hint("Fit another one, by bloom_model_fit() for one table and bloom_model_fit_linkage() for two."),
    )
}

/// What is asked for.
struct ModelSearch {
    model: MatchModel,
    least: f64,
    one_to_one: bool,
    options: ModelOptions,
    decisions: Option<Decisions>,
    job: &'static str,
}

impl ModelSearch {
    fn run(&self, relations: Vec<Records>, rows: ResultRows) {
        if !self.may_run(&relations) {
            return;
        }
        let _job = progress::job(self.job, relations[0].oid);
        let memory = Budget::of_setting().bytes();
        let mut records = PreparedRecords::read(&self.model, relations, memory, self.job);
        let there = f64::from(records.store.records);
        let tables = 1 + usize::from(records.texts.second.is_some());
        let (n, all_pairs) = self.options.stands_for(there, records.all_pairs, tables);
        let most = self.options.most_pairs(n);
        let mut limit = PairLimit::new(&self.model, n, all_pairs, most);
        let pairs = self.candidates(&mut records, &mut limit, memory);
        let scorer = Scorer::new(&self.model, n, all_pairs);
        let mut scores = Scores::new(scorer, memory / 16);
        let mut best_first = self.one_to_one.then(|| BestFirst::new(memory / 8));
        let mut output = Output::new(rows, self.job);
        records.store.expect(pairs.most());
        for (i, (pair, found)) in pairs.enumerate() {
            if i % 256 == 0 {
                check_for_interrupts();
                output.report();
            }
            let compared = records.store.compare(pair);
            output.done += 1;
            // What a search for similar values comes across by the way is as good, and was not counted by the fit.
            let search = self.model.taken_by(compared.pattern, found);
            if search.map_or(self.options.counted, |search| !limit.count(search)) {
                continue;
            }
            let score = scores.score(compared.pattern);
            if score.probability >= self.least {
                let (pair, measures) = ([compared.a, compared.b], [score.bits, score.probability]);
                let Some(are_same) = judged(&self.decisions, pair, &mut records.texts) else {
                    continue;
                };
                match &mut best_first {
                    Some(best_first) if are_same => best_first.push_judged(pair, measures),
                    Some(best_first) => best_first.push(pair, measures),
                    None => output.put(pair, measures, &mut records.texts),
                }
            }
        }
        limit.check();
        self.decisions.iter().for_each(Decisions::tell_reopened);
        if let Some(best_first) = best_first {
            progress::phase(phases::ASSIGNING, None);
            // both sides are numbered together
            let sides = [records.store.records as usize; 2];
            best_first.finish(sides, |pair, measures| {
                output.put(pair, measures, &mut records.texts);
            });
        }
    }

    /// Whether the model is to be used, and finds anything.
    ///
    /// Errors: a model that must not be used.
    fn may_run(&self, relations: &[Records]) -> bool {
        check_tables(&self.model, relations, &self.options);
        match self.model.status {
            Status::Converged => true,
            _ if self.options.force && !self.model.classes.is_empty() => true,
            Status::NoneExpected | Status::NoPersonalFields => {
                fit::tell(&self.model);
                false
            }
            status => raise(
                &Error::invalid(format!("match model has the status {}", status.name()))
                    .detail(fit::detail(&self.model))
                    .hint(fit::OTHER_DATA),
            ),
        }
    }

    /// The pairs that the model's searches come across.
    fn candidates(
        &self,
        records: &mut PreparedRecords,
        limit: &mut PairLimit<'_>,
        memory: usize,
    ) -> Distinct {
        let mut candidates = Candidates::new(&records.store, memory / 4, u64::MAX);
        let new = records.texts.new.take();
        if let Some(given) = records.texts.given_keys.take() {
            let wanted = WantedPairs {
                second: None,
                new: new.as_ref(),
            };
            given.pairs(&self.model, wanted, |a, b, search| {
                candidates.push(a, b, search);
            });
            return candidates.finish_shown();
        }
        let searches = self.model.searches.iter().zip(limit.chosen());
        let searches = searches.filter(|(_, is_chosen)| **is_chosen);
        let searches = searches.map(|(planned, _)| &planned.search);
        records.read_sketches(&self.model.fields, searches, |_| true);
        for (number, planned) in self.model.searches.iter().enumerate() {
            if !limit.chosen()[number] {
                continue;
            }
            let is_exact = planned.search.is_exact();
            let mut found = 0u64;
            let push = |a: u32, b: u32| {
                found += 1;
                // which pairs there are is known when they are compared
                if !is_exact || limit.has_room(found) {
                    candidates.push(a, b, number);
                }
            };
            records.search(&planned.search, new.as_ref(), memory / 4, push);
            if is_exact {
                limit.found_by_itself(number, found);
            }
        }
        records.sketches = Sketches::default();
        limit.tell_left_out(self.job);
        candidates.finish_shown()
    }
}

/// Whether people have judged a pair the same; `None` if it is left out.
pub fn judged(
    decisions: &Option<Decisions>,
    pair: [u32; 2],
    texts: &mut RecordTexts,
) -> Option<bool> {
    let Some(decisions) = decisions else {
        return Some(false);
    };
    let [a, b] = keys(pair, texts);
    let keys = [&a[..], &b[..]];
    (!decisions.leaves_out(keys)).then(|| decisions.are_same(keys))
}

/// The keys of a pair of records.
pub fn keys(pair: [u32; 2], texts: &mut RecordTexts) -> [Vec<u8>; 2] {
    pair.map(|record| {
        let key = texts.keys.get(record.into());
        key.unwrap_or_default().to_vec()
    })
}

struct Output {
    rows: ResultRows,
    progress: Progress,
    done: u64,
}

impl Output {
    fn new(rows: ResultRows, job: &'static str) -> Output {
        Output {
            rows,
            progress: Progress::new(job),
            done: 0,
        }
    }

    fn report(&mut self) {
        let done = self.done;
        self.progress.report(|| format!("{done} pairs compared"));
    }

    /// A pair of records, with its bits and its probability.
    fn put(&mut self, pair: [u32; 2], [bits, probability]: [f64; 2], texts: &mut RecordTexts) {
        self.rows.make(|| {
            let [a, b] = pair.map(|record| texts.keys.text(record.into()));
            Some([a, b, probability.into_datum(), bits.into_datum()])
        });
    }
}

/// No pattern: it would have levels that there are not.
const NONE: Pattern = Pattern(u128::MAX);

/// Scores by pattern. Each pattern has one place, which the last one of that place has.
struct Scores<'m> {
    scorer: Scorer<&'m MatchModel>,
    places: Vec<(Pattern, Score)>,
}

impl<'m> Scores<'m> {
    /// Takes about `memory` bytes, and 2 MB at the most.
    fn new(scorer: Scorer<&'m MatchModel>, memory: usize) -> Scores<'m> {
        let places = (memory / size_of::<(Pattern, Score)>()).clamp(1 << 8, 1 << 16);
        let score = Score {
            bits: 0.0,
            probability: 0.0,
        };
        Scores {
            scorer,
            places: vec![(NONE, score); 1 << places.ilog2()],
        }
    }

    /// What the model says of a pattern.
    #[inline]
    fn score(&mut self, pattern: Pattern) -> Score {
        let hash = mix(mix((pattern.0 >> 64) as u64) ^ pattern.0 as u64);
        let at = hash as usize & (self.places.len() - 1);
        let place = &mut self.places[at];
        if place.0 != pattern {
            *place = (pattern, self.scorer.score(pattern));
        }
        place.1
    }
}
