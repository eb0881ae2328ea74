//! What is found, or what is true: pairs of records, or a label for each record.

use bloom_ident_core::dedup::{labels, quality::pairs_within};
use bloom_ident_core::{Error, ErrorKind};
use pgrx::PgSqlErrorCode;

use crate::clusters::numbers::{Numbers, NONE};
use crate::clusters::pairs::of_one_key;
use crate::clusters::source::{Form, Source};
use crate::pg::budget::{push, reserve, Budget};
use crate::pg::check_for_interrupts;
use crate::pg::error::{raise, raise_as, shown, OrRaise};
use crate::types::{readable, tick};

/// By the records' numbers.
pub enum Side {
    Pairs(Vec<(u32, u32)>),
    /// A label for each number, [`NONE`] for records without; those behind the end have none.
    Labels(Vec<u32>),
}

fn text(bytes: &[u8]) -> String {
    shown(&readable(bytes))
}

fn missing(column: &str, source: &Source) -> ! {
    raise(
        &Error::new(
            ErrorKind::NullNotAllowed,
            format!("column \"{column}\" of \"{}\" is null", source.name),
        )
        .hint("Give a view that leaves such rows out."),
    )
}

impl Side {
    /// Reads a relation; `held` bytes are in use already.
    ///
    /// Errors: more than memory may hold; a NULL; a pair of a key with itself; a key that comes twice.
    pub fn read(source: &Source, numbers: &mut Numbers, held: usize) -> Side {
        match source.form {
            Form::Pairs => Side::Pairs(read_pairs(source, numbers, held)),
            Form::Labels => Side::Labels(read_labels(source, numbers, held)),
        }
    }

    /// Memory in use, in bytes.
    pub fn memory(&self) -> usize {
        match self {
            Side::Pairs(pairs) => size_of::<(u32, u32)>() * pairs.capacity(),
            Side::Labels(labels) => size_of::<u32>() * labels.capacity(),
        }
    }

    /// The label of a record, [`NONE`] if it has none.
    pub fn label(labels: &[u32], record: u32) -> u32 {
        labels.get(record as usize).copied().unwrap_or(NONE)
    }

    /// A label for each of `records` in this order, equal for those that belong together: the least place of them.
    /// Pairs put together all that they connect.
    pub fn labels(&self, records: &[u32], numbers: &Numbers) -> Vec<u32> {
        let connected;
        let given = match self {
            Side::Labels(given) => given,
            Side::Pairs(pairs) => {
                let n = numbers.len() as u32;
                connected = labels(n, pairs.iter().copied(), tick).or_raise();
                &connected
            }
        };
        let most = given.iter().filter(|&&label| label != NONE).max();
        let mut first = filled(most.map_or(0, |&label| label as usize + 1));
        let mut result = Vec::new();
        reserve(&mut result, records.len());
        for (place, &record) in (0..).zip(records) {
            check_for_interrupts();
            let label = Side::label(given, record);
            result.push(if label == NONE {
                place
            } else {
                let first = &mut first[label as usize];
                *first = place.min(*first);
                *first
            });
        }
        result
    }
}

fn filled(n: usize) -> Vec<u32> {
    let mut filled = Vec::new();
    reserve(&mut filled, n);
    filled.resize(n, NONE);
    filled
}

fn read_pairs(source: &Source, numbers: &mut Numbers, held: usize) -> Vec<(u32, u32)> {
    let cursor = source.rows();
    let mut outputs = [cursor.output(0), cursor.output(1)];
    let budget = Budget::of_setting();
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    let check = |pairs: &Vec<(u32, u32)>, numbers: &Numbers| {
        // 8 bytes a pair, a copy and another of those that are distinct; vectors grow by half
        let needed = held + 32 * pairs.len() + 32 * numbers.len() + numbers.memory();
        budget.check(needed, || {
            format!("{} pairs of {} records", pairs.len(), numbers.len())
        });
    };
    cursor.each(|row| {
        let [a, b] = [0, 1].map(|i| match row.datum(i) {
            Some(key) => outputs[i].show(key, |key| numbers.number(key)),
            None => missing(["a", "b"][i], source),
        });
        if a == b {
            of_one_key(numbers.key(a), &source.name);
        }
        push(&mut pairs, (a, b));
        check(&pairs, numbers);
    });
    pairs
}

