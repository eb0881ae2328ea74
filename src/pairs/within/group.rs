//! The records that are equal in the columns. Some thousand of them are compared each with each; more are joined as all
//! records would be.

use sigfile::join::{FewJoin, FewRows};
use sigfile::Geometry;

use crate::pairs::from_query::KeyedOutput;
use crate::pairs::join::bands::join_bands;
use crate::pairs::join::sorted::{numbered_row, OneShape, Sorted};
use crate::pairs::join::{JoinSink, RowPair};
use crate::pairs::only_new::numbered;
use crate::pairs::output::PairOutput;
use crate::pairs::records::Relations;
use access::{RowSignature, RowSort};
use pg::check_for_interrupts;
use pg::error::OrRaise;
use pg::file::ByteStrings;

/// Up to so many records of a group are compared each with each.
const FEW: usize = 4096;

/// The records of one side of a group: those of a relation, or, where only new ones are searched for, these on the
/// left, and all on the right.
#[derive(Default)]
struct Side {
    records: u64,
    few: FewRows,
    /// All of them, if they are many.
    many: Option<RowSort>,
}

/// The records of the group that is read, and where its pairs go.
pub struct RecordGroup<'a, 'o> {
    pairs: KeyedOutput<'a, 'o>,
    /// That of the caller.
    threshold: f64,
    /// Bytes, for the rows and for joining them.
    memory: usize,
    /// That of all rows.
    shape: OneShape,
    /// How few rows are joined, once there is a row.
    few_join: Option<GroupJoin>,
    sides: [Side; 2],
    /// The records of the groups that were joined.
    done: u64,
}

struct GroupJoin {
    geometry: Geometry,
    /// The similarity from which on pairs are looked for.
    threshold: f64,
    join: FewJoin,
    /// How many rows are few.
    few: usize,
}

impl<'a, 'o> RecordGroup<'a, 'o> {
    /// `ordered` says whether the records come in the order of their keys.
    pub fn new(
        output: &'a mut PairOutput<'o>,
        relations: Relations<'a>,
        ordered: bool,
        threshold: f64,
    ) -> RecordGroup<'a, 'o> {
        let memory = output.memory();
        let keys = || ByteStrings::new(memory / 8);
        RecordGroup {
            pairs: KeyedOutput {
                output,
                relations,
                ordered,
                keys: (keys(), relations.right.map(|_| keys())),
            },
            threshold,
            memory,
            shape: OneShape::default(),
            few_join: None,
            sides: Default::default(),
            done: 0,
        }
    }

    /// Adds a record of a relation, 0 or 1.
    ///
    /// Errors: another shape; out of memory.
    pub fn add(&mut self, side: usize, key: Option<&[u8]>, signature: &RowSignature, is_new: bool) {
        let keys = match (side, &mut self.pairs.keys) {
            (1, (_, Some(right))) => right,
            (_, (left, _)) => left,
        };
        keys.push(key);
        if self.pairs.relations.left.new.is_none() {
            let number = self.sides[side].records + 1;
            return self.add_row(side, signature, number);
        }
        let number = numbered(self.sides[1].records + 1, is_new);
        if is_new {
            self.add_row(0, signature, number);
        }
        self.add_row(1, signature, number);
    }

    fn add_row(&mut self, side: usize, signature: &RowSignature, number: u64) {
        let geometry = self.shape.layout(signature.tag);
        let few_join = self.few_join.get_or_insert_with(|| {
            let few = self.memory / 8 / FewRows::bytes_of_row(&geometry);
            for side in &mut self.sides {
                side.few = FewRows::new(&geometry);
            }
            let relations = self.pairs.relations;
            let threshold = relations.searched(geometry.measure, self.threshold);
            GroupJoin {
                geometry,
                threshold,
                join: FewJoin::new(&geometry, geometry.measure.asked(threshold)),
                few: few.clamp(2, FEW),
            }
        });
        let side = &mut self.sides[side];
        side.records += 1;
        let row = numbered_row(&signature.words, signature.popcount, number);
        if let Some(many) = &mut side.many {
            many.push(row).or_raise();
            return;
        }
        side.few.push(row).or_raise();
        if side.few.len() > few_join.few {
            side.spill(geometry, self.memory / 4);
            let (left, right) = &mut self.pairs.keys;
            left.spill();
            right.iter_mut().for_each(ByteStrings::spill);
        }
    }

    /// Joins the records of the group, and forgets them.
    ///
    /// Errors: a key that is null, or that two records have; out of memory.
    pub fn end(&mut self) {
        let [left, right] = &self.sides;
        let relations = self.pairs.relations;
        let linkage = relations.right.is_some() || relations.left.new.is_some();
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
            side.few.clear();
            side.many = None;
            side.records = 0;
        }
        let (left, right) = &mut self.pairs.keys;
        left.clear();
        right.iter_mut().for_each(ByteStrings::clear);
        self.pairs.output.report_records(self.done);
    }

    fn join(&mut self, linkage: bool) {
        let Some(few_join) = &mut self.few_join else {
            return;
        };
        let mut found = GroupPairs {
            pairs: &mut self.pairs,
            done: self.done,
        };
        let (geometry, threshold) = (few_join.geometry, few_join.threshold);
        if self.sides.iter().any(|side| side.many.is_some()) {
            // Both sides are joined in the same way.
            let [left, right] = self.sides.each_mut().map(|side| {
                side.spill(geometry, self.memory / 4);
                side.many.take().map(|rows| Sorted::new(rows.finish()))
            });
            let (sides, memory) = ([left, right.filter(|_| linkage)], self.memory / 2);
            return join_bands(sides, linkage, &[], threshold, memory, &mut found);
        }
        let mut tick = check_for_interrupts;
        let mut hit = |a, b, similarity| {
            let similarity = geometry.measure.for_user(similarity);
            if similarity >= threshold {
                found.pairs.take(a, b, similarity);
            }
        };
        let [left, right] = self.sides.each_ref().map(|side| &side.few);
        match linkage {
            true => few_join.join.between(left, right, &mut tick, &mut hit),
            false => few_join.join.within(left, &mut tick, &mut hit),
        }
        .or_raise();
    }
}

impl Side {
    /// Takes the rows as many.
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
        self.many = Some(many);
    }
}

/// Gives pairs of records of a group to the output.
struct GroupPairs<'p, 'a, 'o> {
    pairs: &'p mut KeyedOutput<'a, 'o>,
    done: u64,
}

impl JoinSink for GroupPairs<'_, '_, '_> {
    fn pair(&mut self, pair: &RowPair) {
        self.pairs.pair(pair);
    }

    fn progress(&mut self, _: u64, _: u64) {
        self.pairs.output.report_records(self.done);
    }
}
