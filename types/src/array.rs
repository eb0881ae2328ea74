//! One-dimensional arrays: of varlenas without a copy, of float8, and of n-grams as a result.

use base::memory::with_room;
use base::{Error, ErrorKind, Result};
use pg::check_for_interrupts;
use pg::error::OrRaise;
use pg::values::text::{is_utf8_database, to_database, Text};
use pg::values::varlena::{varlena_bytes, NewValue, Varlena};
use pgrx::pg_sys;
use std::ffi::CStr;
use text::ngram::{for_each_ngram, Gaps};
use text::Rules;

/// The server's limit of an ordinary allocation (MaxAllocSize in memutils.h).
pub(super) const MAX_ALLOC: usize = 0x3fff_ffff;

/// The elements of an array whose element type is variable-length and aligned to four bytes, or
/// `cstring`. Array elements are stored plain.
pub struct Elements<'a> {
    array: Varlena<'a>,
    n: usize,
}

/// Number of elements.
///
/// Errors: more than one dimension.
///
/// # Safety
/// `array` is a plain, aligned array.
unsafe fn header(array: *const pg_sys::ArrayType) -> Result<usize> {
    // SAFETY: the array is plain and aligned, so its dimensions can be read.
    let (dimensions, first) = unsafe { ((*array).ndim, array.add(1).cast::<i32>()) };
    match dimensions {
        0 => Ok(0),
        // SAFETY: the dimensions follow the fixed part.
        1 => Ok(unsafe { *first } as usize),
        n => Err(Error::new(
            ErrorKind::ArraySubscript,
            format!("array of {n} dimensions is not allowed"),
        )
        .detail("The array must be one-dimensional.")),
    }
}

/// Where the elements begin; behind the null bitmap, if there is one.
///
/// # Safety
/// As for [`header`], with one dimension.
unsafe fn data_offset(array: *const pg_sys::ArrayType) -> usize {
    // SAFETY: the array is plain and has one dimension.
    match unsafe { (*array).dataoffset } {
        0 => FIRST_ELEMENT,
        offset => offset as usize,
    }
}

/// Where the elements of an array of one dimension without NULLs begin.
const FIRST_ELEMENT: usize = (size_of::<pg_sys::ArrayType>() + 2 * size_of::<i32>())
    .next_multiple_of(pg_sys::MAXIMUM_ALIGNOF as usize);

/// The null bitmap, one bit an element, 1 for not NULL.
///
/// # Safety
/// As for [`data_offset`].
unsafe fn null_bitmap(array: *const pg_sys::ArrayType) -> Option<*const u8> {
    // SAFETY: the array has one dimension; the bitmap follows the dimension and its lower bound.
    unsafe {
        ((*array).dataoffset != 0).then(|| array.add(1).cast::<u8>().add(2 * size_of::<i32>()))
    }
}

/// # Safety
/// `bitmap` is that of an array of more than `i` elements.
unsafe fn is_null(bitmap: Option<*const u8>, i: usize) -> bool {
    // SAFETY: the bitmap has a bit for each element.
    bitmap.is_some_and(|b| unsafe { *b.add(i / 8) } >> (i % 8) & 1 == 0)
}

