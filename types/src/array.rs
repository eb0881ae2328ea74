//! One-dimensional arrays: of varlenas without a copy, of float8, and of n-grams as a result.

use std::ffi::CStr;

use base::{Error, ErrorKind, Result};
use pgrx::pg_sys;
use text::ngram::{for_each_ngram, Gaps};

use pg::check_for_interrupts;
use pg::error::OrRaise;
use pg::values::varlena::{NewValue, Varlena};

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
        0 => maxalign(size_of::<pg_sys::ArrayType>() + 2 * size_of::<i32>()),
        offset => offset as usize,
    }
}

pub(super) fn maxalign(n: usize) -> usize {
    n.next_multiple_of(pg_sys::MAXIMUM_ALIGNOF as usize)
}

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
    pub unsafe fn of(datum: pg_sys::Datum) -> Result<Elements<'a>> {
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

/// Calls `with` with the elements of a `float8[]`.
///
/// Errors: more than one dimension; a NULL element, called `what` in the message.
///
/// # Safety
/// `datum` is a non-null `float8[]`.
pub unsafe fn float8_array<T>(
    datum: pg_sys::Datum,
    what: &str,
    with: impl FnOnce(&[f64]) -> Result<T>,
) -> Result<T> {
    // SAFETY: the datum is a non-null `float8[]`.
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
        std::slice::from_raw_parts(data.cast::<f64>(), n)
    };
    with(elements)
}

/// The n-grams of `text` as `text[]`, in order, repetitions included. All have one length, so the
/// array is written where it will stand.
pub fn ngram_array(text: &str, length: u8, gaps: Gaps) -> NewValue {
    let mut count = 0usize;
    for_each_ngram(text, length, gaps, |_, _| count += 1, check_for_interrupts);
    if count == 0 {
        // SAFETY: a new empty array.
        let empty = unsafe { pg_sys::construct_empty_array(pg_sys::TEXTOID) };
        return NewValue(pg_sys::Datum::from(empty));
    }
    let size = pg_sys::VARHDRSZ + usize::from(length);
    let stride = size.next_multiple_of(4);
    let start = maxalign(size_of::<pg_sys::ArrayType>() + 2 * size_of::<i32>());
    let total = start + count * stride;
    if total > MAX_ALLOC {
        Err(Error::new(
            ErrorKind::InvalidParameter,
            format!("{count} n-grams exceed the largest array"),
        )
        .detail(format!("An array holds {} bytes at most.", MAX_ALLOC)))
        .or_raise()
    }
    // SAFETY: palloc0 gives `total` bytes, aligned; the array has one dimension, no NULLs, and
    // `count` elements, each at a multiple of its stride.
    unsafe {
        let array: *mut pg_sys::ArrayType = pg_sys::palloc0(total).cast();
        pgrx::set_varsize_4b(array.cast(), total as i32);
        (*array).ndim = 1;
        (*array).elemtype = pg_sys::TEXTOID;
        let bounds = array.add(1).cast::<i32>();
        *bounds = count as i32;
        *bounds.add(1) = 1;
        let mut at = array.cast::<u8>().add(start);
        let fill = |window: &text::ngram::Window, _| {
            pgrx::set_varsize_4b(at.cast(), size as i32);
            window.write(std::slice::from_raw_parts_mut(
                at.add(pg_sys::VARHDRSZ),
                usize::from(length),
            ));
            at = at.add(stride);
        };
        for_each_ngram(text, length, gaps, fill, check_for_interrupts);
        NewValue(pg_sys::Datum::from(array))
    }
}
