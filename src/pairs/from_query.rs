//! Pairs of the rows that a query of the caller's gives: where there is no index, behind views and policies, and for
//! several signatures a record.

use sigfile::RowShape;

use crate::pairs::join::bands::join_bands;
use crate::pairs::join::sorted::NumberedRows;
use crate::pairs::join::{JoinSink, RowPair};
use crate::pairs::keys::{is_behind, KeyOrder};
use crate::pairs::only_new::{numbered, pair_of};
use crate::pairs::output::PairOutput;
use crate::pairs::profiles::Profiles;
use crate::pairs::records::{Records, Relations};
use crate::pairs::unique::{self, check_distinct, repeated, Successive};
use access::mismatch;
use pg::check_for_interrupts;
use pg::error::raise;
use pg::file::ByteStrings;
use pg::progress::{self, phases};
use pg::session::{read, BATCH};
use pg::sql;
use pg::sql::Sql;
use types::Bloom;

/// The records of a relation as the caller sees them.
pub struct Stream {
    pub keys: ByteStrings,
    /// The signatures of each column, by the numbers of the records from 1.
    pub columns: Vec<NumberedRows>,
    /// The same of the new records alone, where only these are searched for. The numbers of all rows are then as
    /// [`numbered`] says.
    pub new: Option<Vec<NumberedRows>>,
    /// Whether the records come in the order of their keys.
    pub ordered: bool,
    pub records: u64,
}

impl Stream {
    /// Runs the query as the caller. The rows take `memory` bytes. Only some of the signatures are joined, by the
    /// numbers of their columns, or all of them. The profile of every record is added to `profiles`, if given.
    ///
    /// Errors: what the query fails with; two shapes in a column; two records with the same key; out of memory.
    pub fn read(
        records: &Records,
        memory: usize,
        joined: Option<&[usize]>,
        mut profiles: Option<&mut Profiles>,
    ) -> Stream {
        let n = records.signatures.len();
        let many = joined.map_or(n, <[usize]>::len).max(1);
        let share = match records.new {
            Some(_) => memory / 2 / many,
            None => memory / many,
        };
        let is_joined = |k: usize| joined.is_none_or(|joined| joined.contains(&k));
        let column = |k: usize| NumberedRows::new(is_joined(k), share);
        let columns = || (0..n).map(column).collect();
        if let Some(new) = &records.new {
            new.check();
        }
        let mut stream = Stream {
            keys: ByteStrings::new(0),
            columns: columns(),
            new: records.new.as_ref().map(|_| columns()),
            ordered: KeyOrder::find(&records.key).is_some(),
            records: 0,
        };
        let mut successive = Successive::new(&records.key);
        if successive.is_none() {
            unique::check(records);
        }
        progress::phase(phases::READING, None);
        let cursor = read(records.query(stream.ordered), &[], BATCH);
        let mut output = cursor.output(0);
        let kind = records.signature_type();
        cursor.each(|row| {
            let keys = &mut stream.keys;
            match row.datum(0) {
                Some(key) => {
                    if successive.as_mut().is_some_and(|last| last.is_again(key)) {
                        output.show(key, |key| repeated(key, records));
                    }
                    output.show(key, |key| keys.push(Some(key)));
                }
                None => keys.push(None),
            }
            stream.records += 1;
            let is_new = stream.new.is_some() && row.datum(n + 1).is_some();
            let number = match stream.new {
                Some(_) => numbered(stream.records, is_new),
                None => stream.records,
            };
            for (k, column) in stream.columns.iter_mut().enumerate() {
                if let Some(datum) = row.datum(k + 1) {
                    // SAFETY: the query selects a key and n signatures, which live as long as the row.
                    let signature = unsafe { kind.signature(datum) };
                    column.add(&signature, number);
                    if let Some(new) = stream.new.as_mut().filter(|_| is_new) {
                        new[k].add(&signature, number);
                    }
                }
            }
            if let Some(profiles) = &mut profiles {
                // SAFETY: as above; those of profiles are of type bloom.
                let bloom = |k| row.datum(k + 1).map(|d| unsafe { Bloom::from_raw(d) });
                profiles.push(&(0..n).map(bloom).collect::<Vec<_>>());
            }
        });
        stream
    }
}

impl Records {
    /// Selects the key and the signatures of all records that have any signature, by key if `ordered`; then, where only
    /// new ones are searched for, what is not NULL for these.
    fn query(&self, ordered: bool) -> Sql {
        let key = &self.key.name;
        let names = self.signatures.iter().map(|signature| &signature.name);
        let columns = names.clone().map(|name| sql!("r.{name}"));
        let columns = Sql::join([sql!("r.{key}")].into_iter().chain(columns), ", ");
        let condition = Sql::join(names.map(|name| sql!("r.{name} IS NOT NULL")), " OR ");
        let (new_key, new) = match &self.new {
            Some(new) => (", n.key", new.joined(&self.key, "key")),
            None => ("", Sql::new("")),
        };
        let sql = sql!("SELECT {columns}{new_key} FROM {self.oid} AS r{new} WHERE {condition}");
        match ordered {
            true => sql!("{sql} ORDER BY r.{key}"),
            false => sql,
        }
    }
}

