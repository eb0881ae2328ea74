//! What a function keeps at the place where a statement calls it, from one call to the next.

use pgrx::pg_sys;

use crate::memory::within;
use crate::values::varlena::NewValue;

/// What is kept at the place of a call. It lives as long as the statement is prepared for execution.
pub struct Place {
    /// A number that means something to the function; 0 before it is set.
    pub number: usize,
    /// The columns of the function's result, once they are known.
    columns: pg_sys::TupleDesc,
}

/// The place of a call.
///
/// # Safety
/// `fcinfo` is that of a running function, of which nothing else uses `fn_extra`. The result is used during that call only,
/// and is the only one.
pub unsafe fn place<'a>(fcinfo: pg_sys::FunctionCallInfo) -> &'a mut Place {
    // SAFETY: the record of a running call has that of its function. What fn_extra points to was made here, in the
    // function's own context, and lives as long as that.
    unsafe {
        let function = (*fcinfo).flinfo;
        if (*function).fn_extra.is_null() {
            let made: *mut Place = within((*function).fn_mcxt, || {
                pg_sys::palloc(size_of::<Place>()).cast()
            });
            made.write(Place {
                number: 0,
                columns: std::ptr::null_mut(),
            });
            (*function).fn_extra = made.cast();
        }
        &mut *(*function).fn_extra.cast()
    }
}

impl Place {
    /// One row of the calling function's OUT columns, whose types are looked up once.
    ///
    /// # Safety
    /// `fcinfo` is that of the call that this is the place of. The function is declared with N OUT columns of the values'
    /// types.
    pub unsafe fn record<const N: usize>(
        &mut self,
        fcinfo: pg_sys::FunctionCallInfo,
        values: [pg_sys::Datum; N],
    ) -> NewValue {
        let mut values = values;
        let mut nulls = [false; N];
        // SAFETY: the descriptor is made in the function's own context, where it lives as long as this.
        unsafe {
            if self.columns.is_null() {
                let mut columns: pg_sys::TupleDesc = std::ptr::null_mut();
                within((*(*fcinfo).flinfo).fn_mcxt, || {
                    pg_sys::get_call_result_type(fcinfo, std::ptr::null_mut(), &mut columns);
                    if !columns.is_null() {
                        columns = pg_sys::BlessTupleDesc(columns);
                    }
                });
                self.columns = columns;
            }
            let is_declared_so = !self.columns.is_null() && (*self.columns).natts as usize == N;
            assert!(is_declared_so, "result columns as declared");
            let tuple =
                pg_sys::heap_form_tuple(self.columns, values.as_mut_ptr(), nulls.as_mut_ptr());
            NewValue(pg_sys::HeapTupleHeaderGetDatum((*tuple).t_data))
        }
    }
}
