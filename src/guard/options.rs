//! The arguments of the trigger, which the core reads, with the names of tables in them, which the server reads.

use base::Result;
use pg::error::sql_error;
use std::ffi::{CStr, CString};
use std::ops::Deref;

use linkage::guard::options::GuardArguments;
use pgrx::pg_sys;
use pgrx::PgSqlErrorCode::{ERRCODE_INVALID_NAME, ERRCODE_INVALID_PARAMETER_VALUE};

use pg::message::words;
use pg::tree::list;

/// A table as the trigger names it.
pub struct TableName {
    /// `None`: the schema of the table with the trigger.
    pub schema: Option<CString>,
    pub name: CString,
}

/// What the arguments say, with the names in them read.
pub struct GuardOptions {
    arguments: GuardArguments,
    /// The table that pairs are written to.
    pub review: Option<TableName>,
    /// The table that rows are written to that were left out.
    pub skipped: Option<TableName>,
    /// The block list.
    pub list: Option<TableName>,
    /// The table of what people have decided about pairs.
    pub decisions: Option<TableName>,
    /// The register by whose model rows are compared.
    pub register: Option<TableName>,
    /// The columns in which rows must be equal to be compared, none if all rows are compared. They are columns of the
    /// guarded table and of the one that is searched.
    pub within: Vec<CString>,
}

impl Deref for GuardOptions {
    type Target = GuardArguments;

    fn deref(&self) -> &GuardArguments {
        &self.arguments
    }
}

impl GuardOptions {
    /// Errors: an argument that is not understood or does not fit the others (22023), a malformed name (42602).
    pub fn parse(args: &[CString]) -> Result<GuardOptions> {
        let arguments = GuardArguments::parse(args)?;
        let table = |name: &Option<CString>| name.as_deref().map(parse_table).transpose();
        Ok(GuardOptions {
            review: table(&arguments.review)?,
            skipped: table(&arguments.skipped)?,
            list: table(&arguments.list)?,
            within: arguments
                .within
                .as_deref()
                .map_or(Ok(Vec::new()), parse_columns)?,
            decisions: table(&arguments.decisions)?,
            register: table(&arguments.register)?,
            arguments,
        })
    }
}

/// Names of columns as SQL writes them, with commas between, and with quotes where they are needed.
///
/// Errors: they are malformed (42602), or there are none (22023).
fn parse_columns(text: &CStr) -> Result<Vec<CString>> {
    let mut names = std::ptr::null_mut();
    // SAFETY: the server changes a copy of the C string, to which the names in the list point; both stay until the end
    // of the call.
    let columns: Option<Vec<CString>> = unsafe {
        let copy = pg_sys::pstrdup(text.as_ptr());
        pg_sys::SplitIdentifierString(copy, b',' as _, &mut names).then(|| {
            let name = |node: *mut pg_sys::Node| CStr::from_ptr(node.cast()).to_owned();
            list::nodes(names).into_iter().map(name).collect()
        })
    };
    match columns {
        Some(columns) if !columns.is_empty() => Ok(columns),
        Some(_) => Err(sql_error(
            ERRCODE_INVALID_PARAMETER_VALUE,
            "option \"within\" of bloom_guard names no column",
        )),
        None => Err(sql_error(
            ERRCODE_INVALID_NAME,
            words!("option \"within\" of bloom_guard is no list of column names: \"{text}\""),
        )
        .hint("Write names with commas between, and in double quotes where SQL needs them.")),
    }
}

/// A name as SQL writes it: `table` or `schema.table`, with quotes where they are needed.
///
/// Errors: it is malformed or has more parts (42602).
fn parse_table(text: &CStr) -> Result<TableName> {
    // SAFETY: the argument is a C string. The server raises an error for a text that is not a name; the parts of a name
    // are String nodes, which have C strings.
    let mut parts: Vec<CString> = unsafe {
        let names = pg_sys::textToQualifiedNameList(pg_sys::cstring_to_text(text.as_ptr()));
        let part = |node: *mut pg_sys::Node| {
            CStr::from_ptr((*node.cast::<pg_sys::String>()).sval).to_owned()
        };
        list::nodes(names).into_iter().map(part).collect()
    };
    let name = parts.pop();
    let schema = parts.pop();
    match name {
        Some(name) if parts.is_empty() => Ok(TableName { schema, name }),
        _ => Err(sql_error(
            ERRCODE_INVALID_NAME,
            words!("table name \"{text}\" of bloom_guard has too many parts"),
        )
        .hint("Write 'schema.table'.")),
    }
}
