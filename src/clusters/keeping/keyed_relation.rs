//! A relation whose records have a key, with its columns.

use base::Error;
use linkage::merging::KeepBy;
use pg::error::{raise, sql_error};
use std::ffi::{CStr, CString};

use pgrx::{pg_sys, PgSqlErrorCode};

use pg::catalog;
use pg::catalog::{is_of_server, operators};
use pg::ffi::attribute;
use pg::relation::OpenRelation;
use pg::session::tuple_store::StoreColumn;
use pg::sql;
use pg::sql::Sql;
use pg::values::text::{readable, to_database};

/// A name for messages.
pub fn text(name: &CStr) -> String {
    readable(name.to_bytes())
}

/// A column of a table.
#[derive(Clone)]
pub struct TableColumn {
    pub name: CString,
    pub store: StoreColumn,
    /// The server computes it.
    pub generated: bool,
    /// GENERATED ALWAYS AS IDENTITY.
    pub always: bool,
}

impl TableColumn {
    /// Whether a text of spaces stands for no value.
    pub fn is_text(&self) -> bool {
        // SAFETY: a catalog look-up of a type that exists.
        let base = unsafe { pg_sys::getBaseType(self.store.type_oid) };
        [pg_sys::TEXTOID, pg_sys::VARCHAROID, pg_sys::BPCHAROID].contains(&base)
    }
}

/// The columns of a locked table.
pub fn columns_of(table: pg_sys::Oid) -> Vec<TableColumn> {
    let open = OpenRelation::locked_table(table);
    // SAFETY: an open table has a descriptor of as many columns as it says; names end with a zero byte.
    unsafe {
        let descriptor = open.rd_att;
        let all = (0..(*descriptor).natts).map(|i| &*attribute(descriptor, i));
        all.filter(|column| !column.attisdropped)
            .map(|column| TableColumn {
                name: CStr::from_ptr(column.attname.data.as_ptr()).to_owned(),
                store: StoreColumn {
                    type_oid: column.atttypid,
                    typmod: column.atttypmod,
                    collation: column.attcollation,
                },
                generated: column.attgenerated != 0,
                always: column.attidentity as u8 == b'a',
            })
            .collect()
    }
}

/// A locked relation whose records have a key.
pub struct KeyedRelation {
    pub oid: pg_sys::Oid,
    /// For messages.
    pub name: String,
    pub columns: Vec<TableColumn>,
    /// Which column has the keys.
    pub key: usize,
    /// The type of the keys, or the one that it is a domain of.
    pub key_type: StoreColumn,
    /// The operators = and < of keys.
    pub equal: pg_sys::Oid,
    pub less: pg_sys::Oid,
    /// Rows of tables that inherit from it are not its own.
    only: bool,
    /// The table of a session that its rows are read from, instead of it.
    copy: Option<&'static CStr>,
}

impl KeyedRelation {
    /// `name` is for messages. `only` says that rows of tables that inherit from it are not its own.
    ///
    /// Errors: no such column; keys that have no order.
    pub fn new(oid: pg_sys::Oid, name: String, key: &CStr, only: bool) -> KeyedRelation {
        let columns = columns_of(oid);
        let Some(number) = columns.iter().position(|c| c.name.as_c_str() == key) else {
            raise(&catalog::no_column(oid, key))
        };
        let of_key = columns[number].store;
        // SAFETY: a catalog look-up of a type that exists.
        let base = unsafe { pg_sys::getBaseType(of_key.type_oid) };
        let Some((equal, less)) = operators::of_order(base) else {
            let key = text(key);
            refuse_order(
                format!("column \"{key}\" of relation \"{name}\" cannot be a key"),
                base,
                "Name a column whose values are unique.",
            )
        };
        KeyedRelation {
            oid,
            name,
            columns,
            key: number,
            key_type: StoreColumn {
                type_oid: base,
                typmod: -1,
                collation: of_key.collation,
            },
            equal,
            less,
            only,
            copy: None,
        }
    }

