//! The options of a register.

use base::{Error, Result};
use serde_json::{Map, Value};

use pg::error::OrRaise;

/// The options of a register.
#[derive(Clone, Copy, Default)]
pub struct Options {
    /// For how many records the model is to be used.
    pub records: Option<i64>,
}

impl Options {
    /// Those of a register's row.
    pub fn read(json: &str) -> Options {
        Options::parse(json).or_raise()
    }

    /// Errors: an unknown option; a value that cannot be.
    pub fn parse(json: &str) -> Result<Options> {
        let mut options = Options::default();
        for (name, value) in members(json)? {
            match name.as_str() {
                "records" => options.records = Some(records(&value)?),
                _ => {
                    return Err(Error::invalid(format!(
                        "unrecognized option \"{name}\" of a register"
                    ))
                    .detail("The option is \"records\"."))
                }
            }
        }
        Ok(options)
    }
}

/// Errors: the options are no object.
pub fn members(json: &str) -> Result<Map<String, Value>> {
    let object = || Error::invalid("options of a register are not a JSON object");
    serde_json::from_str(json).map_err(|_| object())
}

/// Errors: the value is no number of records that make pairs.
pub fn records(value: &Value) -> Result<i64> {
    let number = value.as_i64().filter(|&n| n >= 2);
    number.ok_or_else(|| {
        let message = format!("option \"records\" of a register cannot be {value}");
        Error::invalid(message).detail("It is a number of records, 2 or more.")
    })
}
