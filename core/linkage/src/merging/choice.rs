//! Choosing a record of a cluster: the one to keep, and for each column the one whose value is taken.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::{KeepBy, Rule};

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
