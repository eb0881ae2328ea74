//! Exact similarity of two sets of tokens.

use std::collections::HashMap;

use crate::tick::Ticker;
use crate::{Error, Result};

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

impl Overlap {
    /// Compares tokens byte by byte; `turn` is called now and then.
    ///
    /// Errors: out of memory.
    pub fn of<'a>(
        a: impl Iterator<Item = &'a [u8]>,
        b: impl Iterator<Item = &'a [u8]>,
        turn: impl FnMut(),
    ) -> Result<Overlap> {
        let ticker = &mut Ticker::new(turn);
        let mut seen: HashMap<&[u8], u8> = HashMap::new();
        let mut overlap = Overlap::default();
        let tokens = a
            .map(|token| (token, IN_A))
            .chain(b.map(|token| (token, IN_B)));
        for (token, list) in tokens {
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

    /// Common tokens by all tokens; 0 when there is none at all.
    pub fn jaccard(&self) -> f64 {
        share(self.common, self.a + self.b - self.common)
    }

    /// Common tokens by those of the first; 0 when it has none.
    pub fn containment(&self) -> f64 {
        share(self.common, self.a)
    }
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
    use super::super::for_each_token;
    use super::*;

    fn tokens(text: &str) -> Vec<Vec<u8>> {
        let mut tokens = vec![];
        for_each_token(
            text,
            || (),
            |token| {
                tokens.push(token.as_bytes().to_vec());
                Ok(())
            },
        )
        .unwrap();
        tokens
    }

    fn overlap(a: &str, b: &str) -> Overlap {
        let (a, b) = (tokens(a), tokens(b));
        Overlap::of(
            a.iter().map(Vec::as_slice),
            b.iter().map(Vec::as_slice),
            || (),
        )
        .unwrap()
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
