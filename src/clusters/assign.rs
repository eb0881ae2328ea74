//! `bloom_assign`: of pairs of two sides those that give each record one partner at the most.

use linkage::assignment::{optimal, WeightedPair};
use pgrx::{pg_sys, IntoDatum};

use crate::clusters::pair_list::PairReader;
use crate::clusters::source::Source;
use crate::pairs::one_to_one::KeyedPairs;
use pg::budget::push;
use pg::error::OrRaise;
use pg::function::arguments::{of_name, Arguments};
use pg::function::rows::{text_datum, ResultRows};
use pg::progress::{self, phases};
use pg::values::varlena::NewValue;
use pg::{check_for_interrupts, entry};

/// Whether the pairs are chosen whose similarities have the greatest sum. If not, the best pair comes first, then the
/// best of what is left.
const METHODS: [(&str, bool); 2] = [("greedy", false), ("optimal", true)];

/// Units of a similarity in a weight. What measures add that only decide between equal sums is less than one unit, up
/// to 2^24 pairs.
const UNITS: f64 = (1u64 << 44) as f64;

/// Similarities first; of equal sums the greater one of bits, which are bounded by 2,048 either way and counted in
/// 1/512. A pair is always better than none, be its similarity 0: that it is a pair, its threshold has decided.
fn weight([similarity, bits]: [f64; 2]) -> i128 {
    const FINE: u32 = 46;
    // a pair with anything in common is better than one without
    let similarity = ((similarity * UNITS) as i128).max(i128::from(similarity > 0.0));
    let bits = (bits.clamp(-2047.0, 2047.0) * 512.0) as i128 + (1 << 20);
    (similarity << FINE) + bits
}

/// Bytes that the core takes for a pair, and for a record.
const CORE: [usize; 2] = [88, 130];

/// `(pairs regclass, method text) RETURNS TABLE (a text, b text, similarity float8)`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_assign(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let method = arguments.text(1);
    let is_optimal = of_name(&method, &METHODS, "method of assignment", "methods");
    let source = Source::of_similar_pairs(arguments.oid(0));
    let _job = progress::job("bloom_assign", source.oid);
    // SAFETY: the SQL function is declared to return a set of rows.
    let mut rows = unsafe { ResultRows::new(fcinfo) };
    let mut pairs = KeyedPairs::new();
    let cursor = source.ranked_rows();
    let mut reader = PairReader::new(&cursor, &source.name);
    cursor.each(|row| {
        let similarity = reader.similarity(row);
        let bits = row.datum(3).map(|bits| f64::from_bits(bits.value() as u64));
        let bits = bits.filter(|bits| !bits.is_nan()).unwrap_or(0.0);
        let [a, b] = reader.keys(row, <[u8]>::to_vec);
        // -0 is equal to 0
        pairs.push([&a, &b], [similarity + 0.0, bits]);
    });
    progress::phase(phases::ASSIGNING, None);
    let mut put = |[a, b]: [&[u8]; 2], similarity: f64| {
        check_for_interrupts();
        rows.make(|| {
            Some([
                Some(text_datum(a)),
                Some(text_datum(b)),
                similarity.into_datum(),
            ])
        });
    };
    if is_optimal {
        let mut edges = Vec::new();
        let [a_pair, a_record] = CORE;
        let keys = pairs.ordered(a_pair, a_record, |[a, b], measures| {
            let pair = WeightedPair {
                a,
                b,
                weight: weight(measures),
                value: measures[0],
            };
            push(&mut edges, pair);
        });
        for kept in optimal(edges, check_for_interrupts).or_raise() {
            put(keys.pair([kept.a, kept.b]), kept.value);
        }
    } else {
        pairs.best_first(|keys, [similarity, _]| put(keys, similarity));
    }
    NewValue(pg_sys::Datum::null())
}
