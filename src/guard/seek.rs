//! `bloom_guard_search`: the search of a guard alone, for who enters rows in another way than by its trigger: a guard
//! over several tables that are on several servers asks each of them.

use base::range::unit;
use base::Result;
use pgrx::pg_sys;
use pgrx::PgSqlErrorCode::{
    ERRCODE_INSUFFICIENT_PRIVILEGE, ERRCODE_UNDEFINED_OBJECT, ERRCODE_WRONG_OBJECT_TYPE,
};

use super::candidates::index::SearchTarget;
use super::candidates::{search_in, SearchOutcome, SearchedRow};
use super::compare::by_signature::{ComparedSignature, SignatureComparator};
use super::compare::within::WithinColumns;
use super::compare::{ComparedRow, ComparedTable};
use super::tables::{signature_column, PartitionTree};
use access::SignatureType;
use pg::catalog;
use pg::catalog::privileges::current_user;
use pg::catalog::storage;
use pg::entry;
use pg::error::{sql_error, OrRaise};
use pg::function::arguments::Arguments;
use pg::function::rows::{text_datum, ResultRows};
use pg::message::words;
use pg::relation::OpenRelation;
use pg::session::not_during_recovery;
use pg::values::text::to_database;
use pg::values::varlena::NewValue;

/// `(rel regclass, signature name, sought bloom, threshold float8, own text) RETURNS TABLE (key text, similarity float8)`
///
/// The rows of a table that a guard would find similar, at most five, the most similar first; not the one whose primary key
/// is `own`. As a guard's, the search sees rows that are not committed, and waits until it is known whether they will be
/// there, also those of prepared transactions. If two transactions that have each entered a row before they search are at
/// it at once, one of them finds the other. A row without key stands for one whose transaction waits for this one.
///
/// It shows rows that a query would not show, so it is for those who may read them all.
///
/// Errors: a NULL, except in the signature and in `own` (22004); a threshold outside [0,1] (22023); a relation that is no
/// table of this server, or not of heap (42809, 0A000); no such column (42703) or one of another type (42804); no primary
/// key (42704); the caller may not read the column and the key of all rows (42501).
#[entry(volatile, called_on_null, parallel_unsafe)]
fn bloom_guard_search(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    not_during_recovery(c"bloom_guard_search()");
    // SAFETY: the server calls this function with the record of the call, which has the arguments as they are declared.
    unsafe { run(fcinfo) }.or_raise();
    NewValue(pg_sys::Datum::null())
}

/// # Safety
/// `fcinfo` is that of a running call of [`bloom_guard_search`].
unsafe fn run(fcinfo: pg_sys::FunctionCallInfo) -> Result<()> {
    // SAFETY: `fcinfo` is that of the running call, which does not end before this function returns.
    let given = unsafe { Arguments::new(fcinfo) };
    let (table, column, threshold) = (given.oid(0), given.name(1), given.float8(3));
    unit("threshold", threshold)?;
    // SAFETY: the function returns a set of rows with OUT columns.
    let mut rows = unsafe { ResultRows::new(fcinfo) };
    let target = target(table, &column)?;
    let Some(sought) = given.datum(2) else {
        return Ok(());
    };
    // SAFETY: the argument is declared as a bloom, and lives as long as the call.
    let sought = unsafe { ComparedSignature::new(SignatureType::Filter, sought) };
    if sought.is_empty() || sought.is_full() {
        return Ok(());
    }
    let own = given.datum(4).map(|_| to_database(&given.text(4)));
    let owner = OpenRelation::locked_table(table).form().relowner;
    let comparator = SignatureComparator::at_least(threshold, SignatureType::Filter);
    let row = comparator.sought(sought);
    let is_own = |row: ComparedRow<'_>| {
        let key = target
            .table
            .key
            .as_ref()
            .map(|key| key.text(row.row, owner));
        own.is_some() && key == own
    };
    let wanted = SearchedRow {
        row: &row,
        within: &[],
        was_similar: &is_own,
        decided: None,
        with_keys: false,
        waits: true,
    };
    match search_in(std::slice::from_ref(&target), owner, wanted, None) {
        SearchOutcome::Deadlock => rows.put([None, None]),
        SearchOutcome::Rows(found, _) => {
            for row in &found.best {
                let similarity = pg_sys::Datum::from(row.similarity.to_bits());
                rows.put([Some(text_datum(&row.key)), Some(similarity)]);
            }
        }
    }
    Ok(())
}

/// The table, which is locked, and by which index it is searched.
fn target(table: pg_sys::Oid, column: &std::ffi::CStr) -> Result<SearchTarget> {
    catalog::check_exists(table)?;
    if catalog::kind(table) == pg_sys::RELKIND_PARTITIONED_TABLE {
        return Err(sql_error(
            ERRCODE_WRONG_OBJECT_TYPE,
            words!("table \"{table}\" is partitioned"),
        )
        .hint("Search each of its partitions."));
    }
    if storage::is_distributed(table) {
        let cannot = words!("bloom_guard_search cannot search table \"{table}\"");
        let why = "It is for who keeps similar rows out of tables of one node, and also sees rows that are not committed.";
        return Err(storage::distributed(cannot, why).hint(
            "Look for similar rows by bloom_blocklist() or by a query with bloom_sim, and keep them out by \
             bloom_citus_guard_create() of extension bloom_ident_citus.",
        ));
    }
    let tree = PartitionTree::new(table, false)?;
    let signature = signature_column(table, column, Some(SignatureType::Filter))?;
    tree.check_storage(signature.number)?;
    let within = WithinColumns::new(table, &[], signature.number)?;
    let comparator = SignatureComparator::at_least(1.0, SignatureType::Filter);
    let compared = ComparedTable::new(table, signature, within, &comparator)?;
    let Some(key) = &compared.key else {
        return Err(sql_error(
            ERRCODE_UNDEFINED_OBJECT,
            words!("table \"{table}\" has no primary key"),
        )
        .detail("bloom_guard_search names rows by their primary keys.")
        .hint("Add a primary key."));
    };
    let columns: Vec<i16> = key
        .columns
        .iter()
        .copied()
        .chain([signature.number])
        .collect();
    if !super::actions::rights::may_read_columns(table, &columns, current_user()) {
        return Err(sql_error(
            ERRCODE_INSUFFICIENT_PRIVILEGE,
            words!("permission denied for table {table}"),
        )
        .detail("Who searches it as a guard must be allowed to read the signatures and the primary keys of all its rows."));
    }
    Ok(SearchTarget::new(compared))
}
