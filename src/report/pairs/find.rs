//! What a report of pairs says of all of them.

use std::collections::HashMap;

use linkage::clusters::Links;
use linkage::model::Explainer;

use super::super::facts::Facts;
use super::super::histogram::hundredth;
use super::super::survey::{Known, Survey};
use super::super::Limits;
use crate::clusters::{Method, PairList, Source};
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
    let all = links.pairs() as u64;
    drop(links);
    let mut facts = Facts::new(survey, pairs, keys, method, None, limits);
    (facts.measure, facts.sides, facts.rows) = (source.value, source.sides, records);
    PairFacts {
        facts,
        all,
        records,
        missing: 0,
        model: None,
        texts: HashMap::new(),
    }
}