impl<'a> Elements<'a> {
    /// Errors: more than one dimension.
    ///
    /// # Safety
    /// `datum` is a non-null array as described above, alive as long as `'a`.
    pub unsafe fn new(datum: pg_sys::Datum) -> Result<Elements<'a>> {
        // SAFETY: the datum is a non-null array.
        let array = unsafe { Varlena::aligned(datum) };
        // SAFETY: the array is plain and aligned now.
        let n = unsafe { header(array.pointer().cast())? };
        Ok(Elements { array, n })
    }

    /// Number of elements, NULLs included.
    pub fn len(&self) -> usize {
        self.n
    }

    /// The elements in order; `None` for NULL.
    pub fn iter(&self) -> impl Iterator<Item = Option<pg_sys::Datum>> + '_ {
        let start: *const pg_sys::ArrayType = self.array.pointer().cast();
        // SAFETY: a plain, aligned array; without elements neither is looked at.
        let (bitmap, mut at, c_strings) = unsafe {
            let c_strings = (*start).elemtype == pg_sys::CSTRINGOID;
            (null_bitmap(start), data_offset(start), c_strings)
        };
        (0..self.n).map(move |i| {
            // SAFETY: i < n; elements that are not NULL lie one behind the other from the data
            // offset on, each aligned; a C string is at any byte. A short header needs no
            // alignment, and padding is zero.
            unsafe {
                if is_null(bitmap, i) {
                    return None;
                }
                let data = start.cast::<u8>();
                if !c_strings && *data.add(at) == 0 {
                    at = at.next_multiple_of(4);
                }
                let element = data.add(at);
                at += if c_strings {
                    CStr::from_ptr(element.cast()).count_bytes() + 1
                } else {
                    pgrx::varsize_any(element.cast())
                };
                Some(pg_sys::Datum::from(element))
            }
        })
    }

    /// The elements of an array of C strings without NULLs.
    pub fn c_strings(&self) -> Vec<String> {
        // SAFETY: a C string within the array.
        let owned = |d: pg_sys::Datum| unsafe { CStr::from_ptr(d.cast_mut_ptr()) };
        let strings = self.iter().flatten().map(owned);
        strings.map(|s| s.to_string_lossy().into_owned()).collect()
    }
}

/// Calls `with` with the elements of an array whose elements have the length of an `E`, such as `float8[]`.
///
/// Errors: more than one dimension; a NULL element, called `what` in the message.
///
/// # Safety
/// `datum` is a non-null array, whose elements are what an `E` is.
pub unsafe fn fixed_array<E: Copy, T>(
    datum: pg_sys::Datum,
    what: &str,
    with: impl FnOnce(&[E]) -> Result<T>,
) -> Result<T> {
    // SAFETY: the datum is a non-null array.
    let array = unsafe { Varlena::aligned(datum) };
    let start: *const pg_sys::ArrayType = array.pointer().cast();
    // SAFETY: plain and aligned; without a null bitmap the elements lie side by side, aligned.
    let elements = unsafe {
        let n = header(start)?;
        if let Some(i) = (0..n).find(|&i| is_null(null_bitmap(start), i)) {
            return Err(Error::new(
                ErrorKind::NullNotAllowed,
                format!("{what} at position {} is NULL", i + 1),
            ));
        }
        let data = start
            .cast::<u8>()
            .add(if n == 0 { 0 } else { data_offset(start) });
        std::slice::from_raw_parts(data.cast::<E>(), n)
    };
    with(elements)
}

/// A new `text[]` of `n` elements, which take so many bytes; `fill` writes them, as they stand in an array of one
/// dimension without NULLs.
fn new_text_array(n: usize, bytes: usize, fill: impl FnOnce(&mut [u8])) -> NewValue {
    if n == 0 {
        // SAFETY: a new empty array.
        let empty = unsafe { pg_sys::construct_empty_array(pg_sys::TEXTOID) };
        return NewValue(pg_sys::Datum::from(empty));
    }
    let total = FIRST_ELEMENT + bytes;
    // SAFETY: palloc0 gives `total` bytes, aligned, or raises an error; they hold the header of an array of one
    // dimension and n elements, and the elements behind it.
    unsafe {
        let array: *mut pg_sys::ArrayType = pg_sys::palloc0(total).cast();
        pgrx::set_varsize_4b(array.cast(), total as i32);
        (*array).ndim = 1;
        (*array).elemtype = pg_sys::TEXTOID;
        let bounds = array.add(1).cast::<i32>();
        *bounds = n as i32;
        *bounds.add(1) = 1;
        let elements = array.cast::<u8>().add(FIRST_ELEMENT);
        fill(std::slice::from_raw_parts_mut(elements, bytes));
        NewValue(pg_sys::Datum::from(array))
    }
}

/// The header of a varlena of so many bytes, itself included.
fn varlena_header(size: usize) -> [u8; pg_sys::VARHDRSZ] {
    let mut header = 0u32;
    // SAFETY: the header of a varlena is its first four bytes.
    unsafe { pgrx::set_varsize_4b((&raw mut header).cast(), size as i32) };
    header.to_ne_bytes()
}

