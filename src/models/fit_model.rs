//! The fit of a model to records: the pairs that it is fitted to, and the searches that it will need.

use linkage::model::mixture::{class_sets, learn, Evidence, Fit, FitInput, PatternLogs};
use linkage::model::values::MISSING;
use linkage::model::{Class, FieldModel, LeftOut, MatchModel, PlannedSearch, Search, Status};

use std::collections::HashMap;

use super::fit_records::FitRecords;
use super::search_plan;
use crate::models::records::large_blocks::LargeBlocks;
use crate::models::search::blocks::WantedPairs;
use crate::models::search::candidates::Candidates;
use crate::models::search::patterns::{count, PatternCounting, PatternTable};
use crate::models::search::scan;
use crate::models::team::FitTeam;
use base::Error;
use pg::check_for_interrupts;
use pg::error::raise;
use pg::file::RecordSort;
use pg::progress::{self, phases};

/// Random pairs that are looked at; tables with fewer pairs are looked at as a whole.
pub const RANDOM_PAIRS: u64 = 3_000_000;

/// A fit takes so many pairs a record. With fewer, families are seen by the searches for their given names only.
const PAIRS_A_RECORD: f64 = 10.0;

/// Of small tables, all of whose pairs are looked at, so many, or this number if it is more.
const SCANNED_A_RECORD: u64 = 40;
const LEAST_SCANNED: u64 = 100_000;

/// Pairs that searches have found, and that are compared; of more, a sample. It does not depend on the memory, or the
/// model would.
pub const MOST_COUNTED: u64 = 4_000_000;

/// Fits a model to records. The second result is the share of the matches that its searches find, as
/// [`search_plan::plan`] knows it.
pub fn fit(records: &mut FitRecords, left_out: Vec<LeftOut>, memory: usize) -> (MatchModel, f64) {
    let n = records.population.records;
    let second = records.prepared.texts.second;
    let mut model = MatchModel {
        status: Status::Degenerate,
        fields: records.fields.clone(),
        swap: records.swap,
        dependence: Default::default(),
        match_dependence: Default::default(),
        classes: Vec::new(),
        linkage: second.is_some(),
        records: n,
        all_pairs: records.population.all_pairs,
        rounds: 0,
        searches: Vec::new(),
        left_out,
        calibration: None,
        recall: None,
        warnings: Vec::new(),
    };
    let mut random = random_pairs(records, memory);
    let labels = std::mem::take(&mut records.labels)
        .by_number(records.prepared.store.numbering(), second.is_some());
    let searches = match &records.population.searches[..] {
        [] => search_plan::equal_searches(&model),
        given => given_searches(&model, given),
    };
    if let Some(relation) = records.population.large {
        records.prepared.large = LargeBlocks::read(relation, searches.clone());
    }
    let (mut by_search, mut counted_weight, sizes) =
        by_equality(records, &searches, &labels, memory);
    let mut planned = Vec::new();
    // a scan looks at all records, those that do not count too
    let learned_weight = records.population.learned_weight();
    let (learned_records, learned_pairs) =
        (records.population).learned_from(records.prepared.all_pairs);
    // Beside a sample only those are there that searches have found.
    let is_scanned = records.population.sample.is_none()
        && scan::is_possible(records.prepared.store.pairs(second));
    let (mut patterns, weight) = if is_scanned {
        let (mut patterns, least) = by_scan(records, &labels, memory);
        if scan::is_possible(model.all_pairs) {
            let pairs = patterns.pairs() as f64 * records.population.found_weight() / n.max(1.0);
            planned.push(PlannedSearch {
                search: Search::Scan { least },
                pairs_per_record: pairs,
                matches_per_record: 0.0,
            });
        }
        (patterns, learned_weight)
    } else {
        let weight = counted_weight * learned_weight;
        let cheap = cheapest(&mut by_search, &sizes, weight, learned_records);
        let mut patterns = PatternTable::new(memory / 8);
        by_search.each(|pattern, found, pairs| {
            if found & cheap != 0 {
                patterns.add(pattern, 0, pairs);
            }
        });
        (patterns, weight)
    };
    records.prepared.store.expect(labels.len() as u64);
    let compared = labels
        .iter()
        .map(|&(pair, same)| (records.prepared.store.compare(pair), same));
    let mut compared: Vec<_> = compared.collect();
    // Numbers of pairs depend on the memory, and so would sums that are made in their order.
    compared.sort_unstable_by_key(|(pair, _)| (pair.a, pair.b));
    let labels = compared
        .into_iter()
        .map(|(pair, same)| (pair.pattern, same));
    let labels: Vec<_> = labels.collect();
    let sets = {
        let of = |is: fn(&FieldModel) -> f64| model.fields.iter().map(is).collect::<Vec<f64>>();
        let personal: Vec<usize> = (0..model.fields.len())
            .filter(|&k| model.fields[k].personal)
            .collect();
        let (information, filled) = (of(|f| f.information), of(|f| f.filled));
        class_sets(&personal, &information, &filled, &records.compounds)
    };
    progress::phase(phases::FITTING, None);
    let mut team = FitTeam::new(memory / 8);
    let fit = learn(
        FitInput {
            frequencies: &records.frequencies,
            random: &mut random,
            evidence: Evidence {
                patterns: &mut patterns,
                weight,
                labels: &labels,
                remembered: memory / 16 / size_of::<PatternLogs>(),
            },
            helpers: &mut team,
            all_pairs: learned_pairs.max(1.0),
            records: learned_records,
            swap: records.swap,
            sets,
        },
        check_for_interrupts,
    );
    team.finish();
    take_over(&mut model, fit, learned_records);
    for class in &mut model.classes {
        class.pairs_per_record *= records.population.more_pairs();
    }
    if records.population.is_thinned() {
        // Blocks of all records are larger than what is there of them.
        let mut searches = searches.clone();
        for search in &mut searches {
            if let Search::Equal { most, .. } = search {
                *most = records.population.most(*most);
            }
        }
        (by_search, counted_weight, _) = by_equality(records, &searches, &[], memory);
    }
    let counted_weight = counted_weight * records.population.found_weight();
    let recall = search_plan::plan(
        &mut model,
        records,
        planned,
        (&searches, &mut by_search, counted_weight),
        memory,
    );
    model.recall = Some(recall);
    (model, recall)
}

