//! Which record of a cluster is kept, and which values it has afterwards.

use std::cmp::Reverse;
use std::collections::HashMap;

use base::{Error, Result};
use serde_json::Value;

// By what the record to keep is chosen.

/// By what the record to keep is chosen, as people write it. What it leaves open is decided by the cluster's own
/// choice, then by completeness, then by the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeepBy {
    /// What the clusters say, where they say it.
    Clusters,
    /// The record with the most values.
    MostComplete,
    /// The record with the least key.
    LeastKey,
    /// The record with the greatest key.
    GreatestKey,
    /// The record with the least value of a column.
    Least(String),
    /// The record with the greatest value of a column.
    Greatest(String),
}

impl KeepBy {
    /// What is no column.
    pub const WORDS: [&str; 4] = ["clusters", "most complete", "oldest", "newest"];

    /// `clusters`, `most complete`, `oldest`, `newest`, `oldest by COLUMN`, `newest by COLUMN`, or the name of a
    /// column, whose greatest value is kept. A column that has such a name is written `newest by "most complete"`, or
    /// the like: what follows `by` is a name as it stands, with or without quotes.
    ///
    /// Errors: nothing is given.
    pub fn parse(text: &str) -> Result<KeepBy> {
        let text = text.trim();
        let name = |rest: &str| {
            let rest = rest.trim();
            let bare = rest.strip_prefix('"').and_then(|r| r.strip_suffix('"'));
            bare.map_or(rest.to_owned(), |bare| bare.replace("\"\"", "\""))
        };
        Ok(match text {
            "" => {
                return Err(
                    Error::invalid("keep_by is empty").hint(
                        "Give \"most complete\", \"oldest\", \"newest\", \"oldest by COLUMN\", \"newest by COLUMN\", \
                         or the name of a column.",
                    ),
                )
            }
            "clusters" => KeepBy::Clusters,
            "most complete" => KeepBy::MostComplete,
            "oldest" => KeepBy::LeastKey,
            "newest" => KeepBy::GreatestKey,
            _ => match (text.strip_prefix("oldest by "), text.strip_prefix("newest by ")) {
                (Some(rest), _) => KeepBy::Least(name(rest)),
                (_, Some(rest)) => KeepBy::Greatest(name(rest)),
                _ => KeepBy::Greatest(name(text)),
            },
        })
    }

    /// The column whose values decide, and whether the greatest is wanted.
    pub fn column(&self) -> Option<(&str, bool)> {
        match self {
            KeepBy::Least(column) => Some((column, false)),
            KeepBy::Greatest(column) => Some((column, true)),
            _ => None,
        }
    }
}

// Rules for the values of the record that is kept, one for each column.

/// Where a column's value comes from. A value is missing if it is NULL or a text of spaces. Where no record has a
/// value, that of the record to keep stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// The record that is kept, whatever it has.
    Keep,
    /// The record that is kept; where its value is missing, the most complete record that has one.
    Fill,
    /// The most complete record that has a value.
    MostComplete,
    /// The record whose value is the longest as text.
    Longest,
    /// A value that the most records have.
    MostFrequent,
    /// The record with the greatest value of another column.
    Newest(String),
    /// The record with the least value of another column.
    Oldest(String),
    /// The record whose value of another column, as text, comes first in a list.
    Priority {
        /// The other column.
        column: String,
        /// Its values, the best first.
        order: Vec<String>,
    },
    /// An SQL expression over the cluster's records, with aggregates.
    Sql(String),
}

const HINT: &str = "A rule is \"keep\", \"fill\", \"most complete\", \"longest\", \"most frequent\", {\"newest\": \
    \"column\"}, {\"oldest\": \"column\"}, {\"priority\": {\"column\": \"source\", \"order\": [\"a\", \"b\"]}} or \
    {\"sql\": \"max(x)\"}.";

/// The rules of a table's columns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    named: Vec<(String, Rule)>,
    others: Option<Rule>,
}

impl Rules {
    /// Reads a JSON object whose keys are columns, or `*` for those that are not named.
    ///
    /// Errors: no object; no such rule.
    pub fn parse(json: &str) -> Result<Rules> {
        let invalid = |message: String| Error::invalid(message).hint(HINT);
        let value: Value = serde_json::from_str(json)
            .map_err(|_| invalid("rules are not valid JSON".to_owned()))?;
        let Value::Object(object) = value else {
            return Err(invalid(
                "rules are not an object of columns and their rules".to_owned(),
            ));
        };
        let mut rules = Rules::default();
        for (column, value) in object {
            let rule = rule(&value).ok_or_else(|| {
                let shown: String = value.to_string().chars().take(60).collect();
                let error = invalid(format!("unrecognized rule {shown} of column \"{column}\""));
                let names = NAMED.iter().map(|(name, _)| name);
                error.perhaps("rule", value.as_str().unwrap_or_default(), names)
            })?;
            match column.as_str() {
                "*" => rules.others = Some(rule),
                _ => rules.named.push((column, rule)),
            }
        }
        Ok(rules)
    }

