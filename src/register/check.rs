//! `bloom_register_check`: what a register has, compared with what a new one would have.

use std::ffi::CStr;

use pgrx::{pg_sys, IntoDatum};

use super::create::{check_owner, check_snapshot, guards, mend_triggers, refill};
use super::fill::{each_record, most_by_search, OF_KEY};
use super::stored::Register;
use pg::error::OrRaise;
use pg::function::arguments::Arguments;
use pg::function::rows::{text_datum, ResultRows};
use pg::session::fixed_settings::without_row_security;
use pg::session::tuple_store::{StoreColumn, TupleStore};
use pg::session::{not_during_recovery, Session};
use pg::snapshot::ScanSnapshot;
use pg::sql::Sql;
use pg::values::varlena::NewValue;
use pg::{entry, relation, sql};

/// All keys that a new register would have, before blocks are closed: `key`, `id`.
const FRESH: &CStr = c"bloom_register_fresh";

/// `(register regclass, repair boolean) RETURNS TABLE (finding text, number bigint)`
#[entry(volatile, called_on_null, parallel_unsafe)]
fn bloom_register_check(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    not_during_recovery(c"bloom_register_check()");
    // SAFETY: the SQL function is declared with these arguments, and to return a set of rows.
    let (arguments, mut rows, function) = unsafe {
        let function = (*(*fcinfo).flinfo).fn_oid;
        (Arguments::new(fcinfo), ResultRows::new(fcinfo), function)
    };
    let repair = arguments.boolean(1);
    let oid = arguments.oid(0);
    let register = open_locked(oid);
    let [records, findings] = compare(&register);
    let stored = [
        ("records", records[0]),
        ("keys", records[1]),
        ("closed blocks", records[2]),
        ("keys missing", findings[0]),
        ("keys of no record", findings[1]),
        ("blocks open that are too large", findings[2]),
        ("blocks closed that a new register has open", findings[3]),
        ("pairs in these", findings[4]),
        (
            "triggers of the register missing or disabled",
            register.triggers_lost(),
        ),
        (
            "tables logged otherwise than the records",
            register.otherwise_logged().len() as i64,
        ),
        ("guards", guards(register.relation, oid).len() as i64),
    ];
    for (finding, number) in stored {
        rows.make(|| Some([Some(text_datum(finding.as_bytes())), number.into_datum()]));
    }
    if let Some([otherwise, lost]) = register.compare_entities() {
        for (finding, number) in [
            ("records in other entities than now", otherwise),
            ("tables of decisions without triggers", lost),
        ] {
            rows.make(|| Some([Some(text_datum(finding.as_bytes())), number.into_datum()]));
        }
    }
    if repair {
        register.mend_logged(&Session::begin(false));
        refill(&register);
        if !register.is_kept() {
            mend_triggers(&register, function);
        }
        // The keys have another index now.
        // SAFETY: a function that writes may begin another command.
        unsafe { pg_sys::CommandCounterIncrement() };
        Register::newest(oid).mend_entities(function);
        // The numbers above are those before.
        rows.make(|| {
            Some([
                Some(text_datum(b"records repaired")),
                records[0].into_datum(),
            ])
        });
    }
    NewValue(pg_sys::Datum::null())
}

/// A register of the caller's, whose table nobody writes to until the end of the transaction.
pub fn open_locked(oid: pg_sys::Oid) -> std::rc::Rc<Register> {
    let register = Register::open(oid, &ScanSnapshot::active());
    check_owner(register.relation);
    check_snapshot();
    relation::lock(register.relation, pg_sys::ShareRowExclusiveLock);
    // Who had the lock before may have given it another model.
    Register::latest(oid, register.relation).or_raise()
}

/// How many records, keys and closed blocks there are, and what is otherwise than in a new register.
fn compare(register: &Register) -> [[i64; 5]; 2] {
    let session = Session::begin(false);
    let columns = [
        (c"key", StoreColumn::plain(pg_sys::INT8OID)),
        (
            c"id",
            StoreColumn {
                collation: register.key.collation,
                ..StoreColumn::plain(register.key.type_oid)
            },
        ),
    ];
    let mut fresh = session.in_callers_memory(|| TupleStore::new(columns.into_iter()));
    let mut records = 0;
    without_row_security(|| {
        each_record(&session, register, |id, keys| {
            records += 1;
            keys.iter()
                .for_each(|&key| fresh.put(&[key.into_datum(), Some(id)]));
        });
    });
    session.table(FRESH, &fresh);
    let keys = register.keys.oid;
    let most = most_by_search(register);
    let is_closed =
        sql!("key OPERATOR(pg_catalog.=) ANY (SELECT key FROM {keys} WHERE id IS NULL)");
    let stored = sql!("{keys} WHERE id IS NOT NULL");
    let number = |sql: Sql, parameters: &[_]| session.number(&sql, parameters);
    let counted = [
        records,
        number(sql!("SELECT pg_catalog.count(*) FROM {stored}"), &[]),
        number(
            sql!("SELECT pg_catalog.count(DISTINCT key) FROM {keys} WHERE id IS NULL"),
            &[],
        ),
        0,
        0,
    ];
    let missing = sql!(
        "SELECT pg_catalog.count(*) FROM (SELECT key, id FROM {FRESH} EXCEPT ALL SELECT key, id FROM {stored}) AS k WHERE NOT {is_closed}"
    );
    let surplus = sql!(
        "SELECT pg_catalog.count(*) FROM (SELECT key, id FROM {stored} EXCEPT ALL SELECT key, id FROM {FRESH}) AS k"
    );
    let large = sql!(
        "SELECT pg_catalog.count(*) FROM (SELECT key FROM {keys} GROUP BY key HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) \
        {OF_KEY} AND pg_catalog.count(*) OPERATOR(pg_catalog.=) pg_catalog.count(id)) AS k"
    );
    let small = |what: &str| {
        sql!(
            "SELECT {what} FROM (SELECT key, pg_catalog.count(*) AS n FROM {FRESH} GROUP BY key HAVING pg_catalog.count(*) \
            OPERATOR(pg_catalog.<=) {OF_KEY}) AS k WHERE {is_closed}"
        )
    };
    let pairs = "COALESCE(pg_catalog.sum(n OPERATOR(pg_catalog.*) (n OPERATOR(pg_catalog.-) 1) \
        OPERATOR(pg_catalog./) 2), 0)::pg_catalog.int8";
    let findings = [
        number(missing, &[]),
        number(surplus, &[]),
        number(large, &[most]),
        number(small("pg_catalog.count(*)"), &[most]),
        number(small(pairs), &[most]),
    ];
    session.forget(FRESH);
    [counted, findings]
}
