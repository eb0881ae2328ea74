//! Rules for the values of the record that is kept, one for each column.

use serde_json::Value;

use base::{Error, Result};

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
                invalid(format!("unrecognized rule {shown} of column \"{column}\""))
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

fn rule(value: &Value) -> Option<Rule> {
    if let Value::String(name) = value {
        return match name.as_str() {
            "keep" => Some(Rule::Keep),
            "fill" => Some(Rule::Fill),
            "most complete" => Some(Rule::MostComplete),
            "longest" => Some(Rule::Longest),
            "most frequent" => Some(Rule::MostFrequent),
            _ => None,
        };
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
