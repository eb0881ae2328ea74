//! With whose rights a review table is written.
//!
//! Entering a row in the guarded table must need no privilege on the review table. So the guard would write to the
//! review table as the owner of the guarded table, as foreign keys write to theirs. But whatever code such a write runs
//! would then run as that owner too, and a user who has only TRIGGER on either table can have it run code. So the guard
//! writes as that owner only if the write can run no code but the server's own. It makes every other write as the
//! invoking user.
//!
//! What code an INSERT can run, and who can have put it there:
//! - Triggers: every user who has TRIGGER. So no trigger is allowed, not even one of another event or one that is
//!   disabled.   The exceptions are the server's own: the triggers of foreign keys, which act as the owner of the
//!   referenced table and   switch to that role themselves, and the recheck of deferred unique constraints, which runs
//!   what the indexes run.
//! - Rules and policies: the owner of the table. But they can lead to the tables of other users, so none is allowed.
//! - Defaults, generated columns, CHECK constraints, expressions of indexes and of partition keys, domains: only the
//!   owner of   the table, by ALTER TABLE and CREATE INDEX. But a function in them runs in the session of the invoking
//!   user, whose   temporary tables and views are found where the function names a table without a schema. So they may
//!   call functions of   the server's own only. Operator classes are created by superusers.
//! - The same of a partition: the owner of that partition, who may be another user. So each partition must have the
//!   same   owner. A foreign table is served by another server, which can run anything, so there must be no foreign
//!   table.
//! - Planning the read of the table: the same code of the same tables, and of the children by inheritance, which the
//!   statement leaves out by ONLY.

use pgrx::pg_sys;

use super::builtin;
use pg::relation::OpenRelation;
use pg::tree::{list, node};
use pg::{check_for_interrupts, ffi};

/// The review table and its partitions, if `owner` owns them all and a write to them can run no code but the server's
/// own.
///
/// They are locked as the write will lock them, until the end of the transaction. The lock keeps out new triggers,
/// rules, policies and owners. It does not keep out a partition, which a user with the rights of `owner` can attach. So
/// this is asked once more, when there is nothing left to do but to write.
pub fn owned_throughout(table: pg_sys::Oid, owner: pg_sys::Oid) -> Option<Vec<pg_sys::Oid>> {
    // Taking a lock that this transaction holds already takes in no invalidations.
    // SAFETY: a trigger runs in a transaction.
    unsafe { ffi::AcceptInvalidationMessages() };
    let mut all = vec![table];
    let mut looked_at = 0;
    while let Some(&table) = all.get(looked_at) {
        check_for_interrupts();
        looked_at += 1;
        let table = OpenRelation::find(table, pg_sys::RowExclusiveLock)?.keep_lock();
        if !runs_builtin_code_only(&table, owner) {
            return None;
        }
        // Partitions that are just being detached are among them.
        all.extend(table.partitions(false));
    }
    Some(all)
}

/// Whether `owner` owns the table, and a write to it runs no code but the server's own. Its partitions are not looked
/// at.
fn runs_builtin_code_only(table: &OpenRelation, owner: pg_sys::Oid) -> bool {
    let form = table.form();
    let kind = form.relkind as u8;
    let is_table = kind == pg_sys::RELKIND_RELATION || kind == pg_sys::RELKIND_PARTITIONED_TABLE;
    is_table
        && form.relowner == owner
        && table.rd_rules.is_null()
        && !form.relrowsecurity
        && !form.relforcerowsecurity
        && !has_users_trigger(table)
        && builtin::calls_builtin_only(table)
}

/// Whether a table has a trigger that is not one of the server's own for constraints.
fn has_users_trigger(table: &OpenRelation) -> bool {
    // SAFETY: a description of triggers is NULL, or has as many triggers as it says.
    unsafe {
        let Some(described) = table.trigdesc.as_ref() else {
            return false;
        };
        (0..described.numtriggers as usize).any(|i| {
            let trigger = &*described.triggers.add(i);
            let is_constraint = pg_sys::RI_FKey_trigger_type(trigger.tgfoid)
                != pg_sys::RI_TRIGGER_NONE as i32
                || trigger.tgfoid == pg_sys::Oid::from(pg_sys::F_UNIQUE_KEY_RECHECK);
            !(trigger.tgisinternal && is_constraint)
        })
    }
}

/// Whether an open cursor has one statement, which reads and writes only these tables. It was planned after the tables
/// were looked at, by their names. Meanwhile another session may have given the names to other tables: renaming a
/// schema needs no lock on its tables.
///
/// # Safety
/// `cursor` is open.
pub unsafe fn stays_within(cursor: pg_sys::Portal, tables: &[pg_sys::Oid]) -> bool {
    // SAFETY: an open cursor has a list of planned statements, and each of them a list of range table entries.
    unsafe {
        let statements = list::nodes((*cursor).stmts);
        let [statement] = statements[..] else {
            return false;
        };
        let tag = pg_sys::NodeTag::T_PlannedStmt;
        let Some(planned) = node::cast::<pg_sys::PlannedStmt>(statement, tag) else {
            return false;
        };
        list::nodes(planned.rtable).into_iter().all(|entry| {
            let relation = (*entry.cast::<pg_sys::RangeTblEntry>()).relid;
            relation == pg_sys::InvalidOid || tables.contains(&relation)
        })
    }
}
