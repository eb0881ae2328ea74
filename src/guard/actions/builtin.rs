//! Whether a write to a table calls no functions but the server's own.
//!
//! A function in an expression is code of the table's owner. But where it names a table without a schema, the session
//! decides which table it finds: a temporary view of the invoking user's can stand there, and no search_path excludes
//! the schema of temporary objects. So while the session acts as another user, no code may run that is not part of the
//! server.

use std::ffi::{c_char, c_void};

use pgrx::pg_sys;

use pg::memory::in_scratch;
use pg::relation::OpenRelation;
use pg::{entry, ffi};

/// Looks at column types, defaults, generated columns, CHECK constraints, indexes and the partition key. It reads the
/// expressions as they are stored: simplifying an expression would run it. The table is locked.
pub fn calls_builtin_only(table: &OpenRelation) -> bool {
    // The trees are read into memory of their own.
    in_scratch(c"expressions of a review table", || {
        // SAFETY: each text is a stored expression, or a list of them.
        let is_builtin = |text| unsafe { is_builtin(text) };
        has_plain_types(table)
            && constraints(table).into_iter().all(is_builtin)
            && indexes(table).into_iter().all(is_builtin)
            && partition_key(table).is_none_or(is_builtin)
    })
}

/// Whether no column is of a domain, which may have constraints.
fn has_plain_types(table: &OpenRelation) -> bool {
    // SAFETY: an open relation has a descriptor, with as many columns as it says.
    unsafe {
        let columns = table.rd_att;
        (0..(*columns).natts).all(|i| {
            let column = &*ffi::attribute(columns, i);
            column.attisdropped
                || pg_sys::get_typtype(column.atttypid) as u8 != pg_sys::TYPTYPE_DOMAIN
        })
    }
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
        let defaults = (0..all.num_defval.into()).map(default);
        defaults
            .chain((0..all.num_check.into()).map(check))
            .collect()
    }
}

/// Expressions and predicates of indexes.
fn indexes(table: &OpenRelation) -> Vec<*const c_char> {
    let cache = pg_sys::SysCacheIdentifier::INDEXRELID as i32;
    let columns = [
        pg_sys::Anum_pg_index_indexprs,
        pg_sys::Anum_pg_index_indpred,
    ];
    let of_index = |index| {
        // SAFETY: the cache INDEXRELID has the OID as its only key, and both columns are of type pg_node_tree.
        columns.map(|column| unsafe { stored(cache, index, column) })
    };
    let all = table.indexes().into_iter().flat_map(of_index);
    all.flatten().collect()
}

/// The number of the column partexprs of pg_partitioned_table, whose header bindgen does not read.
const PARTEXPRS: u32 = 8;

/// The expressions of the partition key, if there are any.
fn partition_key(table: &OpenRelation) -> Option<*const c_char> {
    let cache = pg_sys::SysCacheIdentifier::PARTRELID as i32;
    // SAFETY: the cache PARTRELID has the OID as its only key, and the column is of type pg_node_tree.
    unsafe { stored(cache, table.rd_id, PARTEXPRS) }
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

/// # Safety
/// `text` is a stored expression, or a list of them, as a C string.
unsafe fn is_builtin(text: *const c_char) -> bool {
    // SAFETY: the text is a stored expression, so it becomes a node of an expression, or a list of them.
    unsafe { !calls_others(pg_sys::stringToNode(text).cast(), std::ptr::null_mut()) }
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

/// Whether a function is not part of the server.
///
/// # Safety
/// None is needed; the server calls it by a pointer.
#[entry]
unsafe extern "C-unwind" fn is_of_others(function: pg_sys::Oid, _context: *mut c_void) -> bool {
    function.to_u32() >= pg_sys::FirstNormalObjectId
}
