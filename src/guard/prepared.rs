//! What a trigger needs to know, found out when it first fires in a session.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::ffi::{CStr, CString};

use pgrx::{pg_sys, PgLogLevel, PgSqlErrorCode};

use super::options::{GuardAction, GuardOptions, TableName};
use super::read_rights;
use super::review::ReviewTable;
use super::tables::column as relation;
use super::tables::key::PrimaryKey;
use super::tables::target::{self, PartitionTree, SearchTarget};
use super::trigger::call::TriggerCall;
use crate::pg::ffi;
use crate::pg::message::{words, Message, Result};

/// A trigger of one table, ready to check rows.
pub struct PreparedGuard {
    pub options: GuardOptions,
    /// The signature in the table that the trigger has fired for.
    pub column: i16,
    /// PostgreSQL computes it after BEFORE triggers have run.
    pub generated: bool,
    /// The topmost partitioned table that has the trigger, or the table itself.
    pub top: pg_sys::Oid,
    pub owner: pg_sys::Oid,
    /// What is searched: `top`, or the block list.
    pub searched: pg_sys::Oid,
    /// Its columns whose content the guard tells of.
    pub read: Vec<i16>,
    pub targets: Vec<SearchTarget>,
    /// Of the table that the trigger has fired for.
    pub key: Option<PrimaryKey>,
    pub review: Option<ReviewTable>,
    /// Relations on which all of this depends.
    pub watched: HashSet<pg_sys::Oid>,
    /// To be locked before this is used.
    pub locked: Vec<pg_sys::Oid>,
    pub valid: Cell<bool>,
}

/// What the table must have that the trigger fires for.
pub struct GuardedTable {
    column: i16,
    generated: bool,
    key: Option<PrimaryKey>,
}

impl GuardedTable {
    /// Errors: no signature of this name (42703, 42804), or a virtual one (0A000).
    ///
    /// SAFETY: `table` is open and locked.
    pub unsafe fn of(table: pg_sys::Relation, options: &GuardOptions) -> Result<GuardedTable> {
        // SAFETY: as promised by the caller.
        unsafe {
            let oid = (*table).rd_id;
            let column = relation::signature_column(oid, &options.column)?;
            Ok(GuardedTable {
                column,
                generated: generated(oid, column)?,
                key: PrimaryKey::of(table),
            })
        }
    }

    /// Errors: action flag, and no primary key (42704).
    pub fn need_key(&self, table: pg_sys::Oid, options: &GuardOptions) -> Result<()> {
        if options.action == GuardAction::Flag && self.key.is_none() {
            return Err(no_key(table));
        }
        Ok(())
    }
}

thread_local! {
    /// Tables of which this session was told that no index serves.
    static WARNED: RefCell<HashSet<pg_sys::Oid>> = RefCell::default();
}

impl PreparedGuard {
    pub fn is_list(&self) -> bool {
        self.options.list.is_some()
    }

    /// Errors: as for [`PreparedGuard::of`]; BEFORE or AFTER where the action needs the other (39P01).
    pub fn prepare(call: &TriggerCall) -> Result<PreparedGuard> {
        let options = GuardOptions::parse(&call.args())?;
        call.check_timing(&options)?;
        // SAFETY: the trigger's table is open and locked.
        let own = unsafe { GuardedTable::of(call.relation(), &options)? };
        own.need_key(call.table(), &options)?;
        let trigger = call.trigger_name();
        PreparedGuard::of(options, call.table(), own, topmost(call), &trigger)
    }

    /// `own` is of `table`, for which the trigger fires; `top` has the trigger.
    ///
    /// Errors: whatever the arguments name and is not there, or is not as it must be.
    pub fn of(
        options: GuardOptions,
        table: pg_sys::Oid,
        own: GuardedTable,
        top: pg_sys::Oid,
        trigger: &CStr,
    ) -> Result<PreparedGuard> {
        let searched = match &options.list {
            Some(list) => lock_table(list, top, "blocklist")?,
            None => top,
        };
        target::lock(top);
        let wanted = options.list_column.as_ref().unwrap_or(&options.column);
        let tree = PartitionTree::below(searched, wanted)?;
        let targets = tree
            .leaves
            .iter()
            .map(|&leaf| SearchTarget::new(leaf, wanted))
            .collect::<Result<Vec<_>>>()?;
        let review = match &options.review {
            Some(name) => {
                let review = find_table(name, top, "review")?;
                if let Some(keyless) = targets.iter().find(|t| t.key.is_none()) {
                    return Err(no_key(keyless.table));
                }
                Some(ReviewTable::new(review, options.list.is_some())?)
            }
            None => None,
        };
        let mut watched: HashSet<_> = tree.all.iter().copied().collect();
        watched.extend([table, top]);
        watched.extend(targets.iter().filter_map(|t| Some(t.index.as_ref()?.oid)));
        watched.extend(review.as_ref().map(|r| r.table));
        let mut locked = tree.all;
        if !locked.contains(&top) {
            locked.insert(0, top);
        }
        let mut guard = PreparedGuard {
            options,
            column: own.column,
            generated: own.generated,
            top,
            owner: owner(top),
            searched,
            read: Vec::new(),
            targets,
            key: own.key,
            review,
            watched,
            locked,
            valid: Cell::new(true),
        };
        guard.read = read_rights::columns_told(searched, &guard);
        guard.warn_of_missing_indexes(trigger);
        Ok(guard)
    }

