//! Pairs of the rows that a query of the caller's gives: where there is no index, behind views and policies, and for
//! several signatures a record.

use base::{Error, ErrorKind};
use sigfile::{Geometry, RowShape, SignatureRow};

use crate::pairs::join::bands::Bands;
use crate::pairs::join::sorted::Sorted;
use crate::pairs::join::{JoinSink, RowPair, TableNumber};
use crate::pairs::keys::{is_behind, KeyOrder};
use crate::pairs::only_new::{numbered, pair_of};
use crate::pairs::output::PairOutput;
use crate::pairs::profiles::Profiles;
use crate::pairs::records::{Records, Relations};
use crate::pairs::unique::{self, check_distinct, repeated, Successive};
use access::{mismatch, RowSignature, RowSort, PAGE_WORDS};
use pg::check_for_interrupts;
use pg::error::{raise, OrRaise};
use pg::file::ByteStrings;
use pg::progress::{self, phases};
use pg::session::read;
use pg::sql::Sql;
use types::Bloom;

/// Rows fetched at a time.
const BATCH: i64 = 1000;

/// The signatures of one column. The tid of a row is the number of its record, from 1.
pub struct Attribute {
    /// The shape of all of them, once there is one.
    tag: u64,
    geometry: Option<Geometry>,
    rows: Option<RowSort>,
    /// Otherwise only the shape is noted.
    is_joined: bool,
    memory: usize,
}

/// How rows of a tag are laid out: on pages such as an index has.
///
/// Errors: a signature that does not fit such a page.
pub fn geometry_of(tag: u64) -> Geometry {
    let rows = RowShape::of_tag(tag);
    let bits = rows.bits();
    let laid_out = Geometry::new(PAGE_WORDS, 0, false);
    let laid_out = laid_out.and_then(|empty| empty.with_bits(bits, rows.measure()));
    laid_out.unwrap_or_else(|_| {
        let most = Geometry::most_bits(PAGE_WORDS);
        let message = format!("signatures of {bits} bits are too large to find similar ones");
        raise(
            &Error::new(ErrorKind::LimitExceeded, message)
                .detail(format!("They can have at most {most} bits."))
                .hint("Use a smaller shape."),
        )
    })
}

impl Attribute {
    fn new(is_joined: bool, memory: usize) -> Attribute {
        Attribute {
            tag: 0,
            geometry: None,
            rows: None,
            is_joined,
            memory,
        }
    }

    fn add(&mut self, signature: &RowSignature, record: u64) {
        let geometry = *self.geometry.get_or_insert_with(|| {
            self.tag = signature.tag;
            geometry_of(signature.tag)
        });
        if signature.tag != self.tag {
            raise(&mismatch(signature.tag, self.tag));
        }
        if !self.is_joined {
            return;
        }
        let row = SignatureRow {
            key: 0,
            words: &signature.words,
            popcount: signature.popcount,
            threshold: 0.0,
            tid: record,
        };
        let memory = self.memory;
        let rows = self
            .rows
            .get_or_insert_with(|| RowSort::new(geometry, memory));
        rows.push(row).or_raise();
    }

    /// All rows in the order of their popcounts; `None` if there are none.
    pub fn sorted(self) -> Option<Sorted> {
        Some(Sorted::new(self.rows?.finish()))
    }

    /// The tag of all of them, if there are any.
    pub fn tag(&self) -> Option<u64> {
        self.geometry.map(|_| self.tag)
    }
}

/// The records of a relation as the caller sees them.
pub struct Stream {
    pub keys: ByteStrings,
    pub attributes: Vec<Attribute>,
    /// The same of the new records alone, where only these are searched for. The tids of all rows are then as
    /// [`numbered`] says.
    pub new: Option<Vec<Attribute>>,
    /// Whether the records come in the order of their keys.
    pub ordered: bool,
    pub records: u64,
}

impl Stream {
    /// Runs the query as the caller. The rows take `memory` bytes.
    ///
    /// Errors: what the query fails with; two shapes in a column; two records with the same key; out of memory.
    pub fn read(records: &Records, memory: usize) -> Stream {
        Stream::read_for(records, memory, None, None)
    }

    /// The same where only some of the signatures will be joined, by their numbers, or all of them. The profile of
    /// every record is added to `profiles`, if given.
    pub fn read_for(
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
        let attributes = || {
            (0..n)
                .map(|k| Attribute::new(is_joined(k), share))
                .collect()
        };
        if let Some(new) = &records.new {
            new.check();
        }
        let mut stream = Stream {
            keys: ByteStrings::new(0),
            attributes: attributes(),
            new: records.new.as_ref().map(|_| attributes()),
            ordered: KeyOrder::new(&records.key).is_some(),
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
            for (k, attribute) in stream.attributes.iter_mut().enumerate() {
                if let Some(datum) = row.datum(k + 1) {
                    // SAFETY: the query selects a key and n signatures, which live as long as the row.
                    let signature = unsafe { kind.signature(datum) };
                    attribute.add(&signature, number);
                    if let Some(new) = stream.new.as_mut().filter(|_| is_new) {
                        new[k].add(&signature, number);
                    }
                }
            }
            if let Some(profiles) = &mut profiles {
                let signatures: Vec<Option<Bloom<'_>>> = (0..n)
                    .map(|k| {
                        let datum = row.datum(k + 1)?;
                        // SAFETY: as above; those of profiles are of type bloom.
                        Some(unsafe { Bloom::from_raw(datum) })
                    })
                    .collect();
                profiles.push(&signatures);
            }
        });
        stream
    }
}

