//! The relation that proposals are made for, as the catalogs describe it.

use std::ffi::{CStr, CString};

use pgrx::pg_sys;

use crate::pairs::records::lock;
use pg::catalog::privileges::{current_user, may_select};
use pg::catalog::{self, column_name, storage};
use pg::ffi;
use pg::relation::OpenRelation;
use pg::session::read;
use pg::sql;
use pg::sql::Sql;
use types::objects::{is_bits, is_signature};

/// Most bytes of a name.
const NAME_BYTES: usize = pg_sys::NAMEDATALEN as usize - 1;

/// What the name of a copy of a relation ends with.
pub const COPY: &str = "copy";

/// A relation with rows.
pub struct SuggestSubject {
    pub oid: pg_sys::Oid,
    /// For messages.
    pub name: String,
    /// The caller may add columns to it.
    pub is_alterable: bool,
    /// It is partitioned, others inherit from it, or it has shards.
    pub has_children: bool,
    /// Citus keeps its rows.
    pub is_distributed: bool,
    /// A register can keep its records: it is a permanent table of its own in a heap, whose key has a type of the server's.
    pub may_be_register: bool,
    /// The caller may create tables in its schema.
    may_create: bool,
    /// A name that a new table of the other relation has, where two are linked.
    pub also_taken: Option<CString>,
    /// Bytes, with those of the partitions.
    pub bytes: u64,
    /// Bytes say how large it is, and a sample of its blocks can be read.
    pub has_blocks: bool,
    /// A column that a unique index keeps unique, and that is not NULL.
    pub key: Option<CString>,
    pub has_primary_key: bool,
    /// Columns of signatures or sketches, with whether an index has them.
    pub signed: Vec<SignedColumn>,
}

/// A column of signatures, or of sampled bits.
pub struct SignedColumn {
    pub name: CString,
    pub is_bits: bool,
    pub is_indexed: bool,
}

/// What is asked of the catalogs: facts of the relation, columns that an index keeps unique, and columns with an index
/// of ours.
fn queries(oid: pg_sys::Oid) -> [Sql; 3] {
    let oid = oid.to_u32().to_string();
    [
        sql!(
            "SELECT pg_catalog.pg_has_role(c.relowner, 'USAGE'), \
            pg_catalog.has_schema_privilege(c.relnamespace, 'CREATE'), \
            COALESCE(t.bytes, pg_catalog.pg_relation_size(c.oid))::pg_catalog.int8, COALESCE(t.is_foreign, false), \
            EXISTS (SELECT FROM pg_catalog.pg_index AS i WHERE i.indrelid OPERATOR(pg_catalog.=) c.oid \
            AND i.indisprimary) FROM pg_catalog.pg_class AS c CROSS JOIN LATERAL \
            (SELECT pg_catalog.sum(pg_catalog.pg_relation_size(p.relid)) AS bytes, \
            pg_catalog.bool_or(l.relkind OPERATOR(pg_catalog.=) 'f') AS is_foreign \
            FROM pg_catalog.pg_partition_tree(c.oid) AS p \
            JOIN pg_catalog.pg_class AS l ON l.oid OPERATOR(pg_catalog.=) p.relid) AS t \
            WHERE c.oid OPERATOR(pg_catalog.=) {oid}"
        ),
        sql!(
            "SELECT i.indkey[0] FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_attribute AS a \
            ON a.attrelid OPERATOR(pg_catalog.=) i.indrelid AND a.attnum OPERATOR(pg_catalog.=) i.indkey[0] \
            WHERE i.indisunique AND i.indimmediate AND i.indisvalid AND i.indpred IS NULL \
            AND i.indnkeyatts OPERATOR(pg_catalog.=) 1 AND a.attnotnull \
            AND i.indrelid OPERATOR(pg_catalog.=) {oid} ORDER BY i.indisprimary DESC, i.indexrelid"
        ),
        sql!(
            "SELECT DISTINCT i.indkey[0] FROM pg_catalog.pg_index AS i \
            JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) i.indexrelid \
            JOIN pg_catalog.pg_am AS m ON m.oid OPERATOR(pg_catalog.=) c.relam \
            WHERE m.amname OPERATOR(pg_catalog.=) 'sigfile' AND i.indnatts OPERATOR(pg_catalog.=) 1 \
            AND i.indpred IS NULL AND i.indrelid OPERATOR(pg_catalog.=) {oid}"
        ),
    ]
}

