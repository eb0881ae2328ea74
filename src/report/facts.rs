//! What a report says. It is found by a search and by queries as the caller.

use std::collections::HashMap;
use std::ffi::{CStr, CString};

use bloom_ident_core::clusters::sweep::best;
use bloom_ident_core::clusters::{PairCounts, Sweep, SweepStep};
use pgrx::pg_sys;

use super::histogram::{floor, Histogram};
use super::value::LENGTH;
use super::{Edge, Limits};
use crate::clusters::{Clustered, Grouping, Method, PairList, Resolution, Source, Truth};
use crate::objects::{is_query, is_signature};
use crate::pairs::dictionary::KeyDictionary;
use crate::pairs::each_pair;
use crate::pairs::records::{RecordColumn, Records};
use crate::pairs::unique::not_unique;
use crate::pg::check_for_interrupts;
use crate::pg::cursor::Cursor;
use crate::pg::error::OrRaise;
use crate::pg::progress::{self, phases};
use crate::pg::sql::Sql;
use crate::pg::values::text::readable;

/// So many rows are fetched at a time. Rows with all columns are wide.
const BATCH: i64 = 200;

/// The values of a record as text, by column; `None` is null.
pub type Values = Vec<Option<String>>;

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

/// A pair near the threshold.
pub struct NearPair {
    pub similarity: f64,
    pub keys: [Vec<u8>; 2],
    /// Whether it is true, if that is known.
    pub is_true: Option<bool>,
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

/// Everything that a report says.
pub struct Facts {
    /// What a pair's value is: similarity or probability.
    pub measure: &'static str,
    pub threshold: f64,
    /// The least similarity that was searched for.
    pub floor: f64,
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
    /// The values of the records that are shown, by key.
    pub values: HashMap<Vec<u8>, Values>,
    pub truth: Option<Measured>,
}

impl Facts {
    /// How many clusters there are.
    pub fn clusters(&self) -> u64 {
        self.sizes.iter().map(|(_, clusters)| clusters).sum()
    }

    /// How many clusters are not shown.
    pub fn more_clusters(&self) -> u64 {
        self.clusters() - self.largest.len() as u64
    }
}

/// The pairs nearest to the threshold on one side of it.
pub struct NearestPairs {
    side: Edge,
    pub pairs: Vec<NearPair>,
    most: usize,
}

impl NearestPairs {
    pub fn new(side: Edge, most: usize) -> NearestPairs {
        NearestPairs {
            side,
            pairs: Vec::new(),
            most,
        }
    }