impl Records {
    /// Selects the key and the signatures of all records that have any signature, by key if `ordered`; then, where only
    /// new ones are searched for, what is not NULL for these.
    fn query(&self, ordered: bool) -> Sql {
        let columns = || self.signatures.iter().map(|column| column.name.as_c_str());
        let all = [self.key.name.as_c_str()].into_iter().chain(columns());
        let mut sql = Sql::new("SELECT ").list(all, |sql, name| sql.text("r.").name(name));
        if self.new.is_some() {
            sql = sql.text(", n.key");
        }
        sql = sql.text(" FROM ").relation(self.oid).text(" AS r");
        if let Some(new) = &self.new {
            sql = sql.sql(&new.joined(&self.key, "key"));
        }
        for (i, column) in columns().enumerate() {
            sql = sql.text(if i == 0 { " WHERE r." } else { " OR r." });
            sql = sql.name(column).text(" IS NOT NULL");
        }
        if ordered {
            sql = sql.text(" ORDER BY r.").name(&self.key.name);
        }
        sql
    }
}

/// Where pairs of numbered records go, with their keys.
pub struct KeyedOutput<'a, 'o> {
    pub output: &'a mut PairOutput<'o>,
    pub relations: Relations<'a>,
    /// The records of the left relation come in the order of their keys.
    pub ordered: bool,
}

impl KeyedOutput<'_, '_> {
    /// The numbers of the records that two rows stand for; `None` if they are no pair, or one that comes a second time.
    pub fn records(&self, a: u64, b: u64) -> Option<(u64, u64)> {
        match self.relations.left.new {
            Some(_) => pair_of(a, b),
            None => Some((a, b)),
        }
    }

    /// Puts out a pair of records, whose keys are here by their numbers from 1. If both are of one relation, the lesser
    /// key is first.
    ///
    /// Errors: a key that is null, or that both records have.
    pub fn put(
        &mut self,
        (left, right): (&mut ByteStrings, Option<&mut ByteStrings>),
        (a, b): (u64, u64),
        similarity: f64,
    ) {
        let (ordered, relations) = (self.ordered, self.relations);
        self.output.put(similarity, || {
            let key = left.text(a - 1);
            let keys = match right {
                Some(right) => [key, right.text(b - 1)],
                None => {
                    let other = left.text(b - 1);
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
            };
            check_distinct(keys, relations);
            Some(keys)
        });
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
        let mut stream = Stream::read(records, share);
        let attribute = stream.attributes.pop().expect("a record has one signature");
        (stream, attribute)
    };
    let (mut left, mut x) = read(relations.left);
    let (right, mut y) = relations.right.map(read).unzip();
    if let Some(mut new) = left.new.take() {
        y = new.pop().map(|new| std::mem::replace(&mut x, new));
    }
    let mut found = StreamPairs {
        output: KeyedOutput {
            output,
            relations,
            ordered: left.ordered,
        },
        left: left.keys,
        right: right.map(|right| right.keys),
    };
    let tag = x.tag().or(y.as_ref().and_then(Attribute::tag));
    let Some(shape) = tag.map(RowShape::of_tag) else {
        return;
    };
    let threshold = relations.searched(shape.measure(), threshold);
    progress::phase(phases::COMPARING_SIGNATURES, None);
    join(x, y, threshold, memory / 2, &mut found);
}

/// Gives pairs of records to the output.
struct StreamPairs<'a, 'o> {
    output: KeyedOutput<'a, 'o>,
    left: ByteStrings,
    right: Option<ByteStrings>,
}

impl JoinSink for StreamPairs<'_, '_> {
    fn pair(&mut self, pair: &RowPair) {
        check_for_interrupts();
        if let Some(records) = self.output.records(pair.a.row(), pair.b.row()) {
            let keys = (&mut self.left, self.right.as_mut());
            self.output.put(keys, records, pair.similarity);
        }
    }

    fn progress(&mut self, done: u64, all: u64) {
        self.output.output.report(done, all);
    }
}

/// Joins the rows of an attribute with each other, or with those of `right`, which is the same attribute of another
/// stream. It takes `memory` bytes besides what the rows take already. The rows of a pair are the numbers of records.
///
/// Errors: two shapes; out of memory.
pub fn join(
    left: Attribute,
    right: Option<Attribute>,
    threshold: f64,
    memory: usize,
    sink: &mut impl JoinSink,
) {
    if let (Some(a), Some(b)) = (left.tag(), right.as_ref().and_then(Attribute::tag)) {
        if a != b {
            raise(&mismatch(a, b));
        }
    }
    let linkage = right.is_some();
    let Some(left) = left.sorted() else {
        return;
    };
    let right = right.and_then(Attribute::sorted);
    if linkage && right.is_none() {
        return;
    }
    let bands = Bands {
        sides: [Some(left), right],
        // No table has these rows.
        tables: TableNumber::LOOSE,
        linkage,
        segments: &[],
        threshold,
        memory,
    };
    bands.join(sink);
}
