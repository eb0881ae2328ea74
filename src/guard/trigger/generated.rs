//! A stored generated column, computed for a BEFORE trigger, which runs before PostgreSQL does it.

use crate::pg::ffi;
use pgrx::{pg_sys, PgMemoryContexts};

/// The expression, ready to run; kept with the trigger's call, so as long as the statement.
struct PreparedExpression {
    table: pg_sys::Oid,
    expression: *mut pg_sys::ExprState,
    context: *mut pg_sys::ExprContext,
}

/// The value of the generated column for a row, until the next call.
///
/// SAFETY: `table` is open, `slot` holds a row of it, `column` is a stored generated column, `function` is that of
/// the running call.
pub unsafe fn value(
    table: pg_sys::Relation,
    column: i16,
    slot: *mut pg_sys::TupleTableSlot,
    function: *mut pg_sys::FmgrInfo,
) -> Option<pg_sys::Datum> {
    // SAFETY: as promised by the caller; what is kept is in the memory of the call's function.
    unsafe {
        let mut prepared: *mut PreparedExpression = (*function).fn_extra.cast();
        if prepared.is_null() || (*prepared).table != (*table).rd_id {
            prepared = prepare(table, column, function);
            (*function).fn_extra = prepared.cast();
        }
        let context = (*prepared).context;
        pg_sys::MemoryContextReset((*context).ecxt_per_tuple_memory);
        (*context).ecxt_scantuple = slot;
        (*slot).tts_tableOid = (*table).rd_id;
        let mut null = false;
        let value = ffi::ExecEvalExprSwitchContext((*prepared).expression, context, &mut null);
        (!null).then_some(value)
    }
}

/// SAFETY: as for [`value`].
unsafe fn prepare(
    table: pg_sys::Relation,
    column: i16,
    function: *mut pg_sys::FmgrInfo,
) -> *mut PreparedExpression {
    // SAFETY: as promised by the caller; the executor state is a child of the function's memory.
    unsafe {
        PgMemoryContexts::For((*function).fn_mcxt).switch_to(|_| {
            let state = pg_sys::CreateExecutorState();
            let expression = ffi::build_column_default(table, column.into());
            let prepared: *mut PreparedExpression =
                pg_sys::palloc(size_of::<PreparedExpression>()).cast();
            prepared.write(PreparedExpression {
                table: (*table).rd_id,
                expression: ffi::ExecPrepareExpr(expression.cast(), state),
                context: pg_sys::MakePerTupleExprContext(state),
            });
            prepared
        })
    }
}