/// Where pairs of numbered records go, with their keys.
pub struct KeyedOutput<'a, 'o> {
    pub output: &'a mut PairOutput<'o>,
    pub relations: Relations<'a>,
    /// The records of the left relation come in the order of their keys.
    pub ordered: bool,
    /// The keys of the left relation by the numbers of its records from 1, and those of the right one.
    pub keys: (ByteStrings, Option<ByteStrings>),
}

impl KeyedOutput<'_, '_> {
    /// The numbers of the records that two rows stand for; `None` if they are no pair, or one that comes a second time.
    pub fn records(&self, a: u64, b: u64) -> Option<(u64, u64)> {
        match self.relations.left.new {
            Some(_) => pair_of(a, b),
            None => Some((a, b)),
        }
    }

    /// Puts out the pair of records that two rows stand for.
    ///
    /// Errors: as [`KeyedOutput::put`].
    pub fn take(&mut self, a: u64, b: u64, similarity: f64) {
        check_for_interrupts();
        if let Some(records) = self.records(a, b) {
            self.put(records, similarity);
        }
    }

    /// Puts out a pair of records. If both are of one relation, the lesser key is first.
    ///
    /// Errors: a key that is null, or that both records have.
    pub fn put(&mut self, (a, b): (u64, u64), similarity: f64) {
        let (ordered, relations) = (self.ordered, self.relations);
        let (left, right) = &mut self.keys;
        self.output.put(similarity, || {
            let key = left.text(a - 1);
            if let Some(right) = right {
                return Some([key, right.text(b - 1)]);
            }
            let other = left.text(b - 1);
            let swap = match ordered {
                true => a > b,
                false => is_behind(key, other),
            };
            let keys = if swap { [other, key] } else { [key, other] };
            check_distinct(keys, relations);
            Some(keys)
        });
    }
}

impl JoinSink for KeyedOutput<'_, '_> {
    fn pair(&mut self, pair: &RowPair) {
        self.take(pair.a.row(), pair.b.row(), pair.similarity);
    }

    fn progress(&mut self, done: u64, all: u64) {
        self.output.report(done, all);
    }
}

/// Finds the pairs of what the caller can read.
///
/// Errors: as [`Stream::read`]; two shapes; a key that is null, or that two records have.
pub fn pairs(output: &mut PairOutput, relations: Relations<'_>, threshold: f64) {
    let memory = output.memory();
    let share = match relations.right {
        Some(_) => memory / 4,
        None => memory / 2,
    };
    let read = |records: &Records| {
        let mut stream = Stream::read(records, share, None, None);
        let column = stream.columns.pop().expect("a record has one signature");
        (stream, column)
    };
    let (mut left, mut rows) = read(relations.left);
    let (right, mut others) = relations.right.map(read).unzip();
    if let Some(mut new) = left.new.take() {
        others = new.pop().map(|new| std::mem::replace(&mut rows, new));
    }
    let tag_of_others = others.as_ref().and_then(|others| others.shape.tag());
    let Some(tag) = rows.shape.tag().or(tag_of_others) else {
        return;
    };
    let mut found = KeyedOutput {
        output,
        relations,
        ordered: left.ordered,
        keys: (left.keys, right.map(|right| right.keys)),
    };
    let threshold = relations.searched(RowShape::of_tag(tag).measure(), threshold);
    progress::phase(phases::COMPARING_SIGNATURES, None);
    join(rows, others, threshold, memory / 2, &mut found);
}

/// Joins the rows of a column with each other, or with those of `right`, which is the same column of another stream. It
/// takes `memory` bytes besides what the rows take already. The rows of a pair are the numbers of records.
///
/// Errors: two shapes; out of memory.
pub fn join(
    left: NumberedRows,
    right: Option<NumberedRows>,
    threshold: f64,
    memory: usize,
    sink: &mut impl JoinSink,
) {
    let other = right.as_ref().and_then(|right| right.shape.tag());
    if let Some((a, b)) = left.shape.tag().zip(other).filter(|(a, b)| a != b) {
        raise(&mismatch(a, b));
    }
    let linkage = right.is_some();
    let sides = [left.sorted(), right.and_then(NumberedRows::sorted)];
    if sides[0].is_none() || linkage && sides[1].is_none() {
        return;
    }
    join_bands(sides, linkage, &[], threshold, memory, sink);
}
