//! A value to be indexed.

use pgrx::pg_sys;
use sigfile::{Geometry, Part, RowShape, SignatureRow};

use crate::class::{leading, mismatch, SignatureType};
use crate::page::{self, SigfileIndex};
use pg::error::{raise, OrRaise};
use pg::tid::Tid;

/// A value to be indexed.
pub struct IndexRow {
    /// The tag of the signature's shape, 0 for NULL.
    pub shape: u64,
    /// The bits.
    pub words: Vec<u64>,
    pub popcount: u32,
    /// As it is searched for; 0 where rows have none.
    pub threshold: f64,
    /// Hash of the columns before the signature, 0 without any.
    pub key: u32,
    pub tid: Tid,
}

impl IndexRow {
    /// The values of the index for a row, as the server passes them; `signatures` are of this type. `thresholds`: the
    /// last of them are queries.
    ///
    /// # Safety
    /// `values` and `nulls` are one for each column of the index, of the columns' types, and `tid` points to a tid.
    pub unsafe fn of(
        index: SigfileIndex<'_>,
        (signatures, thresholds): (SignatureType, bool),
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
            let (signature, threshold) = match thresholds {
                true => signatures.query(value),
                false => (signatures.signature(value), 0.0),
            };
            let measure = RowShape::of_tag(signature.tag).measure();
            IndexRow {
                shape: signature.tag,
                words: signature.words,
                popcount: signature.popcount,
                threshold: measure.asked(threshold),
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
        let column = RowShape::of_tag(expected).column_type();
        raise(&mismatch(row.shape, expected).hint(format!(
            "Use a column type such as {column} to keep other shapes out of the table. If index \"{}\" has deleted rows only, run VACUUM.",
            index.name()
        )));
    }
}
