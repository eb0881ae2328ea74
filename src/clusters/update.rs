//! `bloom_clusters_update`: the clusters of a run that keep the numbers of an earlier one.

use pg::error::{raise, sql_error, OrRaise};
use std::collections::HashMap;
use std::ffi::CString;

use base::memory::{collected, filled};
use base::{Error, ErrorKind};
use linkage::clusters::succession::{succession, NOWHERE};
use pgrx::{pg_sys, IntoDatum, PgSqlErrorCode};

use crate::clusters::cluster_rows::chosen;
use crate::clusters::clustered::Clustered;
use crate::clusters::grouping::{max_size, on_conflict, Grouping, Method};
use crate::clusters::keeping::KeepChoice;
use crate::clusters::pair_list::PairList;
use crate::clusters::source::Source;
use crate::pairs::decisions::Decisions;
use crate::pairs::dictionary::KeyDictionary;
use crate::pairs::records::{lock, RecordColumn};
use pg::budget::{push, reserve, Budget};
use pg::function::arguments::Arguments;
use pg::function::rows::{text_datum, ResultRows};
use pg::progress;
use pg::session::{read, BATCH};
use pg::sql;
use pg::values::text::readable;
use pg::values::varlena::NewValue;
use pg::{check_for_interrupts, entry};

/// Bytes that a cluster's number takes, with its place in the table of numbers.
const A_CLUSTER: usize = 40;

/// Bytes that a record takes at the end: its clusters before and now, by key, and what the core needs.
const A_RECORD: usize = 24;

/// `(old regclass, pairs regclass, threshold float8, method text, first_new bigint, decisions regclass, on_conflict
/// text, max_size integer, keep_by text, rel regclass, key name) RETURNS TABLE (cluster bigint, key text, size integer,
/// similarity float8, keep boolean, change text, was bigint)`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_clusters_update(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let (threshold, method) = (arguments.threshold(2), Method::of_name(&arguments.text(3)));
    let (on_conflict, most) = (on_conflict(&arguments.text(6)), max_size(arguments, 7));
    let source = Source::of_similar_pairs(arguments.oid(1));
    let choice = KeepChoice::of_named(arguments, 8);
    let (mut old, keys) = OldClusters::read(arguments.oid(0));
    let first_new = arguments.int8(4);
    let decisions = arguments
        .datum(5)
        .map(|_| Decisions::read(arguments.oid(5), None, false));
    let _job = progress::job("bloom_clusters_update", source.oid);
    let grouping = Grouping {
        threshold,
        method,
        decisions: decisions.as_ref(),
        on_conflict,
        most,
    };
    // SAFETY: the SQL function is declared to return a set of rows.
    let rows = unsafe { ResultRows::new(fcinfo) };
    let mut overhead = grouping.overhead(old.memory());
    overhead.a_record += A_RECORD;
    let mut found = PairList::with(keys, overhead).without(grouping.decisions);
    let least = method.least(threshold);
    found.read(source.similar_rows(), &source.name, least);
    let (pairs, keys) = found.finish();
    let clustered = chosen(keys, pairs, &grouping, None, choice.as_ref());
    old.put(rows, &clustered, first_new);
    clustered.tell_left_out(&grouping);
    NewValue(pg_sys::Datum::null())
}

/// The clusters of an earlier run.
struct OldClusters {
    /// Their numbers, as users know them.
    ids: Vec<i64>,
    /// For each number of a key in the dictionary the place of its cluster's number. Keys that come later were in no
    /// cluster.
    of_record: Vec<u32>,
}

