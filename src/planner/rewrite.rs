//! Rewrites `bloom_sim(a, b) > c` to `bloom_sim_above(a, b, c)`, and likewise `>=`, `bloom_dice`, `minhash_sim`,
//! and comparisons with the number on the left. The comparison itself is an operator of `float8`, to whose functions an
//! extension cannot give support functions. So the conditions are rewritten when the planner begins with a table: they
//! are simplified then, and not yet distributed over the tables.

use std::cell::Cell;
use std::sync::OnceLock;

use pgrx::pg_sys::NodeTag;
use pgrx::{pg_sys, Internal};

use super::edit_distance::Table;
use super::indexes;
use base::range::of_percent;
use base::Error;
use pg::catalog::privileges::may_execute;
use pg::error::warn;
use pg::relation::OpenRelation;
use pg::tree::list::{self, nodes};
use pg::tree::node::{answer, bare, call, cast, fold, Node};
use pg::{boundary, entry, ffi};
use types::objects::{function, function_in_schema_of, Purpose};

/// Comparisons of `float8` with `float8` and `float4` (pg_operator.dat): `>`, `>=`, and with the score on the right `<`,
/// `<=`; whether they are strict, and whether the score is on the right.
const COMPARISONS: [([u32; 2], bool, bool); 4] = [
    ([674, 1133], true, false),
    ([675, 1135], false, false),
    ([672, 1122], true, true),
    ([673, 1124], false, true),
];

/// Support function of the measures. It answers nothing. But the planner calls it when it simplifies conditions, which
/// loads the library, so that the hook is set for a session's first query.
#[entry]
fn bloom_measure_support(_asked: Internal) -> Internal {
    answer(None)
}

/// The hook that was there before ours.
static PREVIOUS: OnceLock<pg_sys::get_relation_info_hook_type> = OnceLock::new();

/// Has the planner call [`relation_info`].
pub fn define() {
    // SAFETY: called from _PG_init, where hooks are set.
    unsafe {
        PREVIOUS.get_or_init(|| pg_sys::get_relation_info_hook);
        pg_sys::get_relation_info_hook = Some(relation_info);
    }
}

/// Called for every table when the planner has read of it what the catalogs say.
#[entry]
unsafe extern "C-unwind" fn relation_info(
    root: *mut pg_sys::PlannerInfo,
    table: pg_sys::Oid,
    parent: bool,
    rel: *mut pg_sys::RelOptInfo,
) {
    // SAFETY: called by the planner; the previous hook may raise errors.
    unsafe {
        if let Some(previous) = PREVIOUS.get().copied().flatten() {
            boundary::call(|| previous(root, table, parent, rel));
        }
        let at = Conditions {
            root,
            table,
            parent,
            rel: &mut *rel,
            is_predicate: Cell::new(false),
            ancestor: Cell::new(0),
        };
        at.rewrite();
    }
}

/// The conditions of a query, as the planner comes to one of its tables.
struct Conditions<'a> {
    root: *mut pg_sys::PlannerInfo,
    table: pg_sys::Oid,
    /// The table has children, and its indexes may not be listed.
    parent: bool,
    rel: &'a mut pg_sys::RelOptInfo,
    /// What is rewritten says of which rows an index is: nothing is added to it.
    is_predicate: Cell<bool>,
    /// The number of the parent, or the UNION ALL, whose conditions are looked at; 0 for others.
    ancestor: Cell<u32>,
}

