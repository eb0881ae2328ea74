//! Pairs of the rows that sigfile indexes hold.

use sigfile::RowShape;

use crate::pairs::join::bands::join_bands;
use crate::pairs::join::parallel::{self, Job};
use crate::pairs::join::unlisted::{unlisted, LocatedPairs, Origins};
use crate::pairs::join::{JoinSink, RowPair};
use crate::pairs::keys::Keys;
use crate::pairs::output::{PairOutput, PairSink};
use crate::pairs::profiles::ProfileComparison;
use crate::pairs::records::Relations;
use crate::pairs::table::IndexedTables;
use crate::pairs::unique::check_distinct;
use pg::error::raise;
use pg::progress::{self, phases};

/// Joins the tables of two relations, or those of one with each other. A comparison of profiles, if there is one, says
/// which of the pairs are wanted, and how similar they are.
///
/// Errors: as [`IndexedTables::begin`]; a row is paired with itself; keys that are not unique, or null; damaged
/// indexes; out of memory.
pub fn pairs(
    output: &mut PairOutput,
    tables: &IndexedTables,
    relations: Relations<'_>,
    threshold: f64,
    profile: Option<ProfileComparison<'_>>,
) {
    let threshold = match tables.begin() {
        Some(tag) => relations.searched(RowShape::of_tag(tag).measure(), threshold),
        None => threshold,
    };
    let memory = output.memory();
    let mut keys = Keys::new(tables, relations, profile);
    let mut found = PairSink::new(output, |output, pair: &RowPair| {
        if pair.a == pair.b {
            let index = tables.list[pair.a.table().index()].index();
            raise(&index.unsound("it has a row of the table twice"));
        }
        output.put_compared(|| {
            let (keys, similarity) = keys.pair(pair.a, pair.b, pair.similarity)?;
            check_distinct(keys, relations);
            Some((keys, similarity))
        });
    });
    progress::phase(phases::SEARCHING_TAILS, None);
    join_unlisted(tables, threshold, memory, &mut found);
    let job = Job {
        tables,
        threshold,
        memory,
    };
    progress::phase(phases::SEARCHING_INDEX, None);
    parallel::run(&job, &mut found);
}

/// Joins the unlisted rows with each other and with the rows that have posting lists. [`parallel::run`] joins the latter
/// with each other.
fn join_unlisted(tables: &IndexedTables, threshold: f64, memory: usize, sink: &mut impl JoinSink) {
    let linkage = tables.left.is_some();
    let share = if linkage { memory / 4 } else { memory / 2 };
    let (left, left_origins) = unlisted(tables.of_side(0), share).unzip();
    let (right, right_origins) = unlisted(tables.of_side(1), share).unzip();
    if left.is_none() && right.is_none() {
        return;
    }
    // Without linkage the unlisted rows are side 0, and all segments are side 1.
    let segments = parallel::pieces(&tables.list, tables.left.or(Some(0)));
    let origins = Origins([left_origins, right_origins]);
    let mut sink = LocatedPairs { sink, origins };
    let sides = [left, right];
    join_bands(sides, linkage, &segments, threshold, memory / 2, &mut sink);
}
