//! `WITH (chunks = …, tail_limit = …)`

use std::ffi::CStr;
use std::mem::offset_of;
use std::sync::OnceLock;

use pgrx::pg_sys;
use sigfile::chunk::MAX_CHUNKS;

use crate::page::SigfileIndex;
use pg::entry;

/// As the relation cache keeps them: a varlena. 0 stands for a choice by the data.
#[repr(C)]
struct StoredOptions {
    length: i32,
    chunks: i32,
    tail_limit: i32,
}

// The length of a varlena comes first.
const _: () = assert!(offset_of!(StoredOptions, chunks) == size_of::<i32>());

/// The options of an index; `None` for a choice by the data.
#[derive(Clone, Copy, Debug)]
pub struct SigfileOptions {
    /// Number of chunks that signatures are cut into.
    pub chunks: Option<u32>,
    /// New rows that are kept unsorted.
    tail_limit: Option<u32>,
}

/// The greatest `tail_limit`.
const MAX_TAIL: i32 = 100_000;

/// Name, description and greatest value of each option, and where it is kept. The least value is 0.
const OPTIONS: [(&CStr, &CStr, i32, usize); 2] = [
    (
        c"chunks",
        c"Number of chunks that signatures are cut into, 0 to choose by the data",
        MAX_CHUNKS as i32,
        offset_of!(StoredOptions, chunks),
    ),
    (
        c"tail_limit",
        c"Number of new rows that are kept unsorted, 0 to choose by their size",
        MAX_TAIL,
        offset_of!(StoredOptions, tail_limit),
    ),
];

/// What the server calls our options.
static KIND: OnceLock<pg_sys::relopt_kind::Type> = OnceLock::new();

/// Tells the server of the options; called once when the library is loaded.
pub fn define() {
    // SAFETY: the strings are constants; the options are added once a process.
    unsafe {
        let kind = pg_sys::add_reloption_kind();
        if KIND.set(kind).is_err() {
            return;
        }
        let lock = pg_sys::ShareUpdateExclusiveLock as pg_sys::LOCKMODE;
        for (name, what, most, _) in OPTIONS {
            pg_sys::add_int_reloption(kind, name.as_ptr(), what.as_ptr(), 0, 0, most, lock);
        }
    }
}

/// Bytes of new rows that are kept unsorted: a search scans them in some 3 µs.
const TAIL_BYTES: u32 = 40 * 1024;

impl SigfileOptions {
    /// The options that an index was given.
    pub fn new(index: SigfileIndex<'_>) -> SigfileOptions {
        // SAFETY: the relation is open, and a sigfile index; `amoptions` has made its options.
        let stored = unsafe {
            (*index.relation())
                .rd_options
                .cast::<StoredOptions>()
                .as_ref()
        };
        let given = |n: i32| u32::try_from(n).ok().filter(|&n| n > 0);
        SigfileOptions {
            chunks: stored.and_then(|s| given(s.chunks)),
            tail_limit: stored.and_then(|s| given(s.tail_limit)),
        }
    }

    /// New rows, of `stride` words each, from which on they are sealed.
    pub fn tail_limit(&self, stride: usize) -> u32 {
        self.tail_limit
            .unwrap_or_else(|| (TAIL_BYTES / (8 * stride as u32)).clamp(256, 1024))
    }
}

/// Parses `WITH (…)`.
///
/// # Safety
/// The server calls it as IndexAmRoutine says.
#[entry]
pub unsafe extern "C-unwind" fn amoptions(
    given: pg_sys::Datum,
    validate: bool,
) -> *mut pg_sys::bytea {
    let table = OPTIONS.map(|(name, _, _, offset)| pg_sys::relopt_parse_elt {
        optname: name.as_ptr(),
        opttype: pg_sys::relopt_type::RELOPT_TYPE_INT,
        offset: offset as i32,
        #[cfg(feature = "pg18")]
        isset_offset: 0,
    });
    // SAFETY: the server passes an array of options or NULL; the table names the fields of the struct.
    unsafe {
        pg_sys::build_reloptions(
            given,
            validate,
            *KIND.get().expect("defined when the library was loaded"),
            size_of::<StoredOptions>(),
            table.as_ptr(),
            table.len() as i32,
        )
        .cast()
    }
}
