//! With whose rights a review table is written.
//!
//! Entering a person must need no privilege on the review table, so the guard would write there as the owner of the
//! guarded table, as foreign keys write. But whatever a write runs on its way then runs as that owner, too, and who has
//! no more than TRIGGER on either table can have it run something. So the user is changed only for a write that
//! can run no code but the server's own; every other one is the invoking user's.
//!
//! What an INSERT can run, and who can have put it there:
//! - Triggers of users: whoever has TRIGGER. None is allowed, not even those of other events or that are disabled.
//!   The server's own are those of foreign keys, which act as the owner of the referenced table and switch to that
//!   role themselves, and the recheck of deferred unique constraints, which runs what the indexes run.
//! - Rules and policies: the owner of the table, but they lead elsewhere, to tables of others. None is allowed.
//! - Defaults, generated columns, CHECK constraints, expressions of indexes and partition keys, domains: the owner of the
//!   table alone (ALTER TABLE, CREATE INDEX). But a function of theirs runs in the session of the invoking user, whose temporary
//!   tables and views stand where it names a table without a schema. So these may call functions of the server's own only.
//!   Operator classes are made by superusers.
//! - All this of a partition: the owner of that partition, which may be another one. So each must have the same owner. A
//!   foreign table is served by another server, with whatever it runs, so there must be none.
//! - What reading runs when it is planned: the same things, of the same tables, and of children by inheritance, which the
//!   statement leaves out by ONLY.

use pgrx::pg_sys;

use super::builtin;
use crate::pg::node;
use crate::pg::{check_for_interrupts, ffi};

/// The review table and its partitions, if `owner` has them all and a write into them can run no code but the server's.
///
/// All are locked as the write will lock them, until the end of the transaction: a trigger, a rule, a policy or another
/// owner cannot come until then. A partition can, attached by somebody who has the rights of `owner`; so this is asked
/// once more when there is nothing left to do but to write.
pub fn owned_throughout(table: pg_sys::Oid, owner: pg_sys::Oid) -> Option<Vec<pg_sys::Oid>> {
    let lock = pg_sys::RowExclusiveLock as i32;
    // A lock that this transaction has had before tells of nothing new.
    // SAFETY: in a transaction.
    unsafe { ffi::AcceptInvalidationMessages() };
    let mut all = vec![table];
    let mut looked_at = 0;
    while let Some(&table) = all.get(looked_at) {
        check_for_interrupts();
        looked_at += 1;
        // SAFETY: it may be gone; if not, it is open until it is closed, and its lock stays.
        let partitions = unsafe {
            let relation = ffi::try_relation_open(table, lock);
            if relation.is_null() {
                return None;
            }
            let fit = runs_nothing_of_others(relation, owner);
            let partitions = fit.then(|| partitions(relation));
            pg_sys::relation_close(relation, pg_sys::NoLock as i32);
            partitions
        };
        all.extend(partitions?);
    }
    Some(all)
}

/// SAFETY: `relation` is open and locked.
unsafe fn runs_nothing_of_others(relation: pg_sys::Relation, owner: pg_sys::Oid) -> bool {
    // SAFETY: as promised by the caller.
    unsafe {
        let form = &*(*relation).rd_rel;
        let kind = form.relkind as u8;
        let is_table =
            kind == pg_sys::RELKIND_RELATION || kind == pg_sys::RELKIND_PARTITIONED_TABLE;
        is_table
            && form.relowner == owner
            && (*relation).rd_rules.is_null()
            && !form.relrowsecurity
            && !form.relforcerowsecurity
            && !has_trigger_of_users(relation)
            && builtin::calls_builtin_only(relation)
    }
}

/// SAFETY: `relation` is open and locked.
unsafe fn has_trigger_of_users(relation: pg_sys::Relation) -> bool {
    // SAFETY: as promised by the caller; as many triggers as are said to be there.
    unsafe {
        let Some(described) = (*relation).trigdesc.as_ref() else {
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

/// Those that are just being detached, too.
///
/// SAFETY: `relation` is a table, open and locked.
unsafe fn partitions(relation: pg_sys::Relation) -> Vec<pg_sys::Oid> {
    // SAFETY: as promised by the caller; as many OIDs as partitions.
    unsafe {
        if (*(*relation).rd_rel).relkind as u8 != pg_sys::RELKIND_PARTITIONED_TABLE {
            return Vec::new();
        }
        let described = &*ffi::RelationGetPartitionDesc(relation, false);
        (0..described.nparts as usize)
            .map(|i| *described.oids.add(i))
            .collect()
    }
}

/// Whether an open cursor has one statement, about these tables only. It was planned after they were looked at, by
/// their names, which somebody may have given to others meanwhile: renaming a schema needs no lock on its tables.
///
/// SAFETY: `cursor` is open.
pub unsafe fn stays_within(cursor: pg_sys::Portal, tables: &[pg_sys::Oid]) -> bool {
    // SAFETY: as promised by the caller; a cursor has planned statements, these have range table entries.
    unsafe {
        let statements = node::nodes((*cursor).stmts);
        let [statement] = statements[..] else {
            return false;
        };
        let tag = pg_sys::NodeTag::T_PlannedStmt;
        let Some(planned) = node::cast::<pg_sys::PlannedStmt>(statement, tag) else {
            return false;
        };
        node::nodes(planned.rtable).into_iter().all(|entry| {
            let relation = (*entry.cast::<pg_sys::RangeTblEntry>()).relid;
            relation == pg_sys::InvalidOid || tables.contains(&relation)
        })
    }
}

/// The session while it acts as another user. If there is an error, the server changes it back.
pub struct SwitchedUser {
    user: pg_sys::Oid,
    context: i32,
    settings: i32,
}

impl SwitchedUser {
    /// As a function of SECURITY DEFINER with a search_path of its own. SECURITY_RESTRICTED_OPERATION is not for this: it would
    /// refuse to queue the checks of the table's deferred constraints. What it protects, the session of the invoking user, is
    /// open to the owner of the guarded table anyway, who may put a trigger there.
    pub fn begin(owner: pg_sys::Oid) -> SwitchedUser {
        let (mut user, mut context) = (pg_sys::InvalidOid, 0);
        // SAFETY: what is changed is changed back by end(), or by the end of the subtransaction.
        unsafe {
            pg_sys::GetUserIdAndSecContext(&mut user, &mut context);
            let local = pg_sys::SECURITY_LOCAL_USERID_CHANGE as i32;
            pg_sys::SetUserIdAndSecContext(owner, context | local);
            let settings = pg_sys::NewGUCNestLevel();
            // what RestrictSearchPath does, which came with PostgreSQL 17
            pg_sys::set_config_option(
                c"search_path".as_ptr(),
                c"pg_catalog, pg_temp".as_ptr(),
                pg_sys::GucContext::PGC_USERSET,
                pg_sys::GucSource::PGC_S_SESSION,
                pg_sys::GucAction::GUC_ACTION_SAVE,
                true,
                0,
                false,
            );
            SwitchedUser {
                user,
                context,
                settings,
            }
        }
    }

    /// The settings are as they were, too.
    pub fn end(self) {
        // SAFETY: as begin() has found them.
        unsafe {
            pg_sys::AtEOXact_GUC(false, self.settings);
            pg_sys::SetUserIdAndSecContext(self.user, self.context);
        }
    }
}
