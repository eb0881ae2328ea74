//! Tables as a guard sees them: by the names in its options, with their partitions, columns and primary keys.

use base::{Error, Result};
use pg::error::sql_error;
use std::ffi::{CStr, CString};

use pgrx::pg_sys;
use pgrx::PgSqlErrorCode::{
    ERRCODE_DATATYPE_MISMATCH, ERRCODE_FEATURE_NOT_SUPPORTED, ERRCODE_UNDEFINED_TABLE,
    ERRCODE_WRONG_OBJECT_TYPE,
};

use super::options::TableName;
use access::SignatureType;
use pg::catalog;
use pg::catalog::storage::{distributed, is_distributed, is_read_from};
use pg::memory::in_scratch;
use pg::message::words;
use pg::output::text_form;
use pg::relation::{self, OpenRelation};
use pg::row::Row;
use pg::{check_for_interrupts, ffi};
use types::objects::{is_bits, is_signature};

/// The table of this name. A name without a schema is looked for in the schema of `near`: the search_path does not
/// decide. `option` is the option that names the table, for messages.
///
/// Errors: there is no such table (42P01).
pub fn find_table(wanted: &TableName, near: pg_sys::Oid, option: &str) -> Result<pg_sys::Oid> {
    // SAFETY: look-ups in the catalogs by OID and by C strings; each gives an invalid OID for what does not exist.
    let (schema, table): (CString, pg_sys::Oid) = unsafe {
        let (schema, space) = match &wanted.schema {
            None => (catalog::schema(near), pg_sys::get_rel_namespace(near)),
            Some(schema) => (
                schema.clone(),
                pg_sys::get_namespace_oid(schema.as_ptr(), true),
            ),
        };
        let table = match space {
            pg_sys::InvalidOid => space,
            space => pg_sys::get_relname_relid(wanted.name.as_ptr(), space),
        };
        (schema, table)
    };
    if table == pg_sys::InvalidOid {
        return Err(sql_error(
            ERRCODE_UNDEFINED_TABLE,
            words!("table \"{schema}.{wanted.name}\" of option \"{option}\" does not exist"),
        )
        .hint("Name it as it is called now, with its schema unless that is the guarded table's; a guard that is there is to be dropped, and made anew."));
    }
    Ok(table)
}

/// The table of this name, locked. While this waits for the lock, another session may give the name to another table;
/// then that one is locked.
///
/// Errors: as for [`find_table`].
pub fn lock_table(wanted: &TableName, near: pg_sys::Oid, option: &str) -> Result<pg_sys::Oid> {
    loop {
        let table = find_table(wanted, near, option)?;
        lock(table);
        if find_table(wanted, near, option)? == table {
            return Ok(table);
        }
    }
}

/// All tables of a partition tree, or the one table.
pub struct PartitionTree {
    /// The tables that have rows of their own, in the order of their OIDs.
    pub leaves: Vec<pg_sys::Oid>,
    /// All tables, locked by this transaction. The first is the topmost one.
    pub all: Vec<pg_sys::Oid>,
}

impl PartitionTree {
    /// The tree below a table; only with `with_foreign` its leaves may be foreign tables.
    ///
    /// Errors: a relation that is no table of this server (42809).
    pub fn new(top: pg_sys::Oid, with_foreign: bool) -> Result<PartitionTree> {
        let mut tree = PartitionTree {
            leaves: Vec::new(),
            all: Vec::new(),
        };
        let mut to_visit = vec![top];
        while let Some(table) = to_visit.pop() {
            check_for_interrupts();
            lock(table);
            tree.all.push(table);
            match catalog::kind(table) {
                pg_sys::RELKIND_RELATION => tree.leaves.push(table),
                pg_sys::RELKIND_FOREIGN_TABLE if with_foreign => tree.leaves.push(table),
                pg_sys::RELKIND_PARTITIONED_TABLE => {
                    to_visit.extend(OpenRelation::locked_table(table).partitions(true));
                }
                _ => {
                    return Err(sql_error(
                        ERRCODE_WRONG_OBJECT_TYPE,
                        words!("cannot check against relation \"{table}\""),
                    )
                    .detail(
                        "Only tables and partitions with rows of their own can be checked \
                against.",
                    ))
                }
            }
        }
        tree.leaves.sort_by_key(|table| table.to_u32());
        Ok(tree)
    }

