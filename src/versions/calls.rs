//! Calls in an expression of functions that normalise texts by a rule set: by which one they do it, of which texts the newest one has another
//! normal form, and the same expression by the newest one.

use std::ffi::{c_void, CStr};

use pgrx::pg_sys::{self, NodeTag};

use crate::functions::default_shape::{DEFAULT_FPR, DEFAULT_MAX_CHARS, DEFAULT_NGRAM};
use pg::sql::Sql;
use pg::tree::list;
use pg::tree::node::{cast, Node};
use pg::{entry, ffi, sql};
use text::Rules;
use types::objects::{function, function_in_schema_of, Purpose};

/// An expression over a relation, of which the server has made a copy, simplified, so that the defaults of arguments are written out.
pub struct Expression {
    node: *mut Node,
    relation: pg_sys::Oid,
    calls: Vec<*mut pg_sys::FuncExpr>,
}

impl Expression {
    /// # Safety
    /// `node` is an expression over the relation as number 1, and nobody else's.
    pub unsafe fn new(node: *mut Node, relation: pg_sys::Oid) -> Expression {
        let mut calls = Vec::new();
        // SAFETY: the expression; the walk passes the list on.
        unsafe {
            collect(node, (&raw mut calls).cast());
        }
        Expression {
            node,
            relation,
            calls,
        }
    }

    /// The oldest rule set of its calls, if that is not the newest one there is.
    pub fn oldest_rules(&self) -> Option<u8> {
        // SAFETY: the calls are of the expression.
        let rules = self.calls.iter().map(|&call| unsafe { rules(call) });
        rules.min().filter(|&rules| rules < Rules::NEWEST.number())
    }

    /// The expression as SQL writes it, where names are looked up as they are now.
    pub fn written(&self) -> Sql {
        // SAFETY: an expression over the relation.
        unsafe { written(self.node, self.relation) }
    }

    /// The condition that a row of the relation fulfils if a call would normalise a text of it otherwise by the newest rule set.
    pub fn differs(&self) -> Sql {
        let newest = Rules::NEWEST.number().to_string();
        let mut all = Sql::new("false");
        for &call in &self.calls {
            // SAFETY: the call has the arguments that its function takes.
            let (purpose, given, near) = unsafe {
                let found = function((*call).funcid).map(|function| function.purpose);
                (found, list::nodes((*call).args), (*call).funcid)
            };
            let Some(normalize) =
                function_in_schema_of(near, Purpose::Normalize, pg_sys::InvalidOid)
            else {
                continue;
            };
            // SAFETY: the call is of the expression; a function that was found is in a schema.
            let (rules, normalize) = unsafe { (rules(call).to_string(), qualified(normalize)) };
            let argument = match purpose {
                Some(purpose) if is_of_fields(purpose) => given.last(),
                _ => given.first(),
            };
            let Some(&argument) = argument else {
                continue;
            };
            // SAFETY: the argument is of the expression.
            let text = unsafe { written(argument, self.relation) };
            all = match purpose.is_some_and(is_of_fields) {
                true => sql!(
                    "{all} OR EXISTS (SELECT FROM pg_catalog.unnest({text}) AS f (f) WHERE {normalize}(f.f, true, {rules}) \
                     OPERATOR(pg_catalog.<>) {normalize}(f.f, true, {newest}))"
                ),
                false => sql!(
                    "{all} OR {normalize}({text}, true, {rules}) OPERATOR(pg_catalog.<>) {normalize}({text}, true, {newest})"
                ),
            };
        }
        all
    }

    /// Has all calls take the newest rule set.
    pub fn renew(&mut self) {
        for &call in &self.calls {
            // SAFETY: the call is of the expression, which is a copy of ours, and has the arguments that its function takes.
            unsafe { renew(call) };
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
unsafe fn rules(call: *mut pg_sys::FuncExpr) -> u8 {
    // SAFETY: the call has the arguments that its function takes.
    unsafe {
        match rules_of(call) {
            Some(constant) => (*constant).constvalue.value() as u8,
            None => Rules::FIRST.number(),
        }
    }
}

/// The argument of a call that is its rule set; `None` where the function has none.
///
/// # Safety
/// As [`rules`].
unsafe fn rules_of(call: *mut pg_sys::FuncExpr) -> Option<*mut pg_sys::Const> {
    // SAFETY: the call has the arguments that its function takes.
    unsafe {
        let given = list::nodes((*call).args);
        let place = match function((*call).funcid)?.purpose {
            Purpose::Signature | Purpose::CountingSignature => 6,
            Purpose::Normalize => 2,
            Purpose::FieldsByRules => 4,
            _ => return None,
        };
        let constant: *mut Node = *given.get(place)?;
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
