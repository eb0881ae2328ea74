//! What a report tells, found by queries as the caller.

use std::collections::HashMap;
use std::ffi::{CStr, CString};

use bloom_ident_core::dedup::sweep::best;
use bloom_ident_core::dedup::{PairCounts, Sweep, SweepStep};
use bloom_ident_core::ErrorKind;
use pgrx::pg_sys;

use super::histogram::{floor, Histogram};
use super::value::LENGTH;
use super::{Edge, Limits};
use crate::clusters::Collected;
use crate::clusters::Numbers;
use crate::clusters::Source;
use crate::clusters::{Clustered, Method};
use crate::clusters::{Side, Truth};
use crate::objects::{is_query, is_signature};
use crate::pairs::each_pair;
use crate::pairs::relation::{Column, Records};
use crate::pairs::unique::not_unique;
use crate::pg::check_for_interrupts;
use crate::pg::cursor::{Cursor, Sql};
use crate::pg::error::OrRaise;
use crate::types::readable;

/// Rows with all columns are wide: fewer are fetched at a time.
const BATCH: i64 = 200;

/// A record as text, by column; `None` is NULL.
pub type Values = Vec<Option<String>>;

/// A record of a cluster.
pub struct Shown {
    pub key: Vec<u8>,
    pub similarity: Option<f64>,
    pub keep: bool,
}

pub struct Cluster {
    pub number: i64,
    pub size: u32,
    /// The first ones.
    pub records: Vec<Shown>,
}

pub struct Near {
    pub similarity: f64,
    pub keys: [Vec<u8>; 2],
    /// What the truth says of it.
    pub is_true: Option<bool>,
}

/// What a truth says.
pub struct Measured {
    pub name: String,
    /// Of the pairs from the threshold on.
    pub counts: PairCounts,
    /// From the least similarity searched on, in steps of 0.01.
    pub steps: Vec<SweepStep>,
    pub best: Option<SweepStep>,
    /// Pairs of records without a label.
    pub unknown: u64,
}

pub struct Facts {
    pub threshold: f64,
    pub floor: f64,
    pub rows: u64,
    pub signed: u64,
    /// From the threshold on.
    pub pairs: u64,
    pub histogram: Histogram,
    /// Size, and how many clusters have it.
    pub sizes: Vec<(u32, u64)>,
    pub clustered: u64,
    pub largest: Vec<Cluster>,
    /// The pairs nearest to the threshold, from the top.
    pub near: Vec<Near>,
    pub columns: Vec<String>,
    /// Columns that are left out, since there are too many.
    pub more_columns: usize,
    pub values: HashMap<Vec<u8>, Values>,
    pub truth: Option<Measured>,
}

impl Facts {
    pub fn clusters(&self) -> u64 {
        self.sizes.iter().map(|(_, clusters)| clusters).sum()
    }
}

/// The pairs nearest to the threshold on one side of it.
struct Nearest {
    side: Edge,
    pairs: Vec<Near>,
    most: usize,
}

impl Nearest {
    fn new(side: Edge, most: usize) -> Nearest {
        Nearest {
            side,
            pairs: Vec::new(),
            most,
        }
    }

    /// Takes the pair if it is nearer than one of those that are there.
    fn offer(
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
        let new = Near {
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

/// The columns to show: those given, or all that the caller may read but signatures, without the key.
///
/// Errors: no such column.
pub fn columns(records: &Records, given: Option<Vec<CString>>) -> Vec<CString> {
    if let Some(given) = given {
        let name = crate::pairs::relation::lock(records.oid);
        return given
            .into_iter()
            .map(|column| Column::of(records.oid, column, &name).name)
            .collect();
    }
    let holds_signatures = |of_type| is_signature(of_type) || is_query(of_type);
    // SAFETY: catalog look-ups of a locked relation.
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
                let column = Column::find(records.oid, CStr::from_ptr(name).to_owned()).ok()?;
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

/// Runs the search and whatever else a report tells.
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

    // what is true, by numbers of its own
    let mut known = Numbers::new();
    let truth = truth.map(|source| {
        let side = Side::read(source, &mut known, 0);
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
    let mut unknown = 0;
    let mut sides = [
        Nearest::new(Edge::Above, limits.near),
        Nearest::new(Edge::Below, limits.near),
    ];
    let held = truth.as_ref().map_or(0, |(truth, _)| truth.memory()) + known.memory();
    let mut collected = Collected::new(method.besides(held));
    let mut take = |keys: [&[u8]; 2], similarity: f64| {
        let reached = similarity >= threshold;
        histogram.add(similarity);
        let is_true = knows(keys[0], keys[1]);
        if let Some(is_true) = is_true {
            sweep.add(similarity, is_true);
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
    each_pair("bloom_report", records, floor, &mut take);
    let (pairs, numbers) = collected.finish();
    let found = pairs.len() as u64;
    let clustered = Clustered::new(numbers, pairs, threshold, method, Some(records));

    let truth = truth.map(|(truth, name)| {
        let mut steps = match sweep.steps(truth.pairs()) {
            // a pair came twice, and is below the threshold, or it would have been seen
            Err(error) if error.kind() == ErrorKind::DataException => {
                not_unique("more than one record has the same key".to_owned(), records)
            }
            steps => steps.or_raise(),
        };
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

/// Sizes of all clusters, and the largest ones.
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
            cluster.records.push(Shown {
                key: record.key.to_vec(),
                similarity: record.similarity,
                keep: record.keep,
            });
        }
    }
    facts.sizes.reverse();
}

/// As much of a value as can be shown.
fn beginning(value: &[u8]) -> String {
    // a character has up to four bytes
    let most = 4 * (LENGTH + 1);
    // SAFETY: so many bytes are readable; cuts between characters.
    let length =
        unsafe { pg_sys::pg_mbcliplen(value.as_ptr().cast(), value.len() as i32, most as i32) };
    readable(&value[..length as usize])
}

/// Counts the rows, and takes the values of those that are shown.
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
