//! JSON values to tokens `key_value`.
//!
//! | value | tokens |
//! |---|---|
//! | `{"browser": "Mozilla Firefox"}` | `browser_mozilla`, `browser_firefox`: white space and commas part a text |
//! | `{"plugins": [{"name": "Flash"}]}` | `plugin_name_flash`: nested keys follow each other, elements of an array are tokens each |
//! | `{"likes": [1.0, -2.50, true, null]}` | `like_1`, `like_-2.5`, `like_true`: equal numbers are one token, null is none |
//! | `"Firefox"` | `firefox`: without a key there is none |
//!
//! Keys and texts are written as tokens of free text are; the words of a key, between white space and `_`, are joined
//! by `_`. A key without a letter or digit is left out.

use super::singular::singular;
use super::text::for_each_part;
use super::writing::{push, push_str, sort, Sort};
use base::{Error, Result};

/// Takes a JSON value piece by piece, as a reader comes by them, and gives its tokens to `each`, in order, repetitions
/// included.
pub struct JsonTokens<E, T> {
    /// The keys that lead to the value that is read, each with `_` behind it.
    path: String,
    /// How much of it belongs to the objects and arrays that are open.
    levels: Vec<usize>,
    singular: bool,
    turn: T,
    each: E,
}

impl<E: FnMut(&str) -> Result<()>, T: FnMut()> JsonTokens<E, T> {
    /// Keys are put into the [`singular`] if that is said; `turn` is called now and then.
    pub fn new(singular: bool, turn: T, each: E) -> Self {
        JsonTokens {
            path: String::new(),
            levels: Vec::new(),
            singular,
            turn,
            each,
        }
    }

    /// An object or an array begins.
    ///
    /// Errors: out of memory.
    pub fn begin(&mut self) -> Result<()> {
        (self.turn)();
        self.levels
            .try_reserve(1)
            .map_err(|_| Error::out_of_memory(size_of::<usize>()))?;
        self.levels.push(self.path.len());
        Ok(())
    }

    /// The object or array that began last ends.
    pub fn end(&mut self) {
        let at = self.levels.pop().unwrap_or(0);
        self.path.truncate(at);
    }

    /// A key of the object that is open; its value follows.
    ///
    /// Errors: out of memory.
    pub fn key(&mut self, key: &str) -> Result<()> {
        self.path.truncate(self.levels.last().copied().unwrap_or(0));
        let start = self.path.len();
        let path = &mut self.path;
        let parts = |c| c == '_' || sort(c) == Sort::Space;
        for_each_part(key, parts, &mut self.turn, |word| {
            push_str(path, word)?;
            push(path, '_')
        })?;
        if self.singular && self.path.len() > start {
            self.path.pop();
            let (stem, ending) = singular(&self.path[start..]);
            let end = start + stem.len();
            self.path.truncate(end);
            push_str(&mut self.path, ending)?;
            push(&mut self.path, '_')?;
        }
        Ok(())
    }

    /// A text: a token for each of its words.
    ///
    /// Errors: those of `each`; out of memory.
    pub fn text(&mut self, text: &str) -> Result<()> {
        let (path, each) = (&mut self.path, &mut self.each);
        let parts = |c| c == ',' || sort(c) == Sort::Space;
        for_each_part(text, parts, &mut self.turn, |word| emit(path, each, word))
    }

    /// A number, in JSON's decimal writing.
    ///
    /// Errors: those of `each`; out of memory.
    pub fn number(&mut self, number: &str) -> Result<()> {
        (self.turn)();
        emit(&mut self.path, &mut self.each, shortest(number))
    }

    /// `true` or `false`.
    ///
    /// Errors: those of `each`; out of memory.
    pub fn boolean(&mut self, value: bool) -> Result<()> {
        (self.turn)();
        let word = if value { "true" } else { "false" };
        emit(&mut self.path, &mut self.each, word)
    }
}

/// Gives the token of a word under the keys of `path`, which is left as it was.
fn emit(path: &mut String, each: &mut impl FnMut(&str) -> Result<()>, word: &str) -> Result<()> {
    let keys = path.len();
    push_str(path, word)?;
    let given = each(path);
    path.truncate(keys);
    given
}

/// A number without zeros at the end of its fraction. Zero has no sign.
fn shortest(number: &str) -> &str {
    let short = match number.contains('.') && !number.contains(['e', 'E']) {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => number,
    };
    if short == "-0" {
        "0"
    } else {
        short
    }
}

#[cfg(test)]
mod tests {
    use super::shortest;

    #[test]
    fn equal_numbers_are_one_token() {
        for (number, token) in [
            ("1.0", "1"),
            ("1", "1"),
            ("-2.50", "-2.5"),
            ("0.0", "0"),
            ("-0.0", "0"),
            ("100", "100"),
            ("1e10", "1e10"),
        ] {
            assert_eq!(shortest(number), token);
        }
    }
}
