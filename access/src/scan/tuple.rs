//! What an index-only scan returns.

use super::ScanMemory;
use crate::class::key_columns;
use pg::error::OrRaise;
use pg::tid::Tid;
use pg::values::varlena::build;
use pgrx::pg_sys;
use sigfile::{Meta, RowPage, RowShape};
use signature::bits::to_bytes;
use signature::filter::HEADER;
use signature::similarity::Measure;
use signature::sketch;

/// The row has no signature.
const NULL: u64 = 1;

/// Its signature is that of an empty set of tokens.
const WITHOUT_BITS: u64 = 2;

/// Values of rows, copied: how many a scan leaves unread is not known, so they are in no memory of the
/// server's, which would be free only when the query ends.
#[derive(Default)]
pub struct TupleValues {
    /// For each the bits, its threshold, and [`NULL`], [`WITHOUT_BITS`] or 0.
    words: Vec<u64>,
    stride: usize,
}

impl TupleValues {
    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.words.clear();
    }

    /// Copies a row of a page.
    pub fn push(&mut self, page: &RowPage<'_>, i: usize) {
        let row = page.row(i);
        self.stride = row.words.len();
        let is_without = row.popcount == page.geometry().null_popcount();
        let state = match page.geometry().measure {
            _ if !is_without => 0,
            Measure::Jaccard => NULL,
            Measure::Agreement { .. } => WITHOUT_BITS,
        };
        self.words.extend_from_slice(row.words);
        self.words.extend([row.threshold.to_bits(), state]);
    }

    /// The value as the server wants it, in the memory of the current context; NULL is a null pointer.
    pub fn value(&self, meta: &Meta, i: usize) -> pg_sys::Datum {
        let width = self.stride + 2;
        let row = &self.words[i * width..(i + 1) * width];
        let (words, rest) = row.split_at(self.stride);
        if rest[1] == NULL {
            return pg_sys::Datum::null();
        }
        let made = match RowShape::of_tag(meta.shape()) {
            RowShape::Bits(shape) => {
                let size = sketch::HEADER + usize::from(shape.n()).div_ceil(8);
                build(size, |to| {
                    sketch::write_stored(shape, rest[1] == WITHOUT_BITS, words, to);
                    Ok(())
                })
            }
            RowShape::Filter(shape) => {
                let popcount: u32 = words.iter().map(|w| w.count_ones()).sum();
                let bits = shape.m().div_ceil(8) as usize;
                let size = HEADER + bits + if meta.thresholds() { 8 } else { 0 };
                build(size, |to| {
                    to[..8].copy_from_slice(&meta.shape().to_le_bytes());
                    to[8..HEADER].copy_from_slice(&popcount.to_le_bytes());
                    to_bytes(words, &mut to[HEADER..HEADER + bits]);
                    if meta.thresholds() {
                        to[HEADER + bits..].copy_from_slice(&rest[0].to_le_bytes());
                    }
                    Ok(())
                })
            }
        };
        pg_sys::Datum::from(made.or_raise())
    }
}

/// Returns a value from an index-only scan.
///
/// # Safety
/// `scan` is an index-only scan of ours that is not ended, and `value` is of the index's type, or NULL.
pub unsafe fn set_tuple(scan: pg_sys::IndexScanDesc, value: pg_sys::Datum) {
    // SAFETY: the values are as many as the index has columns. The tuple before belongs to the scan, and the value is
    // not used any more.
    unsafe {
        if !(*scan).xs_itup.is_null() {
            pg_sys::pfree((*scan).xs_itup.cast());
            (*scan).xs_itup = std::ptr::null_mut();
        }
        // What is known of the columns before the signature is a hash: nobody asks for their values.
        let columns = key_columns((*scan).indexRelation);
        let mut values = vec![pg_sys::Datum::null(); columns];
        let mut nulls = vec![true; columns];
        (values[columns - 1], nulls[columns - 1]) = (value, value.is_null());
        // The field is read by itself, since the caller holds the state beside it.
        let context = (*(*scan).opaque.cast::<ScanMemory>()).context;
        let before = pg_sys::MemoryContextSwitchTo(context);
        (*scan).xs_itup =
            pg_sys::index_form_tuple((*scan).xs_itupdesc, values.as_mut_ptr(), nulls.as_mut_ptr());
        pg_sys::MemoryContextSwitchTo(before);
        if !value.is_null() {
            pg_sys::pfree(value.cast_mut_ptr());
        }
    }
}

// Which rows all snapshots see, so that an index-only scan need not look at the table.

/// The table's visibility map, a page of it pinned.
pub struct VisibilityMap {
    table: pg_sys::Relation,
    buffer: pg_sys::Buffer,
}

impl VisibilityMap {
    /// # Safety
    /// If the map is asked, `table` is open as long.
    pub unsafe fn new(table: pg_sys::Relation) -> VisibilityMap {
        let buffer = pg_sys::InvalidBuffer as pg_sys::Buffer;
        VisibilityMap { table, buffer }
    }

    /// Whether all snapshots see all rows of the table's page that the tid is in.
    ///
    /// To be asked while the page with the index's row is locked, which must be one that VACUUM would
    /// clean: VACUUM takes the row from the index first and sets the map afterwards. So the row is there.
    pub fn all_see(&mut self, tid: Tid) -> bool {
        let block = tid.block();
        // SAFETY: the table is open, as new() was promised; the server pins a page of the map, and lets go of the one
        // before.
        let status =
            unsafe { pg_sys::visibilitymap_get_status(self.table, block, &raw mut self.buffer) };
        u32::from(status) & pg_sys::VISIBILITYMAP_ALL_VISIBLE != 0
    }
}

impl Drop for VisibilityMap {
    fn drop(&mut self) {
        if self.buffer != pg_sys::InvalidBuffer as pg_sys::Buffer && !std::thread::panicking() {
            // SAFETY: all_see() has pinned it.
            unsafe { pg_sys::ReleaseBuffer(self.buffer) };
        }
    }
}
