//! Relations that hold pairs, or records with their clusters. Their columns tell which.

use std::ffi::CString;

use base::{Error, ErrorKind};
use pgrx::{pg_sys, PgSqlErrorCode};

use crate::pairs::dictionary::KeySides;
use crate::pairs::records::{lock, RecordColumn};
use crate::pairs::source_columns::{has, refuse};
use pg::catalog::is_of_server;
use pg::error::raise_as;
use pg::progress::{self, phases};
use pg::session::{read, Rows};
use pg::sql::Sql;

/// Rows fetched at a time.
const BATCH: i64 = 1000;

/// What the rows of a relation are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// It has the columns a and b.
    Pairs,
    /// It has the columns key and cluster.
    Labels,
}

/// A relation of pairs or of labels, locked until the end of the transaction.
pub struct Source {
    pub oid: pg_sys::Oid,
    /// For messages.
    pub name: String,
    pub form: Form,
    /// The column that says how similar a pair is, where the rows are pairs.
    pub value: &'static str,
    /// Whose keys those of pairs are.
    pub sides: KeySides,
}

impl Source {
    /// A relation of pairs as `bloom_duplicates` gives them, with their similarity, or as `bloom_model_duplicates`
    /// does, with their probability.
    ///
    /// Errors: a relation without columns a, b and similarity or probability.
    pub fn of_similar_pairs(oid: pg_sys::Oid) -> Source {
        let name = lock(oid);
        let value = if has(oid, &[c"a", c"b", c"similarity"]) {
            "similarity"
        } else if has(oid, &[c"a", c"b", c"probability"]) {
            "probability"
        } else {
            refuse(&name, "a, b and similarity, or a, b and probability")
        };
        Source {
            oid,
            name,
            form: Form::Pairs,
            value,
            sides: KeySides::One,
        }
    }

    /// Errors: a relation with neither columns a and b nor key and cluster, or with all of them.
    pub fn of_pairs_or_labels(oid: pg_sys::Oid) -> Source {
        let name = lock(oid);
        let form = match (has(oid, &[c"a", c"b"]), has(oid, &[c"key", c"cluster"])) {
            (true, false) => Form::Pairs,
            (false, true) => Form::Labels,
            (false, false) => refuse(&name, "a and b, or key and cluster"),
            (true, true) => raise_as(
                PgSqlErrorCode::ERRCODE_AMBIGUOUS_COLUMN,
                &Error::new(
                    ErrorKind::InvalidParameter,
                    format!(
                        "relation \"{name}\" has the columns a and b, and key and cluster, too"
                    ),
                )
                .detail("Either are expected: a and b of pairs, or key and cluster of records.")
                .hint("Give a view with the columns that are meant."),
            ),
        };
        Source {
            oid,
            name,
            form,
            value: "similarity",
            sides: KeySides::One,
        }
    }

    /// The pairs of a linkage: a is a key of one relation, b of another.
    ///
    /// Errors: a relation without columns a and b.
    pub fn of_linked_pairs(oid: pg_sys::Oid) -> Source {
        let name = lock(oid);
        if !has(oid, &[c"a", c"b"]) {
            refuse(&name, "a and b");
        }
        Source {
            oid,
            name,
            form: Form::Pairs,
            value: "similarity",
            sides: KeySides::Two,
        }
    }

    /// Reads its rows: a and b, or key and cluster.
    pub fn rows(&self) -> Rows {
        let (phase, sql) = match self.form {
            Form::Pairs => (phases::READING_PAIRS, "SELECT a, b FROM "),
            Form::Labels => (phases::READING_LABELS, "SELECT key, cluster FROM "),
        };
        progress::phase(phase, None);
        let sql = Sql::new(sql);
        read(sql.relation(self.oid), &[], BATCH)
    }

    /// Reads its rows: a, b, and the similarity or probability, which is a float8.
    ///
    /// Errors: it is of a type whose cast a user may have made.
    pub fn similar_rows(&self) -> Rows {
        let sql = self.select().sql(&self.number(self.value));
        progress::phase(phases::READING_PAIRS, None);
        read(sql.text(" FROM ").relation(self.oid), &[], BATCH)
    }

    /// The same, and what decides between pairs of one probability: the bits that a match model has found for them,
    /// where there is a column of them.
    ///
    /// Errors: as above.
    pub fn ranked_rows(&self) -> Rows {
        let bits = match self.value == "probability" && has(self.oid, &[c"bits"]) {
            true => self.number("bits"),
            false => Sql::new("NULL::pg_catalog.float8"),
        };
        let sql = self
            .select()
            .sql(&self.number(self.value))
            .text(", ")
            .sql(&bits);
        progress::phase(phases::READING_PAIRS, None);
        read(sql.text(" FROM ").relation(self.oid), &[], BATCH)
    }

    fn select(&self) -> Sql {
        Sql::new("SELECT a, b, ")
    }

    /// A column as a float8.
    ///
    /// Errors: it is of a type whose cast a user may have made.
    fn number(&self, column: &str) -> Sql {
        let value = CString::new(column).unwrap_or_default();
        let value = RecordColumn::of(self.oid, value, &self.name);
        if !is_of_server(value.type_oid) {
            raise_as(
                PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
                &Error::new(
                    ErrorKind::InvalidParameter,
                    format!(
                        "column \"{column}\" of relation \"{}\" is not a number",
                        self.name
                    ),
                )
                .hint("Give a view in which it is of type float8."),
            );
        }
        Sql::new("CAST(")
            .text(column)
            .text(" AS pg_catalog.float8)")
    }
}