impl Conditions<'_> {
    /// # Safety
    /// As the planner calls the hook.
    unsafe fn rewrite(self) {
        // SAFETY: the planner calls the hook with a query and a table that it has read. Index predicates are copies for
        // this planning.
        unsafe {
            if (*(*self.root).parse).jointree.is_null() {
                return; // CLUSTER and CREATE INDEX estimate without a query
            }
            indexes::offer(self.rel);
            if self.rel.reloptkind == pg_sys::RelOptKind::RELOPT_BASEREL {
                self.jointree((*(*self.root).parse).jointree.cast());
            } else {
                self.ancestors();
            }
            let entry = *(*self.root).simple_rte_array.add(self.rel.relid as usize);
            if let Some(changed) = self.list((*entry).securityQuals) {
                (*entry).securityQuals = changed;
            }
            // what the conditions are compared with to find out whether a partial index serves
            for index in indexes::indexes(self.rel) {
                self.is_predicate.set(true);
                if let Some(changed) = self.list(index.indpred) {
                    index.indpred = changed;
                }
                self.is_predicate.set(false);
            }
        }
    }

    /// # Safety
    /// `node` is NULL or of a join tree.
    unsafe fn jointree(&self, node: *mut Node) {
        if node.is_null() {
            return;
        }
        // SAFETY: the nodes of a join tree are structs of their tags.
        unsafe {
            let quals = match (*node).type_ {
                NodeTag::T_FromExpr => {
                    let from = &mut *node.cast::<pg_sys::FromExpr>();
                    for item in nodes(from.fromlist) {
                        self.jointree(item);
                    }
                    &mut from.quals
                }
                NodeTag::T_JoinExpr => {
                    let join = &mut *node.cast::<pg_sys::JoinExpr>();
                    self.jointree(join.larg);
                    self.jointree(join.rarg);
                    &mut join.quals
                }
                _ => return,
            };
            if let Some(changed) = self.condition(*quals) {
                *quals = changed;
            }
        }
    }

    /// A member of a UNION ALL gets its conditions from the whole, which is no table, so that they
    /// are distributed before the first table comes. A child gets those of its parent.
    ///
    /// # Safety
    /// As the planner calls the hook, for a child.
    unsafe fn ancestors(&self) {
        // SAFETY: the planner has set up this child; parents are set up before their children.
        unsafe {
            let root = &*self.root;
            let mut child = self.rel.relid;
            if root.append_rel_array.is_null() {
                return;
            }
            while let Some(link) = (*root.append_rel_array.add(child as usize)).as_ref() {
                child = link.parent_relid;
                let whole = *root.simple_rel_array.add(child as usize);
                if whole.is_null() {
                    break;
                }
                self.ancestor.set(child);
                self.list((*whole).baserestrictinfo);
                self.list((*whole).joininfo);
            }
            self.ancestor.set(0);
        }
    }

    /// The condition rewritten; `None` when nothing of it is ours.
    ///
    /// # Safety
    /// `node` is NULL or a condition.
    unsafe fn condition(&self, node: *mut Node) -> Option<*mut Node> {
        if node.is_null() {
            return None;
        }
        // SAFETY: a condition is a node, which begins with its tag.
        unsafe {
            match (*node).type_ {
                NodeTag::T_List => Some(self.conjunction(node.cast())?.cast()),
                NodeTag::T_BoolExpr => {
                    let given = &*node.cast::<pg_sys::BoolExpr>();
                    let args = match given.boolop {
                        pg_sys::BoolExprType::AND_EXPR => self.conjunction(given.args)?,
                        _ => self.list(given.args)?,
                    };
                    Some(pg_sys::makeBoolExpr(given.boolop, args, given.location).cast())
                }
                NodeTag::T_OpExpr => self.comparison(&*node.cast()),
                NodeTag::T_FuncExpr => self.edit_distance(node),
                NodeTag::T_RestrictInfo => {
                    self.distributed(&mut *node.cast());
                    None
                }
                _ => None,
            }
        }
    }

    /// An edit distance, and what follows from it of signatures, in one conjunction. The distance comes first, since it is the
    /// cheaper one: within OR and NOT the planner does not sort conditions by their cost.
    ///
    /// # Safety
    /// `node` is a call within a condition.
    unsafe fn edit_distance(&self, node: *mut Node) -> Option<*mut Node> {
        if self.is_predicate.get() {
            return None;
        }
        let ancestor = self.ancestor.get();
        let table = Table {
            root: self.root,
            table: self.table,
            is_parent: self.parent,
            rel: &*self.rel,
        };
        // SAFETY: the call is a node of the planner.
        unsafe {
            let call = &*node.cast();
            if ancestor != 0 {
                table.confirm(call, ancestor, self.entry(ancestor).relid);
            }
            let implied = table.implied(call)?;
            Some(pg_sys::make_andclause(list::of(&[node, implied])).cast())
        }
    }

    /// # Safety
    /// `list` is NULL or a list of conditions.
    unsafe fn list(&self, list: *mut pg_sys::List) -> Option<*mut pg_sys::List> {
        if list.is_null() {
            return None;
        }
        let mut changed = None;
        // SAFETY: the list has as many cells as its length says; the copy has as many cells.
        unsafe {
            for i in 0..(*list).length as usize {
                let item = (*(*list).elements.add(i)).ptr_value.cast();
                if let Some(item) = self.condition(item) {
                    let copy = *changed.get_or_insert_with(|| pg_sys::list_copy(list));
                    (*(*copy).elements.add(i)).ptr_value = item.cast();
                }
            }
        }
        changed
    }

    /// A list of conditions of which all have to hold, with those of conjunctions among them as its own: the planner looks for
    /// an index by these.
    ///
    /// # Safety
    /// As for [`Self::list`].
    unsafe fn conjunction(&self, list: *mut pg_sys::List) -> Option<*mut pg_sys::List> {
        // SAFETY: the caller's; what is changed is a new list.
        unsafe {
            let changed = self.list(list)?;
            let flat = nodes(changed).into_iter().flat_map(|item| {
                match cast::<pg_sys::BoolExpr>(item, NodeTag::T_BoolExpr) {
                    Some(all) if all.boolop == pg_sys::BoolExprType::AND_EXPR => nodes(all.args),
                    _ => vec![item],
                }
            });
            Some(list::of(&flat.collect::<Vec<_>>()))
        }
    }

    /// Rewrites a condition in place, since tables share it, and resets what was derived from it as an operator.
    ///
    /// # Safety
    /// `info` is of the whole of a UNION ALL.
    unsafe fn distributed(&self, info: &mut pg_sys::RestrictInfo) {
        // SAFETY: the condition is of the whole of a UNION ALL, which this planning alone has.
        unsafe {
            if let Some(clause) = self.condition(info.clause.cast()) {
                info.clause = clause.cast();
                info.can_join = false;
                info.left_relids = std::ptr::null_mut();
                info.right_relids = std::ptr::null_mut();
                info.eval_cost.startup = -1.0;
                info.norm_selec = -1.0;
                info.outer_selec = -1.0;
            }
            // the same once more, its members as conditions of their own
            self.condition(info.orclause.cast());
        }
    }

    /// # Safety
    /// The operation is a node of the planner's.
    unsafe fn comparison(&self, operation: &pg_sys::OpExpr) -> Option<*mut Node> {
        let number = operation.opno.to_u32();
        let mut comparisons = COMPARISONS.into_iter();
        let (_, strict, flipped) = comparisons.find(|(numbers, ..)| numbers.contains(&number))?;
        // SAFETY: the operation is a node of the planner; these operators have two arguments. The new call has
        // those of its types.
        unsafe {
            let args = (*operation.args).elements;
            let (left, right) = (
                (*args).ptr_value.cast(),
                (*args.add(1)).ptr_value.cast::<Node>(),
            );
            let (score, number) = if flipped {
                (right, left)
            } else {
                (left, right)
            };
            let score = cast::<pg_sys::FuncExpr>(bare(score), NodeTag::T_FuncExpr)?;
            let (bloom, above, at_least) = measure(score)?;
            let signatures = nodes(score.args);
            if !self.searchable(score, &signatures) {
                return None;
            }
            let purpose = if strict { above } else { at_least };
            warn_of_percent(number);
            let rewritten = function_in_schema_of(score.funcid, purpose, bloom)
                .filter(|&function| may_execute(self.root, function))?;
            // the plan depends on the measure, too
            pg_sys::record_plan_function_dependency(self.root, score.funcid);
            let args = [signatures[0], signatures[1], self.float8(number)];
            Some(call(rewritten, pg_sys::BOOLOID, &args))
        }
    }

    /// Whether an index on signatures can be of use: not when a table is on both sides, nor when an
    /// index is on the similarity itself. What depends on another table alone waits until the
    /// planner comes to that.
    ///
    /// # Safety
    /// The call is one of a measure, with these arguments.
    unsafe fn searchable(&self, score: &pg_sys::FuncExpr, signatures: &[*mut Node]) -> bool {
        // SAFETY: the signatures are expressions of the query.
        unsafe {
            let (left, right) = (self.tables(signatures[0]), self.tables(signatures[1]));
            if pg_sys::bms_overlap(left, right) {
                return false;
            }
            let both = pg_sys::bms_union(left, right);
            if pg_sys::bms_membership(both) != pg_sys::BMS_Membership::BMS_SINGLETON {
                return true;
            }
            let only = pg_sys::bms_singleton_member(both) as u32;
            if only == self.rel.relid {
                !self.indexed(score)
            } else {
                !self.is_table(only)
            }
        }
    }

    /// What an expression depends on, outer joins not counted.
    ///
    /// # Safety
    /// `node` is an expression.
    unsafe fn tables(&self, node: *mut Node) -> pg_sys::Relids {
        // SAFETY: the node is an expression of the query; every number is of an entry.
        unsafe {
            let mut tables = pg_sys::pull_varnos(self.root, node);
            let mut i = -1;
            loop {
                i = pg_sys::bms_next_member(tables, i);
                if i < 0 {
                    return tables;
                }
                if self.entry(i as u32).rtekind == pg_sys::RTEKind::RTE_JOIN {
                    tables = pg_sys::bms_del_member(tables, i);
                }
            }
        }
    }

    /// # Safety
    /// `i` is the number of an entry of the query.
    unsafe fn entry(&self, i: u32) -> &pg_sys::RangeTblEntry {
        // SAFETY: the number is of an entry, and the array has one for each.
        unsafe { &**(*self.root).simple_rte_array.add(i as usize) }
    }

    /// # Safety
    /// As for [`Self::entry`].
    unsafe fn is_table(&self, i: u32) -> bool {
        // SAFETY: the number is of an entry.
        unsafe { self.entry(i).rtekind == pg_sys::RTEKind::RTE_RELATION }
    }

    /// Whether an index of this table is on the score, as an ordinary index on `float8` may be.
    ///
    /// # Safety
    /// The call depends on this table alone.
    unsafe fn indexed(&self, score: &pg_sys::FuncExpr) -> bool {
        let is_score = |node| {
            // SAFETY: compares two expressions.
            unsafe { pg_sys::equal(bare(node).cast(), std::ptr::from_ref(score).cast()) }
        };
        // SAFETY: the relation is a table that the query has locked; a parent is locked by the query, and its indexes
        // here.
        unsafe {
            if !self.parent {
                let mut indexes = indexes::indexes(self.rel);
                return indexes.any(|index| nodes(index.indexprs).into_iter().any(is_score));
            }
            let table = OpenRelation::locked_table(self.table);
            table.indexes().into_iter().any(|index| {
                let index = OpenRelation::index(index, pg_sys::AccessShareLock).keep_lock();
                let expressions = ffi::RelationGetIndexExpressions(index.pointer());
                pg_sys::ChangeVarNodes(expressions.cast(), 1, self.rel.relid as i32, 0);
                nodes(expressions).into_iter().any(is_score)
            })
        }
    }

    /// A `float8` or `float4` as `float8`.
    ///
    /// # Safety
    /// `number` is of one of these types.
    unsafe fn float8(&self, number: *mut Node) -> *mut Node {
        // SAFETY: the number is an expression.
        unsafe {
            if pg_sys::exprType(number) == pg_sys::FLOAT8OID {
                return number;
            }
            let cast = pg_sys::Oid::from_u32(pg_sys::F_FLOAT8_FLOAT4);
            fold(self.root, call(cast, pg_sys::FLOAT8OID, &[number]))
        }
    }
}

