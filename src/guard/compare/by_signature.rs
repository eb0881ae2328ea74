//! Rows are compared by their signatures, of either type.

use base::Result;
use pgrx::pg_sys;
use sigfile::RowShape;
use signature::bits::to_words;
use signature::similarity::{Measure, Popcounts};

use super::{Change, Comparability, Comparator, ComparedRow, PreparedRow};
use crate::guard::options::GuardOptions;
use access::SignatureType;
use pg::error::OrRaise;
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
    pub unsafe fn new(of_type: SignatureType, value: pg_sys::Datum) -> ComparedSignature<'a> {
        // SAFETY: the caller knows the type.
        unsafe {
            match of_type {
                SignatureType::Filter => ComparedSignature::Filter(Bloom::from_raw(value)),
                SignatureType::Bits => ComparedSignature::Bits(MinhashBits::from_raw(value)),
            }
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

    /// Whether it is similar to others whatever was signed. Sampled bits never are: they say how alike sets are,
    /// whatever the sets' size.
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
                Popcounts::new(&a.view(), &b.view()).map(Popcounts::jaccard)
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

    /// A value of type `bloom_query` or `minhash_query`, in the current memory context. A threshold below what there is
    /// asks for all rows.
    pub fn query(&self, threshold: f64) -> pg_sys::Datum {
        match self {
            ComparedSignature::Filter(bloom) => NewQuery::new(&bloom.view(), threshold).datum(),
            ComparedSignature::Bits(b) => NewMinhashQuery::at_least(&b.view(), threshold).datum(),
        }
    }

    /// Of one that is not empty: the words of its row in an index, of which there are `stride`, in place of those in
    /// `words`. Returns the tag of its shape, and its popcount.
    pub fn to_words(&self, stride: usize, words: &mut Vec<u64>) -> (u128, u32) {
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
}

/// Rows are as similar as their signatures.
#[derive(Clone, Copy)]
pub struct SignatureComparator {
    threshold: f64,
    /// Otherwise full signatures are compared with none.
    pub compares_full: bool,
    of_type: SignatureType,
}

impl SignatureComparator {
    pub fn new(options: &GuardOptions, of_type: SignatureType) -> SignatureComparator {
        SignatureComparator {
            threshold: options.threshold,
            compares_full: options.compares_full,
            of_type,
        }
    }

    /// As guards compare without options: full signatures with none.
    pub fn at_least(threshold: f64, of_type: SignatureType) -> SignatureComparator {
        SignatureComparator {
            threshold,
            compares_full: false,
            of_type,
        }
    }

    /// A signature that is in no row, to be compared with those of rows.
    pub fn sought(self, signature: ComparedSignature<'_>) -> SignatureRow<'_> {
        SignatureRow {
            signature,
            comparator: self,
        }
    }

    /// A row to be compared with those whose signatures are at least so similar; `None` without a signature.
    pub fn row<'a>(
        mut self,
        row: ComparedRow<'a>,
        threshold: impl FnOnce(Measure) -> f64,
    ) -> Option<SignatureRow<'a>> {
        let signature = self.signature(row)?;
        self.threshold = threshold(signature.measure());
        Some(SignatureRow {
            signature,
            comparator: self,
        })
    }

    #[inline]
    fn signature<'a>(&self, row: ComparedRow<'a>) -> Option<ComparedSignature<'a>> {
        // SAFETY: the column is one of signatures of this type; the value lives as long as the row does.
        let of = |value| unsafe { ComparedSignature::new(self.of_type, value) };
        row.value(0).map(of)
    }
}

impl Comparator for SignatureComparator {
    fn reads(&self) -> &'static str {
        "signatures"
    }

    fn columns(&self, _table: pg_sys::Oid, signature: i16) -> Result<Vec<i16>> {
        Ok(vec![signature])
    }

    fn candidate_threshold(&self, _measure: Measure) -> f64 {
        self.threshold
    }

    fn comparability(&self, row: ComparedRow<'_>) -> Comparability {
        match self.signature(row) {
            Some(signature) if signature.is_empty() => Comparability::Nothing,
            Some(signature) if !self.compares_full && signature.is_full() => Comparability::Full,
            Some(_) => Comparability::Comparable,
            None => Comparability::Nothing,
        }
    }

    fn prepare<'a>(&'a self, row: ComparedRow<'a>, _: bool) -> Option<Box<dyn PreparedRow + 'a>> {
        let row = self.row(row, |_| self.threshold)?;
        Some(Box::new(row))
    }

    fn change(&self, old: ComparedRow<'_>, new: ComparedRow<'_>) -> Option<Change> {
        let (old, new) = (self.signature(old)?, self.signature(new));
        if old.is_empty() {
            return None;
        }
        let similarity = new
            .as_ref()
            .map_or(0.0, |new| old.similarity(new).or_raise());
        let is_empty = new.is_none_or(|new| new.is_empty());
        let lacks = is_empty.then_some("signature");
        Some(Change { similarity, lacks })
    }
}

/// A row that is compared by its signature.
pub struct SignatureRow<'a> {
    signature: ComparedSignature<'a>,
    comparator: SignatureComparator,
}

impl PreparedRow for SignatureRow<'_> {
    fn queries(&self) -> Vec<pg_sys::Datum> {
        vec![self.signature.query(self.comparator.threshold)]
    }

    #[inline]
    fn similarity(&self, candidate: ComparedRow<'_>) -> Option<f64> {
        let other = self.comparator.signature(candidate)?;
        let similarity = self.signature.similarity(&other).or_raise();
        let is_similar = similarity >= self.comparator.threshold
            // An empty signature is similar to nothing, even at threshold 0.
            && !other.is_empty()
            && (self.comparator.compares_full || !other.is_full());
        is_similar.then_some(similarity)
    }
}
