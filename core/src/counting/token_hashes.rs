//! A set of tokens, by their hashes.

use crate::sort::sort_distinct;
use crate::tick::Ticker;
use crate::tokens::token_hash;
use crate::{Error, Result};

/// Tokens that are added or removed together. Each counts once, however often it comes.
#[derive(Default)]
pub struct TokenHashes(Vec<u64>);

impl TokenHashes {
    /// None yet.
    pub fn new() -> TokenHashes {
        TokenHashes::default()
    }

    /// One more, which is hashed as it is, in UTF-8.
    ///
    /// Errors: out of memory.
    pub fn push(&mut self, token: &str) -> Result<()> {
        if self.0.len() == self.0.capacity() {
            let more = self.0.len().max(16);
            self.0
                .try_reserve_exact(more)
                .map_err(|_| Error::out_of_memory(more * size_of::<u64>()))?;
        }
        self.0.push(token_hash(token.as_bytes()));
        Ok(())
    }

    /// Each once, ascending.
    pub(super) fn distinct(mut self, tick: impl FnMut()) -> Vec<u64> {
        sort_distinct(&mut self.0, &mut Ticker::new(tick));
        self.0
    }
}
