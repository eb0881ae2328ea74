//! `bloom_quality`: compares what was found with what is true.

use linkage::clusters::{b_cubed, PairCounts};
use pgrx::{pg_sys, IntoDatum};

use crate::clusters::resolution::Resolution;
use crate::clusters::source::Source;
use crate::clusters::truth::{distinct, tell_unknown};
use crate::pairs::dictionary::{positions, KeyDictionary, NONE};
use pg::budget::push;
use pg::error::OrRaise;
use pg::function::arguments::Arguments;
use pg::function::record::record;
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
