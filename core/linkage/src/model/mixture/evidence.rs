//! What a fit is made from.

use crate::model::pattern::{CountedPatterns, Pattern};
use crate::model::values::{EQUAL, LEVELS, MISSING, ORDERED, UNLIKE};

/// What a fit is made from: candidates by their pattern, and pairs of which somebody has said whether they are matches.
pub struct Evidence<'a> {
    /// Pairs that nobody has said anything about.
    pub patterns: &'a mut dyn CountedPatterns,
    /// Each of them stands for so many pairs.
    pub weight: f64,
    /// Pairs with a label.
    pub labels: &'a [(Pattern, bool)],
    /// For so many patterns the fit may remember their [`PatternLogs`], which it computes again and again for the others.
    pub remembered: usize,
}

/// Pairs of one pattern, of which the same is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KnownPairs {
    /// Their levels.
    pub pattern: Pattern,
    /// How many there are.
    pub pairs: f64,
    /// Whether they are matches, if somebody has said so.
    pub label: Option<bool>,
}

/// What stays the same of a pattern during a fit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PatternLogs {
    /// Logarithm of the random pairs that are expected of it.
    pub random: f64,
    /// Logarithm of how many times more often matches have it than they would if fields were independent in them.
    pub matches: f64,
}

/// Takes the pairs of a pattern.
pub type EachPattern<'a> = dyn FnMut(KnownPairs, PatternLogs) + 'a;

/// Who computes steps of expectation in place of this process, or with it.
pub trait Helpers {
    /// Says what the next steps are made from: `size`, and by `each` the pairs of every pattern, with its
    /// logarithms. Returns whether there is help; if not, `each` has not been called.
    fn begin(&mut self, size: StepSize, each: &mut dyn FnMut(&mut EachPattern<'_>)) -> bool;

    /// Does a step for classes, as [`Step::new`](super::Step::new) has them. Gives what
    /// [`Step::take`](super::Step::take) writes for every chunk of the patterns to `each`, in their order.
    fn step(&mut self, classes: &[f64], each: &mut dyn FnMut(&[f64]));
}

/// What a step of expectation is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepSize {
    /// Patterns.
    pub patterns: usize,
    /// Fields of a pattern.
    pub fields: usize,
    /// Classes of pairs.
    pub classes: usize,
    /// The class of families, if there is one.
    pub family: Option<Family>,
}

/// The class of families, and what it is learned from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family {
    /// The number of the class.
    pub class: usize,
    /// The personal fields, as bits.
    pub personal: u32,
}

impl Family {
    /// The personal fields that say how relatives resemble each other in them, in pairs of this pattern: all others are
    /// unlike or missing, and one at least is unlike, so that these are two people for sure. As bits.
    #[inline]
    pub(super) fn learns_from(self, pattern: Pattern) -> u32 {
        let (mut alike, mut unlike, mut rest) = (0u32, 0u32, self.personal);
        while rest != 0 {
            let (field, bit) = (rest.trailing_zeros() as usize, rest & rest.wrapping_neg());
            rest ^= bit;
            match pattern.level(field) {
                level if (ORDERED - UNLIKE..ORDERED).contains(&level) => unlike |= bit,
                MISSING => (),
                _ => alike |= bit,
            }
        }
        match (alike.count_ones(), unlike.count_ones()) {
            (_, 0) | (2.., _) => 0,
            (1, _) => alike,
            (_, 1) => self.personal & !unlike,
            _ => self.personal,
        }
    }

    /// The personal fields whose levels in matches are learned from pairs of this pattern: all others are equal, or next
    /// to it, so that no relatives are among them. As bits.
    #[inline]
    pub(super) fn agrees_but_for(self, pattern: Pattern) -> u32 {
        let (mut other, mut rest) = (0u32, self.personal);
        while rest != 0 {
            let (field, bit) = (rest.trailing_zeros() as usize, rest & rest.wrapping_neg());
            rest ^= bit;
            if pattern.level(field) > EQUAL {
                other |= bit;
            }
        }
        match other.count_ones() {
            0 => self.personal,
            1 => other,
            _ => 0,
        }
    }
}

impl StepSize {
    /// Patterns whose sums are added up apart from those of others. It depends on nothing but how many patterns there
    /// are, or the model would, too.
    pub fn chunk(self) -> usize {
        const LEAST: usize = 4096;
        const MOST_CHUNKS: usize = 64;
        self.patterns.div_ceil(MOST_CHUNKS).max(LEAST)
    }

    /// How many chunks there are.
    pub fn chunks(self) -> usize {
        self.patterns.div_ceil(self.chunk())
    }

    /// Numbers of a class: pairs, and each level of each field.
    pub fn of_class(self) -> usize {
        1 + self.fields * LEVELS
    }

    /// Numbers that a step results in: those of the classes, of families the pairs of each level of each field that are
    /// two people for sure, and the logarithm of the likelihood.
    pub fn result(self) -> usize {
        self.classes * self.of_class() + self.of_families() + 1
    }

    /// Numbers that say how relatives resemble each other, and what matches are like that agree in the rest.
    pub(super) fn of_families(self) -> usize {
        self.family.map_or(0, |_| 2 * self.fields * LEVELS)
    }
}

impl Evidence<'_> {
    /// How many patterns there are, labels included.
    pub(super) fn len(&mut self, mut turn: impl FnMut()) -> usize {
        let mut len = self.labels.len();
        self.patterns.each_block(&mut |block| {
            turn();
            len += block.len();
        });
        len
    }

    /// Gives everything to `each`, always in the same order. `turn` is called every few milliseconds.
    pub(super) fn each(&mut self, mut turn: impl FnMut(), mut each: impl FnMut(usize, KnownPairs)) {
        let (weight, mut i) = (self.weight, 0);
        self.patterns.each_block(&mut |block| {
            for some in block.chunks(4096) {
                turn();
                for &(pattern, pairs) in some {
                    each(
                        i,
                        KnownPairs {
                            pattern,
                            pairs: pairs as f64 * weight,
                            label: None,
                        },
                    );
                    i += 1;
                }
            }
        });
        for &(pattern, same) in self.labels {
            let known = KnownPairs {
                pattern,
                pairs: 1.0,
                label: Some(same),
            };
            each(i, known);
            i += 1;
        }
    }
}
