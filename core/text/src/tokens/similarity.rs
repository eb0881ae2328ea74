//! Exact similarity of two sets of tokens.

use std::cmp::Ordering;
use std::collections::HashMap;

use base::Ticker;
use base::{Error, Result};

/// How many distinct tokens two lists have, and have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overlap {
    /// Those of the first.
    pub a: u64,
    /// Those of the second.
    pub b: u64,
    /// Those of both.
    pub common: u64,
}

const IN_A: u8 = 1;
const IN_B: u8 = 2;

/// Lists of at most so many tokens are sorted, which is quicker than a table is made.
const SMALL: usize = 1 << 10;

impl Overlap {
    /// Compares tokens byte by byte, and leaves the lists in any order; `turn` is called now and then.
    ///
    /// Errors: out of memory.
    pub fn new<'a>(a: &mut [&'a [u8]], b: &mut [&'a [u8]], turn: impl FnMut()) -> Result<Overlap> {
        match a.len().max(b.len()) {
            0..=SMALL => Ok(Self::by_order(a, b)),
            _ => Self::by_table(a, b, turn),
        }
    }

    fn by_order(a: &mut [&[u8]], b: &mut [&[u8]]) -> Overlap {
        a.sort_unstable();
        b.sort_unstable();
        let (mut a, mut b) = (distinct(a), distinct(b));
        let mut overlap = Overlap::default();
        let (mut left, mut right) = (a.next(), b.next());
        loop {
            let order = match (left, right) {
                (Some(left), Some(right)) => left.cmp(right),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => return overlap,
            };
            overlap.common += u64::from(order.is_eq());
            if order.is_le() {
                overlap.a += 1;
                left = a.next();
            }
            if order.is_ge() {
                overlap.b += 1;
                right = b.next();
            }
        }
    }

    fn by_table(a: &[&[u8]], b: &[&[u8]], turn: impl FnMut()) -> Result<Overlap> {
        let ticker = &mut Ticker::new(turn);
        let mut seen: HashMap<&[u8], u8> = HashMap::new();
        let mut overlap = Overlap::default();
        let tokens = a.iter().map(|token| (token, IN_A));
        for (token, list) in tokens.chain(b.iter().map(|token| (token, IN_B))) {
            ticker.step();
            seen.try_reserve(1)
                .map_err(|_| Error::out_of_memory(seen.len() * size_of::<(&[u8], u8)>()))?;
            let lists = seen.entry(token).or_default();
            if *lists & list == 0 {
                *lists |= list;
                overlap.a += u64::from(list == IN_A);
                overlap.b += u64::from(list == IN_B);
                overlap.common += u64::from(*lists == IN_A | IN_B);
            }
        }
        Ok(overlap)
    }

    /// Of two sets by the hashes of their tokens, each once and ascending; `turn` is called now and then.
    pub fn of_hashes(a: &[u64], b: &[u64], mut turn: impl FnMut()) -> Overlap {
        /// Steps between two turns.
        const STEPS: usize = 1 << 16;
        let (mut i, mut j, mut common) = (0, 0, 0);
        let mut steps = 0;
        while i < a.len() && j < b.len() {
            let (x, y) = (a[i], b[j]);
            common += u64::from(x == y);
            i += usize::from(x <= y);
            j += usize::from(y <= x);
            steps += 1;
            if steps % STEPS == 0 {
                turn();
            }
        }
        Overlap {
            a: a.len() as u64,
            b: b.len() as u64,
            common,
        }
    }

    /// What [`Overlap::jaccard`] is at most for sets of so many tokens, whatever they have in common.
    pub fn bound(&self) -> f64 {
        share(self.a.min(self.b), self.a.max(self.b))
    }

    /// Common tokens by all tokens; 0 when there is none at all.
    pub fn jaccard(&self) -> f64 {
        share(self.common, self.a + self.b - self.common)
    }

    /// Common tokens by those of the first; 0 when it has none.
    pub fn containment(&self) -> f64 {
        share(self.common, self.a)
    }
}

/// A sorted list without repetitions.
fn distinct<'l, 'a>(list: &'l [&'a [u8]]) -> impl Iterator<Item = &'a [u8]> + 'l {
    list.chunk_by(PartialEq::eq).map(|same| same[0])
}

fn share(part: u64, of: u64) -> f64 {
    if of == 0 {
        0.0
    } else {
        part as f64 / of as f64
    }
}

#[cfg(test)]
mod tests {
    use super::super::{collected, for_each_token};
    use super::*;

    fn tokens(text: &str) -> Vec<Vec<u8>> {
        let tokens = collected(|each| for_each_token(text, || (), each));
        tokens.into_iter().map(String::into_bytes).collect()
    }

    fn list(of: &[Vec<u8>]) -> Vec<&[u8]> {
        of.iter().map(Vec::as_slice).collect()
    }

    fn overlap(a: &str, b: &str) -> Overlap {
        let (a, b) = (tokens(a), tokens(b));
        let (mut a, mut b) = (list(&a), list(&b));
        let by_table = Overlap::by_table(&a, &b, || ()).unwrap();
        let found = Overlap::new(&mut a, &mut b, || ()).unwrap();
        assert_eq!(found, by_table);
        found
    }

    #[test]
    fn a_long_list_is_compared_by_a_table() {
        let numbers: Vec<Vec<u8>> = (0..3000u32).map(|n| n.to_le_bytes().to_vec()).collect();
        let (mut a, mut b) = (list(&numbers[..2000]), list(&numbers[500..]));
        let by_order = Overlap::by_order(&mut a, &mut b);
        assert_eq!(Overlap::new(&mut a, &mut b, || ()).unwrap(), by_order);
        assert_eq!(
            (by_order.a, by_order.b, by_order.common),
            (2000, 2500, 1500)
        );
    }

    #[test]
    fn two_sentences() {
        let of = overlap(
            "The world is for you to get over with!",
            "Let's take over the world!",
        );
        assert_eq!((of.a, of.b, of.common), (9, 5, 3));
        assert_eq!(of.jaccard(), 3.0 / 11.0);
        assert_eq!(of.containment(), 3.0 / 9.0);
    }

    #[test]
    fn sets_have_each_token_once() {
        assert_eq!(overlap("a a b", "b b a").jaccard(), 1.0);
        assert_eq!(overlap("a", "").jaccard(), 0.0);
        assert_eq!(overlap("", "").jaccard(), 0.0);
        assert_eq!(overlap("", "a").containment(), 0.0);
    }
}
