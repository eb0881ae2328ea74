//! Which pairs are wanted.

use crate::models::records::new_set::NewSet;

/// Which pairs are wanted: those of two relations or of one, all of them or those with a new record.
#[derive(Clone, Copy)]
pub struct WantedPairs<'a> {
    /// The first record of the second relation, if there are two.
    pub second: Option<u32>,
    /// The records of which each pair has one at least, if not all pairs are wanted.
    pub new: Option<&'a NewSet>,
}

impl From<Option<u32>> for WantedPairs<'_> {
    fn from(second: Option<u32>) -> Self {
        WantedPairs { second, new: None }
    }
}

impl WantedPairs<'_> {
    /// Whether any pair of these records is.
    pub fn is_any(self, records: &[u32]) -> bool {
        self.new
            .is_none_or(|new| records.iter().any(|&record| new.has(record)))
    }

    /// Whether a pair is, whose records are of the relations that they have to be of.
    #[inline]
    pub fn is_pair(self, a: u32, b: u32) -> bool {
        self.new.is_none_or(|new| new.has(a) || new.has(b))
    }
}
