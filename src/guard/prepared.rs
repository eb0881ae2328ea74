//! All that a trigger needs to know before it can check a row.

use base::{Error, Result};
use pg::error::{sql_error, Tell};
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::ffi::{CStr, CString};

use linkage::guard::options::GuardAction;
use pgrx::{pg_sys, PgLogLevel, PgSqlErrorCode};

use super::actions::review_table::ReviewTable;
use super::actions::skipped_table::SkippedTable;
use super::candidates::target::SearchTarget;
use super::compare::decisions::table::DecisionTable;
use super::compare::within::WithinColumns;
use super::compare::{judge, Judge, JudgedRow};
use super::options::{GuardOptions, TableName};
use super::row::Row;
use super::tables::column::{check_comparable, check_stored, signature_column, SignatureColumn};
use super::tables::key::PrimaryKey;
use super::tables::named::{find_table, lock_table};
use super::tables::partition_tree::{self, PartitionTree};
use pg::catalog;
use pg::message::words;
use pg::relation::OpenRelation;
use pg::sql::Sql;

/// A trigger of one table, ready to check rows.
pub struct PreparedGuard {
    /// No other guard of this session has or had the same.
    pub number: u64,
    /// The name of the trigger.
    pub trigger: CString,
    pub options: GuardOptions,
    pub own: GuardedTable,
    /// The topmost partitioned table that has the trigger, or the table itself.
    pub top: pg_sys::Oid,
    /// The owner of that table.
    pub owner: pg_sys::Oid,
    /// What is searched: `top`, or the block list.
    pub searched: pg_sys::Oid,
    /// The columns of `searched` whose content the guard tells of.
    pub columns_told: Vec<i16>,
    /// The tables that have the rows of `searched`.
    pub targets: Vec<SearchTarget>,
    pub review: Option<ReviewTable>,
    pub skipped: Option<SkippedTable>,
    pub decisions: Option<DecisionTable>,
    /// The relations on which all of this depends.
    pub watched: HashSet<pg_sys::Oid>,
    /// The tables that must be locked before this is used.
    pub locked: Vec<pg_sys::Oid>,
    /// False when one of the watched relations has changed.
    pub valid: Cell<bool>,
}

/// The table that a trigger fires for.
pub struct GuardedTable {
    pub signature: SignatureColumn,
    pub judge: Box<dyn Judge>,
    /// The columns that the judge reads, in its order.
    pub columns: Vec<i16>,
    /// The columns in which rows must be equal to be compared.
    pub within: WithinColumns,
    pub key: Option<PrimaryKey>,
}

impl GuardedTable {
    /// The table is locked.
    ///
    /// Errors: it has no signature column of this name (42703, 42804), or a virtual one (0A000); those of
    /// [`WithinColumns::of`] and [`Judge::columns`].
    pub fn of(table: pg_sys::Oid, options: &GuardOptions) -> Result<GuardedTable> {
        let signature = signature_column(table, &options.column)?;
        check_stored(table, signature.number)?;
        let judge = judge(options, signature.of_type);
        Ok(GuardedTable {
            signature,
            within: WithinColumns::of(table, &options.within, signature.number)?,
            columns: judge.columns(table, signature.number)?,
            judge,
            key: PrimaryKey::of(&OpenRelation::locked_table(table)),
        })
    }

    /// Errors: the action is `flag`, or decisions are to be kept to, and the table has no primary key (42704).
    pub fn need_key(&self, table: pg_sys::Oid, options: &GuardOptions) -> Result<()> {
        let names_rows = options.action == GuardAction::Flag || options.decisions.is_some();
        if names_rows && self.key.is_none() {
            return Err(no_key(table, options));
        }
        Ok(())
    }

    /// A row of this table as the judge reads it.
    pub fn judged<'a>(&'a self, row: &'a Row) -> JudgedRow<'a> {
        JudgedRow {
            row,
            columns: &self.columns,
        }
    }
}

pg::session_state! {
    /// The tables of which this session has been told that no index serves them.
    static WARNED: RefCell<HashSet<pg_sys::Oid>> = RefCell::default();
    "tables without an index" by "table" until "the session ends"
        bytes |warned| warned.borrow().capacity() * (size_of::<pg_sys::Oid>() + 1);
    /// The number of the next guard.
    static NUMBER: Cell<u64> = Cell::default();
    "number of the next guard" by "the only one" until "the session ends";
}