/// The n-grams of `text` as `text[]`, in order, repetitions included. All have one length, so the
/// array is written where it will stand.
pub fn ngram_array(text: &str, length: u8, gaps: Gaps) -> NewValue {
    let mut count = 0usize;
    for_each_ngram(
        text,
        Rules::FIRST,
        length,
        gaps,
        |_, _| count += 1,
        check_for_interrupts,
    );
    let size = pg_sys::VARHDRSZ + usize::from(length);
    let stride = size.next_multiple_of(4);
    if FIRST_ELEMENT + count * stride > MAX_ALLOC {
        Err(Error::new(
            ErrorKind::InvalidParameter,
            format!("{count} n-grams exceed the largest array"),
        )
        .detail(format!("An array holds {MAX_ALLOC} bytes at most.")))
        .or_raise()
    }
    new_text_array(count, count * stride, |to| {
        let mut elements = to.chunks_exact_mut(stride);
        let fill = |window: &text::ngram::Window, _| {
            let (header, ngram) = elements
                .next()
                .expect("counted")
                .split_at_mut(pg_sys::VARHDRSZ);
            header.copy_from_slice(&varlena_header(size));
            window.write(&mut ngram[..usize::from(length)]);
        };
        for_each_ngram(text, Rules::FIRST, length, gaps, fill, check_for_interrupts);
    })
}

// A `text[]` as a result, written element by element.

/// Most elements: the server takes an array apart into as many datums.
const MAX_ELEMENTS: usize = MAX_ALLOC / size_of::<pg_sys::Datum>();

/// The elements so far, as they stand in an array of one dimension without NULLs.
#[derive(Default)]
pub struct TextArray {
    elements: Vec<u8>,
    n: usize,
}

impl TextArray {
    /// Appends an element, which is put together of parts in the database's encoding.
    ///
    /// Errors: there is more than an array holds; out of memory.
    pub fn push(&mut self, parts: &[&[u8]]) -> Result<()> {
        let size = pg_sys::VARHDRSZ + parts.iter().map(|part| part.len()).sum::<usize>();
        let stride = size.next_multiple_of(4);
        if self.n == MAX_ELEMENTS || FIRST_ELEMENT + self.elements.len() + stride > MAX_ALLOC {
            return Err(Error::new(
                ErrorKind::LimitExceeded,
                format!("more than {} tokens exceed the largest array", self.n),
            )
            .detail(format!("An array holds {MAX_ALLOC} bytes at most.")));
        }
        self.elements
            .try_reserve(stride)
            .map_err(|_| Error::out_of_memory(self.elements.len() + stride))?;
        self.elements.extend_from_slice(&varlena_header(size));
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
        new_text_array(self.n, self.elements.len(), |to| {
            to.copy_from_slice(&self.elements)
        })
    }

    /// The array that `fill` writes.
    pub fn filled(fill: impl FnOnce(&mut TextArray) -> Result<()>) -> NewValue {
        let mut array = TextArray::default();
        fill(&mut array).or_raise();
        array.finish()
    }
}

// A `text[]` of tokens as argument.

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
        unsafe { Tokens::new((*fcinfo).args.as_slice(i + 1)[i].value) }
    }

    /// A value.
    ///
    /// Errors: more than one dimension.
    ///
    /// # Safety
    /// `datum` is an array of `text` or `varchar`, and not NULL, and lives as long as `'a`.
    pub unsafe fn new(datum: pg_sys::Datum) -> Result<Tokens<'a>> {
        // SAFETY: such an array.
        unsafe { Elements::new(datum) }.map(Tokens)
    }

    /// How many elements there are, those that are NULL among them.
    pub fn places(&self) -> usize {
        self.0.len()
    }

    /// Calls `each` with all elements, in UTF-8, those that are NULL among them.
    ///
    /// Errors: as those of [`Tokens::all`].
    pub fn all_places(&self, mut each: impl FnMut(Option<&str>) -> Result<()>) -> Result<()> {
        for element in self.0.iter() {
            check_for_interrupts();
            // SAFETY: an element of a text[], alive with the array.
            let text = element.map(|element| unsafe { Text::from_raw(element) });
            each(text.as_ref().map(Text::as_str))?;
        }
        Ok(())
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
        let n = self.0.len();
        let mut list = with_room(n)?;
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
