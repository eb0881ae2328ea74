//! What a fit is made from.

use crate::model::pattern::{CountedPatterns, Pattern};
use crate::model::values::LEVELS;

/// What a fit is made from: candidates by their pattern, and pairs of which somebody has said whether they are matches.
pub struct Evidence<'a> {
    /// Pairs that nobody has said anything about.
    pub patterns: &'a mut dyn CountedPatterns,
    /// Each of them stands for so many pairs.
    pub weight: f64,
    /// Pairs with a label.
    pub labels: &'a [(Pattern, bool)],
    /// For so many patterns the fit may remember a number of 8 bytes, which it computes again and again for the others.
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

/// Takes the pairs of a pattern, and the logarithm of the random pairs that are expected of it.
pub type EachPattern<'a> = dyn FnMut(KnownPairs, f64) + 'a;

/// Who computes steps of expectation in place of this process, or with it.
pub trait Helpers {
    /// Says what the next steps are made from: `size`, and by `each` the pairs of every pattern, with the logarithm of
    /// the expected random pairs. Returns whether there is help; if not, `each` has not been called.
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

    /// Numbers that a step results in: those of the classes, and the logarithm of the likelihood.
    pub fn result(self) -> usize {
        self.classes * self.of_class() + 1
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
