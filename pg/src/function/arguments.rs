//! The arguments of functions that take raw datums, and fail over NULLs.

use std::ffi::{CStr, CString};
use std::ptr::null_mut;

use base::range::unit;
use base::{Error, ErrorKind};
use pgrx::pg_sys::{self, NodeTag};

use crate::catalog::with_row;
use crate::error::{raise, OrRaise};
use crate::tree::list;
use crate::tree::node::cast;
use crate::values::jsonb::json_text;
use crate::values::text::{readable, Text};

/// What a name stands for in a table of all names.
///
/// Errors: it is none of them; `what` is said of a name, and `all` of the names.
pub fn of_name<T: Copy>(name: &str, values: &[(&str, T)], what: &str, all: &str) -> T {
    let found = values.iter().find(|(known, _)| *known == name);
    found.map(|(_, value)| *value).unwrap_or_else(|| {
        let names = values.iter().map(|(name, _)| format!("\"{name}\""));
        let names = names.collect::<Vec<_>>().join(", ");
        let (first, last) = names.rsplit_once(", ").unwrap_or((&names, ""));
        let message = format!("unrecognized {what} \"{name}\"");
        let known = values.iter().map(|(name, _)| name);
        let detail = format!("The {all} are {first} and {last}.");
        raise(
            &Error::invalid(message)
                .detail(detail)
                .perhaps(what, name, known),
        )
    })
}

/// The arguments of a running function.
#[derive(Clone, Copy)]
pub struct Arguments(pg_sys::FunctionCallInfo);

impl Arguments {
    /// # Safety
    /// `fcinfo` is that of a running function, and stays so as long as the result is used. The types asked for
    /// are those declared in sql/.
    pub unsafe fn new(fcinfo: pg_sys::FunctionCallInfo) -> Arguments {
        Arguments(fcinfo)
    }

    /// How many there are.
    pub fn number(self) -> usize {
        // SAFETY: `new` got the record of a call that is running.
        unsafe { (*self.0).nargs as usize }
    }

    /// `None` for NULL.
    pub fn datum(self, i: usize) -> Option<pg_sys::Datum> {
        // SAFETY: `of` got the record of a call that is running.
        let arg = unsafe { &(*self.0).args.as_slice((*self.0).nargs as usize)[i] };
        (!arg.isnull).then_some(arg.value)
    }

    /// Errors: NULL. The functions are not STRICT, since people would take no rows for the answer.
    pub fn given(self, i: usize) -> pg_sys::Datum {
        self.datum(i).unwrap_or_else(|| {
            let message = format!("argument \"{}\" must not be null", self.name_of(i));
            raise(&Error::new(ErrorKind::NullNotAllowed, message))
        })
    }

    /// The name under which the argument is declared.
    pub fn name_of(self, i: usize) -> String {
        // SAFETY: the row of a function that is running, with as many names as arguments if it has any; they are
        // copies.
        let name = |row, _: &pg_sys::FormData_pg_proc| unsafe {
            let (mut types, mut names, mut modes) = (null_mut(), null_mut(), null_mut());
            pg_sys::get_func_arg_info(row, &mut types, &mut names, &mut modes);
            (!names.is_null()).then(|| readable(CStr::from_ptr(*names.add(i)).to_bytes()))
        };
        // SAFETY: the cache is by OID, and has rows of this form.
        let name = unsafe {
            let function = (*(*self.0).flinfo).fn_oid;
            with_row(pg_sys::SysCacheIdentifier::PROCOID, function, name)
        };
        name.flatten().unwrap_or_else(|| (i + 1).to_string())
    }

    /// Whether an argument is the same as long as the place of the call is: a constant, or a parameter of the query that the
    /// portal runs. That of an expression in PL/pgSQL, whose place stays for the whole transaction, changes.
    pub fn is_settled(self, i: usize) -> bool {
        // SAFETY: the record of a running call has that of its function, whose expression is none, or that of the call. A node
        // with this tag is of that type, and arguments are expressions. The portal that runs, if there is one, has a
        // query or none.
        unsafe {
            let function = (*self.0).flinfo;
            let call = cast::<pg_sys::FuncExpr>((*function).fn_expr.cast(), NodeTag::T_FuncExpr);
            let Some(argument) = call.and_then(|call| list::node(call.args, i)) else {
                return false;
            };
            if cast::<pg_sys::Const>(argument, NodeTag::T_Const).is_some() {
                return true;
            }
            let query = pg_sys::ActivePortal
                .as_ref()
                .and_then(|p| p.queryDesc.as_ref());
            let executor = query.and_then(|query| query.estate.as_ref());
            cast::<pg_sys::Param>(argument, NodeTag::T_Param)
                .is_some_and(|p| p.paramkind == pg_sys::ParamKind::PARAM_EXTERN)
                && executor.is_some_and(|state| state.es_query_cxt == (*function).fn_mcxt)
        }
    }