    /// Whether the rows can be searched by this column in the tables' own storage.
    ///
    /// Errors: the rows are not in the tables themselves, or are kept by another access method than heap (0A000).
    pub fn check_storage(&self, column: i16) -> Result<()> {
        let top = self.all[0];
        let mut leaves = self.leaves.iter().copied();
        leaves.try_for_each(check_access_method)?;
        let is_partitioned = catalog::kind(top) == pg_sys::RELKIND_PARTITIONED_TABLE;
        let leaves = self.leaves.iter().copied();
        // SAFETY: `top` is a table with this column, and locked. The guard runs in a statement, so a snapshot is
        // active.
        if unsafe { is_read_from(leaves, top, column, is_partitioned) } {
            return Ok(());
        }
        if is_distributed(top) {
            let cannot = words!("bloom_guard cannot check against table \"{top}\"");
            let why = "A guard reads the storage of the table on this node, which is empty.";
            return Err(distributed(cannot, why).hint(
                "Guard the table by bloom_citus_guard_create() of extension bloom_ident_citus, or, if it is a reference \
                 table or has a single shard, by a constraint EXCLUDE USING sigfile ((bloom_query(...)) WITH %).",
            ));
        }
        Err(not_searchable(top)
            .detail(
                "Its rows are not in its own storage: queries read them in another way, \
                as those of a distributed table.",
            )
            .hint(
                "Look for similar rows by a query with bloom_sim before one is entered, \
                or guard the tables that hold the rows.",
            ))
    }
}

fn not_searchable(table: pg_sys::Oid) -> Error {
    sql_error(
        ERRCODE_FEATURE_NOT_SUPPORTED,
        words!("bloom_guard cannot check against table \"{table}\""),
    )
}

/// The search reads the headers of heap's tuples to know which rows are not committed. The table is locked.
///
/// Errors: another access method (0A000).
fn check_access_method(table: pg_sys::Oid) -> Result<()> {
    let open = OpenRelation::locked_table(table);
    if open.is_heap() {
        return Ok(());
    }
    let (method, quoted) = (
        catalog::access_method(open.form().relam),
        catalog::quoted(table),
    );
    Err(not_searchable(table)
        .detail(words!(
            "It has access method \"{method}\", of which simultaneous changes cannot be seen."
        ))
        .hint(words!(
            "ALTER TABLE {quoted} SET ACCESS METHOD heap, or look for similar rows by a query with \
             bloom_sim before one is entered."
        )))
}

/// Locks a table against changes of its definition, until the end of the transaction. Whether it is there is found out
/// afterwards.
pub fn lock(table: pg_sys::Oid) {
    relation::lock(table, pg_sys::AccessShareLock);
}

/// A column of signatures, or another one by which rows are found.
#[derive(Clone, Copy)]
pub struct SignatureColumn {
    pub number: i16,
    /// `None`: the column has the keys of a register, by which its rows are found.
    pub of_type: Option<SignatureType>,
}

/// The column of signatures that has this name: of this type, or of either.
///
/// Errors: there is no such column (42703), or it is of another type (42804).
pub fn signature_column(
    relation: pg_sys::Oid,
    column: &CStr,
    wanted: Option<SignatureType>,
) -> Result<SignatureColumn> {
    let number = column_number(relation, column)?;
    let found = catalog::column_type(relation, number);
    let of_type = match (is_signature(found), is_bits(found)) {
        (true, _) => Some(SignatureType::Filter),
        (_, true) => Some(SignatureType::Bits),
        _ => None,
    };
    if let Some(of_type) = of_type.filter(|&of_type| wanted.is_none_or(|w| w == of_type)) {
        return Ok(SignatureColumn {
            number,
            of_type: Some(of_type),
        });
    }
    let (wanted, of) = match wanted {
        Some(SignatureType::Filter) => (c"bloom", "bloom_signature(...)"),
        Some(SignatureType::Bits) => (c"minhash_bits", "minhash_bits(...)"),
        None => (c"bloom or minhash_bits", "bloom_signature(...)"),
    };
    let hint = format!("Name a column such as one GENERATED ALWAYS AS ({of}) STORED.");
    Err(wrong_type("relation", relation, column, found, wanted).hint(hint))
}

