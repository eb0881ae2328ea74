//! The options of a register.

use base::{Error, Result};
use serde_json::{Map, Value};

use pg::error::OrRaise;

/// The options of a register.
#[derive(Clone, Copy, Default)]
pub struct Options {
    /// For how many records the model is to be used.
    pub records: Option<i64>,
    /// Names are found by their beginnings, too.
    pub prefix: bool,
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
                "prefix" => options.prefix = flag(&value)?,
                _ => {
                    return Err(Error::invalid(format!(
                        "unrecognized option \"{name}\" of a register"
                    ))
                    .detail("The options are \"records\" and \"prefix\".")
                    .perhaps("option", &name, ["records", "prefix"]))
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

/// Errors: the value is neither true nor false.
fn flag(value: &Value) -> Result<bool> {
    value.as_bool().ok_or_else(|| {
        Error::invalid(format!("option \"prefix\" of a register cannot be {value}"))
            .detail("It is true or false.")
    })
}
