//! `bloom_sim_above(a, b, c)` as an index condition `a % bloom_query`, and how many rows it leaves.

use pgrx::{pg_sys, Internal};
use signature::similarity::jaccard_of_dice;

use super::selectivity::{estimate, semi, Question};
use pg::catalog::privileges::may_execute;
use pg::tree::list::{self, nodes};
use pg::tree::node::{answer, call, cast, fold, operation, request, Node};
use pg::{entry, ffi};
use types::objects::{function, function_in_schema_of, is_bits_match, is_match, Purpose};

/// Strategy of `bloom % bloom_query` in the classes for `bloom`.
const MATCHES: i16 = 2;

#[entry]
fn bloom_sim_above_support(asked: Internal) -> Internal {
    support(asked, &[Purpose::SimAbove], Purpose::QueryAbove)
}

#[entry]
fn bloom_sim_at_least_support(asked: Internal) -> Internal {
    support(asked, &[Purpose::SimAtLeast], Purpose::QueryAtLeast)
}

#[entry]
fn bloom_edit_possible_support(asked: Internal) -> Internal {
    support(asked, &[Purpose::EditPossible], Purpose::QueryEdit)
}

/// Rows that the index gives for Dice are checked again: its threshold has no exact counterpart.
#[entry]
fn bloom_dice_support(asked: Internal) -> Internal {
    let supported = [Purpose::DiceAbove, Purpose::DiceAtLeast];
    support(asked, &supported, Purpose::QueryOfDice)
}

#[entry]
fn minhash_sim_above_support(asked: Internal) -> Internal {
    let supported = [Purpose::BitsSimAbove];
    support(asked, &supported, Purpose::BitsQueryAbove)
}

#[entry]
fn minhash_sim_at_least_support(asked: Internal) -> Internal {
    let supported = [Purpose::BitsSimAtLeast];
    support(asked, &supported, Purpose::BitsQueryAtLeast)
}

/// Whether a query made by this function is one of sketches' bits.
fn of_bits(constructor: Purpose) -> bool {
    matches!(
        constructor,
        Purpose::BitsQueryAbove | Purpose::BitsQueryAtLeast
    )
}

/// `supported` have (bloom, bloom, float8), or the same of minhash_bits, and perhaps arguments that the query takes, too. A
/// function that somebody else has given this support need not have them.
fn support(asked: Internal, supported: &[Purpose], constructor: Purpose) -> Internal {
    let bloom = |of: pg_sys::Oid| {
        let asked = function(of).filter(|f| supported.contains(&f.purpose))?;
        Some(asked.first)
    };
    let lossy = constructor == Purpose::QueryOfDice;
    // SAFETY: called by the planner as a support function; what it supports is ours.
    unsafe {
        let node = asked
            .unwrap()
            .map_or(std::ptr::null_mut(), |d| d.cast_mut_ptr());
        if let Some(asked) = request::<pg_sys::SupportRequestSelectivity>(
            node,
            pg_sys::NodeTag::T_SupportRequestSelectivity,
        ) {
            if bloom(asked.funcid).is_none() {
                return answer(None);
            }
            asked.selectivity = rows(asked, lossy);
            return answer(Some(node));
        }
        let Some(asked) = request::<pg_sys::SupportRequestIndexCondition>(
            node,
            pg_sys::NodeTag::T_SupportRequestIndexCondition,
        ) else {
            return answer(None);
        };
        let Some(bloom) = bloom(asked.funcid) else {
            return answer(None);
        };
        let condition = condition(asked, constructor, bloom);
        if condition.is_some() {
            asked.lossy = lossy;
        }
        answer(condition.map(|node| list::of(&[node]).cast()))
    }
}

