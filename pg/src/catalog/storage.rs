//! Where the rows of a table are: in its own storage, or where only a query finds them.
//!
//! In the catalogs, a table of another access method looks like any other, and so does one that an extension
//! distributes over servers. But its storage is read in another way, or is empty. So this looks at what a query would
//! read: the plan of the simplest query scans the tables themselves, or does something else.
//!
//! Of a table that is only read that is enough. What changes rows, locks them or joins them with rows of its own asks
//! whether the table is one of Citus, which does none of that over its shards: the catalog of Citus says so.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString};

use base::error::Text;
use base::Error;
use pgrx::pg_sys::NodeTag;
use pgrx::{pg_sys, PgBox, PgSqlErrorCode};

use super::kind;
use crate::error::sql_error;
use crate::ffi;
use crate::message::words;
use crate::relation::OpenRelation;
use crate::session::read;
use crate::sql;
use crate::tree::list;
use crate::tree::node::Node;

/// How Citus keeps the rows of a table in shards, on other nodes or on this one.
pub struct Distribution {
    /// By the hash of this column; `None` for a reference table, and for others whose rows are in one shard.
    pub column: Option<CString>,
}

/// `None` for a table that Citus does not keep. Where Citus is not in the database nothing is asked. A shard is a table
/// like any other.
pub fn distribution(table: pg_sys::Oid) -> Option<Distribution> {
    // SAFETY: a look-up in the catalogs by a C string.
    if unsafe { pg_sys::get_extension_oid(c"citus".as_ptr(), true) } == pg_sys::InvalidOid {
        return None;
    }
    let number = table.to_u32().to_string();
    let sql = sql!(
        "SELECT CASE WHEN p.partmethod OPERATOR(pg_catalog.=) 'h' \
        THEN pg_catalog.column_to_column_name(p.logicalrelid, p.partkey)::pg_catalog.name END \
        FROM pg_catalog.pg_dist_partition AS p \
        WHERE p.logicalrelid::pg_catalog.oid OPERATOR(pg_catalog.=) {number}::pg_catalog.oid"
    );
    let mut distribution = None;
    read(sql, &[], 1).each(|row| {
        let column = row.name(0).map(CStr::to_owned);
        distribution = Some(Distribution { column });
    });
    distribution
}

/// Whether Citus keeps the rows of a table.
pub fn is_distributed(table: pg_sys::Oid) -> bool {
    distribution(table).is_some()
}

/// Whether a query of a relation may read rows that Citus keeps: it is such a table, or a view where Citus is.
pub fn may_be_distributed(relation: pg_sys::Oid) -> bool {
    if kind(relation) == pg_sys::RELKIND_VIEW {
        // SAFETY: a look-up in the catalogs by a C string.
        let citus = unsafe { pg_sys::get_extension_oid(c"citus".as_ptr(), true) };
        return citus != pg_sys::InvalidOid;
    }
    is_distributed(relation)
}

/// The error of what is not done with a table of Citus (0A000): `cannot` says what, `why` is a sentence.
pub fn distributed(cannot: impl Into<Text>, why: &str) -> Error {
    sql_error(PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED, cannot)
        .detail(words!("Its rows are in shards of Citus. {why}"))
}

/// Whether a query of a table, with all below it if `inherit`, reads the rows from the storage of exactly these tables.
/// Policies do not matter.
///
/// # Safety
/// `table` is a table, partitioned or not, or a materialised view, with this column, and locked; a snapshot is active.
pub unsafe fn is_read_from(
    tables: impl IntoIterator<Item = pg_sys::Oid>,
    table: pg_sys::Oid,
    column: pg_sys::AttrNumber,
    inherit: bool,
) -> bool {
    let mut read = BTreeSet::new();
    let numbers = tables.into_iter().map(pg_sys::Oid::to_u32);
    // SAFETY: the caller has locked the table and has a snapshot; the plan is a new one.
    unsafe {
        let plan = &*plan(table, column, inherit);
        let entries = list::nodes(plan.rtable);
        scans(plan.planTree.cast(), &entries, &mut read) && read == numbers.collect()
    }
}

