//! A JSON object as a record of a model's fields.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::model::FieldModel;
use base::{Error, Result};

/// Reads the values of the fields from an object's members. Numbers and booleans are taken as they are written; `null`,
/// or no such member, is a missing value. Other members are ignored. `name` is what an error calls the object.
///
/// Errors: no object, a field's value that is an array or an object.
pub fn read_record(fields: &[FieldModel], name: &str, text: &str) -> Result<Vec<Option<String>>> {
    let invalid = |message: String, detail: &str| Err(Error::invalid(message).detail(detail));
    if !text.trim_start().starts_with('{') {
        let message = format!("argument \"{name}\" is not a JSON object");
        return invalid(
            message,
            "A record is an object with the model's fields as members.",
        );
    }
    let mut parser = serde_json::Deserializer::from_str(text);
    let members = Members(fields).deserialize(&mut parser);
    let members = members.and_then(|members| parser.end().map(|()| members));
    let unreadable = |error: serde_json::Error| {
        let message = format!("argument \"{name}\" cannot be read as JSON");
        Error::invalid(message).detail(format!("{error}."))
    };
    let members = members.map_err(unreadable)?;
    let mut record = Vec::with_capacity(fields.len());
    for (field, raw) in fields.iter().zip(members) {
        let raw = raw.map_or("null", RawValue::get);
        record.push(match raw.as_bytes().first() {
            Some(b'n') => None,
            Some(b'"') => Some(serde_json::from_str(raw).map_err(unreadable)?),
            Some(b'[' | b'{') => {
                let message = format!(
                    "member \"{}\" of argument \"{name}\" is an array or an object",
                    field.name
                );
                let detail = "A field's value is a string, a number, a boolean or null.";
                return invalid(message, detail);
            }
            _ => Some(raw.to_owned()),
        });
    }
    Ok(record)
}

/// The values of members that are fields.
struct Members<'f>(&'f [FieldModel]);

impl<'de> DeserializeSeed<'de> for Members<'_> {
    type Value = Vec<Option<&'de RawValue>>;

    fn deserialize<D: Deserializer<'de>>(
        self,
        from: D,
    ) -> std::result::Result<Self::Value, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = Vec<Option<&'de RawValue>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut of: A) -> std::result::Result<Self::Value, A::Error> {
        let mut values = vec![None; self.0.len()];
        while let Some(name) = of.next_key::<String>()? {
            match self.0.iter().position(|field| field.name == name) {
                Some(k) => values[k] = Some(of.next_value()?),
                None => {
                    of.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(values)
    }
}
