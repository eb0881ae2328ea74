//! `bloom_sim_above(a, b, c)` as an index condition `a % bloom_query`.

use std::ffi::CStr;

use pgrx::{pg_extern, pg_sys, Internal};

use super::catalog::{function, type_named};
use super::node::{answer, call, cast, fold, list, nodes, operation, request, Node};

/// Strategy of `bloom % bloom_query` in the classes for `bloom`.
const MATCHES: i16 = 2;

#[pg_extern(sql = false)]
fn bloom_sim_above_support(asked: Internal) -> Internal {
    support(asked, c"bloom_query_above", false)
}

#[pg_extern(sql = false)]
fn bloom_sim_at_least_support(asked: Internal) -> Internal {
    support(asked, c"bloom_query_at_least", false)
}

/// Rows that the index gives for Dice are checked again: its threshold has no exact counterpart.
#[pg_extern(sql = false)]
fn bloom_dice_support(asked: Internal) -> Internal {
    support(asked, c"bloom_query_of_dice", true)
}

fn support(asked: Internal, constructor: &CStr, lossy: bool) -> Internal {
    // SAFETY: called by the planner as a support function of ours.
    unsafe {
        let Some(asked) = request::<pg_sys::SupportRequestIndexCondition>(
            asked,
            pg_sys::NodeTag::T_SupportRequestIndexCondition,
        ) else {
            return answer(None);
        };
        let condition = condition(asked, constructor);
        if condition.is_some() {
            asked.lossy = lossy;
        }
        answer(condition.map(|node| list(&[node]).cast()))
    }
}

/// Below this similarity a GiST index over signatures alone reads nearly all its pages and is slower
/// than the table: on a million names of 301 bits it reads 36 % of them at 0.9, 71 % at 0.8, 92 % at
/// 0.7. The planner's estimate for GiST does not know that, so the index is not offered.
const GIST_LOSES_BELOW: f64 = 0.8;

/// SAFETY: `threshold` is an expression of type float8.
unsafe fn loses(index: &pg_sys::IndexOptInfo, threshold: *mut Node) -> bool {
    // SAFETY: as promised by the caller.
    let constant = unsafe { cast::<pg_sys::Const>(threshold, pg_sys::NodeTag::T_Const) };
    let low = constant.is_some_and(|c| {
        !c.constisnull && f64::from_bits(c.constvalue.value() as u64) < GIST_LOSES_BELOW
    });
    low && index.nkeycolumns == 1 && index.relam == pg_sys::GIST_AM_OID
}

/// SAFETY: `asked` is the planner's request.
unsafe fn condition(
    asked: &pg_sys::SupportRequestIndexCondition,
    constructor: &CStr,
) -> Option<*mut Node> {
    // SAFETY: as promised by the caller; the clause is a call of (bloom, bloom, float8), and
    // the column is one of the index.
    unsafe {
        let clause = cast::<pg_sys::FuncExpr>(asked.node, pg_sys::NodeTag::T_FuncExpr)?;
        let args = nodes(clause.args);
        let (column, other) = match asked.indexarg {
            0 => (args[0], args[1]),
            1 => (args[1], args[0]),
            _ => return None,
        };
        let threshold = args[2];
        let constant = |node| pg_sys::is_pseudo_constant_for_index(asked.root, node, asked.index);
        if !constant(other) || !constant(threshold) {
            return None;
        }
        if loses(&*asked.index, threshold) {
            return None;
        }
        let near = asked.funcid;
        let bloom = type_named(near, c"bloom")?;
        let query = type_named(near, c"bloom_query")?;
        let family = *(*asked.index).opfamily.add(asked.indexcol as usize);
        let operator = pg_sys::get_opfamily_member(family, bloom, query, MATCHES);
        if operator == pg_sys::InvalidOid {
            return None;
        }
        let constructor = function(near, constructor, &[bloom, pg_sys::FLOAT8OID])?;
        let asked_for = fold(asked.root, call(constructor, query, &[other, threshold]));
        Some(operation(operator, column, asked_for))
    }
}
