//! `bloom_linkage`: all pairs of similar records, one of each of two relations.

use pgrx::{pg_sys, IntoDatum};

use crate::pairs::decisions::{decisions, Decisions};
use crate::pairs::find::pairs;
use crate::pairs::one_to_one::KeyedPairs;
use crate::pairs::output::PairOutput;
use crate::pairs::profiles::{self, ProfileSearch};
use crate::pairs::records::{Records, Relations};
use crate::pairs::{verify, within};
use pg::entry;
use pg::function::arguments::Arguments;
use pg::function::rows::{text_datum, ResultRows};
use pg::progress::{self, phases};
use pg::values::varlena::NewValue;

const JOB: &str = "bloom_linkage";

/// More than any similarity.
const JUDGED: f64 = 2.0;

/// `(a_rel regclass, a_key name, a_signature name, b_rel regclass, b_key name, b_signature name, threshold float8,
/// within name[], verify name, margin float8, one_to_one boolean, decisions regclass) RETURNS TABLE (a text, b text,
/// similarity float8)`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_linkage(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::of(fcinfo) };
    let within = within::given(arguments, 7);
    let threshold = arguments.threshold(6);
    let verification = verify::given(arguments, 8, threshold);
    let side = |i: usize| {
        Records::new(
            arguments.oid(i),
            arguments.name(i + 1),
            vec![arguments.name(i + 2)],
        )
        .within(within.clone())
        .verified(verification.as_ref())
    };
    let (a, b) = (side(0), side(3));
    let decisions = decisions(arguments, 11, Relations::two(&a, &b));
    let _job = progress::job(JOB, a.oid);
    let search = |output: PairOutput| pairs(output, Relations::two(&a, &b), threshold);
    // SAFETY: the SQL function is declared to return a set of pairs.
    unsafe { give(fcinfo, arguments.boolean(10), decisions.as_ref(), search) }
}

/// `(a_rel regclass, a_key name, a_signatures name[], b_rel regclass, b_key name, b_signatures name[], weights
/// float8[], threshold float8, one_to_one boolean, decisions regclass, coverage float8) RETURNS TABLE (a text, b text,
/// similarity float8)`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_linkage_of_profiles(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::of(fcinfo) };
    let weights = arguments.float8s(6);
    let side = |i: usize| {
        let signatures = arguments.names(i + 2);
        profiles::check(&signatures, &weights);
        Records::new(arguments.oid(i), arguments.name(i + 1), signatures)
    };
    let (a, b) = (side(0), side(3));
    let search = ProfileSearch {
        relations: Relations::two(&a, &b),
        weights,
        threshold: arguments.threshold(7),
        coverage: profiles::coverage(arguments, 10),
    };
    let decisions = decisions(arguments, 9, Relations::two(&a, &b));
    let search = |output: PairOutput| search.run(output);
    let _job = progress::job(JOB, a.oid);
    // SAFETY: the SQL function is declared to return a set of pairs.
    unsafe { give(fcinfo, arguments.boolean(8), decisions.as_ref(), search) }
}

/// Gives the pairs that `search` finds as rows, without those that are judged different or unsure: all of them, or
/// those that give each record one partner at the most. What is judged the same comes first then.
///
/// # Safety
/// `fcinfo` is that of a running function that returns a set of pairs.
unsafe fn give(
    fcinfo: pg_sys::FunctionCallInfo,
    one_to_one: bool,
    decisions: Option<&Decisions>,
    search: impl FnOnce(PairOutput),
) -> NewValue {
    if one_to_one {
        // SAFETY: the caller promises it.
        let mut rows = unsafe { ResultRows::new(fcinfo) };
        let mut found = KeyedPairs::new();
        let mut take = |keys: [&[u8]; 2], similarity: f64| {
            let are_same = decisions.is_some_and(|decisions| decisions.are_same(keys));
            let first = if are_same { JUDGED } else { similarity };
            found.push(keys, [first, similarity]);
        };
        search(PairOutput::taker(JOB, &mut take).without(decisions));
        progress::phase(phases::ASSIGNING, None);
        found.best_first(|[a, b], [_, similarity]| {
            rows.make(|| {
                Some([
                    Some(text_datum(a)),
                    Some(text_datum(b)),
                    similarity.into_datum(),
                ])
            });
        });
    } else {
        // SAFETY: the caller promises it.
        search(unsafe { PairOutput::rows(fcinfo, JOB) }.without(decisions));
    }
    decisions.into_iter().for_each(Decisions::tell_reopened);
    NewValue(pg_sys::Datum::null())
}
