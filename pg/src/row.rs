//! A row of a trigger's table, and its versions: which transaction has made one, whether it is still the newest, and
//! which one is.

use std::cell::RefCell;
use std::ffi::CStr;
use std::ops::Deref;

use pgrx::{pg_sys, PgMemoryContexts};

use crate::ffi;
use crate::snapshot::of_version;

/// A row in a slot. In a BEFORE trigger it has its stored generated columns too, which PostgreSQL computes only after
/// such triggers.
pub struct Row {
    pub table: pg_sys::Relation,
    pub slot: *mut pg_sys::TupleTableSlot,
    /// The function of the BEFORE trigger, which keeps the expressions of generated columns ready; else NULL.
    function: *mut pg_sys::FmgrInfo,
    /// The generated columns that were computed: the value of each is computed once, so that it stays as long as the
    /// call.
    computed: RefCell<Vec<(i16, Option<pg_sys::Datum>)>>,
}

/// An expression that is ready to run. It is kept with the trigger's function, as long as the statement runs.
struct PreparedExpression {
    table: pg_sys::Oid,
    column: i16,
    /// The one that was prepared before it.
    next: *mut PreparedExpression,
    expression: *mut pg_sys::ExprState,
    context: *mut pg_sys::ExprContext,
}

impl Row {
    /// `function` is NULL for a row that has the values of all columns, else it is the function of the BEFORE trigger
    /// whose new row this is.
    ///
    /// # Safety
    /// `slot` holds a row of `table`, which is open, as long as this lives. The function is that of the running call,
    /// whose fn_extra nothing else uses.
    pub unsafe fn new(
        table: pg_sys::Relation,
        slot: *mut pg_sys::TupleTableSlot,
        function: *mut pg_sys::FmgrInfo,
    ) -> Row {
        let computed = RefCell::default();
        Row {
            table,
            slot,
            function,
            computed,
        }
    }

    /// The OID of its table.
    pub fn table_oid(&self) -> pg_sys::Oid {
        // SAFETY: the table is open.
        unsafe { (*self.table).rd_id }
    }

    /// Its table's columns, but for those that were dropped.
    pub fn columns(&self) -> impl Iterator<Item = &pg_sys::FormData_pg_attribute> {
        // SAFETY: an open table has a descriptor, with as many columns as it says.
        let all = unsafe {
            let columns = (*self.table).rd_att;
            (0..(*columns).natts).map(move |i| &*ffi::attribute(columns, i))
        };
        all.filter(|column| !column.attisdropped)
    }

    /// The row as a value of its table's type, with NULL for columns that were dropped, or whose names are not `wanted`: the
    /// values of these are not looked at, however long they are.
    pub fn composite(&self, wanted: impl Fn(&CStr) -> bool) -> pg_sys::Datum {
        // SAFETY: the table is open, and has a descriptor. There are as many values as columns, of their types.
        unsafe {
            let columns = (*self.table).rd_att;
            let value = |i: i32| {
                let column = &*ffi::attribute(columns, i);
                let is_wanted = !column.attisdropped && wanted(name_of(column));
                is_wanted.then(|| self.get(i as i16 + 1)).flatten()
            };
            let values: Vec<Option<pg_sys::Datum>> = (0..(*columns).natts).map(value).collect();
            let or_null = |value: &Option<pg_sys::Datum>| value.unwrap_or(pg_sys::Datum::null());
            let mut datums: Vec<pg_sys::Datum> = values.iter().map(or_null).collect();
            let mut nulls: Vec<bool> = values.iter().map(Option::is_none).collect();
            let tuple = pg_sys::heap_form_tuple(columns, datums.as_mut_ptr(), nulls.as_mut_ptr());
            pg_sys::heap_copy_tuple_as_datum(tuple, columns)
        }
    }

    /// The value of a column, `None` for NULL. It is valid as long as the slot holds the row.
    ///
    /// Errors: the table has no such column.
    pub fn get(&self, column: i16) -> Option<pg_sys::Datum> {
        assert!(column > 0, "a system column");
        if self.is_to_compute(column) {
            return self.generated(column);
        }
        let mut null = false;
        // SAFETY: the slot holds a row, and the server refuses the number of a column that the row has not.
        let value = unsafe { pg_sys::slot_getattr(self.slot, column.into(), &mut null) };
        (!null).then_some(value)
    }

    fn is_to_compute(&self, column: i16) -> bool {
        // SAFETY: an open table has a descriptor, with as many columns as it says.
        unsafe {
            let columns = (*self.table).rd_att;
            !self.function.is_null()
                && i32::from(column) <= (*columns).natts
                && (*ffi::attribute(columns, i32::from(column) - 1)).attgenerated as u8 == b's'
        }
    }

