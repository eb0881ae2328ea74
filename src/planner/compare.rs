//! `bloom_sim(a, b) > c` to `bloom_sim_above(a, b, c)`, and likewise for `>=`, for `bloom_dice`, and
//! with the number on the left. A comparison of any other score becomes one of `float8`, so that
//! ordinary indexes on scores are used; also of a similarity within one table, which no index on
//! signatures can answer.

use std::ffi::CStr;

use pgrx::{pg_extern, pg_sys, Internal};

use super::catalog::{function, type_named};
use super::node::{answer, call, cast, fold, nodes, operation, request, Node};

/// Operators of `float8` (pg_operator.dat).
const FLOAT8_LT: pg_sys::Oid = oid(672);
const FLOAT8_LE: pg_sys::Oid = oid(673);
const FLOAT8_GT: pg_sys::Oid = oid(674);
const FLOAT8_GE: pg_sys::Oid = oid(675);

const fn oid(number: u32) -> pg_sys::Oid {
    pg_sys::Oid::from_u32(number)
}

/// Measure, and what `>` and `>=` on it become.
const REWRITTEN: [(&CStr, &CStr, &CStr); 2] = [
    (c"bloom_sim", c"bloom_sim_above", c"bloom_sim_at_least"),
    (c"bloom_dice", c"bloom_dice_above", c"bloom_dice_at_least"),
];

/// A comparison with the score on the left.
#[derive(Clone, Copy)]
struct Comparison {
    /// `>`, or else `>=`
    strict: bool,
    /// The number stood on the left.
    flipped: bool,
}

#[pg_extern(sql = false)]
fn score_gt_support(asked: Internal) -> Internal {
    simplify(asked, true, false)
}

#[pg_extern(sql = false)]
fn score_ge_support(asked: Internal) -> Internal {
    simplify(asked, false, false)
}

#[pg_extern(sql = false)]
fn score_lt_support(asked: Internal) -> Internal {
    simplify(asked, true, true)
}

#[pg_extern(sql = false)]
fn score_le_support(asked: Internal) -> Internal {
    simplify(asked, false, true)
}

fn simplify(asked: Internal, strict: bool, flipped: bool) -> Internal {
    // SAFETY: called by the planner as a support function, on a call of one of our comparisons,
    // which have two arguments.
    unsafe {
        let node = asked
            .unwrap()
            .map_or(std::ptr::null_mut(), |d| d.cast_mut_ptr());
        let Some(asked) = request::<pg_sys::SupportRequestSimplify>(
            node,
            pg_sys::NodeTag::T_SupportRequestSimplify,
        ) else {
            return answer(None);
        };
        let call = &*asked.fcall;
        let args = nodes(call.args);
        let (score, number) = if flipped {
            (args[1], args[0])
        } else {
            (args[0], args[1])
        };
        let comparison = Comparison { strict, flipped };
        answer(rewrite(asked.root, call.funcid, score, number, comparison))
    }
}

/// SAFETY: `score` and `number` are the arguments of our comparison `near`.
unsafe fn rewrite(
    root: *mut pg_sys::PlannerInfo,
    near: pg_sys::Oid,
    score: *mut Node,
    number: *mut Node,
    comparison: Comparison,
) -> Option<*mut Node> {
    // SAFETY: as promised by the caller; every new node gets arguments of its types.
    unsafe {
        let number = fold(root, float8(number)?);
        if let Some((name, signatures)) = measure(near, score).filter(|m| apart(root, &m.1)) {
            let (_, above, at_least) = REWRITTEN.iter().find(|(measure, ..)| *measure == name)?;
            let name = if comparison.strict { above } else { at_least };
            let bloom = type_named(near, c"bloom")?;
            let rewritten = function(near, name, &[bloom, bloom, pg_sys::FLOAT8OID])?;
            let args = [signatures[0], signatures[1], number];
            return Some(fold(root, call(rewritten, pg_sys::BOOLOID, &args)));
        }
        // a score on both sides: the other one may be the measured
        let (plain, left, right) = match (comparison.flipped, comparison.strict) {
            (false, true) => (FLOAT8_GT, float8(score)?, number),
            (false, false) => (FLOAT8_GE, float8(score)?, number),
            (true, true) => (FLOAT8_LT, number, float8(score)?),
            (true, false) => (FLOAT8_LE, number, float8(score)?),
        };
        Some(fold(root, operation(plain, left, right)))
    }
}

/// The name and the arguments of `node`, if it is a call of a measure of ours.
///
/// SAFETY: `node` is an expression.
unsafe fn measure(near: pg_sys::Oid, node: *mut Node) -> Option<(&'static CStr, Vec<*mut Node>)> {
    // SAFETY: as promised by the caller.
    unsafe {
        let found = cast::<pg_sys::FuncExpr>(node, pg_sys::NodeTag::T_FuncExpr)?;
        let bloom = type_named(near, c"bloom")?;
        let (name, ..) = REWRITTEN
            .iter()
            .find(|(name, ..)| function(near, name, &[bloom, bloom]) == Some(found.funcid))?;
        Some((name, nodes(found.args)))
    }
}

/// Whether no table is on both sides, so that an index on one of them can be asked for the other.
///
/// SAFETY: `root` is the planner's, or NULL outside of it; the sides are expressions.
unsafe fn apart(root: *mut pg_sys::PlannerInfo, sides: &[*mut Node]) -> bool {
    // SAFETY: as promised by the caller.
    unsafe {
        let tables = |node| pg_sys::pull_varnos(root, node);
        !pg_sys::bms_overlap(tables(sides[0]), tables(sides[1]))
    }
}

/// The number as `float8`, by the cast that an ordinary comparison would use.
///
/// SAFETY: `node` is an expression.
unsafe fn float8(node: *mut Node) -> Option<*mut Node> {
    // SAFETY: as promised by the caller; a domain is relabelled to its base type.
    unsafe {
        let given = pg_sys::exprType(node);
        let cast = match pg_sys::getBaseType(given) {
            pg_sys::FLOAT8OID if given == pg_sys::FLOAT8OID => return Some(node),
            pg_sys::FLOAT8OID => {
                return Some(
                    pg_sys::makeRelabelType(
                        node.cast(),
                        pg_sys::FLOAT8OID,
                        -1,
                        pg_sys::InvalidOid,
                        pg_sys::CoercionForm::COERCE_IMPLICIT_CAST,
                    )
                    .cast(),
                )
            }
            pg_sys::FLOAT4OID => pg_sys::F_FLOAT8_FLOAT4,
            pg_sys::NUMERICOID => pg_sys::F_FLOAT8_NUMERIC,
            pg_sys::INT2OID => pg_sys::F_FLOAT8_INT2,
            pg_sys::INT4OID => pg_sys::F_FLOAT8_INT4,
            pg_sys::INT8OID => pg_sys::F_FLOAT8_INT8,
            _ => return None,
        };
        Some(call(oid(cast), pg_sys::FLOAT8OID, &[node]))
    }
}
