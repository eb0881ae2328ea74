//! What a report says. It is found by a search and by queries as the caller.

use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::hash::{DefaultHasher, Hasher};

use linkage::clusters::{Pair, PairCounts, SweepStep};
use linkage::review::BandSample;
use pgrx::pg_sys;

use super::histogram::Histogram;
use super::review::Review;
use super::survey::{Known, NearPair, Survey};
use super::value::SHOWN;
use super::Limits;
use crate::clusters::keeping::{columns_of, TableColumn};
use crate::clusters::{Clustered, Method, PairList};
use crate::pairs::decisions::each_hash;
use crate::pairs::dictionary::{KeyDictionary, KeySides};
use crate::pairs::each_pair;
use crate::pairs::records::{RecordColumn, Records};
use crate::pairs::unique::{not_unique, repeated};
use pg::catalog;
use pg::catalog::privileges::{current_user, may_select};
use pg::check_for_interrupts;
use pg::progress::{self, phases};
use pg::session::read;
use pg::sql;
use pg::sql::Sql;
use pg::values::text::readable;
use types::objects::{is_query, is_signature};

/// So many rows are fetched at a time. Rows with all columns are wide.
const BATCH: i64 = 200;

/// The values of a record as text, by column; `None` is null.
pub type Values = Vec<Option<Value>>;

/// A record of a cluster.
pub struct ShownRecord {
    pub key: Vec<u8>,
    /// The similarity to the record to keep, if it is known.
    pub similarity: Option<f64>,
    pub keep: bool,
}

/// One of the largest clusters.
pub struct Cluster {
    pub number: i64,
    pub size: u32,
    /// The first records, at most as many as are shown.
    pub records: Vec<ShownRecord>,
}

/// How good the pairs are by a truth.
pub struct Measured {
    pub name: String,
    /// The counts of the pairs from the threshold on.
    pub counts: PairCounts,
    /// What each threshold finds, from the least similarity that was searched for on, in steps of 0.01.
    pub steps: Vec<SweepStep>,
    pub best: Option<SweepStep>,
    /// How many pairs have a record without a label.
    pub unknown: u64,
}

/// What a report of entities says besides.
pub struct EntityFacts {
    /// How many pairs alone hold an entity together. Only some of them may be shown.
    pub holding: u64,
    /// How many records the probabilities are for.
    pub of_records: u64,
}

/// Everything that a report says.
pub struct Facts {
    /// What a pair's value is: similarity or probability.
    pub measure: &'static str,
    /// Whose keys there are.
    pub sides: KeySides,
    pub threshold: f64,
    /// The least similarity that was searched for, or that a given pair has.
    pub searched: f64,
    pub rows: u64,
    /// How many rows have a signature.
    pub signed: u64,
    /// How many pairs reach the threshold.
    pub pairs: u64,
    pub histogram: Histogram,
    /// The sizes of clusters, and how many clusters have each size.
    pub sizes: Vec<(u32, u64)>,
    /// How many records are in clusters.
    pub clustered: u64,
    pub largest: Vec<Cluster>,
    /// The pairs nearest to the threshold, the most similar ones first.
    pub near: Vec<NearPair>,
    pub columns: Vec<String>,
    /// How many columns are left out, since there are too many.
    pub more_columns: usize,
    /// How many are left out, since they are empty.
    pub empty_columns: usize,
    /// The values of the records that are shown, by key.
    pub values: HashMap<Vec<u8>, Values>,
    /// The hashes of these records, as far as they are known.
    pub hashes: RecordHashes,
    pub truth: Option<Measured>,
    /// Where clusters are the entities of a register.
    pub entities: Option<EntityFacts>,
    /// What is there to be decided.
    pub review: Review,
}

impl Facts {
    /// What is known of pairs that the survey has seen, and of their clusters. Values of records, and how many there
    /// are, are left out.
    ///
    /// Errors: as those of [`Clustered::with_links`].
    pub fn new(
        mut survey: Survey<'_>,
        mut pairs: Vec<Pair>,
        keys: KeyDictionary,
        method: Method,
        records: Option<&Records>,
        limits: &Limits,
    ) -> Facts {
        let (known, threshold) = (survey.known, survey.threshold);
        let left_out = |pair: &Pair| known.leaves_out([pair.a, pair.b].map(|n| keys.key(n)));
        pairs.retain(|pair| pair.similarity >= threshold && !left_out(pair));
        let grouping = known.grouping(threshold, method);
        let (clustered, links) = Clustered::with_links(keys, pairs, &grouping, records);
        let counts = survey.counts();
        let sample = std::mem::replace(&mut survey.sample, BandSample::new(0, 0)).finish();
        let mut facts = Facts {
            measure: "similarity",
            sides: KeySides::One,
            threshold,
            searched: survey.searched,
            rows: 0,
            signed: 0,
            pairs: survey.reached,
            sizes: Vec::new(),
            clustered: 0,
            largest: Vec::new(),
            near: survey.nearest(),
            columns: Vec::new(),
            more_columns: 0,
            empty_columns: 0,
            values: HashMap::new(),
            hashes: RecordHashes::new(),
            truth: survey.measured(),
            entities: None,
            histogram: survey.histogram,
            review: Review::new(sample, counts, &clustered, &links),
        };
        take_clusters(&mut facts, &clustered, limits);
        facts
    }

