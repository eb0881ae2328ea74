//! The type modifier `bloom(k,p,q)`, which the core reads and writes.

use std::ffi::CString;

use pgrx::pg_sys;
use signature::filter::typmod::{self, BLOOM};

use super::bloom::{Bloom, NewBloom};
use super::value::modifier;
use pg::entry;
use pg::error::OrRaise;

/// `(cstring[]) RETURNS integer`
///
/// `bloom(7,43,3)`, from an array of C strings.
#[entry]
fn bloom_typmod_in(fcinfo: pg_sys::FunctionCallInfo) -> i32 {
    // SAFETY: declared as taking one cstring[], and STRICT.
    let written = unsafe { modifier(fcinfo) };
    typmod::pack(typmod::parse(&BLOOM, &written).or_raise())
}

#[entry]
fn bloom_typmod_out(typmod: i32) -> CString {
    CString::new(typmod::show(typmod)).expect("no zero byte")
}

/// The length coercion: the value itself, or an error.
#[entry]
fn bloom_apply_typmod(value: Bloom<'_>, typmod: i32, _explicit: bool) -> NewBloom {
    typmod::enforce(&BLOOM, typmod, value.view().shape()).or_raise();
    value.into_result()
}
