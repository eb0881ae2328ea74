//! Nodes of the parser and the planner.

use crate::ffi;
use crate::tree::list;
use pgrx::{pg_sys, Internal};

/// Any node: it begins with the tag that says which it is.
pub type Node = pg_sys::Node;

/// A support function's answer: a node, or none.
pub fn answer(node: Option<*mut Node>) -> Internal {
    Internal::from(Some(
        node.map_or(pg_sys::Datum::null(), pg_sys::Datum::from),
    ))
}

/// The request, if it is of kind `tag`.
///
/// # Safety
/// `node` is what the planner passes to a support function, `T` the node of that tag.
pub unsafe fn request<'a, T>(node: *mut Node, tag: pg_sys::NodeTag) -> Option<&'a mut T> {
    // SAFETY: a node with this tag is a `T`.
    unsafe { (!node.is_null() && (*node).type_ == tag).then(|| &mut *node.cast::<T>()) }
}

/// The node as a `T`, if it is of kind `tag`.
///
/// # Safety
/// `node` is a node, `T` the struct of that tag.
pub unsafe fn cast<'a, T>(node: *mut Node, tag: pg_sys::NodeTag) -> Option<&'a T> {
    // SAFETY: a node with this tag is a `T`.
    unsafe { (!node.is_null() && (*node).type_ == tag).then(|| &*node.cast::<T>()) }
}

/// `function(args)`
///
/// # Safety
/// `args` are expressions of the function's argument types.
pub unsafe fn call(function: pg_sys::Oid, result: pg_sys::Oid, args: &[*mut Node]) -> *mut Node {
    // SAFETY: the arguments are those that the function takes.
    unsafe {
        pg_sys::makeFuncExpr(
            function,
            result,
            list::of(args),
            pg_sys::InvalidOid,
            pg_sys::InvalidOid,
            pg_sys::CoercionForm::COERCE_EXPLICIT_CALL,
        )
        .cast()
    }
}

/// `left operator right`, a boolean.
///
/// # Safety
/// Both sides are of the operator's types.
pub unsafe fn operation(operator: pg_sys::Oid, left: *mut Node, right: *mut Node) -> *mut Node {
    // SAFETY: both sides are those that the operator takes.
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

/// The expression with its constants folded.
///
/// # Safety
/// `root` is the planner's, or NULL; `node` an expression.
pub unsafe fn fold(root: *mut pg_sys::PlannerInfo, node: *mut Node) -> *mut Node {
    // SAFETY: the expression is one of the planner, or of nobody if `root` is NULL.
    unsafe { ffi::eval_const_expressions(root, node) }
}

/// The expression without the relabelling that makes it one of another type of the same bytes, as of a domain.
///
/// # Safety
/// `node` is an expression, or NULL.
pub unsafe fn bare(mut node: *mut Node) -> *mut Node {
    // SAFETY: a node with the tag of a RelabelType is one, and its argument is an expression.
    unsafe {
        while let Some(relabelled) =
            cast::<pg_sys::RelabelType>(node, pg_sys::NodeTag::T_RelabelType)
        {
            node = relabelled.arg.cast();
        }
    }
    node
}
