//! How many rows a comparison with a threshold will leave: `%`, of signatures and of sketches, and the functions that
//! comparisons of a similarity are rewritten to.

use std::rc::Rc;

use pgrx::pg_sys;
use sigfile::selectivity::{Nearest, ENOUGH};
use sigfile::RowBits;
use signature::filter::{QueryView, View};
use signature::sketch::{BitsQueryView, BitsView};

use super::indexes;
use super::statistics::{self, Statistics};
use pg::ffi::hash_extended;
use pg::tree::list::nodes;
use pg::tree::node::{bare, cast, Node};
use pg::values::varlena::Varlena;
use pg::{boundary, entry, ffi};
use types::objects::{is_bits, is_bits_query, is_query, is_signature};
use types::settings;

/// Where no statistics tell.
pub const UNKNOWN: f64 = 0.001;

/// What a parameter is taken for.
const USUAL_THRESHOLD: f64 = 0.8;

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

/// A column with its statistics.
pub struct SampledColumn {
    statistics: Rc<Statistics>,
    /// The table that it is of.
    table: *mut pg_sys::RelOptInfo,
    /// The column, or an expression that an index is on.
    expression: *mut Node,
}

impl SampledColumn {
    /// `None` if there are no statistics of it, or the user may not know them.
    ///
    /// # Safety
    /// `node` is an expression of the planner's.
    unsafe fn examine(question: &Question, node: *mut Node) -> Option<SampledColumn> {
        let mut data = pg_sys::VariableStatData::default();
        // SAFETY: the node is an expression of the query that the planner plans; the row that examine_variable finds is
        // released as ReleaseVariableStats and its callers do it.
        unsafe {
            ffi::examine_variable(question.root, node, question.var_relid, &mut data);
            let row = data.statsTuple;
            if row.is_null() {
                return None;
            }
            let may = !data.rel.is_null()
                && pg_sys::statistic_proc_security_check(&mut data, question.function);
            let statistics = if may { statistics::read(row) } else { None };
            if let Some(free) = data.freefunc {
                boundary::call(|| free(row));
            }
            Some(SampledColumn {
                statistics: statistics?,
                table: data.rel,
                expression: bare(data.var),
            })
        }
    }

    /// Rows of the table.
    fn row_count(&self) -> f64 {
        // SAFETY: checked not to be NULL.
        unsafe { (*self.table).tuples.max(0.0) }
    }

    /// Rows that have no common value.
    fn row_count_of_others(&self) -> f64 {
        self.row_count() * self.statistics.share_of_others
    }

    fn share_of_common(&self, query: &RowBits<'_>, threshold: f64) -> f64 {
        let mut share = 0.0;
        let common = self.statistics.common();
        common.reaching(query, threshold, |i| {
            share += self.statistics.share_of_common(i);
        });
        share
    }

    /// An estimate that is kept as long as there are so many rows. It depends on these numbers.
    fn remembered(
        &self,
        what: &'static str,
        asked: u64,
        numbers: [f64; 2],
        make: impl FnOnce() -> f64,
    ) -> f64 {
        let [first, second] = numbers;
        let numbers = [first, second, self.row_count()].map(f64::to_bits);
        let estimate = (what, self.statistics.number, asked, numbers);
        statistics::remembered(estimate, make)
    }

    /// Share of the rows that are similar to `query`.
    fn share(&self, query: &RowBits<'_>, threshold: f64) -> f64 {
        let threshold = query.shape().measure().asked(threshold);
        let nearest = Nearest::new(&self.statistics.others(), query, threshold);
        let others = nearest.matching(threshold, self.row_count_of_others());
        self.share_of_common(query, threshold) + others * self.statistics.share_of_others
    }

    /// The same of a constant: what the planner asks more than once, and what an index knows better.
    fn share_of_constant(&self, query: &RowBits<'_>, threshold: f64) -> f64 {
        let tag = query.tag as u64 ^ (query.tag >> 64) as u64;
        let asked = hash_extended(query.bits, tag ^ u64::from(query.popcount) << 32);
        let share = self.remembered("share", asked, [threshold, 0.0], || {
            self.share(query, threshold)
        });
        if share * self.statistics.others().len() as f64 >= ENOUGH as f64 {
            return share; // the sample shows them
        }
        let rows = self.row_count().max(1.0);
        // SAFETY: the table is of the query that the planner plans, and its statistics may be known.
        let alike = unsafe { indexes::alike(self.table, self.expression, query, threshold) };
        share.max(alike.unwrap_or(0.0) / rows)
    }