impl PreparedGuard {
    /// `own` describes `table`, for which the trigger fires; `top` has the trigger. Both are locked.
    ///
    /// Errors: a table that the options name does not exist (42P01), or is not as the guard needs it: the errors of
    /// [`PartitionTree::to_search`], [`check_comparable`], [`WithinColumns::in_table`], [`SearchTarget::new`] and
    /// [`ReviewTable::new`]; a table that is searched has no primary key, and pairs or skipped rows are written
    /// (42704).
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
        partition_tree::lock(top);
        let wanted = options.searched_column();
        let tree = PartitionTree::to_search(searched, wanted)?;
        if options.list.is_some() {
            check_comparable(
                (table, own.signature),
                (searched, signature_column(searched, wanted)?),
            )?;
        }
        let targets = tree
            .leaves
            .iter()
            .map(|&leaf| {
                let within = own.within.in_table(leaf, &options.within)?;
                SearchTarget::new(leaf, wanted, within, &*own.judge)
            })
            .collect::<Result<Vec<_>>>()?;
        let writes = options.review.is_some() || options.skipped.is_some();
        let names_rows = writes || options.decisions.is_some();
        let keyless = targets.iter().find(|t| t.key.is_none());
        if let (true, Some(keyless)) = (names_rows, keyless) {
            return Err(no_key(keyless.table, &options));
        }
        let named = |name: &Option<TableName>, option| {
            let found = name.as_ref().map(|name| find_table(name, top, option));
            found.transpose()
        };
        let review = named(&options.review, "review")?
            .map(|review| ReviewTable::new(review, options.list.is_some()))
            .transpose()?;
        let skipped = named(&options.skipped, "skipped")?
            .map(|skipped| SkippedTable::new(skipped, table))
            .transpose()?;
        let owner = OpenRelation::locked_table(top).form().relowner;
        let decisions = match &options.decisions {
            Some(name) => {
                let table = lock_table(name, top, "decisions")?;
                Some(DecisionTable::new(table, owner, options.list.is_some())?)
            }
            None => None,
        };
        let mut watched: HashSet<_> = tree.all.iter().copied().collect();
        watched.extend([table, top]);
        watched.extend(targets.iter().filter_map(|t| Some(t.index.as_ref()?.oid)));
        watched.extend(targets.iter().filter_map(|t| t.index_for_many));
        watched.extend(review.as_ref().map(ReviewTable::table));
        watched.extend(skipped.as_ref().map(SkippedTable::table));
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
            columns_told: columns_told(searched, wanted, &targets, writes),
            own,
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
        self.targets.iter().find(|target| target.table == table)
    }
}

/// The columns of `searched` that a guard tells of: those that are compared, those that must be equal, and with a
/// review table the keys.
fn columns_told(
    searched: pg_sys::Oid,
    signature: &CStr,
    targets: &[SearchTarget],
    with_keys: bool,
) -> Vec<i16> {
    let mut columns: Vec<i16> = catalog::column(searched, signature).into_iter().collect();
    for target in targets {
        let keys = target
            .key
            .iter()
            .flat_map(|key| key.columns.iter().copied());
        let keys = keys.filter(|_| with_keys);
        let judged = target.columns.iter().copied();
        for column in target.within.numbers().chain(judged).chain(keys) {
            let name = catalog::column_name(target.table, column);
            columns.extend(catalog::column(searched, &name));
        }
    }
    columns.sort_unstable();
    columns.dedup();
    columns
}

/// Warns once in a session of each table that is searched without an index.
fn warn_of_missing_indexes(targets: &[SearchTarget], trigger: &CStr) {
    for target in targets.iter().filter(|t| t.index.is_none()) {
        if !WARNED.with_borrow_mut(|warned| warned.insert(target.table)) {
            continue;
        }
        let create = Sql::new("CREATE INDEX ON ")
            .relation(target.table)
            .text(" USING sigfile (")
            .column(target.table, target.signature())
            .text(")");
        sql_error(
            PgSqlErrorCode::ERRCODE_WARNING,
            words!(
                "no index on column \"{}\" of table \"{}\" serves trigger \"{}\"",
                catalog::column_name(target.table, target.signature()),
                catalog::name(target.table),
                trigger
            ),
        )
        .detail("Every row is compared with the whole table.")
        .hint(create.into_bytes())
        .send(PgLogLevel::WARNING);
    }
}

/// 42704 for a table whose rows could not be named where the options need that.
fn no_key(table: pg_sys::Oid, options: &GuardOptions) -> Error {
    let (what, way) = match options.action {
        GuardAction::Flag => ("Action flag", "take action reject, warn or skip"),
        _ if options.decisions.is_some() => ("Option \"decisions\"", "leave the option out"),
        _ => ("Option \"skipped\"", "leave the option out"),
    };
    sql_error(
        PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT,
        words!("table \"{}\" has no primary key", catalog::name(table)),
    )
    .detail(words!(
        "{} of bloom_guard names rows by their primary keys.",
        what
    ))
    .hint(words!("Add a primary key, or {}.", way))
}
