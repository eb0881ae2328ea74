//! The argument `keep_by` of clusters.

use pg::error::{raise, sql_error, OrRaise};
use std::ffi::CStr;

use base::Error;
use linkage::clusters::Links;
use linkage::merging::{KeepBy, Place};
use pgrx::{pg_sys, IntoDatum, PgSqlErrorCode};

use super::keyed_relation::KeyedRelation;
use super::standings::{counted, Standings};
use crate::clusters::clustered::Clustered;
use crate::pairs::records::{check_select, lock, RecordColumn, Records};
use pg::budget::push;
use pg::catalog::storage::may_be_distributed;
use pg::check_for_interrupts;
use pg::function::arguments::Arguments;
use pg::function::rows::text_datum;
use pg::memory::Scratch;
use pg::progress::{self, phases};
use pg::session::tuple_store::{StoreColumn, TupleStore};
use pg::session::Session;
use pg::sql;
use pg::sql::Sql;
use pg::values::text::readable;

/// The records of clusters: `no`, `label` (the record's position), `key` as text, `preferred`.
const FOUND: &CStr = c"bloom_clusters_found";

/// The records of a relation that Citus does not join with the one above.
const RECORDS: &CStr = c"bloom_clusters_records";

/// Another choice of the record to keep than that of the method.
pub struct KeepChoice {
    by: KeepBy,
    relation: KeyedRelation,
    /// A query of the columns that are read, where Citus may keep the records.
    read: Option<Sql>,
}

impl KeepChoice {
    /// By argument `i`, from the relation whose pairs are searched, and its key.
    ///
    /// Errors: as below.
    pub fn of_relation(arguments: Arguments, i: usize, records: &Records) -> Option<KeepChoice> {
        let by = keep_by(arguments, i)?;
        Some(KeepChoice::new(by, records.oid, &records.key.name))
    }

    /// By the arguments `i`, and `rel` and `key` behind it. `None` if `keep_by` is NULL.
    ///
    /// Errors: `keep_by` without the others, or one of these without it; no such relation or column; keys or values
    /// that have no order; the caller may not read the columns.
    pub fn of_named(arguments: Arguments, i: usize) -> Option<KeepChoice> {
        let rel = arguments.datum(i + 1).map(|_| arguments.oid(i + 1));
        let key = arguments.datum(i + 2).map(|_| arguments.name(i + 2));
        let given = arguments.datum(i).is_some();
        let by = keep_by(arguments, i);
        match (by, rel, key) {
            (Some(by), Some(rel), Some(key)) => Some(KeepChoice::new(by, rel, &key)),
            (Some(_), rel, _) => {
                let missing = if rel.is_none() { "rel" } else { "key" };
                raise(
                    &Error::invalid(format!("argument \"keep_by\" is given without argument \"{missing}\""),
                    )
                    .detail("The record to keep is chosen by what is in the relation that the records are from.")
                    .hint("Name the relation and the column of its keys in the arguments \"rel\" and \"key\"."),
                )
            }
            (None, None, None) => None,
            (None, rel, _) if !given => {
                let useless = if rel.is_some() { "rel" } else { "key" };
                raise(
                    &Error::invalid(format!("argument \"{useless}\" is given without argument \"keep_by\""),
                    )
                    .detail("The relation is read to choose the records to keep.")
                    .hint("Say by what they are chosen in argument \"keep_by\", or leave the relation out."),
                )
            }
            (None, ..) => None,
        }
    }

    fn new(by: KeepBy, oid: pg_sys::Oid, key: &CStr) -> KeepChoice {
        let name = lock(oid);
        let mut relation = KeyedRelation::new(oid, name, key, false);
        let mut read: Vec<&CStr> = vec![key];
        if let Some((column, _)) = by.column() {
            read.push(&relation.columns[relation.ordered_column(column)].name);
        }
        let counted = counted(&relation, &by);
        read.extend(counted.iter().map(|column| column.name.as_c_str()));
        let of = |name: &CStr| RecordColumn::new(oid, name.to_owned());
        let columns: Vec<RecordColumn> = read.into_iter().map(of).collect();
        // The query would tell after the search.
        check_select(oid, columns.iter());
        let read = may_be_distributed(oid).then(|| {
            let mut columns: Vec<&CStr> = columns.iter().map(|c| c.name.as_c_str()).collect();
            columns.sort();
            columns.dedup();
            let columns = Sql::join(columns.iter().map(|column| sql!("r.{column}")), ", ");
            let record = relation.from("r");
            relation.read_from(RECORDS);
            sql!("SELECT {columns} FROM {record}")
        });
        KeepChoice { by, relation, read }
    }

