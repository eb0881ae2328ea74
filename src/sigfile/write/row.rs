//! A value to be indexed.

use bloom_ident_core::bits::to_words;
use bloom_ident_core::filter::Shape;
use bloom_ident_core::sigfile::{Geometry, Part, SignatureRow};
use pgrx::pg_sys;

use crate::pg::error::{raise, OrRaise};
use crate::pg::tid::Tid;
use crate::sigfile::class::leading;
use crate::sigfile::page::{self, SigfileIndex};
use crate::types::{Bloom, BloomQuery};

/// A value to be indexed.
pub struct IndexRow {
    /// The first eight bytes of the signature, 0 for NULL.
    pub shape: u64,
    /// The bits.
    pub words: Vec<u64>,
    pub popcount: u32,
    /// 0 where rows have none.
    pub threshold: f64,
    /// Hash of the columns before the signature, 0 without any.
    pub key: u32,
    pub tid: Tid,
}

impl IndexRow {
    /// The values of the index for a row, as the server passes them. `thresholds`: the last of them are queries.
    ///
    /// # Safety
    /// `values` and `nulls` are one for each column of the index, of the columns' types, and `tid` points to a tid.
    pub unsafe fn of(
        index: SigfileIndex<'_>,
        thresholds: bool,
        values: *const pg_sys::Datum,
        nulls: *const bool,
        tid: pg_sys::ItemPointer,
    ) -> IndexRow {
        // SAFETY: the caller passes a tid, and values of the types that the classes are for.
        unsafe {
            let tid = Tid::from(*tid);
            let key = leading::key(index, values, nulls);
            let last = leading::leading_columns(index);
            let (value, is_null) = (*values.add(last), *nulls.add(last));
            if is_null {
                let geometry = Geometry::new(page::PAGE_WORDS, 1, false).or_raise();
                return IndexRow {
                    shape: 0,
                    words: vec![0; geometry.stride],
                    popcount: geometry.null_popcount(),
                    threshold: 0.0,
                    key,
                    tid,
                };
            }
            let mut words = Vec::new();
            let mut fill = |view: bloom_ident_core::filter::View<'_>| {
                let stride = view.shape().m().div_ceil(64) as usize;
                to_words(view.bits(), stride, &mut words);
                (view.tag(), words.iter().map(|w| w.count_ones()).sum())
            };
            let ((shape, popcount), threshold) = if thresholds {
                let query = BloomQuery::from_raw(value);
                (fill(query.view().signature), query.view().threshold)
            } else {
                let signature = Bloom::from_raw(value);
                (fill(signature.view()), 0.0)
            };
            IndexRow {
                shape,
                words,
                popcount,
                threshold,
                key,
                tid,
            }
        }
    }

    /// Which rows it belongs to.
    pub fn part(&self) -> Part {
        if self.shape == 0 {
            Part::Nulls
        } else {
            Part::Signatures
        }
    }

    /// The row as it stands on a page.
    pub fn row(&self) -> SignatureRow<'_> {
        SignatureRow {
            words: &self.words,
            popcount: self.popcount,
            threshold: self.threshold,
            key: self.key,
            tid: self.tid.stored(),
        }
    }
}

/// Compares the shape with that of the index, 0 if it has none yet.
///
/// Errors: a signature of another shape.
pub fn check_shape(index: SigfileIndex<'_>, expected: u64, row: &IndexRow) {
    if row.part() == Part::Signatures && expected != 0 && expected != row.shape {
        let (new, old) = (Shape::of_tag(row.shape), Shape::of_tag(expected));
        raise(&Shape::mismatch(new, old).hint(format!(
            "Use a column type such as bloom{old} to keep other shapes out of the table. If index \"{}\" has deleted rows only, run VACUUM.",
            index.name()
        )));
    }
}
