//! The signatures of an index: values of type `bloom` or `minhash_bits`, and what is searched for, a query with a
//! threshold of either.

use base::Error;
use pgrx::pg_sys;
use sigfile::{Geometry, Meta, Query, RowBits, RowShape};

use super::column::key_columns;
use crate::page::SigfileIndex;
use types::objects::{is_bits, is_bits_query};
use types::{Bloom, BloomQuery, MinhashBits, MinhashQuery};

/// Which type the signatures have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureType {
    /// `bloom`
    Filter,
    /// `minhash_bits`
    Bits,
}

/// A signature, as the index has it.
pub struct RowSignature {
    /// That of [`RowShape`].
    pub tag: u64,
    pub words: Vec<u64>,
    /// One more than there are bits for the empty set of tokens.
    pub popcount: u32,
}

impl SignatureType {
    /// That of the operator class.
    pub fn of(index: SigfileIndex<'_>) -> SignatureType {
        // SAFETY: the relation is open, and the types of its key columns are kept with it.
        let input = unsafe {
            let last = key_columns(index.relation()) - 1;
            *(*index.relation()).rd_opcintype.add(last)
        };
        match is_bits(input) || is_bits_query(input) {
            true => SignatureType::Bits,
            false => SignatureType::Filter,
        }
    }

    /// The name of the type.
    pub fn name(self) -> &'static str {
        match self {
            SignatureType::Filter => "bloom",
            SignatureType::Bits => "minhash_bits",
        }
    }

    /// That of values of one of the two types.
    pub fn of_type(of_type: pg_sys::Oid) -> SignatureType {
        match is_bits(of_type) {
            true => SignatureType::Bits,
            false => SignatureType::Filter,
        }
    }

    /// That of the rows of an index, which it has.
    pub fn of_rows(meta: &Meta) -> SignatureType {
        match RowShape::of_tag(meta.shape()) {
            RowShape::Filter(_) => SignatureType::Filter,
            RowShape::Bits(_) => SignatureType::Bits,
        }
    }

    /// A value of the type.
    ///
    /// # Safety
    /// `value` is one, and not NULL.
    pub unsafe fn signature(self, value: pg_sys::Datum) -> RowSignature {
        // SAFETY: the caller knows the type.
        unsafe {
            match self {
                SignatureType::Filter => RowSignature::of(&Bloom::from_raw(value).view().into()),
                SignatureType::Bits => {
                    RowSignature::of(&MinhashBits::from_raw(value).view().into())
                }
            }
        }
    }

    /// A query of the type, with the threshold that it has for users.
    ///
    /// # Safety
    /// `value` is a `bloom_query`, or a `minhash_query`, and not NULL.
    pub unsafe fn query(self, value: pg_sys::Datum) -> (RowSignature, f64) {
        // SAFETY: the caller knows the type.
        unsafe {
            match self {
                SignatureType::Filter => {
                    let query = BloomQuery::from_raw(value);
                    let query = query.view();
                    (RowSignature::of(&query.signature.into()), query.threshold)
                }
                SignatureType::Bits => {
                    let query = MinhashQuery::from_raw(value);
                    let query = query.view();
                    (RowSignature::of(&query.sketch.into()), query.threshold)
                }
            }
        }
    }
}

impl RowSignature {
    /// Those of a value.
    pub fn of(value: &RowBits<'_>) -> RowSignature {
        let mut words = Vec::new();
        value.append_words(&mut words);
        RowSignature {
            tag: value.tag,
            words,
            popcount: value.popcount,
        }
    }

    /// A search for what is similar. `threshold` is that of users.
    pub fn query(&self, geometry: &Geometry, threshold: f64) -> Query {
        let asked = geometry.measure.asked(threshold);
        match self.popcount > geometry.bits {
            true => Query::without_bits(geometry, asked),
            false => Query::new(geometry, &self.words, asked),
        }
    }
}

/// The error of signatures of two shapes in one index.
pub fn mismatch(new: u64, old: u64) -> Error {
    RowShape::mismatch(new, old)
}