    /// Lets the clusters keep the records that are chosen.
    ///
    /// Errors: a record is not in the relation, or there twice; out of memory.
    pub fn apply(&self, clustered: &mut Clustered, links: &Links) {
        progress::phase(phases::CHOOSING, Some(clustered.len() as u64));
        let found = found(clustered);
        let session = Session::begin(true);
        session.table(FOUND, &found);
        let records = self.read.as_ref();
        let _records = records.map(|read| session.keep(RECORDS, read, &[]));
        let matches = self.relation.is_named("r", "f.key", pg_sys::TEXTOID);
        let standings = Standings::new(&self.relation, &self.by, FOUND, &matches);
        let mut best: Vec<(Place, u32)> = Vec::new();
        let (mut no, mut at, mut last) = (0, 0, u32::MAX);
        session.each(standings.query(), &[], |row| {
            progress::step();
            let number = |i: usize| row.datum(i).map_or(0, |n| n.value());
            let position = number(Standings::LABEL) as u32;
            let Some(standing) = standings.standing(row) else {
                self.missing(clustered.key_at(position))
            };
            if number(0) != no {
                (no, at, last) = (number(0), 0, u32::MAX);
            }
            if position == last {
                self.twice(clustered.key_at(position));
            }
            last = position;
            let place = standing.place(&self.by, true, at);
            if at == 0 {
                push(&mut best, (place, position));
            } else if let Some(best) = best.last_mut().filter(|best| place < best.0) {
                *best = (place, position);
            }
            at += 1;
        });
        clustered.keep(best.iter().map(|best| best.1), links);
    }

    fn missing(&self, key: &[u8]) -> ! {
        raise(
            &sql_error(
                PgSqlErrorCode::ERRCODE_NO_DATA_FOUND,
                format!(
                    "record \"{}\" is not in relation \"{}\"",
                    readable(key),
                    self.relation.name
                ),
            )
            .detail("It was deleted or merged, or the current user may not see it.")
            .hint("Find the pairs anew, or give a view that leaves them out."),
        )
    }

    fn twice(&self, key: &[u8]) -> ! {
        raise(
            &sql_error(
                PgSqlErrorCode::ERRCODE_CARDINALITY_VIOLATION,
                format!("more than one record has the key \"{}\"", readable(key)),
            )
            .detail(format!(
                "The keys are those of relation \"{}\".",
                self.relation.name
            ))
            .hint("Name a column whose values are unique."),
        )
    }
}

/// The argument `keep_by`; `None` if it is NULL, or asks for the choice of the clusters.
///
/// Errors: it is empty.
fn keep_by(arguments: Arguments, i: usize) -> Option<KeepBy> {
    let by = arguments.datum(i).map(|_| arguments.text(i))?;
    let by = KeepBy::parse(&by).or_raise();
    (by != KeepBy::Clusters).then_some(by)
}

/// The records of clusters, with those that the method keeps.
fn found(clustered: &Clustered) -> TupleStore {
    let columns = [
        (c"no", StoreColumn::plain(pg_sys::INT8OID)),
        (c"label", StoreColumn::plain(pg_sys::INT8OID)),
        (c"key", StoreColumn::plain(pg_sys::TEXTOID)),
        (c"preferred", StoreColumn::plain(pg_sys::BOOLOID)),
    ];
    let mut found = TupleStore::new(columns.into_iter());
    let mut scratch = Scratch::new(c"record of a cluster");
    for record in clustered.records() {
        check_for_interrupts();
        scratch.with(|| {
            found.put(&[
                record.cluster.into_datum(),
                i64::from(record.position).into_datum(),
                Some(text_datum(record.key)),
                record.keep.into_datum(),
            ]);
        });
    }
    scratch.delete();
    found
}
