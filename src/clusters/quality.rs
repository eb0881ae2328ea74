//! Compares what was found with what is true: `bloom_quality`, and `bloom_threshold_sweep`, which says what each
//! threshold would have found.

use base::Error;
use linkage::clusters::{b_cubed, Links, PairCounts, Sweep};
use pgrx::{pg_sys, IntoDatum};

use crate::clusters::pair_list::{Overhead, PairList};
use crate::clusters::resolution::{distinct, tell_unknown, Resolution, Truth};
use crate::clusters::source::Source;
use crate::pairs::dictionary::{positions, KeyDictionary, NONE};
use pg::budget::push;
use pg::error::{raise, OrRaise};
use pg::function::arguments::Arguments;
use pg::function::record::record;
use pg::function::rows::ResultRows;
use pg::progress::{self, phases};
use pg::values::varlena::NewValue;
use pg::{check_for_interrupts, entry};

/// `(pairs regclass, truth regclass) RETURNS (found bigint, true_pairs bigint, correct bigint, "precision" float8,
/// recall float8, f1 float8, b_cubed_precision float8, b_cubed_recall float8, b_cubed_f1 float8)`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_quality(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let found_in = Source::of_pairs_or_labels(arguments.oid(0));
    let true_in = Source::of_pairs_or_labels(arguments.oid(1));
    let _job = progress::job("bloom_quality", found_in.oid);
    let mut keys = KeyDictionary::new();
    let truth = Resolution::read(&true_in, &mut keys, 0);
    let found = Resolution::read(&found_in, &mut keys, truth.memory());

    progress::phase(phases::MEASURING, None);
    // The records are in the order of their keys, so that no result depends on the order of the rows.
    let mut records = keys.sorted();
    if let Resolution::Labels(labels) = &truth {
        records.retain(|&record| Resolution::label(labels, record) != NONE);
    }
    let position = positions(&records, keys.len());
    let found_labels = found.labels(&records, &keys);
    let true_labels = truth.labels(&records, &keys);
    let rates = b_cubed(&found_labels, &true_labels, check_for_interrupts).or_raise();

    let placed = |pairs: &[(u32, u32)]| {
        let mut placed = Vec::new();
        for &(a, b) in pairs {
            check_for_interrupts();
            let (a, b) = (position[a as usize], position[b as usize]);
            if a != NONE && b != NONE {
                push(&mut placed, (a, b));
            }
        }
        placed
    };
    let counts = match (&found, &truth) {
        (Resolution::Pairs(found), Resolution::Pairs(truth)) => {
            PairCounts::with_pairs(placed(found), placed(truth), check_for_interrupts)
        }
        (Resolution::Pairs(found), Resolution::Labels(_)) => {
            let counts = PairCounts::with_labels(placed(found), &true_labels, check_for_interrupts);
            let mut unknown = Vec::new();
            for &(a, b) in found {
                check_for_interrupts();
                if position[a as usize] == NONE || position[b as usize] == NONE {
                    push(&mut unknown, (a, b));
                }
            }
            let unknown = distinct(unknown).len() as u64;
            let all = unknown + counts.as_ref().map_or(0, |counts| counts.found);
            tell_unknown(unknown, all, "pairs", &true_in);
            counts
        }
        (Resolution::Labels(_), Resolution::Pairs(truth)) => {
            let counts =
                PairCounts::with_labels(placed(truth), &found_labels, check_for_interrupts);
            counts.map(|swapped| PairCounts {
                found: swapped.truth,
                truth: swapped.found,
                both: swapped.both,
            })
        }
        (Resolution::Labels(found), Resolution::Labels(_)) => {
            let labelled = || (0..).zip(found).filter(|(_, &label)| label != NONE);
            let unknown = labelled().filter(|&(i, _): &(usize, _)| position[i] == NONE);
            let unknown = unknown.count() as u64;
            tell_unknown(unknown, labelled().count() as u64, "records", &true_in);
            PairCounts::of_clusters(&found_labels, &true_labels, check_for_interrupts)
        }
    }
    .or_raise();
    let pairwise = counts.rates();
    record(
        fcinfo,
        [
            (counts.found as i64).into_datum(),
            (counts.truth as i64).into_datum(),
            (counts.both as i64).into_datum(),
            pairwise.precision.into_datum(),
            pairwise.recall.into_datum(),
            pairwise.f1.into_datum(),
            rates.precision.into_datum(),
            rates.recall.into_datum(),
            rates.f1.into_datum(),
        ],
    )
}

