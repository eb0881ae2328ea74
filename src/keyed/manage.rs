//! `bloom_secret_create` and its like: secrets come, go, and are granted.

use std::ffi::{CStr, CString};

use clk::{check_value, to_base64_bytes};
use pg::catalog::privileges::{self, current_user, role};
use pg::error::{raise, sql_error, tell, warn};
use pg::function::arguments::Arguments;
use pg::message::words;
use pg::session::{not_read_only, Session};
use pg::values::text::Text;
use pg::values::varlena::{build, NewValue, Varlena};
use pg::{catalog, entry, sql};
use pgrx::PgSqlErrorCode::{
    ERRCODE_DATA_EXCEPTION, ERRCODE_DUPLICATE_OBJECT, ERRCODE_INSUFFICIENT_PRIVILEGE,
    ERRCODE_INTERNAL_ERROR, ERRCODE_INVALID_NAME, ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
    ERRCODE_UNDEFINED_OBJECT, ERRCODE_WARNING,
};
use pgrx::{pg_sys, PgLogLevel};

use super::tables::{NameValue, SecretTables};

/// Bytes of a secret that is made here.
const MADE: usize = 32;

/// Bytes from which on a secret is long enough, if it is as good as a random one.
const LONG_ENOUGH: usize = 16;

/// Most bytes of a secret: it is no place for files.
const MOST: usize = 1 << 16;

/// `(name name) RETURNS text`
///
/// Gives the check value.
///
/// Errors: the name is taken, or empty; the caller may not CREATE in the database.
#[entry(volatile, parallel_unsafe)]
fn bloom_secret_create(fcinfo: pg_sys::FunctionCallInfo) -> String {
    // SAFETY: the record of a running call, which is declared with these arguments.
    let (tables, arguments) = unsafe {
        (
            begin(fcinfo, c"bloom_secret_create()"),
            Arguments::new(fcinfo),
        )
    };
    let mut secret = [0_u8; MADE];
    // SAFETY: the server writes so many bytes.
    let made = unsafe { pg_sys::pg_strong_random(secret.as_mut_ptr().cast(), MADE) };
    if !made {
        raise(&sql_error(
            ERRCODE_INTERNAL_ERROR,
            "could not generate random bytes",
        ));
    }
    let id = enter(&tables, &arguments.name(0), &secret);
    secret.fill(0);
    id
}

/// `(name name, secret text) RETURNS text`
///
/// The bytes of the text in UTF-8, as clkhash takes texts.
///
/// Errors: as [`bloom_secret_import_bytes`].
#[entry(volatile, parallel_unsafe)]
fn bloom_secret_import_text(fcinfo: pg_sys::FunctionCallInfo) -> String {
    // SAFETY: the record of a running call, which is declared with these arguments.
    let (tables, arguments) = unsafe {
        (
            begin(fcinfo, c"bloom_secret_import()"),
            Arguments::new(fcinfo),
        )
    };
    // SAFETY: a text that lives as long as the call.
    let secret = unsafe { Text::from_raw(arguments.given(1)) };
    import(&tables, &arguments.name(0), secret.as_str().as_bytes())
}

/// `(name name, secret bytea) RETURNS text`
///
/// Gives the check value.
///
/// Errors: the name is taken, but for a secret of this check value that the database does not have; the secret is empty,
/// or too long; the caller may not CREATE in the database.
#[entry(volatile, parallel_unsafe)]
fn bloom_secret_import_bytes(fcinfo: pg_sys::FunctionCallInfo) -> String {
    // SAFETY: the record of a running call, which is declared with these arguments.
    let (tables, arguments) = unsafe {
        (
            begin(fcinfo, c"bloom_secret_import()"),
            Arguments::new(fcinfo),
        )
    };
    // SAFETY: a bytea that lives as long as the call.
    let secret = unsafe { Varlena::new(arguments.given(1)) };
    import(&tables, &arguments.name(0), secret.bytes())
}

