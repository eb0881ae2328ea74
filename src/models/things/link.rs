//! The pairs that a model of things finds between two tables.

use base::Error;
use linkage::clusters::Verdict;
use linkage::model::things::{
    CandidatePair, Competition, EachRun, Odds, OneToOne, ThingsModel, Weighed,
};
use linkage::model::{FieldModel, Status};

use super::compared::ComparedPairs;
use super::fit::{detail, masks, tell};
use super::nearest;
use crate::models::fit::OTHER_DATA;
use crate::models::fit_records::FitRecords;
use crate::models::options::ModelOptions;
use crate::models::pairs::{judged, keys};
use crate::models::records::read::{RecordSet, RecordTexts, Table};
use crate::models::search::candidates::Candidates;
use crate::pairs::decisions::Decisions;
use crate::pairs::one_to_one::BestFirst;
use crate::pairs::records::Records;
use pg::check_for_interrupts;
use pg::error::{raise, OrRaise};
use pg::file::SpillVec;
use pg::progress::{self, phases};

/// How often pairs are weighed against each other.
const TIMES: usize = 20;

/// Bits of a probability of 1.
const MOST_BITS: f64 = 60.0;

/// What is asked for.
pub struct ThingsLinkage<'m> {
    pub model: &'m ThingsModel,
    pub least: f64,
    pub one_to_one: bool,
    pub options: ModelOptions,
    pub decisions: &'m Option<Decisions>,
    pub memory: usize,
    pub job: &'static str,
}

impl ThingsLinkage<'_> {
    /// Gives the pairs to `put`, with bits and probability.
    ///
    /// Errors: a model that must not be used; more pairs than the options allow; as [`RecordTexts::read`].
    pub fn run(
        &self,
        relations: Vec<Records>,
        mut put: impl FnMut([u32; 2], [f64; 2], &mut RecordTexts),
    ) {
        if !self.may_run() {
            return;
        }
        let memory = self.memory;
        let mut records = self.read(relations);
        let n = records.prepared.store.records;
        let second = records.prepared.texts.second.unwrap_or(n);
        let sizes = [second, n - second];
        let mut candidates = Candidates::new(&records.prepared.store, memory / 8, u64::MAX);
        nearest::search(&mut records, &mut candidates, memory);
        self.options.stands_for(0.0, 0.0, 2);
        let most = self.options.pair_limit.unwrap_or(u64::MAX);
        let candidates = candidates.finish_shown();
        let mut compared = ComparedPairs::new(candidates, &mut records, most, memory);
        let learned = self.model.learned(sizes.map(f64::from), masks(&records));
        let texts = &mut records.prepared.texts;
        let mut best_first = self.one_to_one.then(|| BestFirst::new(memory / 8));
        let decided = self.decisions.as_ref();
        let mut found = Found {
            odds: Odds::new(&learned),
            patterns: EachRun::new(&mut compared.patterns),
            of_pattern: 0.0,
            decided: decided.map(|decisions| Decided::new(decisions, second, texts)),
            second,
            similarities: &mut compared.similarities,
            number: 0,
            least: self.least,
            texts,
            each: |pair: [u32; 2], probability: f64, similarity: f64, texts: &mut RecordTexts| {
                let Some(are_same) = judged(self.decisions, pair, texts) else {
                    return;
                };
                let measures = [probability, similarity];
                match &mut best_first {
                    Some(best_first) if are_same => best_first.push_judged(pair, measures),
                    Some(best_first) => best_first.push(pair, measures),
                    None => put(pair, [bits(probability), probability], texts),
                }
            },
        };
        let competition = Competition::new(self.model.one_to_one, sizes.map(|n| n as usize));
        let times = match self.model.one_to_one {
            OneToOne::Both => TIMES,
            OneToOne::A | OneToOne::B => 1,
        };
        let mut competition = competition.or_raise();
        competition.weigh(&mut compared.pairs, times, check_for_interrupts, &mut found);
        if let Some(best_first) = best_first {
            progress::phase(phases::ASSIGNING, None);
            // both sides are numbered together
            best_first.finish([n as usize; 2], |pair, [probability, _]| {
                put(
                    pair,
                    [bits(probability), probability],
                    &mut records.prepared.texts,
                );
            });
        }
    }

    /// Reads the fields of the model, and counts their values.
    fn read(&self, relations: Vec<Records>) -> FitRecords {
        let fields = &self.model.fields;
        let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
        let tables = Table::of_relations(relations, &names);
        let texts = RecordTexts::read(&tables, self.job, |_, _, _| (), |_, _| ());
        let fields = fields.iter();
        let fields = fields.map(|of| FieldModel::unknown(of.name.clone(), of.layout.clone()));
        let taken = (0..names.len()).collect();
        FitRecords::of_things(texts, (fields.collect(), &[]), taken, self.memory)
    }

    /// Whether the model is to be used, and finds anything.
    ///
    /// Errors: a model that must not be used.
    fn may_run(&self) -> bool {
        match self.model.status {
            Status::Converged => true,
            _ if self.options.force => true,
            Status::NoneExpected | Status::NoPersonalFields => {
                tell(self.model);
                false
            }
            status => raise(
                &Error::invalid(format!("match model has the status {}", status.name()))
                    .detail(detail(self.model))
                    .hint(OTHER_DATA),
            ),
        }
    }
}

