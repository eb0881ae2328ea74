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
//!   disabled. The exceptions are the server's own: the triggers of foreign keys, which act as the owner of the
//!   referenced table and switch to that role themselves, and the recheck of deferred unique constraints, which runs
//!   what the indexes run.
//! - Rules and policies: the owner of the table. But they can lead to the tables of other users, so none is allowed.
//! - Defaults, generated columns, CHECK constraints, expressions of indexes and of partition keys, domains: only the
//!   owner of the table, by ALTER TABLE and CREATE INDEX. But a function in them runs in the session of the invoking
//!   user, whose temporary tables and views are found where the function names a table without a schema. So they may
//!   call functions of the server's own only. Operator classes are created by superusers.
//! - The same of a partition: the owner of that partition, who may be another user. So each partition must have the
//!   same owner. A foreign table is served by another server, which can run anything, so there must be no foreign
//!   table.
//! - Planning the read of the table: the same code of the same tables, and of the children by inheritance, which the
//!   statement leaves out by ONLY.
//!
//! A function in an expression is code of the table's owner. But where it names a table without a schema, the session
//! decides which table it finds: a temporary view of the invoking user's can stand there, and no search_path excludes
//! the schema of temporary objects. So while the session acts as another user, no code may run that is not part of the
//! server.

use std::ffi::{c_char, c_void};

use pgrx::pg_sys;

use crate::memory::in_scratch;
use crate::relation::OpenRelation;
use crate::session::fixed_settings::FixedSettings;
use crate::tree::{list, node};
use crate::{check_for_interrupts, entry, ffi};

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
    for i in 0.. {
        let Some(&table) = all.get(i) else { break };
        check_for_interrupts();
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
        && calls_builtin_only(table)
}

/// Whether a table has a trigger that is not one of the server's own for constraints.
fn has_users_trigger(table: &OpenRelation) -> bool {
    table.triggers().iter().any(|trigger| {
        // SAFETY: a look-up of a function by its OID.
        let kind = unsafe { pg_sys::RI_FKey_trigger_type(trigger.tgfoid) };
        let is_constraint = kind != pg_sys::RI_TRIGGER_NONE as i32
            || trigger.tgfoid == pg_sys::Oid::from(pg_sys::F_UNIQUE_KEY_RECHECK);
        !(trigger.tgisinternal && is_constraint)
    })
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
        let (statements, tag) = (list::nodes((*cursor).stmts), pg_sys::NodeTag::T_PlannedStmt);
        let [statement] = statements[..] else {
            return false;
        };
        let Some(planned) = node::cast::<pg_sys::PlannedStmt>(statement, tag) else {
            return false;
        };
        list::nodes(planned.rtable).into_iter().all(|entry| {
            let relation = (*entry.cast::<pg_sys::RangeTblEntry>()).relid;
            relation == pg_sys::InvalidOid || tables.contains(&relation)
        })
    }
}

/// Looks at column types, defaults, generated columns, CHECK constraints, indexes and the partition key. It reads the
/// expressions as they are stored: simplifying an expression would run it. The table is locked.
fn calls_builtin_only(table: &OpenRelation) -> bool {
    // The trees are read into memory of their own.
    in_scratch(c"expressions of a review table", || {
        // SAFETY: each text is a stored expression, so it becomes a node of an expression, or a list of them.
        let is_builtin = |text| unsafe {
            !calls_others(pg_sys::stringToNode(text).cast(), std::ptr::null_mut())
        };
        has_plain_types(table)
            && constraints(table).into_iter().all(is_builtin)
            && keys(table).into_iter().all(is_builtin)
    })
}

/// Whether no column is of a domain, which may have constraints.
fn has_plain_types(table: &OpenRelation) -> bool {
    // SAFETY: a look-up in the catalogs by OID.
    let kind = |of_type| unsafe { pg_sys::get_typtype(of_type) } as u8;
    table
        .columns()
        .all(|c| c.attisdropped || kind(c.atttypid) != pg_sys::TYPTYPE_DOMAIN)
}

/// Defaults, generated columns and CHECK constraints.
fn constraints(table: &OpenRelation) -> Vec<*const c_char> {
    // SAFETY: the description of constraints is NULL, or has as many defaults and checks as it says; a generated column
    // is among the defaults. Each has its expression as a C string.
    unsafe {
        let Some(all) = (*table.rd_att).constr.as_ref() else {
            return Vec::new();
        };
        let default = |i| (*all.defval.add(i)).adbin.cast_const();
        let check = |i| (*all.check.add(i)).ccbin.cast_const();
        let checks = (0..all.num_check.into()).map(check);
        (0..all.num_defval.into())
            .map(default)
            .chain(checks)
            .collect()
    }
}

/// The number of the column partexprs of pg_partitioned_table, whose header bindgen does not read.
const PARTEXPRS: u32 = 8;

