//! `bloom_blocklist` and `minhash_blocklist`: the rows of a list that are similar to a signature, as a query of the
//! caller's.

use std::ffi::{CStr, CString};

use base::range::unit;
use base::Result;
use pgrx::pg_sys;
use pgrx::PgSqlErrorCode::ERRCODE_UNDEFINED_OBJECT;

use super::compare::by_signature::ComparedSignature;
use super::tables::{signature_column, PrimaryKey};
use access::SignatureType;
use pg::error::{sql_error, OrRaise};
use pg::function::arguments::Arguments;
use pg::function::rows::ResultRows;
use pg::message::words;
use pg::relation::OpenRelation;
use pg::session::{read, BATCH};
use pg::sql::Sql;
use pg::values::varlena::NewValue;
use pg::{catalog, entry, sql};
use types::objects::{self, Purpose};

/// `(signature bloom, list regclass, list_signature name, threshold float8) RETURNS TABLE (key text, similarity
/// float8)`
///
/// The most similar rows come first. It reads as its caller does, with the caller's privileges and row-level security.
///
/// Without a signature there are no rows.
///
/// Errors: no list, column or threshold (22004), a threshold outside [0,1] (22023), no such column (42703) or one of
/// another type (42804), no primary key (42704).
#[entry(stable, called_on_null, parallel_restricted)]
fn bloom_blocklist(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the server calls this function with the record of the call, which has the arguments as they are declared.
    unsafe { run(fcinfo, SignatureType::Filter) }.or_raise();
    NewValue(pg_sys::Datum::null())
}

/// `(bits minhash_bits, list regclass, list_bits name, threshold float8) RETURNS TABLE (key text, similarity float8)`
///
/// The same with `signature minhash_bits`.
#[entry(stable, called_on_null, parallel_restricted)]
fn minhash_blocklist(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the server calls this function with the record of the call, which has the arguments as they are declared.
    unsafe { run(fcinfo, SignatureType::Bits) }.or_raise();
    NewValue(pg_sys::Datum::null())
}

/// # Safety
/// `fcinfo` is that of a running call of [`bloom_blocklist`], or [`minhash_blocklist`], whose signatures are of this
/// type.
unsafe fn run(fcinfo: pg_sys::FunctionCallInfo, of_type: SignatureType) -> Result<()> {
    // SAFETY: `fcinfo` is that of the running call, which does not end before this function returns.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let list = arguments.oid(1);
    let column = arguments.name(2);
    let threshold = arguments.float8(3);
    let Some(signature) = arguments.datum(0) else {
        // SAFETY: the function returns a set of rows with OUT columns. No rows are added.
        unsafe { ResultRows::new(fcinfo) };
        return Ok(());
    };
    // SAFETY: the argument is declared as a signature of this type, and lives as long as the call.
    let compared = unsafe { ComparedSignature::new(of_type, signature) };
    unit("threshold", threshold)?;
    // SAFETY: the record of a running call has its function.
    let function = unsafe { (*(*fcinfo).flinfo).fn_oid };
    let (sql, types) = list_query(function, list, &column, of_type)?;
    // SAFETY: the function returns a set of rows with OUT columns.
    let mut rows = unsafe { ResultRows::new(fcinfo) };
    let parameters = [
        (types[0], pg_sys::Datum::from(compared.pointer())),
        (types[1], compared.query(threshold)),
    ];
    read(sql, &parameters, BATCH).each(|row| rows.copy(row));
    Ok(())
}

/// The functions for signatures of a type.
struct Names {
    /// The function of this file.
    own: &'static CStr,
    similarity: &'static CStr,
    constructor: &'static CStr,
    /// What the last two are for.
    purposes: [Purpose; 2],
}

const FILTER: Names = Names {
    own: c"bloom_blocklist",
    similarity: c"bloom_sim",
    constructor: c"bloom_query",
    purposes: [Purpose::Sim, Purpose::Query],
};

const BITS: Names = Names {
    own: c"minhash_blocklist",
    similarity: c"minhash_sim",
    constructor: c"minhash_query",
    purposes: [Purpose::BitsSim, Purpose::BitsQuery],
};