impl OldClusters {
    /// Reads the columns key and cluster of a relation.
    ///
    /// Errors: no such columns; a cluster that is no whole number; a null; a key that comes twice; more than
    /// maintenance_work_mem.
    fn read(oid: pg_sys::Oid) -> (OldClusters, KeyDictionary) {
        let name = lock(oid);
        for column in ["key", "cluster"] {
            let column = CString::new(column).unwrap_or_default();
            let column = RecordColumn::new(oid, column);
            // SAFETY: a catalog look-up of a type that exists.
            let base = unsafe { pg_sys::getBaseType(column.type_oid) };
            let whole = [pg_sys::INT2OID, pg_sys::INT4OID, pg_sys::INT8OID];
            if column.name.as_c_str() == c"cluster" && !whole.contains(&base) {
                let hint =
                    "Give a table with the columns key and cluster that bloom_clusters returns.";
                column.refuse_type(&name, "bigint", hint);
            }
        }
        let sql = sql!("SELECT key, CAST(cluster AS pg_catalog.int8) FROM {oid}");
        let cursor = read(sql, &[], BATCH);
        let mut key_text = cursor.output(0);
        let (mut keys, mut places) = (KeyDictionary::new(), HashMap::new());
        let mut old = OldClusters {
            ids: Vec::new(),
            of_record: Vec::new(),
        };
        let budget = Budget::of_setting();
        cursor.each(|row| {
            let (Some(key), Some(id)) = (row.datum(0), row.datum(1)) else {
                let what = row.datum(0).map_or("key", |_| "cluster");
                let message = format!("{what} of a record in \"{name}\" is null");
                raise(
                    &Error::new(ErrorKind::NullNotAllowed, message)
                        .hint("Give a view that leaves such records out."),
                );
            };
            let id = id.value() as i64;
            let place = *places.entry(id).or_insert_with(|| {
                push(&mut old.ids, id);
                old.ids.len() as u32 - 1
            });
            let number = key_text.show(key, |key| keys.number(key));
            if (number as usize) < old.of_record.len() {
                let key = readable(keys.key(number));
                raise(
                    &sql_error(
                        PgSqlErrorCode::ERRCODE_CARDINALITY_VIOLATION,
                        format!("more than one record in \"{name}\" has the key \"{key}\""),
                    )
                    .detail("A record is in one cluster."),
                );
            }
            push(&mut old.of_record, place);
            let needed = old.memory() + keys.memory();
            budget.check(needed, || format!("{} records", keys.len()));
        });
        (old, keys)
    }

    /// Memory in use, in bytes.
    fn memory(&self) -> usize {
        A_CLUSTER * self.ids.len() + size_of::<u32>() * self.of_record.len()
    }

    /// Gives the clusters to the result, with the numbers that they keep or get.
    ///
    /// Errors: no numbers left; out of memory.
    fn put(&mut self, mut rows: ResultRows, clustered: &Clustered, first_new: i64) {
        let (order, members) = clustered.places();
        let before = order.iter().map(|&number| {
            let place = self.of_record.get(number as usize);
            place.copied().unwrap_or(NOWHERE)
        });
        let before = collected(before, order.len()).or_raise();
        let mut now = filled(order.len(), NOWHERE).or_raise();
        for (record, &place) in clustered.records().zip(members) {
            check_for_interrupts();
            now[place as usize] = record.cluster as u32 - 1;
        }
        let successors = succession(&before, &now, check_for_interrupts).or_raise();
        drop(now);
        let greatest = self.ids.iter().max();
        let behind = greatest.map_or(Some(first_new), |id| id.checked_add(1));
        let mut next = behind.map(|behind| behind.max(first_new));
        let mut ids = Vec::new();
        reserve(&mut ids, successors.len());
        for successor in &successors {
            check_for_interrupts();
            ids.push(match successor.keeps {
                Some(place) => self.ids[place as usize],
                None => {
                    let id = next.unwrap_or_else(|| no_number());
                    next = id.checked_add(1);
                    id
                }
            });
        }
        for (record, &place) in clustered.records().zip(members) {
            check_for_interrupts();
            let cluster = record.cluster as usize - 1;
            let was = before[place as usize];
            rows.make(|| {
                Some([
                    ids[cluster].into_datum(),
                    Some(text_datum(record.key)),
                    (record.size as i32).into_datum(),
                    record.similarity.into_datum(),
                    record.keep.into_datum(),
                    Some(text_datum(successors[cluster].change.name().as_bytes())),
                    (was != NOWHERE)
                        .then(|| self.ids[was as usize])
                        .into_datum(),
                ])
            });
        }
    }
}

fn no_number() -> ! {
    raise(
        &sql_error(
            PgSqlErrorCode::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE,
            "no number is left for a new cluster".to_owned(),
        )
        .hint("Give the earlier clusters lesser numbers."),
    )
}
