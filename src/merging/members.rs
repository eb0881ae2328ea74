//! The records of the clusters, and which of each is kept.

use pg::error::{raise, sql_error};
use std::ffi::CStr;

use base::{Error, ErrorKind};
use linkage::merging::{keep, Standing};
use pgrx::{pg_sys, IntoDatum, PgSqlErrorCode};

use super::plan::MergeTask;
use super::subject::{columns_of, text, Subject, TableColumn};
use super::texts::exactly;
use crate::clusters::keeping::Standings;
use crate::pairs::records::lock;
use pg::catalog::{is_of_server, operators};
use pg::function::rows::text_datum;
use pg::memory::Scratch;
use pg::session::tuple_store::{StoreColumn, TupleStore};
use pg::session::QueryRow;
use pg::session::{KeptRows, Session};
use pg::sql;
use pg::sql::Sql;
use pg::values::text::readable;

/// The records that the clusters name: `no`, `label` (the cluster), `key`, `preferred`.
pub const FOUND: &CStr = c"bloom_merge_found";
/// The same with the record that is kept: `no`, `id`, `cluster`, `key`, `keep`, `kept`. With the texts of the keys,
/// `name` and `keep_name`, they are bloom_merge_members.
const DECIDED: &CStr = c"bloom_merge_decided";

/// Makes the records that were decided about, which are in `members`, a table of the session, with the texts of their
/// keys.
pub fn name_members<'a>(session: &'a Session, members: &TupleStore) -> KeptRows<'a> {
    session.table(DECIDED, members);
    let query = sql!(
        "SELECT m.no, m.id, m.cluster, m.key, m.keep, m.kept, pg_catalog.format('%s', m.key) AS name, \
        pg_catalog.format('%s', m.keep) AS keep_name FROM bloom_merge_decided AS m"
    );
    exactly(|| session.keep(c"bloom_merge_members", &query, &[]))
}

/// The relation that says which records are one.
pub struct ClusterSource {
    oid: pg_sys::Oid,
    name: String,
    /// What its columns of these names are.
    cluster: StoreColumn,
    key: pg_sys::Oid,
    /// It says which record to keep.
    pub decided: bool,
}

impl ClusterSource {
    /// Errors: a relation without columns cluster and key, or whose column keep is no boolean.
    pub fn new(oid: pg_sys::Oid) -> ClusterSource {
        let name = lock(oid);
        let columns = columns_of(oid);
        let named = |wanted: &CStr| columns.iter().find(|c| c.name.as_c_str() == wanted);
        let (Some(cluster), Some(key)) = (named(c"cluster"), named(c"key")) else {
            let message = format!("relation \"{name}\" does not have the columns cluster and key");
            raise(&sql_error(PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN, message).hint(
                "Give a table or view with columns of these names, such as CREATE TABLE ... AS SELECT * FROM \
                bloom_clusters(...).",
            ))
        };
        let is_boolean = |keep: &TableColumn| keep.store.type_oid == pg_sys::BOOLOID;
        ClusterSource {
            oid,
            name,
            decided: named(c"keep").is_some_and(is_boolean),
            cluster: cluster.store,
            key: key.store.type_oid,
        }
    }

    /// The query of cluster, key as text, key of the record, preference, in order of clusters and keys.
    fn query(&self, subject: &Subject) -> Sql {
        let matches = subject.is_named("r", "c.key", self.key);
        // Numbers in their order, other things in that of their texts.
        // SAFETY: a catalog look-up of a type that exists.
        let of_cluster = unsafe { pg_sys::getBaseType(self.cluster.type_oid) };
        let order = match operators::of_order(of_cluster) {
            Some((_, less))
                if is_of_server(of_cluster) && self.cluster.collation == pg_sys::InvalidOid =>
            {
                Sql::new("c.cluster USING ").operator(less)
            }
            _ => Sql::new("pg_catalog.format('%s', c.cluster) COLLATE pg_catalog.\"C\""),
        };
        let (record, key) = (subject.from("r"), subject.key_of("r"));
        let less = Sql::new("").operator(subject.less);
        let keep = if self.decided { "c.keep" } else { "false" };
        sql!(
            "SELECT pg_catalog.format('%s', c.cluster), \
            CASE WHEN c.key IS DISTINCT FROM NULL THEN pg_catalog.format('%s', c.key) END, {key}, {keep} \
            FROM {self.oid} AS c LEFT JOIN {record} ON {matches} WHERE c.cluster IS DISTINCT FROM NULL \
            ORDER BY {order}, {key} USING {less}"
        )
    }

    /// Reads the clusters of at least two records.
    ///
    /// Errors: a key that is null, or of no record.
    pub fn read(&self, subject: &Subject, session: &Session, found: &mut TupleStore) -> i64 {
        let (mut number, mut last) = (0, None);
        // The first record of a cluster, as long as it is the only one.
        let mut first: Option<QueryRow<'static>> = None;
        session.each_with(
            &self.query(subject),
            &[],
            |_| Scratch::new(c"record of a cluster"),
            |scratch, row| {
                let bytes = |i: usize| row.bytes(i).map(|text| text.bytes().to_vec());
                let cluster = bytes(0).unwrap_or_default();
                let Some(key) = bytes(1) else {
                    let message = format!("key of a record in \"{}\" is null", self.name);
                    raise(
                        &Error::new(ErrorKind::NullNotAllowed, message)
                            .hint("Give a view that leaves such rows out."),
                    )
                };
                if row.datum(2).is_none() {
                    self.missing(subject, &key, &cluster);
                }
                if last.as_ref() == Some(&cluster) {
                    if let Some(first) = first.take() {
                        number += 1;
                        put(found, number, &cluster, first);
                        scratch.reset();
                    }
                    put(found, number, &cluster, row);
                    return;
                }
                scratch.reset();
                // SAFETY: it is forgotten before the memory is freed, and with the query.
                first = Some(scratch.within(|| unsafe { row.copy() }));
                last = Some(cluster);
            },
        );
        number
    }

