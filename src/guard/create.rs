//! `bloom_guard_create`: writes the statement that creates a trigger and runs it, if the trigger will be able to do
//! what its arguments say. It also tells of the rows that are there how many of their signatures say so little that the
//! guard does not go by them.

use base::Result;
use std::ffi::{CStr, CString};

use pgrx::PgSqlErrorCode::{
    ERRCODE_INSUFFICIENT_PRIVILEGE, ERRCODE_INVALID_PARAMETER_VALUE,
    ERRCODE_NULL_VALUE_NOT_ALLOWED, ERRCODE_SUCCESSFUL_COMPLETION, ERRCODE_WARNING,
    ERRCODE_WRONG_OBJECT_TYPE,
};
use pgrx::{pg_sys, PgLogLevel};

use super::actions::rights::{self, may_read_columns};
use super::actions::written_table::{TableForm, REVIEW, SKIPPED};
use super::compare::ComparedTable;
use super::distributed;
use super::options::GuardOptions;
use super::prepared::{check_key, names_own, PreparedGuard};
use super::tables::{find_table, signature_column, PartitionTree};
use crate::models::min_probability;
use crate::register::Register;
use access::SignatureType;
use pg::catalog::privileges::{current_user, may};
use pg::catalog::storage;
use pg::error::{sql_error, OrRaise, Tell};
use pg::function::arguments::Arguments;
use pg::message::words;
use pg::relation::OpenRelation;
use pg::session::acting_user::owned_throughout;
use pg::session::{not_during_recovery, read, Session, BATCH};
use pg::snapshot::ScanSnapshot;
use pg::sql::{literal, Sql};
use pg::values::text::to_database;
use pg::values::varlena::NewValue;
use pg::{catalog, check_for_interrupts, entry, relation, sql};
use types::{Bloom, Elements};

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

/// `(register regclass, min_probability float8, action text, VARIADIC options text[]) RETURNS name`
///
/// Creates a trigger that compares by the register's model, as [`bloom_guard_create`] does by signatures.
///
/// Errors: those of [`bloom_guard_create`]; it is no register.
#[entry(volatile, called_on_null, parallel_unsafe)]
fn bloom_register_guard(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    not_during_recovery(c"bloom_register_guard()");
    // SAFETY: the server calls this function with the record of the call, which has the arguments as they are declared, and
    // its function.
    NewValue(unsafe { of_register(fcinfo) }.or_raise())
}

/// # Safety
/// `fcinfo` is that of a running call of [`bloom_register_guard`].
unsafe fn of_register(fcinfo: pg_sys::FunctionCallInfo) -> Result<pg_sys::Datum> {
    // SAFETY: the caller's.
    let (given, function) = unsafe { (Arguments::new(fcinfo), (*(*fcinfo).flinfo).fn_oid) };
    let register = Register::open(given.oid(0), &ScanSnapshot::active());
    let probability = min_probability(given, 1);
    // SAFETY: an array of texts.
    let options = unsafe { option_texts(given.given(3), "bloom_register_guard")? };
    let text = |text: String| CString::new(to_database(&text)).unwrap_or_default();
    let mut arguments = vec![
        register.key.name.clone(),
        text(probability.to_string()),
        text(given.text(2)),
        c"register".to_owned(),
        // in the schema of the table, whatever that is called
        catalog::quoted_column(&catalog::name(register.oid)),
    ];
    arguments.extend(options);
    let trigger = create(register.relation, &arguments, function)?;
    notify_of_recall(&register);
    Ok(trigger)
}

/// Says how much the guard will find, as far as its register's model knows. Who may not read the table does not learn it.
fn notify_of_recall(register: &Register) {
    let may_read = may_read_columns(register.relation, &register.numbers, current_user());
    let Some(recall) = register.expected_recall().filter(|_| may_read) else {
        return;
    };
    // Not rounded up to all of them, which no search can promise.
    let percent = format!("{:.1}", (1000.0 * recall).floor() / 10.0);
    let fitted = register.known.ready.model().records;
    sql_error(
        ERRCODE_SUCCESSFUL_COMPLETION,
        words!(
            "the searches of register \"{register.oid}\" find {percent} % of the pairs of one person, as the model expects"
        ),
    )
    .detail(format!(
        "The fit has estimated it by the pairs that they found in {fitted} records, and nobody has seen what they miss: it is \
         rather too much than too little. Of what they find the guard stops what is as probable as it asks for."
    ))
    .send(PgLogLevel::NOTICE);
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
    create(table, &arguments, function)
}