    /// Takes the pair if it is nearer than one of those that are there.
    pub fn offer(
        &mut self,
        similarity: f64,
        is_true: Option<bool>,
        keys: impl FnOnce() -> [Vec<u8>; 2],
    ) {
        let distance = |s: f64| match self.side {
            Edge::Above => s,
            Edge::Below => -s,
        };
        let full = self.pairs.len() == self.most;
        let last = self.pairs.last().map(|near| distance(near.similarity));
        if full && last.is_none_or(|last| distance(similarity) > last) {
            return;
        }
        let new = NearPair {
            similarity,
            keys: keys(),
            is_true,
        };
        let at = self.pairs.partition_point(|near| {
            let order = distance(near.similarity).total_cmp(&distance(new.similarity));
            order.then_with(|| near.keys.cmp(&new.keys)).is_lt()
        });
        self.pairs.insert(at, new);
        self.pairs.truncate(self.most);
    }
}

/// The columns to show without the key: those given, or all that the caller may read except signatures.
///
/// Errors: no such column.
pub fn columns(records: &Records, given: Option<Vec<CString>>) -> Vec<CString> {
    if let Some(given) = given {
        let name = crate::pairs::records::lock(records.oid);
        return given
            .into_iter()
            .map(|column| RecordColumn::of(records.oid, column, &name).name)
            .collect();
    }
    let holds_signatures = |of_type| is_signature(of_type) || is_query(of_type);
    // SAFETY: these are catalog look-ups of a locked relation; names of columns are zero-terminated strings.
    unsafe {
        let (user, select) = (
            pg_sys::GetUserId(),
            pg_sys::AclMode::from(pg_sys::ACL_SELECT),
        );
        let ok = pg_sys::AclResult::ACLCHECK_OK;
        let all = pg_sys::pg_class_aclcheck(records.oid, user, select) == ok;
        (1i16..)
            .map(|number| (number, pg_sys::get_attname(records.oid, number, true)))
            .take_while(|(_, name)| !name.is_null())
            .filter_map(|(number, name)| {
                let column =
                    RecordColumn::find(records.oid, CStr::from_ptr(name).to_owned()).ok()?;
                let base = pg_sys::getBaseType(column.type_oid);
                let element = pg_sys::get_element_type(base);
                let is_signature = holds_signatures(base)
                    || element != pg_sys::InvalidOid && holds_signatures(element);
                let readable =
                    all || pg_sys::pg_attribute_aclcheck(records.oid, number, user, select) == ok;
                (!is_signature && readable && column.name != records.key.name)
                    .then_some(column.name)
            })
            .collect()
    }
}

/// Runs the search and the queries that a report needs. `shown` are the columns to show.
///
/// Errors: as `bloom_duplicates`; more than maintenance_work_mem; as reading the truth.
pub fn find(
    records: &Records,
    (threshold, method): (f64, Method),
    mut shown: Vec<CString>,
    truth: Option<&Source>,
    limits: &Limits,
) -> Facts {
    let floor = floor(threshold);
    let more_columns = shown.len().saturating_sub(limits.columns);
    shown.truncate(limits.columns);

    // The truth has a dictionary of its own.
    let mut known = KeyDictionary::new();
    let truth = truth.map(|source| {
        let side = Resolution::read(source, &mut known, 0);
        (Truth::new(side), source.name.clone())
    });
    let labelled = matches!(truth, Some((Truth::Labels { .. }, _)));
    let knows = |a: &[u8], b: &[u8]| {
        let (truth, _) = truth.as_ref()?;
        match (known.get(a), known.get(b)) {
            (Some(a), Some(b)) => truth.knows(a, b),
            _ => (!labelled).then_some(false),
        }
    };

    let mut histogram = Histogram::new(floor);
    let mut sweep = Sweep::grid(100).or_raise();
    let mut counts = PairCounts {
        truth: truth.as_ref().map_or(0, |(truth, _)| truth.pairs()),
        ..PairCounts::default()
    };
    let (mut unknown, mut true_found) = (0, 0);
    let mut sides = [
        NearestPairs::new(Edge::Above, limits.near),
        NearestPairs::new(Edge::Below, limits.near),
    ];
    let held = truth.as_ref().map_or(0, |(truth, _)| truth.memory()) + known.memory();
    let grouping = Grouping::new(threshold, method);
    let mut collected = PairList::new(grouping.overhead(held));
    let mut take = |keys: [&[u8]; 2], similarity: f64| {
        let reached = similarity >= threshold;
        histogram.add(similarity);
        let is_true = knows(keys[0], keys[1]);
        if let Some(is_true) = is_true {
            sweep.add(similarity, is_true);
            true_found += u64::from(is_true);
            counts.found += u64::from(reached);
            counts.both += u64::from(reached && is_true);
        } else {
            unknown += u64::from(truth.is_some());
        }
        if reached {
            collected.push(keys[0], keys[1], similarity);
        }
        sides[usize::from(!reached)].offer(similarity, is_true, || {
            let mut keys = keys.map(<[u8]>::to_vec);
            keys.sort();
            keys
        });
    };
    each_pair("bloom_report", records, floor, None, &mut take);
    let (pairs, keys) = collected.finish();
    let found = pairs.len() as u64;
    let clustered = Clustered::new(keys, pairs, &grouping, Some(records));

    let truth = truth.map(|(truth, name)| {
        if true_found > truth.pairs() {
            // A pair came twice. It is below the threshold, otherwise the clusters would have seen it.
            not_unique("more than one record has the same key".to_owned(), records);
        }
        let mut steps = sweep.steps(truth.pairs()).or_raise();
        steps.retain(|step| step.threshold >= floor);
        Measured {
            name,
            counts,
            best: best(&steps),
            steps,
            unknown,
        }
    });
    let [mut above, below] = sides;
    above.pairs.reverse();
    above.pairs.extend(below.pairs);

    let mut facts = Facts {
        measure: "similarity",
        threshold,
        floor,
        rows: 0,
        signed: 0,
        pairs: found,
        histogram,
        sizes: Vec::new(),
        clustered: 0,
        largest: Vec::new(),
        near: above.pairs,
        columns: shown.iter().map(|name| readable(name.to_bytes())).collect(),
        more_columns,
        values: HashMap::new(),
        truth,
    };
    take_clusters(&mut facts, &clustered, limits);
    drop(clustered);
    take_values(&mut facts, records, &shown);
    facts
}

/// Takes the sizes of all clusters, and the largest clusters.
pub fn take_clusters(facts: &mut Facts, clustered: &Clustered, limits: &Limits) {
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

/// As much of a value as can be shown, which ends between two characters.
pub fn beginning(value: &[u8]) -> String {
    // A character has up to four bytes.
    let most = 4 * (LENGTH + 1);
    // SAFETY: pointer and length are those of the value, and the server gives a length that is at most as great.
    let length =
        unsafe { pg_sys::pg_mbcliplen(value.as_ptr().cast(), value.len() as i32, most as i32) };
    readable(&value[..length as usize])
}

/// Counts the rows, and takes the values of the records that are shown.
///
/// Errors: two records that are shown have the same key; what the query fails with.
fn take_values(facts: &mut Facts, records: &Records, columns: &[CString]) {
    let mut wanted: HashMap<Vec<u8>, Option<Values>> = HashMap::new();
    let of_clusters = facts.largest.iter().flat_map(|cluster| &cluster.records);
    for key in of_clusters.map(|record| &record.key) {
        wanted.insert(key.clone(), None);
    }
    for key in facts.near.iter().flat_map(|near| &near.keys) {
        wanted.insert(key.clone(), None);
    }
    let mut sql = Sql::new("SELECT ")
        .name(&records.key.name)
        .text(", ")
        .name(&records.signatures[0].name)
        .text(" IS NOT NULL");
    for column in columns {
        sql = sql.text(", ").name(column);
    }
    progress::phase(phases::READING, None);
    let cursor = Cursor::open(sql.text(" FROM ").relation(records.oid), &[], BATCH);
    let mut key_output = cursor.output(0);
    let mut outputs: Vec<_> = (0..columns.len()).map(|i| cursor.output(i + 2)).collect();
    cursor.each(|row| {
        facts.rows += 1;
        if row.datum(1).is_none_or(|is| is.value() as u8 == 0) {
            return;
        }
        facts.signed += 1;
        let Some(key) = row.datum(0) else { return };
        let Some(values) = key_output.show(key, |key| wanted.get_mut(key)) else {
            return;
        };
        if values.is_some() {
            let key = key_output.show(key, readable);
            let message = format!("more than one record has the key \"{key}\"");
            not_unique(message, records);
        }
        let output = outputs.iter_mut().enumerate();
        let shown = output.map(|(i, output)| {
            let value = row.datum(i + 2)?;
            Some(output.show(value, beginning))
        });
        *values = Some(shown.collect());
    });
    let found = wanted.into_iter();
    facts.values = found
        .filter_map(|(key, values)| Some((key, values?)))
        .collect();
}
