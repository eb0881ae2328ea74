//! `bloom_review_queue`: the pairs whose answers would tell most about the probabilities of all, or those that alone hold
//! entities together.

use base::Error;
use linkage::clusters::queue::{band, places, share_out, ByBand, BANDS};
use pgrx::{pg_sys, IntoDatum};

use crate::clusters::{refuse_one_key, PairReader, Source};
use crate::pairs::decisions::Decisions;
use crate::register::ReadableEntities;
use pg::budget::Budget;
use pg::entry;
use pg::error::raise;
use pg::ffi::hash_extended;
use pg::file::{ByteStrings, RecordSort};
use pg::function::arguments::Arguments;
use pg::function::rows::{text_datum, ResultRows};
use pg::values::varlena::NewValue;
use pg::{check_for_interrupts, progress};

/// Most pairs of a queue: they are in memory.
const MOST: i32 = 100_000;

/// Pairs that wait for an answer, in temporary files.
struct Waiting {
    keys: ByteStrings,
    /// By band: the probability as a number in its order, a hash of the keys that settles ties, where the keys are.
    pairs: [RecordSort<3>; BANDS],
    by_band: ByBand,
    answered: ByBand,
}

impl Waiting {
    /// Reads the pairs that are in a band, and what has been decided about them.
    ///
    /// Errors: as [`PairReader`]; a pair of a record with itself.
    fn read(found_in: &Source, decisions: Option<&Decisions>, memory: usize) -> Waiting {
        let each = memory / (BANDS + 1);
        let mut waiting = Waiting {
            keys: ByteStrings::new(each),
            pairs: std::array::from_fn(|_| RecordSort::new(each)),
            by_band: [0; BANDS],
            answered: [0; BANDS],
        };
        let (cursor, mut number) = (found_in.similar_rows(), 0);
        let mut reader = PairReader::of(&cursor, found_in);
        cursor.each(|row| {
            check_for_interrupts();
            let probability = reader.similarity(row);
            let keys = reader.keys(row, <[u8]>::to_vec);
            let [a, b] = [&keys[0], &keys[1]];
            if a == b {
                refuse_one_key(a, &found_in.name);
            }
            let Some(band) = band(probability) else {
                return;
            };
            let judged = decisions.and_then(|decisions| decisions.get([a, b]));
            if judged.is_some_and(|judged| !judged.changed) {
                waiting.answered[band] += 1;
                return;
            }
            // that of (b, a), too, so that a pair that is there twice is found
            let hash = hash_extended(a.min(b), hash_extended(a.max(b), 0));
            waiting.by_band[band] += 1;
            // probabilities are not negative, so their bits have their order
            waiting.pairs[band].push([probability.to_bits(), hash, number]);
            waiting.keys.push(Some(a));
            waiting.keys.push(Some(b));
            number += 2;
        });
        waiting
    }

    /// Gives the chosen pairs to `each`, of falling probability: keys, probability, and how many pairs that wait have
    /// the same.
    fn choose(self, wanted: u64, mut each: impl FnMut([&[u8]; 2], f64, u64)) {
        let asked = share_out(wanted, self.by_band, self.answered);
        let mut chosen: Vec<([u64; 3], u64)> = Vec::new();
        for (band, pairs) in self.pairs.into_iter().enumerate() {
            let mut places = places(asked[band], self.by_band[band]).peekable();
            let (mut same, mut first) = (0, chosen.len());
            let mut before = None;
            for (place, pair) in (0..).zip(pairs.finish()) {
                check_for_interrupts();
                if before.replace(pair[0]) != Some(pair[0]) {
                    chosen[first..]
                        .iter_mut()
                        .for_each(|(_, alike)| *alike = same);
                    (same, first) = (0, chosen.len());
                }
                same += 1;
                let is_place = places.next_if_eq(&place).is_some();
                // of a pair that is there twice the first one is asked
                let is_again = chosen
                    .last()
                    .is_some_and(|(last, _)| last[..2] == pair[..2]);
                if is_place && !is_again {
                    chosen.push((pair, 0));
                }
            }
            chosen[first..]
                .iter_mut()
                .for_each(|(_, alike)| *alike = same);
        }
        let mut keys = self.keys;
        for ([probability, _, number], alike) in chosen.into_iter().rev() {
            let [a, b] = [number, number + 1].map(|i| keys.get(i).unwrap_or_default().to_vec());
            each([&a, &b], f64::from_bits(probability), alike);
        }
    }
}

/// `(pairs regclass, n integer, decisions regclass) RETURNS TABLE (a text, b text, probability float8, alike bigint)`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_review_queue(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let wanted = arguments.given(1).value() as i32;
    if !(1..=MOST).contains(&wanted) {
        let error = Error::invalid(format!("n {wanted} is out of range"));
        raise(&error.detail(format!("It is a number of pairs, from 1 to {MOST}.")));
    }
    let decisions = arguments.datum(2).map(|_| arguments.oid(2));
    let decisions = decisions.map(|oid| Decisions::read(oid, None, false));
    let _job = progress::job("bloom_review_queue", arguments.oid(0));
    // SAFETY: the SQL function is declared to return a set of rows.
    let mut rows = unsafe { ResultRows::new(fcinfo) };
    let mut put = |[a, b]: [&[u8]; 2], probability: f64, alike: u64| {
        rows.make(|| {
            Some([
                Some(text_datum(a)),
                Some(text_datum(b)),
                probability.into_datum(),
                (alike as i64).into_datum(),
            ])
        });
    };
    if let Some(entities) = ReadableEntities::find(arguments.oid(0)) {
        for link in entities
            .to_look_at(wanted as usize, decisions.as_ref())
            .links
        {
            let [a, b] = &link.keys;
            put([a, b], link.probability, link.held);
        }
        return NewValue(pg_sys::Datum::null());
    }
    let found_in = Source::of_probable_pairs(arguments.oid(0));
    let memory = Budget::of_setting().bytes();
    let waiting = Waiting::read(&found_in, decisions.as_ref(), memory);
    waiting.choose(wanted as u64, put);
    NewValue(pg_sys::Datum::null())
}
