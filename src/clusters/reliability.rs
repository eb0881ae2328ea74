//! `bloom_reliability`: whether the probabilities of pairs are ones, against what is known or decided.

use linkage::clusters::{Reliability, Verdict};
use pgrx::{pg_sys, IntoDatum};

use super::pair_list::{refuse_one_key, PairReader};
use super::resolution::{tell_unknown, Resolution, Truth};
use super::source::Source;
use crate::pairs::decisions::{Decisions, Judgement};
use crate::pairs::dictionary::KeyDictionary;
use crate::pairs::source_columns::has;
use pg::check_for_interrupts;
use pg::entry;
use pg::error::notice;
use pg::function::arguments::Arguments;
use pg::function::rows::ResultRows;
use pg::progress;
use pg::values::varlena::NewValue;

/// What says whether a pair is right.
enum Known {
    /// All pairs of records with a label, or all true pairs.
    Truth(Source, Truth, KeyDictionary),
    /// What people have said about some pairs.
    Decided(Decisions),
}

impl Known {
    /// Errors: it has neither the columns of decisions, nor those of pairs or of labels.
    fn read(oid: pg_sys::Oid) -> Known {
        if has(oid, &[c"a", c"b", c"decision"]) {
            return Known::Decided(Decisions::read(oid, None, false));
        }
        let source = Source::of_pairs_or_labels(oid);
        let mut keys = KeyDictionary::new();
        let truth = Truth::new(Resolution::read(&source, &mut keys, 0));
        Known::Truth(source, truth, keys)
    }

    /// Whether a pair is right; `None` if that is not known.
    fn says(&self, [a, b]: [&[u8]; 2]) -> Option<bool> {
        match self {
            Known::Truth(_, truth, keys) => match (keys.get(a), keys.get(b)) {
                (Some(a), Some(b)) => truth.knows(a, b),
                _ => truth.has_all_records().then_some(false),
            },
            Known::Decided(decisions) => match decisions.get([a, b])? {
                Judgement { changed: true, .. } => None,
                Judgement { verdict, .. } => match verdict {
                    Verdict::Same => Some(true),
                    Verdict::Different => Some(false),
                    Verdict::Unsure => None,
                },
            },
        }
    }

    /// Tells the user how many pairs of all nothing is known about.
    fn tell_unknown(&self, unknown: u64, of: u64) {
        match self {
            Known::Truth(source, ..) => tell_unknown(unknown, of, "pairs", source),
            Known::Decided(decisions) if unknown > 0 => notice!(
                "{unknown} of {of} pairs {} not counted, since \"{}\" does not say whether they are the same",
                if unknown == 1 { "is" } else { "are" },
                decisions.name
            ),
            Known::Decided(_) => (),
        }
    }
}

/// `(pairs regclass, truth regclass) RETURNS TABLE (probability_from float8, probability_to float8, found bigint,
/// claimed float8, correct bigint, share float8, share_low float8, share_high float8)`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_reliability(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let found_in = Source::of_probable_pairs(arguments.oid(0));
    let truth = arguments.oid(1);
    let _job = progress::job("bloom_reliability", found_in.oid);
    // SAFETY: the SQL function is declared to return a set of rows.
    let mut rows = unsafe { ResultRows::new(fcinfo) };
    let known = Known::read(truth);
    let mut reliability = Reliability::default();
    let (mut unknown, mut all) = (0, 0);
    let cursor = found_in.similar_rows();
    let mut reader = PairReader::of(&cursor, &found_in);
    cursor.each(|row| {
        check_for_interrupts();
        let probability = reader.similarity(row);
        let [a, b] = reader.keys(row, <[u8]>::to_vec);
        if a == b {
            refuse_one_key(&a, &found_in.name);
        }
        all += 1;
        match known.says([&a, &b]) {
            Some(is_right) => reliability.add(probability, is_right),
            None => unknown += 1,
        }
    });
    known.tell_unknown(unknown, all);
    for ([from, to], band) in reliability.bands() {
        let [low, high] = band.limits();
        rows.put([
            from.into_datum(),
            to.into_datum(),
            (band.pairs as i64).into_datum(),
            (band.claimed / band.pairs as f64).into_datum(),
            (band.right as i64).into_datum(),
            (band.right as f64 / band.pairs as f64).into_datum(),
            low.into_datum(),
            high.into_datum(),
        ]);
    }
    NewValue(pg_sys::Datum::null())
}
