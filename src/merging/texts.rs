//! Values and rows as the table of merges has them, and back: by the output and input functions of their types,
//! whatever casts users have made, and under settings of their own. Statements that run code of users, such as triggers
//! and policies, see the settings of the caller: rows are read into a store, and what is made of that runs within
//! [`exactly`].

use std::ffi::CStr;

use pgrx::pg_sys;

use super::subject::TableColumn;
use pg::catalog::operators;
use pg::session::fixed_settings::FixedSettings;
use pg::sql;
use pg::sql::{literal, Sql};

/// Settings under which text is read as the value that it was made of.
const READING: [(&CStr, &CStr); 3] = [
    (c"datestyle", c"ISO"),
    (c"intervalstyle", c"postgres"),
    (c"extra_float_digits", c"3"),
];

/// With the first ones, those under which a value has the same text in all sessions. What is not in pg_catalog is
/// written with its schema.
const RECORDING: [(&CStr, &CStr); 10] = [
    READING[0],
    READING[1],
    READING[2],
    (c"bytea_output", c"hex"),
    (c"lc_monetary", c"C"),
    (c"timezone", c"UTC"),
    (c"search_path", c"pg_catalog, pg_temp"),
    (c"array_nulls", c"on"),
    (c"xmloption", c"content"),
    (c"quote_all_identifiers", c"off"),
];

fn with_settings<T>(settings: &[(&CStr, &CStr)], run: impl FnOnce() -> T) -> T {
    let fixed = FixedSettings::begin(settings);
    let result = run();
    fixed.end();
    result
}

/// Runs queries that find and compare records, under settings in which each value's text is read as the same value
/// again, whatever the caller's are.
pub fn with_exact_texts<T>(run: impl FnOnce() -> T) -> T {
    with_settings(&READING, run)
}

/// Runs a query that makes texts of values, or values of texts, under settings of its own. It reads stores only: no
/// code of users is to see these settings, but for that of types.
pub fn exactly<T>(run: impl FnOnce() -> T) -> T {
    with_settings(&RECORDING, run)
}

fn base(of_type: pg_sys::Oid) -> pg_sys::Oid {
    // SAFETY: a catalog look-up of a type that exists.
    unsafe { pg_sys::getBaseType(of_type) }
}

fn row_type(table: pg_sys::Oid) -> Sql {
    // SAFETY: a catalog look-up of a table that is locked.
    Sql::new("").exact_type(unsafe { pg_sys::get_rel_type_id(table) })
}

/// The row of a table under an alias, as one value.
pub fn row(alias: &str, table: pg_sys::Oid) -> Sql {
    let of_type = row_type(table);
    sql!("CAST({alias}.* AS {of_type})")
}

/// A row of a table, of values of all its columns.
pub fn row_of(values: impl IntoIterator<Item = Sql>, table: pg_sys::Oid) -> Sql {
    let (values, of_type) = (Sql::join(values, ", "), row_type(table));
    sql!("CAST(ROW({values}) AS {of_type})")
}

/// The text of a value: what its input function makes the same value of.
fn text_of(value: &Sql, of_type: pg_sys::Oid) -> Sql {
    match base(of_type) {
        // Its output function leaves the encoding out that the value names.
        pg_sys::XMLOID => sql!("pg_catalog.text({value})"),
        // A name may be that of several functions or operators, which their arguments tell apart.
        pg_sys::REGPROCOID => {
            sql!("pg_catalog.format('%s', CAST({value} AS pg_catalog.regprocedure))")
        }
        pg_sys::REGOPEROID => {
            sql!("pg_catalog.format('%s', CAST({value} AS pg_catalog.regoperator))")
        }
        _ => sql!("pg_catalog.format('%s', {value})"),
    }
}

/// An object of the values of a row, as texts; `row` is an alias, or a row in parentheses. A value of NULL is null, and
/// a row of NULLs is not.
pub fn json<'a>(row: &str, columns: impl IntoIterator<Item = &'a TableColumn>) -> Sql {
    let members = columns.into_iter().map(|column| {
        let value = sql!("{row}.{column.name}");
        let (name, text) = (
            literal(&column.name),
            text_of(&value, column.store.type_oid),
        );
        sql!("{name}, CASE WHEN {value} IS DISTINCT FROM NULL THEN {text} END")
    });
    let members = Sql::join(members, ", ");
    sql!("pg_catalog.jsonb_object(ARRAY[{members}]::pg_catalog.text[])")
}

/// A number that tells whether anything of a row has changed.
pub fn hash(row: &str) -> Sql {
    sql!("pg_catalog.hashtextextended(pg_catalog.format('%s', {row}) COLLATE pg_catalog.\"C\", 0)")
}

/// The columns that the server does not compute.
pub fn stored(columns: &[TableColumn]) -> impl Iterator<Item = &TableColumn> {
    columns.iter().filter(|column| !column.generated)
}

/// The condition that a row under an alias has a primary key; `value` gives that for each of its columns, of the
/// column's type.
pub fn key_is<'a>(
    alias: &str,
    key: impl Iterator<Item = &'a TableColumn>,
    mut value: impl FnMut(&TableColumn) -> Sql,
) -> Sql {
    let conditions = key.map(|column| {
        let (equal, _) = operators::of_order(base(column.store.type_oid)).unwrap_or_default();
        let equal = Sql::new("").operator(equal);
        let value = value(column).collate(column.store.collation);
        sql!("{alias}.{column.name} {equal} {value}")
    });
    Sql::join(conditions, " AND ")
}

/// The item of FROM that reads members of an object of texts, for [`value`]. There is at least one column.
pub fn values(object: &str, alias: &str, columns: &[&TableColumn]) -> Sql {
    let columns = columns.iter().map(|column| {
        let of_type = match base(column.store.type_oid) {
            // They would be taken as they are in the object: as texts.
            pg_sys::JSONOID | pg_sys::JSONBOID | pg_sys::REGPROCOID | pg_sys::REGOPEROID => {
                Sql::new("pg_catalog.text")
            }
            base => Sql::new("").exact_type(base),
        };
        sql!("{column.name} {of_type}")
    });
    let columns = Sql::join(columns, ", ");
    sql!("pg_catalog.jsonb_to_record({object}) AS {alias} ({columns})")
}

/// The value of a column that [`values`] reads: of its type, or the one that it is a domain of.
pub fn value(alias: &str, column: &TableColumn) -> Sql {
    let plain = sql!("{alias}.{column.name}");
    let read = |function: &str| sql!("pg_catalog.{function}(pg_catalog.textout({plain}))");
    // Without arguments, as it was written once.
    let read_name = |function: &str, exact: &str, name: &str| {
        let (exact, function) = (read(exact), read(function));
        sql!(
            "CASE WHEN {plain} OPERATOR(pg_catalog.~~) '%(%' THEN CAST({exact} AS pg_catalog.{name}) \
            ELSE {function} END"
        )
    };
    match base(column.store.type_oid) {
        pg_sys::JSONOID => read("json_in"),
        pg_sys::JSONBOID => read("jsonb_in"),
        pg_sys::REGPROCOID => read_name("regprocin", "regprocedurein", "regproc"),
        pg_sys::REGOPEROID => read_name("regoperin", "regoperatorin", "regoper"),
        _ => plain,
    }
}

/// Values of columns, from [`values`] under an alias, as `x0`, `x1` ...
pub fn numbered(alias: &str, columns: &[&TableColumn]) -> Sql {
    let columns = columns.iter().enumerate().map(|(i, column)| {
        let value = value(alias, column);
        sql!("{value} AS x{i}")
    });
    Sql::join(columns, ", ")
}