/// Whether signatures of two columns can be compared, as far as their types say. The sizes of filters are compared when
/// there are rows.
///
/// Errors: they are of two types, or sampled bits of two numbers or hash families (42804).
pub fn check_comparable(
    (table, column): (pg_sys::Oid, SignatureColumn),
    (other, of_other): (pg_sys::Oid, SignatureColumn),
) -> Result<()> {
    let [(ours, modifier), (theirs, of_theirs)] =
        [(table, column), (other, of_other)].map(|(t, c)| catalog::base_type(t, c.number));
    let is_bits = column.of_type == Some(SignatureType::Bits);
    let are_of_one_size = modifier == of_theirs || modifier < 0 || of_theirs < 0;
    if column.of_type == of_other.of_type && (are_of_one_size || !is_bits) {
        return Ok(());
    }
    let [own, others] = [
        (table, column, ours, modifier),
        (other, of_other, theirs, of_theirs),
    ]
    .map(|(table, column, of_type, modifier)| {
        let column = catalog::column_name(table, column.number);
        let of_type = catalog::modified_type(of_type, modifier);
        (
            words!("column \"{column}\" of relation \"{table}\""),
            of_type,
        )
    });
    Err(sql_error(
        ERRCODE_DATATYPE_MISMATCH,
        words!("{others.0} is of type {others.1}, and {own.0} of type {own.1}"),
    )
    .detail(
        "bloom_guard compares signatures of one type, and sampled bits of one \
                number and hash family.",
    ))
}

/// The number of a column.
///
/// Errors: there is none of this name, or it is a system column (42703).
pub fn column_number(relation: pg_sys::Oid, column: &CStr) -> Result<i16> {
    catalog::column(relation, column).ok_or_else(|| catalog::no_column(relation, column))
}

/// Errors: the column is a virtual generated one (0A000), which has no stored values that could be compared.
pub fn check_stored(table: pg_sys::Oid, column: i16) -> Result<()> {
    // SAFETY: a look-up in the catalogs by OID and number.
    if unsafe { pg_sys::get_attgenerated(table, column) } as u8 != b'v' {
        return Ok(());
    }
    let name = catalog::column_name(table, column);
    Err(sql_error(
        ERRCODE_FEATURE_NOT_SUPPORTED,
        words!("bloom_guard cannot check virtual generated column \"{name}\""),
    )
    .hint("Make it STORED."))
}

/// 42804 for a column of a relation, which the message calls `what`, that is of another type than it must be.
#[cold]
pub fn wrong_type(
    what: &str,
    relation: pg_sys::Oid,
    column: &CStr,
    is: pg_sys::Oid,
    wanted: &CStr,
) -> Error {
    let is = catalog::type_name(is);
    sql_error(
        ERRCODE_DATATYPE_MISMATCH,
        words!("column \"{column}\" of {what} \"{relation}\" is of type {is}, not {wanted}"),
    )
}

pub fn name_of(column: &pg_sys::FormData_pg_attribute) -> &CStr {
    // SAFETY: the name of a column is a C string.
    unsafe { CStr::from_ptr(column.attname.data.as_ptr()) }
}

/// The columns of a table's primary key, in its order.
pub struct PrimaryKey {
    pub columns: Vec<i16>,
}

impl PrimaryKey {
    /// `None` for a table without primary key. The table is locked.
    pub fn new(table: &OpenRelation) -> Option<PrimaryKey> {
        table.indexes().into_iter().find_map(|oid| {
            let index = OpenRelation::index(oid, pg_sys::AccessShareLock);
            // SAFETY: an open index has its row of pg_index, with at least as many columns as key columns.
            unsafe {
                let form = &*index.rd_index;
                let columns = form.indkey.values.as_slice(form.indnkeyatts as usize);
                let key = || PrimaryKey {
                    columns: columns.to_vec(),
                };
                form.indisprimary.then(key)
            }
        })
    }

    /// `key (id)=(1)`, `key (a, b)=(1,x)`; `text` is what [`PrimaryKey::text`] gives.
    pub fn shown(&self, table: pg_sys::Oid, text: &[u8]) -> Vec<u8> {
        let name = |&column: &i16| catalog::column_name(table, column).into_bytes();
        let names: Vec<Vec<u8>> = self.columns.iter().map(name).collect();
        match &names[..] {
            [name] => words!("key ({name})=({text})"),
            names => {
                let names = names.join(&b", "[..]);
                words!("key ({names})={text}")
            }
        }
    }

