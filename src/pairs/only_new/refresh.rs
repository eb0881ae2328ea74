//! `bloom_pairs_refresh`: a table of pairs is brought up to date after some records have changed.

use std::ffi::CStr;

use pgrx::{pg_sys, IntoDatum, PgSqlErrorCode};

use super::{comparable, compared, NewRecords};
use crate::pairs::each_pair;
use crate::pairs::records::{is_text, lock, RecordColumn, Records};
use crate::pairs::{verify, within};
use pg::budget::push;
use pg::catalog;
use pg::catalog::storage::may_be_distributed;
use pg::error::{raise, sql_error};
use pg::file::TemporaryFile;
use pg::function::arguments::Arguments;
use pg::function::record::record;
use pg::function::rows::new_text;
use pg::memory::Scratch;
use pg::session::not_during_recovery;
use pg::session::{read, Session};
use pg::sql;
use pg::values::array::{float8_array, text_array};

use pg::values::varlena::NewValue;
use pg::{check_for_interrupts, entry};

const JOB: &str = "bloom_pairs_refresh";

/// Pairs that one statement puts into the table, and bytes of their keys, but for the last pair.
const BATCH: u64 = 1000;
const BATCH_BYTES: usize = 1 << 20;

/// What is read of relations that Citus does not join: `a` and `b` of the pairs, the keys of all records, and of those
/// that have changed.
const PAIRS: &CStr = c"bloom_pairs_refresh_pairs";
const RECORDS: &CStr = c"bloom_pairs_refresh_records";
const CHANGED: &CStr = c"bloom_pairs_refresh_changed";

/// `(pairs regclass, rel regclass, key name, signature name, threshold float8, changed regclass, within name[], verify
/// name, margin float8) RETURNS (deleted bigint, inserted bigint)`
///
/// Returns how many pairs were deleted, and how many were inserted.
#[entry(volatile, called_on_null, parallel_unsafe)]
fn bloom_pairs_refresh(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    not_during_recovery(c"bloom_pairs_refresh()");
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let pairs = PairTable::find(arguments.oid(0));
    let records = Records::given(arguments, 1);
    let threshold = arguments.threshold(4);
    let changed = NewRecords::lock(arguments.oid(5));
    let verification = verify::given(arguments, 7, threshold);
    let records = records.within(within::given(arguments, 6));
    let records = records.verified(verification.as_ref());
    let records = records.only(Some(changed.clone()));
    pairs.lock();
    changed.check();
    let deleted = pairs.delete(&records, &changed);
    let inserted = with_new_snapshot(|| pairs.insert(&records, threshold));
    record(
        fcinfo,
        [
            (deleted as i64).into_datum(),
            (inserted as i64).into_datum(),
        ],
    )
}

/// The table of pairs.
struct PairTable {
    oid: pg_sys::Oid,
    /// For messages.
    name: String,
}

impl PairTable {
    /// Errors: no relation; one that is no table; no columns a, b and similarity, or of other types.
    fn find(oid: pg_sys::Oid) -> PairTable {
        let name = lock(oid);
        let kind = catalog::kind(oid);
        if kind != pg_sys::RELKIND_RELATION && kind != pg_sys::RELKIND_PARTITIONED_TABLE {
            let message = format!("\"{name}\" is not a table");
            raise(&sql_error(PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE, message)
                    .hint("Give a table, such as CREATE TABLE ... AS SELECT * FROM bloom_duplicates(...)."),
            );
        }
        for (column, expected) in [(c"a", "text"), (c"b", "text"), (c"similarity", "float8")] {
            let column = RecordColumn::new(oid, column.to_owned());
            // SAFETY: a catalog look-up of a type that exists.
            let base = unsafe { pg_sys::getBaseType(column.type_oid) };
            let fits = match expected {
                "text" => is_text(base),
                _ => base == pg_sys::FLOAT8OID,
            };
            if !fits {
                let hint = "Give a table with the columns that bloom_duplicates returns.";
                column.refuse_type(&name, expected, hint);
            }
        }
        PairTable { oid, name }
    }