/// Logarithm to base 2 of how many times more often pairs of a probability are matches than not.
fn bits(probability: f64) -> f64 {
    let bits = (probability / (1.0 - probability)).log2();
    bits.clamp(-MOST_BITS, MOST_BITS)
}

/// What people have decided, for pairs that compete.
struct Decided<'d> {
    decisions: &'d Decisions,
    /// The records that something is decided about, which are few.
    records: RecordSet,
}

impl Decided<'_> {
    /// Of the records of two tables, of which the second one's begin with `second`.
    fn new<'d>(decisions: &'d Decisions, second: u32, texts: &mut RecordTexts) -> Decided<'d> {
        let mut records = RecordSet::default();
        for record in 0..texts.records {
            if record % 4096 == 0 {
                check_for_interrupts();
            }
            let key = texts.keys.get(record.into()).unwrap_or_default();
            records.push(decisions.knows(usize::from(record >= second), key));
        }
        Decided { decisions, records }
    }

    /// Whether a pair is judged the same, or different.
    fn are_same(&self, pair: [u32; 2], texts: &mut RecordTexts) -> Option<bool> {
        if !pair.iter().all(|&record| self.records.has(record)) {
            return None;
        }
        let [a, b] = keys(pair, texts);
        let judgement = self.decisions.get([&a, &b]).filter(|of| !of.changed)?;
        match judgement.verdict {
            Verdict::Same => Some(true),
            Verdict::Different => Some(false),
            Verdict::Unsure => None,
        }
    }
}

/// The pairs of at least some probability, while all are weighed.
struct Found<'f, E> {
    odds: Odds<'f>,
    patterns: EachRun<'f>,
    of_pattern: f64,
    decided: Option<Decided<'f>>,
    /// The first record of the second table.
    second: u32,
    similarities: &'f mut SpillVec<u64>,
    /// Pairs that have been weighed.
    number: u64,
    least: f64,
    texts: &'f mut RecordTexts,
    each: E,
}

impl<E> Found<'_, E> {
    /// The numbers of a pair's records among those of both tables.
    fn records(&self, pair: &CandidatePair) -> [u32; 2] {
        let [a, b] = pair.records;
        [a, self.second + b]
    }
}

impl<E: FnMut([u32; 2], f64, f64, &mut RecordTexts)> Weighed for Found<'_, E> {
    fn odds(&mut self, pair: &CandidatePair) -> f64 {
        if let Some((pattern, _)) = self.patterns.next_pair() {
            self.of_pattern = self.odds.of(pattern);
        }
        let records = self.records(pair);
        let decided = self.decided.as_ref();
        let are_same = decided.and_then(|decided| decided.are_same(records, self.texts));
        are_same.map_or(self.of_pattern, Odds::judged)
    }

    fn weighed(&mut self, pair: &CandidatePair, probability: f64) {
        let number = self.number;
        self.number += 1;
        let records = self.records(pair);
        // what people have judged the same is given, even where they have judged so of several pairs that compete
        let decided = self.decided.as_ref();
        let are_same = decided.and_then(|decided| decided.are_same(records, self.texts));
        if probability >= self.least || are_same == Some(true) {
            let similarity = f64::from_bits(self.similarities.get(number..number + 1)[0]);
            (self.each)(records, probability, similarity, self.texts);
        }
    }
}