/// A query of a block list, and the types of its parameters: the signature, and the signature with the threshold.
/// `function` is the one that is running.
fn list_query(
    function: pg_sys::Oid,
    list: pg_sys::Oid,
    column: &CStr,
    of_type: SignatureType,
) -> Result<(Sql, [pg_sys::Oid; 2])> {
    catalog::check_exists(list)?;
    let number = signature_column(list, column, Some(of_type))?.number;
    let of_column = catalog::column_type(list, number);
    let names = match of_type {
        SignatureType::Filter => FILTER,
        SignatureType::Bits => BITS,
    };
    let (own, signature, query) = schema_objects(function, of_column, &names)?;
    let key = primary_key(list, &names)?;
    let key_column = |&c: &i16| Sql::new("t.").column(list, c);
    let is_of_server = |&c: &i16| catalog::is_of_server(catalog::column_type(list, c));
    let key = match &key.columns[..] {
        // by its output and no cast, which a user could have made
        [column] if !is_of_server(column) => {
            Sql::new("").output(&catalog::column_name(list, *column))
        }
        [column] => key_column(column),
        columns => {
            let columns = Sql::join(columns.iter().map(key_column), ", ");
            Sql::new("ROW(").sql(&columns).text(")")
        }
    };
    // The value of a domain is cast to the type itself, so that no function of the domain is found.
    let of_type = Sql::new("").type_name(signature);
    let column = sql!("CAST(t.{column} AS {of_type})");
    let similarity = Sql::new("").name_in(&own, names.similarity);
    // A primary key is no key of the tables that inherit, so those are left out, as the guard leaves them out.
    let list = Sql::new("").only(list);
    let sql = sql!(
        "SELECT l.key, l.similarity FROM (SELECT ({key})::pg_catalog.text AS key, \
            {similarity}({column}, $1)::pg_catalog.float8 \
            AS similarity FROM {list} AS t WHERE {column} OPERATOR({own}.%) $2) AS l \
            ORDER BY l.similarity USING OPERATOR(pg_catalog.>), l.key COLLATE pg_catalog.\"C\""
    );
    Ok((sql, [signature, query]))
}

/// Errors: the list is no table, or has no primary key (42704).
fn primary_key(list: pg_sys::Oid, names: &Names) -> Result<PrimaryKey> {
    let kinds = [pg_sys::RELKIND_RELATION, pg_sys::RELKIND_PARTITIONED_TABLE];
    let find = || PrimaryKey::new(&OpenRelation::table(list, pg_sys::AccessShareLock));
    let key = kinds.contains(&catalog::kind(list)).then(find).flatten();
    key.ok_or_else(|| {
        sql_error(
            ERRCODE_UNDEFINED_OBJECT,
            words!("relation \"{list}\" has no primary key"),
        )
        .detail(words!("{names.own} names rows by their primary keys."))
        .hint(words!(
            "Add a primary key, or query the list by its column with % and {names.similarity}."
        ))
    })
}

/// The schema of the function, and the types for signatures of a column and for queries. The functions and the operator
/// that the query names are in that schema, and are this extension's.
///
/// Errors: they are not (42704).
fn schema_objects(
    function: pg_sys::Oid,
    of_column: pg_sys::Oid,
    names: &Names,
) -> Result<(CString, pg_sys::Oid, pg_sys::Oid)> {
    let own = catalog::schema_of_function(function);
    // SAFETY: a look-up in the catalogs by OID.
    let bloom = unsafe { pg_sys::getBaseType(of_column) };
    let query = || {
        let [similarity, constructor] = names.purposes;
        objects::function_in_schema_of(function, similarity, bloom)?;
        let constructor = objects::function_in_schema_of(function, constructor, bloom)?;
        let query = objects::function(constructor)?.result;
        objects::has_match_operator(function, bloom, query).then_some(query)
    };
    let schema = catalog::quoted_column(&own);
    match query() {
        Some(query) => Ok((own, bloom, query)),
        None => Err(sql_error(
            ERRCODE_UNDEFINED_OBJECT,
            words!("{names.similarity}, {names.constructor} or operator % of bloom_ident is not in schema {schema}"),
        )
        .detail(words!("{names.own} looks for them where it is itself."))
        .hint(
            "Move all of them back, or all to one schema by ALTER EXTENSION \
                bloom_ident SET SCHEMA.",
        )),
    }
}