    /// The columns that have a rule of their own, in order of their names.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.named.iter().map(|(column, _)| column.as_str())
    }

    /// The rule that was given to a column by its name.
    pub fn named(&self, column: &str) -> Option<&Rule> {
        let mut named = self.named.iter();
        named.find(|(name, _)| name == column).map(|(_, rule)| rule)
    }

    /// The rule of a column.
    pub fn rule(&self, column: &str) -> Rule {
        let rule = self.named(column).or(self.others.as_ref());
        rule.cloned().unwrap_or(Rule::Fill)
    }
}

/// The rules that need nothing but their name.
const NAMED: [(&str, Rule); 5] = [
    ("keep", Rule::Keep),
    ("fill", Rule::Fill),
    ("most complete", Rule::MostComplete),
    ("longest", Rule::Longest),
    ("most frequent", Rule::MostFrequent),
];

fn rule(value: &Value) -> Option<Rule> {
    if let Value::String(name) = value {
        let known = NAMED.iter().find(|(known, _)| known == name);
        return known.map(|(_, rule)| rule.clone());
    }
    let object = value.as_object().filter(|object| object.len() == 1)?;
    let (name, argument) = object.iter().next()?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match name.as_str() {
        "newest" => text(argument).map(Rule::Newest),
        "oldest" => text(argument).map(Rule::Oldest),
        "sql" => text(argument).map(Rule::Sql),
        "priority" => {
            let argument = argument
                .as_object()
                .filter(|argument| argument.len() == 2)?;
            let order = argument.get("order")?.as_array()?;
            Some(Rule::Priority {
                column: text(argument.get("column")?)?,
                order: order.iter().map(text).collect::<Option<_>>()?,
            })
        }
        _ => None,
    }
}

// Choosing a record of a cluster: the one to keep, and for each column the one whose value is taken.

/// What counts of a record. The records of a cluster are in the order of their keys.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standing {
    /// The cluster says that this one is to be kept.
    pub preferred: bool,
    /// How many values it has.
    pub filled: usize,
    /// Its place by the column that decides, from 1.
    pub rank: i64,
}

/// A record's value of a column.
#[derive(Clone, Debug, Default)]
pub struct Given<'a> {
    /// The value as text; `None` if it is missing.
    pub value: Option<&'a [u8]>,
    /// The record's place by the column of [`Rule::Newest`] and [`Rule::Oldest`], from 1.
    pub rank: i64,
    /// The value of the column of [`Rule::Priority`], as text.
    pub source: Option<&'a [u8]>,
}

/// Where a record stands among those of its cluster: the least is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(i64, bool, Reverse<usize>, usize);

impl Standing {
    /// `decided` says that the clusters have a preference, `at` is the record's number in the order of keys.
    pub fn place(&self, by: &KeepBy, decided: bool, at: usize) -> Place {
        let first = match by {
            KeepBy::Clusters if decided => i64::from(!self.preferred),
            KeepBy::Clusters | KeepBy::MostComplete => -(self.filled as i64),
            KeepBy::LeastKey => at as i64,
            KeepBy::GreatestKey => -(at as i64),
            KeepBy::Least(_) | KeepBy::Greatest(_) => self.rank,
        };
        Place(first, !self.preferred, Reverse(self.filled), at)
    }
}

/// The record to keep, of at least one. `decided` says that the clusters have a preference.
pub fn keep(by: &KeepBy, decided: bool, records: &[Standing]) -> usize {
    let place = |i: &usize| records[*i].place(by, decided, *i);
    (0..records.len()).min_by_key(place).unwrap_or(0)
}

/// The record whose value is taken by a rule. [`Rule::Sql`] is as [`Rule::Keep`] here.
pub fn choose(rule: &Rule, kept: usize, records: &[Standing], given: &[Given<'_>]) -> usize {
    if matches!(rule, Rule::Keep | Rule::Sql(_))
        || *rule == Rule::Fill && given[kept].value.is_some()
    {
        return kept;
    }
    let mut counts: HashMap<&[u8], i64> = HashMap::new();
    if *rule == Rule::MostFrequent {
        for value in given.iter().filter_map(|given| given.value) {
            *counts.entry(value).or_default() += 1;
        }
    }
    let place = |i: &usize| {
        let record = &records[*i];
        let value = given[*i].value.unwrap_or_default();
        let filled = -(record.filled as i64);
        let first = match rule {
            Rule::Keep | Rule::Fill | Rule::Sql(_) => 0,
            Rule::MostComplete => filled,
            Rule::Longest => -(length(value) as i64),
            Rule::MostFrequent => -counts.get(value).copied().unwrap_or_default(),
            Rule::Newest(_) | Rule::Oldest(_) => given[*i].rank,
            Rule::Priority { order, .. } => {
                let source = given[*i].source;
                let found = order.iter().position(|o| Some(o.as_bytes()) == source);
                found.unwrap_or(order.len()) as i64
            }
        };
        (first, *i != kept, filled, *i)
    };
    let has_value = |&i: &usize| given[i].value.is_some();
    let candidates = (0..given.len()).filter(has_value);
    candidates.min_by_key(place).unwrap_or(kept)
}

/// In characters, or in bytes where the encoding is another one than UTF-8.
fn length(value: &[u8]) -> usize {
    std::str::from_utf8(value).map_or(value.len(), |text| text.chars().count())
}
