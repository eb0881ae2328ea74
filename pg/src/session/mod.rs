//! Statements that run with the caller's privileges, and see rows that the function has kept: the one way to the
//! server's SPI.

use std::cell::RefCell;
use std::ffi::{c_int, CStr};
use std::panic::{catch_unwind, AssertUnwindSafe};

use pgrx::pg_sys;

use crate::boundary::raised_if;
use crate::error::internal;
use crate::ffi;
use crate::memory::{within, Scratch};
use crate::message::Message;
use crate::sql::Sql;

pub mod acting_user;
pub mod fixed_settings;
mod rows;
mod saved_plan;
pub mod tuple_store;

pub use rows::{read, QueryRow, Rows};
pub use saved_plan::SavedPlan;
use tuple_store::TupleStore;

/// Rows that a query of many rows mostly fetches at a time.
pub const BATCH: i64 = 1000;

/// Fails on a standby, where a function of this name can change nothing, before it has done the rest of its work.
pub fn not_during_recovery(function: &CStr) {
    // SAFETY: a C string.
    unsafe { ffi::PreventCommandDuringRecovery(function.as_ptr()) };
}

/// Fails on a standby and in a transaction that may only read, for what changes tables by itself, without a statement.
pub fn not_read_only(what: &CStr) {
    // SAFETY: a C string.
    unsafe {
        ffi::PreventCommandIfReadOnly(what.as_ptr());
        ffi::PreventCommandDuringRecovery(what.as_ptr());
    }
}

/// A value of a parameter, with its type.
pub type Parameter = (pg_sys::Oid, pg_sys::Datum);

/// A connection of the SPI, until it is dropped. Within it [`TupleStore`]s are tables.
///
/// A session that may only read sees what its caller sees. Otherwise each statement sees what is there when it begins,
/// as in a transaction.
pub struct Session {
    outside: pg_sys::MemoryContext,
    read_only: bool,
}

/// Rows of a statement. They are a table of the session as long as this lives.
pub struct KeptRows<'a> {
    session: &'a Session,
    name: &'static CStr,
    store: TupleStore,
}

impl KeptRows<'_> {
    /// How many there are.
    pub fn rows(&self) -> u64 {
        self.store.rows()
    }
}

impl Drop for KeptRows<'_> {
    fn drop(&mut self) {
        // After an error the server forgets the table itself.
        if !std::thread::panicking() {
            self.session.forget(self.name);
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // After an error the server does it.
        if !std::thread::panicking() {
            // SAFETY: connected by `begin`.
            unsafe { ffi::SPI_finish() };
        }
    }
}

impl Session {
    /// Begins a session.
    pub fn begin(read_only: bool) -> Session {
        // SAFETY: the protocol of the SPI.
        unsafe {
            let outside = pg_sys::CurrentMemoryContext;
            ffi::SPI_connect();
            Session { outside, read_only }
        }
    }

    /// Begins a session of a procedure, which may commit between its statements, and changes rows.
    pub fn begin_nonatomic() -> Session {
        // SAFETY: the protocol of the SPI.
        unsafe {
            let outside = pg_sys::CurrentMemoryContext;
            ffi::SPI_connect_ext(pg_sys::SPI_OPT_NONATOMIC as c_int);
            let read_only = false;
            Session { outside, read_only }
        }
    }

    /// Commits what was done, and begins the next transaction. Nothing may be open that ends with one.
    ///
    /// Errors: the session cannot commit; those of what waits for the end of the transaction.
    pub fn commit(&self) {
        // SAFETY: the session is connected. The server raises an error where it cannot commit.
        unsafe { ffi::SPI_commit() };
    }

    /// Makes the rows of a store a table of this name, as they are until the session ends.
    pub fn table(&self, name: &CStr, store: &TupleStore) {
        // SAFETY: the session is connected, and keeps what it is told of the table as long as it is, with a copy of the
        // name. The store lives longer.
        unsafe {
            let table = pg_sys::palloc0(size_of::<pg_sys::EphemeralNamedRelationData>());
            let table: pg_sys::EphemeralNamedRelation = table.cast();
            (*table).md = pg_sys::EphemeralNamedRelationMetadataData {
                name: pg_sys::pstrdup(name.as_ptr()),
                reliddesc: pg_sys::InvalidOid,
                tupdesc: store.columns(),
                enrtype: pg_sys::EphemeralNameRelationType::ENR_NAMED_TUPLESTORE,
                enrtuples: store.rows() as f64,
            };
            (*table).reldata = store.pointer().cast();
            check(
                "SPI_register_relation",
                pg_sys::SPI_register_relation(table),
            );
        }
    }

    /// Takes a store of this name back, so that another can have it.
    pub fn forget(&self, name: &'static CStr) {
        // SAFETY: the session is connected; a C string.
        let code = unsafe { pg_sys::SPI_unregister_relation(name.as_ptr()) };
        check("SPI_unregister_relation", code);
    }

