//! C functions and variables that are declared by hand: those of the server that are called without pgrx, and one of
//! the C library.
//!
//! Functions that may run code of users, read files, wait, or look for interrupts are called by `boundary::call`, so that an error
//! in them keeps all its fields. The compiler compares each declaration with the server's headers, as far as bindgen
//! has read these. Everything else that the server offers is called as `pg_sys` has it.

#![allow(non_snake_case, clippy::too_many_arguments, clippy::missing_safety_doc)]

use std::ffi::{c_char, c_int, c_long, c_void};

use pgrx::pg_sys::*;

use super::boundary::call;

macro_rules! server {
    ($($(#[$($attribute:tt)+])* fn $name:ident($($argument:ident: $of_type:ty),* $(,)?) $(-> $result:ty)?;)+) => {$(
        server! { @cfg [] [] $(#[$($attribute)+])* fn $name($($argument: $of_type),*) $(-> $result)?; }
    )+};
    // A condition belongs to the whole function, the name in the library to the declaration.
    (@cfg [$($cfg:tt)*] [$($link:tt)*] #[cfg($($condition:tt)+)] $($rest:tt)+) => {
        server! { @cfg [$($cfg)* #[cfg($($condition)+)]] [$($link)*] $($rest)+ }
    };
    (@cfg [$($cfg:tt)*] [$($link:tt)*] #[link_name = $symbol:literal] $($rest:tt)+) => {
        server! { @cfg [$($cfg)*] [$($link)* #[link_name = $symbol]] $($rest)+ }
    };
    (@cfg [$($cfg:tt)*] [$($link:tt)*] fn $name:ident($($argument:ident: $of_type:ty),*) $(-> $result:ty)?;) => {
        /// As the server documents it.
        $($cfg)*
        #[inline]
        pub unsafe fn $name($($argument: $of_type),*) $(-> $result)? {
            const _: unsafe fn($($of_type),*) $(-> $result)? = pgrx::pg_sys::$name;
            unsafe extern "C-unwind" {
                $($link)*
                fn $name($($argument: $of_type),*) $(-> $result)?;
            }
            // SAFETY: the caller passes what the server asks for. Pointers and numbers have nothing to drop.
            unsafe { call(move || $name($($argument),*)) }
        }
    };
}

/// The same for functions whose headers bindgen leaves out.
macro_rules! declared {
    ($($(#[$attribute:meta])* fn $name:ident($($argument:ident: $of_type:ty),* $(,)?) $(-> $result:ty)?;)+) => {$(
        $(#[$attribute])*
        #[inline]
        pub unsafe fn $name($($argument: $of_type),*) $(-> $result)? {
            unsafe extern "C-unwind" {
                fn $name($($argument: $of_type),*) $(-> $result)?;
            }
            // SAFETY: the caller passes what the server asks for. Pointers and numbers have nothing to drop.
            unsafe { call(move || $name($($argument),*)) }
        }
    )+};
}

server! {
    fn SPI_connect() -> c_int;
    fn SPI_connect_ext(options: c_int) -> c_int;
    fn SPI_commit();
    fn SPI_finish() -> c_int;
    fn SPI_prepare(src: *const c_char, nargs: c_int, argtypes: *mut Oid) -> SPIPlanPtr;
    fn SPI_keepplan(plan: SPIPlanPtr) -> c_int;
    fn SPI_freeplan(plan: SPIPlanPtr) -> c_int;
    fn SPI_execute_with_args(src: *const c_char, nargs: c_int, argtypes: *mut Oid, Values: *mut Datum, Nulls: *const c_char, read_only: bool, tcount: c_long) -> c_int;
    fn SPI_execute_plan(plan: SPIPlanPtr, Values: *mut Datum, Nulls: *const c_char, read_only: bool, tcount: c_long) -> c_int;
    fn SPI_execute_snapshot(plan: SPIPlanPtr, Values: *mut Datum, Nulls: *const c_char, snapshot: Snapshot, crosscheck_snapshot: Snapshot, read_only: bool, fire_triggers: bool, tcount: c_long) -> c_int;
    fn SPI_cursor_open(name: *const c_char, plan: SPIPlanPtr, Values: *mut Datum, Nulls: *const c_char, read_only: bool) -> Portal;
    fn SPI_cursor_open_with_args(name: *const c_char, src: *const c_char, nargs: c_int, argtypes: *mut Oid, Values: *mut Datum, Nulls: *const c_char, read_only: bool, cursorOptions: c_int) -> Portal;
    fn SPI_cursor_fetch(portal: Portal, forward: bool, count: c_long);
    fn SPI_cursor_close(portal: Portal);
    fn BeginInternalSubTransaction(name: *const c_char);
    fn ReleaseCurrentSubTransaction();
    fn RollbackAndReleaseCurrentSubTransaction();
    fn AfterTriggerBeginQuery();
    fn AfterTriggerEndQuery(estate: *mut EState);
    fn ExecPrepareExpr(node: *mut Expr, estate: *mut EState) -> *mut ExprState;
    #[link_name = "ExecEvalExprSwitchContext__pgrx_cshim"]
    fn ExecEvalExprSwitchContext(state: *mut ExprState, econtext: *mut ExprContext, isNull: *mut bool) -> Datum;
    fn build_column_default(rel: Relation, attrno: c_int) -> *mut Node;
    fn eval_const_expressions(root: *mut PlannerInfo, node: *mut Node) -> *mut Node;
    fn estimate_expression_value(root: *mut PlannerInfo, node: *mut Node) -> *mut Node;
    fn OutputFunctionCall(flinfo: *mut FmgrInfo, val: Datum) -> *mut c_char;
    fn OidOutputFunctionCall(functionId: Oid, val: Datum) -> *mut c_char;
    fn OidInputFunctionCall(functionId: Oid, str_: *mut c_char, typioparam: Oid, typmod: i32) -> Datum;
    #[cfg(not(feature = "pg15"))]
    fn InputFunctionCallSafe(flinfo: *mut FmgrInfo, str_: *mut c_char, typioparam: Oid, typmod: i32, escontext: fmNodePtr, result: *mut Datum) -> bool;
    fn FunctionCall1Coll(flinfo: *mut FmgrInfo, collation: Oid, arg1: Datum) -> Datum;
    fn FunctionCall2Coll(flinfo: *mut FmgrInfo, collation: Oid, arg1: Datum, arg2: Datum) -> Datum;
    fn OidFunctionCall1Coll(functionId: Oid, collation: Oid, arg1: Datum) -> Datum;
    fn OidFunctionCall2Coll(functionId: Oid, collation: Oid, arg1: Datum, arg2: Datum) -> Datum;
    fn OidFunctionCall3Coll(functionId: Oid, collation: Oid, arg1: Datum, arg2: Datum, arg3: Datum) -> Datum;
    fn BuildIndexInfo(index: Relation) -> *mut IndexInfo;
    fn RelationGetIndexExpressions(relation: Relation) -> *mut List;
    fn RelationGetIndexPredicate(relation: Relation) -> *mut List;
    fn RelationGetPartitionDesc(rel: Relation, omit_detached: bool) -> PartitionDesc;
    #[link_name = "table_index_build_scan__pgrx_cshim"]
    fn table_index_build_scan(table_rel: Relation, index_rel: Relation, index_info: *mut IndexInfo, allow_sync: bool, progress: bool, callback: IndexBuildCallback, callback_state: *mut c_void, scan: TableScanDesc) -> f64;
    fn std_typanalyze(stats: *mut VacAttrStats) -> bool;
    fn genericcostestimate(root: *mut PlannerInfo, path: *mut IndexPath, loop_count: f64, costs: *mut GenericCosts);
    fn examine_variable(root: *mut PlannerInfo, node: *mut Node, varRelid: c_int, vardata: *mut VariableStatData);
    #[link_name = "table_beginscan__pgrx_cshim"]
    fn table_beginscan(rel: Relation, snapshot: Snapshot, nkeys: c_int, key: *mut ScanKeyData) -> TableScanDesc;
    #[link_name = "table_beginscan_tid__pgrx_cshim"]
    fn table_beginscan_tid(rel: Relation, snapshot: Snapshot) -> TableScanDesc;
    #[link_name = "table_scan_getnextslot__pgrx_cshim"]
    fn table_scan_getnextslot(sscan: TableScanDesc, direction: ScanDirection::Type, slot: *mut TupleTableSlot) -> bool;
    #[link_name = "table_endscan__pgrx_cshim"]
    fn table_endscan(scan: TableScanDesc);
    #[link_name = "table_index_fetch_tuple__pgrx_cshim"]
    fn table_index_fetch_tuple(scan: *mut IndexFetchTableData, tid: ItemPointer, snapshot: Snapshot, slot: *mut TupleTableSlot, call_again: *mut bool, all_dead: *mut bool) -> bool;
    #[link_name = "table_tuple_fetch_row_version__pgrx_cshim"]
    fn table_tuple_fetch_row_version(rel: Relation, tid: ItemPointer, snapshot: Snapshot, slot: *mut TupleTableSlot) -> bool;
    fn table_index_fetch_tuple_check(rel: Relation, tid: ItemPointer, snapshot: Snapshot, all_dead: *mut bool) -> bool;
    fn heap_beginscan(relation: Relation, snapshot: Snapshot, nkeys: c_int, key: ScanKey, parallel_scan: ParallelTableScanDesc, flags: u32) -> TableScanDesc;
    fn heap_set_tidrange(sscan: TableScanDesc, mintid: ItemPointer, maxtid: ItemPointer);
    fn heap_getnextslot_tidrange(sscan: TableScanDesc, direction: ScanDirection::Type, slot: *mut TupleTableSlot) -> bool;
    fn heap_endscan(sscan: TableScanDesc);
    fn table_tuple_get_latest_tid(scan: TableScanDesc, tid: ItemPointer);
    #[cfg(not(feature = "pg18"))]
    fn index_beginscan(heapRelation: Relation, indexRelation: Relation, snapshot: Snapshot, nkeys: c_int, norderbys: c_int) -> IndexScanDesc;
    #[cfg(feature = "pg18")]
    fn index_beginscan(heapRelation: Relation, indexRelation: Relation, snapshot: Snapshot, instrument: *mut IndexScanInstrumentation, nkeys: c_int, norderbys: c_int) -> IndexScanDesc;
    fn index_rescan(scan: IndexScanDesc, keys: ScanKey, nkeys: c_int, orderbys: ScanKey, norderbys: c_int);
    fn index_getnext_tid(scan: IndexScanDesc, direction: ScanDirection::Type) -> ItemPointer;
    fn index_fetch_heap(scan: IndexScanDesc, slot: *mut TupleTableSlot) -> bool;
    fn index_endscan(scan: IndexScanDesc);
    fn index_getnext_slot(scan: IndexScanDesc, direction: ScanDirection::Type, slot: *mut TupleTableSlot) -> bool;
    fn CatalogOpenIndexes(heapRel: Relation) -> CatalogIndexState;
    fn CatalogCloseIndexes(indstate: CatalogIndexState);
    fn CatalogTupleUpdateWithInfo(heapRel: Relation, otid: ItemPointer, tup: HeapTuple, indstate: CatalogIndexState);
    fn heap_multi_insert(relation: Relation, slots: *mut *mut TupleTableSlot, ntuples: c_int, cid: CommandId, options: c_int, bistate: BulkInsertState);
    fn FormIndexDatum(indexInfo: *mut IndexInfo, slot: *mut TupleTableSlot, estate: *mut EState, values: *mut Datum, isnull: *mut bool);
    fn index_insert(indexRelation: Relation, values: *mut Datum, isnull: *mut bool, heap_t_ctid: ItemPointer, heapRelation: Relation, checkUnique: IndexUniqueCheck::Type, indexUnchanged: bool, indexInfo: *mut IndexInfo) -> bool;
    fn CatalogTupleDelete(heapRel: Relation, tid: ItemPointer);
    fn LockAcquire(locktag: *const LOCKTAG, lockmode: LOCKMODE, sessionLock: bool, dontWait: bool) -> LockAcquireResult::Type;
    fn LockRelease(locktag: *const LOCKTAG, lockmode: LOCKMODE, sessionLock: bool) -> bool;
    #[cfg(any(feature = "pg15", feature = "pg16"))]
    fn LockHeldByMe(locktag: *const LOCKTAG, lockmode: LOCKMODE) -> bool;
    #[cfg(not(any(feature = "pg15", feature = "pg16")))]
    fn LockHeldByMe(locktag: *const LOCKTAG, lockmode: LOCKMODE, orstronger: bool) -> bool;
    fn table_open(relationId: Oid, lockmode: LOCKMODE) -> Relation;
    fn try_relation_open(relationId: Oid, lockmode: LOCKMODE) -> Relation;
    fn try_table_open(relationId: Oid, lockmode: LOCKMODE) -> Relation;
    fn index_open(relationId: Oid, lockmode: LOCKMODE) -> Relation;
    fn RelationGetNumberOfBlocksInFork(relation: Relation, forkNum: ForkNumber::Type) -> BlockNumber;
    fn ReadBuffer(reln: Relation, blockNum: BlockNumber) -> Buffer;
    fn ReadBufferExtended(reln: Relation, forkNum: ForkNumber::Type, blockNum: BlockNumber, mode: ReadBufferMode::Type, strategy: BufferAccessStrategy) -> Buffer;
    fn LockRelationOid(relid: Oid, lockmode: LOCKMODE);
    fn ConditionalLockRelationOid(relid: Oid, lockmode: LOCKMODE) -> bool;
    fn LockDatabaseObject(classid: Oid, objid: Oid, objsubid: u16, lockmode: LOCKMODE);
    fn LockTuple(relation: Relation, tid: ItemPointer, lockmode: LOCKMODE);
    #[cfg(not(feature = "pg18"))]
    fn ConditionalLockTuple(relation: Relation, tid: ItemPointer, lockmode: LOCKMODE) -> bool;
    #[cfg(feature = "pg18")]
    fn ConditionalLockTuple(relation: Relation, tid: ItemPointer, lockmode: LOCKMODE, logLockFailure: bool) -> bool;
    fn LockRelationForExtension(relation: Relation, lockmode: LOCKMODE);
    fn XactLockTableWait(xid: TransactionId, rel: Relation, ctid: ItemPointer, oper: XLTW_Oper::Type);
    fn SpeculativeInsertionWait(xid: TransactionId, token: u32);
    fn AcceptInvalidationMessages();
    fn ProcessInterrupts();
    fn PreventCommandDuringRecovery(cmdname: *const c_char);
    fn PreventCommandIfReadOnly(cmdname: *const c_char);
    #[cfg(not(feature = "pg18"))]
    fn vacuum_delay_point();
    #[cfg(feature = "pg18")]
    fn vacuum_delay_point(is_analyze: bool);
    fn WaitLatch(latch: *mut Latch, wakeEvents: c_int, timeout: c_long, wait_event_info: u32) -> c_int;
    fn shm_mq_receive(mqh: *mut shm_mq_handle, nbytesp: *mut Size, datap: *mut *mut c_void, nowait: bool) -> shm_mq_result::Type;
    fn shm_mq_send(mqh: *mut shm_mq_handle, nbytes: Size, data: *const c_void, nowait: bool, force_flush: bool) -> shm_mq_result::Type;
    fn LaunchParallelWorkers(pcxt: *mut ParallelContext);
    fn WaitForParallelWorkersToFinish(pcxt: *mut ParallelContext);
    fn DestroyParallelContext(pcxt: *mut ParallelContext);
    fn ThrowErrorData(edata: *mut ErrorData);
    fn pg_plan_query(querytree: *mut Query, query_string: *const c_char, cursorOptions: c_int, boundParams: ParamListInfo) -> *mut PlannedStmt;
    fn load_external_function(filename: *const c_char, funcname: *const c_char, signalNotFound: bool, filehandle: *mut *mut c_void) -> *mut c_void;
}

declared! {
    /// utils/index_selfuncs.h
    fn gistcostestimate(root: *mut PlannerInfo, path: *mut IndexPath, loop_count: f64, startup: *mut Cost, total: *mut Cost, selectivity: *mut Selectivity, correlation: *mut f64, pages: *mut f64);
    /// access/amvalidate.h
    fn opclass_for_family_datatype(method: Oid, family: Oid, of_type: Oid) -> Oid;
    /// access/gist_private.h
    #[cfg(feature = "pg15")]
    fn gistXLogPageReuse(relation: Relation, block: BlockNumber, horizon: FullTransactionId);
    #[cfg(not(feature = "pg15"))]
    fn gistXLogPageReuse(relation: Relation, heap: Relation, block: BlockNumber, horizon: FullTransactionId);
    /// catalog/pg_inherits.h
    fn has_subclass(relation: Oid) -> bool;
    fn find_all_inheritors(parent: Oid, lock: LOCKMODE, parents: *mut *mut List) -> *mut List;
    /// utils/datum.h
    fn datumCopy(value: Datum, by_value: bool, length: c_int) -> Datum;
    fn datum_image_eq(a: Datum, b: Datum, by_value: bool, length: c_int) -> bool;
    /// nodes/nodeFuncs.h, where it is a macro or has no prototype
    #[cfg(feature = "pg15")]
    fn expression_tree_walker(node: *mut Node, walker: Walker, context: *mut c_void) -> bool;
    /// nodes/nodeFuncs.h
    #[cfg(not(feature = "pg15"))]
    fn expression_tree_walker_impl(node: *mut Node, walker: Walker, context: *mut c_void) -> bool;
    /// commands/sequence.h
    fn deparse_context_for(aliasname: *const c_char, relid: Oid) -> *mut List;
    fn deparse_expression(expr: *mut Node, dpcontext: *mut List, forceprefix: bool, showimplicit: bool) -> *mut c_char;
    fn nextval_internal(relation: Oid, check_permissions: bool) -> i64;
    /// commands/async.h
    fn Async_Notify(channel: *const c_char, payload: *const c_char);
    /// storage/predicate.h
    fn PredicateLockRelation(relation: Relation, snapshot: Snapshot);
}

/// Is called with each node below one; true ends the walk.
pub type Walker = Option<unsafe extern "C-unwind" fn(*mut Node, *mut c_void) -> bool>;

/// expression_tree_walker().
///
/// # Safety
/// `node` is of an expression, and `walker` an entry.
pub unsafe fn walk_expression(node: *mut Node, walker: Walker, context: *mut c_void) -> bool {
    // SAFETY: the node is one of an expression, which is what the function walks.
    unsafe {
        #[cfg(feature = "pg15")]
        return expression_tree_walker(node, walker, context);
        #[cfg(not(feature = "pg15"))]
        return expression_tree_walker_impl(node, walker, context);
    }
}

/// TupleDescAttr(): from PostgreSQL 18 on the columns are behind their compact forms.
///
/// # Safety
/// `columns` is a descriptor of more than `i` columns.
pub unsafe fn attribute(columns: TupleDesc, i: c_int) -> *mut FormData_pg_attribute {
    // SAFETY: the descriptor has more than `i` columns.
    unsafe {
        #[cfg(not(feature = "pg18"))]
        return (*columns).attrs.as_mut_ptr().add(i as usize);
        #[cfg(feature = "pg18")]
        return TupleDescAttr(columns, i);
    }
}

/// ReadRecentBuffer() and LockBuffer() under one jump buffer: pins and locks the buffer if it has this block of the
/// relation's main fork. The errors are those of lack of memory.
///
/// # Safety
/// `relation` is open; `buffer` is a number that a buffer has, of a relation of this session if that is what `relation`
/// is, and this process has not locked it; `mode` is one of LockBuffer()'s.
#[inline]
pub unsafe fn lock_recent(
    relation: Relation,
    block: BlockNumber,
    buffer: Buffer,
    mode: c_int,
) -> bool {
    #[cfg(feature = "pg15")]
    type File = RelFileNode;
    #[cfg(not(feature = "pg15"))]
    type File = RelFileLocator;
    const _: unsafe fn(File, ForkNumber::Type, BlockNumber, Buffer) -> bool =
        pgrx::pg_sys::ReadRecentBuffer;
    const _: unsafe fn(Buffer, c_int) = pgrx::pg_sys::LockBuffer;
    unsafe extern "C-unwind" {
        fn ReadRecentBuffer(
            file: File,
            fork: ForkNumber::Type,
            block: BlockNumber,
            buffer: Buffer,
        ) -> bool;
        fn LockBuffer(buffer: Buffer, mode: c_int);
    }
    // SAFETY: the relation is open. The server checks what the buffer has, and only a buffer that it has pinned is
    // locked. There is nothing to drop.
    unsafe {
        #[cfg(feature = "pg15")]
        let file = (*relation).rd_node;
        #[cfg(not(feature = "pg15"))]
        let file = (*relation).rd_locator;
        let main = ForkNumber::MAIN_FORKNUM;
        call(move || {
            let found = ReadRecentBuffer(file, main, block, buffer);
            if found {
                LockBuffer(buffer, mode);
            }
            found
        })
    }
}

/// UnlockReleaseBuffer().
///
/// # Safety
/// This process has pinned and locked the buffer, under the resource owner of now: then the server finds nothing to
/// raise an error over.
#[inline]
pub unsafe fn unlock_release(buffer: Buffer) {
    const _: unsafe fn(Buffer) = pgrx::pg_sys::UnlockReleaseBuffer;
    // SAFETY: the caller has pinned and locked the buffer.
    unsafe { plain::UnlockReleaseBuffer(buffer) };
}

/// Functions that raise no errors, and so need no jump buffer, and variables.
mod plain {
    use std::ffi::{c_char, c_int, c_void};

    /// BUFFERDESC_PAD_TO_SIZE bytes, of which only the address is used.
    #[repr(C, align(64))]
    pub struct DescriptorPadded([u8; 64]);

    /// Dl_info of dlfcn.h.
    #[repr(C)]
    pub struct DlInfo {
        pub file: *const c_char,
        pub base: *mut c_void,
        pub symbol: *const c_char,
        pub address: *mut c_void,
    }

    unsafe extern "C" {
        /// storage/buf_internals.h
        pub static BufferDescriptors: *const DescriptorPadded;
        /// common/hashfn.h
        pub fn hash_bytes(key: *const u8, length: c_int) -> u32;
        /// common/hashfn.h
        pub fn hash_bytes_extended(key: *const u8, length: c_int, seed: u64) -> u64;
        /// storage/bufmgr.h
        pub fn UnlockReleaseBuffer(buffer: c_int);
        /// dlfcn.h, of the C library
        pub fn dladdr(address: *const c_void, to: *mut DlInfo) -> c_int;
    }
}

/// The server's own hash function, which is stable over versions, as hash partitioning needs.
pub fn hash(bytes: &[u8]) -> u32 {
    // SAFETY: pointer and length of a slice; a value of the server's has less than 1 GB.
    unsafe { plain::hash_bytes(bytes.as_ptr(), bytes.len() as c_int) }
}

/// The same, of 64 bits and with a seed.
pub fn hash_extended(bytes: &[u8], seed: u64) -> u64 {
    // SAFETY: pointer and length of a slice; a value of the server's has less than 1 GB.
    unsafe { plain::hash_bytes_extended(bytes.as_ptr(), bytes.len() as c_int, seed) }
}

/// The address of a shared buffer's descriptor; `number` is from 0. It is for prefetching only: nothing is read.
#[inline]
pub fn buffer_descriptor(number: usize) -> *const c_void {
    // SAFETY: the variable is set as long as a session runs; an address may be computed without being one of anything.
    unsafe { plain::BufferDescriptors }
        .wrapping_add(number)
        .cast()
}

/// Where the library begins that an address is in; `None` if it is in none.
pub fn library_of(address: *const c_void) -> Option<*mut c_void> {
    let mut found = plain::DlInfo {
        file: std::ptr::null(),
        base: std::ptr::null_mut(),
        symbol: std::ptr::null(),
        address: std::ptr::null_mut(),
    };
    // SAFETY: the function looks an address up, whatever it is, and writes to the struct only.
    (unsafe { plain::dladdr(address, &mut found) } != 0).then_some(found.base)
}

/// Functions that do not return, since they raise an error. Only `boundary` calls them.
pub mod raise {
    use pgrx::pg_sys::ErrorData;

    unsafe extern "C-unwind" {
        pub fn ReThrowError(data: *mut ErrorData) -> !;
        pub fn ThrowErrorData(data: *mut ErrorData);
    }
}

/// Hands an error to a caller that collects errors, as `errsave` does.
///
/// # Safety
/// `context` is an ErrorSaveContext, `data` complete and in memory of the server's.
#[cfg(not(feature = "pg15"))]
pub unsafe fn save(context: *mut Node, data: *mut ErrorData) {
    unsafe extern "C-unwind" {
        fn errsave_start(context: *mut Node, domain: *const c_char) -> bool;
        fn errsave_finish(
            context: *mut Node,
            file: *const c_char,
            line: c_int,
            function: *const c_char,
        );
        fn errcode(code: c_int) -> c_int;
        fn errmsg(format: *const c_char, ...) -> c_int;
        fn errdetail(format: *const c_char, ...) -> c_int;
        fn errhint(format: *const c_char, ...) -> c_int;
    }
    // SAFETY: the context collects errors, and the data is complete; the protocol of errsave(), in which fields are set
    // between start and finish. An error in it, for lack of memory, finds nothing to drop here.
    unsafe {
        call(move || {
            if !errsave_start(context, std::ptr::null()) {
                return;
            }
            errcode((*data).sqlerrcode);
            errmsg(c"%s".as_ptr(), (*data).message);
            if !(*data).detail.is_null() {
                errdetail(c"%s".as_ptr(), (*data).detail);
            }
            if !(*data).hint.is_null() {
                errhint(c"%s".as_ptr(), (*data).hint);
            }
            errsave_finish(context, (*data).filename, 0, c"input".as_ptr());
        });
    }
}