/// `(name name, large_object oid) RETURNS text`
///
/// The large object is removed. It is how a secret gets here without a statement or a parameter that has it: the client
/// sends it as a file.
///
/// Errors: as above; those of reading the large object.
#[entry(volatile, parallel_unsafe)]
fn bloom_secret_import_large_object(fcinfo: pg_sys::FunctionCallInfo) -> String {
    // SAFETY: the record of a running call, which is declared with these arguments.
    let (tables, arguments) = unsafe {
        (
            begin(fcinfo, c"bloom_secret_import()"),
            Arguments::new(fcinfo),
        )
    };
    let object = (pg_sys::OIDOID, arguments.given(1));
    let session = Session::begin(false);
    let mut secret = Vec::new();
    // No more than is wanted: a large object can have terabytes.
    let most = MOST + 1;
    session.each(
        &sql!("SELECT pg_catalog.lo_get($1, 0, {most})"),
        &[object],
        |row| {
            if let Some(bytes) = row.datum(0) {
                // SAFETY: a bytea, which lives as long as the row.
                secret.extend_from_slice(unsafe { Varlena::new(bytes) }.bytes());
            }
        },
    );
    session.run(&sql!("SELECT pg_catalog.lo_unlink($1)"), &[object]);
    drop(session);
    let id = import(&tables, &arguments.name(0), &secret);
    secret.fill(0);
    id
}

/// `(name name) RETURNS bytea`
///
/// Errors: there is none, or it is not in this database; the caller does not own it.
#[entry(stable, parallel_unsafe)]
fn bloom_secret_export(fcinfo: pg_sys::FunctionCallInfo) -> Vec<u8> {
    // SAFETY: the record of a running call, which is declared with this argument.
    let (tables, arguments) = unsafe { (SecretTables::of_call(fcinfo), Arguments::new(fcinfo)) };
    let secret = tables.known(&arguments.name(0));
    tables.check_owner(&secret);
    if types::settings::logs_secrets() {
        let (name, user) = (&secret.name, role(current_user()));
        let message = words!("secret \"{name}\" is exported by role \"{user}\"");
        tell(PgLogLevel::LOG, message);
    }
    tables.value(&secret).0
}

/// `(name name) RETURNS void`
///
/// Errors: there is none; the caller does not own it, or may not CREATE in the database if its bytes are not there.
#[entry(volatile, parallel_unsafe)]
fn bloom_secret_drop(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the record of a running call, which is declared with this argument.
    let (tables, arguments) = unsafe {
        (
            begin(fcinfo, c"bloom_secret_drop()"),
            Arguments::new(fcinfo),
        )
    };
    let name = arguments.name(0);
    let secret = locked(&tables, &name, || {
        let secret = tables.known(&name);
        match secret.owner {
            Some(_) => tables.check_owner(&secret),
            None => check_create(),
        }
        secret
    });
    tables.remove(&secret);
    NewValue(pg_sys::Datum::null())
}

/// `(name name, role regrole) RETURNS void`
///
/// Errors: there is no such secret; the caller does not own it.
#[entry(volatile, parallel_unsafe)]
fn bloom_secret_grant(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the record of a running call, which is declared with these arguments.
    let (tables, arguments) = unsafe {
        (
            begin(fcinfo, c"bloom_secret_grant()"),
            Arguments::new(fcinfo),
        )
    };
    let (name, role) = (arguments.name(0), arguments.oid(1));
    locked(&tables, &name, || tables.check_owner(&tables.known(&name)));
    if !privileges::is_role(role) {
        let oid = role.to_u32();
        raise(&sql_error(
            ERRCODE_UNDEFINED_OBJECT,
            format!("role with OID {oid} does not exist"),
        ));
    }
    // Roles that were dropped leave their rights behind, which are nobody's to have.
    tables.remove_rows(&tables.grants, &name, |row| {
        !privileges::is_role(SecretTables::grantee(row))
    });
    let mut is_there = false;
    let name = NameValue::new(&name);
    tables
        .grants
        .read(&pg::snapshot::now())
        .each_of(name.datum(), |row| {
            is_there |= SecretTables::grantee(row) == role;
            !is_there
        });
    if !is_there {
        let mut writer = tables.grants.write();
        writer.insert(&[Some(name.datum()), Some(pg_sys::Datum::from(role))]);
        writer.write();
    }
    NewValue(pg_sys::Datum::null())
}

