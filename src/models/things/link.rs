//! The pairs that a model of things finds between two tables.

use base::Error;
use linkage::model::things::{
    CandidatePair, Competition, EachRun, Odds, OneToOne, ThingsModel, Weighed,
};
use linkage::model::{FieldModel, Status};

use super::compared::ComparedPairs;
use super::fit::{detail, masks, tell};
use super::nearest;
use crate::models::fit::OTHER_DATA;
use crate::models::fit_records::FitRecords;
use crate::models::records::read::{RecordTexts, Table};
use crate::models::search::candidates::Candidates;
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
    pub force: bool,
    pub memory: usize,
    pub job: &'static str,
}

impl ThingsLinkage<'_> {
    /// Gives the pairs to `put`, with bits and probability. `judged` says whether people have judged a pair the same,
    /// and `None` of those that are left out.
    ///
    /// Errors: a model that must not be used; as [`RecordTexts::read`].
    pub fn run(
        &self,
        relations: Vec<Records>,
        judged: impl Fn([u32; 2], &mut RecordTexts) -> Option<bool>,
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
        let mut compared = ComparedPairs::new(candidates.finish_shown(), &mut records, memory);
        let learned = self.model.learned(sizes.map(f64::from), masks(&records));
        let texts = &mut records.prepared.texts;
        let mut best_first = self.one_to_one.then(|| BestFirst::new(memory / 8));
        let mut found = Found {
            odds: Odds::new(&learned),
            patterns: EachRun::new(&mut compared.patterns),
            of_pattern: 0.0,
            similarities: &mut compared.similarities,
            number: 0,
            least: self.least,
            each: |[a, b]: [u32; 2], probability: f64, similarity: f64| {
                let pair = [a, second + b];
                let Some(are_same) = judged(pair, texts) else {
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
        FitRecords::of_things(texts, fields.collect(), taken, self.memory)
    }

    /// Whether the model is to be used, and finds anything.
    ///
    /// Errors: a model that must not be used.
    fn may_run(&self) -> bool {
        match self.model.status {
            Status::Converged => true,
            _ if self.force => true,
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

/// The pairs of at least some probability, while all are weighed.
struct Found<'f, E> {
    odds: Odds<'f>,
    patterns: EachRun<'f>,
    of_pattern: f64,
    similarities: &'f mut SpillVec<u64>,
    /// Pairs that have been weighed.
    number: u64,
    least: f64,
    each: E,
}

impl<E: FnMut([u32; 2], f64, f64)> Weighed for Found<'_, E> {
    fn odds(&mut self) -> f64 {
        if let Some((pattern, _)) = self.patterns.next_pair() {
            self.of_pattern = self.odds.of(pattern);
        }
        self.of_pattern
    }

    fn weighed(&mut self, pair: &CandidatePair, probability: f64) {
        let number = self.number;
        self.number += 1;
        if probability >= self.least {
            let similarity = self.similarities.get(number..number + 1)[0];
            (self.each)(pair.records, probability, f64::from_bits(similarity));
        }
    }
}