    /// Waits until nobody else changes the table, and keeps others from it until the end of the transaction.
    ///
    /// Errors: no privilege; a transaction that does not see what others have done to the table meanwhile (40001).
    fn lock(&self) {
        let sql = sql!("LOCK TABLE {self.oid} IN SHARE ROW EXCLUSIVE MODE");
        Session::begin(false).run(&sql, &[]);
        // SAFETY: a variable of this process.
        if unsafe { pg_sys::XactIsoLevel } < pg_sys::XACT_REPEATABLE_READ as i32 {
            return;
        }
        // SAFETY: the snapshot of the transaction is active.
        let seen = self.state();
        // SAFETY: the latest snapshot is active as long as it is used.
        let latest = unsafe { with_snapshot(pg_sys::GetLatestSnapshot(), || self.state()) };
        if seen != latest {
            let message = "could not serialize access due to concurrent update";
            raise(
                &sql_error(PgSqlErrorCode::ERRCODE_T_R_SERIALIZATION_FAILURE, message)
                    .detail(format!(
                        "Table \"{}\" has been changed since this transaction began.",
                        self.name
                    ))
                    .hint("Retry the transaction."),
            );
        }
    }

    /// What changes with every change of the table.
    fn state(&self) -> Vec<u8> {
        let sql = sql!(
            "SELECT pg_catalog.concat(pg_catalog.count(*), ' ', pg_catalog.sum(pg_catalog.hashtextextended(\
             pg_catalog.concat(tableoid, ctid, xmin), 0))) FROM {self.oid}"
        );
        let cursor = read(sql, &[], 1);
        let mut output = cursor.output(0);
        let mut state = Vec::new();
        cursor.each(|row| {
            if let Some(value) = row.datum(0) {
                output.show(value, |text| state.extend_from_slice(text));
            }
        });
        state
    }

    /// Deletes the pairs of records that have changed, or are no more there.
    fn delete(&self, records: &Records, changed: &NewRecords) -> u64 {
        let mut all = [self.oid, records.oid, changed.oid].into_iter();
        if all.any(may_be_distributed) {
            return self.delete_by_keys(records, changed);
        }
        let (key, signature) = (&records.key, &records.signatures[0].name);
        let (compared, changed) = (compared(key), changed.keys(key, "key"));
        let mut deleted = 0;
        for column in ["p.a", "p.b"] {
            let column = comparable(key, column);
            let of_changed = sql!(
                "DELETE FROM {self.oid} AS p WHERE {column} OPERATOR(pg_catalog.=) ANY ({changed})"
            );
            let of_gone = sql!(
                "DELETE FROM {self.oid} AS p WHERE NOT EXISTS \
                 (SELECT FROM {records.oid} AS r WHERE r.{signature} IS NOT NULL AND {compared} {column})"
            );
            let session = Session::begin(false);
            deleted += session.run(&of_changed, &[]);
            deleted += session.run(&of_gone, &[]);
        }
        deleted
    }

    /// The same where Citus keeps rows, and joins not each two tables: the keys of all are read by queries of their
    /// own and compared here, and the pairs are deleted by what they have as keys.
    fn delete_by_keys(&self, records: &Records, changed: &NewRecords) -> u64 {
        let (key, signature) = (&records.key, &records.signatures[0].name);
        let session = Session::begin(false);
        let pairs = sql!("SELECT p.a, p.b FROM {self.oid} AS p");
        let all =
            sql!("SELECT r.{key.name} FROM {records.oid} AS r WHERE r.{signature} IS NOT NULL");
        let _kept = [
            session.keep(PAIRS, &pairs, &[]),
            session.keep(RECORDS, &all, &[]),
            session.keep(CHANGED, &changed.keys(key, "key"), &[]),
        ];
        let (compared, column) = (compared(key), comparable(key, "k.key"));
        let exact = "COLLATE pg_catalog.\"C\"";
        let keys = sql!(
            "SELECT CAST(p.a AS pg_catalog.text) {exact} AS key FROM {PAIRS} AS p \
             UNION SELECT CAST(p.b AS pg_catalog.text) {exact} FROM {PAIRS} AS p"
        );
        let most = BATCH.to_string();
        let batches = sql!(
            "WITH k AS MATERIALIZED ({keys}), g AS (SELECT k.key FROM k \
             WHERE {column} OPERATOR(pg_catalog.=) ANY (SELECT c.key FROM {CHANGED} AS c) UNION SELECT k.key FROM k \
             WHERE NOT EXISTS (SELECT FROM {RECORDS} AS r WHERE {compared} {column})) \
             SELECT pg_catalog.array_agg(b.key) FROM (SELECT g.key, pg_catalog.row_number() OVER () AS no FROM g) AS b \
             GROUP BY b.no OPERATOR(pg_catalog./) {most}"
        );
        let mut deleted = 0;
        session.each(&batches, &[], |row| {
            let keys = row.datum(0).map(|keys| (pg_sys::TEXTARRAYOID, keys));
            let keys = keys.as_slice();
            for column in [c"a", c"b"] {
                let delete = sql!(
                    "DELETE FROM {self.oid} AS p WHERE CAST(p.{column} AS pg_catalog.text) {exact} \
                     OPERATOR(pg_catalog.=) ANY ($1)"
                );
                deleted += session.run(&delete, keys);
            }
        });
        deleted
    }

