//! Arrays that are arguments of a statement.

use pgrx::pg_sys;

/// An array of texts, as its type and value.
pub fn text_array(texts: &mut [pg_sys::Datum]) -> (pg_sys::Oid, pg_sys::Datum) {
    // SAFETY: as many texts as the number says; they are copied into the current memory context.
    let array = unsafe {
        let (values, count) = (texts.as_mut_ptr(), texts.len() as i32);
        pg_sys::construct_array(values, count, pg_sys::TEXTOID, -1, false, b'i' as _)
    };
    (pg_sys::TEXTARRAYOID, pg_sys::Datum::from(array))
}

/// An array of numbers, as its type and value.
pub fn float8_array(numbers: &mut [pg_sys::Datum]) -> (pg_sys::Oid, pg_sys::Datum) {
    // SAFETY: as many numbers as the number says, each in a datum.
    let array = unsafe {
        let (values, count) = (numbers.as_mut_ptr(), numbers.len() as i32);
        pg_sys::construct_array(values, count, pg_sys::FLOAT8OID, 8, true, b'd' as _)
    };
    (pg_sys::FLOAT8ARRAYOID, pg_sys::Datum::from(array))
}