fn read_labels(source: &Source, numbers: &mut Numbers, held: usize) -> Vec<u32> {
    let cursor = source.rows();
    let mut outputs = [cursor.output(0), cursor.output(1)];
    let budget = Budget::of_setting();
    let mut names = Numbers::new();
    let mut labels: Vec<u32> = Vec::new();
    let check = |labels: &Vec<u32>, names: &Numbers, numbers: &Numbers| {
        // labels and places of either side, and records sorted by both labels
        let needed =
            held + 4 * labels.len() + 32 * numbers.len() + names.memory() + numbers.memory();
        budget.check(needed, || {
            format!("{} records in {} clusters", numbers.len(), names.len())
        });
    };
    cursor.each(|row| {
        let Some(cluster) = row.datum(1) else {
            missing("cluster", source)
        };
        let label = outputs[1].show(cluster, |cluster| names.number(cluster));
        let Some(key) = row.datum(0) else {
            missing("key", source)
        };
        let record = outputs[0].show(key, |key| numbers.number(key));
        while labels.len() <= record as usize {
            push(&mut labels, NONE);
        }
        let known = &mut labels[record as usize];
        if *known == label {
            twice(source, numbers.key(record));
        }
        if *known != NONE {
            two_labels(
                source,
                numbers.key(record),
                names.key(*known),
                names.key(label),
            );
        }
        *known = label;
        check(&labels, &names, numbers);
    });
    labels
}

fn twice(source: &Source, key: &[u8]) -> ! {
    raise_as(
        PgSqlErrorCode::ERRCODE_CARDINALITY_VIOLATION,
        &Error::new(
            ErrorKind::DataException,
            format!(
                "key \"{}\" of \"{}\" comes more than once",
                text(key),
                source.name
            ),
        )
        .hint("A key names one record, and a record is in one cluster."),
    )
}

fn two_labels(source: &Source, key: &[u8], one: &[u8], other: &[u8]) -> ! {
    // in an order that does not depend on that of the rows
    let (one, other) = (one.min(other), one.max(other));
    raise_as(
        PgSqlErrorCode::ERRCODE_CARDINALITY_VIOLATION,
        &Error::new(
            ErrorKind::DataException,
            format!(
                "key \"{}\" of \"{}\" is in two clusters",
                text(key),
                source.name
            ),
        )
        .detail(format!(
            "They are \"{}\" and \"{}\".",
            text(one),
            text(other)
        ))
        .hint("A key names one record, and a record is in one cluster."),
    )
}

/// Which pairs are true.
pub enum Truth {
    /// The lesser number first, in order, without repetition.
    Pairs(Vec<(u32, u32)>),
    Labels {
        labels: Vec<u32>,
        pairs: u64,
    },
}

impl Truth {
    pub fn new(side: Side) -> Truth {
        match side {
            Side::Labels(labels) => {
                let mut known = Vec::new();
                reserve(&mut known, labels.len());
                known.extend(labels.iter().filter(|&&label| label != NONE));
                let pairs = pairs_within(&known, tick).or_raise();
                Truth::Labels { labels, pairs }
            }
            Side::Pairs(mut pairs) => {
                pairs.retain(|(a, b)| a != b);
                for pair in &mut pairs {
                    check_for_interrupts();
                    *pair = (pair.0.min(pair.1), pair.0.max(pair.1));
                }
                pairs.sort_unstable_by(|x, y| {
                    check_for_interrupts();
                    x.cmp(y)
                });
                pairs.dedup();
                Truth::Pairs(pairs)
            }
        }
    }

    /// Memory in use, in bytes.
    pub fn memory(&self) -> usize {
        match self {
            Truth::Pairs(pairs) => size_of::<(u32, u32)>() * pairs.capacity(),
            Truth::Labels { labels, .. } => size_of::<u32>() * labels.capacity(),
        }
    }

    /// How many pairs are true.
    pub fn pairs(&self) -> u64 {
        match self {
            Truth::Pairs(pairs) => pairs.len() as u64,
            Truth::Labels { pairs, .. } => *pairs,
        }
    }

    /// Whether two records are the same; `None` if a record has no label, so that nobody knows.
    pub fn knows(&self, a: u32, b: u32) -> Option<bool> {
        match self {
            Truth::Pairs(pairs) => Some(pairs.binary_search(&(a.min(b), a.max(b))).is_ok()),
            Truth::Labels { labels, .. } => {
                let (a, b) = (Side::label(labels, a), Side::label(labels, b));
                (a != NONE && b != NONE).then_some(a == b)
            }
        }
    }
}

/// Tells that some pairs or records were left out.
pub fn tell_unknown(unknown: u64, of: u64, what: &str, truth: &Source) {
    if unknown > 0 {
        crate::pg::error::notice!(
            "{unknown} of {of} {what} are not counted, since \"{}\" does not say which cluster they are in",
            truth.name
        );
    }
}
