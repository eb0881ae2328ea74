//! Whether an operator class fits the access method.

use pg::error::{sql_error, Tell};
use pgrx::{pg_sys, PgLogLevel, PgSqlErrorCode};

use super::leading::{self, hash_function};
use super::{operators, strategy};
use pg::values::text::readable;
use pg::{catalog, entry, ffi};
use types::objects::{is_bits, is_bits_query, is_query, is_signature};

fn name(of_type: pg_sys::Oid) -> String {
    readable(catalog::type_name(of_type).to_bytes())
}

/// Whether an operator class fits the access method. What does not fit is said as INFO.
///
/// # Safety
/// The server calls it as IndexAmRoutine says.
#[entry]
pub unsafe extern "C-unwind" fn amvalidate(class: pg_sys::Oid) -> bool {
    // SAFETY: look-ups in the catalogs by OIDs, in a transaction; the class is one of this access method.
    unsafe {
        let family = pg_sys::get_opclass_family(class);
        let input = pg_sys::get_opclass_input_type(class);
        let mut valid = true;
        let mut fail = |message: String| {
            let code = PgSqlErrorCode::ERRCODE_INVALID_OBJECT_DEFINITION;
            let message = format!("sigfile operator class for type {}: {message}", name(input));
            sql_error(code, message).send(PgLogLevel::INFO);
            valid = false;
        };
        if hash_function(family, input).is_some() {
            validate_leading(family, input, &mut fail);
            return valid;
        }
        let ours = [is_signature, is_query, is_bits, is_bits_query];
        if !ours.iter().any(|is| is(input)) {
            fail("a hash function, support function 1, is missing".into());
            return false;
        }
        let (mut similarity, mut keyed, mut plain) = (false, false, false);
        // Operators of the family's other class are checked with that class.
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
                let class = ffi::opclass_for_family_datatype(method, family, left);
                if class == pg_sys::InvalidOid {
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

/// Looks at the class of a column before the signature: equality, and for each type that values are compared with a
/// hash function.
///
/// # Safety
/// In a transaction.
unsafe fn validate_leading(family: pg_sys::Oid, input: pg_sys::Oid, fail: &mut dyn FnMut(String)) {
    let mut has_equality = false;
    // SAFETY: look-ups in the catalogs by OIDs, in a transaction.
    unsafe {
        for operator in operators(family).iter().filter(|o| o.amoplefttype == input) {
            let (number, right) = (operator.amopstrategy, operator.amoprighttype);
            has_equality |= right == input;
            if number as u16 != leading::EQUAL || operator.amoppurpose as u8 != pg_sys::AMOP_SEARCH
            {
                fail(format!("strategy {number} is not an equality"));
            }
            let result = pg_sys::get_op_rettype(operator.amopopr);
            if result != pg_sys::BOOLOID {
                fail(format!("strategy {number} returns {}", name(result)));
            }
            let Some(function) = hash_function(family, right) else {
                fail(format!(
                    "there is no hash function for type {}",
                    name(right)
                ));
                continue;
            };
            if pg_sys::get_func_rettype(function) != pg_sys::INT4OID
                || pg_sys::get_func_nargs(function) != 1
            {
                let what = "is not one of one argument that returns integer";
                fail(format!("the hash function for type {} {what}", name(right)));
            }
        }
    }
    if !has_equality {
        fail("an equality operator is missing".into());
    }
}
