//! Pairs with their similarities in memory.

use base::range::unit;
use base::{Error, ErrorKind};
use linkage::clusters::Pair;
use pg::error::{raise, sql_error, OrRaise};
use pgrx::PgSqlErrorCode;

use super::source::Source;
use crate::pairs::decisions::Decisions;
use crate::pairs::dictionary::{KeyDictionary, KeySides};
use pg::budget::{push, Budget};
use pg::output::OutputFunction;
use pg::session::{QueryRow, Rows};
use pg::values::text::readable;

/// Reads the rows of a cursor over a, b and similarity.
pub struct PairReader {
    keys: [OutputFunction; 2],
    /// For messages.
    name: String,
    /// The column of the similarity.
    value: &'static str,
}

impl PairReader {
    pub fn new(cursor: &Rows, name: &str) -> PairReader {
        PairReader {
            keys: [cursor.output(0), cursor.output(1)],
            name: name.to_owned(),
            value: "similarity",
        }
    }

    /// Of a cursor over [`Source::similar_rows`].
    pub fn of(cursor: &Rows, source: &Source) -> PairReader {
        PairReader {
            value: source.value,
            ..PairReader::new(cursor, &source.name)
        }
    }

    fn refuse_null(&self, what: &str) -> ! {
        let message = format!("{what} of a pair in \"{}\" is null", self.name);
        raise(
            &Error::new(ErrorKind::NullNotAllowed, message)
                .hint("Give a view that leaves such pairs out."),
        )
    }

    /// Errors: the similarity is null, or outside [0,1].
    pub fn similarity(&self, row: QueryRow<'_>) -> f64 {
        let Some(similarity) = row.datum(2) else {
            self.refuse_null(self.value)
        };
        let similarity = f64::from_bits(similarity.value() as u64);
        unit(self.value, similarity).or_raise();
        similarity
    }

    /// What `of` makes of each of both keys.
    ///
    /// Errors: a key is null.
    pub fn keys<T>(&mut self, row: QueryRow<'_>, mut of: impl FnMut(&[u8]) -> T) -> [T; 2] {
        self.keys_of_sides(row, |_, key| of(key))
    }

    /// The same with 0 for the first key and 1 for the second.
    ///
    /// Errors: a key is null.
    fn keys_of_sides<T>(
        &mut self,
        row: QueryRow<'_>,
        mut of: impl FnMut(usize, &[u8]) -> T,
    ) -> [T; 2] {
        [0, 1].map(|i| match row.datum(i) {
            Some(key) => self.keys[i].show(key, |key| of(i, key)),
            None => self.refuse_null(["a", "b"][i]),
        })
    }
}

/// Fails the statement with 21000: in the relation `name` a pair has the same key twice.
pub fn refuse_one_key(key: &[u8], name: &str) -> ! {
    let message = format!(
        "both keys of a pair in \"{name}\" are \"{}\"",
        readable(key)
    );
    raise(&sql_error(PgSqlErrorCode::ERRCODE_CARDINALITY_VIOLATION, message).detail("A key names one record, and a \
        pair is of two.").hint("Find pairs by a column whose values are unique, make keys of two tables different, \
        or give a view that leaves such pairs out."))
}

/// The memory that is needed besides pairs and keys, in bytes.
#[derive(Clone, Copy)]
pub struct Overhead {
    /// For each pair.
    pub a_pair: usize,
    /// For each record.
    pub a_record: usize,
    /// What is in use already.
    pub held: usize,
}

impl Overhead {
    /// With what a report keeps of each record besides: its best pair, its place, its cluster and its group.
    pub fn of_report(mut self) -> Overhead {
        self.a_record += 56;
        self
    }
}

/// Pairs in memory, and the keys of their records.
pub struct PairList<'a> {
    pairs: Vec<Pair>,
    keys: KeyDictionary,
    sides: KeySides,
    budget: Budget,
    overhead: Overhead,
    /// Pairs that are read are left out if they are judged different or unsure.
    decisions: Option<&'a Decisions>,
}

impl<'a> PairList<'a> {
    pub fn new(overhead: Overhead) -> PairList<'a> {
        PairList::with(KeyDictionary::new(), overhead)
    }

    /// Records whose keys are in the dictionary keep their numbers.
    pub fn with(keys: KeyDictionary, overhead: Overhead) -> PairList<'a> {
        PairList {
            pairs: Vec::new(),
            keys,
            sides: KeySides::One,
            budget: Budget::of_setting(),
            overhead,
            decisions: None,
        }
    }

    /// Whose keys are read.
    pub fn of_sides(mut self, sides: KeySides) -> PairList<'a> {
        self.sides = sides;
        self
    }

    /// The same, which reads no pairs that are judged different or unsure.
    pub fn without(mut self, decisions: Option<&'a Decisions>) -> PairList<'a> {
        self.decisions = decisions;
        self
    }

    /// Adds a pair by its keys.
    ///
    /// Errors: more than maintenance_work_mem; out of memory.
    pub fn push(&mut self, a: &[u8], b: &[u8], similarity: f64) {
        let (a, b) = (self.keys.number(a), self.keys.number(b));
        self.put(Pair { a, b, similarity });
    }

    fn put(&mut self, pair: Pair) {
        push(&mut self.pairs, pair);
        self.check();
    }

    /// This runs for every pair, since keys can be long.
    ///
    /// Errors: more than maintenance_work_mem.
    fn check(&self) {
        let (pairs, records) = (self.pairs.len(), self.keys.len());
        let over = self.overhead;
        let a_pair = size_of::<Pair>() + over.a_pair;
        let needed = over.held + pairs * a_pair + records * over.a_record + self.keys.memory();
        self.budget
            .check(needed, || format!("{pairs} pairs of {records} records"));
    }

    /// Reads the pairs of a cursor over a, b and similarity, without those less similar than `least`.
    ///
    /// Errors: more than maintenance_work_mem; a null; a similarity outside [0,1]; a pair of a key with itself.
    pub fn read(&mut self, cursor: Rows, name: &str, least: f64) {
        let mut reader = PairReader::new(&cursor, name);
        cursor.each(|row| {
            let similarity = reader.similarity(row);
            if similarity >= least {
                let (sides, keys) = (self.sides, &mut self.keys);
                let [a, b] = reader.keys_of_sides(row, |side, key| sides.number(keys, side, key));
                if a == b {
                    refuse_one_key(self.keys.key(a), name);
                }
                let keys = [a, b].map(|key| self.keys.key(key));
                if self.decisions.is_some_and(|d| d.leaves_out(keys)) {
                    return;
                }
                self.put(Pair { a, b, similarity });
            }
        });
    }

    /// The pairs, and the keys by the numbers that they have there.
    ///
    /// Errors: more than maintenance_work_mem.
    pub fn finish(self) -> (Vec<Pair>, KeyDictionary) {
        self.check();
        (self.pairs, self.keys)
    }
}