    /// The name of the key's column.
    pub fn key_name(&self) -> &CStr {
        &self.columns[self.key].name
    }

    /// The position of a column that is given by its name in UTF-8.
    ///
    /// Errors: there is none.
    pub fn column(&self, name: &str) -> usize {
        self.find(name)
            .unwrap_or_else(|| raise(&self.no_column(name)))
    }

    fn find(&self, name: &str) -> Option<usize> {
        let is_it = |column: &TableColumn| readable(column.name.to_bytes()) == name;
        self.columns.iter().position(is_it)
    }

    fn no_column(&self, name: &str) -> Error {
        let name = CString::new(to_database(name)).unwrap_or_default();
        catalog::no_column(self.oid, &name)
    }

    /// The same of a column that `keep_by` names, whose values decide.
    ///
    /// Errors: there is none; its values have no order.
    pub fn ordered_column(&self, name: &str) -> usize {
        let found = self
            .find(name)
            .unwrap_or_else(|| raise(&self.no_column(name).perhaps("rule", name, KeepBy::WORDS)));
        let of_type = self.columns[found].store.type_oid;
        // SAFETY: a catalog look-up of a type that exists.
        if operators::of_order(unsafe { pg_sys::getBaseType(of_type) }).is_none() {
            let relation = &self.name;
            refuse_order(
                format!("column \"{name}\" of relation \"{relation}\" cannot decide which record is kept"),
                of_type,
                "Name a column of numbers, dates or texts.",
            );
        }
        found
    }

    /// Has the rows read from a table of a session.
    pub fn read_from(&mut self, copy: &'static CStr) {
        self.copy = Some(copy);
    }

    /// `FROM`-item of the relation under an alias.
    pub fn from(&self, alias: &str) -> Sql {
        let relation = match (self.copy, self.only) {
            (Some(copy), _) => sql!("{copy}"),
            (None, true) => Sql::new("").only(self.oid),
            (None, false) => Sql::new("").relation(self.oid),
        };
        sql!("{relation} AS {alias}")
    }

    /// `alias.key`
    pub fn key_of(&self, alias: &str) -> Sql {
        let key = self.key_name();
        sql!("{alias}.{key}")
    }

    /// The condition that the key of a row under an alias equals an expression of the type of keys.
    pub fn key_is(&self, alias: &str, expression: &str) -> Sql {
        let (key, equal) = (self.key_of(alias), Sql::new("").operator(self.equal));
        sql!("{key} {equal} {expression}")
    }

    /// The condition that a row under an alias is the one that an expression of some type names; where types differ, by
    /// what the key is as text.
    pub fn is_named(&self, alias: &str, expression: &str, of_type: pg_sys::Oid) -> Sql {
        let base = self.key_type;
        if of_type == base.type_oid {
            return self.key_is(alias, expression);
        }
        let as_text = format!("pg_catalog.format('%s', {expression})");
        let (key, equal) = (self.key_of(alias), Sql::new("").operator(self.equal));
        if !is_of_server(base.type_oid) {
            return sql!(
                "pg_catalog.format('%s', {key}) OPERATOR(pg_catalog.=) {as_text} COLLATE pg_catalog.\"C\""
            );
        }
        let of_type = Sql::new("").exact_type(base.type_oid);
        let collate = Sql::new("").collate(base.collation);
        sql!(
            "{key} {equal} (CASE WHEN {expression} IS DISTINCT FROM NULL \
            THEN CAST({as_text} AS {of_type}) END{collate})"
        )
    }
}

fn refuse_order(message: String, of_type: pg_sys::Oid, hint: &str) -> ! {
    let of_type = text(&catalog::type_name(of_type));
    let detail = format!("Its type {of_type} has no order.");
    raise(
        &sql_error(PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH, message)
            .detail(detail.as_str())
            .hint(hint),
    )
}
