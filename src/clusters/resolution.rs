//! Which records belong together, as found or as known to be true: pairs of records, or a label for each record.

use base::memory::{collected, filled};
use base::{Error, ErrorKind};
use linkage::clusters::labels;
use linkage::clusters::quality::pairs_within;
use pg::error::{notice, raise, sql_error, OrRaise};
use pgrx::PgSqlErrorCode;

use crate::clusters::pair_list::refuse_one_key;
use crate::clusters::source::{Form, Source};
use crate::pairs::dictionary::{KeyDictionary, NONE};
use pg::budget::{push, reserve, Budget};
use pg::check_for_interrupts;
use pg::values::text::readable;

/// Which records belong together, by the numbers of their keys.
pub enum Resolution {
    /// Pairs of records, as they were read.
    Pairs(Vec<(u32, u32)>),
    /// A label for each number, which records of one cluster share. It is [`NONE`] for a record that has none, as
    /// numbers behind the end have none.
    Labels(Vec<u32>),
}

fn refuse_null(column: &str, source: &Source) -> ! {
    let message = format!("column \"{column}\" of \"{}\" is null", source.name);
    raise(
        &Error::new(ErrorKind::NullNotAllowed, message)
            .hint("Give a view that leaves such rows out."),
    )
}

impl Resolution {
    /// Reads a relation, and adds its keys to the dictionary. `held` bytes are in use already.
    ///
    /// Errors: more than maintenance_work_mem; a null; a pair of a key with itself; a key that comes twice.
    pub fn read(source: &Source, keys: &mut KeyDictionary, held: usize) -> Resolution {
        match source.form {
            Form::Pairs => Resolution::Pairs(read_pairs(source, keys, held)),
            Form::Labels => Resolution::Labels(read_labels(source, keys, held)),
        }
    }

    /// Memory in use, in bytes.
    pub fn memory(&self) -> usize {
        match self {
            Resolution::Pairs(pairs) => size_of::<(u32, u32)>() * pairs.capacity(),
            Resolution::Labels(labels) => size_of::<u32>() * labels.capacity(),
        }
    }

    /// The label of a record, [`NONE`] if it has none.
    pub fn label(labels: &[u32], record: u32) -> u32 {
        labels.get(record as usize).copied().unwrap_or(NONE)
    }

    /// A label for each of `records` in this order, which records share that belong together: the least position among
    /// them. Pairs put together all that they connect.
    pub fn labels(&self, records: &[u32], keys: &KeyDictionary) -> Vec<u32> {
        let connected;
        let given = match self {
            Resolution::Labels(given) => given,
            Resolution::Pairs(pairs) => {
                let n = keys.len() as u32;
                connected = labels(n, pairs.iter().copied(), check_for_interrupts).or_raise();
                &connected
            }
        };
        let most = given.iter().filter(|&&label| label != NONE).max();
        let labels = most.map_or(0, |&label| label as usize + 1);
        let mut first = filled(labels, NONE).or_raise();
        let mut result = Vec::new();
        reserve(&mut result, records.len());
        for (position, &record) in (0..).zip(records) {
            check_for_interrupts();
            let label = Resolution::label(given, record);
            result.push(if label == NONE {
                position
            } else {
                let first = &mut first[label as usize];
                *first = position.min(*first);
                *first
            });
        }
        result
    }
}

fn read_pairs(source: &Source, keys: &mut KeyDictionary, held: usize) -> Vec<(u32, u32)> {
    let cursor = source.rows();
    let mut outputs = [cursor.output(0), cursor.output(1)];
    let budget = Budget::of_setting();
    let mut pairs: Vec<(u32, u32)> = Vec::new();
    let check = |pairs: &Vec<(u32, u32)>, keys: &KeyDictionary| {
        // A pair takes 8 bytes, as in a copy and in another one of the distinct pairs. Vectors grow by half.
        let needed = held + 32 * pairs.len() + 32 * keys.len() + keys.memory();
        budget.check(needed, || {
            format!("{} pairs of {} records", pairs.len(), keys.len())
        });
    };
    cursor.each(|row| {
        let [a, b] = [0, 1].map(|i| match row.datum(i) {
            Some(key) => outputs[i].show(key, |key| source.sides.number(keys, i, key)),
            None => refuse_null(["a", "b"][i], source),
        });
        if a == b {
            refuse_one_key(keys.key(a), &source.name);
        }
        push(&mut pairs, (a, b));
        check(&pairs, keys);
    });
    pairs
}

