//! `bloom_blocklist`: the rows of a list that are similar to a signature, as a query of the caller's.

use std::ffi::{CStr, CString};

use bloom_ident_core::filter::rates::unit;
use bloom_ident_core::Kind;
use pgrx::{pg_sys, PgSqlErrorCode};

use super::tables::column as relation;
use super::tables::key::PrimaryKey;
use crate::objects::{self, Purpose};
use crate::pg::error::OrRaise;
use crate::pg::message::{words, Message, Result};
use crate::pg::{check_for_interrupts, entry, ffi};
use crate::types::{Bloom, NewQuery, NewValue};

/// Rows fetched at a time.
const BATCH: i64 = 1000;

/// `(signature bloom, list regclass, list_signature name, threshold float8) RETURNS TABLE (key text, similarity float8)`,
/// best first. It reads as its caller does, with the caller's privileges and row-level security.
///
/// Without a signature there are no rows.
///
/// Errors: no list, column or threshold (22004), a threshold outside [0,1] (22023), no such column (42703) or one of another type (42804), no primary key (42704).
#[entry]
fn bloom_blocklist(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the record of this call, with these arguments.
    NewValue(unsafe { run(fcinfo) }.unwrap_or_else(|message| message.raise()))
}

/// SAFETY: `fcinfo` is that of a running call of [`bloom_blocklist`].
unsafe fn run(fcinfo: pg_sys::FunctionCallInfo) -> Result<pg_sys::Datum> {
    // SAFETY: as promised by the caller.
    unsafe {
        let args = (*fcinfo).args.as_slice(4);
        for (arg, name) in args[1..]
            .iter()
            .zip(["list", "list_signature", "threshold"])
        {
            if arg.isnull {
                let message = words!("argument \"", name, "\" must not be null");
                let code = PgSqlErrorCode::ERRCODE_NULL_VALUE_NOT_ALLOWED;
                return Err(Message::of(code, message));
            }
        }
        if args[0].isnull {
            pg_sys::InitMaterializedSRF(fcinfo, 0);
            return Ok(pg_sys::Datum::null());
        }
        let signature = Bloom::from_raw(args[0].value);
        let list = pg_sys::Oid::from(args[1].value.value() as u32);
        let column = CStr::from_ptr(args[2].value.cast_mut_ptr());
        let threshold = f64::from_bits(args[3].value.value() as u64);
        unit("threshold", threshold)
            .map_err(|e| e.of_kind(Kind::InvalidParameter))
            .or_raise();
        let function = (*(*fcinfo).flinfo).fn_oid;
        let (statement, mut types) = statement(function, list, column)?;
        pg_sys::InitMaterializedSRF(fcinfo, 0);
        let result: *mut pg_sys::ReturnSetInfo = (*fcinfo).resultinfo.cast();
        ffi::SPI_connect();
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

/// $1 is the signature, $2 the same with the threshold; with their types.
fn statement(
    function: pg_sys::Oid,
    list: pg_sys::Oid,
    column: &CStr,
) -> Result<(CString, [pg_sys::Oid; 2])> {
    let undefined = |message| Message::of(PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT, message);
    relation::check_exists(list)?;
    let number = relation::signature_column(list, column)?;
    let (own, bloom, query) = objects(function, relation::column_type(list, number))?;
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
        let key = PrimaryKey::of(open);
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
    // of a domain as the type itself, so that functions of the domain are not meant
    let column = words!(
        "CAST(t.",
        relation::quoted_column(column),
        " AS ",
        relation::qualified_type(bloom),
        ")"
    );
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
    let statement = CString::new(statement).expect("names have no zero bytes");
    Ok((statement, [bloom, query]))
}

/// The schema of the function, and the types for signatures of a column and for queries. What the statement names is there,
/// and ours.
///
/// Errors: it is not (42704).
fn objects(
    function: pg_sys::Oid,
    of_column: pg_sys::Oid,
) -> Result<(CString, pg_sys::Oid, pg_sys::Oid)> {
    // SAFETY: catalog look-ups; the function is there, since it is running.
    let (bloom, own) = unsafe {
        let space = pg_sys::get_namespace_name(pg_sys::get_func_namespace(function));
        let own = relation::quoted_column(CStr::from_ptr(space));
        (pg_sys::getBaseType(of_column), own)
    };
    let query = || {
        objects::beside(function, Purpose::Sim, bloom)?;
        let constructor = objects::beside(function, Purpose::Query, bloom)?;
        let query = objects::function(constructor)?.result;
        objects::match_beside(function, bloom, query).then_some(query)
    };
    match query() {
        Some(query) => Ok((own, bloom, query)),
        None => Err(Message::of(
            PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT,
            words!(
                "bloom_sim, bloom_query or operator % of bloom_ident is not in schema ",
                own
            ),
        )
        .detail(words!("bloom_blocklist looks for them where it is itself."))
        .hint(words!(
            "Move all of them back, or all to one schema by ALTER EXTENSION bloom_ident SET SCHEMA."
        ))),
    }
}
