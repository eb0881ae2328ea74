//! A value to be indexed.

use bloom_ident_core::bits::to_words;
use bloom_ident_core::filter::Shape;
use bloom_ident_core::sigfile::{Geometry, SignatureRow};
use pgrx::pg_sys;

use crate::pg::error::{raise, OrRaise};
use crate::sigfile::meta::Part;
use crate::sigfile::page::{self, SigfileIndex};
use crate::types::{Bloom, BloomQuery};

/// A value to be indexed.
pub struct IndexRow {
    /// The first eight bytes of the signature, 0 for NULL.
    pub shape: u64,
    pub words: Vec<u64>,
    pub count: u32,
    pub threshold: f64,
    pub place: u64,
}

/// Block · 2^16 + offset.
///
/// SAFETY: `tid` is valid.
pub unsafe fn place(tid: pg_sys::ItemPointer) -> u64 {
    // SAFETY: as promised by the caller.
    let tid = unsafe { &*tid };
    let block = u64::from(tid.ip_blkid.bi_hi) << 16 | u64::from(tid.ip_blkid.bi_lo);
    block << 16 | u64::from(tid.ip_posid)
}

impl IndexRow {
    /// SAFETY: `value` is of the index's type, and `tid` valid.
    pub unsafe fn of(
        thresholds: bool,
        value: pg_sys::Datum,
        is_null: bool,
        tid: pg_sys::ItemPointer,
    ) -> IndexRow {
        // SAFETY: as promised by the caller.
        unsafe {
            let place = place(tid);
            if is_null {
                let geometry = Geometry::new(page::PAGE_WORDS, 1, false).or_raise();
                return IndexRow {
                    shape: 0,
                    words: vec![0; geometry.stride],
                    count: geometry.null_popcount(),
                    threshold: 0.0,
                    place,
                };
            }
            let mut words = Vec::new();
            let mut fill = |view: bloom_ident_core::filter::View<'_>| {
                let stride = view.shape().m().div_ceil(64) as usize;
                to_words(view.bits(), stride, &mut words);
                (view.tag(), words.iter().map(|w| w.count_ones()).sum())
            };
            let ((shape, count), threshold) = if thresholds {
                let query = BloomQuery::from_raw(value);
                (fill(query.view().signature), query.view().threshold)
            } else {
                let signature = Bloom::from_raw(value);
                (fill(signature.view()), 0.0)
            };
            IndexRow {
                shape,
                words,
                count,
                threshold,
                place,
            }
        }
    }

    pub fn part(&self) -> Part {
        if self.shape == 0 {
            Part::Nulls
        } else {
            Part::Signatures
        }
    }

    pub fn row(&self) -> SignatureRow<'_> {
        SignatureRow {
            words: &self.words,
            popcount: self.count,
            threshold: self.threshold,
            tid: self.place,
        }
    }
}

/// Errors: a signature of another shape than those in the index.
pub fn check_shape(index: SigfileIndex, expected: u64, row: &IndexRow) {
    if row.part() == Part::Signatures && expected != 0 && expected != row.shape {
        let (new, old) = (Shape::of_tag(row.shape), Shape::of_tag(expected));
        raise(&Shape::mismatch(new, old).hint(format!(
            "Use a column type such as bloom{old} to keep other shapes out of the table. If index \"{}\" has deleted rows only, run VACUUM.",
            index.name()
        )));
    }
}