/// Says of a number that no similarity reaches what was perhaps meant.
///
/// # Safety
/// `number` is an expression of type `float8` or `float4`.
unsafe fn warn_of_percent(number: *mut Node) {
    // SAFETY: the caller's.
    let Some(constant) = (unsafe { cast::<pg_sys::Const>(number, NodeTag::T_Const) }) else {
        return;
    };
    let value = match constant.consttype {
        _ if constant.constisnull => return,
        pg_sys::FLOAT4OID => f32::from_bits(constant.constvalue.value() as u32).into(),
        _ => f64::from_bits(constant.constvalue.value() as u64),
    };
    if let Some(hint) = of_percent(value) {
        let message = format!("similarity is compared with {}", base::error::number(value));
        warn(
            &Error::invalid(message)
                .detail("A similarity lies between 0 and 1.")
                .hint(hint),
        );
    }
}

/// The type of signatures, and what `>` and `>=` become, if the call is one of a measure of ours.
fn measure(score: &pg_sys::FuncExpr) -> Option<(pg_sys::Oid, Purpose, Purpose)> {
    let called = function(score.funcid)?;
    match called.purpose {
        Purpose::Sim => Some((called.first, Purpose::SimAbove, Purpose::SimAtLeast)),
        Purpose::Dice => Some((called.first, Purpose::DiceAbove, Purpose::DiceAtLeast)),
        Purpose::BitsSim => Some((called.first, Purpose::BitsSimAbove, Purpose::BitsSimAtLeast)),
        _ => None,
    }
}