    /// A regclass or oid.
    pub fn oid(self, i: usize) -> pg_sys::Oid {
        pg_sys::Oid::from(self.given(i).value() as u32)
    }

    /// A text.
    pub fn text(self, i: usize) -> String {
        // SAFETY: a text that lives as long as the call.
        unsafe { Text::from_raw(self.given(i)) }.as_str().to_owned()
    }

    /// A jsonb, as JSON text.
    pub fn jsonb(self, i: usize) -> String {
        // SAFETY: a jsonb that lives as long as the call.
        unsafe { json_text(self.given(i)) }
    }

    /// A name.
    pub fn name(self, i: usize) -> CString {
        // SAFETY: a name is a zero-terminated string.
        unsafe { CStr::from_ptr(self.given(i).cast_mut_ptr()).to_owned() }
    }

    /// The elements of a name[].
    ///
    /// Errors: a NULL among them, more than there can be columns.
    pub fn names(self, i: usize) -> Vec<CString> {
        let name_bytes = pg_sys::NAMEDATALEN as i32;
        let elements = self.elements(i, pg_sys::NAMEOID, name_bytes, false, b'c');
        // SAFETY: names are zero-terminated strings in the array, which outlives the call.
        let name = |name: pg_sys::Datum| unsafe { CStr::from_ptr(name.cast_mut_ptr()) }.to_owned();
        elements.into_iter().map(name).collect()
    }

    /// The elements of a text[].
    ///
    /// Errors: a NULL among them, more than there can be columns.
    pub fn texts(self, i: usize) -> Vec<String> {
        let elements = self.elements(i, pg_sys::TEXTOID, -1, false, b'i');
        // SAFETY: texts in the array, which outlives the call.
        let text = |text: pg_sys::Datum| unsafe { Text::from_raw(text) }.as_str().to_owned();
        elements.into_iter().map(text).collect()
    }

    /// A boolean.
    pub fn boolean(self, i: usize) -> bool {
        self.given(i).value() != 0
    }

    /// The elements of a float8[].
    ///
    /// Errors: a NULL among them, more than there can be columns.
    pub fn float8s(self, i: usize) -> Vec<f64> {
        let numbers = self.elements(i, pg_sys::FLOAT8OID, 8, true, b'd');
        numbers
            .into_iter()
            .map(|n| f64::from_bits(n.value() as u64))
            .collect()
    }

    fn elements(
        self,
        i: usize,
        of: pg_sys::Oid,
        length: i32,
        by_value: bool,
        align: u8,
    ) -> Vec<pg_sys::Datum> {
        let (mut datums, mut nulls, mut n) = (std::ptr::null_mut(), std::ptr::null_mut(), 0);
        // SAFETY: an array of this type; the server makes lists of n elements.
        let (datums, nulls) = unsafe {
            let array = pg_sys::pg_detoast_datum(self.given(i).cast_mut_ptr()).cast();
            pg_sys::deconstruct_array(
                array,
                of,
                length,
                by_value,
                align as _,
                &mut datums,
                &mut nulls,
                &mut n,
            );
            if n == 0 {
                return Vec::new();
            }
            (
                std::slice::from_raw_parts(datums, n as usize),
                std::slice::from_raw_parts(nulls, n as usize),
            )
        };
        if nulls.contains(&true) {
            raise(&Error::new(
                ErrorKind::NullNotAllowed,
                format!(
                    "argument \"{}\" must not contain null values",
                    self.name_of(i)
                ),
            ));
        }
        // The elements name columns, or belong to them.
        let most = pg_sys::MaxTupleAttributeNumber as usize;
        if datums.len() > most {
            let message = format!(
                "argument \"{}\" has {} elements",
                self.name_of(i),
                datums.len()
            );
            let detail = format!("There can be at most {most}.");
            raise(&Error::new(ErrorKind::LimitExceeded, message).detail(detail));
        }
        datums.to_vec()
    }

    /// A float8.
    pub fn float8(self, i: usize) -> f64 {
        f64::from_bits(self.given(i).value() as u64)
    }

    pub fn int8(self, i: usize) -> i64 {
        self.given(i).value() as i64
    }

    /// The least similarity of records that are duplicates.
    ///
    /// Errors: outside [0,1].
    pub fn threshold(self, i: usize) -> f64 {
        let threshold = self.float8(i);
        unit("threshold", threshold).or_raise();
        threshold
    }
}