/// Creates the trigger that has these arguments. `function` is one of this extension.
fn create(
    table: pg_sys::Oid,
    arguments: &[CString],
    function: pg_sys::Oid,
) -> Result<pg_sys::Datum> {
    let options = GuardOptions::parse(arguments)?;
    check_may_create(table)?;
    // CREATE TRIGGER takes the same lock. What is checked under it stays true until the trigger is created.
    relation::lock(table, pg_sys::ShareRowExclusiveLock);
    catalog::check_exists(table)?;
    let tree = tree_of(table)?;
    let name = free_name(&tree, &options.column);
    let timing = match options.action.is_before() {
        true => "BEFORE",
        false => "AFTER",
    };
    check(table, &tree, options, &name)?;
    // bloom_guard is in the same schema as this function.
    let own = Sql::new("").name_in(&catalog::schema_of_function(function), c"bloom_guard");
    let arguments = Sql::join(arguments.iter().map(|argument| literal(argument)), ", ");
    let statement = sql!(
        "CREATE TRIGGER {name} {timing} INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION {own}({arguments})"
    );
    Session::begin(false).run(&statement, &[]);
    Ok(as_name(&name))
}

/// Errors: the argument is NULL (22004).
fn datum(given: Arguments, i: usize, name: &str) -> Result<pg_sys::Datum> {
    let message = || words!("argument \"{name}\" of bloom_guard_create must not be null");
    let null = || sql_error(ERRCODE_NULL_VALUE_NOT_ALLOWED, message());
    given.datum(i).ok_or_else(null)
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
        arguments.extend(option_texts(options, "bloom_guard_create")?);
        Ok(arguments)
    }
}

/// The texts of an array, for a function of this name.
///
/// Errors: one is NULL (22004).
///
/// # Safety
/// `options` is an array of texts.
unsafe fn option_texts(options: pg_sys::Datum, function: &str) -> Result<Vec<CString>> {
    // SAFETY: the caller's; the server makes a new zero-terminated string of a text.
    unsafe {
        let text = |option: Option<pg_sys::Datum>| {
            let message = || format!("options of {function} must not contain null values");
            let null = || sql_error(ERRCODE_NULL_VALUE_NOT_ALLOWED, message());
            let string = pg_sys::text_to_cstring(option.ok_or_else(null)?.cast_mut_ptr());
            Ok(CStr::from_ptr(string).to_owned())
        };
        let options = Elements::new(options).or_raise();
        let texts = options.iter().map(text).collect();
        texts
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
        ERRCODE_INSUFFICIENT_PRIVILEGE,
        words!("permission denied for table {table}"),
    )
    .detail("A guard needs privilege TRIGGER on it."))
}

/// The tables that the trigger will fire for.
///
/// Errors: a relation that cannot have such a trigger (42809).
fn tree_of(table: pg_sys::Oid) -> Result<PartitionTree> {
    use pg_sys::{RELKIND_FOREIGN_TABLE, RELKIND_PARTITIONED_TABLE, RELKIND_RELATION};
    let kinds = [
        RELKIND_RELATION,
        RELKIND_PARTITIONED_TABLE,
        RELKIND_FOREIGN_TABLE,
    ];
    if kinds.contains(&catalog::kind(table)) {
        return PartitionTree::new(table, true);
    }
    Err(sql_error(
        ERRCODE_WRONG_OBJECT_TYPE,
        words!("cannot create a guard on relation \"{table}\""),
    )
    .detail("It is not a table."))
}

/// `table_column_guard`, cut to the length of a name, with a number if a table of the tree has a trigger of this name.
fn free_name(tree: &PartitionTree, column: &CStr) -> CString {
    let top = catalog::name(tree.all[0]);
    let numbers = std::iter::once(String::new()).chain((1..).map(|n: u32| n.to_string()));
    let mut names = numbers.map(|number| {
        let label = CString::new(format!("guard{number}")).expect("no zero bytes");
        // SAFETY: the function takes three C strings and returns a new one.
        unsafe {
            let name = pg_sys::makeObjectName(top.as_ptr(), column.as_ptr(), label.as_ptr());
            CStr::from_ptr(name).to_owned()
        }
    });
    // SAFETY: a look-up in the catalogs by OID and by a C string.
    let has = |table, name: &CStr| unsafe {
        pg_sys::get_trigger_oid(table, name.as_ptr(), true) != pg_sys::InvalidOid
    };
    let is_free = |name: &CString| !tree.all.iter().any(|&table| has(table, name));
    names.find(is_free).expect("numbers do not end")
}

