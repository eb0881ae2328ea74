//! Pairs of the rows that sigfile indexes hold.

use pgrx::pg_sys;
use sigfile::RowShape;

use crate::pairs::join::bands::Bands;
use crate::pairs::join::loose::{loose, Origins};
use crate::pairs::join::parallel::{self, Job};
use crate::pairs::join::{JoinSink, RowPair, TableNumber, TableRow};
use crate::pairs::keys::Keys;
use crate::pairs::output::PairOutput;
use crate::pairs::profiles::ProfileJudge;
use crate::pairs::records::Relations;
use crate::pairs::table::IndexedTable;
use crate::pairs::unique::check_distinct;
use access::mismatch;
use pg::check_for_interrupts;
use pg::error::raise;
use pg::progress::{self, phases};

/// Joins the tables: the first `left` ones with the others, or all with each other if `left` is `None`. A judge, if
/// there is one, says which of the pairs are wanted, and how similar they are.
///
/// Errors: indexes of different shapes; keys that are not unique, or null; damaged indexes; out of memory.
pub fn pairs(
    output: &mut PairOutput,
    tables: &[IndexedTable],
    left: Option<usize>,
    relations: Relations<'_>,
    threshold: f64,
    judge: Option<ProfileJudge<'_>>,
) {
    let threshold = match check_shapes(tables) {
        Some(tag) => relations.searched(RowShape::of_tag(tag).measure(), threshold),
        None => threshold,
    };
    // SAFETY: the server runs a function with an active snapshot.
    let snapshot = unsafe { pg_sys::GetActiveSnapshot() };
    for table in tables {
        table.lock_predicate();
    }
    let columns = (&relations.left.key, relations.right.map(|right| &right.key));
    let mut found = IndexedPairs {
        output,
        keys: Keys::new(tables, columns, snapshot)
            .within(&relations.left.within)
            .judged(judge),
        tables,
        relations,
    };
    progress::phase(phases::SEARCHING_TAILS, None);
    join_loose(tables, left, threshold, &mut found);
    let job = Job {
        tables,
        left,
        threshold,
        memory: found.output.memory(),
    };
    progress::phase(phases::SEARCHING_INDEX, None);
    parallel::run(&job, &mut found);
}

/// Gives pairs of rows to the output, with the keys that the tables have.
struct IndexedPairs<'a, 'o> {
    output: &'a mut PairOutput<'o>,
    keys: Keys<'a>,
    tables: &'a [IndexedTable],
    relations: Relations<'a>,
}

impl IndexedPairs<'_, '_> {
    /// Errors: a row is paired with itself; a key that is null, or that both rows have.
    fn put(&mut self, a: TableRow, b: TableRow, similarity: f64) {
        check_for_interrupts();
        if a == b {
            let index = self.tables[a.table().index()].index();
            raise(&index.unsound("it has a row of the table twice"));
        }
        let (keys, relations) = (&mut self.keys, self.relations);
        self.output.put_judged(|| {
            let (keys, similarity) = keys.of(a, b, similarity)?;
            check_distinct(keys, relations);
            Some((keys, similarity))
        });
    }
}

impl JoinSink for IndexedPairs<'_, '_> {
    fn pair(&mut self, pair: &RowPair) {
        self.put(pair.a, pair.b, pair.similarity);
    }

    fn progress(&mut self, done: u64, all: u64) {
        self.output.report(done, all);
    }
}

/// Gives pairs to the same output, and finds out first which rows of the tables the loose ones are.
struct LoosePairs<'a, 'b, 'o> {
    found: &'a mut IndexedPairs<'b, 'o>,
    /// Of each side.
    origins: [Option<Origins>; 2],
}

impl LoosePairs<'_, '_, '_> {
    fn row(&mut self, row: TableRow) -> TableRow {
        match row.table().loose_side() {
            None => row,
            Some(side) => {
                let origins = self.origins[side].as_mut();
                origins.expect("the row was found there").get(row.row())
            }
        }
    }
}

impl JoinSink for LoosePairs<'_, '_, '_> {
    fn pair(&mut self, pair: &RowPair) {
        let (a, b) = (self.row(pair.a), self.row(pair.b));
        self.found.put(a, b, pair.similarity);
    }

    fn progress(&mut self, done: u64, all: u64) {
        self.found.progress(done, all);
    }
}

/// Joins the loose rows with each other and with the rows that have posting lists. [`parallel::run`] joins the latter
/// with each other.
fn join_loose(
    tables: &[IndexedTable],
    left: Option<usize>,
    threshold: f64,
    found: &mut IndexedPairs<'_, '_>,
) {
    let memory = found.output.memory();
    let of_side = |from: usize, to: usize| {
        let numbered = tables[from..to].iter().zip(from..);
        let numbered = numbered.map(|(table, i)| (TableNumber::of_index(i), table));
        let share = if left.is_some() {
            memory / 4
        } else {
            memory / 2
        };
        loose(numbered, share).unzip()
    };
    let end = left.unwrap_or(tables.len());
    let (rows, origins) = of_side(0, end);
    let (others, other_origins) = of_side(end, tables.len());
    if rows.is_none() && others.is_none() {
        return;
    }
    // Without linkage the loose rows are side 0, and all segments are side 1.
    let segments = parallel::pieces(tables, left.or(Some(0)));
    let bands = Bands {
        sides: [rows, others],
        tables: TableNumber::LOOSE,
        linkage: left.is_some(),
        segments: &segments,
        threshold,
        memory: memory / 2,
    };
    bands.join(&mut LoosePairs {
        found,
        origins: [origins, other_origins],
    });
}

/// The tag of the shape that all indexes have. An index without rows has none.
///
/// Errors: indexes of different shapes.
pub fn check_shapes(tables: &[IndexedTable]) -> Option<u64> {
    let mut shapes = tables
        .iter()
        .map(|t| t.meta.shape())
        .filter(|&shape| shape != 0);
    let first = shapes.next()?;
    if let Some(other) = shapes.find(|&shape| shape != first) {
        raise(&mismatch(first, other));
    }
    Some(first)
}
