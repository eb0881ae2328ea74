//! Text forms of values, as the output functions of their types give them.

use std::ffi::CStr;

use pgrx::pg_sys;

use crate::ffi;
use crate::function::rows::text_datum;
use crate::memory::Scratch;
use crate::values::varlena::Varlena;

/// The output function of a type. It lives as long as the memory context in which it was made.
pub struct OutputFunction {
    function: pg_sys::FmgrInfo,
    /// The value is its own text.
    plain: bool,
    /// Memory for a value.
    scratch: Scratch,
}

impl OutputFunction {
    /// The one of a type, which exists.
    pub fn new(type_oid: pg_sys::Oid) -> OutputFunction {
        let mut function = pg_sys::FmgrInfo::default();
        // SAFETY: catalog look-ups; what is looked up is kept in the current memory context, as the scratch memory is.
        unsafe {
            pg_sys::fmgr_info(function_of(type_oid), &mut function);
            let base = pg_sys::getBaseType(type_oid);
            OutputFunction {
                function,
                plain: base == pg_sys::TEXTOID || base == pg_sys::VARCHAROID,
                scratch: Scratch::new(c"text form of a value"),
            }
        }
    }

    /// Gives the bytes of a value's text form, in the database's encoding, to `to`. The value is one of the type, and
    /// not NULL.
    pub fn show<T>(&mut self, value: pg_sys::Datum, to: impl FnOnce(&[u8]) -> T) -> T {
        if self.plain {
            // SAFETY: the value is a text or varchar.
            return to(unsafe { Varlena::new(value) }.bytes());
        }
        let function = &raw mut self.function;
        // SAFETY: a value of the type. The text is a zero-terminated string that stays until the scratch memory is
        // reset.
        let result = unsafe {
            let text = self
                .scratch
                .within(|| ffi::OutputFunctionCall(function, value));
            to(CStr::from_ptr(text).to_bytes())
        };
        self.scratch.reset();
        result
    }

    /// A value's text form as a `text`, in the current memory context, where what the output function allocates stays
    /// too. It spares callers who free that memory for each value a second one. The value is as for
    /// [`OutputFunction::show`].
    pub fn text(&mut self, value: pg_sys::Datum) -> pg_sys::Datum {
        if self.plain {
            return self.show(value, text_datum);
        }
        // SAFETY: the value is one of the type. Its output function gives a zero-terminated string.
        unsafe {
            let text = ffi::OutputFunctionCall(&mut self.function, value);
            pg_sys::Datum::from(pg_sys::cstring_to_text(text))
        }
    }
}

/// The text form of a single value, in the database's encoding. What the output function allocates besides stays in the
/// current memory context.
///
/// # Safety
/// `value` is of this type, and not NULL.
pub unsafe fn text_form(value: pg_sys::Datum, type_oid: pg_sys::Oid) -> Vec<u8> {
    // SAFETY: a value of the type that the function is for; it gives a new zero-terminated string.
    unsafe {
        let text = ffi::OidOutputFunctionCall(function_of(type_oid), value);
        let copy = CStr::from_ptr(text).to_bytes().to_vec();
        pg_sys::pfree(text.cast());
        copy
    }
}

fn function_of(type_oid: pg_sys::Oid) -> pg_sys::Oid {
    let (mut function, mut is_varlena) = (pg_sys::InvalidOid, false);
    // SAFETY: a catalog look-up, which raises an error for a type that does not exist or is a shell.
    unsafe { pg_sys::getTypeOutputInfo(type_oid, &mut function, &mut is_varlena) };
    function
}
