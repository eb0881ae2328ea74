//! The scores of patterns, each computed once as long as there is room to remember it.

use linkage::model::{Pattern, Score, Scorer};

use crate::pairs::random::mix;

/// No pattern: it would have levels that there are not.
const NONE: Pattern = Pattern(u128::MAX);

/// Scores by pattern. Each pattern has one place, which the last one of that place has.
pub struct Scores<'m> {
    scorer: Scorer<'m>,
    places: Vec<(Pattern, Score)>,
}

impl<'m> Scores<'m> {
    /// Takes about `memory` bytes, and 2 MB at the most.
    pub fn new(scorer: Scorer<'m>, memory: usize) -> Scores<'m> {
        let places = (memory / size_of::<(Pattern, Score)>()).clamp(1 << 8, 1 << 16);
        let score = Score {
            bits: 0.0,
            probability: 0.0,
        };
        Scores {
            scorer,
            places: vec![(NONE, score); 1 << places.ilog2()],
        }
    }

    /// What the model says of a pattern.
    #[inline]
    pub fn score(&mut self, pattern: Pattern) -> Score {
        let hash = mix(mix((pattern.0 >> 64) as u64) ^ pattern.0 as u64);
        let at = hash as usize & (self.places.len() - 1);
        let place = &mut self.places[at];
        if place.0 != pattern {
            *place = (pattern, self.scorer.score(pattern));
        }
        place.1
    }
}
