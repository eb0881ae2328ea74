//! Patterns: the levels of a pair, and how many pairs have them.

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

/// Some patterns, and how many pairs have each.
pub type PatternBlock = [(Pattern, u64)];

/// Patterns and how many pairs have each, in the order of the patterns, so that what is summed over them never depends
/// on how they came. They may be more than fit into memory, so they are read from the first to the last, as often as is
/// needed.
pub trait CountedPatterns {
    /// Gives all of them to `each`, block by block.
    fn each_block(&mut self, each: &mut dyn FnMut(&PatternBlock));
}

/// In their order, each once.
impl CountedPatterns for Vec<(Pattern, u64)> {
    fn each_block(&mut self, each: &mut dyn FnMut(&PatternBlock)) {
        each(self);
    }
}