    /// Keeps the rows that a statement gives, as a table of this name. A statement that changes rows and returns them
    /// has done so when this returns.
    ///
    /// Errors: as the statement.
    pub fn keep(&self, name: &'static CStr, sql: &Sql, parameters: &[Parameter]) -> KeptRows<'_> {
        let rows = self.rows(sql, parameters);
        // SAFETY: the descriptor of the statement's rows.
        let mut store = self.in_callers_memory(|| unsafe { TupleStore::of_rows(rows.columns()) });
        rows.each(|row| store.put_row(row));
        self.table(name, &store);
        KeptRows {
            session: self,
            name,
            store,
        }
    }

    /// Runs a statement that changes tables and returns no rows. Returns how many rows it has changed, or added.
    ///
    /// Errors: as the statement.
    pub fn run(&self, sql: &Sql, parameters: &[Parameter]) -> u64 {
        let sql = sql.clone().into_c();
        let (mut types, mut values): (Vec<_>, Vec<_>) = parameters.iter().copied().unzip();
        // SAFETY: connected; as many values as types, none of them NULL.
        unsafe {
            let code = ffi::SPI_execute_with_args(
                sql.as_ptr(),
                parameters.len() as i32,
                types.as_mut_ptr(),
                values.as_mut_ptr(),
                std::ptr::null(),
                self.read_only,
                0,
            );
            check("SPI_execute_with_args", code);
            changed()
        }
    }

    /// Runs a statement as [`Session::run`] does. If a row offends a constraint, nothing has changed, and the result
    /// says what the server has raised.
    ///
    /// Errors: all others of the statement.
    pub fn attempt(&self, sql: &Sql, parameters: &[Parameter]) -> Result<u64, Box<Message>> {
        // SAFETY: the session is a connection of its own, which the subtransaction does not end.
        unsafe { in_subtransaction(|| self.run(sql, parameters), Message::is_violation) }
    }

    /// Runs a statement as [`Session::run`] does, on what is committed now, though the transaction's snapshot may be older.
    ///
    /// Errors: as the statement.
    pub fn run_on_latest(&self, sql: &Sql) -> u64 {
        // SAFETY: connected, and the statement has no parameters. The server copies the snapshot.
        unsafe { execute(sql, pg_sys::GetLatestSnapshot(), true) }
    }

    /// Runs a statement as [`Session::run`] does, and `before` between its changes and what these lead to: triggers
    /// AFTER, and so the actions of foreign keys, wait until `before` has run.
    ///
    /// Errors: as the statement and `before`.
    pub fn run_before_triggers(&self, sql: &Sql, before: impl FnOnce()) -> u64 {
        // SAFETY: connected, and the statement has no parameters. The level of triggers that is begun here is ended
        // below, or by the server after an error. The server makes an executor's state where it is given none. The
        // snapshot is pushed and popped around what may look for one.
        unsafe {
            ffi::AfterTriggerBeginQuery();
            let changed = execute(sql, std::ptr::null_mut(), false);
            before();
            pg_sys::PushActiveSnapshot(pg_sys::GetTransactionSnapshot());
            ffi::AfterTriggerEndQuery(std::ptr::null_mut());
            pg_sys::PopActiveSnapshot();
            changed
        }
    }

    /// Begins a query.
    ///
    /// Errors: as the query.
    fn rows(&self, sql: &Sql, parameters: &[Parameter]) -> Rows<&Session> {
        Rows::begin(self, sql.clone(), parameters, BATCH)
    }

    /// Gives every row of a query to `each`. What `each` allocates is freed after each row.
    ///
    /// Errors: as the query.
    pub fn each(&self, sql: &Sql, parameters: &[Parameter], mut each: impl FnMut(QueryRow<'_>)) {
        self.each_with(sql, parameters, |_| (), |(), row| each(row));
    }

    /// As [`Session::each`], with what `begin` makes of the query's columns; what it allocates is freed at the end.
    ///
    /// Errors: as the query.
    pub fn each_with<T>(
        &self,
        sql: &Sql,
        parameters: &[Parameter],
        begin: impl FnOnce(&Rows<&Session>) -> T,
        each: impl FnMut(&mut T, QueryRow<'_>),
    ) {
        self.scan(sql, parameters, begin, each, |_| ());
    }

    /// Gives the rows of a query that follow each other with the same number in their first column to `each`, together.
    /// They are in memory together.
    ///
    /// Errors: as the query.
    pub fn groups<T>(
        &self,
        sql: &Sql,
        begin: impl FnOnce(&Rows<&Session>) -> T,
        mut each: impl FnMut(&mut T, &[QueryRow<'_>]),
    ) {
        struct Open {
            number: Option<i64>,
            rows: Vec<QueryRow<'static>>,
            memory: Scratch,
        }
        let each = RefCell::new(&mut each);
        let give = |(state, open): &mut (T, Open)| {
            if !open.rows.is_empty() {
                let rows = std::mem::take(&mut open.rows);
                (each.borrow_mut())(state, &rows);
                open.memory.reset();
            }
        };
        self.scan(
            sql,
            &[],
            |rows| {
                let open = Open {
                    number: None,
                    rows: Vec::new(),
                    memory: Scratch::new(c"rows that belong together"),
                };
                (begin(rows), open)
            },
            |both, row| {
                let number = row.datum(0).map(|number| number.value() as i64);
                if number != both.1.number {
                    give(both);
                    both.1.number = number;
                }
                // SAFETY: `give` forgets the rows before their memory is freed, and before the query ends.
                let copy = both.1.memory.within(|| unsafe { row.copy() });
                both.1.rows.push(copy);
            },
            give,
        );
    }

    fn scan<T>(
        &self,
        sql: &Sql,
        parameters: &[Parameter],
        begin: impl FnOnce(&Rows<&Session>) -> T,
        mut each: impl FnMut(&mut T, QueryRow<'_>),
        end: impl FnOnce(&mut T),
    ) {
        let rows = self.rows(sql, parameters);
        self.in_callers_memory(|| {
            let mut whole = Scratch::new(c"rows of a query");
            let mut state = whole.within(|| begin(&rows));
            let mut scratch = Scratch::new(c"row of a query");
            rows.fetch(|row| {
                scratch.with(|| each(&mut state, row));
                true
            });
            scratch.with(|| end(&mut state));
            drop(state);
            scratch.delete();
            whole.delete();
        });
    }

    /// A query's only row, by its first column as an integer; 0 if there is none, or NULL.
    ///
    /// Errors: as the query.
    pub fn number(&self, sql: &Sql, parameters: &[Parameter]) -> i64 {
        let mut number = 0;
        self.each(sql, parameters, |row| number = row.integer(0));
        number
    }

    /// Runs in the memory context that was current when the session began: what `run` makes outlives it.
    pub fn in_callers_memory<T>(&self, run: impl FnOnce() -> T) -> T {
        // SAFETY: the context lives as long as the function that began the session runs.
        unsafe { within(self.outside, run) }
    }
}

/// Fails if a function of the SPI has not done what it is for.
fn check(function: &str, code: c_int) {
    if code < 0 {
        internal!("{function} returned {code}");
    }
}

/// Runs in a subtransaction. If an error is raised that is caught, nothing has changed, and the result says which.
///
/// Errors: all others.
///
/// # Safety
/// What `run` opens it closes, unless it fails.
pub unsafe fn in_subtransaction<T>(
    run: impl FnOnce() -> T,
    is_caught: impl FnOnce(&Message) -> bool,
) -> Result<T, Box<Message>> {
    // SAFETY: the subtransaction is ended on both ways out; memory and resources are as they were before it, as the
    // server asks for.
    unsafe {
        let (memory, owner) = (pg_sys::CurrentMemoryContext, pg_sys::CurrentResourceOwner);
        let back = || {
            pg_sys::MemoryContextSwitchTo(memory);
            pg_sys::CurrentResourceOwner = owner;
        };
        ffi::BeginInternalSubTransaction(std::ptr::null());
        pg_sys::MemoryContextSwitchTo(memory);
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(result) => {
                ffi::ReleaseCurrentSubTransaction();
                back();
                Ok(result)
            }
            Err(payload) => {
                ffi::RollbackAndReleaseCurrentSubTransaction();
                back();
                Err(raised_if(payload, is_caught))
            }
        }
    }
}

/// Runs a statement as a snapshot sees the tables, or as the transaction's does if there is none. Returns how many rows it has
/// changed.
///
/// # Safety
/// A session is connected, and the statement has no parameters.
unsafe fn execute(sql: &Sql, snapshot: pg_sys::Snapshot, fire_triggers: bool) -> u64 {
    let sql = sql.clone().into_c();
    // SAFETY: the caller's.
    unsafe {
        let plan = ffi::SPI_prepare(sql.as_ptr(), 0, std::ptr::null_mut());
        if plan.is_null() {
            internal!("SPI_prepare returned no plan");
        }
        let (none, values, nulls) = (std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null());
        let code =
            ffi::SPI_execute_snapshot(plan, values, nulls, snapshot, none, false, fire_triggers, 0);
        check("SPI_execute_snapshot", code);
        let changed = changed();
        ffi::SPI_freeplan(plan);
        changed
    }
}

/// How many rows the statement that has run has changed; what it returned is freed.
///
/// # Safety
/// A session has just run one.
unsafe fn changed() -> u64 {
    // SAFETY: variables of the SPI, which belong to the statement.
    unsafe {
        pg_sys::SPI_freetuptable(pg_sys::SPI_tuptable);
        pg_sys::SPI_processed
    }
}
