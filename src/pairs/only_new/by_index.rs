//! Rows that are searched for in indexes: one by one, or, where they are many, together.

use pgrx::pg_sys;
use sigfile::{Geometry, Part, Query, RowShape};

use super::probes::Probes;
use crate::pairs::from_index::check_shapes;
use crate::pairs::from_query::Stream;
use crate::pairs::join::bands::Bands;
use crate::pairs::join::loose::{loose, Origins};
use crate::pairs::join::sorted::Sorted;
use crate::pairs::join::{parallel, JoinSink, RowPair, TableNumber, TableRow};
use crate::pairs::keys::Keys;
use crate::pairs::output::PairOutput;
use crate::pairs::profiles::ProfileJudge;
use crate::pairs::records::Relations;
use crate::pairs::table::IndexedTable;
use crate::pairs::unique::{self, check_distinct};
use access::{mismatch, IndexScan, RowConditions};
use pg::catalog::privileges::{current_user, may};
use pg::check_for_interrupts;
use pg::error::raise;
use pg::file::ByteStrings;
use sigfile::costs::{TAIL_PAGE, TOGETHER};

/// Searches for the costs are estimated for so many of the rows.
const SAMPLE: u32 = 16;

/// Finds the pairs of which one record at least is among the new ones. Gives false, and does nothing, if these are too
/// many for the memory, or the caller may read some columns only. A judge, if there is one, says which of the pairs are
/// wanted, and how similar they are.
///
/// Errors: as a search by indexes, but for keys that are not unique: of these only the new ones are looked at, and the
/// keys of pairs.
pub fn pairs(
    output: &mut PairOutput,
    tables: &[IndexedTable],
    relations: Relations<'_>,
    threshold: f64,
    judge: Option<ProfileJudge<'_>>,
) -> bool {
    let Some(tag) = check_shapes(tables) else {
        return true;
    };
    let memory = output.memory();
    let records = relations.left;
    // The query asks where the rows are, which only those may who may read all of the table.
    if !may(records.oid, pg_sys::ACL_SELECT, current_user()) {
        return false;
    }
    for table in tables {
        table.lock_predicate();
    }
    let Some((probes, rows)) = Probes::read(records, tables, tag, memory / 4) else {
        return false;
    };
    // SAFETY: the server runs a function with an active snapshot.
    let snapshot = unsafe { pg_sys::GetActiveSnapshot() };
    let search = ProbeSearch {
        tables,
        threshold: relations.searched(RowShape::of_tag(tag).measure(), threshold),
        memory: memory / 2,
    };
    let mut found = NewPairs {
        output,
        relations,
        keys: Keys::new(tables, (&records.key, None), snapshot)
            .within(&records.within)
            .judged(judge),
        probes,
    };
    search.run(rows, &mut found);
    true
}

/// Gives pairs of a new record and one that an index has found.
struct NewPairs<'a, 'o> {
    output: &'a mut PairOutput<'o>,
    relations: Relations<'a>,
    keys: Keys<'a>,
    probes: Probes,
}

impl JoinSink for NewPairs<'_, '_> {
    fn pair(&mut self, pair: &RowPair) {
        check_for_interrupts();
        let (keys, probes, relations) = (&mut self.keys, &self.probes, self.relations);
        let new = probes.places[pair.a.row() as usize - 1];
        // Two new ones find each other.
        let wanted = |other: TableRow| other > new || other != new && !probes.has(other);
        self.output.put_judged(|| {
            let (keys, similarity) = keys.of_version(new, pair.b, wanted, pair.similarity)?;
            check_distinct(keys, relations);
            Some((keys, similarity))
        });
    }

    fn progress(&mut self, done: u64, all: u64) {
        self.output.report(done, all);
    }
}

/// Finds the pairs of two relations of which only one has indexes, those of `tables`, the second one if `second`.
///
/// Errors: as a search by indexes, and one by a query.
pub fn unindexed_side(
    output: &mut PairOutput,
    (tables, second): (&[IndexedTable], bool),
    relations: Relations<'_>,
    threshold: f64,
) {
    let right = relations.right.expect("there are two relations");
    let (indexed, other) = match second {
        true => (right, relations.left),
        false => (relations.left, right),
    };
    unique::check(indexed);
    let memory = output.memory();
    for table in tables {
        table.lock_predicate();
    }
    let mut stream = Stream::read(other, memory / 4);
    let rows = stream.attributes.pop().expect("a record has one signature");
    let (Some(tag), Some(of_rows)) = (check_shapes(tables), rows.tag()) else {
        return;
    };
    if tag != of_rows {
        let (left, right) = match second {
            true => (of_rows, tag),
            false => (tag, of_rows),
        };
        raise(&mismatch(left, right));
    }
    let Some(rows) = rows.sorted() else { return };
    // SAFETY: the server runs a function with an active snapshot.
    let snapshot = unsafe { pg_sys::GetActiveSnapshot() };
    let search = ProbeSearch {
        tables,
        threshold: relations.searched(RowShape::of_tag(tag).measure(), threshold),
        memory: memory / 2,
    };
    let mut found = LinkedPairs {
        output,
        indexed: Keys::new(tables, (&indexed.key, None), snapshot),
        second,
        others: stream.keys,
    };
    search.run(rows, &mut found);
}