impl SuggestSubject {
    /// Locks the relation until the end of the transaction.
    ///
    /// Errors: no relation with rows; the caller may not SELECT any of its columns.
    pub fn new(oid: pg_sys::Oid) -> SuggestSubject {
        let name = lock(oid);
        let kind = catalog::kind(oid);
        let is_table = matches!(
            kind,
            pg_sys::RELKIND_RELATION | pg_sys::RELKIND_PARTITIONED_TABLE
        );
        // SAFETY: a look-up in the catalogs by OID.
        let has_children = kind == pg_sys::RELKIND_PARTITIONED_TABLE
            || is_table && unsafe { ffi::has_subclass(oid) };
        let is_distributed = is_table && storage::is_distributed(oid);
        // Those of the server's own schemas.
        let is_of_server = oid.to_u32() < pg_sys::FirstNormalObjectId;
        let mut subject = SuggestSubject {
            oid,
            name,
            is_alterable: false,
            has_children: has_children || is_distributed,
            is_distributed,
            may_be_register: false,
            may_create: false,
            also_taken: None,
            bytes: 0,
            // Those that inherit from a table have blocks of their own.
            has_blocks: !is_distributed
                && (is_table && (!has_children || kind == pg_sys::RELKIND_PARTITIONED_TABLE)
                    || kind == pg_sys::RELKIND_MATVIEW),
            key: None,
            has_primary_key: false,
            signed: Vec::new(),
        };
        let [facts, keys, indexed] = queries(oid);
        read(facts, &[], 1).each(|row| {
            subject.is_alterable = is_table && row.is_true(0) && !is_of_server;
            subject.may_create = row.is_true(1);
            subject.bytes = row.integer(2) as u64;
            subject.has_blocks &= !row.is_true(3);
            subject.has_primary_key = row.is_true(4);
        });
        let user = current_user();
        read(keys, &[], 10).each(|row| {
            let number = row.integer(0) as i16;
            if subject.key.is_none() && may_select(oid, &[number], user) {
                subject.key = Some(column_name(oid, number));
            }
        });
        let has_key = |key: &CString| {
            let number = catalog::column(oid, key).unwrap_or_default();
            catalog::is_of_server(catalog::column_type(oid, number))
        };
        subject.may_be_register = subject.is_alterable
            && kind == pg_sys::RELKIND_RELATION
            && !subject.has_children
            && !subject.is_temporary()
            && OpenRelation::locked_table(oid).is_heap()
            && subject.key.as_ref().is_none_or(has_key);
        let mut with_index = Vec::new();
        read(indexed, &[], 10).each(|row| with_index.push(row.integer(0) as i16));
        for number in subject.columns() {
            let of_type = catalog::column_type(oid, number);
            if (is_signature(of_type) || is_bits(of_type)) && may_select(oid, &[number], user) {
                subject.signed.push(SignedColumn {
                    name: column_name(oid, number),
                    is_bits: is_bits(of_type),
                    is_indexed: with_index.contains(&number),
                });
            }
        }
        subject
    }

    /// Whether it is a temporary table, whose schema nobody writes.
    fn is_temporary(&self) -> bool {
        // SAFETY: look-ups in the catalogs by OID.
        unsafe { pg_sys::isAnyTempNamespace(pg_sys::get_rel_namespace(self.oid)) }
    }

