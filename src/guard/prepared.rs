//! All that a trigger needs to know before it can check a row. It is prepared when the trigger first fires in a
//! session, kept, and prepared again when something that it depends on has changed.

use base::{Error, ErrorKind, Result};
use pg::error::{sql_error, Tell};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, CString};
use std::rc::Rc;
use std::sync::Once;

use linkage::guard::options::GuardAction;
use pgrx::PgSqlErrorCode::{ERRCODE_UNDEFINED_COLUMN, ERRCODE_UNDEFINED_OBJECT, ERRCODE_WARNING};
use pgrx::{pg_sys, PgLogLevel};

use super::actions::written_table::{SkippedTable, WrittenTable};
use super::candidates::index::SearchTarget;
use super::compare::{searched_column, Comparator, ComparedTable};
use super::options::GuardOptions;
use super::tables::{
    self, check_comparable, find_table, lock_table, signature_column, PartitionTree,
};
use super::trigger::TriggerCall;
use crate::pairs::decisions::DecisionTable;
use pg::catalog;
use pg::message::words;
use pg::relation::OpenRelation;
use pg::session_state::map_bytes;
use pg::sql;
use pg::{entry, ffi};

/// A trigger of one table, ready to check rows.
pub struct PreparedGuard {
    /// No other guard of this session has or had the same.
    pub number: u64,
    /// The name of the trigger.
    pub trigger: CString,
    pub options: GuardOptions,
    /// The table that the trigger fires for.
    pub own: ComparedTable,
    pub comparator: Box<dyn Comparator>,
    /// The topmost partitioned table that has the trigger, or the table itself.
    pub top: pg_sys::Oid,
    /// The owner of that table.
    pub owner: pg_sys::Oid,
    /// What is searched: `top`, or the block list.
    pub searched: pg_sys::Oid,
    /// The columns of `searched` whose content the guard discloses.
    pub disclosed: Vec<i16>,
    /// The tables that have the rows of `searched`.
    pub targets: Vec<SearchTarget>,
    pub review: Option<WrittenTable<3>>,
    pub skipped: Option<SkippedTable>,
    pub decisions: Option<DecisionTable>,
    /// The relations on which all of this depends.
    watched: HashSet<pg_sys::Oid>,
    /// The tables that must be locked before this is used.
    locked: Vec<pg_sys::Oid>,
    /// False when one of the watched relations has changed.
    valid: Cell<bool>,
}

pg::session_state! {
    /// The tables of which this session has been told that no index serves them.
    static WARNED: RefCell<HashSet<pg_sys::Oid>> = RefCell::default();
    "tables without an index" by "table" until "the session ends"
        bytes |warned| warned.borrow().capacity() * (size_of::<pg_sys::Oid>() + 1);
    /// The number of the next guard.
    static NUMBER: Cell<u64> = Cell::default();
    "number of the next guard" by "the only one" until "the session ends";
    /// The guards of the triggers that have fired.
    static GUARDS: RefCell<HashMap<pg_sys::Oid, Rc<PreparedGuard>>> = RefCell::default();
    "guards" by "trigger" until "a table that it depends on changes, or a schema, and a guard is prepared"
        bytes |guards| {
            let guards = guards.borrow();
            let of_guard = |guard: &Rc<PreparedGuard>| size_of_val(&**guard) + size_of_val(&guard.targets[..]);
            map_bytes(&guards) + guards.values().map(of_guard).sum::<usize>()
        };
    /// Counts invalidations.
    static CHANGES: Cell<u64> = Cell::default();
    "changes of tables and schemas" by "all of them" until "the session ends";
}

impl PreparedGuard {
    /// The guard of a trigger that has fired.
    ///
    /// Errors: as for [`GuardOptions::parse`], [`TriggerCall::check_timing`], [`ComparedTable::guarded`], [`check_key`]
    /// and [`PreparedGuard::new`].
    fn of_call(call: &TriggerCall) -> Result<PreparedGuard> {
        let options = GuardOptions::parse(&call.args())?;
        call.check_timing(&options)?;
        let trigger = call.trigger_name();
        let prepared = (|| {
            let compared = ComparedTable::guarded(call.table(), &options)?;
            check_key(&compared.0, &options, names_own(&options))?;
            PreparedGuard::new(options, compared, topmost(call), &trigger)
        })();
        prepared.map_err(|error| if_renamed(error, &trigger))
    }

