//! The options of the functions that make or use a model.

use std::ffi::CString;

use base::range::unit;
use base::{Error, ErrorKind};
use linkage::model::{ReadyModel, MOST_SEARCHES};
use pgrx::pg_sys;
use serde_json::Value;

use pg::catalog::named::{find, split};
use pg::error::{raise, OrRaise};
use pg::function::arguments::Arguments;
use pg::values::text::to_database;

/// Options, as they are without any.
#[derive(Clone, Debug, Default)]
pub struct ModelOptions {
    /// Most pairs that are compared; `None`: five a record, or eight million if that is more.
    pub pair_limit: Option<u64>,
    /// A model that should not be used is used.
    pub force: bool,
    /// The records of one table stand for so many, of which they are some.
    pub records: Option<u64>,
    /// Those whose keys this relation has are a sample of these, and all that have something in common with one of them are
    /// there, too. Only of a fit.
    pub sample: Option<pg_sys::Oid>,
    /// What those have in common: the fields of each search by equality, and the most records of its blocks. If there is
    /// none, all that a fit looks for.
    pub searches: Vec<(Vec<String>, u32)>,
    /// The column `key` of this relation has the keys of those blocks that are too large, with the number of the search in the
    /// six last bits.
    pub large: Option<pg_sys::Oid>,
    /// This column has the keys that bring records together, instead of those that the model's searches give them. Only of
    /// duplicates.
    pub keys: Option<CString>,
    /// Only pairs that count for the limit are given. Only of duplicates.
    pub counted: bool,
}

/// Most records that others may stand for: their pairs are counted in floats.
const MOST_RECORDS: u64 = 1_000_000_000_000;

/// What the options of a function may be.
const OF_ALL: &[&str] = &["pair_limit", "force", "records"];
const OF_DUPLICATES: &[&str] = &["pair_limit", "force", "records", "keys", "counted"];
const OF_FIT: &[&str] = &["records", "sample", "searches", "large"];

impl ModelOptions {
    /// Those that argument `i` gives, a JSON object; none for NULL.
    ///
    /// Errors: something else than an object; unknown options; values that do not fit them.
    pub fn given(arguments: Arguments, i: usize) -> ModelOptions {
        ModelOptions::parse(arguments, i, OF_ALL)
    }

    /// Those of a job about the records of one table.
    ///
    /// Errors: as [`ModelOptions::given`].
    pub fn of_duplicates(arguments: Arguments, i: usize) -> ModelOptions {
        ModelOptions::parse(arguments, i, OF_DUPLICATES)
    }

    /// Those of a fit, which has no use for some, and refuses wrong ones all the same.
    ///
    /// Errors: as [`ModelOptions::given`]; a sample of an unknown number of records; no such relation.
    pub fn of_fit(arguments: Arguments, i: usize) -> ModelOptions {
        let options = ModelOptions::parse(arguments, i, OF_FIT);
        if options.sample.is_some() && options.records.is_none() {
            invalid(
                "option \"sample\" is given without \"records\"".to_owned(),
                "Say by the option records of how many records it is a sample.",
            );
        }
        if !options.searches.is_empty() && options.sample.is_none() {
            invalid(
                "option \"searches\" is given without \"sample\"".to_owned(),
                "Leave it out: a fit chooses the searches by itself.",
            );
        }
        if options.large.is_some() && options.searches.is_empty() {
            invalid(
                "option \"large\" is given without \"searches\"".to_owned(),
                "Say by the option searches which searches the keys are of.",
            );
        }
        options
    }

