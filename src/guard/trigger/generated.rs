//! The value of a stored generated column in a BEFORE trigger, which fires before PostgreSQL computes it.

use pgrx::{pg_sys, PgMemoryContexts};

use pg::ffi;

/// An expression that is ready to run. It is kept with the trigger's function, as long as the statement runs.
struct PreparedExpression {
    table: pg_sys::Oid,
    column: i16,
    /// The one that was prepared before it.
    next: *mut PreparedExpression,
    expression: *mut pg_sys::ExprState,
    context: *mut pg_sys::ExprContext,
}

/// The value of the generated column for a row, `None` for NULL. It is valid until the next call for the same column.
///
/// # Safety
/// `table` is open, `slot` holds a row of it, `column` is a stored generated column of it, and `function` is that of the
/// running call.
pub unsafe fn value(
    table: pg_sys::Relation,
    column: i16,
    slot: *mut pg_sys::TupleTableSlot,
    function: *mut pg_sys::FmgrInfo,
) -> Option<pg_sys::Datum> {
    // SAFETY: only this function sets fn_extra. It points to memory of the function's own context, so it is valid as long as
    // the function is. The table is open, and the slot holds a row of it.
    unsafe {
        let mut prepared: *mut PreparedExpression = (*function).fn_extra.cast();
        while !prepared.is_null()
            && ((*prepared).table != (*table).rd_id || (*prepared).column != column)
        {
            prepared = (*prepared).next;
        }
        if prepared.is_null() {
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

/// # Safety
/// `table` is open, `column` is a stored generated column of it, and `function` is that of the running call.
unsafe fn prepare(
    table: pg_sys::Relation,
    column: i16,
    function: *mut pg_sys::FmgrInfo,
) -> *mut PreparedExpression {
    // SAFETY: a stored generated column has an expression. The executor state and the expression are made in the memory context
    // of the function, so all that they point to lives as long as the function.
    unsafe {
        PgMemoryContexts::For((*function).fn_mcxt).switch_to(|_| {
            let state = pg_sys::CreateExecutorState();
            let expression = ffi::build_column_default(table, column.into());
            let prepared: *mut PreparedExpression =
                pg_sys::palloc(size_of::<PreparedExpression>()).cast();
            prepared.write(PreparedExpression {
                table: (*table).rd_id,
                column,
                next: (*function).fn_extra.cast(),
                expression: ffi::ExecPrepareExpr(expression.cast(), state),
                context: pg_sys::MakePerTupleExprContext(state),
            });
            prepared
        })
    }
}