    fn warn_of_missing_indexes(&self, trigger: &CStr) {
        for target in self.targets.iter().filter(|t| t.index.is_none()) {
            if !WARNED.with_borrow_mut(|warned| warned.insert(target.table)) {
                continue;
            }
            let table = relation::name(target.table);
            let column = relation::column_name(target.table, target.column);
            Message::of(
                PgSqlErrorCode::ERRCODE_WARNING,
                words!(
                    "no index on column \"",
                    column,
                    "\" of table \"",
                    table,
                    "\" serves trigger \"",
                    trigger,
                    "\""
                ),
            )
            .detail(words!("Every row is compared with the whole table."))
            .hint(words!(
                "CREATE INDEX ON ",
                relation::quoted(target.table),
                " USING sigfile (",
                relation::quoted_column(&column),
                ")"
            ))
            .send(PgLogLevel::WARNING);
        }
    }
}

/// Errors: a virtual column (0A000), which has no stored values that could be compared.
fn generated(table: pg_sys::Oid, column: i16) -> Result<bool> {
    // SAFETY: a catalog look-up.
    match unsafe { pg_sys::get_attgenerated(table, column) } as u8 {
        b's' => Ok(true),
        b'v' => Err(Message::of(
            PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
            words!(
                "bloom_guard cannot check virtual generated column \"",
                relation::column_name(table, column),
                "\""
            ),
        )
        .hint(words!("Make it STORED."))),
        _ => Ok(false),
    }
}

fn owner(table: pg_sys::Oid) -> pg_sys::Oid {
    // SAFETY: a locked table, so it is there.
    unsafe {
        let open = ffi::table_open(table, pg_sys::NoLock as i32);
        let owner = (*(*open).rd_rel).relowner;
        pg_sys::table_close(open, pg_sys::NoLock as i32);
        owner
    }
}

/// The table whose trigger the partitions' triggers were made from.
fn topmost(call: &TriggerCall) -> pg_sys::Oid {
    let mut table = call.table();
    if !call.trigger().tgisclone {
        return table;
    }
    let mut trigger = call.trigger().tgoid;
    // SAFETY: a scan of the catalog by OID; its rows are of the catalog's type.
    unsafe {
        let lock = pg_sys::AccessShareLock as i32;
        let catalog = ffi::table_open(pg_sys::TriggerRelationId, lock);
        while trigger != pg_sys::InvalidOid {
            let mut key = pg_sys::ScanKeyData::default();
            pg_sys::ScanKeyInit(
                &mut key,
                pg_sys::Anum_pg_trigger_oid as i16,
                pg_sys::BTEqualStrategyNumber as u16,
                pg_sys::F_OIDEQ.into(),
                pg_sys::Datum::from(trigger),
            );
            let scan = pg_sys::systable_beginscan(
                catalog,
                pg_sys::TriggerOidIndexId.into(),
                true,
                std::ptr::null_mut(),
                1,
                &mut key,
            );
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

/// A table that an option names. Without a schema it is in that of the trigger's table: no search_path decides.
///
/// Errors: there is none (42P01, 3F000).
fn find_table(wanted: &TableName, near: pg_sys::Oid, option: &str) -> Result<pg_sys::Oid> {
    let undefined = |code, what: &str, schema: Option<&CStr>| {
        let mut message = words!(what, " \"");
        if let Some(schema) = schema {
            message.extend(words!(schema, "."));
        }
        message.extend(words!(
            wanted.name,
            "\" of option \"",
            option,
            "\" does not exist"
        ));
        Message::of(code, message)
    };
    // SAFETY: catalog look-ups.
    unsafe {
        let (schema, space): (CString, pg_sys::Oid) = match &wanted.schema {
            None => (relation::schema(near), pg_sys::get_rel_namespace(near)),
            Some(schema) => (
                schema.clone(),
                pg_sys::get_namespace_oid(schema.as_ptr(), true),
            ),
        };
        let table = if space == pg_sys::InvalidOid {
            space
        } else {
            pg_sys::get_relname_relid(wanted.name.as_ptr(), space)
        };
        if table == pg_sys::InvalidOid {
            let code = PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE;
            return Err(undefined(code, "table", Some(&schema)));
        }
        Ok(table)
    }
}

/// The same, locked: whoever had it locked may have given the name to another one.
fn lock_table(wanted: &TableName, near: pg_sys::Oid, option: &str) -> Result<pg_sys::Oid> {
    let mut table = find_table(wanted, near, option)?;
    loop {
        target::lock(table);
        let now = find_table(wanted, near, option)?;
        if now == table {
            return Ok(table);
        }
        table = now;
    }
}

/// 42704 for a table whose rows a review table could not name.
fn no_key(table: pg_sys::Oid) -> Box<Message> {
    Message::of(
        PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT,
        words!("table \"", relation::name(table), "\" has no primary key"),
    )
    .detail(words!(
        "Action ",
        GuardAction::Flag.name(),
        " of bloom_guard names rows by their primary keys."
    ))
    .hint(words!(
        "Add a primary key, or take action reject, warn or skip."
    ))
}
