//! Whether a table can be the table of decisions of a guard, and how it is read.

use base::{Error, Result};
use pg::error::sql_error;
use std::ffi::CStr;

use pgrx::{pg_sys, PgSqlErrorCode};

use crate::guard::tables::column::wrong_type;
use pg::catalog;
use pg::message::words;
use pg::relation::OpenRelation;
use pg::session::SavedPlan;
use pg::sql::Sql;

const CREATE: &str = "Create it by bloom_decisions_create().";

/// Whether a key is a (0) or b (1), its column, and the collation by which the index has it.
pub type IndexedKey = (usize, i16, pg_sys::Oid);

/// A table of decisions.
pub struct DecisionTable {
    pub table: pg_sys::Oid,
    /// A B-tree whose first columns are a and b, in either order.
    pub index: pg_sys::Oid,
    /// In the order of the index.
    pub keys: [IndexedKey; 2],
    pub decision: i16,
    /// The type of the column decision, for its output.
    pub decision_type: pg_sys::Oid,
    pub at: i16,
    pub hash: Option<i16>,
    /// Whether a is a row of the guarded table and b one of the block list. Otherwise a pair has no order.
    pub ordered: bool,
    /// Enters a pair as different, as the user who runs it.
    pub(super) insert: SavedPlan<2>,
}

fn wrong_object(table: pg_sys::Oid, detail: Vec<u8>) -> Error {
    sql_error(
        PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE,
        words!(
            "relation \"{}\" cannot be the decisions of bloom_guard",
            catalog::name(table)
        ),
    )
    .detail(detail)
    .hint(CREATE)
}

/// Whether values of a type are numbers of 64 bits or fewer that say what is later.
fn is_moment(of_type: pg_sys::Oid) -> bool {
    [
        pg_sys::TIMESTAMPTZOID,
        pg_sys::TIMESTAMPOID,
        pg_sys::DATEOID,
        pg_sys::INT2OID,
        pg_sys::INT4OID,
        pg_sys::INT8OID,
    ]
    .contains(&of_type)
}

impl DecisionTable {
    /// `table` is locked. `owner` owns the guarded table `top`.
    ///
    /// Errors: it is no plain table, or has policies, children or another owner (42809, 42501); lacks columns (42703),
    /// or has them of other types (42804); has no index to be read by (42704).
    pub fn new(table: pg_sys::Oid, owner: pg_sys::Oid, ordered: bool) -> Result<DecisionTable> {
        let open = OpenRelation::locked_table(table);
        let form = open.form();
        if form.relkind as u8 != pg_sys::RELKIND_RELATION {
            return Err(wrong_object(table, words!("It is not a plain table.")));
        }
        if form.relrowsecurity || form.relforcerowsecurity {
            return Err(wrong_object(table, words!("It has row-level security.")));
        }
        if form.relhassubclass {
            return Err(wrong_object(table, words!("Other tables inherit from it.")));
        }
        if form.relowner != owner {
            return Err(sql_error(
                PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
                words!(
                    "table \"{}\" of option \"decisions\" has another owner than the \
                guarded table",
                    catalog::name(table)
                ),
            )
            .hint("Give it the same owner, who decides then what the guard lets in."));
        }
        let text = |name: &CStr| {
            let (column, of_type) = column(table, name)?;
            match of_type {
                pg_sys::TEXTOID | pg_sys::VARCHAROID => Ok(column),
                _ => Err(mistyped(table, name, of_type, c"text")),
            }
        };
        let (a, b) = (text(c"a")?, text(c"b")?);
        let (decision, decision_type) = column(table, c"decision")?;
        // SAFETY: a look-up in the catalogs by OID.
        let is_enum = unsafe { pg_sys::get_typtype(decision_type) } as u8 == pg_sys::TYPTYPE_ENUM;
        if !is_enum && ![pg_sys::TEXTOID, pg_sys::VARCHAROID].contains(&decision_type) {
            return Err(mistyped(table, c"decision", decision_type, c"text"));
        }
        let (at, at_type) = column(table, c"at")?;
        if !is_moment(at_type) {
            return Err(mistyped(table, c"at", at_type, c"timestamp with time zone"));
        }
        let hash = match catalog::column(table, c"hash") {
            Some(_) => Some(text(c"hash")?),
            None => None,
        };
        let usable = open.indexes().into_iter();
        let Some((index, keys)) = usable.filter_map(|oid| index(oid, [a, b])).next() else {
            return Err(sql_error(
                PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT,
                words!(
                    "table \"{}\" of option \"decisions\" has no index on a and b",
                    catalog::name(table)
                ),
            )
            .hint(words!("CREATE INDEX ON {} (a, b)", catalog::quoted(table))));
        };
        let insert = Sql::new("INSERT INTO ")
            .relation(table)
            .text(" (a, b, decision) VALUES ($1, $2, 'different')");
        Ok(DecisionTable {
            table,
            index,
            keys,
            decision,
            decision_type,
            at,
            hash,
            ordered,
            insert: SavedPlan::new(insert, [pg_sys::TEXTOID; 2]),
        })
    }
}

/// The number and the type of a column.
///
/// Errors: there is none (42703).
fn column(table: pg_sys::Oid, name: &CStr) -> Result<(i16, pg_sys::Oid)> {
    let Some(column) = catalog::column(table, name) else {
        return Err(sql_error(
            PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN,
            words!(
                "table \"{}\" of option \"decisions\" has no column \"{}\"",
                catalog::name(table),
                name
            ),
        )
        .hint(CREATE));
    };
    Ok((column, catalog::base_type(table, column).0))
}

fn mistyped(table: pg_sys::Oid, name: &CStr, is: pg_sys::Oid, wanted: &CStr) -> Error {
    wrong_type("table of decisions", table, name, is, wanted).hint(CREATE)
}

/// The index and the collations of both columns in it, if it finds every row by them.
///
/// That an index is too new for old snapshots (indcheckxmin) does not matter: the latest snapshot sees only the newest
/// version of a row.
fn index(oid: pg_sys::Oid, keys: [i16; 2]) -> Option<(pg_sys::Oid, [IndexedKey; 2])> {
    let index = OpenRelation::index(oid, pg_sys::AccessShareLock);
    // SAFETY: an open index has its row of pg_index, with at least as many columns as key columns, and as many operator
    // families and collations as key columns.
    unsafe {
        let form = &*index.rd_index;
        let is_whole = form.indisvalid && form.indisready && form.indislive;
        let has_predicate = !pg_sys::RelationGetIndexPredicate(index.pointer()).is_null();
        if !is_whole || has_predicate || form.indnkeyatts < 2 {
            return None;
        }
        let columns = form.indkey.values.as_slice(form.indnkeyatts as usize);
        let place = |key: i16| columns[..2].iter().position(|&column| column == key);
        let places = [place(keys[0])?, place(keys[1])?];
        let of = |place: usize| {
            let family = *index.rd_opfamily.add(place);
            let is_text = family == pg_sys::TEXT_BTREE_FAM_OID;
            is_text.then(|| *index.rd_indcollation.add(place))
        };
        let mut found = [0, 1].map(|i| (places[i], i));
        found.sort_unstable();
        let key = |(place, i): (usize, usize)| Some((i, keys[i], of(place)?));
        Some((oid, [key(found[0])?, key(found[1])?]))
    }
}
