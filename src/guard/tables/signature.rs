//! Signatures of either type, as a guard compares them.

use base::Result;
use pgrx::pg_sys;
use sigfile::RowShape;
use signature::bits::to_words;
use signature::similarity::{Measure, Popcounts};

use access::SignatureType;
use types::{Bloom, MinhashBits, NewMinhashQuery, NewQuery};

/// A signature of a row that is checked, or of one that it is compared with.
pub enum ComparedSignature<'a> {
    /// `bloom`
    Filter(Bloom<'a>),
    /// `minhash_bits`
    Bits(MinhashBits<'a>),
}

impl<'a> ComparedSignature<'a> {
    /// # Safety
    /// `value` is of this type, not NULL, and lives as long as `'a`.
    #[inline]
    pub unsafe fn of(of_type: SignatureType, value: pg_sys::Datum) -> ComparedSignature<'a> {
        // SAFETY: the caller knows the type.
        unsafe {
            match of_type {
                SignatureType::Filter => ComparedSignature::Filter(Bloom::from_raw(value)),
                SignatureType::Bits => ComparedSignature::Bits(MinhashBits::from_raw(value)),
            }
        }
    }

    /// Another one of the same type.
    ///
    /// # Safety
    /// `value` is of the type of this one, not NULL, and lives as long as `'b`.
    #[inline]
    pub unsafe fn other<'b>(&self, value: pg_sys::Datum) -> ComparedSignature<'b> {
        // SAFETY: the caller says so.
        unsafe { ComparedSignature::of(self.of_type(), value) }
    }

    fn of_type(&self) -> SignatureType {
        match self {
            ComparedSignature::Filter(_) => SignatureType::Filter,
            ComparedSignature::Bits(_) => SignatureType::Bits,
        }
    }

    /// Whether it is similar to nothing, not even to itself.
    #[inline]
    pub fn is_empty(&self) -> bool {
        match self {
            ComparedSignature::Filter(bloom) => bloom.view().popcount() == 0,
            ComparedSignature::Bits(bits) => bits.view().sketch().is_empty(),
        }
    }

    /// Whether it is similar to others whatever was signed. Sampled bits never are: they say how alike sets are, whatever the sets' size.
    #[inline]
    pub fn is_full(&self) -> bool {
        match self {
            ComparedSignature::Filter(bloom) => bloom.view().is_full(),
            ComparedSignature::Bits(_) => false,
        }
    }

    /// The similarity as users know it: in [0,1], and the estimate of sampled bits in [-1,1].
    ///
    /// Errors: different shapes.
    #[inline]
    pub fn similarity(&self, other: &ComparedSignature<'_>) -> Result<f64> {
        match (self, other) {
            (ComparedSignature::Filter(a), ComparedSignature::Filter(b)) => {
                Popcounts::of(&a.view(), &b.view()).map(Popcounts::jaccard)
            }
            (ComparedSignature::Bits(a), ComparedSignature::Bits(b)) => {
                a.view().similarity(&b.view())
            }
            _ => unreachable!("a guard compares signatures of one type"),
        }
    }

    /// How an index compares them.
    pub fn measure(&self) -> Measure {
        match self {
            ComparedSignature::Filter(_) => Measure::Jaccard,
            ComparedSignature::Bits(bits) => Measure::Agreement {
                bits: bits.view().sketch().shape().n().into(),
            },
        }
    }

    /// A value of type `bloom_query` or `minhash_query`, in the current memory context. A threshold below what there is asks for all rows.
    pub fn query(&self, threshold: f64) -> pg_sys::Datum {
        match self {
            ComparedSignature::Filter(bloom) => NewQuery::new(&bloom.view(), threshold).datum(),
            ComparedSignature::Bits(bits) => {
                NewMinhashQuery::at_least(&bits.view(), threshold).datum()
            }
        }
    }

    /// Of one that is not empty: the words of its row in an index, of which there are `stride`, in place of those in `words`. Returns the tag of
    /// its shape, and its popcount.
    pub fn to_words(&self, stride: usize, words: &mut Vec<u64>) -> (u64, u32) {
        words.clear();
        match self {
            ComparedSignature::Filter(bloom) => {
                let view = bloom.view();
                to_words(view.bits(), stride, words);
                (view.tag(), view.popcount())
            }
            ComparedSignature::Bits(bits) => {
                let view = bits.view();
                to_words(view.sketch().payload(), stride, words);
                let popcount = words.iter().map(|word| word.count_ones()).sum();
                (RowShape::tag_of_bits(view.sketch().shape()), popcount)
            }
        }
    }

    /// The value with its header, as long as this lives.
    pub fn pointer(&self) -> *mut pg_sys::varlena {
        match self {
            ComparedSignature::Filter(bloom) => bloom.pointer(),
            ComparedSignature::Bits(bits) => bits.pointer(),
        }
    }

    /// As they are stored, without the header of a varlena.
    pub fn bytes(&self) -> &[u8] {
        match self {
            ComparedSignature::Filter(bloom) => bloom.view().bytes(),
            ComparedSignature::Bits(bits) => bits.view().sketch().bytes(),
        }
    }
}
