//! Whether an operator class fits the access method.

use std::ffi::CStr;

use pgrx::{pg_sys, PgLogLevel, PgSqlErrorCode};

use super::access::strategy;
use super::page::Index;
use crate::pg::message::{words, Message};
use crate::pg::{entry, ffi};

/// Rows of the index have thresholds: its class is one for `bloom_query`.
pub fn has_thresholds(index: Index) -> bool {
    // SAFETY: the relation is open and has one key column.
    unsafe {
        let relation = &*index.relation;
        let (family, input) = (*relation.rd_opfamily, *relation.rd_opcintype);
        let operator = pg_sys::get_opfamily_member(family, input, input, strategy::MATCH as i16);
        operator != pg_sys::InvalidOid
    }
}

fn complain(message: String) {
    let code = PgSqlErrorCode::ERRCODE_INVALID_OBJECT_DEFINITION;
    Message::of(code, words!(message)).send(PgLogLevel::INFO);
}

/// The operators of a family.
///
/// SAFETY: in a transaction.
unsafe fn operators(family: pg_sys::Oid) -> Vec<pg_sys::FormData_pg_amop> {
    // SAFETY: a list of the cache by its first key, released before its rows are used.
    unsafe {
        let list = pg_sys::SearchSysCacheList(
            pg_sys::SysCacheIdentifier::AMOPSTRATEGY as i32,
            1,
            pg_sys::Datum::from(family),
            pg_sys::Datum::null(),
            pg_sys::Datum::null(),
        );
        let n = (*list).n_members as usize;
        let members = (*list).members.as_slice(n);
        let rows = members
            .iter()
            .map(|&m| {
                *pg_sys::heap_tuple_get_struct::<pg_sys::FormData_pg_amop>(&raw mut (*m).tuple)
            })
            .collect();
        pg_sys::ReleaseCatCacheList(list);
        rows
    }
}

/// The class for a type in a family.
///
/// SAFETY: in a transaction.
unsafe fn class_of(method: pg_sys::Oid, family: pg_sys::Oid, of_type: pg_sys::Oid) -> pg_sys::Oid {
    // SAFETY: catalog look-ups, which may raise an error.
    unsafe { ffi::opclass_for_family_datatype(method, family, of_type) }
}

/// SAFETY: called by the server with the OID of an operator class of the method.
#[entry]
pub unsafe extern "C-unwind" fn amvalidate(class: pg_sys::Oid) -> bool {
    // SAFETY: catalog look-ups.
    unsafe {
        let family = pg_sys::get_opclass_family(class);
        let input = pg_sys::get_opclass_input_type(class);
        let name = |oid: pg_sys::Oid| {
            CStr::from_ptr(pg_sys::format_type_be(oid))
                .to_string_lossy()
                .into_owned()
        };
        let mut valid = true;
        let mut fail = |message: String| {
            complain(format!(
                "sigfile operator class for type {}: {message}",
                name(input)
            ));
            valid = false;
        };
        let (mut similarity, mut keyed, mut plain) = (false, false, false);
        // what is of the family's other class is checked with that
        for operator in &operators(family) {
            let number = operator.amopstrategy;
            let known = (1..=strategy::COUNT as i16).contains(&number);
            if !known {
                fail(format!("strategy number {number} is out of range"));
                continue;
            }
            let left = operator.amoplefttype;
            if left != input {
                let method = operator.amopmethod;
                if class_of(method, family, left) == pg_sys::InvalidOid {
                    fail(format!(
                        "strategy {number} has left-hand type {}",
                        name(left)
                    ));
                }
                continue;
            }
            let number = number as u16;
            let ordering = number == strategy::DISTANCE;
            let same = operator.amoprighttype == operator.amoplefttype;
            let other = matches!(number, strategy::MATCHES | strategy::MATCHES_SIGNATURE);
            if same == other {
                fail(format!(
                    "strategy {number} has right-hand type {}",
                    name(operator.amoprighttype)
                ));
            }
            let orders = operator.amoppurpose as u8 == pg_sys::AMOP_ORDER;
            if orders != ordering {
                fail(format!(
                    "strategy {number} is {} ordering operator",
                    if orders { "an" } else { "no" }
                ));
            }
            let result = pg_sys::get_op_rettype(operator.amopopr);
            let wanted = if ordering {
                pg_sys::FLOAT8OID
            } else {
                pg_sys::BOOLOID
            };
            if pg_sys::getBaseType(result) != wanted {
                fail(format!("strategy {number} returns {}", name(result)));
            }
            keyed |= strategy::is_keyed(number);
            plain |= !strategy::is_keyed(number);
            similarity |= matches!(
                number,
                strategy::SIMILAR
                    | strategy::SIMILAR_COMMUTED
                    | strategy::MATCHES
                    | strategy::MATCH
            );
        }
        if keyed && plain {
            fail("strategies for signatures and for queries cannot be in one class".into());
        }
        if !similarity {
            fail("a similarity operator is missing".into());
        }
        valid
    }
}
