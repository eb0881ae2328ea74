//! `bloom_guard_create`: writes the statement that creates a trigger and runs it, if the trigger will be able to do
//! what its arguments say.

use base::{Error, Result};
use std::ffi::{CStr, CString};

use pgrx::{pg_sys, PgLogLevel, PgSqlErrorCode};

use super::actions::acting_user::owned_throughout;
use super::actions::read_rights;
use super::actions::table_form::{TableForm, REVIEW, SKIPPED};
use super::full_signatures;
use super::options::GuardOptions;
use super::prepared::{GuardedTable, PreparedGuard};
use super::tables::named::find_table;
use super::tables::partition_tree::PartitionTree;
use pg::catalog::privileges::{current_user, may};
use pg::error::{sql_error, OrRaise, Tell};
use pg::function::arguments::Arguments;
use pg::message::words;
use pg::session::{not_during_recovery, Session};
use pg::sql::Sql;
use pg::values::varlena::NewValue;
use pg::{catalog, entry, relation};
use types::Elements;

/// `(rel regclass, signature name, threshold float8, action text, VARIADIC options text[]) RETURNS name`
///
/// The trigger is created by the caller, with the caller's privileges.
///
/// Errors: those that the trigger would report for its first row; a NULL (22004); a relation that is no table (42809);
/// those of CREATE TRIGGER.
#[entry(volatile, called_on_null, parallel_unsafe)]
fn bloom_guard_create(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    not_during_recovery(c"bloom_guard_create()");
    // SAFETY: the server calls this function with the record of the call, which has the arguments as they are declared.
    NewValue(unsafe { run(fcinfo) }.or_raise())
}

/// # Safety
/// `fcinfo` is that of a running call of [`bloom_guard_create`].
unsafe fn run(fcinfo: pg_sys::FunctionCallInfo) -> Result<pg_sys::Datum> {
    // SAFETY: `fcinfo` is that of the running call, which does not end before this function returns. It has its
    // function.
    let (table, arguments, function) = unsafe {
        let given = Arguments::new(fcinfo);
        let table = pg_sys::Oid::from(datum(given, 0, "rel")?.value() as u32);
        (table, of_trigger(given)?, (*(*fcinfo).flinfo).fn_oid)
    };
    let options = GuardOptions::parse(&arguments)?;
    check_may_create(table)?;
    // CREATE TRIGGER takes the same lock. What is checked under it stays true until the trigger is created.
    relation::lock(table, pg_sys::ShareRowExclusiveLock);
    catalog::check_exists(table)?;
    let tree = tree_of(table)?;
    let name = free_name(&tree, &options.column);
    let skips = options.action.is_before();
    check(table, &tree, options, &name)?;
    let statement = statement(table, function, &name, skips, &arguments);
    Session::begin(false).run(&statement, &[]);
    Ok(as_name(&name))
}

/// Errors: the argument is NULL (22004).
fn datum(given: Arguments, i: usize, name: &str) -> Result<pg_sys::Datum> {
    given.datum(i).ok_or_else(|| {
        null(words!(
            "argument \"{}\" of bloom_guard_create must not be null",
            name
        ))
    })
}

fn null(message: Vec<u8>) -> Error {
    sql_error(PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED, message)
}

