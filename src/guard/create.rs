//! `bloom_guard_create`: writes the trigger and creates it, if it will be able to do what its arguments say.

use std::ffi::{CStr, CString};

use pgrx::{pg_sys, PgLogLevel, PgSqlErrorCode};

use super::options::GuardOptions;
use super::prepared::{GuardedTable, PreparedGuard};
use super::read_rights;
use super::review::write_rights as rights;
use super::tables::column as relation;
use super::tables::target::PartitionTree;
use crate::pg::error::{internal, OrRaise};
use crate::pg::function::arguments::Arguments;
use crate::pg::message::{words, Message, Result};
use crate::pg::{entry, ffi};
use crate::types::{Elements, NewValue};

/// `(rel regclass, signature name, threshold float8, action text, VARIADIC options text[]) RETURNS name`. The trigger is
/// created by the caller, with the caller's privileges.
///
/// Errors: what the trigger would say at its first row; a NULL (22004); a relation that is no table (42809); those of
/// CREATE TRIGGER.
#[entry]
fn bloom_guard_create(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the record of this call, with these arguments.
    NewValue(unsafe { run(fcinfo) }.unwrap_or_else(|message| message.raise()))
}

/// SAFETY: `fcinfo` is that of a running call of [`bloom_guard_create`].
unsafe fn run(fcinfo: pg_sys::FunctionCallInfo) -> Result<pg_sys::Datum> {
    // SAFETY: as promised by the caller.
    let (table, arguments, function) = unsafe {
        let given = Arguments::of(fcinfo);
        let table = pg_sys::Oid::from(datum(given, 0, "rel")?.value() as u32);
        (table, of_trigger(given)?, (*(*fcinfo).flinfo).fn_oid)
    };
    let options = GuardOptions::parse(&arguments)?;
    may_create(table)?;
    // SAFETY: a lock by OID, the one that CREATE TRIGGER takes; what is checked stays true until it is done.
    unsafe { ffi::LockRelationOid(table, pg_sys::ShareRowExclusiveLock as i32) };
    relation::check_exists(table)?;
    let tree = rows_of(table)?;
    let name = free_name(&tree, &options.column);
    let skips = options.is_before();
    check(table, &tree, options, &name)?;
    create(table, function, &name, skips, &arguments);
    Ok(as_name(&name))
}

fn datum(given: Arguments, i: usize, name: &str) -> Result<pg_sys::Datum> {
    given.datum(i).ok_or_else(|| {
        null(words!(
            "argument \"",
            name,
            "\" of bloom_guard_create must not be null"
        ))
    })
}

fn null(message: Vec<u8>) -> Box<Message> {
    Message::of(PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED, message)
}

/// What the trigger will be called with.
///
/// SAFETY: `given` are the function's arguments.
unsafe fn of_trigger(given: Arguments) -> Result<Vec<CString>> {
    let signature = datum(given, 1, "signature")?;
    let threshold = datum(given, 2, "threshold")?;
    let action = datum(given, 3, "action")?;
    let options = datum(given, 4, "options")?;
    // SAFETY: as promised by the caller: a name, texts, and an array of texts.
    unsafe {
        let text = |datum: pg_sys::Datum| {
            let string = pg_sys::text_to_cstring(datum.cast_mut_ptr());
            CStr::from_ptr(string).to_owned()
        };
        // the shortest digits that are read as the same number, whatever extra_float_digits says; no minus before a zero
        let digits = (f64::from_bits(threshold.value() as u64) + 0.0).to_string();
        let mut arguments = vec![
            CStr::from_ptr(signature.cast_mut_ptr()).to_owned(),
            CString::new(digits).expect("no zero bytes"),
            text(action),
        ];
        for option in Elements::of(options).or_raise().iter() {
            let option = option.ok_or_else(|| {
                null(words!(
                    "options of bloom_guard_create must not contain null values"
                ))
            })?;
            arguments.push(text(option));
        }
        Ok(arguments)
    }
}

/// Before the table is locked, as CREATE TRIGGER asks.
///
/// Errors: no such relation (42P01), or the caller may not create triggers on it (42501).
fn may_create(table: pg_sys::Oid) -> Result<()> {
    relation::check_exists(table)?;
    // SAFETY: a catalog look-up by OID.
    let may = unsafe {
        let trigger = pg_sys::AclMode::from(pg_sys::ACL_TRIGGER);
        pg_sys::pg_class_aclcheck(table, pg_sys::GetUserId(), trigger)
            == pg_sys::AclResult::ACLCHECK_OK
    };
    if may {
        return Ok(());
    }
    Err(Message::of(
        PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
        words!("permission denied for table ", relation::name(table)),
    )
    .detail(words!("bloom_guard_create needs privilege TRIGGER on it.")))
}

