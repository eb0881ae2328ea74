//! Variable-length values. One that the server has in plain form is read where it is, without a copy.

use std::marker::PhantomData;

use base::Error;
use pgrx::{pg_sys, varatt_is_1b, varatt_is_1b_e, varatt_is_4b_u, varlena_to_byte_slice};

/// The payload of a varlena. It borrows a value that is stored plain, and owns the detoasted copy of another one.
pub struct Varlena<'a> {
    plain: *mut pg_sys::varlena,
    copied: bool,
    of: PhantomData<&'a [u8]>,
}

impl<'a> Varlena<'a> {
    /// # Safety
    /// `datum` is a valid varlena that lives as long as `'a`.
    #[inline]
    pub unsafe fn new(datum: pg_sys::Datum) -> Varlena<'a> {
        let given: *mut pg_sys::varlena = datum.cast_mut_ptr();
        // Most values are plain; this saves them the call, and the jump buffer around it.
        // SAFETY: a valid varlena has a header.
        let plain = if unsafe { is_plain(given) } {
            given
        } else {
            // SAFETY: the value is a valid one, so that its header says where it is.
            unsafe { pg_sys::pg_detoast_datum_packed(given) }
        };
        Varlena {
            plain,
            copied: plain != given,
            of: PhantomData,
        }
    }

    /// The value aligned and with a four-byte header, as arrays need it.
    ///
    /// # Safety
    /// As for [`Varlena::new`].
    pub unsafe fn aligned(datum: pg_sys::Datum) -> Varlena<'a> {
        let given: *mut pg_sys::varlena = datum.cast_mut_ptr();
        // SAFETY: a valid varlena has a header.
        let plain = if unsafe { varatt_is_4b_u(given) } {
            given
        } else {
            // SAFETY: the value is a valid one, so that its header says where it is.
            unsafe { pg_sys::pg_detoast_datum(given) }
        };
        Varlena {
            plain,
            copied: plain != given,
            of: PhantomData,
        }
    }

    /// The payload, header excluded.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the value has been plain since construction, and lives as long as `self`.
        unsafe { varlena_to_byte_slice(self.plain) }
    }

    /// The value with its header.
    pub fn pointer(&self) -> *mut pg_sys::varlena {
        self.plain
    }

    /// The value, which is not freed with `self`: it stays as long as its memory context.
    pub fn keep(mut self) -> *mut pg_sys::varlena {
        self.copied = false;
        self.plain
    }
}

impl Drop for Varlena<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.copied {
            // SAFETY: detoasting has allocated the copy, and nobody else has it.
            unsafe { pg_sys::pfree(self.plain.cast()) };
        }
    }
}

/// Whether a value is neither compressed nor stored out of line.
///
/// # Safety
/// `value` points to a varlena.
#[inline]
pub unsafe fn is_plain(value: *const pg_sys::varlena) -> bool {
    // SAFETY: the value has a header, and nothing else of it is read.
    unsafe { varatt_is_4b_u(value) || (varatt_is_1b(value) && !varatt_is_1b_e(value)) }
}

/// The payload of an aggregate's state, to be changed where it is. `None` outside of an aggregate, and for a state that
/// is not plain.
///
/// # Safety
/// `fcinfo` is that of this call, and `state` its first argument. The slice is used as long as the call, and no other
/// refers to it.
pub unsafe fn aggregate_state<'a>(
    fcinfo: pg_sys::FunctionCallInfo,
    state: pg_sys::Datum,
) -> Option<&'a mut [u8]> {
    let plain: *mut pg_sys::varlena = state.cast_mut_ptr();
    // SAFETY: in an aggregate the state belongs to it, and may be written where it is stored plain. It never overlaps
    // another argument.
    unsafe {
        let in_aggregate = pg_sys::AggCheckCallContext(fcinfo, std::ptr::null_mut()) != 0;
        (in_aggregate && is_plain(plain)).then(|| {
            let at = pgrx::vardata_any(plain).cast_mut().cast::<u8>();
            std::slice::from_raw_parts_mut(at, pgrx::varsize_any_exhdr(plain))
        })
    }
}

/// A value as it is stored.
pub enum StoredValue<'a> {
    /// With its header, compressed or not.
    Here(&'a [u8]),
    /// Out of line: what points to it.
    Elsewhere([u8; StoredValue::POINTER]),
    /// In memory, in a form of its own.
    Otherwise,
}