/// # Safety
/// `asked` is the planner's request for a call of (bloom, bloom, float8), or of the same of minhash_bits.
unsafe fn rows(asked: &pg_sys::SupportRequestSelectivity, dice: bool) -> f64 {
    // SAFETY: the request is one of the planner, for a call with three arguments.
    unsafe {
        let args = nodes(asked.args);
        let threshold = ffi::estimate_expression_value(asked.root, args[2]);
        let threshold = float8(threshold).map(|t| if dice { jaccard_of_dice(t) } else { t });
        estimate(&Question {
            root: asked.root,
            left: args[0],
            right: args[1],
            var_relid: asked.varRelid,
            threshold,
            function: asked.funcid,
            semi: semi(asked.jointype, asked.sjinfo).filter(|_| asked.is_join),
        })
    }
}

/// The number that an expression is, if it is a constant, and not NULL.
///
/// # Safety
/// `expression` is one of type float8.
unsafe fn float8(expression: *mut Node) -> Option<f64> {
    // SAFETY: an expression begins with its tag.
    let constant = unsafe { cast::<pg_sys::Const>(expression, pg_sys::NodeTag::T_Const) }?;
    let number = f64::from_bits(constant.constvalue.value() as u64);
    (!constant.constisnull).then_some(number)
}

/// Below this similarity a GiST index over signatures alone reads nearly all its pages and is no quicker
/// than the table: on a million names of 301 bits it takes 18 ms at 0.9 (36 % of the pages), 38 at 0.8,
/// 49 at 0.7 (92 %) and 53 at 0.5, the table 57. The planner's estimate for GiST knows nothing of that,
/// so the index is not offered.
const GIST_LOSES_BELOW: f64 = 0.7;

/// The same of sampled bits, of which there is nearly no tree: over 100,000 rows of 192 bits a search reads 21 % of the
/// pages at an estimate of .95, 92 % at .8.
const GIST_OF_BITS_LOSES_BELOW: f64 = 0.95;

/// # Safety
/// `threshold` is an expression of type float8.
unsafe fn loses(index: &pg_sys::IndexOptInfo, threshold: *mut Node, below: f64) -> bool {
    // SAFETY: the caller's.
    let low = unsafe { float8(threshold) }.is_some_and(|threshold| threshold < below);
    low && index.nkeycolumns == 1 && index.relam == pg_sys::GIST_AM_OID
}

/// # Safety
/// `asked` is the planner's request.
unsafe fn condition(
    asked: &pg_sys::SupportRequestIndexCondition,
    constructor: Purpose,
    bloom: pg_sys::Oid,
) -> Option<*mut Node> {
    // SAFETY: the request is one of the planner; the clause is a call of (bloom, bloom, float8, …), and
    // the column is one of the index.
    unsafe {
        let clause = cast::<pg_sys::FuncExpr>(asked.node, pg_sys::NodeTag::T_FuncExpr)?;
        let args = nodes(clause.args);
        let (column, other) = match asked.indexarg {
            0 => (args[0], args[1]),
            // A text is asked for by its signature, which a row is not.
            1 if constructor != Purpose::QueryEdit => (args[1], args[0]),
            _ => return None,
        };
        let (threshold, rest) = (args[2], &args[2..]);
        let constant = |node| pg_sys::is_pseudo_constant_for_index(asked.root, node, asked.index);
        if !constant(other) || !rest.iter().all(|&arg| constant(arg)) {
            return None;
        }
        let bits = of_bits(constructor);
        let below = match bits {
            true => GIST_OF_BITS_LOSES_BELOW,
            false => GIST_LOSES_BELOW,
        };
        if loses(&*asked.index, threshold, below) {
            return None;
        }
        // Who may call the one that is written may not have to call this one.
        let constructor = function_in_schema_of(asked.funcid, constructor, bloom)
            .filter(|&function| may_execute(asked.root, function))?;
        let query = function(constructor)?.result;
        let family = *(*asked.index).opfamily.add(asked.indexcol as usize);
        let operator = pg_sys::get_opfamily_member(family, bloom, query, MATCHES);
        let ours = if bits {
            is_bits_match(operator)
        } else {
            is_match(operator)
        };
        if !ours {
            return None;
        }
        let asked_for = fold(
            asked.root,
            call(constructor, query, &[&[other], rest].concat()),
        );
        Some(operation(operator, column, asked_for))
    }
}