/// Errors: those that the trigger would report for its first row; the table that is written to is the guarded one
/// (22023); those of [`distributed::check`].
fn check(
    table: pg_sys::Oid,
    tree: &PartitionTree,
    options: GuardOptions,
    trigger: &CStr,
) -> Result<()> {
    let compared = ComparedTable::guarded(table, &options)?;
    for &leaf in &tree.leaves {
        let (leaf, _) = ComparedTable::guarded(leaf, &options)?;
        check_key(&leaf, &options, names_own(&options))?;
    }
    let written = [
        (&options.review, "review", &REVIEW),
        (&options.skipped, "skipped", &SKIPPED),
    ];
    for (name, option, form) in written {
        let Some(name) = name else { continue };
        if find_table(name, table, option)? == table {
            return Err(sql_error(
                ERRCODE_INVALID_PARAMETER_VALUE,
                words!("{form.label} \"{table}\" is the guarded table"),
            ));
        }
    }
    if let Some(column) = storage::distribution(table).and_then(|kept| kept.column) {
        return distributed::check(table, &column, &options);
    }
    let guard = PreparedGuard::new(options, compared, table, trigger)?;
    rights::check_owner(&guard)?;
    if let Some(review) = &guard.review {
        notify_of_writer(review.oid, &REVIEW, &guard);
    }
    if let Some(skipped) = &guard.skipped {
        notify_of_writer(skipped.table.oid, &SKIPPED, &guard);
    }
    warn_of_full_signatures(&guard)
}

/// Says now that users need privileges on the table that is written to. Otherwise an application would learn it by an
/// error.
fn notify_of_writer(written: pg_sys::Oid, form: &TableForm, guard: &PreparedGuard) {
    if owned_throughout(written, guard.owner).is_some() {
        return;
    }
    sql_error(
        ERRCODE_SUCCESSFUL_COMPLETION,
        words!("{form.label} \"{written}\" will be written by the user who enters a row"),
    )
    .detail(words!(
        "It has another owner than table \"{guard.top}\", or a trigger, a rule, \
            row-level security, or expressions that call functions which are not \
            PostgreSQL's own."
    ))
    .hint("Grant INSERT and SELECT on it to those who enter rows.")
    .send(PgLogLevel::NOTICE);
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

/// Of tables with more blocks a sample of about so many is read: writers wait until the guard is created.
const BLOCKS: f64 = 2000.0;

/// Warns of full signatures among those that are there already, in the guarded table and in the block list. Where
/// tokens decide they do no harm. Who may not read a table is told nothing of it.
///
/// Errors: what a query of the signatures fails with.
fn warn_of_full_signatures(guard: &PreparedGuard) -> Result<()> {
    if guard.options.verify.is_some() || guard.options.register.is_some() {
        return Ok(());
    }
    warn_of_full(guard, guard.top, &guard.options.column)?;
    if guard.is_list() && guard.searched != guard.top {
        warn_of_full(guard, guard.searched, guard.options.searched_column())?;
    }
    Ok(())
}

fn warn_of_full(guard: &PreparedGuard, table: pg_sys::Oid, column: &CStr) -> Result<()> {
    let found = signature_column(table, column, None)?;
    let is_filter = found.of_type == Some(SignatureType::Filter);
    if !is_filter || !may_read_columns(table, &[found.number], current_user()) {
        return Ok(());
    }
    let tree = PartitionTree::new(table, true)?;
    let is_here = |&leaf: &pg_sys::Oid| catalog::kind(leaf) == pg_sys::RELKIND_RELATION;
    if !tree.leaves.iter().all(is_here) {
        return Ok(());
    }
    let blocks = tree.leaves.iter().map(|&leaf| {
        check_for_interrupts();
        f64::from(OpenRelation::locked_table(leaf).blocks())
    });
    let share = BLOCKS / blocks.sum::<f64>().max(1.0);
    // The guard is not for the rows of tables that inherit from this one.
    let mut sql = Sql::new("SELECT ").name(column).text(" FROM ").only(table);
    if share < 1.0 {
        let percent = format!("{:.6}", 100.0 * share);
        sql = sql.text(" TABLESAMPLE pg_catalog.system (").text(&percent);
        sql = sql.text(") REPEATABLE (0)");
    }
    let (mut signed, mut full) = (0u64, 0u64);
    read(sql, &[], BATCH).each(|row| {
        if let Some(signature) = row.datum(0) {
            // SAFETY: the query selects a signature, which lives as long as the row.
            let signature = unsafe { Bloom::from_raw(signature) };
            signed += 1;
            full += u64::from(signature.view().is_full());
        }
    });
    if full == 0 {
        return Ok(());
    }
    let percent = format!("{:.1}", 100.0 * full as f64 / signed as f64);
    let sample = if share < 1.0 { " of a sample" } else { "" };
    let consequence = match guard.options.compares_full {
        false => "the guard does not go by them.",
        true => "the guard may take them for duplicates of each other.",
    };
    sql_error(
        ERRCODE_WARNING,
        words!(
            "{percent} % of the signatures in column \"{column}\" of table \"{table}\" have more than \
             90 % of their bits set"
        ),
    )
    .detail(format!(
        "{full} of {signed} signatures{sample} are similar to each other, whatever was signed; {consequence}"
    ))
    .hint("Plan signatures for longer texts, by max_chars, or sign fewer columns.")
    .send(PgLogLevel::WARNING);
    Ok(())
}
