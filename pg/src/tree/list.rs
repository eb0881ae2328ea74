//! The server's lists.

use pgrx::pg_sys;

use crate::tree::node::Node;

/// The nodes of a list; none of NULL.
///
/// # Safety
/// `list` is a list of nodes, or NULL.
pub unsafe fn nodes(list: *mut pg_sys::List) -> Vec<*mut Node> {
    // SAFETY: the cells of a list of nodes are pointers.
    unsafe { cells(list).iter().map(|c| c.ptr_value.cast()).collect() }
}

/// A node of a list, if it has so many.
///
/// # Safety
/// `list` is a list of nodes, or NULL.
pub unsafe fn node(list: *mut pg_sys::List, i: usize) -> Option<*mut Node> {
    // SAFETY: the cells of a list of nodes are pointers.
    unsafe { cells(list).get(i).map(|c| c.ptr_value.cast()) }
}

/// The OIDs of a list; none of NULL.
///
/// # Safety
/// `list` is a list of OIDs, or NULL.
pub unsafe fn oids(list: *mut pg_sys::List) -> Vec<pg_sys::Oid> {
    // SAFETY: the cells of a list of OIDs are OIDs.
    unsafe { cells(list).iter().map(|c| c.oid_value).collect() }
}

/// # Safety
/// `list` is a list that stays as it is as long as the result is used, or NULL.
unsafe fn cells<'a>(list: *mut pg_sys::List) -> &'a [pg_sys::ListCell] {
    if list.is_null() {
        return &[];
    }
    // SAFETY: a list has as many cells as its length says.
    unsafe { std::slice::from_raw_parts((*list).elements, (*list).length as usize) }
}

/// A new list of nodes, NULL of none.
pub fn of(nodes: &[*mut Node]) -> *mut pg_sys::List {
    nodes.iter().fold(std::ptr::null_mut(), |list, node| {
        // SAFETY: appends to NULL, or to the list that was made the step before.
        unsafe { pg_sys::lappend(list, node.cast()) }
    })
}
