//! Small steps over the planner's nodes.

use crate::pg::ffi;
use pgrx::{pg_sys, Internal};

pub type Node = pg_sys::Node;

/// A support function's answer: a node, or none.
pub fn answer(node: Option<*mut Node>) -> Internal {
    Internal::from(Some(
        node.map_or(pg_sys::Datum::null(), pg_sys::Datum::from),
    ))
}

/// The request, if it is of kind `tag`.
///
/// SAFETY: `node` is what the planner passes to a support function, `T` the node of that tag.
pub unsafe fn request<'a, T>(node: *mut Node, tag: pg_sys::NodeTag) -> Option<&'a mut T> {
    // SAFETY: as promised by the caller.
    unsafe { (!node.is_null() && (*node).type_ == tag).then(|| &mut *node.cast::<T>()) }
}

/// The node as a `T`, if it is of kind `tag`.
///
/// SAFETY: `node` is a node, `T` the struct of that tag.
pub unsafe fn cast<'a, T>(node: *mut Node, tag: pg_sys::NodeTag) -> Option<&'a T> {
    // SAFETY: as promised by the caller.
    unsafe { (!node.is_null() && (*node).type_ == tag).then(|| &*node.cast::<T>()) }
}

/// SAFETY: `list` is a list of nodes, or NULL.
pub unsafe fn nodes(list: *mut pg_sys::List) -> Vec<*mut Node> {
    if list.is_null() {
        return Vec::new();
    }
    // SAFETY: as promised by the caller; the cells of a node list are pointers.
    unsafe {
        let cells = std::slice::from_raw_parts((*list).elements, (*list).length as usize);
        cells.iter().map(|cell| cell.ptr_value.cast()).collect()
    }
}

pub fn list(nodes: &[*mut Node]) -> *mut pg_sys::List {
    nodes.iter().fold(std::ptr::null_mut(), |list, node| {
        // SAFETY: appends to a list that is NULL or of this making.
        unsafe { pg_sys::lappend(list, node.cast()) }
    })
}

/// `function(args)`
///
/// SAFETY: `args` are expressions of the function's argument types.
pub unsafe fn call(function: pg_sys::Oid, result: pg_sys::Oid, args: &[*mut Node]) -> *mut Node {
    // SAFETY: as promised by the caller.
    unsafe {
        pg_sys::makeFuncExpr(
            function,
            result,
            list(args),
            pg_sys::InvalidOid,
            pg_sys::InvalidOid,
            pg_sys::CoercionForm::COERCE_EXPLICIT_CALL,
        )
        .cast()
    }
}

/// `left operator right`, a boolean.
///
/// SAFETY: both sides are of the operator's types.
pub unsafe fn operation(operator: pg_sys::Oid, left: *mut Node, right: *mut Node) -> *mut Node {
    // SAFETY: as promised by the caller.
    unsafe {
        pg_sys::make_opclause(
            operator,
            pg_sys::BOOLOID,
            false,
            left.cast(),
            right.cast(),
            pg_sys::InvalidOid,
            pg_sys::InvalidOid,
        )
        .cast()
    }
}

/// Constants folded, as far as there are any.
///
/// SAFETY: `root` is the planner's, or NULL; `node` an expression.
pub unsafe fn fold(root: *mut pg_sys::PlannerInfo, node: *mut Node) -> *mut Node {
    // SAFETY: as promised by the caller.
    unsafe { ffi::eval_const_expressions(root, node) }
}

/// SAFETY: `list` is a list of OIDs, or NULL.
pub unsafe fn oids(list: *mut pg_sys::List) -> Vec<pg_sys::Oid> {
    if list.is_null() {
        return Vec::new();
    }
    // SAFETY: as promised by the caller.
    unsafe {
        let cells = std::slice::from_raw_parts((*list).elements, (*list).length as usize);
        cells.iter().map(|cell| cell.oid_value).collect()
    }
}
