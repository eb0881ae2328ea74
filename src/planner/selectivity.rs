//! How many rows a comparison with a threshold will leave: `%` and the functions that comparisons of
//! a similarity are rewritten to.

use std::collections::HashSet;

use bloom_ident_core::filter::{QueryView, View};
use bloom_ident_core::selectivity::{expected, matching};
use bloom_ident_core::similarity::Popcounts;
use pgrx::pg_sys;

use super::sample::KIND;
use crate::objects::{is_query, is_signature};
use crate::pg::list::nodes;
use crate::pg::node::{cast, Node};
use crate::pg::values::varlena::Varlena;
use crate::pg::{boundary, entry, ffi};
use crate::settings;
use crate::types::Bloom;

/// Where no statistics tell.
const UNKNOWN: f64 = 0.001;

/// What a parameter is taken for.
const USUAL_THRESHOLD: f64 = 0.8;

/// Signatures of one side that are asked of the other in a join, or in place of a parameter.
const ASKED: usize = 50;

/// What the rows of a column are compared with.
pub struct Question {
    pub root: *mut pg_sys::PlannerInfo,
    pub left: *mut Node,
    pub right: *mut Node,
    pub var_relid: i32,
    /// `None` where it is part of the query or not known yet.
    pub threshold: Option<f64>,
    /// The function that is going to see the values.
    pub function: pg_sys::Oid,
    /// Of a semi or anti join, which asks for rows of one side that have any match.
    pub semi: Option<*mut pg_sys::SpecialJoinInfo>,
}

/// What a join asks for besides pairs.
pub fn semi(
    kind: pg_sys::JoinType::Type,
    join: *mut pg_sys::SpecialJoinInfo,
) -> Option<*mut pg_sys::SpecialJoinInfo> {
    use pg_sys::JoinType::{JOIN_ANTI, JOIN_SEMI};
    (matches!(kind, JOIN_SEMI | JOIN_ANTI) && !join.is_null()).then_some(join)
}

/// A column with its statistics, released when dropped.
struct SampledColumn {
    data: pg_sys::VariableStatData,
    /// The sample of signatures.
    slot: pg_sys::AttStatsSlot,
    /// The most common values, if there are any.
    common: pg_sys::AttStatsSlot,
}

impl SampledColumn {
    /// # Safety
    /// `node` is an expression of the planner's.
    unsafe fn examine(question: &Question, node: *mut Node) -> Option<SampledColumn> {
        let mut column = SampledColumn {
            data: pg_sys::VariableStatData::default(),
            slot: pg_sys::AttStatsSlot::default(),
            common: pg_sys::AttStatsSlot::default(),
        };
        // SAFETY: the node is an expression of the query that the planner plans; what examine_variable finds is released on drop.
        unsafe {
            ffi::examine_variable(question.root, node, question.var_relid, &mut column.data);
            let there = !column.data.rel.is_null()
                && !column.data.statsTuple.is_null()
                && pg_sys::statistic_proc_security_check(&mut column.data, question.function)
                && pg_sys::get_attstatsslot(
                    &mut column.slot,
                    column.data.statsTuple,
                    KIND,
                    pg_sys::InvalidOid,
                    pg_sys::ATTSTATSSLOT_VALUES as i32,
                )
                // the kind's number may be used by others, too
                && is_signature(column.slot.valuetype);
            if !there {
                return None;
            }
            pg_sys::get_attstatsslot(
                &mut column.common,
                column.data.statsTuple,
                pg_sys::STATISTIC_KIND_MCV as i32,
                pg_sys::InvalidOid,
                (pg_sys::ATTSTATSSLOT_VALUES | pg_sys::ATTSTATSSLOT_NUMBERS) as i32,
            );
            Some(column)
        }
    }

    fn signatures(&self) -> Vec<Bloom<'_>> {
        signatures(&self.slot)
    }

    /// Rows of the table.
    fn row_count(&self) -> f64 {
        // SAFETY: checked not to be NULL.
        unsafe { (*self.data.rel).tuples.max(0.0) }
    }

    /// Share of rows that are not NULL.
    fn present(&self) -> f64 {
        // SAFETY: the tuple is one of pg_statistic.
        unsafe {
            let tuple = (*self.data.statsTuple).t_data;
            let row = tuple.cast::<u8>().add(usize::from((*tuple).t_hoff));
            1.0 - f64::from((*row.cast::<pg_sys::FormData_pg_statistic>()).stanullfrac)
        }
    }

    /// The statistics taken apart: the shares of the most common values are known, and the sample
    /// stands for the others, so those among it that are common are left out.
    fn known(&self) -> Known<'_> {
        let common = signatures(&self.common);
        let shares = if common.is_empty() {
            &[]
        } else {
            // SAFETY: asked for with the values.
            unsafe {
                std::slice::from_raw_parts(self.common.numbers, self.common.nnumbers as usize)
            }
        };
        let bytes: HashSet<Vec<u8>> = common.iter().map(|c| c.view().bytes().to_vec()).collect();
        let mut others = self.signatures();
        others.retain(|s| !bytes.contains(s.view().bytes()));
        let common: Vec<(Bloom<'_>, f64)> = common
            .into_iter()
            .zip(shares.iter().map(|&share| f64::from(share)))
            .collect();
        let counted: f64 = common.iter().map(|c| c.1).sum();
        Known {
            common,
            others,
            share: (self.present() - counted).max(0.0),
            rows: self.row_count(),
        }
    }
}