    fn missing(&self, subject: &Subject, key: &[u8], cluster: &[u8]) -> ! {
        raise(&sql_error(PgSqlErrorCode::ERRCODE_NO_DATA_FOUND, format!(
                "record \"{}\" of cluster \"{}\" is not in table \"{}\"",
                short(key),
                short(cluster),
                subject.name
            )).detail("It was deleted or merged, or the current user may not see it.").hint("Find the clusters anew, \
                or give a view that leaves them out. Decisions about it follow the record that is kept if they are \
                merged, too: redirect => '{decision.a,decision.b}'."))
    }
}

fn put(found: &mut TupleStore, number: i64, cluster: &[u8], row: QueryRow<'_>) {
    found.put(&[
        number.into_datum(),
        Some(text_datum(cluster)),
        row.datum(2),
        row.is_true(3).into_datum(),
    ]);
}

/// A value for messages, shortened.
pub fn short(value: &[u8]) -> String {
    let text = readable(value);
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// The store of what [`ClusterSource::read`] finds.
pub fn found_store(subject: &Subject) -> TupleStore {
    let columns = [
        (c"no", StoreColumn::plain(pg_sys::INT8OID)),
        (c"label", StoreColumn::plain(pg_sys::TEXTOID)),
        (c"key", subject.key_type),
        (c"preferred", StoreColumn::plain(pg_sys::BOOLOID)),
    ];
    TupleStore::new(columns.into_iter())
}

/// The store of the records with the one that is kept.
pub fn member_store(subject: &Subject) -> TupleStore {
    let columns = [
        (c"no", StoreColumn::plain(pg_sys::INT8OID)),
        (c"id", StoreColumn::plain(pg_sys::INT8OID)),
        (c"cluster", StoreColumn::plain(pg_sys::TEXTOID)),
        (c"key", subject.key_type),
        (c"keep", subject.key_type),
        (c"kept", StoreColumn::plain(pg_sys::BOOLOID)),
    ];
    TupleStore::new(columns.into_iter())
}

/// Errors: a record that the clusters have twice, or two records of one key.
pub fn check_once(subject: &Subject, session: &Session) {
    let query = sql!(
        "SELECT pg_catalog.format('%s', f.key), pg_catalog.min(f.label), pg_catalog.max(f.label) \
        FROM bloom_merge_found AS f GROUP BY f.key HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 1 \
        ORDER BY f.key LIMIT 1"
    );
    session.each(&query, &[], |row| {
        let text_at = |i| row.bytes(i).expect("texts that are not NULL");
        let [key, first, last] = [0, 1, 2].map(|i| short(text_at(i).bytes()));
        let (column, table) = (text(subject.key_name()), &subject.name);
        let detail = match first == last {
            true => format!("It is twice in cluster \"{first}\", or column \"{column}\" of table \"{table}\" is not \
                unique."),
            false => format!("It is in cluster \"{first}\" and in cluster \"{last}\"."),
        };
        raise(&sql_error(PgSqlErrorCode::ERRCODE_CARDINALITY_VIOLATION, format!("record \"{key}\" is in the clusters \
            more than once")).detail(detail.as_str()).hint("A record can be merged once. Give a view that says which \
            cluster it is in."))
    });
}

/// Decides which record of each cluster is kept. `number_of` gives the number of the merge of each cluster, from the
/// first to the last.
///
/// Errors: a record has gone since it was found.
pub fn decide(
    task: &MergeTask,
    session: &Session,
    mut number_of: impl FnMut() -> Option<i64>,
    members: &mut TupleStore,
) {
    let (subject, by) = (&task.subject, &task.keep_by);
    let standings = Standings::new(subject, by, FOUND, &subject.key_is("r", "f.key"));
    session.groups(
        standings.query(),
        |_| (),
        |(), rows| {
            let standing = |row: &QueryRow<'_>| {
                standings.standing(*row).unwrap_or_else(|| {
                    raise(
                        &sql_error(
                            PgSqlErrorCode::ERRCODE_T_R_SERIALIZATION_FAILURE,
                            "a record of a cluster was deleted by another transaction",
                        )
                        .hint("Find the clusters anew."),
                    )
                })
            };
            let all: Vec<Standing> = rows.iter().map(standing).collect();
            let kept = keep(by, task.clusters.decided, &all);
            let id = number_of();
            for (i, row) in rows.iter().enumerate() {
                members.put(&[
                    row.datum(0),
                    id.and_then(IntoDatum::into_datum),
                    row.datum(Standings::LABEL),
                    row.datum(Standings::KEY),
                    rows[kept].datum(Standings::KEY),
                    (i == kept).into_datum(),
                ]);
            }
        },
    );
}