/// The fit becomes part of the model.
fn take_over(model: &mut MatchModel, fit: Fit, n: f64) {
    for (field, chance) in model.fields.iter_mut().zip(&fit.chance) {
        field.u = chance.u;
    }
    model.dependence = fit.dependence;
    model.match_dependence = fit.match_dependence;
    model.rounds = fit.rounds;
    model.classes = fit
        .classes
        .into_iter()
        .map(|class| Class {
            chance: class.set.chance,
            pairs_per_record: class.pairs / n.max(1.0),
            shares: class.shares,
        })
        .collect();
    for k in 0..model.fields.len() {
        leave_open_what_is_missing(model, k);
    }
    model.settle_rare_levels();
    model.status = if fit.converged {
        Status::Converged
    } else {
        Status::Stopped
    };
}

/// Where no pair lacks a value, nothing is known of pairs that do, in records to come: that they do says nothing then.
fn leave_open_what_is_missing(model: &mut MatchModel, field: usize) {
    const NEVER: f64 = 1e-9;
    const UNKNOWN: f64 = 1e-6;
    let u = &mut model.fields[field].u[MISSING];
    if *u < NEVER {
        *u = UNKNOWN;
        for class in &mut model.classes {
            class.shares[field][MISSING] = UNKNOWN;
        }
    }
}

/// The searches by equality that are given by the names of their fields.
///
/// Errors: a field that the model does not have.
fn given_searches(model: &MatchModel, given: &[(Vec<String>, u32)]) -> Vec<Search> {
    let number = |name: &String| {
        let found = model.fields.iter().position(|field| &field.name == name);
        found.unwrap_or_else(|| {
            let message = format!("field \"{name}\" of a search is not one of the fields");
            raise(&Error::invalid(message).hint("Give searches of the fields that are compared."))
        })
    };
    let search = |(fields, most): &(Vec<String>, u32)| {
        let mut fields: Vec<usize> = fields.iter().map(number).collect();
        fields.sort_unstable();
        fields.dedup();
        Search::Equal {
            fields,
            most: *most,
        }
    };
    given.iter().map(search).collect()
}

