//! A set of tokens by their hashes, which take less memory than the tokens and compare faster.

use std::ops::Deref;

use base::sort::sort_distinct;
use base::{Error, Result, Ticker};
use twox_hash::XxHash3_64;

use super::similarity::Overlap;

/// Hashes of tokens as they come, repetitions included.
#[derive(Default)]
pub struct TokenHashList(Vec<u64>);

impl TokenHashList {
    /// None yet.
    pub fn new() -> TokenHashList {
        TokenHashList::default()
    }

    /// One more token, which is hashed as it is, byte by byte.
    ///
    /// Errors: out of memory.
    pub fn push(&mut self, token: impl AsRef<[u8]>) -> Result<()> {
        if self.0.len() == self.0.capacity() {
            let more = self.0.len().max(16);
            self.0
                .try_reserve_exact(more)
                .map_err(|_| Error::out_of_memory(more * size_of::<u64>()))?;
        }
        self.0.push(token_hash(token.as_ref()));
        Ok(())
    }

    /// Forgets them, and keeps the memory.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Sorts them and drops repetitions, in place; `turn` is called now and then.
    pub fn sort_distinct(&mut self, turn: impl FnMut()) -> &[u64] {
        sort_distinct(&mut self.0, &mut Ticker::new(turn));
        &self.0
    }

    /// Each once, ascending; `turn` is called now and then.
    pub fn distinct(mut self, turn: impl FnMut()) -> TokenHashes {
        self.sort_distinct(turn);
        TokenHashes(self.0)
    }
}

/// A set of tokens: the hash of each once, ascending. Two different tokens have one hash with a probability of 2⁻⁶⁴,
/// and then they count as one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TokenHashes(Vec<u64>);

impl TokenHashes {
    /// Those of a list of tokens, in which one may come more than once; `turn` is called now and then.
    ///
    /// Errors: out of memory.
    pub fn new<'a>(
        tokens: impl Iterator<Item = &'a [u8]>,
        turn: impl FnMut(),
    ) -> Result<TokenHashes> {
        let mut list = TokenHashList::new();
        let ticker = &mut Ticker::new(turn);
        for token in tokens {
            ticker.step();
            list.push(token)?;
        }
        Ok(list.distinct(|| ticker.turn()))
    }

    /// The Jaccard similarity of both sets, the very number that [`Overlap::jaccard`] gives for their tokens; 0 where
    /// neither has any.
    pub fn jaccard(&self, other: &TokenHashes) -> f64 {
        Overlap::of_hashes(self, other, || ()).jaccard()
    }
}

impl Deref for TokenHashes {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.0
    }
}

// One hash of a token, on which everything depends that is stored of tokens.

/// XXH3, 64 bits, seed 0, of the token's bytes, which are UTF-8. Every length has its value by the
/// specification of xxHash, the same on every machine.
#[inline]
pub fn token_hash(token: &[u8]) -> u64 {
    XxHash3_64::oneshot(token)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn list(of: &[String]) -> Vec<&[u8]> {
        of.iter().map(String::as_bytes).collect()
    }

    proptest! {
        /// The same number as by the tokens themselves, bit for bit.
        #[test]
        fn hashes_compare_as_tokens_do(a in prop::collection::vec("[a-d]{0,2}", 0..40), b in prop::collection::vec("[a-d]{0,2}", 0..40)) {
            let [x, y] = [&a, &b].map(|of| TokenHashes::new(list(of).into_iter(), || ()).unwrap());
            let overlap = Overlap::new(&mut list(&a), &mut list(&b), || ()).unwrap();
            prop_assert_eq!(Overlap::of_hashes(&x, &y, || ()), overlap);
            prop_assert_eq!(x.jaccard(&y).to_bits(), overlap.jaccard().to_bits());
            prop_assert!(x.jaccard(&y) <= overlap.bound());
        }
    }

    #[test]
    fn empty_sets_are_similar_to_nothing() {
        let none = TokenHashes::default();
        let some = TokenHashes::new([b"a".as_slice(), b"a"].into_iter(), || ()).unwrap();
        assert_eq!(some.len(), 1);
        assert_eq!((none.jaccard(&none), none.jaccard(&some)), (0.0, 0.0));
        assert_eq!(some.jaccard(&some), 1.0);
    }

    #[test]
    fn long_sets_give_turns() {
        let tokens: Vec<[u8; 4]> = (0..100_000u32).map(u32::to_le_bytes).collect();
        let of = |some: &[[u8; 4]]| {
            TokenHashes::new(some.iter().map(|token| token.as_slice()), || ()).unwrap()
        };
        let (a, b) = (of(&tokens[..80_000]), of(&tokens[20_000..]));
        let mut turns = 0;
        let overlap = Overlap::of_hashes(&a, &b, || turns += 1);
        assert_eq!(
            (overlap.a, overlap.b, overlap.common),
            (80_000, 80_000, 60_000)
        );
        assert!(turns > 0);
    }
}
