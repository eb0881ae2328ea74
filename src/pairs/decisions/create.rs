//! `bloom_decisions_create` makes a table of decisions, `bloom_record_hash` what its column `hash` holds.

use std::ffi::CStr;

use base::{Error, ErrorKind};
use pgrx::pg_sys;

use super::hashes::each_hash;
use crate::pairs::records::Records;
use pg::entry;
use pg::error::raise;
use pg::function::arguments::Arguments;
use pg::function::rows::{text_datum, ResultRows};
use pg::session::not_during_recovery;
use pg::session::Session;
use pg::sql;
use pg::values::text::to_database;
use pg::values::varlena::NewValue;

/// `(name text) RETURNS regclass`
///
/// Keys are compared byte by byte, and found by an index in either order, as the guard does. Of two decisions of one
/// transaction the later one is newer, so `at` is the time of the clock. By its primary key a merge can redirect the
/// decisions about records that go.
#[entry(volatile, called_on_null, parallel_unsafe)]
fn bloom_decisions_create(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    not_during_recovery(c"bloom_decisions_create()");
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    // SAFETY: a text, of which the server makes a name, or raises an error; its strings stay in the memory of the call.
    let (schema, name) = unsafe {
        let names = pg_sys::textToQualifiedNameList(arguments.given(0).cast_mut_ptr());
        let range = pg_sys::makeRangeVarFromNameList(names);
        let schema = pg_sys::get_namespace_name(pg_sys::RangeVarGetCreationNamespace(range));
        (CStr::from_ptr(schema), CStr::from_ptr((*range).relname))
    };
    let table = sql!("{schema}.{name}");
    let session = Session::begin(false);
    let execute = |sql| session.run(&sql, &[]);
    execute(sql!(
        "CREATE TABLE {table} (a pg_catalog.text COLLATE pg_catalog.\"C\" NOT NULL, \
         b pg_catalog.text COLLATE pg_catalog.\"C\" NOT NULL, \
         decision pg_catalog.text COLLATE pg_catalog.\"C\" NOT NULL \
         CHECK (decision OPERATOR(pg_catalog.=) ANY ('{{same,different,unsure}}'::pg_catalog.text[])), \
         who pg_catalog.text NOT NULL DEFAULT CURRENT_USER, \
         at pg_catalog.timestamptz NOT NULL DEFAULT pg_catalog.clock_timestamp(), \
         note pg_catalog.text, \
         hash pg_catalog.text, \
         id pg_catalog.int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY)"
    ));
    execute(sql!("CREATE INDEX ON {table} (a, b)"));
    // SAFETY: catalog look-ups of the table that was just made.
    let oid = unsafe {
        pg_sys::get_relname_relid(
            name.as_ptr(),
            pg_sys::get_namespace_oid(schema.as_ptr(), false),
        )
    };
    NewValue(pg_sys::Datum::from(oid))
}

/// `(rel regclass, key name, columns name[]) RETURNS TABLE (key text, hash text)`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_record_hash(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let names = arguments.names(2);
    if names.is_empty() {
        raise(
            &Error::new(
                ErrorKind::ArraySubscript,
                "a hash must be over at least one column",
            )
            .hint("Name the columns by which people tell records apart."),
        );
    }
    let records = Records::new(arguments.oid(0), arguments.name(1), Vec::new());
    // SAFETY: the SQL function is declared to return a set of rows.
    let mut rows = unsafe { ResultRows::new(fcinfo) };
    each_hash(&records, &names, |key, hash| {
        rows.make(|| {
            Some([
                Some(text_datum(key)),
                Some(text_datum(&to_database(&hash.to_string()))),
            ])
        });
    });
    NewValue(pg_sys::Datum::null())
}