fn read_labels(source: &Source, keys: &mut KeyDictionary, held: usize) -> Vec<u32> {
    let cursor = source.rows();
    let mut outputs = [cursor.output(0), cursor.output(1)];
    let budget = Budget::of_setting();
    let mut names = KeyDictionary::new();
    let mut labels: Vec<u32> = Vec::new();
    let check = |labels: &Vec<u32>, names: &KeyDictionary, keys: &KeyDictionary| {
        // Labels and positions of both sides, and records sorted by both labels.
        let needed = held + 4 * labels.len() + 32 * keys.len() + names.memory() + keys.memory();
        budget.check(needed, || {
            format!("{} records in {} clusters", keys.len(), names.len())
        });
    };
    cursor.each(|row| {
        let Some(cluster) = row.datum(1) else {
            refuse_null("cluster", source)
        };
        let label = outputs[1].show(cluster, |cluster| names.number(cluster));
        let Some(key) = row.datum(0) else {
            refuse_null("key", source)
        };
        let record = outputs[0].show(key, |key| keys.number(key));
        while labels.len() <= record as usize {
            push(&mut labels, NONE);
        }
        let known = &mut labels[record as usize];
        if *known != NONE {
            let of = [*known, label].map(|label| names.key(label));
            refuse_again(source, keys.key(record), of);
        }
        *known = label;
        check(&labels, &names, keys);
    });
    labels
}

/// Fails the statement with 21000: a key comes again, in one cluster or in two.
fn refuse_again(source: &Source, key: &[u8], mut clusters: [&[u8]; 2]) -> ! {
    // The order in the message does not depend on the order of the rows.
    clusters.sort();
    let [one, other] = clusters.map(readable);
    let (what, detail) = match clusters[0] == clusters[1] {
        true => ("comes more than once", String::new()),
        false => (
            "is in two clusters",
            format!("They are \"{one}\" and \"{other}\"."),
        ),
    };
    raise(
        &sql_error(
            PgSqlErrorCode::ERRCODE_CARDINALITY_VIOLATION,
            format!("key \"{}\" of \"{}\" {what}", readable(key), source.name),
        )
        .detail(detail.as_str())
        .hint("A key names one record, and a record is in one cluster."),
    )
}

/// The different pairs of two records, in order, each with the lesser number first.
pub fn distinct(mut pairs: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
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
    pairs
}

/// Which pairs are true.
pub struct Truth {
    /// Of pairs the lesser number of each is first. They are in order, and each comes once.
    known: Resolution,
    /// How many pairs are true.
    pub pairs: u64,
}

impl Truth {
    /// Errors: out of memory; more pairs than can be counted.
    pub fn new(resolution: Resolution) -> Truth {
        match resolution {
            Resolution::Labels(labels) => {
                let known = labels.iter().copied().filter(|&label| label != NONE);
                let known = collected(known, labels.len()).or_raise();
                let pairs = pairs_within(&known, check_for_interrupts).or_raise();
                let known = Resolution::Labels(labels);
                Truth { known, pairs }
            }
            Resolution::Pairs(pairs) => {
                let known = distinct(pairs);
                let pairs = known.len() as u64;
                let known = Resolution::Pairs(known);
                Truth { known, pairs }
            }
        }
    }

    /// Memory in use, in bytes.
    pub fn memory(&self) -> usize {
        self.known.memory()
    }

    /// Whether a record without a label is known to be in no true pair.
    pub fn has_all_records(&self) -> bool {
        matches!(self.known, Resolution::Pairs(_))
    }

    /// Whether two records belong together; `None` if that is not known, since a record has no label.
    pub fn knows(&self, a: u32, b: u32) -> Option<bool> {
        match &self.known {
            Resolution::Pairs(pairs) => Some(pairs.binary_search(&(a.min(b), a.max(b))).is_ok()),
            Resolution::Labels(labels) => {
                let (a, b) = (Resolution::label(labels, a), Resolution::label(labels, b));
                (a != NONE && b != NONE).then_some(a == b)
            }
        }
    }
}

/// Tells the user that `unknown` pairs or records of all were left out.
pub fn tell_unknown(unknown: u64, of: u64, what: &str, truth: &Source) {
    if unknown > 0 {
        notice!(
            "{unknown} of {of} {what} {} not counted, since \"{}\" does not say which cluster they are in",
            if unknown == 1 { "is" } else { "are" },
            truth.name
        );
    }
}