    /// The trigger fires for the table that is `own`, and `top` has it. Both are locked.
    ///
    /// Errors: a table that the options name does not exist (42P01), or is not as the guard needs it: the errors of
    /// [`PartitionTree::new`], [`PartitionTree::check_storage`], [`check_comparable`], [`ComparedTable::searched`],
    /// [`WrittenTable::review`] and [`SkippedTable::new`]; a table that is searched has no primary key, and the guard
    /// must name its rows (42704).
    pub fn new(
        options: GuardOptions,
        (own, comparator): (ComparedTable, Box<dyn Comparator>),
        top: pg_sys::Oid,
        trigger: &CStr,
    ) -> Result<PreparedGuard> {
        let table = own.oid;
        let searched = match &options.list {
            Some(list) => lock_table(list, top, "blocklist")?,
            None => top,
        };
        tables::lock(top);
        let wanted = options.searched_column();
        let tree = PartitionTree::new(searched, false)?;
        tree.check_storage(searched_column(searched, &options, wanted)?.number)?;
        if options.list.is_some() {
            let column = signature_column(searched, wanted, None)?;
            check_comparable((table, own.signature), (searched, column))?;
        }
        let leaves = tree.leaves.iter().map(|&leaf| {
            let table = own.searched(leaf, &options, &*comparator)?;
            Ok(SearchTarget::new(table))
        });
        let targets = leaves.collect::<Result<Vec<_>>>()?;
        let writes = options.review.is_some() || options.skipped.is_some();
        let names_rows = writes || options.decisions.is_some();
        let mut searched_tables = targets.iter().map(|target| &target.table);
        searched_tables.try_for_each(|table| check_key(table, &options, names_rows))?;
        let is_list = options.list.is_some();
        let review = options.review.as_ref().map(|name| {
            let review = find_table(name, top, "review")?;
            WrittenTable::review(review, is_list)
        });
        let review = review.transpose()?;
        let skipped = options.skipped.as_ref().map(|name| {
            let skipped = find_table(name, top, "skipped")?;
            SkippedTable::new(skipped, table)
        });
        let skipped = skipped.transpose()?;
        let owner = OpenRelation::locked_table(top).form().relowner;
        let decisions = options.decisions.as_ref().map(|name| {
            let table = lock_table(name, top, "decisions")?;
            DecisionTable::new(table, owner, is_list)
        });
        let decisions = decisions.transpose()?;
        let mut watched: HashSet<_> = tree.all.iter().copied().collect();
        watched.extend([table, top]);
        watched.extend(comparator.watched());
        watched.extend(targets.iter().filter_map(|t| Some(t.index.as_ref()?.oid)));
        watched.extend(targets.iter().filter_map(|t| t.bulk_index));
        watched.extend(review.as_ref().map(|review| review.oid));
        watched.extend(skipped.as_ref().map(|skipped| skipped.table.oid));
        watched.extend(decisions.iter().flat_map(|d| [d.table, d.index]));
        let mut locked = tree.all;
        locked.extend(decisions.as_ref().map(|d| d.table));
        if !locked.contains(&top) {
            locked.insert(0, top);
        }
        warn_of_missing_indexes(&targets, trigger);
        Ok(PreparedGuard {
            number: NUMBER.replace(NUMBER.get() + 1),
            trigger: trigger.to_owned(),
            disclosed: disclosed(searched, wanted, &targets, writes),
            own,
            comparator,
            top,
            owner,
            searched,
            targets,
            review,
            skipped,
            decisions,
            watched,
            locked,
            valid: Cell::new(true),
            options,
        })
    }

    /// Whether a block list is searched.
    pub fn is_list(&self) -> bool {
        self.options.list.is_some()
    }

    /// The message, as one about the guarded table and the trigger, which clients see as the constraint.
    pub fn about(&self, message: Error) -> Error {
        let (schema, table) = (catalog::schema(self.top), catalog::name(self.top));
        message.about([schema, table, self.trigger.clone()].map(CString::into_bytes))
    }

