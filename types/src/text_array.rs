//! A `text[]` as a result, written element by element.

use base::{Error, ErrorKind, Result};
use pgrx::pg_sys;

use super::array::{maxalign, MAX_ALLOC};
use pg::error::OrRaise;
use pg::values::text::{is_utf8_database, to_database};
use pg::values::varlena::NewValue;

/// Most elements: the server takes an array apart into as many datums.
const MAX_ELEMENTS: usize = MAX_ALLOC / size_of::<pg_sys::Datum>();

/// The elements so far, as they stand in an array of one dimension without NULLs.
#[derive(Default)]
pub struct TextArray {
    elements: Vec<u8>,
    n: usize,
}

/// Where the elements of such an array begin.
fn start() -> usize {
    maxalign(size_of::<pg_sys::ArrayType>() + 2 * size_of::<i32>())
}

impl TextArray {
    pub fn new() -> TextArray {
        TextArray::default()
    }

    /// Appends an element, which is put together of parts in the database's encoding.
    ///
    /// Errors: there is more than an array holds; out of memory.
    pub fn push(&mut self, parts: &[&[u8]]) -> Result<()> {
        let size = pg_sys::VARHDRSZ + parts.iter().map(|part| part.len()).sum::<usize>();
        let stride = size.next_multiple_of(4);
        if self.n == MAX_ELEMENTS || start() + self.elements.len() + stride > MAX_ALLOC {
            return Err(Error::new(
                ErrorKind::LimitExceeded,
                format!("more than {} tokens exceed the largest array", self.n),
            )
            .detail(format!("An array holds {MAX_ALLOC} bytes at most.")));
        }
        self.elements
            .try_reserve(stride)
            .map_err(|_| Error::out_of_memory(self.elements.len() + stride))?;
        let mut header = 0u32;
        // SAFETY: the header of a varlena is its first four bytes.
        unsafe { pgrx::set_varsize_4b((&raw mut header).cast(), size as i32) };
        self.elements.extend_from_slice(&header.to_ne_bytes());
        for part in parts {
            self.elements.extend_from_slice(part);
        }
        let padded = self.elements.len() + stride - size;
        self.elements.resize(padded, 0);
        self.n += 1;
        Ok(())
    }

    /// Appends a text, in UTF-8.
    ///
    /// Errors: as those of [`TextArray::push`], and a character that the database's encoding does not have.
    pub fn push_text(&mut self, text: &str) -> Result<()> {
        if is_utf8_database() {
            self.push(&[text.as_bytes()])
        } else {
            self.push(&[&to_database(text)])
        }
    }

    /// The array for the server.
    pub fn finish(self) -> NewValue {
        if self.n == 0 {
            // SAFETY: a new empty array.
            let empty = unsafe { pg_sys::construct_empty_array(pg_sys::TEXTOID) };
            return NewValue(pg_sys::Datum::from(empty));
        }
        let total = start() + self.elements.len();
        // SAFETY: palloc gives `total` bytes, aligned, or raises an error; they hold the header of an array of one
        // dimension and n elements, and the elements behind it. All are written.
        unsafe {
            let array: *mut pg_sys::ArrayType = pg_sys::palloc(total).cast();
            array.cast::<u8>().write_bytes(0, start());
            pgrx::set_varsize_4b(array.cast(), total as i32);
            (*array).ndim = 1;
            (*array).elemtype = pg_sys::TEXTOID;
            let bounds = array.add(1).cast::<i32>();
            *bounds = self.n as i32;
            *bounds.add(1) = 1;
            let to = array.cast::<u8>().add(start());
            to.copy_from_nonoverlapping(self.elements.as_ptr(), self.elements.len());
            NewValue(pg_sys::Datum::from(array))
        }
    }

    /// The array that `fill` writes.
    pub fn of(fill: impl FnOnce(&mut TextArray) -> Result<()>) -> NewValue {
        let mut array = TextArray::new();
        fill(&mut array).or_raise();
        array.finish()
    }
}
