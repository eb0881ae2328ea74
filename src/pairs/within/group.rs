//! The records that are equal in the columns. Some thousand of them are compared each with each; more are joined as all
//! records would be.

use sigfile::join::{FewJoin, FewRows};
use sigfile::{Geometry, SignatureRow};

use crate::pairs::from_query::{geometry_of, KeyedOutput};
use crate::pairs::join::bands::Bands;
use crate::pairs::join::sorted::Sorted;
use crate::pairs::join::{JoinSink, RowPair, TableNumber};
use crate::pairs::only_new::numbered;
use crate::pairs::output::PairOutput;
use crate::pairs::records::Relations;
use access::{mismatch, RowSignature, RowSort};
use pg::check_for_interrupts;
use pg::error::{raise, OrRaise};
use pg::file::ByteStrings;

/// Up to so many records of a group are compared each with each.
const FEW: usize = 4096;

/// The records of one side of a group.
struct Side {
    /// Their keys, by their numbers from 1.
    keys: ByteStrings,
    records: u64,
    few: FewRows,
    /// All of them, if they are many.
    many: Option<RowSort>,
}

/// The records of the group that is read, and where its pairs go.
pub struct RecordGroup<'a, 'o> {
    output: &'a mut PairOutput<'o>,
    relations: Relations<'a>,
    /// Whether the records come in the order of their keys.
    ordered: bool,
    /// That of the caller.
    threshold: f64,
    /// Bytes, for the rows and for joining them.
    memory: usize,
    /// The layout of all rows, with their shape, once there is a row.
    of_rows: Option<OfRows>,
    sides: [Side; 2],
    /// The records of the groups that were joined.
    done: u64,
}

struct OfRows {
    tag: u64,
    geometry: Geometry,
    /// The similarity from which on pairs are looked for.
    threshold: f64,
    join: FewJoin,
    /// How many rows are few.
    few: usize,
}

impl<'a, 'o> RecordGroup<'a, 'o> {
    pub fn new(
        output: &'a mut PairOutput<'o>,
        relations: Relations<'a>,
        ordered: bool,
        threshold: f64,
    ) -> RecordGroup<'a, 'o> {
        let memory = output.memory();
        let side = || Side {
            keys: ByteStrings::new(memory / 8),
            records: 0,
            few: FewRows::default(),
            many: None,
        };
        RecordGroup {
            memory,
            output,
            relations,
            ordered,
            threshold,
            of_rows: None,
            sides: [side(), side()],
            done: 0,
        }
    }

    /// Adds a record. Where only new ones are searched for, these are those of side 0, too, and all are of side 1,
    /// which has the keys.
    ///
    /// Errors: another shape; out of memory.
    pub fn add(&mut self, side: usize, key: Option<&[u8]>, signature: &RowSignature, is_new: bool) {
        if self.relations.left.new.is_none() {
            let number = self.sides[side].records + 1;
            return self.add_row(side, Some(key), signature, number);
        }
        let number = numbered(self.sides[1].records + 1, is_new);
        if is_new {
            self.add_row(0, None, signature, number);
        }
        self.add_row(1, Some(key), signature, number);
    }

    /// Adds a row, and the key of its record unless another row has it.
    fn add_row(
        &mut self,
        side: usize,
        key: Option<Option<&[u8]>>,
        signature: &RowSignature,
        number: u64,
    ) {
        let memory = self.memory;
        let RecordGroup {
            of_rows,
            sides,
            threshold,
            relations,
            ..
        } = self;
        let of_rows = of_rows.get_or_insert_with(|| {
            let geometry = geometry_of(signature.tag);
            let few = memory / 8 / FewRows::bytes_of_row(&geometry);
            for side in sides.iter_mut() {
                side.few = FewRows::new(&geometry);
            }
            let threshold = relations.searched(geometry.measure, *threshold);
            OfRows {
                tag: signature.tag,
                geometry,
                threshold,
                join: FewJoin::new(&geometry, geometry.measure.asked(threshold)),
                few: few.clamp(2, FEW),
            }
        });
        if signature.tag != of_rows.tag {
            raise(&mismatch(signature.tag, of_rows.tag));
        }
        let side = &mut sides[side];
        key.into_iter().for_each(|key| side.keys.push(key));
        side.records += 1;
        let row = SignatureRow {
            words: &signature.words,
            popcount: signature.popcount,
            threshold: 0.0,
            key: 0,
            tid: number,
        };
        if let Some(many) = &mut side.many {
            many.push(row).or_raise();
            return;
        }
        side.few.push(row).or_raise();
        if side.few.len() > of_rows.few {
            side.spill(of_rows.geometry, memory / 4);
        }
    }

