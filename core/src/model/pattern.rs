//! Patterns: the levels of a pair, and how many pairs have them.

use std::collections::HashMap;

/// One level for each field, four bits each, the first field lowest.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pattern(pub u128);

impl Pattern {
    /// Sets the level of a field that has none yet.
    #[inline]
    pub fn set(&mut self, field: usize, level: u8) {
        self.0 |= u128::from(level) << (4 * field);
    }

    /// Gives a field another level.
    pub fn replace(&mut self, field: usize, level: u8) {
        self.0 &= !(15 << (4 * field));
        self.set(field, level);
    }

    /// The level of a field.
    #[inline]
    pub fn level(self, field: usize) -> usize {
        (self.0 >> (4 * field)) as usize & 15
    }
}

/// How many pairs have each pattern.
#[derive(Clone, Debug, Default)]
pub struct PatternCounts {
    counts: HashMap<Pattern, u64>,
}

impl PatternCounts {
    /// One pair more.
    #[inline]
    pub fn add(&mut self, pattern: Pattern, pairs: u64) {
        *self.counts.entry(pattern).or_default() += pairs;
    }

    /// Patterns that occur.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The patterns in their order, so that what is summed over them never depends on how they came.
    pub fn sorted(&self) -> Vec<(Pattern, u64)> {
        let mut all: Vec<_> = self.counts.iter().map(|(&p, &n)| (p, n)).collect();
        all.sort_unstable();
        all
    }
}
