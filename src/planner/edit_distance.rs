//! Gives `ident_edit_within(name, 'Erika', 1)` a condition on the signatures of the names beside it, by which an index finds
//! all rows that can fulfil it: `bloom_edit_possible(sig, bloom_signature('Erika'), bound, 'Erika', 1)`.
//!
//! The signatures are those of an index: an expression `bloom_signature(name)`, or a generated column of it. How similar
//! they are at least says [`signature::similarity::edit_bound`]. The condition follows from the other one, which stays, so
//! nothing is lost and nothing comes in.

use pgrx::pg_sys::{self, NodeTag};
use signature::filter::plan;
use text::Rules;

use super::indexes;
use pg::catalog;
use pg::catalog::privileges::may_execute;
use pg::ffi;
use pg::relation::{with_inheritors, OpenRelation};
use pg::tree::list::nodes;
use pg::tree::node::{call, cast, fold, Node};
use types::objects::{function, function_in_schema_of, is_signature, Purpose};

/// More edits leave names no n-grams that could be looked for.
const MOST_OF_BOUND: i64 = 3;

/// Below this similarity a search reads what it costs to read all, and more rows come out than can be told apart.
const LEAST_BOUND: f64 = 0.1;

/// How a query locks a table that it reads.
const LOCK: pg_sys::LOCKMODE = pg_sys::AccessShareLock as pg_sys::LOCKMODE;

/// Of more children it is not looked whether all compute their signatures alike, since a plan may need few of them.
const MOST_CHILDREN: usize = 101;

/// Marks a condition on what all children have, where nodes have the place in the query that they were written at.
const OF_CHILDREN: i32 = -2;

/// A table that the planner comes to.
pub struct Table<'r> {
    pub root: *mut pg_sys::PlannerInfo,
    pub table: pg_sys::Oid,
    /// It has children, and its indexes may not be listed.
    pub is_parent: bool,
    pub rel: &'r pg_sys::RelOptInfo,
}

/// Signatures of an expression: where they are, and how they are made.
struct Signatures {
    /// The column or the expression of an index.
    node: *mut Node,
    /// `bloom_signature`.
    maker: pg_sys::Oid,
    /// Its type.
    bloom: pg_sys::Oid,
    /// Its arguments behind the text.
    shape: Vec<*mut Node>,
}

