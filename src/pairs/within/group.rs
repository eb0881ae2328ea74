//! The records that are equal in the columns. Some thousand of them are compared each with each; more are joined as all records would be.

use sigfile::join::{FewJoin, FewRows};
use sigfile::{Geometry, SignatureRow};

use crate::pairs::from_query::geometry_of;
use crate::pairs::join::bands::Bands;
use crate::pairs::join::sorted::Sorted;
use crate::pairs::join::{JoinSink, RowPair, TableNumber};
use crate::pairs::keys::is_behind;
use crate::pairs::only_new::{numbered, pair_of};
use crate::pairs::output::{KeyTexts, PairOutput};
use crate::pairs::records::Relations;
use crate::pairs::unique::check_distinct;
use access::{mismatch, ExternalSort, RowSignature};
use pg::budget::{push, reserve};
use pg::check_for_interrupts;
use pg::error::{raise, OrRaise};
use pg::file::Texts;
use pg::function::rows::text_datum;

/// Up to so many records of a group are compared each with each.
const FEW: usize = 4096;

/// The keys of the records of one side, by their numbers from 1.
enum GroupKeys {
    /// The texts one behind the other, and where each ends; `None` is before a key that is null.
    Memory {
        texts: Vec<u8>,
        ends: Vec<(usize, bool)>,
    },
    Files(Texts),
}

impl GroupKeys {
    fn new() -> GroupKeys {
        GroupKeys::Memory {
            texts: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Errors: out of memory.
    fn push(&mut self, key: Option<&[u8]>) {
        match self {
            GroupKeys::Memory { texts, ends } => {
                let bytes = key.unwrap_or_default();
                if texts.capacity() - texts.len() < bytes.len() {
                    reserve(texts, bytes.len().max(texts.len()));
                }
                texts.extend_from_slice(bytes);
                push(ends, (texts.len(), key.is_some()));
            }
            GroupKeys::Files(texts) => texts.push(key),
        }
    }

    /// The key of a record, in the current memory context.
    fn get(&mut self, number: u64) -> Option<pgrx::pg_sys::Datum> {
        match self {
            GroupKeys::Memory { texts, ends } => {
                text_at(texts, ends, number as usize - 1).map(text_datum)
            }
            GroupKeys::Files(texts) => texts.get(number - 1),
        }
    }

    /// Bytes of memory.
    fn bytes(&self) -> usize {
        match self {
            GroupKeys::Memory { texts, ends } => texts.len() + size_of_val(&ends[..]),
            GroupKeys::Files(_) => 0,
        }
    }

    /// Goes on in files.
    fn spill(&mut self) {
        if let GroupKeys::Memory { texts, ends } = self {
            let mut files = Texts::new();
            for i in 0..ends.len() {
                files.push(text_at(texts, ends, i));
            }
            *self = GroupKeys::Files(files);
        }
    }

    fn clear(&mut self) {
        match self {
            GroupKeys::Memory { texts, ends } => {
                texts.clear();
                ends.clear();
            }
            GroupKeys::Files(_) => *self = GroupKeys::new(),
        }
    }
}

fn text_at<'a>(texts: &'a [u8], ends: &[(usize, bool)], i: usize) -> Option<&'a [u8]> {
    let from = if i == 0 { 0 } else { ends[i - 1].0 };
    let (to, is_given) = ends[i];
    is_given.then(|| &texts[from..to])
}

/// The records of one side of a group.
struct Side {
    keys: GroupKeys,
    records: u64,
    few: FewRows,
    /// All of them, if they are many.
    many: Option<ExternalSort>,
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
        let side = || Side {
            keys: GroupKeys::new(),
            records: 0,
            few: FewRows::default(),
            many: None,
        };
        RecordGroup {
            memory: output.memory(),
            output,
            relations,
            ordered,
            threshold,
            of_rows: None,
            sides: [side(), side()],
            done: 0,
        }
    }

    /// Adds a record. Where only new ones are searched for, these are those of side 0, too, and all are of side 1, which has the keys.
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
        if side.few.len() > of_rows.few || side.keys.bytes() > memory / 8 {
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
            output: self.output,
            relations: self.relations,
            keys: [&mut left.keys, &mut right.keys],
            ordered: self.ordered,
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
        let (geometry, threshold) = (of_rows.geometry, of_rows.threshold);
        let sorted = |rows: Option<ExternalSort>| {
            rows.map(|rows| Sorted::new(geometry, rows.finish().or_raise()))
        };
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
        let mut many = ExternalSort::new(geometry, memory);
        for row in self.few.rows() {
            many.push(row).or_raise();
        }
        self.few.clear();
        self.keys.spill();
        self.many = Some(many);
    }
}

/// Gives pairs of records of a group to the output, with their keys.
struct GroupPairs<'a, 'o> {
    output: &'a mut PairOutput<'o>,
    relations: Relations<'a>,
    keys: [&'a mut GroupKeys; 2],
    ordered: bool,
    done: u64,
}

impl GroupPairs<'_, '_> {
    /// Errors: a key that is null, or that both records have.
    fn put(&mut self, a: u64, b: u64, similarity: f64) {
        check_for_interrupts();
        let (relations, ordered) = (self.relations, self.ordered);
        let [left, right] = &mut self.keys;
        if relations.left.new.is_some() {
            let Some((a, b)) = pair_of(a, b) else { return };
            self.output.put(similarity, || {
                let keys = in_order(ordered, (a, right.get(a)), (b, right.get(b)));
                check_distinct(keys, relations);
                Some(keys)
            });
            return;
        }
        self.output.put(similarity, || {
            let keys = if relations.right.is_some() {
                [left.get(a), right.get(b)]
            } else {
                in_order(ordered, (a, left.get(a)), (b, left.get(b)))
            };
            check_distinct(keys, relations);
            Some(keys)
        });
    }
}

/// The lesser key first. Records that come in the order of their keys have numbers in this order.
fn in_order(
    ordered: bool,
    (a, key): (u64, Option<pgrx::pg_sys::Datum>),
    (b, other): (u64, Option<pgrx::pg_sys::Datum>),
) -> KeyTexts {
    let swap = if ordered {
        a > b
    } else {
        is_behind(key, other)
    };
    if swap {
        [other, key]
    } else {
        [key, other]
    }
}

impl JoinSink for GroupPairs<'_, '_> {
    fn pair(&mut self, pair: &RowPair) {
        self.put(pair.a.row(), pair.b.row(), pair.similarity);
    }

    fn progress(&mut self, _: u64, _: u64) {
        self.output.report_records(self.done);
    }
}
