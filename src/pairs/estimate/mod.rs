//! `bloom_pairs_estimate`: how many pairs a search for duplicates will find, and how long it will take.

mod from_index;
mod from_query;
mod sample;
mod timing;

use pgrx::{pg_sys, IntoDatum};

use crate::pairs::records::Records;
use crate::pairs::table::IndexedTables;
use pg::entry;
use pg::error::notice;
use pg::function::arguments::Arguments;
use pg::function::record::record;
use pg::progress;
use pg::values::varlena::NewValue;

const JOB: &str = "bloom_pairs_estimate";

/// What is told of a search before it is done.
struct PairsEstimate {
    pairs: f64,
    seconds: f64,
    /// Rows that were looked at, of so many.
    rows: u64,
    all: u64,
    /// Of these rows, those that have a pair.
    paired: u64,
}

/// Of a sample with fewer rows that have a pair it is told that the number of pairs is uncertain.
const FEW: u64 = 10;

/// `(rel regclass, signature name, threshold float8) RETURNS (pairs float8, seconds float8)`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_pairs_estimate(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    // No key is read, so any column will do for it.
    let records = Records::new(arguments.oid(0), arguments.name(1), vec![arguments.name(1)]);
    let threshold = arguments.threshold(2);
    let _job = progress::job(JOB, records.oid);
    let estimate = match records.indexed() {
        Some(tables) => {
            let tables = IndexedTables::new(tables, None);
            from_index::estimate(&records, &tables, threshold)
        }
        None => from_query::estimate(&records, threshold),
    };
    let (rows, all, paired) = (estimate.rows, estimate.all, estimate.paired);
    if rows < all && paired < FEW {
        notice!(
            "{JOB}: {paired} of {rows} sampled rows, of {all} in all, have a pair, so the \
             number of pairs is uncertain"
        );
    }
    record(
        fcinfo,
        [estimate.pairs.into_datum(), estimate.seconds.into_datum()],
    )
}
