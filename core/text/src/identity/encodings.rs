//! Names of encodings before their values.

use base::{Error, Result};

/// Tokens on their way out, each with the letters of its encoding before it.
pub(super) struct Encodings<F> {
    token: String,
    each: F,
}

impl<F: FnMut(&str) -> Result<()>> Encodings<F> {
    pub(super) fn new(each: F) -> Self {
        Encodings {
            token: String::new(),
            each,
        }
    }

    /// Errors: those of `each`; out of memory.
    pub(super) fn give(&mut self, encoding: &str, value: &str) -> Result<()> {
        self.token.clear();
        let bytes = encoding.len() + 1 + value.len();
        if self.token.try_reserve(bytes).is_err() {
            return Err(Error::out_of_memory(bytes));
        }
        self.token.push_str(encoding);
        self.token.push(':');
        self.token.push_str(value);
        (self.each)(&self.token)
    }
}
