//! What a report of pairs says of all of them.

use std::collections::HashMap;

use linkage::clusters::{Links, Pair};
use linkage::model::Explainer;
use linkage::review::BandSample;

use super::super::facts::{take_clusters, Facts};
use super::super::hashes::RecordHashes;
use super::super::histogram::hundredth;
use super::super::review::Review;
use super::super::survey::{Known, Survey};
use super::super::Limits;
use crate::clusters::{Clustered, Method, PairList, Source};
use pg::check_for_interrupts;
use pg::error::OrRaise;
use pg::progress::{self, phases};

/// Pairs of this probability are taken for matches.
const CUT: f64 = 0.5;

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

/// Reads the pairs. Values of records, and the model, are left out.
///
/// Errors: more than maintenance_work_mem; as reading pairs.
pub fn find(source: &Source, known: &Known, limits: &Limits) -> PairFacts {
    let method = Method::Centre;
    let mut list = PairList::new(
        known
            .grouping(0.0, method)
            .overhead(known.memory())
            .of_report(),
    )
    .of_sides(source.sides);
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
    let searched = hundredth(least.min(threshold));

    progress::phase(phases::MEASURING, None);
    // Links have each pair once.
    let links = Links::new(keys.len() as u32, &pairs, check_for_interrupts).or_raise();
    let mut survey = Survey::new(known, threshold, searched, limits);
    let mut records = 0;
    for i in 0..links.records() {
        records += u64::from(!links.of(i).is_empty());
        for link in links.of(i).iter().take_while(|link| link.to < i) {
            check_for_interrupts();
            let of = [i, link.to];
            survey.take(of.map(|n| keys.key(n)), of, link.similarity);
        }
    }
    let all = links.pairs() as u64;
    drop(links);
    let left_out = |pair: &Pair| known.leaves_out([pair.a, pair.b].map(|n| keys.key(n)));
    pairs.retain(|pair| pair.similarity >= threshold && !left_out(pair));
    let grouping = known.grouping(threshold, method);
    let (clustered, links) = Clustered::with_links(keys, pairs, &grouping, None);
    let counts = survey.counts();
    let sample = std::mem::replace(&mut survey.sample, BandSample::new(0, 0)).finish();
    let mut facts = Facts {
        measure: source.value,
        sides: source.sides,
        threshold,
        searched,
        rows: records,
        signed: 0,
        pairs: survey.reached,
        sizes: Vec::new(),
        clustered: 0,
        largest: Vec::new(),
        near: survey.nearest(),
        columns: Vec::new(),
        more_columns: 0,
        empty_columns: 0,
        values: HashMap::new(),
        hashes: RecordHashes::new(),
        truth: survey.measured(),
        histogram: survey.histogram,
        review: Review::new(sample, counts, &clustered, &links),
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