fn signatures(slot: &pg_sys::AttStatsSlot) -> Vec<Bloom<'_>> {
    // SAFETY: the slot's values are those of a bloom column.
    unsafe {
        (0..slot.nvalues as usize)
            .map(|i| Bloom::from_raw(*slot.values.add(i)))
            .collect()
    }
}

/// What the statistics say of a column.
struct Known<'a> {
    common: Vec<(Bloom<'a>, f64)>,
    others: Vec<Bloom<'a>>,
    /// Share of the others in all rows.
    share: f64,
    /// All rows.
    rows: f64,
}

impl Known<'_> {
    /// Another shape is similar to none.
    fn similarity(signature: &Bloom<'_>, query: &View<'_>) -> f64 {
        Popcounts::of(&signature.view(), query).map_or(0.0, Popcounts::jaccard)
    }

    fn share_of_common(&self, query: &View<'_>, threshold: f64) -> f64 {
        self.common
            .iter()
            .filter(|c| Self::similarity(&c.0, query) >= threshold)
            .map(|c| c.1)
            .sum()
    }

    fn of_others(&self, query: &View<'_>) -> Vec<f64> {
        let others = self.others.iter();
        others.map(|s| Self::similarity(s, query)).collect()
    }

    /// Share of the rows that are similar to `query`.
    fn share(&self, query: &View<'_>, threshold: f64) -> f64 {
        let others = matching(
            &mut self.of_others(query),
            threshold,
            self.rows * self.share,
        );
        self.share_of_common(query, threshold) + others * self.share
    }

    /// Rows that are similar to `query`, which need not be one of them.
    fn expected(&self, query: &View<'_>, threshold: f64) -> f64 {
        let others = self.rows * self.share;
        self.rows * self.share_of_common(query, threshold)
            + expected(&mut self.of_others(query), threshold, others)
    }
}

/// The mean over a few of the signatures.
fn mean(of: &[Bloom<'_>], what: impl Fn(&View<'_>) -> f64) -> f64 {
    let step = (of.len() / ASKED).max(1);
    let asked = of.iter().step_by(step);
    let n = asked.clone().count().max(1);
    asked.map(|query| what(&query.view())).sum::<f64>() / n as f64
}

impl Drop for SampledColumn {
    fn drop(&mut self) {
        // SAFETY: as ReleaseVariableStats and its callers do it.
        unsafe {
            pg_sys::free_attstatsslot(&mut self.slot);
            pg_sys::free_attstatsslot(&mut self.common);
            if let (false, Some(free)) = (self.data.statsTuple.is_null(), self.data.freefunc) {
                let tuple = self.data.statsTuple;
                boundary::call(|| free(tuple));
            }
        }
    }
}

/// Share of rows, or of pairs of rows, that match.
///
/// # Safety
/// The question's nodes are the two sides of a comparison of ours.
pub unsafe fn estimate(question: &Question) -> f64 {
    // SAFETY: the nodes are both sides of a comparison of ours.
    unsafe {
        let constant = |node| {
            let node = ffi::estimate_expression_value(question.root, node);
            cast::<pg_sys::Const>(node, pg_sys::NodeTag::T_Const)
        };
        let (left, right) = (constant(question.left), constant(question.right));
        let column = |node| SampledColumn::examine(question, node);
        let usual = question.threshold.unwrap_or(USUAL_THRESHOLD);
        let share = match (left, right) {
            (Some(query), _) | (_, Some(query)) => {
                if query.constisnull {
                    return 0.0;
                }
                let node = if left.is_some() {
                    question.right
                } else {
                    question.left
                };
                let Some(column) = column(node) else {
                    return UNKNOWN;
                };
                // anybody can make an operator of other types with these estimators
                let (of_query, of_signature) =
                    (is_query(query.consttype), is_signature(query.consttype));
                if !of_query && !of_signature {
                    return UNKNOWN;
                }
                let value = Varlena::of(query.constvalue);
                let (signature, threshold) = match QueryView::stored(value.bytes()) {
                    Some(query) if of_query => (Some(query.signature), query.threshold),
                    _ => (View::stored(value.bytes()), usual),
                };
                let Some(signature) = signature else {
                    return UNKNOWN;
                };
                let known = column.known();
                known.share(&signature, threshold)
            }
            _ => match having_match(question, usual) {
                Some(share) => share,
                None => match (column(question.left), column(question.right)) {
                    (Some(a), Some(b)) => mean_share(&a, &b, usual) * b.present(),
                    (Some(a), None) | (None, Some(a)) => mean_share(&a, &a, usual),
                    (None, None) => UNKNOWN,
                },
            },
        };
        share.clamp(0.0, 1.0)
    }
}