/// Gives pairs of a record that a query has read and one that an index has found.
struct LinkedPairs<'a, 'o> {
    output: &'a mut PairOutput<'o>,
    indexed: Keys<'a>,
    /// The latter is of the second relation.
    second: bool,
    others: ByteStrings,
}

impl JoinSink for LinkedPairs<'_, '_> {
    fn pair(&mut self, pair: &RowPair) {
        check_for_interrupts();
        let (indexed, others, second) = (&mut self.indexed, &mut self.others, self.second);
        self.output.put(pair.similarity, || {
            let found = indexed.of_one(pair.b)?;
            let other = others.text(pair.a.row() - 1);
            Some(match second {
                true => [other, found],
                false => [found, other],
            })
        });
    }

    fn progress(&mut self, done: u64, all: u64) {
        self.output.report(done, all);
    }
}

/// A search for rows in the indexes of tables.
struct ProbeSearch<'a> {
    tables: &'a [IndexedTable],
    threshold: f64,
    memory: usize,
}

impl ProbeSearch<'_> {
    /// Gives pairs of the number of a row and of a row that an index has.
    ///
    /// Errors: a damaged index; out of memory.
    fn run(&self, mut rows: Sorted, found: &mut impl JoinSink) {
        if self.is_cheaper_one_by_one(&mut rows) {
            self.one_by_one(rows, found);
        } else {
            self.together(rows, found);
        }
    }

    fn query(&self, geometry: &Geometry) -> Query {
        let asked = geometry.measure.asked(self.threshold);
        Query::new(geometry, &vec![0; geometry.stride], asked)
    }

    fn is_cheaper_one_by_one(&self, rows: &mut Sorted) -> bool {
        let all = rows.rows();
        let mut query = self.query(rows.geometry());
        let every = all.div_ceil(SAMPLE).max(1);
        let (mut looked, mut cost) = (0.0, 0.0);
        let scans: Vec<IndexScan<'_>> = self.tables.iter().map(scan).collect();
        for row in (0..all).step_by(every as usize) {
            check_for_interrupts();
            rows.each(row..row + 1, &mut |row| {
                query.replace(row.words, row.popcount)
            });
            cost += scans.iter().map(|scan| scan.cost(&query)).sum::<f64>();
            looked += 1.0;
        }
        let segments = self
            .tables
            .iter()
            .flat_map(|table| table.meta.segments_of(Part::Signatures));
        let indexed: f64 = segments.map(|segment| f64::from(segment.rows)).sum();
        let tail = |table: &IndexedTable| table.meta.tail(Part::Signatures).len() as f64;
        let tails: f64 = self.tables.iter().map(tail).sum();
        cost += looked * tails * TAIL_PAGE;
        looked == 0.0 || cost / looked * f64::from(all) <= indexed * TOGETHER
    }

    fn one_by_one(&self, mut rows: Sorted, found: &mut impl JoinSink) {
        let n = rows.rows();
        let (measure, mut query) = (rows.geometry().measure, self.query(rows.geometry()));
        let all = u64::from(n) * self.tables.len() as u64;
        let (mut done, mut hits) = (0, Vec::new());
        for (table, number) in self.tables.iter().zip(0..) {
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
                        let similarity = measure.told(similarity);
                        if similarity >= self.threshold {
                            let table = TableNumber::of_index(number);
                            found.pair(&RowPair {
                                a: TableRow::new(TableNumber::LOOSE[0], row.tid),
                                b: TableRow::new(table, tid.stored()),
                                similarity,
                            });
                        }
                    }
                }
                done += 1;
                found.progress(done, all);
            });
        }
    }

    fn together(&self, rows: Sorted, found: &mut impl JoinSink) {
        let numbered = self.tables.iter().zip(0..);
        let numbered = numbered.map(|(table, i)| (TableNumber::of_index(i), table));
        let (others, origins) = loose(numbered, self.memory / 2).unzip();
        let segments = parallel::pieces(self.tables, Some(0));
        let bands = Bands {
            sides: [Some(rows), others],
            tables: TableNumber::LOOSE,
            linkage: true,
            segments: &segments,
            threshold: self.threshold,
            memory: self.memory,
        };
        bands.join(&mut FromLoose { found, origins });
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

/// Finds out which rows of the tables the loose ones are.
struct FromLoose<'a, S> {
    found: &'a mut S,
    origins: Option<Origins>,
}

impl<S: JoinSink> JoinSink for FromLoose<'_, S> {
    fn pair(&mut self, pair: &RowPair) {
        let mut pair = *pair;
        if pair.b.table().loose_side().is_some() {
            let origins = self.origins.as_mut().expect("the row was found there");
            pair.b = origins.get(pair.b.row());
        }
        self.found.pair(&pair);
    }

    fn progress(&mut self, done: u64, all: u64) {
        self.found.progress(done, all);
    }
}