/// The tables that the trigger will fire for.
///
/// Errors: a relation that can have no such triggers (42809).
fn rows_of(table: pg_sys::Oid) -> Result<PartitionTree> {
    match relation::kind(table) {
        pg_sys::RELKIND_RELATION
        | pg_sys::RELKIND_PARTITIONED_TABLE
        | pg_sys::RELKIND_FOREIGN_TABLE => PartitionTree::with_foreign(table),
        _ => Err(Message::of(
            PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE,
            words!(
                "cannot create a guard on relation \"",
                relation::name(table),
                "\""
            ),
        )
        .detail(words!("It is not a table."))),
    }
}

/// `table_column_guard`, cut to the length of a name, with a number if a table of the tree has a trigger of this name.
fn free_name(tree: &PartitionTree, column: &CStr) -> CString {
    let top = relation::name(tree.all[0]);
    let mut number = 0_u32;
    loop {
        let label = match number {
            0 => c"guard".to_owned(),
            n => CString::new(format!("guard{n}")).expect("no zero bytes"),
        };
        // SAFETY: three C strings; what is made of them is one. Catalog look-ups.
        let name = unsafe {
            let name = pg_sys::makeObjectName(top.as_ptr(), column.as_ptr(), label.as_ptr());
            CStr::from_ptr(name).to_owned()
        };
        let is_taken = |&table: &pg_sys::Oid| {
            // SAFETY: a catalog look-up.
            unsafe { pg_sys::get_trigger_oid(table, name.as_ptr(), true) != pg_sys::InvalidOid }
        };
        if !tree.all.iter().any(is_taken) {
            return name;
        }
        number += 1;
    }
}

/// Errors: whatever the trigger would say at the first row.
fn check(
    table: pg_sys::Oid,
    tree: &PartitionTree,
    options: GuardOptions,
    trigger: &CStr,
) -> Result<()> {
    let of_table = |table| {
        // SAFETY: a table, locked.
        unsafe {
            let open = ffi::table_open(table, pg_sys::NoLock as i32);
            let own = GuardedTable::of(open, &options);
            pg_sys::table_close(open, pg_sys::NoLock as i32);
            own
        }
    };
    let own = of_table(table)?;
    for &leaf in &tree.leaves {
        of_table(leaf)?.need_key(leaf, &options)?;
    }
    let guard = PreparedGuard::of(options, table, own, table, trigger)?;
    read_rights::check_owner(&guard, || trigger.to_owned())?;
    if let Some(review) = &guard.review {
        tell_who_writes(review.table, guard.owner, table)?;
    }
    Ok(())
}

/// Else the application learns of it, by an error.
///
/// Errors: the review table is the guarded one (22023).
fn tell_who_writes(review: pg_sys::Oid, owner: pg_sys::Oid, table: pg_sys::Oid) -> Result<()> {
    if review == table {
        return Err(Message::of(
            PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE,
            words!(
                "review table \"",
                relation::name(review),
                "\" is the guarded table"
            ),
        ));
    }
    if rights::owned_throughout(review, owner).is_none() {
        Message::of(
            PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION,
            words!(
                "review table \"",
                relation::name(review),
                "\" will be written by the user who enters a row"
            ),
        )
        .detail(words!(
            "It has another owner than table \"",
            relation::name(table),
            "\", or a trigger, a rule, row-level security, or expressions that call functions which are not PostgreSQL's own."
        ))
        .hint(words!(
            "Grant INSERT and SELECT on it to those who enter rows."
        ))
        .send(PgLogLevel::NOTICE);
    }
    Ok(())
}

/// Errors: those of the server.
fn create(
    table: pg_sys::Oid,
    function: pg_sys::Oid,
    name: &CStr,
    skips: bool,
    arguments: &[CString],
) {
    let literals: Vec<Vec<u8>> = arguments
        .iter()
        // SAFETY: a C string, of which another one is made.
        .map(|a| unsafe { words!(CStr::from_ptr(pg_sys::quote_literal_cstr(a.as_ptr()))) })
        .collect();
    let statement = words!(
        "CREATE TRIGGER ",
        relation::quoted_column(name),
        if skips { " BEFORE" } else { " AFTER" },
        " INSERT OR UPDATE ON ",
        relation::quoted(table),
        " FOR EACH ROW EXECUTE FUNCTION ",
        relation::quoted_name(&relation::schema_of_function(function), c"bloom_guard"),
        "(",
        literals.join(&b", "[..]),
        ")"
    );
    let statement = CString::new(statement).expect("no zero bytes");
    // SAFETY: connected, and finished by the end of the subtransaction if there is an error.
    unsafe {
        ffi::SPI_connect();
        let code = ffi::SPI_execute(statement.as_ptr(), false, 0);
        if code != pg_sys::SPI_OK_UTILITY as i32 {
            internal!("SPI_execute returned {code}");
        }
        ffi::SPI_finish();
    }
}

fn as_name(name: &CStr) -> pg_sys::Datum {
    // SAFETY: room for a name, with zeros behind its characters; it is no longer, since it was made to fit.
    unsafe {
        let room: *mut u8 = pg_sys::palloc0(pg_sys::NAMEDATALEN as usize).cast();
        let bytes = name.to_bytes();
        let n = bytes.len().min(pg_sys::NAMEDATALEN as usize - 1);
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), room, n);
        pg_sys::Datum::from(room)
    }
}