/// Expressions and predicates of indexes, and the expressions of the partition key.
fn keys(table: &OpenRelation) -> Vec<*const c_char> {
    use pg_sys::{Anum_pg_index_indexprs, Anum_pg_index_indpred, SysCacheIdentifier};
    let (indexes, partitioned) = (
        SysCacheIdentifier::INDEXRELID,
        SysCacheIdentifier::PARTRELID,
    );
    let of_index =
        |index| [Anum_pg_index_indexprs, Anum_pg_index_indpred].map(|c| (indexes, index, c));
    let all = table.indexes().into_iter().flat_map(of_index);
    let all = all.chain([(partitioned, table.rd_id, PARTEXPRS)]);
    // SAFETY: both caches have the OID as their only key, and the columns are of type pg_node_tree.
    all.filter_map(|(cache, key, column)| unsafe { stored(cache as i32, key, column) })
        .collect()
}

/// A column of a row of the catalog, as a C string in the current memory context; `None` if there is no such row, or
/// NULL in it.
///
/// # Safety
/// The cache has an OID as its only key, and the column is of type pg_node_tree.
unsafe fn stored(cache: i32, key: pg_sys::Oid, column: u32) -> Option<*const c_char> {
    // SAFETY: the key is of the cache's type. The row is valid until it is released, when its value has been copied. A
    // pg_node_tree has the bytes of a text.
    unsafe {
        let row = pg_sys::SearchSysCache1(cache, pg_sys::Datum::from(key));
        if row.is_null() {
            return None;
        }
        let mut is_null = false;
        let value = pg_sys::SysCacheGetAttr(cache, row, column as i16, &mut is_null);
        let text = (!is_null).then(|| pg_sys::text_to_cstring(value.cast_mut_ptr()).cast_const());
        pg_sys::ReleaseSysCache(row);
        text
    }
}

/// Whether an expression calls functions that are not part of the server, or checks the constraints of a domain.
///
/// # Safety
/// `node` is of an expression, or a list of expressions, or NULL.
#[entry]
unsafe extern "C-unwind" fn calls_others(node: *mut pg_sys::Node, context: *mut c_void) -> bool {
    if node.is_null() {
        return false;
    }
    // SAFETY: the node is of an expression, so what the server walks to from it is of an expression too. Both functions
    // that are passed are entries.
    unsafe {
        (*node).type_ == pg_sys::NodeTag::T_CoerceToDomain
            || pg_sys::check_functions_in_node(node, Some(is_of_others), context)
            || ffi::walk_expression(node, Some(calls_others), context)
    }
}

/// What else than functions of the server an expression may call.
type Allowed = fn(pg_sys::Oid) -> bool;

/// Whether an expression calls functions of the server and such as are allowed, and no others, and checks no constraints of a domain.
///
/// # Safety
/// `node` is of an expression, or NULL.
pub unsafe fn calls_only(node: *mut pg_sys::Node, mut allowed: Allowed) -> bool {
    // SAFETY: the caller's; the walk passes the pointer on, and ends here.
    unsafe { !calls_others(node, (&raw mut allowed).cast()) }
}

/// Whether a function is not part of the server, nor allowed.
///
/// # Safety
/// `context` is NULL, or that of [`calls_only`]; the server calls it by a pointer.
#[entry]
unsafe extern "C-unwind" fn is_of_others(function: pg_sys::Oid, context: *mut c_void) -> bool {
    // SAFETY: the caller's.
    let allowed = unsafe { context.cast::<Allowed>().as_ref() };
    function.to_u32() >= pg_sys::FirstNormalObjectId
        && !allowed.is_some_and(|allowed| allowed(function))
}

/// Runs as `owner`, in the way of a SECURITY DEFINER function with a search_path of its own. After an error the server
/// switches back by itself.
///
/// SECURITY_RESTRICTED_OPERATION is not set: it would refuse to queue the checks of the table's deferred constraints.
/// It protects the session of the invoking user, which is open anyway to the owner of the guarded table, who can create
/// triggers on that table.
pub fn as_owner<T>(owner: pg_sys::Oid, run: impl FnOnce() -> T) -> T {
    let (mut user, mut context) = (pg_sys::InvalidOid, 0);
    let local = pg_sys::SECURITY_LOCAL_USERID_CHANGE as i32;
    // SAFETY: what is changed here is restored below, or by the server at the end of the subtransaction.
    unsafe {
        pg_sys::GetUserIdAndSecContext(&mut user, &mut context);
        pg_sys::SetUserIdAndSecContext(owner, context | local);
    }
    // RestrictSearchPath() does the same; it came with PostgreSQL 17.
    let settings = FixedSettings::begin(&[(c"search_path", c"pg_catalog, pg_temp")]);
    let result = run();
    settings.end();
    // SAFETY: user and security context are those from before.
    unsafe { pg_sys::SetUserIdAndSecContext(user, context) };
    result
}
