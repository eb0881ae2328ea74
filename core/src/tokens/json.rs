//! JSON values to tokens `key_value`.
//!
//! | value | tokens |
//! |---|---|
//! | `{"browser": "Mozilla Firefox"}` | `browser_mozilla`, `browser_firefox`: white space and commas part a text |
//! | `{"plugins": [{"name": "Flash"}]}` | `plugin_name_flash`: nested keys follow each other, elements of an array are tokens each |
//! | `{"likes": [1.0, -2.50, true, null]}` | `like_1`, `like_-2.5`, `like_true`: equal numbers are one token, null is none |
//! | `"Firefox"` | `firefox`: without a key there is none |
//!
//! Keys and texts are written as tokens of free text are; the words of a key, between white space and `_`, are joined by `_`. A key
//! without a letter or digit is left out.

use super::singular::singular;
use super::text::for_each_part;
use super::writing::{push, push_str, sort, Sort};
use crate::{Error, Result};

/// Takes a JSON value piece by piece, as a reader comes by them, and gives its tokens to `each`, in order, repetitions included.
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
    use serde_json::{json, Value};

    use super::*;

    fn feed<E: FnMut(&str) -> Result<()>, T: FnMut()>(
        value: &Value,
        to: &mut JsonTokens<E, T>,
    ) -> Result<()> {
        match value {
            Value::Null => {}
            Value::Bool(value) => to.boolean(*value)?,
            Value::Number(number) => to.number(&number.to_string())?,
            Value::String(text) => to.text(text)?,
            Value::Array(elements) => {
                to.begin()?;
                elements.iter().try_for_each(|value| feed(value, to))?;
                to.end();
            }
            Value::Object(fields) => {
                to.begin()?;
                for (key, value) in fields {
                    to.key(key)?;
                    feed(value, to)?;
                }
                to.end();
            }
        }
        Ok(())
    }

    fn tokens(value: Value, singular: bool) -> Vec<String> {
        let mut tokens = vec![];
        let mut to = JsonTokens::new(
            singular,
            || (),
            |token: &str| {
                tokens.push(token.to_owned());
                Ok(())
            },
        );
        feed(&value, &mut to).unwrap();
        tokens
    }

    #[test]
    fn browsers() {
        let a =
            json!({"browser": "Mozilla Firefox", "plugins": "Flash,Silverlight", "zipcode": 20121});
        let expected = [
            "browser_mozilla",
            "browser_firefox",
            "plugin_flash",
            "plugin_silverlight",
            "zipcode_20121",
        ];
        assert_eq!(tokens(a, true), expected);
        // objects of serde_json have their keys in the order of the alphabet
        let b = json!({"browser": "Google Chrome", "plugins": "Flash,Java", "likes": [123, 124]});
        let expected = [
            "browser_google",
            "browser_chrome",
            "like_123",
            "like_124",
            "plugin_flash",
            "plugin_java",
        ];
        assert_eq!(tokens(b, true), expected);
    }

    #[test]
    fn nested_values() {
        let value = json!({"plugins": [{"name": "Flash", "ids": [[1], 2]}, {"name": "Java 8"}], "z": null, "yes": true});
        let expected = [
            "plugin_id_1",
            "plugin_id_2",
            "plugin_name_flash",
            "plugin_name_java",
            "plugin_name_8",
            "ye_true",
        ];
        assert_eq!(tokens(value, true), expected);
    }

    #[test]
    fn what_stands_alone_has_no_key() {
        assert_eq!(
            tokens(json!("Mozilla, Firefox"), true),
            ["mozilla", "firefox"]
        );
        assert_eq!(tokens(json!(null), true), [""; 0]);
        assert_eq!(tokens(json!(false), true), ["false"]);
        assert_eq!(
            tokens(json!([1, "a b", [true]]), true),
            ["1", "a", "b", "true"]
        );
        assert_eq!(tokens(json!({"": "x", "--": 1}), true), ["x", "1"]);
    }

    #[test]
    fn keys_in_the_singular_or_as_they_are() {
        let value = || json!({"Screen Sizes": 1, "user_names": 2, "User-Agents": 3});
        assert_eq!(
            tokens(value(), true),
            ["screen_size_1", "useragent_3", "user_name_2"]
        );
        assert_eq!(
            tokens(value(), false),
            ["screen_sizes_1", "useragents_3", "user_names_2"]
        );
    }

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