impl StoredValue<'_> {
    /// Bytes of what points to a value out of line: its lengths, its number, and the table that it is in.
    pub const POINTER: usize = size_of::<pg_sys::varatt_external>();
}

/// # Safety
/// `datum` is a valid varlena that lives as long as `'a`.
pub unsafe fn stored_value<'a>(datum: pg_sys::Datum) -> StoredValue<'a> {
    let value: *const pg_sys::varlena = datum.cast_mut_ptr();
    // SAFETY: the header says how many bytes there are. Behind the one byte of a value that is not here is one that says
    // where it is.
    unsafe {
        let bytes: *const u8 = value.cast();
        if !varatt_is_1b_e(value) {
            return StoredValue::Here(std::slice::from_raw_parts(bytes, pgrx::varsize_any(value)));
        }
        match u32::from(*bytes.add(1)) {
            pg_sys::vartag_external::VARTAG_ONDISK => {
                StoredValue::Elsewhere(bytes.add(2).cast::<[u8; _]>().read_unaligned())
            }
            _ => StoredValue::Otherwise,
        }
    }
}

/// Whether two values have the same bytes.
///
/// # Safety
/// Both are valid varlenas.
unsafe fn is_same_varlena(a: pg_sys::Datum, b: pg_sys::Datum) -> bool {
    // SAFETY: a varlena has as many bytes as its header says, also one that is stored elsewhere.
    unsafe {
        let stored = |datum: pg_sys::Datum| {
            let at: *const u8 = datum.cast_mut_ptr();
            std::slice::from_raw_parts(at, pgrx::varsize_any(at.cast()))
        };
        // An UPDATE that does not name the column leaves a value where it is.
        stored(a) == stored(b) || Varlena::new(a).bytes() == Varlena::new(b).bytes()
    }
}

/// Whether two values of a type that is passed so have the same bytes.
///
/// # Safety
/// Both are valid values of such a type.
pub unsafe fn is_same_value(
    a: pg_sys::Datum,
    b: pg_sys::Datum,
    by_value: bool,
    length: i16,
) -> bool {
    // SAFETY: the caller's.
    unsafe {
        match length {
            -1 => is_same_varlena(a, b),
            _ => crate::ffi::datum_image_eq(a, b, by_value, length.into()),
        }
    }
}

/// The payload of a value that is stored plain, as elements of arrays are.
///
/// # Safety
/// `datum` is such a value, and lives as long as `'a`.
pub unsafe fn varlena_bytes<'a>(datum: pg_sys::Datum) -> &'a [u8] {
    // SAFETY: that is what the caller says.
    unsafe { varlena_to_byte_slice(datum.cast_mut_ptr()) }
}

/// A new varlena of `payload` bytes, which `fill` writes. If it fails, the memory is freed.
///
/// Errors: those of `fill`.
pub fn build(
    payload: usize,
    fill: impl FnOnce(&mut [u8]) -> Result<(), Error>,
) -> Result<*mut pg_sys::varlena, Error> {
    let size = payload + pg_sys::VARHDRSZ;
    // SAFETY: palloc gives `size` bytes or raises an error (above 1 GB, too); all of them are
    // written before anyone sees them.
    unsafe {
        let value: *mut pg_sys::varlena = pg_sys::palloc0(size).cast();
        pgrx::set_varsize_4b(value, size as i32);
        let data = value.cast::<u8>().add(pg_sys::VARHDRSZ);
        match fill(std::slice::from_raw_parts_mut(data, payload)) {
            Ok(()) => Ok(value),
            Err(e) => {
                pg_sys::pfree(value.cast());
                Err(e)
            }
        }
    }
}

/// A result that is already a datum of the declared type.
pub struct NewValue(pub pg_sys::Datum);

crate::values::stands_for!(NewValue, "any");

// SAFETY: a function makes one of a datum of the result type that it is declared with.
unsafe impl pgrx::callconv::BoxRet for NewValue {
    unsafe fn box_into<'fcx>(
        self,
        fcinfo: &mut pgrx::callconv::FcInfo<'fcx>,
    ) -> pgrx::datum::Datum<'fcx> {
        // SAFETY: the datum is one of the declared result type, in memory that the server frees.
        unsafe { fcinfo.return_raw_datum(self.0) }
    }
}

/// Bytes that a value of so many bytes takes in a row of a table, with its length: that is one byte if it is short.
pub fn stored(value: usize) -> usize {
    const SHORT_MAX: usize = 0x7f;
    if value < SHORT_MAX {
        value + 1
    } else {
        value + pg_sys::VARHDRSZ
    }
}
