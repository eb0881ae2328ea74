//! What the script of the extension says in the end.

use base::Error;
use pg::error::{sql_error, warn};
use pg::values::text::readable;
use pg::values::varlena::NewValue;
use pg::{catalog, entry};
use pgrx::{pg_sys, PgSqlErrorCode};
use std::ffi::{CStr, CString};

/// The schemas of the `search_path` that sessions of this user begin with in this database, as they are written.
fn path_of_new_sessions() -> CString {
    // SAFETY: a setting of the server, whose text is copied at once.
    unsafe { CStr::from_ptr(pg_sys::GetConfigOptionResetString(c"search_path".as_ptr())) }
        .to_owned()
}

/// Whether a list of identifiers has this schema, or `$user`, and the schema is called as the user.
fn has(path: &CStr, schema: &CStr) -> bool {
    let mut copy = path.to_bytes_with_nul().to_vec();
    let mut names = std::ptr::null_mut();
    // SAFETY: the server splits the copy, which ends with a zero byte and lives as long as the names that point into it.
    unsafe {
        let is_list = pg_sys::SplitIdentifierString(
            copy.as_mut_ptr().cast(),
            b',' as std::ffi::c_char,
            &mut names,
        );
        let all = 0..if is_list && !names.is_null() {
            (*names).length
        } else {
            0
        };
        let user = pg_sys::GetUserNameFromId(pg_sys::GetOuterUserId(), false);
        let found = all.into_iter().any(|i| {
            let name = CStr::from_ptr(pg_sys::list_nth(names, i).cast());
            name == schema || name == c"$user" && CStr::from_ptr(user) == schema
        });
        found
    }
}

fn not_found_by_name(schema: &CStr, path: &CStr) -> Error {
    // SAFETY: the name of the database of this session.
    let database = unsafe {
        let name = pg_sys::get_database_name(pg_sys::MyDatabaseId);
        CStr::from_ptr(name).to_owned()
    };
    let [database, quoted] =
        [&database, schema].map(|name| readable(catalog::quoted_column(name).to_bytes()));
    let (schema, path) = (readable(schema.to_bytes()), readable(path.to_bytes()));
    let path = if path.is_empty() || path == "\"\"" {
        quoted.clone()
    } else {
        format!("{path}, {quoted}")
    };
    sql_error(
        PgSqlErrorCode::ERRCODE_WARNING,
        format!("schema \"{schema}\" of extension \"bloom_ident\" is not on the search_path that sessions begin with"),
    )
    .detail("Its functions, types and operators are found by their names alone only where it is.")
    .hint(format!(
        "Add it by ALTER DATABASE {database} SET search_path = {path}, or write {quoted}.bloom_sim(...) and \
         OPERATOR({quoted}.%)."
    ))
}

/// `() RETURNS void`. Tells who creates the extension if its schema is not on the `search_path`, which later shows only as a function that
/// does not exist. The script calls it in the end, and drops it.
#[entry(volatile, parallel_unsafe)]
fn bloom_ident_installed(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the record of a running call has that of its function.
    let function = unsafe { (*(*fcinfo).flinfo).fn_oid };
    let (schema, path) = (
        catalog::schema_of_function(function),
        path_of_new_sessions(),
    );
    if !has(&path, &schema) {
        // The server lets nothing less than a warning of such a script through.
        warn(&not_found_by_name(&schema, &path));
    }
    NewValue(pg_sys::Datum::null())
}
