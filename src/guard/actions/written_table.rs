//! The tables that a guard writes to: pairs of similar rows that action `flag` enters for a review, and the rows that
//! action `skip` leaves out. What such a table must be, the way of the write, and as whom.

use base::Result;
use pg::error::sql_error;
use std::ffi::CStr;

use linkage::guard::similar_rows::{SimilarRow, SimilarRows};
use pgrx::PgSqlErrorCode::{
    ERRCODE_INVALID_TABLE_DEFINITION, ERRCODE_T_R_SERIALIZATION_FAILURE, ERRCODE_UNDEFINED_COLUMN,
    ERRCODE_WRONG_OBJECT_TYPE,
};
use pgrx::{pg_sys, IntoDatum};

use crate::guard::tables::{name_of, wrong_type};
use pg::catalog::{self, privileges::current_user};
use pg::function::rows::text_datum;
use pg::message::words;
use pg::relation::OpenRelation;
use pg::row::Row;
use pg::session::acting_user::{as_owner, owned_throughout, stays_within};
use pg::session::{SavedPlan, Session};
use pg::sql;
use pg::sql::{literal, Sql};

/// What a table must be that a guard writes to.
pub struct TableForm {
    /// What messages call it.
    pub label: &'static str,
    /// The columns that the guard writes.
    columns: &'static [(&'static CStr, pg_sys::Oid)],
    /// What stands behind the columns of such a table.
    constraint: &'static str,
}

/// The review table.
pub static REVIEW: TableForm = TableForm {
    label: "review table",
    columns: &[
        (c"key", pg_sys::TEXTOID),
        (c"duplicate", pg_sys::TEXTOID),
        (c"similarity", pg_sys::FLOAT8OID),
        (c"found_at", pg_sys::TIMESTAMPTZOID),
    ],
    constraint: ", PRIMARY KEY (key, duplicate)",
};

/// The table of skipped rows.
pub static SKIPPED: TableForm = TableForm {
    label: "table of skipped rows",
    columns: &[
        (c"record", pg_sys::JSONBOID),
        (c"duplicate", pg_sys::TEXTOID),
        (c"similarity", pg_sys::FLOAT8OID),
        (c"found_at", pg_sys::TIMESTAMPTZOID),
        (c"who", pg_sys::TEXTOID),
    ],
    constraint: "",
};

/// A column as a statement declares it.
fn declared(&(name, of_type): &(&CStr, pg_sys::Oid)) -> Vec<u8> {
    let of_type = catalog::type_name(of_type);
    words!("{name} {of_type}")
}

impl TableForm {
    /// Errors: it is no table (42809), lacks columns (42703), has them of other types (42804), or cannot be written to
    /// by values for these columns and ON CONFLICT DO NOTHING (42P16).
    pub fn check(&self, table: pg_sys::Oid) -> Result<()> {
        let (table_kind, partitioned) =
            (pg_sys::RELKIND_RELATION, pg_sys::RELKIND_PARTITIONED_TABLE);
        if ![table_kind, partitioned].contains(&catalog::kind(table)) {
            let label = self.label.replace("table", "relation");
            let columns: Vec<_> = self.columns.iter().map(declared).collect();
            let columns = columns.join(&b", "[..]);
            return Err(sql_error(
                ERRCODE_WRONG_OBJECT_TYPE,
                words!("{label} \"{table}\" is not a table"),
            )
            .hint(words!("Create it with ({columns}{self.constraint}).")));
        }
        self.check_columns(table)?;
        let open = OpenRelation::table(table, pg_sys::AccessShareLock);
        self.check_not_null(&open)?;
        self.check_constraints(&open)
    }

    fn check_columns(&self, table: pg_sys::Oid) -> Result<()> {
        let mut lacking = Vec::new();
        for &(name, of_type) in self.columns {
            match catalog::column(table, name).map(|column| catalog::column_type(table, column)) {
                None => lacking.push(declared(&(name, of_type))),
                Some(found) if found != of_type => {
                    let wanted = catalog::type_name(of_type);
                    return Err(wrong_type(self.label, table, name, found, &wanted));
                }
                Some(_) => (),
            }
        }
        if lacking.is_empty() {
            return Ok(());
        }
        let (listed, quoted) = (lacking.join(&b", "[..]), catalog::quoted(table));
        let added = lacking.join(&b", ADD "[..]);
        Err(sql_error(
            ERRCODE_UNDEFINED_COLUMN,
            words!("{self.label} \"{table}\" lacks columns: {listed}"),
        )
        .hint(words!("ALTER TABLE {quoted} ADD {added}")))
    }

