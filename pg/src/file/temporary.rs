//! Temporary files, which are read from the beginning or at random.

use pgrx::pg_sys;

use crate::check_for_interrupts;
use crate::error::internal;
use crate::memory::within;

/// Bytes that are read or written between two looks for interrupts.
const AT_ONCE: usize = 1 << 16;

/// MAX_PHYSICAL_FILESIZE of the server's buffile.c: bytes of each of the files of which a large one is made.
const SEGMENT: u64 = 1 << 30;

/// Values that are written to files as they are in memory, in the byte order of the machine.
///
/// # Safety
/// A value has no bytes that are not initialised, and any bytes are a value.
pub unsafe trait Plain: Copy {
    /// What a buffer is filled with before it is read.
    const ZERO: Self;
}

// SAFETY: numbers are so.
unsafe impl Plain for u8 {
    const ZERO: u8 = 0;
}

// SAFETY: as above.
unsafe impl Plain for u64 {
    const ZERO: u64 = 0;
}

// SAFETY: numbers are so, and an array has no gaps.
unsafe impl<const N: usize> Plain for [u64; N] {
    const ZERO: [u64; N] = [0; N];
}

// SAFETY: as above.
unsafe impl<const N: usize> Plain for [u32; N] {
    const ZERO: [u32; N] = [0; N];
}

/// A temporary file that goes with the transaction, or the subtransaction, at the latest. It has a buffer of a page in
/// memory of that: the current memory context may be one that goes earlier, such as that of a row, or of a cursor that
/// is open.
pub struct TemporaryFile {
    file: *mut pg_sys::BufFile,
    /// Bytes written.
    len: u64,
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: the file has been open since construction. After an error the server closes it.
            unsafe { pg_sys::BufFileClose(self.file) };
        }
    }
}

impl TemporaryFile {
    /// An empty file, in one of the temporary tablespaces.
    pub fn new() -> TemporaryFile {
        // SAFETY: the file is used by this backend only, and closed by it or at the end of the transaction.
        let file = unsafe {
            pg_sys::PrepareTempTablespaces();
            within(pg_sys::CurTransactionContext, || {
                pg_sys::BufFileCreateTemp(false)
            })
        };
        TemporaryFile { file, len: 0 }
    }

    /// Bytes written.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Writes at the end. All is written before anything is read: reading moves the position at which is written.
    pub fn append<T: Plain>(&mut self, values: &[T]) {
        // SAFETY: plain values have no bytes that are not initialised, and bytes need no alignment.
        let bytes = unsafe {
            std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values))
        };
        for some in bytes.chunks(AT_ONCE) {
            check_for_interrupts();
            // SAFETY: pointer and length of a slice, which the server only reads.
            unsafe { pg_sys::BufFileWrite(self.file, some.as_ptr().cast_mut().cast(), some.len()) };
        }
        self.len += bytes.len() as u64;
    }

    /// The next [`TemporaryFile::read`] begins at this byte. What the buffer has is not read again.
    pub fn seek(&mut self, at: u64) {
        // Counted from the beginning of all, a place behind the first segment is never found in the buffer.
        let (segment, offset) = ((at / SEGMENT) as i32, (at % SEGMENT) as pg_sys::off_t);
        // SAFETY: the file is open; 0 is SEEK_SET.
        if unsafe { pg_sys::BufFileSeek(self.file, segment, offset, 0) } != 0 {
            internal!("could not seek in a temporary file to byte {at}");
        }
    }

    /// Reads so many values, which have been written.
    pub fn read<T: Plain>(&mut self, to: &mut [T]) {
        // SAFETY: any bytes are a plain value, and bytes need no alignment; the values are borrowed as long as the
        // bytes.
        let bytes = unsafe {
            std::slice::from_raw_parts_mut(to.as_mut_ptr().cast::<u8>(), size_of_val(to))
        };
        for some in bytes.chunks_mut(AT_ONCE) {
            check_for_interrupts();
            let len = some.len();
            // SAFETY: pointer and length of a slice that may be written.
            let got = unsafe { pg_sys::BufFileRead(self.file, some.as_mut_ptr().cast(), len) };
            if got != len {
                internal!("could not read a temporary file: read {got} of {len} bytes");
            }
        }
    }
}
