//! Whether a write to a table calls functions of the server's own only.
//!
//! A function that the table's owner has put into an expression is the owner's code, but what it finds by names without a
//! schema, the session decides: a temporary view of the invoking user's can stand where the function reads a table, and
//! no search_path shuts the temporary schema out. So code of anybody's that is no part of the server must not run for a
//! session in which somebody else works.

use std::ffi::{c_char, c_void};

use pgrx::{pg_sys, PgMemoryContexts};

use crate::pg::node;
use crate::pg::{entry, ffi};

/// Looks at column types, defaults, generated columns, CHECK constraints, indexes and the partition key as they are stored,
/// before anything of them is simplified, which would run it.
///
/// # Safety
/// `relation` is a table, open and locked.
pub unsafe fn calls_builtin_only(relation: pg_sys::Relation) -> bool {
    // SAFETY: as promised by the caller. Trees are read into memory of their own.
    unsafe {
        PgMemoryContexts::new("expressions of a review table").switch_to(|_| {
            has_plain_types(relation)
                && constraints(relation).all(|text| is_builtin(text))
                && indexes(relation).all(|text| is_builtin(text))
                && partition_key(relation).is_none_or(|text| is_builtin(text))
        })
    }
}

/// No column is of a domain, which may have constraints.
///
/// # Safety
/// As for [`calls_builtin_only`].
unsafe fn has_plain_types(relation: pg_sys::Relation) -> bool {
    // SAFETY: as promised by the caller; as many columns as are said to be there.
    unsafe {
        let columns = (*relation).rd_att;
        (0..(*columns).natts).all(|i| {
            let column = &*ffi::attribute(columns, i);
            column.attisdropped
                || pg_sys::get_typtype(column.atttypid) as u8 != pg_sys::TYPTYPE_DOMAIN
        })
    }
}

/// Defaults, which generated columns are among, and CHECK constraints.
///
/// # Safety
/// As for [`calls_builtin_only`].
unsafe fn constraints(relation: pg_sys::Relation) -> impl Iterator<Item = *const c_char> {
    // SAFETY: as promised by the caller; as many as are said to be there.
    unsafe {
        let all = (*(*relation).rd_att).constr.as_ref();
        let defaults = all.map_or(0, |all| all.num_defval);
        let checks = all.map_or(0, |all| all.num_check);
        let default = move |i| (*all.expect("some").defval.add(i)).adbin.cast_const();
        let check = move |i| (*all.expect("some").check.add(i)).ccbin.cast_const();
        (0..defaults.into())
            .map(default)
            .chain((0..checks.into()).map(check))
    }
}

/// Expressions and predicates.
///
/// # Safety
/// As for [`calls_builtin_only`].
unsafe fn indexes(relation: pg_sys::Relation) -> impl Iterator<Item = *const c_char> {
    // SAFETY: as promised by the caller; the lock keeps the table's indexes.
    unsafe {
        let list = pg_sys::RelationGetIndexList(relation);
        let of_index = |index: pg_sys::Oid| {
            let cache = pg_sys::SysCacheIdentifier::INDEXRELID as i32;
            [
                pg_sys::Anum_pg_index_indexprs,
                pg_sys::Anum_pg_index_indpred,
            ]
            .into_iter()
            .filter_map(move |column| stored(cache, index, column))
        };
        node::oids(list)
            .into_iter()
            .flat_map(of_index)
            .collect::<Vec<_>>()
            .into_iter()
    }
}

/// Column of pg_partitioned_table (its header is not among those that bindgen reads).
const PARTEXPRS: u32 = 8;

/// Its expressions, if it has any.
///
/// # Safety
/// As for [`calls_builtin_only`].
unsafe fn partition_key(relation: pg_sys::Relation) -> Option<*const c_char> {
    let cache = pg_sys::SysCacheIdentifier::PARTRELID as i32;
    // SAFETY: as promised by the caller.
    unsafe { stored(cache, (*relation).rd_id, PARTEXPRS) }
}

/// A column of a row of the catalog, as a C string; `None` if there is no such row, or NULL in it.
///
/// # Safety
/// The cache's only key is an OID, and the column is a pg_node_tree.
unsafe fn stored(cache: i32, key: pg_sys::Oid, column: u32) -> Option<*const c_char> {
    // SAFETY: as promised by the caller; the row is released when its value has been copied.
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

/// # Safety
/// `text` is a stored expression, or a list of them.
unsafe fn is_builtin(text: *const c_char) -> bool {
    // SAFETY: as promised by the caller.
    unsafe { !calls_others(pg_sys::stringToNode(text).cast(), std::ptr::null_mut()) }
}

/// Whether an expression calls functions that are no part of the server, or brings constraints of a domain with it.
#[entry]
unsafe extern "C-unwind" fn calls_others(node: *mut pg_sys::Node, context: *mut c_void) -> bool {
    if node.is_null() {
        return false;
    }
    // SAFETY: a node of an expression; both functions of ours are called for nodes of it only.
    unsafe {
        (*node).type_ == pg_sys::NodeTag::T_CoerceToDomain
            || pg_sys::check_functions_in_node(node, Some(is_of_others), context)
            || ffi::walk_expression(node, Some(calls_others), context)
    }
}

#[entry]
unsafe extern "C-unwind" fn is_of_others(function: pg_sys::Oid, _context: *mut c_void) -> bool {
    function.to_u32() >= pg_sys::FirstNormalObjectId
}
