//! `bloom_duplicates`: all pairs of similar records of one relation. `bloom_linkage`: the same of two relations, one
//! record of each.

use pgrx::{pg_sys, IntoDatum};

use crate::pairs::decisions::{decisions, Decisions};
use crate::pairs::find::pairs;
use crate::pairs::one_to_one::KeyedPairs;
use crate::pairs::output::PairOutput;
use crate::pairs::profiles::{self, ProfileSearch};
use crate::pairs::records::{Records, Relations};
use crate::pairs::{only_new, verify, within};
use pg::entry;
use pg::function::arguments::Arguments;
use pg::function::rows::{text_datum, ResultRows};
use pg::progress::{self, phases};
use pg::values::varlena::NewValue;

/// More than any similarity.
const JUDGED: f64 = 2.0;

/// `(rel regclass, key name, signature name, threshold float8, within name[], verify name, margin float8, decisions
/// regclass, new regclass) RETURNS TABLE (a text, b text, similarity float8)`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_duplicates(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let records = Records::given(arguments, 0);
    let threshold = arguments.threshold(3);
    let verification = verify::given(arguments, 5, threshold);
    let records = records.within(within::given(arguments, 4));
    let records = records.verified(verification.as_ref());
    let records = records.only(only_new::given(arguments, 8));
    let relations = Relations::one(&records);
    let search = |output: PairOutput| pairs(output, relations, threshold);
    // SAFETY: the SQL function is declared to return a set of pairs.
    unsafe { run(fcinfo, relations, 7, None, search) }
}

/// `(rel regclass, key name, signatures name[], weights float8[], threshold float8, decisions regclass, new regclass,
/// coverage float8) RETURNS TABLE (a text, b text, similarity float8)`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_duplicates_of_profiles(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let (signatures, weights) = (arguments.names(2), arguments.float8s(3));
    profiles::check(&signatures, &weights);
    let records = Records::new(arguments.oid(0), arguments.name(1), signatures);
    let records = records.only(only_new::given(arguments, 6));
    let relations = Relations::one(&records);
    let search = ProfileSearch {
        relations,
        weights,
        threshold: arguments.threshold(4),
        coverage: profiles::coverage(arguments, 7),
    };
    // SAFETY: the SQL function is declared to return a set of pairs.
    unsafe { run(fcinfo, relations, 5, None, |output| search.run(output)) }
}

/// `(a_rel regclass, a_key name, a_signature name, b_rel regclass, b_key name, b_signature name, threshold float8,
/// within name[], verify name, margin float8, one_to_one boolean, decisions regclass) RETURNS TABLE (a text, b text,
/// similarity float8)`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_linkage(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let within = within::given(arguments, 7);
    let threshold = arguments.threshold(6);
    let verification = verify::given(arguments, 8, threshold);
    let side = |i: usize| {
        let records = Records::given(arguments, i).within(within.clone());
        records.verified(verification.as_ref())
    };
    let (left, right) = (side(0), side(3));
    let relations = Relations::two(&left, &right);
    let search = |output: PairOutput| pairs(output, relations, threshold);
    // SAFETY: the SQL function is declared to return a set of pairs.
    unsafe { run(fcinfo, relations, 11, Some(10), search) }
}

/// `(a_rel regclass, a_key name, a_signatures name[], b_rel regclass, b_key name, b_signatures name[], weights
/// float8[], threshold float8, one_to_one boolean, decisions regclass, coverage float8) RETURNS TABLE (a text, b text,
/// similarity float8)`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_linkage_of_profiles(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let weights = arguments.float8s(6);
    let side = |i: usize| {
        let signatures = arguments.names(i + 2);
        profiles::check(&signatures, &weights);
        Records::new(arguments.oid(i), arguments.name(i + 1), signatures)
    };
    let (left, right) = (side(0), side(3));
    let relations = Relations::two(&left, &right);
    let search = ProfileSearch {
        relations,
        weights,
        threshold: arguments.threshold(7),
        coverage: profiles::coverage(arguments, 10),
    };
    // SAFETY: the SQL function is declared to return a set of pairs.
    unsafe { run(fcinfo, relations, 9, Some(8), |output| search.run(output)) }
}

/// Gives the pairs that `search` finds as rows, without those that are judged different or unsure: all of them, or
/// those that give each record one partner at the most. What is judged the same comes first then. The decisions are
/// argument `judged`, and `one_to_one` the one that asks for one partner.
///
/// # Safety
/// `fcinfo` is that of a running function that returns a set of pairs, with these arguments.
unsafe fn run(
    fcinfo: pg_sys::FunctionCallInfo,
    relations: Relations<'_>,
    judged: usize,
    one_to_one: Option<usize>,
    search: impl FnOnce(PairOutput),
) -> NewValue {
    // SAFETY: the caller promises it.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let decisions = decisions(arguments, judged, relations);
    let decisions = decisions.as_ref();
    let job = match relations.right {
        None => "bloom_duplicates",
        Some(_) => "bloom_linkage",
    };
    let one_to_one = one_to_one.is_some_and(|i| arguments.boolean(i));
    let _job = progress::job(job, relations.left.oid);
    if one_to_one {
        // SAFETY: the caller promises it.
        let mut rows = unsafe { ResultRows::new(fcinfo) };
        let mut found = KeyedPairs::new();
        let mut take = |keys: [&[u8]; 2], similarity: f64| {
            let are_same = decisions.is_some_and(|decisions| decisions.are_same(keys));
            let first = if are_same { JUDGED } else { similarity };
            found.push(keys, [first, similarity]);
        };
        search(PairOutput::taker(job, &mut take).without(decisions));
        progress::phase(phases::ASSIGNING, None);
        found.best_first(|keys, [_, similarity]| {
            rows.make(|| {
                let [a, b] = keys.map(|key| Some(text_datum(key)));
                Some([a, b, similarity.into_datum()])
            });
        });
    } else {
        // SAFETY: the caller promises it.
        search(unsafe { PairOutput::rows(fcinfo, job) }.without(decisions));
    }
    decisions.into_iter().for_each(Decisions::tell_reopened);
    NewValue(pg_sys::Datum::null())
}
