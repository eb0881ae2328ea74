//! Members of a schema, each with its path for messages.

use std::borrow::Cow;

use base::{Error, ErrorKind, Result};
use serde_json::{Map, Value};

/// A value of a schema.
#[derive(Clone)]
pub struct Member<'a> {
    /// What the whole is called.
    of: &'static str,
    path: String,
    value: &'a Value,
}

impl<'a> Member<'a> {
    /// The schema itself.
    pub fn root(value: &'a Value) -> Member<'a> {
        Member::of("linkage schema", value)
    }

    /// Something that messages call so.
    pub fn of(of: &'static str, value: &'a Value) -> Member<'a> {
        let path = String::new();
        Member { of, path, value }
    }

    /// What it is called in messages.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The same as half a sentence.
    fn named(&self) -> String {
        let Member { of, path, .. } = self;
        match path.is_empty() {
            true => (*of).to_owned(),
            false => format!("\"{path}\" of the {of}"),
        }
    }

    /// The error of a value that is not as it must be.
    #[cold]
    pub fn wrong(&self, must: &str) -> Error {
        Error::invalid(format!("{} must be {must}", self.named()))
            .detail(format!("It is {}.", brief(self.value)))
    }

    /// The error of something that clkhash has and this has not, or that neither has.
    #[cold]
    pub fn unsupported(&self, what: &str) -> Error {
        let message = format!("{what} in {} is not supported", self.named());
        Error::new(ErrorKind::NotSupported, message)
    }

    fn object(&self) -> Result<&'a Map<String, Value>> {
        self.value
            .as_object()
            .ok_or_else(|| self.wrong("an object"))
    }

    /// Errors: it is no object; it has other members than these.
    pub fn check_members(&self, known: &[&str]) -> Result<()> {
        let object = self.object()?;
        let other = object.keys().find(|name| !known.contains(&name.as_str()));
        match other {
            None => Ok(()),
            Some(name) => Err(self
                .unsupported(&format!("member \"{name}\""))
                .detail(format!("There may be: {}.", known.join(", ")))),
        }
    }

    /// A member that may be missing.
    ///
    /// Errors: this is no object.
    pub fn get(&self, name: &str) -> Result<Option<Member<'a>>> {
        let value = self.object()?.get(name);
        let path = match self.path.is_empty() {
            true => name.to_owned(),
            false => format!("{}.{name}", self.path),
        };
        let of = self.of;
        Ok(value.map(|value| Member { of, path, value }))
    }

    /// A member that must be there.
    ///
    /// Errors: it is not.
    pub fn need(&self, name: &str) -> Result<Member<'a>> {
        self.get(name)?
            .ok_or_else(|| Error::invalid(format!("{} has no member \"{name}\"", self.named())))
    }

    /// Errors: it is no array.
    pub fn items(&self) -> Result<impl Iterator<Item = Member<'a>> + use<'a, '_>> {
        let items = self.value.as_array();
        let items = items.ok_or_else(|| self.wrong("an array"))?;
        Ok(items.iter().enumerate().map(|(n, value)| Member {
            of: self.of,
            path: format!("{}[{n}]", self.path),
            value,
        }))
    }

    /// Errors: it is no text.
    pub fn text(&self) -> Result<&'a str> {
        self.value.as_str().ok_or_else(|| self.wrong("a text"))
    }

    /// Errors: it is neither true nor false.
    pub fn boolean(&self) -> Result<bool> {
        let value = self.value.as_bool();
        value.ok_or_else(|| self.wrong("true or false"))
    }

    /// Errors: it is no number.
    pub fn number(&self) -> Result<&'a serde_json::Number> {
        match self.value {
            Value::Number(number) => Ok(number),
            _ => Err(self.wrong("a number")),
        }
    }

    /// Errors: it is no whole number from `least` to `most`.
    pub fn integer(&self, least: u64, most: u64) -> Result<u64> {
        let number = self.number()?;
        // 20.0 is a whole number in JSON schemas.
        let whole = |x: f64| (x.fract() == 0.0 && (0.0..1e15).contains(&x)).then_some(x as u64);
        let value = number.as_u64().or_else(|| number.as_f64().and_then(whole));
        let value = value.filter(|value| (least..=most).contains(value));
        value.ok_or_else(|| self.wrong(&format!("a whole number from {least} to {most}")))
    }
}