    /// The target that is this table.
    pub fn target(&self, table: pg_sys::Oid) -> Option<&SearchTarget> {
        self.targets.iter().find(|target| target.table.oid == table)
    }
}

/// The columns of `searched` that a guard discloses: those that are compared, those that must be equal, and if it
/// writes to a table the keys.
fn disclosed(
    searched: pg_sys::Oid,
    signature: &CStr,
    targets: &[SearchTarget],
    with_keys: bool,
) -> Vec<i16> {
    let mut columns: Vec<i16> = catalog::column(searched, signature).into_iter().collect();
    for table in targets.iter().map(|target| &target.table) {
        let keys = table.key_columns().iter().filter(|_| with_keys);
        let compared = table.columns.iter().chain(keys).copied();
        for column in compared.chain(table.within.numbers()) {
            let name = catalog::column_name(table.oid, column);
            columns.extend(catalog::column(searched, &name));
        }
    }
    columns.sort_unstable();
    columns.dedup();
    columns
}

/// Warns once in a session of each table that is searched without an index.
fn warn_of_missing_indexes(targets: &[SearchTarget], trigger: &CStr) {
    let unserved = |t: &&SearchTarget| t.index.is_none() && t.table.signature.of_type.is_some();
    for target in targets.iter().filter(unserved) {
        let (table, column) = (target.table.oid, target.table.signature.number);
        if !WARNED.with_borrow_mut(|warned| warned.insert(table)) {
            continue;
        }
        let name = catalog::column_name(table, column);
        let create = sql!("CREATE INDEX ON {table} USING sigfile ({name})");
        sql_error(
            ERRCODE_WARNING,
            words!(
                "no index on column \"{name}\" of table \"{table}\" serves trigger \"{trigger}\""
            ),
        )
        .detail("Every row is compared with the whole table.")
        .hint(create.into_bytes())
        .send(PgLogLevel::WARNING);
    }
}

/// Whether rows of the guarded table are named: the action is `flag`, or decisions are to be kept to.
pub fn names_own(options: &GuardOptions) -> bool {
    options.action == GuardAction::Flag || options.decisions.is_some()
}

/// Errors: the guard names rows of the table, and it has no primary key (42704).
pub fn check_key(table: &ComparedTable, options: &GuardOptions, names_rows: bool) -> Result<()> {
    if table.key.is_some() || !names_rows {
        return Ok(());
    }
    let (what, way) = match options.action {
        GuardAction::Flag => ("Action flag", "take action reject, warn or skip"),
        _ if options.decisions.is_some() => ("Option \"decisions\"", "leave the option out"),
        _ => ("Option \"skipped\"", "leave the option out"),
    };
    Err(sql_error(
        ERRCODE_UNDEFINED_OBJECT,
        words!("table \"{table.oid}\" has no primary key"),
    )
    .detail(words!(
        "{what} of bloom_guard names rows by their primary keys."
    ))
    .hint(words!("Add a primary key, or {way}.")))
}

/// Adds to the error about a column that is not there which trigger has named it: whoever enters a row has not.
fn if_renamed(error: Error, trigger: &CStr) -> Error {
    let undefined = ErrorKind::State(ERRCODE_UNDEFINED_COLUMN as i32);
    if error.kind() != undefined || !error.has_no_hint_but_a_guess() {
        return error;
    }
    error
        .detail(words!(
            "It is named in the arguments of trigger \"{trigger}\"."
        ))
        .hint("If the column was renamed or dropped, drop the trigger, and create it again.")
}

