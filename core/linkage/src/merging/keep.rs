//! By what the record to keep is chosen.

use base::{Error, Result};

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
