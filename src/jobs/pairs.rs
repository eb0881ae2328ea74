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

/// Reads the pairs of a cursor over a, b and similarity, without those less similar than `least`.
/// `a_pair` bytes a pair will be needed besides.
///
/// Errors: more than memory may hold; a NULL; a similarity outside [0,1].
pub fn read(
    cursor: Cursor,
    name: &str,
    numbers: &mut Numbers,
    least: f64,
    a_pair: usize,
) -> Vec<Pair> {
    let mut reader = Reader::new(&cursor, name);
    let budget = Budget::of_setting();
    let mut pairs = Vec::new();
    cursor.each(|row| {
        let similarity = reader.similarity(row);
        if similarity < least {
            return;
        }
        let [a, b] = reader.keys(row, |key| numbers.number(key));
        push(&mut pairs, Pair { a, b, similarity });
        if pairs.len() % 1024 == 0 {
            check(budget, &pairs, numbers, a_pair);
        }
    });
    check(budget, &pairs, numbers, a_pair);
    pairs
}

fn check(budget: Budget, pairs: &[Pair], numbers: &Numbers, a_pair: usize) {
    let needed = pairs.len() * (size_of::<Pair>() + a_pair) + numbers.memory();
    budget.check(needed, || {
        format!("{} pairs of {} records", pairs.len(), numbers.len())
    });
}