    /// Errors: a column that the guard does not write needs a value.
    fn check_not_null(&self, table: &OpenRelation) -> Result<()> {
        // A trigger may fill a column that has no default.
        let (has_triggers, oid) = (!table.trigdesc.is_null(), table.rd_id);
        for column in table.columns() {
            let name = name_of(column);
            let is_written = self.columns.iter().any(|(written, _)| *written == name);
            let is_filled = column.atthasdef || column.attidentity != 0 || has_triggers;
            if column.attnotnull && !column.attisdropped && !is_written && !is_filled {
                let names = self.columns.iter().map(|(name, _)| name.to_bytes());
                let names: Vec<&[u8]> = names.collect();
                let (&last, others) = names.split_last().expect("a form has columns");
                let others = others.join(&b", "[..]);
                let (quoted, column) = (catalog::quoted(oid), catalog::quoted_column(name));
                return Err(sql_error(
                    ERRCODE_INVALID_TABLE_DEFINITION,
                    words!("column \"{name}\" of {self.label} \"{oid}\" is not null and has no default"),
                )
                .detail(words!("The guard enters {others} and {last}."))
                .hint(words!(
                    "ALTER TABLE {quoted} ALTER {column} DROP NOT NULL, or SET DEFAULT."
                )));
            }
        }
        Ok(())
    }

    /// Errors: a unique constraint is deferrable, so PostgreSQL refuses ON CONFLICT DO NOTHING.
    fn check_constraints(&self, table: &OpenRelation) -> Result<()> {
        for oid in table.indexes() {
            let index = OpenRelation::index(oid, pg_sys::AccessShareLock);
            // SAFETY: an open index has its row of pg_index.
            let is_deferrable =
                unsafe { (*index.rd_index).indisunique && !(*index.rd_index).indimmediate };
            if is_deferrable {
                return Err(sql_error(
                    ERRCODE_INVALID_TABLE_DEFINITION,
                    words!("constraint \"{oid}\" of {self.label} \"{table.rd_id}\" is deferrable"),
                )
                .detail(
                    "The guard leaves out what is there already, which PostgreSQL does by \
                immediate constraints only.",
                )
                .hint("Create the constraint NOT DEFERRABLE."));
            }
        }
        Ok(())
    }
}

/// A table, and the plans that insert a row of `N` parameters.
pub struct WrittenTable<const N: usize> {
    pub oid: pg_sys::Oid,
    form: &'static TableForm,
    /// Runs as the invoking user.
    insert: SavedPlan<N>,
    /// The same with RETURNING: a cursor over it can be looked at after it is planned and before it runs.
    insert_returning: SavedPlan<N>,
}

impl<const N: usize> WrittenTable<N> {
    /// `insert` is an INSERT with parameters of these types.
    ///
    /// Errors: the table is not of the form: those of [`TableForm::check`].
    fn new(
        oid: pg_sys::Oid,
        form: &'static TableForm,
        insert: Sql,
        parameters: [pg_sys::Oid; N],
    ) -> Result<WrittenTable<N>> {
        form.check(oid)?;
        let insert = insert.text(" ON CONFLICT DO NOTHING");
        Ok(WrittenTable {
            oid,
            form,
            insert: SavedPlan::new(insert.clone(), parameters),
            insert_returning: SavedPlan::new(insert.text(" RETURNING 1"), parameters),
        })
    }

    /// Enters rows. They are written as `owner`, who owns the guarded table, if that runs no code but
    /// the server's own; else as the invoking user.
    ///
    /// Errors: the table has been replaced meanwhile, or has got partitions (40001); those of the write.
    fn enter(
        &self,
        session: &Session,
        owner: pg_sys::Oid,
        rows: impl IntoIterator<Item = [pg_sys::Datum; N]>,
    ) -> Result<()> {
        let tables = match current_user() == owner {
            true => None,
            false => owned_throughout(self.oid, owner),
        };
        let mut rows = rows.into_iter();
        let Some(tables) = tables else {
            rows.for_each(|values| drop(self.insert.run(session, values)));
            return Ok(());
        };
        let enter = |values| self.enter_within(session, &tables, owner, values);
        as_owner(owner, || rows.try_for_each(enter))
    }

    /// Enters a row if the plan writes only to `tables`, which were found to run no code but the server's own.
    ///
    /// Errors: it would write elsewhere (40001); those of the write.
    fn enter_within(
        &self,
        session: &Session,
        tables: &[pg_sys::Oid],
        owner: pg_sys::Oid,
        values: [pg_sys::Datum; N],
    ) -> Result<()> {
        let insertion = self.insert_returning.open(session, values);
        // SAFETY: the cursor is open.
        let is_as_seen = unsafe { stays_within(insertion.portal(), tables) }
            && owned_throughout(self.oid, owner).as_deref() == Some(tables);
        if is_as_seen {
            insertion.each(|_| ());
            return Ok(());
        }
        Err(sql_error(
            ERRCODE_T_R_SERIALIZATION_FAILURE,
            words!("{self.form.label} \"{self.oid}\" was changed while it was written to"),
        )
        .hint("Repeat the transaction."))
    }
}

