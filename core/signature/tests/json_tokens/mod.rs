//! The tokens of a JSON value that serde_json has read.

use base::Result;
use serde_json::Value;
use text::tokens::JsonTokens;

/// In order; objects have their keys in the order of the alphabet.
pub fn json_tokens(value: &Value, singular: bool) -> Vec<String> {
    let mut tokens = vec![];
    let mut to = JsonTokens::new(
        singular,
        || (),
        |token: &str| {
            tokens.push(token.to_owned());
            Ok(())
        },
    );
    feed(value, &mut to).unwrap();
    tokens
}

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
