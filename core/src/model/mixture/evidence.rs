//! What a fit is made from.

use crate::model::pattern::{CountedPatterns, Pattern};

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
pub(super) struct KnownPairs {
    pub pattern: Pattern,
    pub pairs: f64,
    /// Whether they are matches, if somebody has said so.
    pub label: Option<bool>,
}

impl Evidence<'_> {
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