/// `(name name, role regrole) RETURNS void`
///
/// Errors: there is no such secret; the caller does not own it; the role was not granted it.
#[entry(volatile, parallel_unsafe)]
fn bloom_secret_revoke(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the record of a running call, which is declared with these arguments.
    let (tables, arguments) = unsafe {
        (
            begin(fcinfo, c"bloom_secret_revoke()"),
            Arguments::new(fcinfo),
        )
    };
    let (name, role) = (arguments.name(0), arguments.oid(1));
    locked(&tables, &name, || tables.check_owner(&tables.known(&name)));
    let is_it = |row: &pg::key_table::FoundRow<'_>| SecretTables::grantee(row) == role;
    if tables.remove_rows(&tables.grants, &name, is_it) == 0 {
        let role = privileges::role(role);
        raise(&sql_error(
            ERRCODE_UNDEFINED_OBJECT,
            words!("secret \"{name}\" was not granted to role \"{role}\""),
        ));
    }
    NewValue(pg_sys::Datum::null())
}

/// # Safety
/// `fcinfo` is that of a running call of a function that writes.
unsafe fn begin(fcinfo: pg_sys::FunctionCallInfo, name: &CStr) -> SecretTables {
    not_read_only(name);
    // SAFETY: the caller's.
    unsafe { SecretTables::of_call(fcinfo) }
}

/// What `check` gives, which looks at rights, once nobody else can change the secret of a name or rights to it until the end
/// of the transaction: a right that is granted while the secret is dropped would be one to the next secret of that name. Who
/// does not have the rights locks nothing.
fn locked<T>(tables: &SecretTables, name: &CStr, check: impl Fn() -> T) -> T {
    check();
    pg::relation::lock_name(tables.secrets.oid, name);
    check()
}

/// Default privileges of whoever has installed the extension may have let others read the table of secrets.
///
/// Errors: others than its owner have rights on it, or on that of grants.
fn check_private(tables: &SecretTables) {
    check_private_table(tables.values.oid);
    check_private_table(tables.grants.oid);
}

fn check_private_table(table: pg_sys::Oid) {
    let others = sql!(
        "SELECT pg_catalog.count(*) FROM pg_catalog.pg_class AS c, pg_catalog.aclexplode(c.relacl) AS a \
        WHERE c.oid OPERATOR(pg_catalog.=) $1 AND a.grantee OPERATOR(pg_catalog.<>) c.relowner"
    );
    let session = Session::begin(true);
    let others = session.number(&others, &[(pg_sys::OIDOID, pg_sys::Datum::from(table))]);
    drop(session);
    if others > 0 {
        let quoted = catalog::quoted(table);
        raise(
            &sql_error(
                ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                words!("others than its owner have privileges on table {quoted}"),
            )
            .detail("They may come from ALTER DEFAULT PRIVILEGES.")
            .hint(words!("Take them back: REVOKE ALL ON {quoted} FROM ... .")),
        );
    }
}

/// A secret from elsewhere.
fn import(tables: &SecretTables, name: &CString, secret: &[u8]) -> String {
    if secret.is_empty() || secret.len() > MOST {
        raise(
            &sql_error(
                ERRCODE_DATA_EXCEPTION,
                format!("secret of {} bytes", secret.len()),
            )
            .detail(format!("It has 1 to {MOST} bytes.")),
        );
    }
    if secret.len() < LONG_ENOUGH {
        let bytes = secret.len().to_string();
        let message = words!("secret \"{name}\" has {bytes} bytes");
        warn(
            &sql_error(ERRCODE_WARNING, message)
                .detail("Whoever has an id of it can try all secrets of this length.")
                .hint("Make one by bloom_secret_create(), and give it to the others by bloom_secret_export()."),
        );
    }
    if stands_in_statement(secret) {
        let message = words!("secret \"{name}\" stands in the text of the statement");
        warn(
            &sql_error(ERRCODE_WARNING, message)
                .detail("Statements are in logs, in pg_stat_activity and in pg_stat_statements.")
                .hint("Take another secret, and send it as a large object: \\lo_import in psql, and bloom_secret_import(name, oid)."),
        );
    }
    let known = locked(tables, name, || {
        check_create();
        tables.find(name)
    });
    let Some(known) = known else {
        return enter(tables, name, secret);
    };
    // One that a dump knows, and does not have.
    let id = shown(check_value(secret));
    if known.owner.is_some() {
        taken(name);
    }
    if known.id != id {
        let expected = &known.id;
        raise(
            &sql_error(
                ERRCODE_DATA_EXCEPTION,
                words!("secret \"{name}\" is another one"),
            )
            .detail(words!("Its check value is {id}, and that of the secret that is missing here is {expected}."))
            .hint("Take another name, or drop the one that is missing by bloom_secret_drop()."),
        );
    }
    check_private(tables);
    tables.add_value(name, bytes(secret));
    id
}