/// Share of the column's rows that are similar to a value of `other`.
fn mean_share(column: &SampledColumn, other: &SampledColumn, threshold: f64) -> f64 {
    let known = column.known();
    mean(&other.signatures(), |query| known.share(query, threshold))
}

/// In a semi or anti join the share of the outer rows that have a match among the inner.
///
/// # Safety
/// As for [`estimate`].
unsafe fn having_match(question: &Question, threshold: f64) -> Option<f64> {
    // SAFETY: the nodes are both sides of a comparison of ours, and a join that is not NULL is one of the planner.
    unsafe {
        let join = &*question.semi?;
        let within = |node| {
            let tables = pg_sys::pull_varnos(question.root, node);
            pg_sys::bms_membership(tables) != pg_sys::BMS_Membership::BMS_EMPTY_SET
                && pg_sys::bms_is_subset(tables, join.syn_righthand)
        };
        let (outer, inner) = match (within(question.left), within(question.right)) {
            (false, true) => (question.left, question.right),
            (true, false) => (question.right, question.left),
            _ => return None,
        };
        let rows = inner_rows(question.root, join.min_righthand)?;
        let (outer, inner) = (
            SampledColumn::examine(question, outer),
            SampledColumn::examine(question, inner),
        );
        let Some(searched) = inner.as_ref().or(outer.as_ref()) else {
            return Some((UNKNOWN * rows).min(1.0));
        };
        let known = searched.known();
        // of the inner table's rows, those that its own conditions leave
        let left = rows / known.rows.max(1.0);
        let asked = outer.as_ref().unwrap_or(searched);
        let share = mean(&asked.signatures(), |query| {
            (known.expected(query, threshold) * left).min(1.0)
        });
        Some(share * asked.present())
    }
}

/// # Safety
/// `tables` are the planner's.
unsafe fn inner_rows(root: *mut pg_sys::PlannerInfo, tables: pg_sys::Relids) -> Option<f64> {
    // SAFETY: the tables are a set of the planner.
    unsafe {
        let relation = match pg_sys::bms_membership(tables) {
            pg_sys::BMS_Membership::BMS_SINGLETON => {
                pg_sys::find_base_rel(root, pg_sys::bms_singleton_member(tables))
            }
            pg_sys::BMS_Membership::BMS_MULTIPLE => pg_sys::find_join_rel(root, tables),
            _ => return None,
        };
        relation.as_ref().map(|relation| relation.rows)
    }
}

/// `(internal, oid, internal, integer) float8`: restriction estimator of `%`.
#[entry]
fn bloom_match_sel(fcinfo: pg_sys::FunctionCallInfo) -> f64 {
    // SAFETY: declared as restriction estimator.
    unsafe {
        let args = (*fcinfo).args.as_slice(4);
        operator(
            args[0].value,
            args[1].value,
            args[2].value,
            args[3].value.value() as i32,
            None,
        )
    }
}

/// `(internal, oid, internal, smallint, internal) float8`: join estimator of `%`.
#[entry]
fn bloom_match_joinsel(fcinfo: pg_sys::FunctionCallInfo) -> f64 {
    // SAFETY: declared as join estimator.
    unsafe {
        let args = (*fcinfo).args.as_slice(5);
        let kind = args[3].value.value() as pg_sys::JoinType::Type;
        let semi = semi(kind, args[4].value.cast_mut_ptr());
        operator(args[0].value, args[1].value, args[2].value, 0, semi)
    }
}

/// # Safety
/// The first three arguments of an estimator.
unsafe fn operator(
    root: pg_sys::Datum,
    operator: pg_sys::Datum,
    args: pg_sys::Datum,
    var_relid: i32,
    semi: Option<*mut pg_sys::SpecialJoinInfo>,
) -> f64 {
    // SAFETY: the arguments are those of an estimator: the planner's state, an operator and its two sides.
    unsafe {
        let sides = nodes(args.cast_mut_ptr());
        let [left, right] = sides[..] else {
            return UNKNOWN;
        };
        let same = pg_sys::exprType(left) == pg_sys::exprType(right);
        estimate(&Question {
            root: root.cast_mut_ptr(),
            left,
            right,
            var_relid,
            // between two signatures the setting governs
            threshold: same.then(settings::threshold),
            function: pg_sys::get_opcode(pg_sys::Oid::from_u32(operator.value() as u32)),
            semi,
        })
    }
}