/// The plan of `SELECT column FROM table`, or of `ONLY table`, without its policies.
///
/// # Safety
/// As for [`is_read_from`].
unsafe fn plan(
    table: pg_sys::Oid,
    column: pg_sys::AttrNumber,
    inherit: bool,
) -> *mut pg_sys::PlannedStmt {
    let (mut of_type, mut typmod, mut collation) = (pg_sys::InvalidOid, 0, pg_sys::InvalidOid);
    // SAFETY: the table exists, has this column and is locked. Nodes are made as the parser makes them, in the current
    // memory context.
    unsafe {
        pg_sys::get_atttypetypmodcoll(table, column, &mut of_type, &mut typmod, &mut collation);
        let lock = pg_sys::AccessShareLock as i32;
        let state = pg_sys::make_parsestate(std::ptr::null_mut());
        let open = OpenRelation::locked_table(table);
        let alias = std::ptr::null_mut();
        pg_sys::addRangeTableEntryForRelation(state, open.pointer(), lock, alias, inherit, true);
        drop(open);
        let mut from = PgBox::<pg_sys::RangeTblRef>::alloc_node(NodeTag::T_RangeTblRef);
        from.rtindex = 1;
        let value = pg_sys::makeVar(1, column, of_type, typmod, collation, 0);
        let name = pg_sys::get_attname(table, column, false);
        let target = pg_sys::makeTargetEntry(value.cast(), 1, name, false);
        let mut query = PgBox::<pg_sys::Query>::alloc_node(NodeTag::T_Query);
        query.commandType = pg_sys::CmdType::CMD_SELECT;
        query.canSetTag = true;
        query.rtable = (*state).p_rtable;
        #[cfg(not(feature = "pg15"))]
        {
            query.rteperminfos = (*state).p_rteperminfos;
        }
        let from = list::of(&[from.into_pg().cast()]);
        query.jointree = pg_sys::makeFromExpr(from, std::ptr::null_mut());
        query.targetList = list::of(&[target.cast()]);
        pg_sys::free_parsestate(state);
        // The text appears in messages only.
        let text = c"SELECT FROM a table of bloom_ident";
        ffi::pg_plan_query(query.into_pg(), text.as_ptr(), 0, std::ptr::null_mut())
    }
}

/// Collects the tables that a plan scans; `false` if it does anything else.
///
/// # Safety
/// `plan` is NULL or of a planned statement with these entries.
unsafe fn scans(plan: *mut Node, entries: &[*mut Node], to: &mut BTreeSet<u32>) -> bool {
    if plan.is_null() {
        return true;
    }
    // SAFETY: the plan is not NULL, so it is a node of the planned statement. Every plan node begins with a Plan, and
    // those of scans with a Scan.
    unsafe {
        let mut all = |plans| {
            let mut plans = list::nodes(plans).into_iter();
            plans.all(|plan| scans(plan, entries, to))
        };
        match (*plan).type_ {
            NodeTag::T_SeqScan
            | NodeTag::T_IndexScan
            | NodeTag::T_IndexOnlyScan
            | NodeTag::T_BitmapHeapScan => {
                let number = (*plan.cast::<pg_sys::Scan>()).scanrelid as usize;
                let entry = entries[number - 1].cast::<pg_sys::RangeTblEntry>();
                to.insert((*entry).relid.to_u32());
                true
            }
            NodeTag::T_Append => all((*plan.cast::<pg_sys::Append>()).appendplans),
            NodeTag::T_MergeAppend => all((*plan.cast::<pg_sys::MergeAppend>()).mergeplans),
            // A table without partitions has such a plan.
            NodeTag::T_Result => scans((*plan.cast::<pg_sys::Plan>()).lefttree.cast(), entries, to),
            _ => false,
        }
    }
}