    /// Inserts the pairs of records that have changed.
    fn insert(&self, records: &Records, threshold: f64) -> u64 {
        // Nothing may be inserted while the search reads.
        let (mut found, mut n) = (TemporaryFile::new(), 0u64);
        let mut take = |keys: [&[u8]; 2], similarity: f64| {
            for key in keys {
                found.append(&(key.len() as u32).to_le_bytes());
                found.append(key);
            }
            found.append(&similarity.to_le_bytes());
            n += 1;
        };
        each_pair(JOB, records, threshold, None, &mut take);
        found.seek(0);
        let mut scratch = Scratch::new(c"pairs of a table");
        let mut left = n;
        while left > 0 {
            check_for_interrupts();
            left -= scratch.with(|| self.insert_some(&mut found, left));
        }
        n
    }

    /// Inserts pairs that have been found, `left` at the most. Returns how many.
    fn insert_some(&self, found: &mut TemporaryFile, left: u64) -> u64 {
        let mut columns: [Vec<pg_sys::Datum>; 3] = Default::default();
        let (mut length, mut bytes, mut some) = ([0; 4], 0, 0);
        while some < left.min(BATCH) && bytes < BATCH_BYTES {
            for column in &mut columns[..2] {
                found.read(&mut length);
                let length = u32::from_le_bytes(length) as usize;
                push(column, new_text(length, |key| found.read(key)));
                bytes += length;
            }
            let mut similarity = [0; 8];
            found.read(&mut similarity);
            let similarity = f64::from_le_bytes(similarity);
            push(&mut columns[2], pg_sys::Datum::from(similarity.to_bits()));
            some += 1;
        }
        let [mut a, mut b, mut similarity] = columns;
        let arguments = [
            text_array(&mut a),
            text_array(&mut b),
            float8_array(&mut similarity),
        ];
        let sql = sql!(
            "INSERT INTO {self.oid} (a, b, similarity) SELECT * FROM ROWS FROM \
             (pg_catalog.unnest($1), pg_catalog.unnest($2), pg_catalog.unnest($3))"
        );
        Session::begin(false).run(&sql, &arguments);
        some
    }
}

/// Runs with a snapshot that sees what this transaction has done so far.
fn with_new_snapshot<T>(run: impl FnOnce() -> T) -> T {
    // SAFETY: the function runs in a transaction, and may change rows; so the counter may go on. The snapshot is active
    // as long as it is used.
    unsafe {
        pg_sys::CommandCounterIncrement();
        with_snapshot(pg_sys::GetTransactionSnapshot(), run)
    }
}

/// Runs with a snapshot.
///
/// # Safety
/// It is one that may be active.
unsafe fn with_snapshot<T>(snapshot: pg_sys::Snapshot, run: impl FnOnce() -> T) -> T {
    // SAFETY: the caller knows the snapshot; what is pushed is popped. After an error the server does that.
    unsafe {
        pg_sys::PushActiveSnapshot(snapshot);
        let result = run();
        pg_sys::PopActiveSnapshot();
        result
    }
}
