//! Statements that name relations and columns as they are.

use std::ffi::CStr;

use pgrx::pg_sys;

use crate::pg::catalog::{quoted, quoted_column};

/// A query, in the database's encoding. Nothing in it may depend on the search_path.
pub struct Sql(pub(super) Vec<u8>);

impl Sql {
    pub fn new(text: &str) -> Sql {
        Sql(text.as_bytes().to_vec())
    }

    pub fn text(mut self, text: &str) -> Sql {
        self.0.extend_from_slice(text.as_bytes());
        self
    }

    /// An identifier.
    pub fn name(mut self, name: &CStr) -> Sql {
        self.0.extend_from_slice(quoted_column(name).to_bytes());
        self
    }

    /// Identifiers with commas between them.
    pub fn names<'a>(self, names: impl IntoIterator<Item = &'a CStr>) -> Sql {
        let names = names.into_iter().enumerate();
        names.fold(self, |sql, (i, name)| {
            sql.text(if i > 0 { ", " } else { "" }).name(name)
        })
    }

    /// A locked relation, with its schema.
    pub fn relation(mut self, oid: pg_sys::Oid) -> Sql {
        self.0.extend_from_slice(quoted(oid).to_bytes());
        self
    }
}
