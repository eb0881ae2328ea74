//! Calls in an expression of functions that normalise texts by a rule set: by which one they do it, of which texts the newest one has another
//! normal form, and the same expression by the newest one.

use std::ffi::{c_void, CStr};

use pgrx::pg_sys::{self, NodeTag};

use crate::functions::default_shape::{DEFAULT_FPR, DEFAULT_MAX_CHARS, DEFAULT_NGRAM};
use pg::sql::Sql;
use pg::tree::list;
use pg::tree::node::{cast, fold, Node};
use pg::{entry, ffi, sql};
use text::Rules;
use types::objects::{function, function_in_schema_of, Purpose};

/// An expression over a relation that normalises texts by an older rule set than the newest one.
pub struct Older {
    relation: pg_sys::Oid,
    /// The oldest rule set of its calls.
    pub rules: i32,
    /// The condition that a row of the relation fulfils if a call would normalise a text of it otherwise by the newest rule set.
    pub differs: Sql,
    newest: *mut Node,
}

impl Older {
    /// `None` if no call is of an older rule set.
    ///
    /// # Safety
    /// `node` is an expression over the relation as number 1, and nobody else's.
    pub unsafe fn new(node: *mut Node, relation: pg_sys::Oid) -> Option<Older> {
        let (mut oldest, mut differs) = (None, Sql::new("false"));
        let mut renew_all = |node: *mut Node| {
            let mut calls: Vec<*mut pg_sys::FuncExpr> = Vec::new();
            // SAFETY: the expression; the walk passes the list on, of calls that are in it.
            unsafe {
                collect(node, (&raw mut calls).cast());
                calls.retain(|&call| rules(call) < i32::from(Rules::NEWEST.number()));
                for &call in &calls {
                    let by = rules(call);
                    oldest = Some(oldest.map_or(by, |oldest: i32| oldest.min(by)));
                    differs = or_differs(&differs, call, relation);
                }
                calls.into_iter().for_each(|call| renew(call));
            }
        };
        // Simplified afterwards: a call on a constant is computed then. What the server puts in the place of functions in SQL has calls, too.
        renew_all(node);
        // SAFETY: the expression is nobody else's.
        let newest = unsafe { fold(std::ptr::null_mut(), node) };
        renew_all(newest);
        oldest.map(|rules| Older {
            relation,
            rules,
            differs,
            newest,
        })
    }

    /// The expression by the newest rule set as SQL writes it, where names are looked up as they are now.
    pub fn by_newest(&self) -> Sql {
        // SAFETY: an expression over the relation.
        unsafe { written(self.newest, self.relation) }
    }
}

/// A condition, or that a call would normalise a text otherwise by the newest rule set.
///
/// # Safety
/// `call` is one that [`collect`] has found, in an expression over the relation as number 1.
unsafe fn or_differs(all: &Sql, call: *mut pg_sys::FuncExpr, relation: pg_sys::Oid) -> Sql {
    // SAFETY: the call has the arguments that its function takes; a function that was found is in a schema.
    unsafe {
        let purpose = function((*call).funcid).map(|function| function.purpose);
        let normalize =
            function_in_schema_of((*call).funcid, Purpose::Normalize, pg_sys::InvalidOid);
        let given = list::nodes((*call).args);
        let argument = match purpose {
            Some(purpose) if is_of_fields(purpose) => given.last(),
            _ => given.first(),
        };
        let (Some(normalize), Some(&argument)) = (normalize, argument) else {
            return all.clone();
        };
        let (normalize, text) = (qualified(normalize), written(argument, relation));
        let (rules, newest) = (rules(call).to_string(), Rules::NEWEST.number().to_string());
        // A text that is put together of columns may have no collation.
        let c = "COLLATE pg_catalog.\"C\"";
        match purpose.is_some_and(is_of_fields) {
            true => sql!(
                "{all} OR EXISTS (SELECT FROM pg_catalog.unnest({text}) AS f (f) WHERE {normalize}(f.f, true, {rules}) {c} \
                 OPERATOR(pg_catalog.<>) {normalize}(f.f, true, {newest}))"
            ),
            false => sql!(
                "{all} OR {normalize}({text}, true, {rules}) {c} OPERATOR(pg_catalog.<>) {normalize}({text}, true, {newest})"
            ),
        }
    }
}

fn is_of_fields(purpose: Purpose) -> bool {
    use Purpose::*;
    matches!(
        purpose,
        Fields | FieldsShaped | FieldsFilled | FieldsByRules
    )
}

/// `schema.name` of a function.
///
/// # Safety
/// There is such a function.
unsafe fn qualified(function: pg_sys::Oid) -> Sql {
    // SAFETY: names in the memory of the server, which are copied.
    unsafe {
        let name = CStr::from_ptr(pg_sys::get_func_name(function)).to_owned();
        Sql::new("").name_in(&pg::catalog::schema_of_function(function), &name)
    }
}

/// # Safety
/// `node` is an expression over the relation as number 1.
unsafe fn written(node: *mut Node, relation: pg_sys::Oid) -> Sql {
    let name = pg::catalog::name(relation);
    // SAFETY: the expression; the text is a C string of the server's, which is copied.
    unsafe {
        let context = ffi::deparse_context_for(name.as_ptr(), relation);
        let text = ffi::deparse_expression(node, context, false, false);
        Sql::new("").stored(CStr::from_ptr(text))
    }
}