/// The table whose trigger the partitions' triggers were made from; without partitions, the trigger's table.
fn topmost(call: &TriggerCall) -> pg_sys::Oid {
    let mut table = call.table();
    if !call.trigger().tgisclone {
        return table;
    }
    let mut trigger = call.trigger().tgoid;
    // SAFETY: pg_trigger is open as long as it is scanned, by its index on the OID. Its rows are of type
    // FormData_pg_trigger, and a row is valid until the end of the scan.
    unsafe {
        let lock = pg_sys::AccessShareLock as i32;
        let catalog = ffi::table_open(pg_sys::TriggerRelationId, lock);
        while trigger != pg_sys::InvalidOid {
            let mut key = pg_sys::ScanKeyData::default();
            let column = pg_sys::Anum_pg_trigger_oid as i16;
            let equal = pg_sys::BTEqualStrategyNumber as u16;
            pg_sys::ScanKeyInit(
                &mut key,
                column,
                equal,
                pg_sys::F_OIDEQ.into(),
                trigger.into(),
            );
            let (index, any) = (pg_sys::TriggerOidIndexId.into(), std::ptr::null_mut());
            let scan = pg_sys::systable_beginscan(catalog, index, true, any, 1, &mut key);
            let row = pg_sys::systable_getnext(scan);
            if row.is_null() {
                trigger = pg_sys::InvalidOid;
            } else {
                let form: *const pg_sys::FormData_pg_trigger = pg_sys::GETSTRUCT(row).cast();
                table = (*form).tgrelid;
                trigger = (*form).tgparentid;
            }
            pg_sys::systable_endscan(scan);
        }
        pg_sys::table_close(catalog, lock);
    }
    table
}

/// The guard of the trigger that has fired. All tables that it reads are locked.
///
/// Errors: as for [`PreparedGuard::of_call`].
pub fn guard(call: &TriggerCall) -> Result<Rc<PreparedGuard>> {
    listen();
    // A partition can be attached while the tables are locked, and even while the statement runs.
    // SAFETY: a trigger runs in a transaction. Locking a table takes in invalidations in the same way.
    unsafe { ffi::AcceptInvalidationMessages() };
    let trigger = call.trigger().tgoid;
    if let Some(known) = GUARDS.with_borrow(|guards| guards.get(&trigger).cloned()) {
        // Taking the locks also takes in the invalidations of those who have changed one of the tables meanwhile.
        if known.valid.get() {
            known.locked.iter().for_each(|&t| tables::lock(t));
        }
        if known.valid.get() {
            return Ok(known);
        }
    }
    let before = CHANGES.get();
    let guard = Rc::new(PreparedGuard::of_call(call)?);
    // What has changed while this was prepared may not be in it. Then it is used once, and prepared again.
    guard.valid.set(CHANGES.get() == before);
    let gone: Vec<_> = GUARDS.with_borrow_mut(|guards| {
        let is_stale =
            |t: &pg_sys::Oid, guard: &mut Rc<PreparedGuard>| *t == trigger || !guard.valid.get();
        let gone = guards.extract_if(is_stale).collect();
        guards.insert(trigger, guard.clone());
        gone
    });
    // Freeing a guard calls the server, so it is done when the map is no longer borrowed.
    drop(gone);
    Ok(guard)
}

fn listen() {
    static LISTENING: Once = Once::new();
    // SAFETY: both callbacks are functions of this library, which stays loaded for the life of the session.
    LISTENING.call_once(|| unsafe {
        pg_sys::CacheRegisterRelcacheCallback(Some(forget), pg_sys::Datum::null());
        let schemas = pg_sys::SysCacheIdentifier::NAMESPACEOID as i32;
        pg_sys::CacheRegisterSyscacheCallback(schemas, Some(forget_all), pg_sys::Datum::null());
    });
}

/// A relation has changed, or all of them if its OID is invalid.
///
/// # Safety
/// The server calls it, as a callback of the relation cache.
#[entry]
unsafe extern "C-unwind" fn forget(_argument: pg_sys::Datum, relation: pg_sys::Oid) {
    CHANGES.set(CHANGES.get().wrapping_add(1));
    GUARDS.with_borrow(|guards| {
        for guard in guards.values() {
            if relation == pg_sys::InvalidOid || guard.watched.contains(&relation) {
                guard.valid.set(false);
            }
        }
    });
}

/// A schema has changed, so a name may now be that of another table.
///
/// # Safety
/// The server calls it, as a callback of the cache of schemas.
#[entry]
unsafe extern "C-unwind" fn forget_all(_argument: pg_sys::Datum, _cache: i32, _hash: u32) {
    CHANGES.set(CHANGES.get().wrapping_add(1));
    GUARDS.with_borrow(|guards| guards.values().for_each(|guard| guard.valid.set(false)));
}