/// The arguments that the trigger will be called with.
///
/// Errors: an argument, or an element of the options, is NULL (22004).
///
/// # Safety
/// `given` are the arguments of a running call of [`bloom_guard_create`].
unsafe fn of_trigger(given: Arguments) -> Result<Vec<CString>> {
    let signature = datum(given, 1, "signature")?;
    let threshold = datum(given, 2, "threshold")?;
    let action = datum(given, 3, "action")?;
    let options = datum(given, 4, "options")?;
    // SAFETY: as they are declared, the first is a name, the third a text, and the fourth an array of texts.
    unsafe {
        let text = |datum: pg_sys::Datum| {
            let string = pg_sys::text_to_cstring(datum.cast_mut_ptr());
            CStr::from_ptr(string).to_owned()
        };
        // The fewest digits that are read as the same number, independently of extra_float_digits. Adding zero makes a
        // negative zero positive.
        let digits = (f64::from_bits(threshold.value() as u64) + 0.0).to_string();
        let mut arguments = vec![
            CStr::from_ptr(signature.cast_mut_ptr()).to_owned(),
            CString::new(digits).expect("no zero bytes"),
            text(action),
        ];
        for option in Elements::new(options).or_raise().iter() {
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

/// CREATE TRIGGER too asks for the privilege before it locks the table.
///
/// Errors: there is no such relation (42P01), or the caller may not create triggers on it (42501).
fn check_may_create(table: pg_sys::Oid) -> Result<()> {
    catalog::check_exists(table)?;
    if may(table, pg_sys::ACL_TRIGGER, current_user()) {
        return Ok(());
    }
    Err(sql_error(
        PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
        words!("permission denied for table {}", catalog::name(table)),
    )
    .detail("bloom_guard_create needs privilege TRIGGER on it."))
}

/// The tables that the trigger will fire for.
///
/// Errors: a relation that cannot have such a trigger (42809).
fn tree_of(table: pg_sys::Oid) -> Result<PartitionTree> {
    match catalog::kind(table) {
        pg_sys::RELKIND_RELATION
        | pg_sys::RELKIND_PARTITIONED_TABLE
        | pg_sys::RELKIND_FOREIGN_TABLE => PartitionTree::with_foreign_tables(table),
        _ => Err(sql_error(
            PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE,
            words!(
                "cannot create a guard on relation \"{}\"",
                catalog::name(table)
            ),
        )
        .detail("It is not a table.")),
    }
}

/// `table_column_guard`, cut to the length of a name, with a number if a table of the tree has a trigger of this name.
fn free_name(tree: &PartitionTree, column: &CStr) -> CString {
    let top = catalog::name(tree.all[0]);
    let mut number = 0_u32;
    loop {
        let label = match number {
            0 => c"guard".to_owned(),
            n => CString::new(format!("guard{n}")).expect("no zero bytes"),
        };
        // SAFETY: the function takes three C strings and returns a new one.
        let name = unsafe {
            let name = pg_sys::makeObjectName(top.as_ptr(), column.as_ptr(), label.as_ptr());
            CStr::from_ptr(name).to_owned()
        };
        let is_taken = |&table: &pg_sys::Oid| {
            // SAFETY: a look-up in the catalogs by OID and by a C string.
            unsafe { pg_sys::get_trigger_oid(table, name.as_ptr(), true) != pg_sys::InvalidOid }
        };
        if !tree.all.iter().any(is_taken) {
            return name;
        }
        number += 1;
    }
}

/// Errors: those that the trigger would report for its first row; the table that is written to is the guarded one
/// (22023).
fn check(
    table: pg_sys::Oid,
    tree: &PartitionTree,
    options: GuardOptions,
    trigger: &CStr,
) -> Result<()> {
    let own = GuardedTable::of(table, &options)?;
    for &leaf in &tree.leaves {
        GuardedTable::of(leaf, &options)?.need_key(leaf, &options)?;
    }
    let written = [
        (&options.review, "review", &REVIEW),
        (&options.skipped, "skipped", &SKIPPED),
    ];
    for (name, option, form) in written {
        let Some(name) = name else { continue };
        if find_table(name, table, option)? == table {
            return Err(sql_error(
                PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE,
                words!(
                    "{} \"{}\" is the guarded table",
                    form.label,
                    catalog::name(table)
                ),
            ));
        }
    }
    let guard = PreparedGuard::of(options, table, own, table, trigger)?;
    read_rights::check_owner(&guard)?;
    if let Some(review) = &guard.review {
        tell_who_writes((review.table(), &REVIEW), guard.owner, table);
    }
    if let Some(skipped) = &guard.skipped {
        tell_who_writes((skipped.table(), &SKIPPED), guard.owner, table);
    }
    full_signatures::tell(&guard)
}

/// Says now that users need privileges on the table that is written to. Otherwise an application would learn it by an
/// error.
fn tell_who_writes(
    (written, form): (pg_sys::Oid, &TableForm),
    owner: pg_sys::Oid,
    table: pg_sys::Oid,
) {
    if owned_throughout(written, owner).is_none() {
        sql_error(
            PgSqlErrorCode::ERRCODE_SUCCESSFUL_COMPLETION,
            words!(
                "{} \"{}\" will be written by the user who enters a row",
                form.label,
                catalog::name(written)
            ),
        )
        .detail(words!(
            "It has another owner than table \"{}\", or a trigger, a rule, \
                row-level security, or expressions that call functions which are not \
                PostgreSQL's own.",
            catalog::name(table)
        ))
        .hint("Grant INSERT and SELECT on it to those who enter rows.")
        .send(PgLogLevel::NOTICE);
    }
}

/// `function` is bloom_guard_create: bloom_guard is in the same schema.
fn statement(
    table: pg_sys::Oid,
    function: pg_sys::Oid,
    name: &CStr,
    skips: bool,
    arguments: &[CString],
) -> Sql {
    Sql::new("CREATE TRIGGER ")
        .name(name)
        .text(if skips { " BEFORE" } else { " AFTER" })
        .text(" INSERT OR UPDATE ON ")
        .relation(table)
        .text(" FOR EACH ROW EXECUTE FUNCTION ")
        .name_in(&catalog::schema_of_function(function), c"bloom_guard")
        .text("(")
        .list(arguments, |sql, argument| sql.literal(argument))
        .text(")")
}

/// A value of type name.
fn as_name(name: &CStr) -> pg_sys::Datum {
    // SAFETY: there is room for a name. The server copies as much of the C string as fits, and fills the rest with
    // zeros.
    unsafe {
        let room: pg_sys::Name = pg_sys::palloc(size_of::<pg_sys::NameData>()).cast();
        pg_sys::namestrcpy(room, name.as_ptr());
        pg_sys::Datum::from(room)
    }
}