impl Table<'_> {
    /// The condition on signatures that follows from a call of `ident_edit_within`; `None` if there is none.
    ///
    /// # Safety
    /// The call is a node of the query that is planned, whose arguments are simplified.
    pub unsafe fn implied(&self, within: &pg_sys::FuncExpr) -> Option<*mut Node> {
        if function(within.funcid)?.purpose != Purpose::EditWithin {
            return None;
        }
        // SAFETY: the call has the three arguments that it is declared with, a number being the last.
        unsafe {
            let args = nodes(within.args);
            let edits = cast::<pg_sys::Const>(args[2], NodeTag::T_Const)?;
            let edits_given = edits.constvalue.value() as i32;
            if edits.constisnull || !(0..=MOST_OF_BOUND).contains(&i64::from(edits_given)) {
                return None;
            }
            let sides = [(args[0], args[1]), (args[1], args[0])];
            let (column, text) = sides.into_iter().find(|&(column, text)| {
                self.is_of_this_table(column) && !self.depends_on_this_table(text)
            })?;
            // It stands in several places from now on.
            if pg_sys::contain_volatile_functions(text) || pg_sys::contain_subplans(text) {
                return None;
            }
            let signatures = self.signatures_of(column)?;
            let &[ngram, chars, fpr, ..] = &signatures.shape[..] else {
                return None;
            };
            let bound = function_in_schema_of(within.funcid, Purpose::EditBound, signatures.bloom)?;
            let possible =
                function_in_schema_of(signatures.maker, Purpose::EditPossible, signatures.bloom)?;
            // Who may call the one that is written may not have to call others.
            if ![bound, signatures.maker, possible]
                .into_iter()
                .all(|function| may_execute(self.root, function))
            {
                return None;
            }
            // What others change in place stands in one place.
            let copy = || pg_sys::copyObjectImpl(text.cast()).cast::<Node>();
            let least = call(
                bound,
                pg_sys::FLOAT8OID,
                &[copy(), args[2], ngram, chars, fpr],
            );
            let least = fold(self.root, least);
            if let Some(known) = cast::<pg_sys::Const>(least, NodeTag::T_Const) {
                let known_least = f64::from_bits(known.constvalue.value() as u64);
                if known.constisnull || known_least < LEAST_BOUND {
                    return None;
                }
            }
            let asked = [&[copy()], &signatures.shape[..]].concat();
            let asked = fold(self.root, call(signatures.maker, signatures.bloom, &asked));
            // The plan depends on what these are, too.
            for function in [within.funcid, signatures.maker, bound] {
                pg_sys::record_plan_function_dependency(self.root, function);
            }
            let args = [signatures.node, asked, least, copy(), args[2]];
            let implied = call(possible, pg_sys::BOOLOID, &args);
            if self.is_parent {
                (*implied.cast::<pg_sys::FuncExpr>()).location = OF_CHILDREN;
            }
            Some(implied)
        }
    }

    /// A table can become a child after its parent's turn: what has been inferred of other children is given up, in place and
    /// before this one gets it, if this one does not compute its signatures alike.
    ///
    /// # Safety
    /// `inferred` is a call in a condition of the ancestor of that number, and `parent` is that table.
    pub unsafe fn confirm(
        &self,
        inferred: &pg_sys::FuncExpr,
        ancestor: u32,
        parent: pg_sys::Oid,
    ) -> Option<()> {
        if inferred.location != OF_CHILDREN {
            return None;
        }
        // SAFETY: such a call has the column and the asked signature before the bound; both tables are locked.
        unsafe {
            let args = nodes(inferred.args);
            let column = cast::<pg_sys::Var>(args[0], NodeTag::T_Var)?;
            if column.varno as u32 != ancestor {
                return None;
            }
            let made = |table| {
                let open = OpenRelation::locked_table(table);
                let made = pg_sys::build_column_default(open.pointer(), column.varattno.into());
                fold(self.root, made)
            };
            let is_alike = is_laid_out_alike(self.table, parent)
                && pg_sys::equal(made(self.table).cast(), made(parent).cast());
            if !is_alike {
                // What is asked for is as similar to itself.
                let itself = pg_sys::copyObjectImpl(args[1].cast());
                (*(*inferred.args).elements).ptr_value = itself;
            }
        }
        Some(())
    }

    /// # Safety
    /// `node` is an expression of the query.
    unsafe fn is_of_this_table(&self, node: *mut Node) -> bool {
        // SAFETY: the caller's.
        unsafe {
            let tables = pg_sys::pull_varnos(self.root, node);
            pg_sys::bms_membership(tables) == pg_sys::BMS_Membership::BMS_SINGLETON
                && self.depends_on_this_table(node)
        }
    }

    /// # Safety
    /// `node` is an expression of the query.
    unsafe fn depends_on_this_table(&self, node: *mut Node) -> bool {
        // SAFETY: the caller's.
        unsafe {
            let tables = pg_sys::pull_varnos(self.root, node);
            pg_sys::bms_is_member(self.rel.relid as i32, tables)
        }
    }

    /// The signatures of an expression that an index has, or that all children of the table have.
    ///
    /// # Safety
    /// `of` is an expression of the query over this table.
    unsafe fn signatures_of(&self, of: *mut Node) -> Option<Signatures> {
        // SAFETY: the planner has read the table and its indexes from the catalogs.
        unsafe {
            if self.is_parent {
                return self.columns_of_children(of);
            }
            for index in indexes::indexes(self.rel) {
                let mut expressions = nodes(index.indexprs).into_iter();
                for i in 0..index.nkeycolumns as usize {
                    let number = *index.indexkeys.add(i);
                    let found = match number {
                        0 => expressions
                            .next()
                            .and_then(|node| self.made_of(node, node, of)),
                        1.. => self.column(number as i16, self.table, of),
                        _ => None,
                    };
                    if found.is_some() {
                        return found;
                    }
                }
            }
        }
        None
    }

    /// A generated column of signatures that the table and all its children have at the same place, and made alike: the
    /// expression of a child may be another one.
    ///
    /// # Safety
    /// As for [`Self::signatures_of`].
    unsafe fn columns_of_children(&self, of: *mut Node) -> Option<Signatures> {
        // SAFETY: the query has locked the table, and its children are locked here.
        unsafe {
            let columns = (*OpenRelation::locked_table(self.table).rd_att).natts as i16;
            let all = with_inheritors(self.table, pg_sys::NoLock);
            // The query may need few of them, and does not wait for others.
            let is_fit = |&child: &pg_sys::Oid| {
                pg_sys::ConditionalLockRelationOid(child, LOCK)
                    && is_laid_out_alike(child, self.table)
            };
            if all.len() > MOST_CHILDREN || !all.iter().all(is_fit) {
                return None;
            }
            (1..=columns).find_map(|number| {
                let found = self.column(number, self.table, of)?;
                let is_alike = |&child: &pg_sys::Oid| {
                    let alike = self.column(number, child, of);
                    alike.is_some_and(|alike| {
                        let mut shapes = alike.shape.iter().zip(&found.shape);
                        alike.shape.len() == found.shape.len()
                            && shapes.all(|(a, b)| pg_sys::equal(a.cast(), b.cast()))
                    })
                };
                all.iter().all(is_alike).then_some(found)
            })
        }
    }

    /// A stored generated column, if it has the signatures of an expression. The column's number in the query is that in
    /// `table`.
    ///
    /// # Safety
    /// As for [`Self::signatures_of`]; `table` is this one or a child, and locked.
    unsafe fn column(&self, number: i16, table: pg_sys::Oid, of: *mut Node) -> Option<Signatures> {
        // SAFETY: the caller's. The server builds the expression anew, with this table as number 1.
        unsafe {
            let open = OpenRelation::locked_table(table);
            let natts = (*open.rd_att).natts;
            let attribute = (i32::from(number) <= natts)
                .then(|| ffi::attribute(open.rd_att, i32::from(number) - 1))?;
            let attribute = &*attribute;
            let is_stored = attribute.attgenerated as u8 == pg_sys::ATTRIBUTE_GENERATED_STORED;
            if attribute.attisdropped || !is_stored || !is_signature(attribute.atttypid) {
                return None;
            }
            let made = pg_sys::build_column_default(open.pointer(), number.into());
            pg_sys::ChangeVarNodes(made.cast(), 1, self.rel.relid as i32, 0);
            let column = pg_sys::makeVar(
                self.rel.relid as _,
                number,
                attribute.atttypid,
                attribute.atttypmod,
                attribute.attcollation,
                0,
            );
            self.made_of(column.cast(), fold(self.root, made), of)
        }
    }

    /// The signatures in `node`, if they are made as `made` says, of this expression.
    ///
    /// # Safety
    /// All are expressions over this table, and simplified.
    unsafe fn made_of(
        &self,
        node: *mut Node,
        made: *mut Node,
        of: *mut Node,
    ) -> Option<Signatures> {
        // SAFETY: the caller's.
        unsafe {
            let call = cast::<pg_sys::FuncExpr>(made, NodeTag::T_FuncExpr)?;
            let maker = function(call.funcid)?;
            let args = nodes(call.args);
            if maker.purpose != Purpose::Signature || !(6..=7).contains(&args.len()) {
                return None;
            }
            let shape = args[1..].to_vec();
            let constant = |&arg: &*mut Node| {
                let constant = cast::<pg_sys::Const>(arg, NodeTag::T_Const);
                constant.filter(|arg| !arg.constisnull)
            };
            let constants: Vec<_> = shape.iter().map_while(constant).collect();
            let constants: Vec<usize> =
                constants.iter().map(|arg| arg.constvalue.value()).collect();
            // By word, or with filler, an edit may change more n-grams; of another rule set it changes others.
            let is_fit = match constants[..] {
                [_, _, _, by_word, filler] => (by_word, filler) == (0, 0),
                [_, _, _, by_word, filler, rules] => {
                    (by_word, filler) == (0, 0) && rules as u8 == Rules::FIRST.number()
                }
                _ => false,
            };
            if !is_fit
                || constants.len() != shape.len()
                || !pg_sys::equal(args[0].cast(), of.cast())
            {
                return None;
            }
            let [ngram, chars, fpr] = [0, 1, 2].map(|i| constants[i]);
            // A table without rows may have any.
            plan(
                (chars as i32).into(),
                (ngram as i32).into(),
                f64::from_bits(fpr as u64),
            )
            .ok()?;
            Some(Signatures {
                node,
                maker: call.funcid,
                bloom: maker.result,
                shape,
            })
        }
    }
}

/// Whether a child has all columns of its parent at the same places, and PostgreSQL computes what it stores: a foreign table
/// gives what its server has.
///
/// # Safety
/// Both are locked.
unsafe fn is_laid_out_alike(child: pg_sys::Oid, parent: pg_sys::Oid) -> bool {
    let mut columns = catalog::column_names(parent);
    catalog::kind(child) != pg_sys::RELKIND_FOREIGN_TABLE
        && columns.all(|name| catalog::column(child, &name) == catalog::column(parent, &name))
}
