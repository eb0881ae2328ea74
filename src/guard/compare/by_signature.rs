//! Rows are compared by their signatures, of either type.

use base::Result;
use pgrx::pg_sys;
use sigfile::RowShape;
use signature::bits::to_words;
use signature::similarity::{Measure, Popcounts};

use super::{Change, Judge, JudgedRow, Subject};
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
            ComparedSignature::Bits(bits) => {
                NewMinhashQuery::at_least(&bits.view(), threshold).datum()
            }
        }
    }

    /// Of one that is not empty: the words of its row in an index, of which there are `stride`, in place of those in
    /// `words`. Returns the tag of its shape, and its popcount.
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
}

/// Rows are as similar as their signatures.
pub struct SignatureJudge {
    threshold: f64,
    ignores_full: bool,
    of_type: SignatureType,
}

impl SignatureJudge {
    pub fn new(options: &GuardOptions, of_type: SignatureType) -> SignatureJudge {
        SignatureJudge {
            threshold: options.threshold,
            ignores_full: options.ignores_full(),
            of_type,
        }
    }

    fn signature(&self, row: JudgedRow<'_>) -> Option<ComparedSignature<'_>> {
        // SAFETY: the column is one of signatures of this type; the value lives as long as the row does.
        let of = |value| unsafe { ComparedSignature::of(self.of_type, value) };
        row.value(0).map(of)
    }
}

impl Judge for SignatureJudge {
    fn reads(&self) -> &'static str {
        "signatures"
    }

    fn columns(&self, _table: pg_sys::Oid, signature: i16) -> Result<Vec<i16>> {
        Ok(vec![signature])
    }

    fn searched_from(&self, _measure: Measure) -> f64 {
        self.threshold
    }

    fn ignores(&self, signature: &ComparedSignature<'_>) -> bool {
        self.ignores_full && signature.is_full()
    }

    fn subject(&self, _row: JudgedRow<'_>) -> Option<Box<dyn Subject>> {
        Some(Box::new(BySignature))
    }

    fn change(&self, old: JudgedRow<'_>, new: JudgedRow<'_>) -> Option<Change> {
        let (old, new) = (self.signature(old)?, self.signature(new));
        if old.is_empty() {
            return None;
        }
        let similarity = new.as_ref().map(|new| old.similarity(new).or_raise());
        let is_empty = new.is_none_or(|new| new.is_empty());
        Some(Change {
            similarity: similarity.unwrap_or(0.0),
            without: is_empty.then_some("signature"),
        })
    }
}

/// Candidates are found by what they are compared by.
struct BySignature;

impl Subject for BySignature {
    fn similarity(&self, of_signatures: f64, _candidate: JudgedRow<'_>) -> Option<f64> {
        Some(of_signatures)
    }
}