    /// The key of a row, in the database's encoding: what its cast to text gives, or if it has several columns, the
    /// text of a row of them. A cast is used only if a superuser has made it, or `owner`, who owns the guarded table:
    /// with any other cast, the owner of a block list could run code as each user who enters a row.
    pub fn text(&self, row: &Row, owner: pg_sys::Oid) -> Vec<u8> {
        // The functions of the key's types may leave memory behind.
        in_scratch(c"bloom_ident key", || {
            let [column] = self.columns[..] else {
                return self.row_text(row);
            };
            let of_type = catalog::column_type(row.table_oid(), column);
            let text = row.get(column).map(|value| {
                // SAFETY: the value is of its column's type.
                unsafe { text_of(value, of_type, owner) }
            });
            text.unwrap_or_default()
        })
    }

    /// The text of a row of the key's columns.
    fn row_text(&self, row: &Row) -> Vec<u8> {
        let values = self.columns.iter().map(|&column| row.get(column));
        let (mut values, mut nulls): (Vec<_>, Vec<_>) = values
            .map(|value| (value.unwrap_or(pg_sys::Datum::null()), value.is_none()))
            .unzip();
        // SAFETY: the row's descriptor has the columns of the key. The new descriptor has as many columns as there are
        // values, and each is of the same type as its value.
        unsafe {
            let descriptor = pg_sys::CreateTemplateTupleDesc(self.columns.len() as i32);
            let source = (*row.slot).tts_tupleDescriptor;
            for (i, &column) in self.columns.iter().enumerate() {
                pg_sys::TupleDescCopyEntry(descriptor, i as i16 + 1, source, column);
            }
            let key = pg_sys::heap_form_tuple(
                pg_sys::BlessTupleDesc(descriptor),
                values.as_mut_ptr(),
                nulls.as_mut_ptr(),
            );
            let key = pg_sys::HeapTupleHeaderGetDatum((*key).t_data);
            text_form(key, pg_sys::RECORDOID)
        }
    }
}

/// The text of a value: what its cast to text gives, if the cast is trusted, else what its output function gives.
///
/// # Safety
/// `value` is of this type, and not NULL.
unsafe fn text_of(value: pg_sys::Datum, of_type: pg_sys::Oid, owner: pg_sys::Oid) -> Vec<u8> {
    let mut function = pg_sys::InvalidOid;
    // SAFETY: the value is of this type, so also of the type that it is a domain of. A value that is relabelled as text
    // has the bytes of a text. The function of a cast takes a value of this type and gives a text.
    unsafe {
        let base = pg_sys::getBaseType(of_type);
        let path = pg_sys::find_coercion_pathway(
            pg_sys::TEXTOID,
            base,
            pg_sys::CoercionContext::COERCION_EXPLICIT,
            &mut function,
        );
        match path {
            pg_sys::CoercionPathType::COERCION_PATH_RELABELTYPE => {
                text_form(value, pg_sys::TEXTOID)
            }
            pg_sys::CoercionPathType::COERCION_PATH_FUNC if is_trusted(function, owner) => {
                text_form(cast(function, value), pg_sys::TEXTOID)
            }
            _ => text_form(value, base),
        }
    }
}

/// Whether a superuser or `owner` owns the function.
fn is_trusted(function: pg_sys::Oid, owner: pg_sys::Oid) -> bool {
    let (key, none) = (pg_sys::Datum::from(function), pg_sys::Datum::null());
    let cache = pg_sys::SysCacheIdentifier::PROCOID as i32;
    let column = pg_sys::Anum_pg_proc_proowner as pg_sys::AttrNumber;
    // SAFETY: the cache PROCOID has the OID as its only key; proowner is an OID, and never NULL.
    unsafe {
        let of = pg_sys::GetSysCacheOid(cache, column, key, none, none, none);
        of != pg_sys::InvalidOid && (of == owner || pg_sys::superuser_arg(of))
    }
}

/// # Safety
/// `function` is that of an explicit cast to text from the type of `value`, which is not NULL.
unsafe fn cast(function: pg_sys::Oid, value: pg_sys::Datum) -> pg_sys::Datum {
    let collation = pg_sys::DEFAULT_COLLATION_OID;
    // SAFETY: the function of a cast takes the value, and if it has more arguments, the type modifier and whether the
    // cast is explicit. It is given as many arguments as it takes.
    unsafe {
        let (modifier, explicit) = (pg_sys::Datum::from(-1_i32), pg_sys::Datum::from(true));
        match pg_sys::get_func_nargs(function) {
            1 => ffi::OidFunctionCall1Coll(function, collation, value),
            2 => ffi::OidFunctionCall2Coll(function, collation, value, modifier),
            _ => ffi::OidFunctionCall3Coll(function, collation, value, modifier, explicit),
        }
    }
}
