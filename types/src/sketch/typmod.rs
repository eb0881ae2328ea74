//! The type modifiers `minhash(n)` and `minhash_bits(n)`, which the core reads and writes.

use std::ffi::CString;

use pgrx::pg_sys;
use signature::sketch::{typmod, SketchKind};

use super::values::{Minhash, MinhashBits, NewMinhash, NewMinhashBits};
use crate::value::modifier;
use pg::entry;
use pg::error::OrRaise;

/// # Safety
/// `fcinfo` is that of a call with one argument, a `cstring[]` that is not NULL.
unsafe fn read(kind: SketchKind, fcinfo: pg_sys::FunctionCallInfo) -> i32 {
    // SAFETY: the caller says so.
    typmod::pack(typmod::parse(kind, &unsafe { modifier(fcinfo) }).or_raise())
}

/// `(cstring[]) RETURNS integer`
///
/// `minhash(128)`, from an array of C strings.
#[entry]
fn minhash_typmod_in(fcinfo: pg_sys::FunctionCallInfo) -> i32 {
    // SAFETY: declared as taking one cstring[], and STRICT.
    unsafe { read(Minhash::KIND, fcinfo) }
}

/// `(cstring[]) RETURNS integer`
///
/// `minhash_bits(192)`, from an array of C strings.
#[entry]
fn minhash_bits_typmod_in(fcinfo: pg_sys::FunctionCallInfo) -> i32 {
    // SAFETY: declared as taking one cstring[], and STRICT.
    unsafe { read(MinhashBits::KIND, fcinfo) }
}

/// Of both types.
#[entry]
fn minhash_typmod_out(typmod: i32) -> CString {
    CString::new(typmod::show(typmod)).expect("no zero byte")
}

/// The length coercion: the value itself, or an error.
#[entry]
fn minhash_apply_typmod(value: Minhash<'_>, typmod: i32, _explicit: bool) -> NewMinhash {
    let shape = value.view().sketch().shape();
    typmod::enforce(Minhash::KIND, typmod, shape).or_raise();
    value.into_result()
}

/// The same of bits.
#[entry]
fn minhash_bits_apply_typmod(
    value: MinhashBits<'_>,
    typmod: i32,
    _explicit: bool,
) -> NewMinhashBits {
    let shape = value.view().sketch().shape();
    typmod::enforce(MinhashBits::KIND, typmod, shape).or_raise();
    value.into_result()
}
