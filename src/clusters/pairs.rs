//! Pairs with similarities, read into memory.

use bloom_ident_core::dedup::Pair;
use bloom_ident_core::range::unit;
use bloom_ident_core::{Error, ErrorKind};
use pgrx::PgSqlErrorCode;

use crate::clusters::numbers::Numbers;
use crate::pg::budget::{push, Budget};
use crate::pg::cursor::{Cursor, Output, Row};
use crate::pg::error::{raise, raise_as, shown, OrRaise};
use crate::types::readable;

/// The rows of a cursor over a, b and similarity.
pub struct Reader {
    keys: [Output; 2],
    /// For messages.
    name: String,
}

impl Reader {
    pub fn new(cursor: &Cursor, name: &str) -> Reader {
        Reader {
            keys: [cursor.output(0), cursor.output(1)],
            name: name.to_owned(),
        }
    }

    fn missing(&self, what: &str) -> ! {
        raise(
            &Error::new(
                ErrorKind::NullNotAllowed,
                format!("{what} of a pair in \"{}\" is null", self.name),
            )
            .hint("Give a view that leaves such pairs out."),
        )
    }

    /// Errors: a NULL, a similarity outside [0,1].
    pub fn similarity(&self, row: Row) -> f64 {
        let Some(similarity) = row.datum(2) else {
            self.missing("similarity")
        };
        let similarity = f64::from_bits(similarity.value() as u64);
        unit("similarity", similarity).or_raise();
        similarity
    }

    /// What `of` makes of each of both keys.
    ///
    /// Errors: a NULL.
    pub fn keys<T>(&mut self, row: Row, mut of: impl FnMut(&[u8]) -> T) -> [T; 2] {
        [0, 1].map(|i| match row.datum(i) {
            Some(key) => self.keys[i].show(key, &mut of),
            None => self.missing(["a", "b"][i]),
        })
    }
}

/// Fails the statement: in a table of pairs one has the same key twice.
pub fn of_one_key(key: &[u8], name: &str) -> ! {
    let message = format!(
        "both keys of a pair in \"{name}\" are \"{}\"",
        shown(&readable(key))
    );
    raise_as(
        PgSqlErrorCode::ERRCODE_CARDINALITY_VIOLATION,
        &Error::new(ErrorKind::DataException, message)
            .detail("A key names one record, and a pair is of two.")
            .hint("Find pairs by a column whose values are unique, make keys of two tables different, or give a view that leaves such pairs out."),
    )
}

/// Memory that is needed besides pairs and keys, in bytes.
#[derive(Clone, Copy)]
pub struct Besides {
    pub a_pair: usize,
    pub a_record: usize,
    /// In use already.
    pub held: usize,
}

/// Pairs in memory, and the numbers of their records.
pub struct Collected {
    pairs: Vec<Pair>,
    numbers: Numbers,
    budget: Budget,
    besides: Besides,
}

impl Collected {
    pub fn new(besides: Besides) -> Collected {
        Collected::with(Numbers::new(), besides)
    }

    /// Records that are known already keep their numbers.
    pub fn with(numbers: Numbers, besides: Besides) -> Collected {
        Collected {
            pairs: Vec::new(),
            numbers,
            budget: Budget::of_setting(),
            besides,
        }
    }

    /// Errors: more than memory may hold.
    pub fn push(&mut self, a: &[u8], b: &[u8], similarity: f64) {
        let (a, b) = (self.numbers.number(a), self.numbers.number(b));
        self.put(Pair { a, b, similarity });
    }

    fn put(&mut self, pair: Pair) {
        push(&mut self.pairs, pair);
        self.check();
    }

    /// Keys can be long, so this is for every pair.
    fn check(&self) {
        let (pairs, records) = (self.pairs.len(), self.numbers.len());
        let Besides {
            a_pair,
            a_record,
            held,
        } = self.besides;
        let needed = held
            + pairs * (size_of::<Pair>() + a_pair)
            + records * a_record
            + self.numbers.memory();
        self.budget
            .check(needed, || format!("{pairs} pairs of {records} records"));
    }

    /// Reads the pairs of a cursor over a, b and similarity, without those less similar than `least`.
    ///
    /// Errors: more than memory may hold; a NULL; a similarity outside [0,1]; a pair of a key with itself.
    pub fn read(&mut self, cursor: Cursor, name: &str, least: f64) {
        let mut reader = Reader::new(&cursor, name);
        cursor.each(|row| {
            let similarity = reader.similarity(row);
            if similarity >= least {
                let [a, b] = reader.keys(row, |key| self.numbers.number(key));
                if a == b {
                    of_one_key(self.numbers.key(a), name);
                }
                self.put(Pair { a, b, similarity });
            }
        });
    }

    /// Errors: as [`Collected::push`].
    pub fn finish(self) -> (Vec<Pair>, Numbers) {
        self.check();
        (self.pairs, self.numbers)
    }
}