    /// Joins the records of the group, and forgets them.
    ///
    /// Errors: a key that is null, or that two records have; out of memory.
    pub fn end(&mut self) {
        let [left, right] = &self.sides;
        let linkage = self.relations.right.is_some() || self.relations.left.new.is_some();
        let worth_it = if linkage {
            left.records > 0 && right.records > 0
        } else {
            left.records > 1
        };
        self.done += left.records + right.records;
        if worth_it {
            self.join(linkage);
        }
        for side in &mut self.sides {
            side.keys.clear();
            side.few.clear();
            side.many = None;
            side.records = 0;
        }
        self.output.report_records(self.done);
    }

    fn join(&mut self, linkage: bool) {
        let Some(of_rows) = &mut self.of_rows else {
            return;
        };
        let is_many = self.sides.iter().any(|side| side.many.is_some());
        let [left, right] = &mut self.sides;
        if is_many {
            // Both sides are joined in the same way.
            for side in [&mut *left, &mut *right] {
                side.spill(of_rows.geometry, self.memory / 4);
            }
        }
        let (few, many) = (
            [&left.few, &right.few],
            [left.many.take(), right.many.take()],
        );
        let mut found = GroupPairs {
            output: KeyedOutput {
                output: self.output,
                relations: self.relations,
                ordered: self.ordered,
            },
            keys: [&mut left.keys, &mut right.keys],
            done: self.done,
        };
        if !is_many {
            let mut tick = check_for_interrupts;
            let (measure, threshold) = (of_rows.geometry.measure, of_rows.threshold);
            let mut hit = |a, b, similarity| {
                let similarity = measure.told(similarity);
                if similarity >= threshold {
                    found.put(a, b, similarity);
                }
            };
            let join = &mut of_rows.join;
            if linkage {
                join.between(few[0], few[1], &mut tick, &mut hit)
            } else {
                join.within(few[0], &mut tick, &mut hit)
            }
            .or_raise();
            return;
        }
        let threshold = of_rows.threshold;
        let sorted = |rows: Option<RowSort>| rows.map(|rows| Sorted::new(rows.finish()));
        let [left, right] = many.map(sorted);
        let bands = Bands {
            sides: [left, right.filter(|_| linkage)],
            // No table has these rows.
            tables: TableNumber::LOOSE,
            linkage,
            segments: &[],
            threshold,
            memory: self.memory / 2,
        };
        bands.join(&mut found);
    }
}

impl Side {
    /// Takes the rows as many, and their keys into files.
    ///
    /// Errors: out of memory.
    fn spill(&mut self, geometry: Geometry, memory: usize) {
        if self.many.is_some() {
            return;
        }
        let mut many = RowSort::new(geometry, memory);
        for row in self.few.rows() {
            many.push(row).or_raise();
        }
        self.few.clear();
        self.keys.spill();
        self.many = Some(many);
    }
}

/// Gives pairs of records of a group to the output.
struct GroupPairs<'a, 'o> {
    output: KeyedOutput<'a, 'o>,
    keys: [&'a mut ByteStrings; 2],
    done: u64,
}

impl GroupPairs<'_, '_> {
    /// Errors: a key that is null, or that both records have.
    fn put(&mut self, a: u64, b: u64, similarity: f64) {
        check_for_interrupts();
        let Relations {
            left: records,
            right: other,
        } = self.output.relations;
        let [left, right] = &mut self.keys;
        let keys = match (&records.new, other) {
            (Some(_), _) => (&mut **right, None),
            (None, Some(_)) => (&mut **left, Some(&mut **right)),
            (None, None) => (&mut **left, None),
        };
        if let Some(records) = self.output.records(a, b) {
            self.output.put(keys, records, similarity);
        }
    }
}

impl JoinSink for GroupPairs<'_, '_> {
    fn pair(&mut self, pair: &RowPair) {
        self.put(pair.a.row(), pair.b.row(), pair.similarity);
    }

    fn progress(&mut self, _: u64, _: u64) {
        self.output.output.report_records(self.done);
    }
}