/// The least step between two thresholds.
const LEAST_STEP: f64 = 1e-6;

/// The thresholds from 0 to 1. They are quotients if the step divides 1, otherwise decimals, so that a similarity of
/// 4/5 reaches 0.8.
///
/// Errors: a step outside its range.
fn thresholds(step: f64) -> Sweep {
    if !(LEAST_STEP..=1.0).contains(&step) {
        raise(
            &Error::invalid(format!("step {} is out of range", step))
                .detail("A step is from 0.000001 to 1."),
        );
    }
    let n = (1.0 / step).round();
    let sweep = if (n * step - 1.0).abs() < 1e-9 {
        Sweep::grid(n as u32)
    } else {
        let steps = (1.0 / step).floor() as u32;
        // In float8 0.07 * 10 is more than 0.7, so the products are rounded as decimals.
        let decimal = |x: f64| (x * 1e12).round() / 1e12;
        let multiples = (0..=steps).map(|i| decimal(f64::from(i) * step));
        let multiples: Vec<f64> = multiples.collect();
        Sweep::new(&multiples)
    };
    sweep.or_raise()
}

/// `(pairs regclass, truth regclass, step float8) RETURNS TABLE (threshold float8, found bigint, correct bigint,
/// "precision" float8, recall float8, f1 float8)`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_threshold_sweep(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let mut sweep = thresholds(arguments.float8(2));
    let found_in = Source::of_similar_pairs(arguments.oid(0));
    let true_in = Source::of_pairs_or_labels(arguments.oid(1));
    let _job = progress::job("bloom_threshold_sweep", found_in.oid);
    // SAFETY: the SQL function is declared to return a set of rows.
    let mut rows = unsafe { ResultRows::new(fcinfo) };
    let mut keys = KeyDictionary::new();
    let truth = Truth::new(Resolution::read(&true_in, &mut keys, 0));
    let overhead = Overhead {
        a_pair: 32,
        a_record: 8,
        held: truth.memory(),
    };
    let mut found = PairList::with(keys, overhead);
    found.read(found_in.similar_rows(), &found_in.name, 0.0);
    let (pairs, keys) = found.finish();
    progress::phase(phases::MEASURING, None);
    // Links have each pair once.
    let links = Links::new(keys.len() as u32, &pairs, check_for_interrupts).or_raise();
    drop(pairs);
    let (mut least, mut unknown) = (1.0f64, 0);
    for i in 0..links.records() {
        for link in links.from(i).iter().take_while(|link| link.to < i) {
            check_for_interrupts();
            match truth.knows(i, link.to) {
                Some(is_true) => sweep.add(link.similarity, is_true),
                None => unknown += 1,
            }
            least = least.min(link.similarity);
        }
    }
    tell_unknown(unknown, links.pairs() as u64, "pairs", &true_in);
    let steps = sweep.steps(truth.pairs).or_raise();
    // The first threshold is the greatest that all pairs reach. A search at a lower one could have found more.
    let first = steps.iter().rposition(|step| step.threshold <= least);
    for step in &steps[first.unwrap_or(0)..] {
        check_for_interrupts();
        let rates = step.counts.rates();
        rows.put([
            step.threshold.into_datum(),
            (step.counts.found as i64).into_datum(),
            (step.counts.both as i64).into_datum(),
            rates.precision.into_datum(),
            rates.recall.into_datum(),
            rates.f1.into_datum(),
        ]);
    }
    NewValue(pg_sys::Datum::null())
}