/// Enters a new secret of the current user. Its check value.
fn enter(tables: &SecretTables, name: &CString, secret: &[u8]) -> String {
    if name.is_empty() {
        raise(&sql_error(
            ERRCODE_INVALID_NAME,
            "name of a secret is empty",
        ));
    }
    locked(tables, name, || {
        if tables.find(name).is_some() {
            taken(name);
        }
        check_create();
    });
    check_private(tables);
    let id = shown(check_value(secret));
    tables.add(name, &id, bytes(secret));
    id
}

/// Errors: the current user may not CREATE in the database.
fn check_create() {
    if !may_create() {
        // SAFETY: the session's database; the name is a new string.
        let database = unsafe { CStr::from_ptr(pg_sys::get_database_name(pg_sys::MyDatabaseId)) };
        raise(
            &sql_error(
                ERRCODE_INSUFFICIENT_PRIVILEGE,
                words!("permission denied for database \"{database}\""),
            )
            .detail("Secrets are made by those who may CREATE in the database."),
        );
    }
}

fn taken(name: &CString) -> ! {
    raise(
        &sql_error(
            ERRCODE_DUPLICATE_OBJECT,
            words!("secret \"{name}\" already exists"),
        )
        .hint("Take another name, or drop it by bloom_secret_drop()."),
    )
}

fn may_create() -> bool {
    let (user, wanted) = (current_user(), pg_sys::AclMode::from(pg_sys::ACL_CREATE));
    // SAFETY: look-ups in the catalogs by OIDs; the database is the session's.
    let result = unsafe {
        #[cfg(feature = "pg15")]
        let result = pg_sys::pg_database_aclcheck(pg_sys::MyDatabaseId, user, wanted);
        #[cfg(not(feature = "pg15"))]
        let result = pg_sys::object_aclcheck(
            pg_sys::DatabaseRelationId,
            pg_sys::MyDatabaseId,
            user,
            wanted,
        );
        result
    };
    result == pg_sys::AclResult::ACLCHECK_OK
}

/// Sixteen hexadecimal digits.
pub fn shown(id: u64) -> String {
    format!("{id:016x}")
}

/// A bytea.
fn bytes(secret: &[u8]) -> pg_sys::Datum {
    let made = build(secret.len(), |to| {
        to.copy_from_slice(secret);
        Ok(())
    });
    match made {
        Ok(made) => NewValue(pg_sys::Datum::from(made)).0,
        Err(error) => raise(&error),
    }
}

/// Whether what the client has sent has a secret in it, as it is, in hexadecimal, or in base64.
fn stands_in_statement(secret: &[u8]) -> bool {
    // SAFETY: a variable of the session: NULL, or a C string as long as the statement runs.
    let statement = unsafe {
        let text = pg_sys::debug_query_string;
        match text.is_null() {
            true => return false,
            false => CStr::from_ptr(text).to_bytes(),
        }
    };
    let hex: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    let has = |part: &[u8]| {
        let same = |window: &[u8]| window.eq_ignore_ascii_case(part);
        part.len() <= statement.len() && statement.windows(part.len()).any(same)
    };
    let base64 = to_base64_bytes(secret);
    has(secret) || has(hex.as_bytes()) || has(base64.trim_end_matches('=').as_bytes())
}
