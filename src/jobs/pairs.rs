//! Pairs with similarities, read into memory.

use bloom_ident_core::dedup::Pair;
use bloom_ident_core::filter::rates::unit;
use bloom_ident_core::{Error, Kind};

use super::budget::{push, Budget};
use super::cursor::{Cursor, Output, Row};
use super::numbers::Numbers;
use crate::error::{raise, OrRaise};

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
                Kind::NullNotAllowed,
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

/// Pairs in memory, and the numbers of their records.
pub struct Collected {
    pairs: Vec<Pair>,
    numbers: Numbers,
    budget: Budget,
    a_pair: usize,
}

impl Collected {
    /// `a_pair` bytes a pair will be needed besides.
    pub fn new(a_pair: usize) -> Collected {
        Collected::with(Numbers::new(), a_pair)
    }

    /// Records that are known already keep their numbers.
    pub fn with(numbers: Numbers, a_pair: usize) -> Collected {
        Collected {
            pairs: Vec::new(),
            numbers,
            budget: Budget::of_setting(),
            a_pair,
        }
    }

    /// Errors: more than memory may hold.
    pub fn push(&mut self, a: &[u8], b: &[u8], similarity: f64) {
        let (a, b) = (self.numbers.number(a), self.numbers.number(b));
        self.put(Pair { a, b, similarity });
    }

    fn put(&mut self, pair: Pair) {
        push(&mut self.pairs, pair);
        if self.pairs.len().is_multiple_of(1024) {
            self.check();
        }
    }

    fn check(&self) {
        let pairs = self.pairs.len();
        let needed = pairs * (size_of::<Pair>() + self.a_pair) + self.numbers.memory();
        self.budget.check(needed, || {
            format!("{pairs} pairs of {} records", self.numbers.len())
        });
    }

    /// Reads the pairs of a cursor over a, b and similarity, without those less similar than `least`.
    ///
    /// Errors: more than memory may hold; a NULL; a similarity outside [0,1].
    pub fn read(&mut self, cursor: Cursor, name: &str, least: f64) {
        let mut reader = Reader::new(&cursor, name);
        cursor.each(|row| {
            let similarity = reader.similarity(row);
            if similarity >= least {
                let [a, b] = reader.keys(row, |key| self.numbers.number(key));
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
