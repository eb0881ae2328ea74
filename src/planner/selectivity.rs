//! How many rows a comparison with a threshold will leave: `%` and the functions that comparisons of
//! a similarity are rewritten to.

use bloom_ident_core::filter::{QueryView, View};
use bloom_ident_core::selectivity::matching;
use bloom_ident_core::similarity::Counts;
use pgrx::{pg_extern, pg_sys};

use super::node::{cast, nodes, Node};
use super::sample::KIND;
use crate::settings;
use crate::types::{Bloom, Varlena};

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
}

/// A column with a sample of its signatures, released when dropped.
struct Column {
    data: pg_sys::VariableStatData,
    slot: pg_sys::AttStatsSlot,
}

impl Column {
    /// SAFETY: `node` is an expression of the planner's.
    unsafe fn examine(question: &Question, node: *mut Node) -> Option<Column> {
        let mut column = Column {
            data: pg_sys::VariableStatData::default(),
            slot: pg_sys::AttStatsSlot::default(),
        };
        // SAFETY: as promised by the caller; what examine_variable finds is released on drop.
        unsafe {
            pg_sys::examine_variable(question.root, node, question.var_relid, &mut column.data);
            let there = !column.data.rel.is_null()
                && !column.data.statsTuple.is_null()
                && pg_sys::statistic_proc_security_check(&mut column.data, question.function)
                && pg_sys::get_attstatsslot(
                    &mut column.slot,
                    column.data.statsTuple,
                    KIND,
                    pg_sys::InvalidOid,
                    pg_sys::ATTSTATSSLOT_VALUES as i32,
                );
            there.then_some(column)
        }
    }

    fn signatures(&self) -> Vec<Bloom<'_>> {
        // SAFETY: the slot's values are those of a bloom column.
        unsafe {
            (0..self.slot.nvalues as usize)
                .map(|i| Bloom::from_raw(*self.slot.values.add(i)))
                .collect()
        }
    }

    /// Rows of the table.
    fn row_count(&self) -> f64 {
        // SAFETY: checked not to be NULL.
        unsafe { (*self.data.rel).tuples }
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

    /// Share of the column's rows that are similar to `query`; another shape is similar to none.
    fn share(&self, sample: &[Bloom<'_>], query: &View<'_>, threshold: f64) -> f64 {
        let mut similarities: Vec<f64> = sample
            .iter()
            .map(|s| Counts::of(&s.view(), query).map_or(0.0, Counts::jaccard))
            .collect();
        matching(&mut similarities, threshold, self.row_count()) * self.present()
    }

    /// The mean over signatures of `other`.
    fn mean_share(&self, other: &[Bloom<'_>], threshold: f64) -> f64 {
        let sample = self.signatures();
        let step = (other.len() / ASKED).max(1);
        let asked: Vec<_> = other.iter().step_by(step).collect();
        let sum: f64 = asked
            .iter()
            .map(|query| self.share(&sample, &query.view(), threshold))
            .sum();
        sum / asked.len().max(1) as f64
    }
}

impl Drop for Column {
    fn drop(&mut self) {
        // SAFETY: as ReleaseVariableStats and its callers do it.
        unsafe {
            pg_sys::free_attstatsslot(&mut self.slot);
            if let (false, Some(free)) = (self.data.statsTuple.is_null(), self.data.freefunc) {
                let tuple = self.data.statsTuple;
                pg_sys::ffi::pg_guard_ffi_boundary(|| free(tuple));
            }
        }
    }
}

/// Share of rows, or of pairs of rows, that match.
///
/// SAFETY: the question's nodes are the two sides of a comparison of ours.
pub unsafe fn estimate(question: &Question) -> f64 {
    // SAFETY: as promised by the caller.
    unsafe {
        let constant = |node| {
            let node = pg_sys::estimate_expression_value(question.root, node);
            cast::<pg_sys::Const>(node, pg_sys::NodeTag::T_Const)
        };
        let (left, right) = (constant(question.left), constant(question.right));
        let column = |node| Column::examine(question, node);
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
                // a signature or a query: their lengths tell, whatever domain is between
                let value = Varlena::of(query.constvalue);
                let (signature, threshold) = match QueryView::stored(value.bytes()) {
                    Some(query) => (Some(query.signature), query.threshold),
                    None => (View::stored(value.bytes()), usual),
                };
                let Some(signature) = signature else {
                    return UNKNOWN;
                };
                let sample = column.signatures();
                column.share(&sample, &signature, threshold)
            }
            _ => match (column(question.left), column(question.right)) {
                (Some(a), Some(b)) => a.mean_share(&b.signatures(), usual) * b.present(),
                (Some(a), None) | (None, Some(a)) => a.mean_share(&a.signatures(), usual),
                (None, None) => UNKNOWN,
            },
        };
        share.clamp(0.0, 1.0)
    }
}

/// `(internal, oid, internal, integer) float8`: restriction estimator of `%`.
#[pg_extern(sql = false)]
fn bloom_match_sel(fcinfo: pg_sys::FunctionCallInfo) -> f64 {
    // SAFETY: declared as restriction estimator.
    unsafe {
        let args = (*fcinfo).args.as_slice(4);
        operator(
            args[0].value,
            args[1].value,
            args[2].value,
            args[3].value.value() as i32,
        )
    }
}

/// `(internal, oid, internal, smallint, internal) float8`: join estimator of `%`.
#[pg_extern(sql = false)]
fn bloom_match_joinsel(fcinfo: pg_sys::FunctionCallInfo) -> f64 {
    // SAFETY: declared as join estimator.
    unsafe {
        let args = (*fcinfo).args.as_slice(5);
        operator(args[0].value, args[1].value, args[2].value, 0)
    }
}

/// SAFETY: the first three arguments of an estimator.
unsafe fn operator(
    root: pg_sys::Datum,
    operator: pg_sys::Datum,
    args: pg_sys::Datum,
    var_relid: i32,
) -> f64 {
    // SAFETY: as promised by the caller.
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
        })
    }
}