impl WrittenTable<3> {
    /// Where a table is compared with itself, a pair is not entered again with its rows exchanged. Where it is compared
    /// with a block list, the keys of a pair are of two tables, so they are not compared.
    ///
    /// Errors: it is no table (42809), lacks columns (42703), or has them of other types (42804).
    pub fn review(table: pg_sys::Oid, with_list: bool) -> Result<WrittenTable<3>> {
        let mut insert = sql!(
            "INSERT INTO {table} (key, duplicate, similarity, found_at) SELECT $1, $2, $3, pg_catalog.now()"
        );
        if !with_list {
            let only = Sql::new("").only(table);
            insert = sql!(
                "{insert} WHERE NOT EXISTS (SELECT FROM {only} AS r \
                WHERE r.key OPERATOR(pg_catalog.=) $2 AND r.duplicate OPERATOR(pg_catalog.=) $1)"
            );
        }
        let parameters = [pg_sys::TEXTOID, pg_sys::TEXTOID, pg_sys::FLOAT8OID];
        WrittenTable::new(table, &REVIEW, insert, parameters)
    }

    /// Enters a pair for each of the best rows, as [`WrittenTable::enter`] says.
    ///
    /// Errors: those of [`WrittenTable::enter`].
    pub fn enter_pairs(&self, owner: pg_sys::Oid, key: &[u8], found: &SimilarRows) -> Result<()> {
        let pairs = found.best.iter().map(|row| {
            let similarity = row.similarity.into_datum().expect("not NULL");
            [text_datum(key), text_datum(&row.key), similarity]
        });
        self.enter(&Session::begin(false), owner, pairs)
    }
}

/// The table of skipped rows.
pub struct SkippedTable {
    pub table: WrittenTable<5>,
    /// Makes JSON of a row.
    to_json: SavedPlan<1>,
}

impl SkippedTable {
    /// `guarded` is the table that the trigger fires for. Generated columns, which are not computed yet, are left out.
    ///
    /// Errors: those of [`WrittenTable::new`].
    pub fn new(table: pg_sys::Oid, guarded: pg_sys::Oid) -> Result<SkippedTable> {
        let insert = sql!(
            "INSERT INTO {table} (record, duplicate, similarity, found_at, who) SELECT $1, CASE WHEN \
                $2 THEN $3 END, CASE WHEN $2 THEN $4 END, pg_catalog.now(), $5"
        );
        let open = OpenRelation::locked_table(guarded);
        let columns = open
            .columns()
            .filter(|c| c.attgenerated != 0 && !c.attisdropped);
        let generated = Sql::join(columns.map(name_of).map(literal), ", ");
        let to_json = sql!(
            "SELECT pg_catalog.to_jsonb($1) OPERATOR(pg_catalog.-) ARRAY[{generated}]::pg_catalog.text[]"
        );
        let (text, number) = (pg_sys::TEXTOID, pg_sys::FLOAT8OID);
        // The row, whether a similar one is known, its key, the similarity, and who has entered the row.
        let parameters = [pg_sys::JSONBOID, pg_sys::BOOLOID, text, number, text];
        Ok(SkippedTable {
            table: WrittenTable::new(table, &SKIPPED, insert, parameters)?,
            to_json: SavedPlan::new(to_json, [open.form().reltype]),
        })
    }

    /// Enters a row, with the one that it is similar to, if that is known. What makes JSON of values runs as the
    /// invoking user.
    ///
    /// Errors: those of [`WrittenTable::enter`], and of casts and outputs of the row's types.
    pub fn enter(&self, owner: pg_sys::Oid, row: &Row, similar: Option<&SimilarRow>) -> Result<()> {
        let session = Session::begin(false);
        // SAFETY: the row is that of the trigger, with the columns of its table. There is a user of this OID.
        let (row, user) = unsafe {
            // The slot of a partition may say nothing of the type of its rows.
            let tuple = pg_sys::ExecFetchSlotHeapTuple(row.slot, false, std::ptr::null_mut());
            let row = pg_sys::heap_copy_tuple_as_datum(tuple, (*row.table).rd_att);
            (
                row,
                CStr::from_ptr(pg_sys::GetUserNameFromId(current_user(), false)),
            )
        };
        let json = self.to_json.run(&session, [row]);
        let record = json.first().and_then(|row| row.datum(0));
        let key = similar.map_or(&b""[..], |row| &row.key);
        let similarity = similar.map_or(0.0, |row| row.similarity);
        let values = [
            record.expect("a row is not NULL"),
            pg_sys::Datum::from(similar.is_some()),
            text_datum(key),
            similarity.into_datum().expect("not NULL"),
            text_datum(user.to_bytes()),
        ];
        self.table.enter(&session, owner, [values])
    }
}