    fn parse(arguments: Arguments, i: usize, possible: &[&str]) -> ModelOptions {
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
            let is_possible = possible.contains(&name.as_str());
            match name.as_str() {
                "pair_limit" => match value.as_u64() {
                    Some(limit) if limit > 0 => options.pair_limit = Some(limit),
                    _ => wrong("a number of pairs, from 1 on"),
                },
                "force" => match value.as_bool() {
                    Some(force) => options.force = force,
                    None => wrong("true or false"),
                },
                "records" => match value.as_u64() {
                    Some(records) if (2..=MOST_RECORDS).contains(&records) => {
                        options.records = Some(records);
                    }
                    _ => wrong("a number of records, from 2 to 1000000000000"),
                },
                "keys" if is_possible => match value.as_str() {
                    Some(name) => options.keys = Some(column(name)),
                    None => wrong("the name of a column"),
                },
                "counted" if is_possible => match value.as_bool() {
                    Some(counted) => options.counted = counted,
                    None => wrong("true or false"),
                },
                "sample" if is_possible => match value.as_str() {
                    Some(name) => options.sample = Some(relation(name)),
                    None => wrong("the name of a relation"),
                },
                "large" if is_possible => match value.as_str() {
                    Some(name) => options.large = Some(relation(name)),
                    None => wrong("the name of a relation"),
                },
                "searches" if is_possible => match searches(&value) {
                    Some(searches) => options.searches = searches,
                    None => wrong("an array of searches by equality, as a model has them"),
                },
                _ => raise(
                    &Error::invalid(format!("unrecognized option \"{name}\""))
                        .hint(hint_of(possible))
                        .perhaps("option", &name, possible),
                ),
            }
        }
        options
    }

    /// Records, and all pairs of them: those that there are, or those that they stand for. `tables` is how many relations
    /// they are of.
    ///
    /// Errors: fewer than there are; records of two tables.
    pub fn stands_for(&self, records: f64, all_pairs: f64, tables: usize) -> (f64, f64) {
        let Some(all) = self.records else {
            return (records, all_pairs);
        };
        if tables > 1 {
            let error = Error::new(
                ErrorKind::NotSupported,
                "option \"records\" is given with two tables",
            );
            raise(&error.hint("Give all records of both tables."));
        }
        if (all as f64) < records {
            invalid(
                format!("option \"records\" is {all}, and there are {records} records"),
                "Give the number of all records, of which these are some.",
            );
        }
        ReadyModel::pairs_of(all as i64).or_raise()
    }

    /// Most pairs of so many records that are compared.
    pub fn most_pairs(&self, records: f64) -> f64 {
        self.pair_limit
            .map_or_else(|| (5.0 * records).max(8e6), |limit| limit as f64)
    }
}

fn hint_of(possible: &[&str]) -> String {
    let (last, others) = possible.split_last().unwrap_or((&"none", &[]));
    format!("Use the options {} and {last}, or none.", others.join(", "))
}

/// The least probability of pairs that are asked for.
///
/// Errors: outside [0,1].
pub fn min_probability(arguments: Arguments, i: usize) -> f64 {
    let least = arguments.float8(i);
    unit("min_probability", least)
        .map_err(|e| e.or_hint("Give 0.5 for the pairs that are rather matches than not, or 0.95 for those that are \
            nearly \
                               sure."))
        .or_raise();
    least
}

/// Searches by equality, as a model has them; `None` if a value is none.
fn searches(value: &Value) -> Option<Vec<(Vec<String>, u32)>> {
    let name = |field: &Value| field.as_str().map(str::to_owned);
    let search = |search: &Value| {
        let fields: Option<Vec<String>> =
            search.get("equal")?.as_array()?.iter().map(name).collect();
        let most: u32 = search.get("most")?.as_u64()?.try_into().ok()?;
        let most = (most > 0).then_some(most)?;
        fields.filter(|fields| !fields.is_empty()).zip(Some(most))
    };
    let searches: Option<Vec<_>> = value.as_array()?.iter().map(search).collect();
    searches.filter(|searches| (1..=MOST_SEARCHES).contains(&searches.len()))
}

/// The relation of this name.
///
/// Errors: there is none.
fn relation(name: &str) -> pg_sys::Oid {
    match split(name) {
        Some(names) if names.len() <= 2 => find(&names, 0),
        _ => invalid(
            format!("\"{name}\" is not the name of a relation"),
            "Write it as SQL does, perhaps with its schema.",
        ),
    }
}

/// The name of a column, in the database's encoding.
///
/// Errors: it cannot be one.
fn column(name: &str) -> CString {
    CString::new(to_database(name)).unwrap_or_else(|_| {
        invalid(
            format!("{name:?} is not the name of a column"),
            "Write it without quotes.",
        )
    })
}

fn invalid(message: String, hint: &str) -> ! {
    raise(&Error::invalid(message).hint(hint))
}