    /// The keys of all records that are shown.
    pub fn shown_keys(&self) -> impl Iterator<Item = &Vec<u8>> {
        let of_clusters = self.largest.iter().flat_map(|cluster| &cluster.records);
        let of_clusters = of_clusters.map(|record| &record.key);
        let near = self.near.iter().flat_map(|near| &near.keys);
        of_clusters.chain(near).chain(self.review.keys())
    }

    /// Leaves out the columns that no record on the page has a value of.
    pub fn drop_empty_columns(&mut self) {
        let is_filled = |i: usize| {
            let mut values = self.values.values();
            values.any(|values| {
                values[i]
                    .as_ref()
                    .is_some_and(|value| !value.text.is_empty())
            })
        };
        let filled: Vec<bool> = (0..self.columns.len()).map(is_filled).collect();
        if self.values.is_empty() || filled.iter().all(|filled| *filled) {
            return;
        }
        let mut each = filled.iter();
        self.columns.retain(|_| each.next() == Some(&true));
        self.empty_columns = filled.len() - self.columns.len();
        for values in self.values.values_mut() {
            let mut each = filled.iter();
            values.retain(|_| each.next() == Some(&true));
        }
    }

    /// Finds the decisions whose records have changed since.
    pub fn mark_stale(&mut self, known: &Known) {
        let Some(judged) = &known.judged else { return };
        for near in &mut self.near {
            near.stale = judged.is_stale([&near.keys[0], &near.keys[1]]);
        }
    }

    /// How many clusters there are.
    pub fn clusters(&self) -> u64 {
        self.sizes.iter().map(|(_, clusters)| clusters).sum()
    }

    /// Whether the value of a pair is its probability; otherwise it has nothing to do with the bits of a model.
    pub fn has_probabilities(&self) -> bool {
        self.measure == "probability"
    }

    /// The least similarity of the histogram, and of the steps of quality.
    pub fn floor(&self) -> f64 {
        self.histogram.bins[0].from
    }

    /// A key for the reader, as its relation has it.
    pub fn key_text(&self, key: &[u8]) -> String {
        readable(self.sides.split(key).1)
    }

    /// "a" or "b", where records are of two relations.
    pub fn side(&self, key: &[u8]) -> &'static str {
        match self.sides {
            KeySides::One => "",
            KeySides::Two => ["a", "b"][self.sides.split(key).0],
        }
    }

    /// How many clusters are not shown.
    pub fn more_clusters(&self) -> u64 {
        self.clusters() - self.largest.len() as u64
    }
}

/// The columns to show without the key: those given, or all that the caller may read except signatures.
///
/// Errors: no such column.
pub fn columns(records: &Records, given: Option<Vec<CString>>) -> Vec<CString> {
    if let Some(given) = given {
        crate::pairs::records::lock(records.oid);
        return given
            .into_iter()
            .map(|column| RecordColumn::new(records.oid, column).name)
            .collect();
    }
    let holds_signatures = |of_type| is_signature(of_type) || is_query(of_type);
    let user = current_user();
    let is_shown = |column: &TableColumn| {
        // SAFETY: catalog look-ups of types that exist.
        let (base, element) = unsafe {
            let base = pg_sys::getBaseType(column.store.type_oid);
            (base, pg_sys::get_element_type(base))
        };
        let is_signature =
            holds_signatures(base) || element != pg_sys::InvalidOid && holds_signatures(element);
        let number = catalog::column(records.oid, &column.name);
        let is_readable = number.is_some_and(|number| may_select(records.oid, &[number], user));
        !is_signature && is_readable && column.name != records.key.name
    };
    let all = columns_of(records.oid).into_iter();
    all.filter(is_shown).map(|column| column.name).collect()
}

/// Runs the search and the queries that a report needs. `searched` is the least similarity of a pair that is searched
/// for, `shown` are the columns to show.
///
/// Errors: as `bloom_duplicates`; more than maintenance_work_mem; as reading the truth.
pub fn find(
    records: &Records,
    threshold: f64,
    searched: f64,
    method: Method,
    mut shown: Vec<CString>,
    known: &Known,
    limits: &Limits,
) -> Facts {
    let more_columns = shown.len().saturating_sub(limits.columns);
    shown.truncate(limits.columns);

    let grouping = known.grouping(threshold, method);
    let mut collected = PairList::new(grouping.overhead(known.memory()).of_report());
    let mut take = |[a, b]: [&[u8]; 2], similarity: f64| collected.push(a, b, similarity);
    each_pair("bloom_report", records, searched, None, &mut take);
    let (pairs, keys) = collected.finish();
    let mut survey = Survey::new(known, threshold, searched, limits);
    for pair in &pairs {
        check_for_interrupts();
        let of = [pair.a, pair.b];
        survey.take(of.map(|n| keys.key(n)), of, pair.similarity);
    }
    let has_repeated = survey.has_repeated();
    let mut facts = Facts::new(survey, pairs, keys, method, Some(records), limits);
    if has_repeated {
        // It is below the threshold, otherwise the clusters would have seen it.
        not_unique("more than one record has the same key".to_owned(), records);
    }
    facts.columns = names(&shown);
    facts.more_columns = more_columns;
    take_values(&mut facts, records, &shown);
    let keys: Vec<&[u8]> = facts.values.keys().map(Vec::as_slice).collect();
    facts.hashes = hashes(records, &shown, &keys);
    facts.mark_stale(known);
    facts.drop_empty_columns();
    facts
}

