//! `minhash_plan`: how many sampled bits to keep.

use pgrx::{pg_sys, IntoDatum};
use sigfile::shape::plan::{plan, NUMBERS};
use signature::sketch::HEADER;

use pg::entry;
use pg::error::OrRaise;
use pg::function::arguments::Arguments;
use pg::function::rows::ResultRows;
use pg::values::varlena::{stored, NewValue};

/// `(rows bigint, similarity float8, recall float8) RETURNS TABLE (n integer, threshold float8, margin float8,
/// expected_recall float8, chance float8, bytes integer, chunks integer, probes float8, scans boolean)`
#[entry]
fn minhash_plan(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments, and STRICT.
    let arguments = unsafe { Arguments::of(fcinfo) };
    let (table, similarity, recall) = (arguments.int8(0), arguments.float8(1), arguments.float8(2));
    // SAFETY: the SQL function is declared to return a set of rows.
    let mut rows = unsafe { ResultRows::new(fcinfo) };
    for n in NUMBERS {
        let plan = plan(table, similarity, recall, n).or_raise();
        let bytes = stored(HEADER + usize::from(n).div_ceil(8));
        rows.put([
            i32::from(n).into_datum(),
            plan.threshold.into_datum(),
            plan.margin.into_datum(),
            plan.recall.into_datum(),
            plan.chance.into_datum(),
            (bytes as i32).into_datum(),
            (plan.chunks as i32).into_datum(),
            plan.probes.into_datum(),
            plan.scans.into_datum(),
        ]);
    }
    NewValue(pg_sys::Datum::null())
}