/// The rule set of a call.
///
/// # Safety
/// `call` is one that [`collect`] has found.
unsafe fn rules(call: *mut pg_sys::FuncExpr) -> i32 {
    // SAFETY: the call has the arguments that its function takes.
    unsafe {
        match rules_of(call) {
            Some(constant) => (*constant).constvalue.value() as i32,
            None => Rules::FIRST.number().into(),
        }
    }
}

/// Which argument of a function is its rule set; `None` where it has none.
fn place_of_rules(purpose: Purpose) -> Option<usize> {
    match purpose {
        Purpose::Signature | Purpose::CountingSignature => Some(6),
        Purpose::Normalize => Some(2),
        Purpose::FieldsByRules => Some(4),
        _ => None,
    }
}

/// The argument of a call that is its rule set; `None` where the function has none, or it is no constant.
///
/// # Safety
/// As [`rules`].
unsafe fn rules_of(call: *mut pg_sys::FuncExpr) -> Option<*mut pg_sys::Const> {
    // SAFETY: the call has the arguments that its function takes.
    unsafe {
        let given = list::nodes((*call).args);
        let constant: *mut Node = *given.get(place_of_rules(function((*call).funcid)?.purpose)?)?;
        cast::<pg_sys::Const>(constant, NodeTag::T_Const)?;
        Some(constant.cast())
    }
}

/// # Safety
/// As [`rules`]; nobody else has the call.
unsafe fn renew(call: *mut pg_sys::FuncExpr) {
    let number = |number: i32| {
        let value = pg_sys::Datum::from(number);
        // SAFETY: a constant of the server's type.
        unsafe {
            pg_sys::makeConst(
                pg_sys::INT4OID,
                -1,
                pg_sys::InvalidOid,
                4,
                value,
                false,
                true,
            )
            .cast::<Node>()
        }
    };
    let newest = i32::from(Rules::NEWEST.number());
    // SAFETY: the call has the arguments that its function takes.
    unsafe {
        if let Some(constant) = rules_of(call) {
            (*constant).constvalue = pg_sys::Datum::from(newest);
            return;
        }
        let Some(of) = function((*call).funcid).filter(|of| is_of_fields(of.purpose)) else {
            return;
        };
        let Some(by_rules) =
            function_in_schema_of((*call).funcid, Purpose::FieldsByRules, of.result)
        else {
            return;
        };
        let mut args = list::nodes((*call).args);
        let Some(fields) = args.pop() else {
            return;
        };
        if args.is_empty() {
            let fpr = pg_sys::Datum::from(DEFAULT_FPR.to_bits());
            let fpr = pg_sys::makeConst(
                pg_sys::FLOAT8OID,
                -1,
                pg_sys::InvalidOid,
                8,
                fpr,
                false,
                true,
            );
            args.extend([number(DEFAULT_NGRAM), number(DEFAULT_MAX_CHARS), fpr.cast()]);
        }
        if args.len() == 3 {
            args.push(pg_sys::makeBoolConst(false, false).cast());
        }
        args.extend([number(newest), fields]);
        (*call).funcid = by_rules;
        (*call).args = list::of(&args);
    }
}

/// Writes out the arguments of a call that it leaves to their defaults, in their order, and computes which rule set it says.
///
/// # Safety
/// `call` is of an expression that is nobody else's.
unsafe fn write_out(call: *mut pg_sys::FuncExpr) {
    let cache = pg_sys::SysCacheIdentifier::PROCOID as i32;
    // SAFETY: the cache is by OID; a row is valid until it is released.
    unsafe {
        let row = pg_sys::SearchSysCache1(cache, pg_sys::Datum::from((*call).funcid));
        if row.is_null() {
            return;
        }
        let given = (*call).args;
        (*call).args = pg_sys::expand_function_arguments(given, false, (*call).funcresulttype, row);
        pg_sys::ReleaseSysCache(row);
        let of = function((*call).funcid);
        if let Some(place) = of.and_then(|of| place_of_rules(of.purpose)) {
            let mut args = list::nodes((*call).args);
            if let Some(rules) = args.get_mut(place) {
                *rules = fold(std::ptr::null_mut(), *rules);
                (*call).args = list::of(&args);
            }
        }
    }
}

/// Collects the calls of functions that normalise by a rule set, where that is a constant.
///
/// # Safety
/// `node` is of an expression, and `context` a list that lives as long as the walk.
#[entry]
unsafe extern "C-unwind" fn collect(node: *mut Node, context: *mut c_void) -> bool {
    use Purpose::*;
    if node.is_null() {
        return false;
    }
    // SAFETY: the caller's.
    unsafe {
        if cast::<pg_sys::FuncExpr>(node, NodeTag::T_FuncExpr).is_some() {
            let call: *mut pg_sys::FuncExpr = node.cast();
            let purpose = function((*call).funcid).map(|function| function.purpose);
            if purpose
                .is_some_and(|purpose| place_of_rules(purpose).is_some() || is_of_fields(purpose))
            {
                write_out(call);
            }
            let is_found = match purpose {
                Some(Signature | CountingSignature | Normalize | FieldsByRules) => {
                    rules_of(call).is_some_and(|rules| !(*rules).constisnull)
                }
                Some(Fields | FieldsShaped | FieldsFilled) => true,
                _ => false,
            };
            if is_found {
                (*context.cast::<Vec<*mut pg_sys::FuncExpr>>()).push(call);
            }
        }
        ffi::walk_expression(node, Some(collect), context)
    }
}