/// The patterns of random pairs, or of all where there are few.
fn random_pairs(records: &mut FitRecords, memory: usize) -> PatternTable {
    let n = u64::from(records.prepared.store.records);
    let mut pairs = Candidates::new(&records.prepared.store, memory / 8, u64::MAX);
    if n * n.saturating_sub(1) / 2 <= RANDOM_PAIRS {
        let n = n as u32;
        let right = records.prepared.texts.second;
        let left = right.unwrap_or(n);
        for a in 0..left {
            check_for_interrupts();
            for b in right.unwrap_or(a + 1)..n {
                if records.population.has(a) && records.population.has(b) {
                    pairs.push(a, b, 0);
                }
            }
        }
    } else {
        // Of records beside a sample more are looked at, so that as many are random pairs of the sample.
        let share = records.population.drawn() / n as f64;
        let looked_at = (RANDOM_PAIRS as f64 / (share * share).max(1e-2)) as u64;
        for k in 0..looked_at {
            if k % 4096 == 0 {
                check_for_interrupts();
            }
            if let Some((a, b)) = records.random_pair(k) {
                pairs.push(a, b, 0);
            }
        }
    }
    let store = &mut records.prepared.store;
    let pairs = pairs.finish_shown();
    let most = pairs.most();
    count(pairs, most, store, memory / 4).finish(memory / 16)
}

/// What the searches by equality find: patterns with the searches that find them, or those of a sample, whose weight is
/// the second result; and how many pairs each search finds.
fn by_equality(
    records: &mut FitRecords,
    searches: &[Search],
    labels: &[(u64, bool)],
    memory: usize,
) -> (PatternTable, f64, Vec<u64>) {
    let (records, sample) = (&mut records.prepared, records.population.sample.as_ref());
    let mut candidates = Candidates::new(&records.store, memory / 8, MOST_COUNTED);
    let mut sizes = Vec::new();
    for (number, search) in searches.iter().enumerate() {
        let push = |a: u32, b: u32| candidates.push(a, b, number);
        sizes.push(records.search(search, sample, memory / 4, push).pairs);
    }
    let distinct = candidates.finish_shown();
    let (weight, most) = (distinct.weight(), distinct.most());
    let unlabelled = distinct.filter(|&(pair, _)| !is_labelled(labels, pair));
    let counts = count(unlabelled, most, &mut records.store, memory / 4);
    (counts.finish(memory / 16), weight, sizes)
}

/// Whether somebody has said what a pair is. The labels come in the order of the pairs.
fn is_labelled(labels: &[(u64, bool)], pair: u64) -> bool {
    labels.binary_search_by_key(&pair, |label| label.0).is_ok()
}

/// The patterns of the pairs of a small table that are most alike, and the least mean similarity of them in hundredths.
fn by_scan(records: &mut FitRecords, labels: &[(u64, bool)], memory: usize) -> (PatternTable, u32) {
    let mut found = RecordSort::new(memory / 8);
    let mut similar = [0u64; 101];
    let (records, sample) = (&mut records.prepared, records.population.sample.as_ref());
    let numbers = records.store.numbering();
    let wanted = WantedPairs {
        second: records.texts.second,
        new: sample,
    };
    scan::pairs(
        &mut records.store,
        wanted,
        scan::LEAST,
        |a, b, hundredths| {
            similar[hundredths.min(100) as usize] += 1;
            found.push([numbers.number(a, b) << 7 | u64::from(hundredths)]);
        },
    );
    let most = (SCANNED_A_RECORD * u64::from(records.store.records)).max(LEAST_SCANNED);
    let (mut least, mut pairs) = (100, similar[100]);
    while least > scan::LEAST && pairs + similar[least as usize - 1] <= most {
        least -= 1;
        pairs += similar[least as usize];
    }
    records.store.expect(pairs);
    let mut counts = PatternCounting::new(memory / 4);
    for (i, [word]) in found.finish().enumerate() {
        if i % 1024 == 0 {
            check_for_interrupts();
        }
        if word as u32 & 127 >= least && !is_labelled(labels, word >> 7) {
            let compared = records.store.compare(word >> 7);
            if compared.counts {
                counts.add(compared.pattern, 0, 1);
            }
        }
    }
    (counts.finish(memory / 8), least)
}

/// The searches that bring fewest pairs, as bits, as many of them as bring three pairs a record.
fn cheapest(by_search: &mut PatternTable, sizes: &[u64], weight: f64, records: f64) -> u64 {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by_key(|&search| (sizes[search], search));
    let mut by_mask = HashMap::<u64, u64>::new();
    by_search.each(|_, found, pairs| *by_mask.entry(found).or_default() += pairs);
    let mut cheap = 0u64;
    for search in order {
        let with = cheap | 1 << search;
        let pairs: u64 = by_mask
            .iter()
            .filter(|(found, _)| *found & with != 0)
            .map(|(_, n)| n)
            .sum();
        if cheap != 0 && pairs as f64 * weight > PAIRS_A_RECORD * records {
            break;
        }
        cheap = with;
    }
    cheap
}