/// Reads JSON whose numbers may be of any size, as those of PostgreSQL are: one that is beyond all floats becomes the largest
/// float, which no member may have.
///
/// Errors: no JSON, or some that is nested too deeply. `of` says of what.
pub fn read(text: &str, of: &str) -> Result<Value> {
    serde_json::from_str(&with_floats(text))
        .map_err(|e| Error::invalid(format!("{of} cannot be read")).detail(format!("{e}.")))
}

/// The largest float, as it is written.
const LARGEST: &str = "1.7976931348623157e308";

/// The same text, with the largest float for each number that is beyond it.
fn with_floats(text: &str) -> Cow<'_, str> {
    let is_beyond = |number: &str| number.parse().is_ok_and(f64::is_infinite);
    let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    let mut written = String::new();
    let (mut rest, mut copied) = (text, 0);
    // Texts are passed over, with the quotes that they have in them.
    while let Some(at) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        rest = &rest[at..];
        if let Some(inner) = rest.strip_prefix('"') {
            let mut is_escaped = false;
            let end = inner.find(|c| {
                let is_end = c == '"' && !is_escaped;
                is_escaped = c == '\\' && !is_escaped;
                is_end
            });
            rest = end.map_or("", |end| &inner[end + 1..]);
            continue;
        }
        let behind = rest.trim_start_matches(is_of_number);
        let number = &rest[..rest.len() - behind.len()];
        if is_beyond(number.trim_start_matches('-')) {
            let begin = text.len() - rest.len();
            written.push_str(&text[copied..begin]);
            written.push_str(if number.starts_with('-') { "-" } else { "" });
            written.push_str(LARGEST);
            copied = begin + number.len();
        }
        rest = behind;
    }
    match copied {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(written + &text[copied..]),
    }
}

/// A value as messages show it.
fn brief(value: &Value) -> String {
    match value {
        Value::Number(number) if number.as_f64().is_some_and(|x| x.abs() == f64::MAX) => {
            "a number that is out of range".to_owned()
        }
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        other => base::error::shortened(&other.to_string(), 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_may_be_of_any_size() {
        let most = format!("1{}", "0".repeat(500));
        let (text, same) = (
            format!(
                r#"{{"a": [{most}, -{most}, 1e500, -1e500], "b\"{most}": "\\\"{most}", "c": 1e308}}"#
            ),
            r#"{"a": [1, -2.5e-7], "\\": "1e500\\"}"#,
        );
        let value = read(&text, "it").unwrap();
        let largest: Value = serde_json::from_str(LARGEST).unwrap();
        assert_eq!(largest.as_f64(), Some(f64::MAX));
        for (n, sign) in [(0, 1.0), (1, -1.0), (2, 1.0), (3, -1.0)] {
            assert_eq!(value["a"][n].as_f64(), Some(sign * f64::MAX));
        }
        assert_eq!(value[format!("b\"{most}")], format!("\\\"{most}"));
        assert_eq!(value["c"].as_f64(), Some(1e308));
        assert!(matches!(with_floats(same), Cow::Borrowed(_)));
        let member = Member::root(&value).get("a").unwrap().unwrap();
        let error = member
            .items()
            .unwrap()
            .next()
            .unwrap()
            .integer(0, 9)
            .unwrap_err();
        assert_eq!(
            error.detail_text(),
            Some("It is a number that is out of range.")
        );
        // What is cut off somewhere is no JSON, and no panic.
        for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
            read(&text[..end], "it").unwrap_err();
        }
    }
}
