//! A key names one record. Pairs of records with the same key would not say which records they are.

use std::ffi::CString;

use pgrx::{pg_sys, PgSqlErrorCode};

use crate::pairs::keys::KeyOrder;
use crate::pairs::output::KeyTexts;
use crate::pairs::records::{RecordColumn, Records, Relations};
use crate::pairs::table::is_older;
use pg::budget::Budget;
use pg::catalog;
use pg::error::{raise, sql_error};
use pg::ffi;
use pg::function::rows::text_bytes;
use pg::memory::Scratch;
use pg::progress::{self, phases};
use pg::relation::OpenRelation;
use pg::session::fixed_settings::FixedSettings;
use pg::session::read;
use pg::sql;
use pg::sql::Sql;
use pg::values::text::readable;
use types::settings;

/// Fails the statement with 21000, since keys of records are not unique.
pub fn not_unique(message: String, records: &Records) -> ! {
    raise(
        &sql_error(PgSqlErrorCode::ERRCODE_CARDINALITY_VIOLATION, message).hint(format!(
            "Name a column whose values are unique, instead of \"{}\".",
            readable(records.key.name.to_bytes())
        )),
    );
}

/// The same for a key, given as text.
pub fn repeated(key: &[u8], records: &Records) -> ! {
    not_unique(
        format!("more than one record has the key \"{}\"", readable(key)),
        records,
    )
}

/// Checks the keys of a pair of one relation. They differ as values, but values that differ can have the same text,
/// such as numbers that are shown with few digits.
///
/// Errors: both keys are the same text.
pub fn check_distinct(keys: KeyTexts, relations: Relations<'_>) {
    if let ([Some(a), Some(b)], None) = (keys, relations.right) {
        // SAFETY: both texts were just made for this pair, so they are plain and still there.
        let (a, b) = unsafe { (text_bytes(a), text_bytes(b)) };
        if a == b {
            repeated(a, relations.left);
        }
    }
}

/// Checks that keys are unique. That is so if there is a unique index on the key, or the session says so; otherwise a query
/// finds out, which runs as the caller with the same snapshot.
///
/// Errors: two records with signatures have the same key.
pub fn check(records: &Records) {
    // SAFETY: `Records` has locked the relation, and has looked up the column.
    if !settings::check_keys() || unsafe { has_unique_index(records.oid, &records.key) } {
        return;
    }
    progress::phase(phases::CHECKING_KEYS, None);
    // The job has not begun to use its memory, of which the server may take a multiple of work_mem for hash tables.
    let kilobytes = (Budget::of_setting().bytes() / 4096).max(query_memory());
    let work_mem = CString::new(format!("{kilobytes}kB")).unwrap_or_default();
    let settings = FixedSettings::begin(&[(c"work_mem", &work_mem)]);
    let cursor = read(query(records), &[], 1);
    let mut output = cursor.output(0);
    cursor.each(|row| {
        if let Some(key) = row.datum(0) {
            output.show(key, |key| repeated(key, records));
        }
    });
    settings.end();
}

/// The setting work_mem, in kilobytes.
fn query_memory() -> usize {
    // SAFETY: a variable of the server, which is positive.
    unsafe { pg_sys::work_mem as usize }
}

/// Selects a key that occurs more than once, the least one where keys have an order.
fn query(records: &Records) -> Sql {
    let key = &records.key.name;
    // Values that cannot be compared are compared as text.
    let compared = match has_equality(&records.key) {
        true => sql!("{key}"),
        false => Sql::new("").output(key),
    };
    let signatures = records.signatures.iter();
    let has_signature = signatures.map(|column| sql!("{column.name} IS NOT NULL"));
    let has_signature = Sql::join(has_signature, " OR ");
    let order = match KeyOrder::find(&records.key).is_some() || !has_equality(&records.key) {
        true => " ORDER BY 1",
        false => "",
    };
    sql!(
        "SELECT {compared} FROM {records.oid} WHERE {key} IS NOT NULL AND ({has_signature}) GROUP BY 1 \
         HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 1{order} LIMIT 1"
    )
}

/// Whether values of the column can be compared as GROUP BY does.
pub fn has_equality(column: &RecordColumn) -> bool {
    let flags = pg_sys::TYPECACHE_EQ_OPR as i32;
    // SAFETY: a column of a locked relation has a type; entries of the type cache are never freed.
    unsafe { (*pg_sys::lookup_type_cache(column.type_oid, flags)).eq_opr != pg_sys::InvalidOid }
}

/// Whether an index keeps every key unique, over all rows, at all times of a transaction, and for every snapshot that
/// this transaction can have.
///
/// # Safety
/// `oid` is a locked relation with this column.
unsafe fn has_unique_index(oid: pg_sys::Oid, key: &RecordColumn) -> bool {
    let kind = catalog::kind(oid);
    let indexed = matches!(
        kind,
        pg_sys::RELKIND_RELATION | pg_sys::RELKIND_MATVIEW | pg_sys::RELKIND_PARTITIONED_TABLE
    );
    // The indexes of a table do not hold the rows of tables that inherit from it.
    // SAFETY: this is a catalog look-up by OID.
    if !indexed || kind == pg_sys::RELKIND_RELATION && unsafe { ffi::has_subclass(oid) } {
        return false;
    }
    let number = catalog::column(oid, &key.name);
    let table = OpenRelation::locked_table(oid);
    table.indexes().into_iter().any(|index| {
        let index = OpenRelation::index(index, pg_sys::AccessShareLock);
        // SAFETY: the index is open, and has at least one column.
        unsafe {
            let form = &*index.rd_index;
            form.indisunique
                && form.indimmediate
                && form.indisvalid
                && form.indisready
                && form.indislive
                && form.indnkeyatts == 1
                && Some(form.indkey.values.as_slice(1)[0]) == number
                && ffi::RelationGetIndexPredicate(index.pointer()).is_null()
                && is_older(index.pointer())
        }
    })
}

/// Compares each key with the one before, where keys come in their order.
pub struct Successive {
    order: KeyOrder,
    last: Option<pg_sys::Datum>,
    by_value: bool,
    length: i16,
    scratch: Scratch,
}

impl Successive {
    /// `None` for a type without an order.
    pub fn new(key: &RecordColumn) -> Option<Successive> {
        let order = KeyOrder::find(key)?;
        let (mut length, mut by_value) = (0, false);
        // SAFETY: a column of a locked relation has a type.
        unsafe { pg_sys::get_typlenbyval(key.type_oid, &mut length, &mut by_value) };
        Some(Successive {
            order,
            last: None,
            by_value,
            length,
            scratch: Scratch::new(c"comparison of keys"),
        })
    }

    /// Whether a key is the same as the one before. It is copied.
    pub fn is_again(&mut self, key: pg_sys::Datum) -> bool {
        let (order, last) = (&self.order, self.last);
        let is_same = |last| self.scratch.with(|| order.compare(last, key).is_eq());
        let again = last.is_some_and(is_same);
        // SAFETY: the key is a value of this type. The last key is a copy that was made here, and nothing else has it.
        unsafe {
            let copy = ffi::datumCopy(key, self.by_value, self.length.into());
            if let (Some(last), false) = (self.last.replace(copy), self.by_value) {
                pg_sys::pfree(last.cast_mut_ptr());
            }
        }
        again
    }
}
