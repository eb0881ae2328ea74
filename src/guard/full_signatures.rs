//! What is told of the rows that are there when a guard is created: how many of their signatures say so little that it
//! does not go by them.

use base::Result;
use pg::error::{sql_error, Tell};
use std::ffi::CStr;

use pgrx::{pg_sys, PgLogLevel, PgSqlErrorCode};

use super::actions::read_rights::may_read_columns;
use super::prepared::PreparedGuard;
use super::tables::column::signature_column;
use super::tables::partition_tree::PartitionTree;
use access::SignatureType;
use pg::catalog::privileges::current_user;
use pg::message::words;
use pg::relation::OpenRelation;
use pg::session::read;
use pg::sql::Sql;
use pg::{catalog, check_for_interrupts};
use types::Bloom;

/// Of tables with more blocks a sample of about so many is read: writers wait until the guard is created.
const BLOCKS: f64 = 2000.0;

/// Rows fetched at a time.
const BATCH: i64 = 1000;

/// Warns of full signatures in the guarded table and in the block list. Where tokens decide they do no harm. Who may
/// not read a table is told nothing of it.
///
/// Errors: what a query of the signatures fails with.
pub fn tell(guard: &PreparedGuard) -> Result<()> {
    if guard.options.verify.is_some() {
        return Ok(());
    }
    tell_of(guard, guard.top, &guard.options.column)?;
    if guard.is_list() && guard.searched != guard.top {
        tell_of(guard, guard.searched, guard.options.searched_column())?;
    }
    Ok(())
}

fn tell_of(guard: &PreparedGuard, table: pg_sys::Oid, column: &CStr) -> Result<()> {
    let found = signature_column(table, column)?;
    let is_filter = found.of_type == SignatureType::Filter;
    if !is_filter || !may_read_columns(table, &[found.number], current_user()) {
        return Ok(());
    }
    let tree = PartitionTree::with_foreign_tables(table)?;
    let is_here = |&leaf: &pg_sys::Oid| catalog::kind(leaf) == pg_sys::RELKIND_RELATION;
    if !tree.leaves.iter().all(is_here) {
        return Ok(());
    }
    let blocks = tree.leaves.iter().map(|&leaf| {
        check_for_interrupts();
        f64::from(OpenRelation::locked_table(leaf).blocks())
    });
    let share = BLOCKS / blocks.sum::<f64>().max(1.0);
    // The guard is not for the rows of tables that inherit from this one.
    let mut sql = Sql::new("SELECT ").name(column).text(" FROM ").only(table);
    if share < 1.0 {
        let percent = format!("{:.6}", 100.0 * share);
        sql = sql.text(" TABLESAMPLE pg_catalog.system (").text(&percent);
        sql = sql.text(") REPEATABLE (0)");
    }
    let (mut signed, mut full) = (0u64, 0u64);
    read(sql, &[], BATCH).each(|row| {
        if let Some(signature) = row.datum(0) {
            // SAFETY: the query selects a signature, which lives as long as the row.
            let signature = unsafe { Bloom::from_raw(signature) };
            signed += 1;
            full += u64::from(signature.view().is_full());
        }
    });
    if full > 0 {
        warn(guard, table, column, (full, signed), share < 1.0);
    }
    Ok(())
}

#[cold]
fn warn(
    guard: &PreparedGuard,
    table: pg_sys::Oid,
    column: &CStr,
    (full, signed): (u64, u64),
    sampled: bool,
) {
    let percent = format!("{:.1}", 100.0 * full as f64 / signed as f64);
    let consequence = match guard.options.ignores_full() {
        true => "the guard does not go by them.",
        false => "the guard may take them for duplicates of each other.",
    };
    sql_error(
        PgSqlErrorCode::ERRCODE_WARNING,
        words!(
            "{} % of the signatures in column \"{}\" of table \"{}\" have more than \
                90 % of their bits set",
            percent,
            column,
            catalog::name(table)
        ),
    )
    .detail(words!(
        "{} of {}{}{}",
        full.to_string(),
        signed.to_string(),
        if sampled {
            " signatures of a sample are similar to each other, whatever was signed; "
        } else {
            " signatures are similar to each other, whatever was signed; "
        },
        consequence
    ))
    .hint("Plan signatures for longer texts, by max_chars, or sign fewer columns.")
    .send(PgLogLevel::WARNING);
}
