//! Text forms of values.

use std::ffi::CStr;

use pgrx::pg_sys;

use crate::pg::ffi;
use crate::pg::values::varlena::Varlena;

/// How values of a type are shown.
pub struct Output {
    function: pg_sys::FmgrInfo,
    /// The value is its own text.
    plain: bool,
    /// Memory for a value.
    scratch: pg_sys::MemoryContext,
}

impl Output {
    pub fn new(type_oid: pg_sys::Oid) -> Output {
        let mut function = pg_sys::FmgrInfo::default();
        // SAFETY: a type that exists; the context goes with the connection.
        unsafe {
            let (mut oid, mut is_varlena) = (pg_sys::InvalidOid, false);
            pg_sys::getTypeOutputInfo(type_oid, &mut oid, &mut is_varlena);
            pg_sys::fmgr_info(oid, &mut function);
            let base = pg_sys::getBaseType(type_oid);
            Output {
                function,
                plain: base == pg_sys::TEXTOID || base == pg_sys::VARCHAROID,
                scratch: pg_sys::AllocSetContextCreateInternal(
                    pg_sys::CurrentMemoryContext,
                    c"text form of a value".as_ptr(),
                    pg_sys::ALLOCSET_SMALL_MINSIZE as usize,
                    pg_sys::ALLOCSET_SMALL_INITSIZE as usize,
                    pg_sys::ALLOCSET_DEFAULT_MAXSIZE as usize,
                ),
            }
        }
    }

    /// Gives the bytes of a value's text form, in the database's encoding.
    pub fn show<T>(&mut self, value: pg_sys::Datum, to: impl FnOnce(&[u8]) -> T) -> T {
        // SAFETY: a value of the type; what its output function leaves behind is freed.
        unsafe {
            if self.plain {
                return to(Varlena::of(value).bytes());
            }
            let before = pg_sys::MemoryContextSwitchTo(self.scratch);
            let text = ffi::OutputFunctionCall(&mut self.function, value);
            pg_sys::MemoryContextSwitchTo(before);
            let result = to(CStr::from_ptr(text).to_bytes());
            pg_sys::MemoryContextReset(self.scratch);
            result
        }
    }
}
