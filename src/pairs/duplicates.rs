//! `bloom_duplicates`: all pairs of similar records of one relation.

use pgrx::pg_sys;

use crate::pairs::decisions::{decisions, Decisions};
use crate::pairs::find::pairs;
use crate::pairs::output::PairOutput;
use crate::pairs::profiles::{self, ProfileSearch};
use crate::pairs::records::{Records, Relations};
use crate::pairs::{only_new, verify, within};
use pg::entry;
use pg::function::arguments::Arguments;
use pg::progress;
use pg::values::varlena::NewValue;

const JOB: &str = "bloom_duplicates";

/// `(rel regclass, key name, signature name, threshold float8, within name[], verify name, margin float8, decisions
/// regclass, new regclass) RETURNS TABLE (a text, b text, similarity float8)`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_duplicates(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::of(fcinfo) };
    let records = Records::new(arguments.oid(0), arguments.name(1), vec![arguments.name(2)]);
    let threshold = arguments.threshold(3);
    let verification = verify::given(arguments, 5, threshold);
    let records = records.within(within::given(arguments, 4));
    let records = records.verified(verification.as_ref());
    let records = records.only(only_new::given(arguments, 8));
    let decisions = decisions(arguments, 7, Relations::one(&records));
    let _job = progress::job(JOB, records.oid);
    // SAFETY: the SQL function is declared to return a set of pairs.
    let output = unsafe { PairOutput::rows(fcinfo, JOB) };
    pairs(
        output.without(decisions.as_ref()),
        Relations::one(&records),
        threshold,
    );
    decisions.iter().for_each(Decisions::tell_reopened);
    NewValue(pg_sys::Datum::null())
}

/// `(rel regclass, key name, signatures name[], weights float8[], threshold float8, decisions regclass, new regclass,
/// coverage float8) RETURNS TABLE (a text, b text, similarity float8)`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_duplicates_of_profiles(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::of(fcinfo) };
    let (signatures, weights) = (arguments.names(2), arguments.float8s(3));
    profiles::check(&signatures, &weights);
    let records = Records::new(arguments.oid(0), arguments.name(1), signatures);
    let records = records.only(only_new::given(arguments, 6));
    let search = ProfileSearch {
        relations: Relations::one(&records),
        weights,
        threshold: arguments.threshold(4),
        coverage: profiles::coverage(arguments, 7),
    };
    let decisions = decisions(arguments, 5, Relations::one(&records));
    let _job = progress::job(JOB, records.oid);
    // SAFETY: the SQL function is declared to return a set of pairs.
    search.run(unsafe { PairOutput::rows(fcinfo, JOB) }.without(decisions.as_ref()));
    decisions.iter().for_each(Decisions::tell_reopened);
    NewValue(pg_sys::Datum::null())
}
