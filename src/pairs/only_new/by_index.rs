//! Rows that are searched for in indexes: one by one, or, where they are many, together.

use pgrx::pg_sys;
use sigfile::costs::{TAIL_PAGE, TOGETHER};
use sigfile::{Geometry, Part, Query, RowShape};

use super::probes::Probes;
use crate::pairs::from_query::Stream;
use crate::pairs::join::bands::join_bands;
use crate::pairs::join::parallel::{self, Job};
use crate::pairs::join::sorted::Sorted;
use crate::pairs::join::unlisted::{unlisted, LocatedPairs, Origins};
use crate::pairs::join::{JoinSink, RowPair, TableNumber, TableRow};
use crate::pairs::keys::Keys;
use crate::pairs::output::{PairOutput, PairSink};
use crate::pairs::profiles::ProfileComparison;
use crate::pairs::records::Relations;
use crate::pairs::table::{IndexedTable, IndexedTables};
use crate::pairs::unique::{self, check_distinct};
use access::{mismatch, IndexScan, RowConditions};
use pg::catalog::privileges::{current_user, may};
use pg::check_for_interrupts;
use pg::error::raise;

/// Searches for the costs are estimated for so many of the rows.
const SAMPLE: u32 = 16;

/// Finds the pairs of which one record at least is among the new ones. Gives false, and does nothing, if these are too
/// many for the memory, or the caller may read some columns only. A comparison of profiles, if there is one, says which
/// of the pairs are wanted, and how similar they are.
///
/// Errors: as a search by indexes, but for keys that are not unique: of these only the new ones are looked at, and the
/// keys of pairs.
pub fn pairs(
    output: &mut PairOutput,
    tables: &IndexedTables,
    relations: Relations<'_>,
    threshold: f64,
    profile: Option<ProfileComparison<'_>>,
) -> bool {
    let Some(tag) = tables.begin() else {
        return true;
    };
    let memory = output.memory();
    let records = relations.left;
    // The query asks where the rows are, which only those may who may read all of the table.
    if !may(records.oid, pg_sys::ACL_SELECT, current_user()) {
        return false;
    }
    let Some((probes, rows)) = Probes::read(records, &tables.list, tag, memory / 4) else {
        return false;
    };
    let search = Job {
        tables,
        threshold: relations.searched(RowShape::of_tag(tag).measure(), threshold),
        memory: memory / 2,
    };
    let mut keys = Keys::new(tables, relations, profile);
    let put = |output: &mut PairOutput, pair: &RowPair| {
        let new = probes.places[pair.a.row() as usize - 1];
        // Two new ones find each other.
        let wanted = |other: TableRow| other > new || other != new && !probes.has(other);
        output.put_compared(|| {
            let (keys, similarity) = keys.pair_of_version(new, pair.b, wanted, pair.similarity)?;
            check_distinct(keys, relations);
            Some((keys, similarity))
        });
    };
    search.run(rows, &mut PairSink::new(output, put));
    true
}

/// Finds the pairs of two relations of which one has indexes, those of `tables`, and the other one has none.
///
/// Errors: as a search by indexes, and one by a query.
pub fn unindexed_side(
    output: &mut PairOutput,
    tables: &IndexedTables,
    relations: Relations<'_>,
    threshold: f64,
    is_right: bool,
) {
    let right = relations.right.expect("there are two relations");
    let (indexed, other) = match is_right {
        true => (right, relations.left),
        false => (relations.left, right),
    };
    unique::check(indexed);
    let tag = tables.begin();
    let memory = output.memory();
    let mut stream = Stream::read(other, memory / 4, None, None);
    let rows = stream.columns.pop().expect("a record has one signature");
    let (Some(tag), Some(of_rows)) = (tag, rows.shape.tag()) else {
        return;
    };
    if tag != of_rows {
        raise(&match is_right {
            true => mismatch(of_rows, tag),
            false => mismatch(tag, of_rows),
        });
    }
    let Some(rows) = rows.sorted() else { return };
    let search = Job {
        tables,
        threshold: relations.searched(RowShape::of_tag(tag).measure(), threshold),
        memory: memory / 2,
    };
    let mut keys = Keys::new(tables, Relations::one(indexed), None);
    let put = |output: &mut PairOutput, pair: &RowPair| {
        output.put(pair.similarity, || {
            let found = keys.key_of(pair.b)?;
            let other = stream.keys.text(pair.a.row() - 1);
            Some(match is_right {
                true => [other, found],
                false => [found, other],
            })
        });
    };
    search.run(rows, &mut PairSink::new(output, put));
}

