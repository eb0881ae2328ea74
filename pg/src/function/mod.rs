//! Raw arguments of functions that SQL calls, and results of several columns or rows.

pub mod arguments;
pub mod place;
pub mod record;
pub mod rows;

use pgrx::pg_sys::Pg_finfo_record;

/// What the server reads of a function's calling convention, and behind it a line for `tests/symbols.test.sh`: what the
/// Rust side says of the function. They are one static, so that the linker keeps both or none.
#[repr(C)]
pub struct Declared {
    pub record: Pg_finfo_record,
    pub line: &'static str,
}
pub mod trigger;
