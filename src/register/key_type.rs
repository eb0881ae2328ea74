//! The type of a register's keys: its values, compared, copied and packed as bytes.

use pgrx::pg_sys;
use pgrx::PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED;

use crate::pairs::records::RecordColumn;
use pg::error::{raise, sql_error};
use pg::message::words;
use pg::values::varlena::{is_same_value, varlena_bytes};
use pg::{catalog, ffi};

/// How values of a type are passed.
#[derive(Clone, Copy)]
pub struct KeyType {
    pub oid: pg_sys::Oid,
    pub by_value: bool,
    length: i16,
    align: std::ffi::c_char,
}

impl KeyType {
    /// Of a type that exists.
    pub fn new(oid: pg_sys::Oid) -> KeyType {
        let (mut length, mut by_value, mut align) = (0, false, 0);
        // SAFETY: a catalog look-up of a type that exists.
        unsafe { pg_sys::get_typlenbyvalalign(oid, &mut length, &mut by_value, &mut align) };
        KeyType {
            oid,
            by_value,
            length,
            align,
        }
    }

    /// Whether two values have the same bytes.
    ///
    /// # Safety
    /// Both are of this type.
    pub unsafe fn is_same(self, a: pg_sys::Datum, b: pg_sys::Datum) -> bool {
        // SAFETY: the caller's.
        unsafe { is_same_value(a, b, self.by_value, self.length) }
    }

    /// A copy in the current memory context, in one piece.
    ///
    /// # Safety
    /// The value is of this type.
    pub unsafe fn copy(self, value: pg_sys::Datum) -> pg_sys::Datum {
        // SAFETY: the caller's.
        unsafe {
            match self.length {
                -1 => pg_sys::Datum::from(pg_sys::pg_detoast_datum_copy(value.cast_mut_ptr())),
                _ => ffi::datumCopy(value, self.by_value, self.length.into()),
            }
        }
    }

    /// The bytes of a value that [`KeyType::copy`] has given: those of equal keys are equal.
    ///
    /// # Safety
    /// As said, and the copy lives as long as the result.
    pub unsafe fn bytes(self, copy: &pg_sys::Datum) -> &[u8] {
        // SAFETY: the caller's. A value of fixed length has as many bytes as its type.
        unsafe {
            match self.length {
                -1 => varlena_bytes(*copy),
                length if !self.by_value => {
                    std::slice::from_raw_parts(copy.cast_mut_ptr::<u8>(), length as usize)
                }
                _ => std::slice::from_raw_parts((&raw const *copy).cast(), size_of_val(copy)),
            }
        }
    }

    /// A value in bytes, of which [`KeyType::unpack`] makes it again.
    ///
    /// # Safety
    /// The value is of this type.
    pub unsafe fn packed(self, value: pg_sys::Datum) -> Vec<u8> {
        // SAFETY: the caller's. A copy in one piece has a header that says how long it is.
        unsafe {
            match self.length {
                -1 => {
                    let copy = self.copy(value);
                    let at: *const u8 = copy.cast_mut_ptr();
                    let bytes = std::slice::from_raw_parts(at, pgrx::varsize_any(at.cast()));
                    let bytes = bytes.to_vec();
                    pg_sys::pfree(copy.cast_mut_ptr());
                    bytes
                }
                _ => self.bytes(&value).to_vec(),
            }
        }
    }

    /// The value that was packed; it is in `memory` as long as that is not changed, unless it is passed by value.
    ///
    /// # Safety
    /// The bytes come from [`KeyType::packed`] of this type.
    pub unsafe fn unpack(self, packed: &[u8], memory: &mut Vec<u64>) -> pg_sys::Datum {
        if self.by_value {
            let word = packed.first_chunk().copied().unwrap_or_default();
            return pg_sys::Datum::from(usize::from_ne_bytes(word));
        }
        memory.clear();
        memory.resize(packed.len().div_ceil(8).max(1), 0);
        // SAFETY: the memory is as long as the bytes at least.
        unsafe {
            let at: *mut u8 = memory.as_mut_ptr().cast();
            std::ptr::copy_nonoverlapping(packed.as_ptr(), at, packed.len());
            pg_sys::Datum::from(at)
        }
    }

    /// An array of values, as its type and value.
    ///
    /// # Safety
    /// The values are of this type.
    pub unsafe fn array(self, values: &mut [pg_sys::Datum]) -> (pg_sys::Oid, pg_sys::Datum) {
        // SAFETY: the caller's; as many values as the number says. They are copied into the current memory context.
        unsafe {
            let (datums, n) = (values.as_mut_ptr(), values.len() as i32);
            let (length, by_value) = (self.length.into(), self.by_value);
            let array = pg_sys::construct_array(datums, n, self.oid, length, by_value, self.align);
            (pg_sys::get_array_type(self.oid), pg_sys::Datum::from(array))
        }
    }
}

/// Errors: values of the key that are equal may differ in their bytes, by which a register knows its records.
pub fn check_identity(table: pg_sys::Oid, key: &RecordColumn) {
    const BY_BYTES: [pg_sys::Oid; 15] = [
        pg_sys::BOOLOID,
        pg_sys::BYTEAOID,
        pg_sys::CHAROID,
        pg_sys::NAMEOID,
        pg_sys::INT8OID,
        pg_sys::INT2OID,
        pg_sys::INT4OID,
        pg_sys::TEXTOID,
        pg_sys::OIDOID,
        pg_sys::VARCHAROID,
        pg_sys::DATEOID,
        pg_sys::TIMEOID,
        pg_sys::TIMESTAMPOID,
        pg_sys::TIMESTAMPTZOID,
        pg_sys::UUIDOID,
    ];
    // Those that have a length, or digits, which are always the same.
    const BY_MODIFIER: [pg_sys::Oid; 2] = [pg_sys::BPCHAROID, pg_sys::NUMERICOID];
    let number = catalog::column(table, &key.name).unwrap_or_default();
    let (base, modifier) = catalog::base_type(table, number);
    let is_of_type = BY_BYTES.contains(&base) || (BY_MODIFIER.contains(&base) && modifier >= 0);
    let is_of_bytes =
        key.collation == pg_sys::InvalidOid || catalog::is_deterministic(key.collation);
    if is_of_type && is_of_bytes {
        return;
    }
    let of_type = catalog::type_name(key.type_oid);
    let what = match is_of_type {
        true => words!("has a collation that is not deterministic"),
        false => words!("is of type {of_type}"),
    };
    raise(
        &sql_error(
            ERRCODE_FEATURE_NOT_SUPPORTED,
            words!("the key \"{key.name}\" of a register {what}"),
        )
        .detail("Values that are equal could be written in several ways, and a register knows records by what is written.")
        .hint("Take a column of type bigint, uuid or text as the key, or of numeric(20, 0)."),
    );
}
