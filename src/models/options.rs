//! The options of the functions that make or use a model.

use base::range::unit;
use base::Error;
use serde_json::Value;

use pg::error::{raise, OrRaise};
use pg::function::arguments::Arguments;

/// Options, as they are without any.
#[derive(Clone, Copy, Debug, Default)]
pub struct ModelOptions {
    /// Most pairs that are compared; `None`: five a record, or eight million if that is more.
    pub pair_limit: Option<u64>,
    /// A model that should not be used is used.
    pub force: bool,
}

impl ModelOptions {
    /// Those that argument `i` gives, a JSON object; none for NULL.
    ///
    /// Errors: something else than an object; unknown options; values that do not fit them.
    pub fn given(arguments: Arguments, i: usize) -> ModelOptions {
        let mut options = ModelOptions::default();
        if arguments.datum(i).is_none() {
            return options;
        }
        let value: Value = serde_json::from_str(&arguments.jsonb(i))
            .unwrap_or_else(|e| invalid(format!("options are no JSON: {e}"), ""));
        let Value::Object(members) = value else {
            invalid(
                "options are not a JSON object".to_owned(),
                "Write options as an object, such as {\"force\": true} or {\"pair_limit\": 100000}.",
            );
        };
        for (name, value) in members {
            let wrong = |expected: &str| -> ! {
                invalid(format!("option \"{name}\" is {value}, not {expected}"), "")
            };
            match name.as_str() {
                "pair_limit" => match value.as_u64() {
                    Some(limit) if limit > 0 => options.pair_limit = Some(limit),
                    _ => wrong("a number of pairs, from 1 on"),
                },
                "force" => match value.as_bool() {
                    Some(force) => options.force = force,
                    None => wrong("true or false"),
                },
                _ => invalid(
                    format!("unrecognized option \"{name}\""),
                    "Use the options pair_limit and force, or none.",
                ),
            }
        }
        options
    }

    /// Most pairs of so many records that are compared.
    pub fn most_pairs(&self, records: f64) -> f64 {
        self.pair_limit
            .map_or_else(|| (5.0 * records).max(8e6), |limit| limit as f64)
    }
}

/// The least probability of pairs that are asked for.
///
/// Errors: outside [0,1].
pub fn min_probability(arguments: Arguments, i: usize) -> f64 {
    let least = arguments.float8(i);
    unit("min_probability", least)
        .map_err(|e| e.hint("Give 0.5 for the pairs that are rather matches than not, or 0.95 for those that are \
            nearly \
                               sure."))
        .or_raise();
    least
}

fn invalid(message: String, hint: &str) -> ! {
    raise(&Error::invalid(message).hint(hint))
}