    /// The value of a stored generated column.
    fn generated(&self, column: i16) -> Option<pg_sys::Datum> {
        let known = |all: &Vec<(i16, _)>| all.iter().find(|(c, _)| *c == column).map(|(_, v)| *v);
        if let Some(value) = known(&self.computed.borrow()) {
            return value;
        }
        let (table, function) = (self.table_oid(), self.function);
        // SAFETY: only this function sets fn_extra. It points to memory of the function's own context, so it is valid
        // as long as the function is. The table is open, and the slot holds a row of it.
        let value = unsafe {
            let mut prepared: *mut PreparedExpression = (*function).fn_extra.cast();
            while !prepared.is_null()
                && ((*prepared).table != table || (*prepared).column != column)
            {
                prepared = (*prepared).next;
            }
            if prepared.is_null() {
                prepared = self.prepare(column);
                (*function).fn_extra = prepared.cast();
            }
            let context = (*prepared).context;
            pg_sys::MemoryContextReset((*context).ecxt_per_tuple_memory);
            (*context).ecxt_scantuple = self.slot;
            (*self.slot).tts_tableOid = table;
            let mut null = false;
            let value = ffi::ExecEvalExprSwitchContext((*prepared).expression, context, &mut null);
            (!null).then_some(value)
        };
        self.computed.borrow_mut().push((column, value));
        value
    }

    /// # Safety
    /// `column` is a stored generated column, and the function that of the running call.
    unsafe fn prepare(&self, column: i16) -> *mut PreparedExpression {
        // SAFETY: a stored generated column has an expression. The executor state and the expression are made in the
        // memory context of the function, so all that they point to lives as long as the function.
        unsafe {
            PgMemoryContexts::For((*self.function).fn_mcxt).switch_to(|_| {
                let state = pg_sys::CreateExecutorState();
                let expression = ffi::build_column_default(self.table, column.into());
                let room = pg_sys::palloc(size_of::<PreparedExpression>());
                let prepared: *mut PreparedExpression = room.cast();
                prepared.write(PreparedExpression {
                    table: self.table_oid(),
                    column,
                    next: (*self.function).fn_extra.cast(),
                    expression: ffi::ExecPrepareExpr(expression.cast(), state),
                    context: pg_sys::MakePerTupleExprContext(state),
                });
                prepared
            })
        }
    }
}

/// The name of a column.
pub fn name_of(column: &pg_sys::FormData_pg_attribute) -> &CStr {
    // SAFETY: names end with a zero byte.
    unsafe { CStr::from_ptr(column.attname.data.as_ptr()) }
}

/// A slot of a table, and the row that is fetched into it.
pub struct FetchedRow(Row);

impl FetchedRow {
    /// No row yet: nothing may be asked of it before one was fetched into the slot.
    ///
    /// # Safety
    /// `table` is open as long as this lives.
    pub unsafe fn none(table: pg_sys::Relation) -> FetchedRow {
        let none = std::ptr::null_mut();
        // SAFETY: the slot is made for this table.
        unsafe {
            let slot = pg_sys::table_slot_create(table, std::ptr::null_mut());
            FetchedRow(Row::new(table, slot, none))
        }
    }
}

impl Deref for FetchedRow {
    type Target = Row;

    fn deref(&self) -> &Row {
        &self.0
    }
}

impl Drop for FetchedRow {
    fn drop(&mut self) {
        // After an error the server frees the slot with its memory.
        if !std::thread::panicking() {
            // SAFETY: `none` has made the slot, and nothing else drops it.
            unsafe { pg_sys::ExecDropSingleTupleTableSlot(self.0.slot) };
        }
    }
}

/// Whether the table of a row is foreign: its rows come without system columns, and have no versions.
fn is_foreign(row: &Row) -> bool {
    // SAFETY: an open table is in the relation cache. A foreign table has no access method.
    unsafe { (*row.table).rd_tableam.is_null() }
}

/// Whether this transaction has made the version.
pub fn is_of_this_transaction(row: &Row) -> bool {
    let mut null = false;
    // SAFETY: the slot holds a row of a table that is not foreign, so it has system columns; xmin is a transaction's
    // number.
    unsafe {
        if is_foreign(row) {
            return false;
        }
        let number = pg_sys::MinTransactionIdAttributeNumber;
        let inserter = pg_sys::slot_getsysattr(row.slot, number, &mut null);
        let inserter = pg_sys::TransactionId::from(inserter.value() as u32);
        !null && pg_sys::TransactionIdIsCurrentTransactionId(inserter)
    }
}

/// Whether this version of the row is still the newest.
pub fn is_live(row: &Row) -> bool {
    // SAFETY: the slot holds a version of a row of the table.
    unsafe {
        is_foreign(row) || pg_sys::table_tuple_satisfies_snapshot(row.table, row.slot, of_version())
    }
}

/// The newest version of a row; `None` if the row is deleted, or now in another partition. Its table is not foreign,
/// and stays open as long as the result lives.
pub fn newest(row: &Row) -> Option<FetchedRow> {
    // SAFETY: the table is open and keeps rows with tids, of which the slot holds one.
    unsafe {
        let mut tid = (*row.slot).tts_tid;
        let scan = ffi::table_beginscan_tid(row.table, of_version());
        ffi::table_tuple_get_latest_tid(scan, &mut tid);
        ffi::table_endscan(scan);
        let newest = FetchedRow::none(row.table);
        ffi::table_tuple_fetch_row_version(row.table, &mut tid, of_version(), newest.slot)
            .then_some(newest)
    }
}

/// The header of the tuple in a slot.
///
/// # Safety
/// The slot holds a tuple of heap, in a buffer, which it has pinned.
pub unsafe fn header(slot: *mut pg_sys::TupleTableSlot) -> pg_sys::HeapTupleHeader {
    // SAFETY: a slot of this kind has the tuple itself with its header.
    unsafe { (*pg_sys::ExecFetchSlotHeapTuple(slot, false, std::ptr::null_mut())).t_data }
}
