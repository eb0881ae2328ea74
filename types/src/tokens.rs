//! A `text[]` of tokens as argument.

use base::{Error, Result};
use pgrx::pg_sys;

use super::array::Elements;
use pg::check_for_interrupts;
use pg::values::text::Text;
use pg::values::varlena::varlena_bytes;

/// The elements of a `text[]` that are not NULL.
pub struct Tokens<'a>(Elements<'a>);

impl<'a> Tokens<'a> {
    /// Argument `i` of a function.
    ///
    /// Errors: more than one dimension.
    ///
    /// # Safety
    /// The argument is a `text[]`, and not NULL.
    pub unsafe fn argument(fcinfo: pg_sys::FunctionCallInfo, i: usize) -> Result<Tokens<'a>> {
        // SAFETY: the function has such an argument, which outlives the call.
        unsafe { Tokens::of((*fcinfo).args.as_slice(i + 1)[i].value) }
    }

    /// A value.
    ///
    /// Errors: more than one dimension.
    ///
    /// # Safety
    /// `datum` is an array of `text` or `varchar`, and not NULL, and lives as long as `'a`.
    pub unsafe fn of(datum: pg_sys::Datum) -> Result<Tokens<'a>> {
        // SAFETY: such an array.
        unsafe { Elements::of(datum) }.map(Tokens)
    }

    /// As they are stored, in the database's encoding.
    pub fn bytes(&self) -> impl Iterator<Item = &[u8]> + '_ {
        // SAFETY: array elements are stored plain, and live as long as the array.
        self.0.iter().flatten().map(|d| unsafe { varlena_bytes(d) })
    }

    /// The same as a list.
    ///
    /// Errors: out of memory.
    pub fn list(&self) -> Result<Vec<&[u8]>> {
        let mut list = Vec::new();
        let n = self.0.len();
        list.try_reserve_exact(n)
            .map_err(|_| Error::out_of_memory(n * size_of::<&[u8]>()))?;
        for token in self.bytes() {
            check_for_interrupts();
            list.push(token);
        }
        Ok(list)
    }

    /// Calls `each` with them, in UTF-8, until it says stop.
    ///
    /// Errors: those of `each`; a text that is not valid, or of an encoding that does not say what its characters are.
    pub fn all(&self, mut each: impl FnMut(&str) -> Result<bool>) -> Result<bool> {
        for token in self.0.iter().flatten() {
            check_for_interrupts();
            // SAFETY: an element of a text[], alive with the array.
            let token = unsafe { Text::from_raw(token) };
            if !each(token.as_str())? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
