//! Statements that name relations, columns, types and functions as they are.

use std::ffi::{CStr, CString};

use pgrx::pg_sys;

use crate::catalog;

/// A statement, in the database's encoding. Nothing in it may depend on the search_path.
#[derive(Clone)]
pub struct Sql(Vec<u8>);

impl Sql {
    /// Begins a statement.
    pub fn new(text: &str) -> Sql {
        Sql(text.as_bytes().to_vec())
    }

    /// A statement, or a part of one, with these parts at its `{}`, in their order.
    pub fn with(text: &str, parts: &[&dyn SqlPart]) -> Sql {
        let mut texts = text.split("{}");
        let first = Sql::new(texts.next().unwrap_or_default());
        assert_eq!(texts.clone().count(), parts.len(), "{text}");
        texts
            .zip(parts)
            .fold(first, |sql, (text, part)| part.add(sql).text(text))
    }

    fn bytes(mut self, bytes: &[u8]) -> Sql {
        self.0.extend_from_slice(bytes);
        self
    }

    /// Keywords and the like, in ASCII.
    pub fn text(self, text: &str) -> Sql {
        self.bytes(text.as_bytes())
    }

    /// What the server has written, in the database's encoding: an expression, a type.
    pub fn stored(self, text: &CStr) -> Sql {
        self.bytes(text.to_bytes())
    }

    /// Another part of the statement.
    pub fn sql(self, part: &Sql) -> Sql {
        self.bytes(&part.0)
    }

    /// An identifier.
    pub fn name(self, name: &CStr) -> Sql {
        self.bytes(catalog::quoted_column(name).to_bytes())
    }

    /// The identifier of something in a schema.
    pub fn name_in(self, schema: &CStr, name: &CStr) -> Sql {
        self.bytes(catalog::quoted_name(schema, name).to_bytes())
    }

    /// A locked relation, with its schema.
    pub fn relation(self, oid: pg_sys::Oid) -> Sql {
        self.bytes(catalog::quoted(oid).to_bytes())
    }

    /// A locked relation as the target of a statement that leaves out what inherits from it. Partitions are no such
    /// children: a partitioned table has no rows without them.
    pub fn only(self, oid: pg_sys::Oid) -> Sql {
        let only = match catalog::kind(oid) {
            pg_sys::RELKIND_RELATION => "ONLY ",
            _ => "",
        };
        self.text(only).relation(oid)
    }

    /// A column of a locked relation, by its number.
    pub fn column(self, relation: pg_sys::Oid, number: i16) -> Sql {
        self.name(&catalog::column_name(relation, number))
    }

    /// A type, with its schema where it needs one.
    pub fn type_name(self, oid: pg_sys::Oid) -> Sql {
        self.bytes(catalog::qualified_type(oid).to_bytes())
    }

    /// A type as it is, without a modifier.
    pub fn exact_type(self, oid: pg_sys::Oid) -> Sql {
        self.bytes(catalog::exact_type(oid).to_bytes())
    }

    /// A type as it is, with a modifier, which is negative where there is none.
    pub fn modified_type(self, oid: pg_sys::Oid, modifier: i32) -> Sql {
        self.bytes(catalog::exact_modified_type(oid, modifier).to_bytes())
    }

    /// An expression that the server has written, or that the caller gives and could run as well.
    pub fn expression(self, text: &[u8]) -> Sql {
        self.bytes(text)
    }

    /// The text form of a column's value, as the output function of its type gives it, whatever casts there are; empty
    /// for NULL.
    pub fn output(self, column: &CStr) -> Sql {
        self.text("pg_catalog.format('%s', ").name(column).text(")")
    }

    /// An operator, with its schema.
    pub fn operator(self, oid: pg_sys::Oid) -> Sql {
        catalog::operators::named(oid).add(self)
    }

    /// `COLLATE` and the collation, nothing if there is none.
    pub fn collate(self, collation: pg_sys::Oid) -> Sql {
        match catalog::operators::collation(collation) {
            Some((schema, name)) => self.text(" COLLATE ").name_in(&schema, &name),
            None => self,
        }
    }

    /// A string constant.
    pub fn literal(self, value: &CStr) -> Sql {
        // SAFETY: a C string, of which another one is made in the current memory context.
        let quoted = unsafe { CStr::from_ptr(pg_sys::quote_literal_cstr(value.as_ptr())) };
        self.bytes(quoted.to_bytes())
    }

    /// All of these parts, with a text between them.
    pub fn join(parts: impl IntoIterator<Item = impl SqlPart>, between: &str) -> Sql {
        let mut parts = parts.into_iter();
        let first = parts.next().map(|first| first.add(Sql::new("")));
        parts.fold(first.unwrap_or(Sql::new("")), |sql, part| {
            part.add(sql.text(between))
        })
    }

    /// For the server.
    pub fn into_c(self) -> CString {
        CString::new(self.0).expect("names have no zero bytes")
    }

    /// For a message, as in a hint.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// A string constant.
pub fn literal(value: &CStr) -> Sql {
    Sql::new("").literal(value)
}

/// What `sql!` and [`Sql::with`] put in: an identifier, an operator by its schema and name, a locked relation, another
/// part, or text.
pub trait SqlPart {
    fn add(&self, sql: Sql) -> Sql;
}

impl<T: SqlPart + ?Sized> SqlPart for &T {
    fn add(&self, sql: Sql) -> Sql {
        (**self).add(sql)
    }
}

impl SqlPart for CStr {
    fn add(&self, sql: Sql) -> Sql {
        sql.name(self)
    }
}

impl SqlPart for CString {
    fn add(&self, sql: Sql) -> Sql {
        sql.name(self)
    }
}

impl SqlPart for (CString, CString) {
    fn add(&self, sql: Sql) -> Sql {
        sql.text("OPERATOR(")
            .name(&self.0)
            .text(".")
            .bytes(self.1.to_bytes())
            .text(")")
    }
}

impl SqlPart for pg_sys::Oid {
    fn add(&self, sql: Sql) -> Sql {
        sql.relation(*self)
    }
}

impl SqlPart for Sql {
    fn add(&self, sql: Sql) -> Sql {
        sql.sql(self)
    }
}

impl SqlPart for str {
    fn add(&self, sql: Sql) -> Sql {
        sql.text(self)
    }
}

impl SqlPart for String {
    fn add(&self, sql: Sql) -> Sql {
        sql.text(self)
    }
}

impl SqlPart for usize {
    fn add(&self, sql: Sql) -> Sql {
        sql.text(&self.to_string())
    }
}
