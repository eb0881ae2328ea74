//! `bloom_blocklist`: the rows of a list that are similar to a signature, as a query of the caller's.

use std::ffi::{CStr, CString};

use bloom_ident_core::filter::rates::unit;
use bloom_ident_core::Kind;
use pgrx::{pg_sys, PgSqlErrorCode};

use super::key::Key;
use super::relation;
use crate::pg::error::OrRaise;
use crate::pg::message::{words, Message, Result};
use crate::pg::{check_for_interrupts, entry, ffi};
use crate::planner::type_named;
use crate::types::{Bloom, NewQuery, NewValue};

/// Rows fetched at a time.
const BATCH: i64 = 1000;

/// `(signature bloom, list regclass, list_signature name, threshold float8) RETURNS TABLE (key text, similarity float8)`,
/// best first. It reads as its caller does, with the caller's privileges and row-level security.
///
/// Errors: a threshold outside [0,1] (22023), no such column (42703) or one of another type (42804), no primary key (42704).
#[entry]
fn bloom_blocklist(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the record of this call, STRICT, with these arguments.
    NewValue(unsafe { run(fcinfo) }.unwrap_or_else(|message| message.raise()))
}

/// SAFETY: `fcinfo` is that of a running call of [`bloom_blocklist`].
unsafe fn run(fcinfo: pg_sys::FunctionCallInfo) -> Result<pg_sys::Datum> {
    // SAFETY: as promised by the caller.
    unsafe {
        let args = (*fcinfo).args.as_slice(4);
        let signature = Bloom::from_raw(args[0].value);
        let list = pg_sys::Oid::from(args[1].value.value() as u32);
        let column = CStr::from_ptr(args[2].value.cast_mut_ptr());
        let threshold = f64::from_bits(args[3].value.value() as u64);
        unit("threshold", threshold)
            .map_err(|e| e.of_kind(Kind::InvalidParameter))
            .or_raise();
        let function = (*(*fcinfo).flinfo).fn_oid;
        let statement = statement(function, list, column)?;
        pg_sys::InitMaterializedSRF(fcinfo, 0);
        let result: *mut pg_sys::ReturnSetInfo = (*fcinfo).resultinfo.cast();
        let bloom = type_named(function, c"bloom").expect("type of the extension");
        let query = type_named(function, c"bloom_query").expect("type of the extension");
        ffi::SPI_connect();
        let mut types = [bloom, query];
        let mut values = [
            pg_sys::Datum::from(signature.pointer()),
            NewQuery::new(&signature.view(), threshold).datum(),
        ];
        let cursor = ffi::SPI_cursor_open_with_args(
            std::ptr::null(),
            statement.as_ptr(),
            2,
            types.as_mut_ptr(),
            values.as_mut_ptr(),
            std::ptr::null(),
            true,
            0,
        );
        loop {
            ffi::SPI_cursor_fetch(cursor, true, BATCH as _);
            let rows = pg_sys::SPI_tuptable;
            let n = pg_sys::SPI_processed as usize;
            for i in 0..n {
                check_for_interrupts();
                pg_sys::tuplestore_puttuple((*result).setResult, *(*rows).vals.add(i));
            }
            pg_sys::SPI_freetuptable(rows);
            if n == 0 {
                break;
            }
        }
        ffi::SPI_cursor_close(cursor);
        ffi::SPI_finish();
    }
    Ok(pg_sys::Datum::null())
}

/// $1 is the signature, $2 the same with the threshold.
fn statement(function: pg_sys::Oid, list: pg_sys::Oid, column: &CStr) -> Result<CString> {
    let undefined = |message| Message::of(PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT, message);
    relation::check_exists(list)?;
    let bloom = type_named(function, c"bloom").expect("type of the extension");
    relation::signature_column(list, column, bloom)?;
    let no_key = || {
        undefined(words!(
            "relation \"",
            relation::name(list),
            "\" has no primary key"
        ))
        .detail(words!("bloom_blocklist names rows by their primary keys."))
        .hint(words!(
            "Add a primary key, or query the list by its column with % and bloom_sim."
        ))
    };
    if !matches!(
        relation::kind(list),
        pg_sys::RELKIND_RELATION | pg_sys::RELKIND_PARTITIONED_TABLE
    ) {
        return Err(no_key());
    }
    // SAFETY: a table, locked while it is looked at.
    let key = unsafe {
        let open = ffi::table_open(list, pg_sys::AccessShareLock as i32);
        let key = Key::of(open);
        pg_sys::table_close(open, pg_sys::AccessShareLock as i32);
        key.ok_or_else(no_key)?
    };
    let quoted = |c: &i16| {
        let name = relation::quoted_column(&relation::column_name(list, *c));
        words!("t.", name)
    };
    let columns: Vec<Vec<u8>> = key.columns.iter().map(quoted).collect();
    let key = if columns.len() == 1 {
        columns.concat()
    } else {
        words!("ROW(", columns.join(&b", "[..]), ")")
    };
    let own = relation::quoted_column(&relation::schema_of_function(function));
    // as what it is a domain over, for which others may have functions and operators of these names that fit better
    let bloom = relation::quoted_name(&relation::schema_of_function(function), c"bloom");
    let column = words!("t.", relation::quoted_column(column), "::", bloom);
    // as the guard: keys are no keys of tables that inherit
    let only = match relation::kind(list) {
        pg_sys::RELKIND_RELATION => "ONLY ",
        _ => "",
    };
    let statement = words!(
        "SELECT l.key, l.similarity FROM (SELECT (",
        key,
        ")::pg_catalog.text AS key, ",
        own,
        ".bloom_sim(",
        column,
        ", $1)::pg_catalog.float8 AS similarity FROM ",
        only,
        relation::quoted(list),
        " AS t WHERE ",
        column,
        " OPERATOR(",
        own,
        ".%) $2) AS l ORDER BY l.similarity USING OPERATOR(pg_catalog.>), l.key COLLATE pg_catalog.\"C\""
    );
    Ok(CString::new(statement).expect("names have no zero bytes"))
}
