//! What a scan asks of each row.

use sigfile::{Query, RowPage};

/// What one key of a scan asks of a row.
pub enum Condition {
    /// Similarity of at least the query's threshold, and of the row's own where rows have one.
    Similar(Query),
    /// The same bits, and the same number of them, which is none for the empty set of tokens.
    Equal(Vec<u64>, u32),
    /// All of these bits.
    Covers(Vec<u64>),
    /// None but these bits.
    CoveredBy(Vec<u64>),
}

/// What all keys of a scan ask of a row, but for the one that the search goes by.
#[derive(Default)]
pub struct RowConditions {
    /// Of its signature.
    pub of_signature: Vec<Condition>,
    /// The hash of its columns before the signature.
    pub key: Option<u32>,
    /// The rows' own thresholds count.
    pub thresholds: bool,
}

impl RowConditions {
    /// Whether a row has the key that is asked for.
    #[inline]
    pub fn admit(&self, page: &RowPage<'_>, i: usize) -> bool {
        self.key.is_none_or(|key| page.key(i) == key)
    }

    /// Whether a row fulfils all conditions. It has so many bits in common with the leading query.
    pub fn hold(&self, page: &RowPage<'_>, i: usize, leading: Option<&Query>, common: u32) -> bool {
        let row = page.row(i);
        if let Some(query) = leading.filter(|_| self.thresholds) {
            if query.similarity(row.popcount, common) < row.threshold {
                return false;
            }
        }
        let within = |a: &[u64], b: &[u64]| a.iter().zip(b).all(|(a, b)| a & !b == 0);
        self.of_signature.iter().all(|condition| match condition {
            Condition::Similar(query) => query.hit(row.words, row.popcount).is_some_and(|common| {
                !self.thresholds || query.similarity(row.popcount, common) >= row.threshold
            }),
            Condition::Equal(words, popcount) => {
                row.words == &words[..] && row.popcount == *popcount
            }
            Condition::Covers(words) => within(words, row.words),
            Condition::CoveredBy(words) => within(row.words, words),
        })
    }
}