    /// Rows that are similar to `query`, which need not be one of them.
    fn expected(&self, query: &RowBits<'_>, threshold: f64) -> f64 {
        let threshold = query.shape().measure().asked(threshold);
        let nearest = Nearest::new(&self.statistics.others(), query, threshold);
        self.row_count() * self.share_of_common(query, threshold)
            + nearest.expected(threshold, self.row_count_of_others())
    }

    /// The mean over a few signatures of another column.
    fn mean(&self, other: &SampledColumn, what: impl Fn(&RowBits<'_>) -> f64) -> f64 {
        let asked = other.statistics.asked();
        let n = asked.len().max(1);
        asked.map(|query| what(&query)).sum::<f64>() / n as f64
    }

    /// Share of the column's rows that are similar to a value of `other`.
    fn mean_share(&self, other: &SampledColumn, threshold: f64) -> f64 {
        let asked = other.statistics.number;
        self.remembered("mean", asked, [threshold, 0.0], || {
            self.mean(other, |query| self.share(query, threshold))
        })
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
                let share = read_constant(query, |signature, threshold| {
                    column.share_of_constant(&signature, threshold.unwrap_or(usual))
                });
                let Some(share) = share else {
                    return UNKNOWN;
                };
                share
            }
            _ => match having_match(question, usual) {
                Some(share) => share,
                None => match (column(question.left), column(question.right)) {
                    (Some(a), Some(b)) => a.mean_share(&b, usual) * b.statistics.present,
                    (Some(a), None) | (None, Some(a)) => a.mean_share(&a, usual),
                    (None, None) => UNKNOWN,
                },
            },
        };
        share.clamp(0.0, 1.0)
    }
}

/// The threshold of a constant that has one; `None` also for NULL, and for types that are not ours.
///
/// # Safety
/// The constant is of the planner.
pub unsafe fn threshold_of_constant(constant: &pg_sys::Const) -> Option<f64> {
    // SAFETY: the constant is of the planner, and not NULL.
    unsafe { read_constant(constant, |_, threshold| threshold)? }
}

/// Gives what a constant asks for to `with`, and its threshold, which values without one leave open. `None` for NULL,
/// and for types that are not ours, whose values cannot be read.
///
/// # Safety
/// The constant is of the planner.
unsafe fn read_constant<T>(
    constant: &pg_sys::Const,
    with: impl FnOnce(RowBits<'_>, Option<f64>) -> T,
) -> Option<T> {
    let of_type = constant.consttype;
    let is_ours = [is_query, is_signature, is_bits_query, is_bits].map(|is| is(of_type));
    if constant.constisnull || !is_ours.contains(&true) {
        return None;
    }
    // SAFETY: these types have values of variable length.
    let value = unsafe { Varlena::new(constant.constvalue) };
    let value = value.bytes();
    let (signature, threshold): (RowBits<'_>, _) = match is_ours {
        [true, ..] => {
            let query = QueryView::stored(value)?;
            (query.signature.into(), Some(query.threshold))
        }
        [_, true, ..] => (View::stored(value)?.into(), None),
        [_, _, true, _] => {
            let query = BitsQueryView::stored(value)?;
            (query.sketch.into(), Some(query.threshold))
        }
        _ => (BitsView::stored(value)?.into(), None),
    };
    Some(with(signature, threshold))
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
        // of the inner table's rows, those that its own conditions leave
        let left = rows / searched.row_count().max(1.0);
        let asked = outer.as_ref().unwrap_or(searched);
        let of = asked.statistics.number;
        let share = searched.remembered("any", of, [threshold, left], || {
            searched.mean(asked, |query| {
                (searched.expected(query, threshold) * left).min(1.0)
            })
        });
        Some(share * asked.statistics.present)
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

/// `(internal, oid, internal, integer) RETURNS float8`
///
/// The restriction estimator of `%`.
#[entry(stable)]
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

/// `(internal, oid, internal, smallint, internal) RETURNS float8`
///
/// The join estimator of `%`.
#[entry(stable)]
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
