//! Relations that hold pairs, or records with their clusters. Their columns tell which.

use pg::error::{raise, sql_error};
use std::ffi::CString;

use pgrx::{pg_sys, PgSqlErrorCode};

use crate::pairs::dictionary::KeySides;
use crate::pairs::records::{lock, RecordColumn};
use crate::pairs::source_columns::{has, refuse as refuse_columns};
use pg::catalog::is_of_server;
use pg::progress::{self, phases, JobPhase};
use pg::session::{read, Rows, BATCH};
use pg::sql;
use pg::sql::Sql;

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
        Source::of_pairs_with(oid, ["similarity", "probability"])
    }

    /// The same, of which the probability is wanted if there are both.
    pub fn of_probable_pairs(oid: pg_sys::Oid) -> Source {
        Source::of_pairs_with(oid, ["probability", "similarity"])
    }

    fn of_pairs_with(oid: pg_sys::Oid, values: [&'static str; 2]) -> Source {
        let name = lock(oid);
        let has_one = |value: &&str| match *value {
            "similarity" => has(oid, &[c"a", c"b", c"similarity"]),
            _ => has(oid, &[c"a", c"b", c"probability"]),
        };
        let Some(value) = values.into_iter().find(has_one) else {
            refuse_columns(&name, "a, b and similarity, or a, b and probability")
        };
        Source {
            value,
            ..Source::new(oid, name, Form::Pairs)
        }
    }

    fn new(oid: pg_sys::Oid, name: String, form: Form) -> Source {
        Source {
            oid,
            name,
            form,
            value: "similarity",
            sides: KeySides::One,
        }
    }

    /// Errors: a relation with neither columns a and b nor key and cluster, or with all of them.
    pub fn of_pairs_or_labels(oid: pg_sys::Oid) -> Source {
        let name = lock(oid);
        let form = match (has(oid, &[c"a", c"b"]), has(oid, &[c"key", c"cluster"])) {
            (true, false) => Form::Pairs,
            (false, true) => Form::Labels,
            (false, false) => refuse_columns(&name, "a and b, or key and cluster"),
            (true, true) => raise(
                &sql_error(
                    PgSqlErrorCode::ERRCODE_AMBIGUOUS_COLUMN,
                    format!(
                        "relation \"{name}\" has the columns a and b, and key and cluster, too"
                    ),
                )
                .detail("Either are expected: a and b of pairs, or key and cluster of records.")
                .hint("Give a view with the columns that are meant."),
            ),
        };
        Source::new(oid, name, form)
    }

    /// The pairs of a linkage: a is a key of one relation, b of another.
    ///
    /// Errors: a relation without columns a and b.
    pub fn of_linked_pairs(oid: pg_sys::Oid) -> Source {
        let name = lock(oid);
        if !has(oid, &[c"a", c"b"]) {
            refuse_columns(&name, "a and b");
        }
        Source {
            sides: KeySides::Two,
            ..Source::new(oid, name, Form::Pairs)
        }
    }

    /// Reads its rows: a and b, or key and cluster.
    pub fn rows(&self) -> Rows {
        match self.form {
            Form::Pairs => self.read(phases::READING_PAIRS, Sql::new("a, b")),
            Form::Labels => self.read(phases::READING_LABELS, Sql::new("key, cluster")),
        }
    }

    /// Reads its rows: a, b, and the similarity or probability, which is a float8.
    ///
    /// Errors: it is of a type whose cast a user may have made.
    pub fn similar_rows(&self) -> Rows {
        let value = self.number(self.value);
        self.read(phases::READING_PAIRS, sql!("a, b, {value}"))
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
        let value = self.number(self.value);
        self.read(phases::READING_PAIRS, sql!("a, b, {value}, {bits}"))
    }

    fn read(&self, phase: JobPhase, columns: Sql) -> Rows {
        progress::phase(phase, None);
        read(sql!("SELECT {columns} FROM {self.oid}"), &[], BATCH)
    }

    /// A column as a float8.
    ///
    /// Errors: it is of a type whose cast a user may have made.
    fn number(&self, column: &str) -> Sql {
        let value = CString::new(column).unwrap_or_default();
        let value = RecordColumn::new(self.oid, value);
        if !is_of_server(value.type_oid) {
            raise(
                &sql_error(
                    PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
                    format!(
                        "column \"{column}\" of relation \"{}\" is not a number",
                        self.name
                    ),
                )
                .hint("Give a view in which it is of type float8."),
            );
        }
        sql!("CAST({column} AS pg_catalog.float8)")
    }
}
