//! The values of a row as the model reads them.

use std::ffi::CString;

use pgrx::pg_sys;

use crate::models::{base_type, field_value, reading_fields};
use crate::pairs::records::RecordColumn;
use pg::row::Row;
use pg::session::{QueryRow, SavedPlan, Session};
use pg::sql;
use pg::sql::Sql;
use pg::values::text::Text;

/// The columns that a model compares, in its order, and how their values are read of a row of the table.
pub struct RowTexts {
    columns: Vec<RecordColumn>,
    /// Of each column its number, if its value is the text itself, else the column of the plan that makes one.
    sources: Vec<Source>,
    /// Makes texts of a row's other values.
    plan: Option<SavedPlan<1>>,
}

#[derive(Clone, Copy)]
enum Source {
    /// The number of the column.
    Row(i16),
    /// The place in the plan's result.
    Plan(usize),
}

/// The values of a record, a text or nothing for each field of the model.
pub type RecordTexts = Vec<Option<String>>;

impl RowTexts {
    /// Of the columns of a table whose rows have this type.
    pub fn new(table: pg_sys::Oid, row_type: pg_sys::Oid, columns: Vec<RecordColumn>) -> RowTexts {
        let is_text = |column: &RecordColumn| {
            [pg_sys::TEXTOID, pg_sys::VARCHAROID].contains(&base_type(column.type_oid))
        };
        let mut others = Vec::new();
        let sources = columns.iter().map(|column| match is_text(column) {
            true => Source::Row(pg::catalog::column(table, &column.name).unwrap_or_default()),
            false => {
                others.push(field_value(Sql::new(""), column));
                Source::Plan(others.len() - 1)
            }
        });
        let sources = sources.collect();
        let plan = (!others.is_empty()).then(|| {
            let values = Sql::join(others, ", ");
            let statement = sql!("SELECT {values} FROM (SELECT ($1).*) AS r");
            SavedPlan::new(statement, [row_type])
        });
        RowTexts {
            columns,
            sources,
            plan,
        }
    }

    /// The numbers of the columns in a table.
    pub fn numbers(&self, table: pg_sys::Oid) -> Vec<i16> {
        let number = |column: &RecordColumn| pg::catalog::column(table, &column.name);
        self.columns.iter().filter_map(number).collect()
    }

    /// The texts of all columns, to be selected of a relation.
    pub fn select(&self) -> Sql {
        let values = self.columns.iter().map(|c| field_value(Sql::new(""), c));
        Sql::join(values, ", ")
    }

    /// The texts of a row of [`RowTexts::select`], which begin at this column.
    pub fn of_query(&self, row: QueryRow<'_>, at: usize) -> RecordTexts {
        let text = |i: usize| Some(row.text(at + i)?.as_str().to_owned());
        (0..self.columns.len()).map(text).collect()
    }

    /// The texts of a row of the table.
    ///
    /// Errors: as the functions of the values' types.
    pub fn of_row(&self, row: &Row) -> RecordTexts {
        let others = self.plan.as_ref().map(|plan| {
            let session = Session::begin(true);
            let whole = row.composite(|name| {
                let mut columns = self.columns.iter();
                columns.any(|column| column.name.as_c_str() == name)
            });
            let rows = reading_fields(|| plan.run(&session, [whole]));
            let texts = rows.first().map(|row| {
                let of_plan = self.sources.iter().filter(|s| matches!(s, Source::Plan(_)));
                let text = |i: usize| Some(row.text(i)?.as_str().to_owned());
                (0..of_plan.count()).map(text).collect::<RecordTexts>()
            });
            texts.unwrap_or_default()
        });
        let text = |source: &Source| match *source {
            Source::Plan(place) => others.as_ref()?.get(place)?.clone(),
            // SAFETY: a text, which is copied.
            Source::Row(number) => row
                .get(number)
                .map(|value| unsafe { Text::from_raw(value) }.as_str().to_owned()),
        };
        self.sources.iter().map(text).collect()
    }
}

/// Columns of these names, in UTF-8, in the database's encoding.
pub fn c_names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<CString> {
    let name = |name: &str| CString::new(pg::values::text::to_database(name)).unwrap_or_default();
    names.map(name).collect()
}
