//! `bloom_quality`: what was found, held against what is true.

use bloom_ident_core::dedup::{b_cubed, PairCounts};
use pgrx::{pg_sys, IntoDatum};

use crate::clusters::numbers::{places, Numbers, NONE};
use crate::clusters::side::{tell_unknown, Side};
use crate::clusters::source::Source;
use crate::pg::budget::push;
use crate::pg::error::OrRaise;
use crate::pg::function::arguments::Arguments;
use crate::pg::function::record::record;
use crate::pg::{check_for_interrupts, entry};
use crate::types::{tick, NewValue};

/// How many different pairs of two records there are that `choose` takes.
fn distinct(pairs: &[(u32, u32)], choose: impl Fn(u32, u32) -> bool) -> u64 {
    let mut chosen = Vec::new();
    for &(a, b) in pairs {
        check_for_interrupts();
        if a != b && choose(a, b) {
            push(&mut chosen, (a.min(b), a.max(b)));
        }
    }
    chosen.sort_unstable_by(|x, y| {
        check_for_interrupts();
        x.cmp(y)
    });
    chosen.dedup();
    chosen.len() as u64
}

/// `(pairs regclass, truth regclass)`
#[entry]
fn bloom_quality(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: declared so.
    let arguments = unsafe { Arguments::of(fcinfo) };
    let found_in = Source::of_pairs_or_labels(arguments.oid(0));
    let true_in = Source::of_pairs_or_labels(arguments.oid(1));
    let mut numbers = Numbers::new();
    let truth = Side::read(&true_in, &mut numbers, 0);
    let found = Side::read(&found_in, &mut numbers, truth.memory());

    // in the order of their keys, so that nothing depends on that of the rows
    let mut records = numbers.sorted();
    if let Side::Labels(labels) = &truth {
        records.retain(|&record| Side::label(labels, record) != NONE);
    }
    let place = places(&records, numbers.len());
    let found_labels = found.labels(&records, &numbers);
    let true_labels = truth.labels(&records, &numbers);
    let rates = b_cubed(&found_labels, &true_labels, tick).or_raise();

    let placed = |pairs: &[(u32, u32)]| {
        let mut placed = Vec::new();
        for &(a, b) in pairs {
            check_for_interrupts();
            let (a, b) = (place[a as usize], place[b as usize]);
            if a != NONE && b != NONE {
                push(&mut placed, (a, b));
            }
        }
        placed
    };
    let counts = match (&found, &truth) {
        (Side::Pairs(found), Side::Pairs(truth)) => {
            PairCounts::with_pairs(placed(found), placed(truth), tick)
        }
        (Side::Pairs(found), Side::Labels(_)) => {
            let counts = PairCounts::with_labels(placed(found), &true_labels, tick);
            let unknown = distinct(found, |a, b| {
                place[a as usize] == NONE || place[b as usize] == NONE
            });
            let all = unknown + counts.as_ref().map_or(0, |counts| counts.found);
            tell_unknown(unknown, all, "pairs", &true_in);
            counts
        }
        (Side::Labels(_), Side::Pairs(truth)) => {
            PairCounts::with_labels(placed(truth), &found_labels, tick).map(|swapped| PairCounts {
                found: swapped.truth,
                truth: swapped.found,
                both: swapped.both,
            })
        }
        (Side::Labels(found), Side::Labels(_)) => {
            let labelled = || (0..).zip(found).filter(|(_, &label)| label != NONE);
            let unknown = labelled().filter(|&(i, _): &(usize, _)| place[i] == NONE);
            let unknown = unknown.count() as u64;
            tell_unknown(unknown, labelled().count() as u64, "records", &true_in);
            PairCounts::of_clusters(&found_labels, &true_labels, tick)
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
