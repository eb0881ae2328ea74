//! Results of several columns.

use pgrx::pg_sys;

use crate::values::varlena::NewValue;

/// One row of the calling function's OUT columns.
pub fn record<const N: usize>(
    fcinfo: pg_sys::FunctionCallInfo,
    values: [Option<pg_sys::Datum>; N],
) -> NewValue {
    let mut datums = values.map(|v| v.unwrap_or(pg_sys::Datum::null()));
    let mut nulls = values.map(|v| v.is_none());
    let mut descriptor: pg_sys::TupleDesc = std::ptr::null_mut();
    // SAFETY: the function is declared with N OUT columns of the values' types, so its result
    // type resolves to a descriptor of N columns.
    unsafe {
        let class = pg_sys::get_call_result_type(fcinfo, std::ptr::null_mut(), &mut descriptor);
        assert!(
            class == pg_sys::TypeFuncClass::TYPEFUNC_COMPOSITE && (*descriptor).natts as usize == N,
            "result columns as declared"
        );
        let tuple = pg_sys::heap_form_tuple(
            pg_sys::BlessTupleDesc(descriptor),
            datums.as_mut_ptr(),
            nulls.as_mut_ptr(),
        );
        NewValue(pg_sys::HeapTupleHeaderGetDatum((*tuple).t_data))
    }
}