/// A search for rows in the indexes of tables.
impl Job<'_> {
    /// Gives pairs of the number of a row and of a row that an index has.
    ///
    /// Errors: a damaged index; out of memory.
    fn run(&self, mut rows: Sorted, sink: &mut impl JoinSink) {
        if self.is_cheaper_one_by_one(&mut rows) {
            self.one_by_one(rows, sink);
        } else {
            self.together(rows, sink);
        }
    }

    fn query(&self, geometry: &Geometry) -> Query {
        let asked = geometry.measure.asked(self.threshold);
        Query::new(geometry, &vec![0; geometry.stride], asked)
    }

    fn is_cheaper_one_by_one(&self, rows: &mut Sorted) -> bool {
        let tables = &self.tables.list;
        let all = rows.rows();
        let mut query = self.query(rows.geometry());
        let every = all.div_ceil(SAMPLE).max(1);
        let (mut looked, mut cost) = (0.0, 0.0);
        let scans: Vec<IndexScan<'_>> = tables.iter().map(scan).collect();
        for row in (0..all).step_by(every as usize) {
            check_for_interrupts();
            rows.each(row..row + 1, &mut |row| {
                query.replace(row.words, row.popcount)
            });
            cost += scans.iter().map(|scan| scan.cost(&query)).sum::<f64>();
            looked += 1.0;
        }
        let segments = tables
            .iter()
            .flat_map(|table| table.meta.segments_of(Part::Signatures));
        let indexed: f64 = segments.map(|segment| f64::from(segment.rows)).sum();
        let tail = |table: &IndexedTable| table.meta.tail(Part::Signatures).len() as f64;
        let tails: f64 = tables.iter().map(tail).sum();
        cost += looked * tails * TAIL_PAGE;
        looked == 0.0 || cost / looked * f64::from(all) <= indexed * TOGETHER
    }

    fn one_by_one(&self, mut rows: Sorted, sink: &mut impl JoinSink) {
        let n = rows.rows();
        let (measure, mut query) = (rows.geometry().measure, self.query(rows.geometry()));
        let all = u64::from(n) * self.tables.list.len() as u64;
        let (mut done, mut hits) = (0, Vec::new());
        for (number, table) in self.tables.of_side(0) {
            let mut scan = scan(table);
            rows.each(0..n, &mut |row| {
                query.replace(row.words, row.popcount);
                scan.restart(Some(query.clone()));
                let mut more = true;
                while more {
                    more = scan.next(|page, i, hit| {
                        let other = page.row(i);
                        if let Some(common) = query.hit(other.words, other.popcount) {
                            hits.push((hit.tid, query.similarity(other.popcount, common)));
                        }
                    });
                    for (tid, similarity) in hits.drain(..) {
                        let similarity = measure.for_user(similarity);
                        if similarity >= self.threshold {
                            sink.pair(&RowPair {
                                a: TableRow::new(TableNumber::UNLISTED[0], row.tid),
                                b: TableRow::new(number, tid.stored()),
                                similarity,
                            });
                        }
                    }
                }
                done += 1;
                sink.progress(done, all);
            });
        }
    }

    fn together(&self, rows: Sorted, sink: &mut impl JoinSink) {
        let (others, origins) = unlisted(self.tables.of_side(0), self.memory / 2).unzip();
        let segments = parallel::pieces(&self.tables.list, Some(0));
        let origins = Origins([None, origins]);
        let mut sink = LocatedPairs { sink, origins };
        let (sides, threshold) = ([Some(rows), others], self.threshold);
        join_bands(sides, true, &segments, threshold, self.memory, &mut sink);
    }
}

/// A scan of the signatures of an index.
fn scan(table: &IndexedTable) -> IndexScan<'_> {
    let parts = vec![Part::Signatures];
    let conditions = RowConditions::default();
    let scan = IndexScan::new(table.index(), &table.meta, conditions, None, parts);
    // SAFETY: the snapshot stays active until the table is closed.
    unsafe { scan.with_snapshot(table.snapshot) }
}