/// Names of columns for the reader.
pub fn names(columns: &[CString]) -> Vec<String> {
    let names = columns.iter().map(|name| readable(name.to_bytes()));
    names.collect()
}

/// Takes the sizes of all clusters, and the largest clusters.
fn take_clusters(facts: &mut Facts, clustered: &Clustered, limits: &Limits) {
    for record in clustered.records() {
        check_for_interrupts();
        facts.clustered += 1;
        if record.keep {
            match facts.sizes.last_mut() {
                Some((size, clusters)) if *size == record.size => *clusters += 1,
                _ => facts.sizes.push((record.size, 1)),
            }
        }
        if record.cluster as usize > limits.clusters {
            continue;
        }
        if record.cluster as usize > facts.largest.len() {
            facts.largest.push(Cluster {
                number: record.cluster,
                size: record.size,
                records: Vec::new(),
            });
        }
        let cluster = facts.largest.last_mut().expect("just there");
        if cluster.records.len() < limits.records {
            cluster.records.push(ShownRecord {
                key: record.key.to_vec(),
                similarity: record.similarity,
                keep: record.keep,
            });
        }
    }
    facts.sizes.reverse();
}

/// A value, as far as it can be shown.
pub struct Value {
    pub text: String,
    /// Stands for what comes behind it; 0 if that is nothing.
    pub rest: u64,
}

/// As much of a value as can be shown, which ends between two characters.
pub fn beginning(value: &[u8]) -> Value {
    // A character has up to four bytes.
    let most = 4 * (SHOWN + 1);
    // SAFETY: pointer and length are those of the value, and the server gives a length that is at most as great.
    let length =
        unsafe { pg_sys::pg_mbcliplen(value.as_ptr().cast(), value.len() as i32, most as i32) };
    let (text, rest) = value.split_at(length as usize);
    let mut hasher = DefaultHasher::new();
    hasher.write(rest);
    Value {
        text: readable(text),
        rest: if rest.is_empty() { 0 } else { hasher.finish() },
    }
}

/// Counts the rows, and takes the values of the records that are shown.
///
/// Errors: two records that are shown have the same key; what the query fails with.
fn take_values(facts: &mut Facts, records: &Records, columns: &[CString]) {
    let wanted = facts.shown_keys().map(|key| (key.clone(), None));
    let mut wanted: HashMap<Vec<u8>, Option<Values>> = wanted.collect();
    let (key, signature) = (&records.key.name, &records.signatures[0].name);
    let values = Sql::join(columns.iter().map(|column| sql!(", {column}")), "");
    let sql = sql!("SELECT {key}, {signature} IS NOT NULL{values} FROM {records.oid}");
    progress::phase(phases::READING, None);
    let cursor = read(sql, &[], BATCH);
    let mut key_output = cursor.output(0);
    let mut outputs: Vec<_> = (0..columns.len()).map(|i| cursor.output(i + 2)).collect();
    cursor.each(|row| {
        facts.rows += 1;
        if !row.is_true(1) {
            return;
        }
        facts.signed += 1;
        let Some(key) = row.datum(0) else { return };
        let Some(values) = key_output.show(key, |key| wanted.get_mut(key)) else {
            return;
        };
        if values.is_some() {
            key_output.show(key, |key| repeated(key, records));
        }
        let output = outputs.iter_mut().enumerate();
        let shown = output.map(|(i, output)| Some(output.show(row.datum(i + 2)?, beginning)));
        *values = Some(shown.collect());
    });
    let found = wanted.into_iter();
    let found = found.filter_map(|(key, values)| Some((key, values?)));
    facts.values = found.collect();
}

/// The hash of each record of which one is known, by key.
pub type RecordHashes = HashMap<Vec<u8>, String>;

/// The hashes of the records with these keys over some columns, as `bloom_record_hash` gives them.
///
/// Errors: what the query fails with, which runs as the caller.
pub fn hashes(records: &Records, columns: &[CString], keys: &[&[u8]]) -> RecordHashes {
    let mut found = RecordHashes::new();
    if columns.is_empty() || keys.is_empty() {
        return found;
    }
    let wanted: HashSet<&[u8]> = keys.iter().copied().collect();
    each_hash(records, columns, |key, hash| {
        if wanted.contains(key) {
            found.insert(key.to_vec(), hash.to_string());
        }
    });
    found
}