    /// Its name, as SQL writes it.
    pub fn sql(&self) -> Sql {
        match self.is_temporary() {
            true => Sql::new("").name(&catalog::name(self.oid)),
            false => Sql::new("").relation(self.oid),
        }
    }

    /// The numbers of its columns.
    pub fn columns(&self) -> Vec<i16> {
        let table = OpenRelation::locked_table(self.oid);
        // SAFETY: an open relation has a descriptor, with as many columns as it says.
        unsafe {
            (1..=(*table.rd_att).natts as i16)
                .filter(|&i| !(*ffi::attribute(table.rd_att, i32::from(i) - 1)).attisdropped)
                .collect()
        }
    }

    /// A name for a column that there is not.
    pub fn free_column(&self, wanted: &str) -> CString {
        free(|number| {
            let name = numbered(wanted, number);
            catalog::column(self.oid, &name).is_none().then_some(name)
        })
    }

    /// A name for a new table beside this one, and how CREATE names its kind. It is a temporary table where the caller
    /// may create no other.
    pub fn free_table(&self, label: &str) -> NewTable {
        let own = catalog::name(self.oid);
        let name = free(|number| {
            let end = numbered(&format!("_{label}"), number).into_bytes();
            let name = [cut(&own, NAME_BYTES - end.len()), &end].concat();
            let name = CString::new(name).expect("names have no zero bytes");
            // SAFETY: look-ups in the catalogs by OID and by a C string.
            let is_taken = unsafe {
                let space = pg_sys::get_rel_namespace(self.oid);
                pg_sys::get_relname_relid(name.as_ptr(), space) != pg_sys::InvalidOid
                    || pg_sys::RelnameGetRelid(name.as_ptr()) != pg_sys::InvalidOid
            };
            (!is_taken && self.also_taken.as_ref() != Some(&name)).then_some(name)
        });
        NewTable {
            schema: (self.may_create && !self.is_temporary()).then(|| catalog::schema(self.oid)),
            name,
        }
    }
}

/// A table that a statement creates.
pub struct NewTable {
    /// `None` for a temporary one.
    schema: Option<CString>,
    pub name: CString,
}

impl NewTable {
    /// `CREATE TABLE` with its name.
    pub fn create(&self) -> Sql {
        let name = self.sql();
        match self.schema {
            Some(_) => sql!("CREATE TABLE {name}"),
            None => sql!("CREATE TEMP TABLE {name}"),
        }
    }

    /// `CREATE VIEW` with its name.
    pub fn create_view(&self) -> Sql {
        let name = self.sql();
        match self.schema {
            Some(_) => sql!("CREATE VIEW {name}"),
            None => sql!("CREATE TEMP VIEW {name}"),
        }
    }

    pub fn is_temporary(&self) -> bool {
        self.schema.is_none()
    }

    /// Its name without a schema.
    pub fn name(&self) -> &CStr {
        &self.name
    }

    /// Its name, with its schema if it is in one.
    pub fn sql(&self) -> Sql {
        match &self.schema {
            Some(schema) => Sql::new("").name_in(schema, &self.name),
            None => Sql::new("").name(&self.name),
        }
    }
}

fn numbered(name: &str, number: u32) -> CString {
    let text = match number {
        0 => name.to_owned(),
        n => format!("{name}{n}"),
    };
    CString::new(text).expect("no zero bytes")
}

fn free(mut of: impl FnMut(u32) -> Option<CString>) -> CString {
    (0..).find_map(&mut of).expect("numbers do not end")
}

/// As much of a name as has room, which ends between two characters.
fn cut(name: &CStr, most: usize) -> &[u8] {
    let bytes = name.to_bytes();
    // SAFETY: pointer and length are those of the name, and the server gives a length that is at most as great.
    let length =
        unsafe { pg_sys::pg_mbcliplen(name.as_ptr(), bytes.len() as i32, most as i32) } as usize;
    &bytes[..length.min(bytes.len())]
}
