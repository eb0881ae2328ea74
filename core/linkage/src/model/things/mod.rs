//! Linkages of things, such as goods, films and publications, of which no field is personal: a record of one table has
//! at most one partner in the other table, or its table says so of one side. That tells matches from what only
//! resembles them, as families do among persons.
//!
//! What is there for persons is used again: values and their signatures, [`Pattern`](super::Pattern)s, the frequencies
//! of values, the tree of dependent fields, and what the shares of matches must obey. What differs:
//!
//! - **Values**, in [`values::words`](super::values::words) and [`values::things`](super::values::things): words are
//!   weighted by how rare they are, texts have ten levels of similarity, numbers are compared by their relative
//!   difference, and a value that one side lacks is told from one that both lack.
//! - **Candidates**, in [`nearest`]: of each record the nearest ones of the other table by what their words weigh
//!   (TF-IDF), over all fields and over each. There are no keys that a model could name, so it names none.
//! - **What is missing**, in [`missing`]: it says nothing about a field by itself. The pair's mask of missing values
//!   has a share among matches, and one among all pairs, which is exact.
//! - **Competition**, in [`competition`]: the odds of a pair by its pattern are weighed against those of the other
//!   pairs of both records. So a pair's probability depends on the other pairs, and nothing that has one pair only can
//!   tell it.
//! - **The fit**, in [`fit`]: one class of matches beside random pairs. What would be other classes loses to the
//!   partner. [`odds`] has what a fit and a fitted model say of a pattern.
//!
//! Pairs are kept one by one and not counted by pattern alone, 20 bytes each, in the order of their patterns; pairs and
//! patterns are read and changed from the first to the last, so that they may lie in files. In memory are some numbers
//! for each record.

pub mod competition;
pub mod describe;
pub mod fit;
pub mod fitted;
pub mod missing;
pub mod nearest;
pub mod odds;
#[cfg(test)]
mod tests;

pub use competition::{CandidatePair, CandidatePairs, Competition, Weighed, PAIR_WORDS};
pub use describe::ThingFacts;
pub use fit::{learn, Fit, FitInput, TableField, ThingField};
pub use fitted::{Thing, ThingsModel};
pub use missing::{Mask, MaskShares, MatchMasks, RecordMasks};
pub use nearest::{Nearest, Postings, WordOf};
pub use odds::{EachRun, Learned, Odds, PatternRuns};

base::named! {
    /// Which records have one partner at most in the other table.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum OneToOne {
        /// Those of both tables.
        Both = "both",
        /// Those of the first table.
        A = "a",
        /// Those of the second table.
        B = "b",
    }
}

impl OneToOne {
    /// How many matches there can be between tables of so many records.
    pub fn most_matches(self, [a, b]: [f64; 2]) -> f64 {
        match self {
            OneToOne::Both => a.min(b),
            OneToOne::A => a,
            OneToOne::B => b,
        }
    }
}

/// The share of each level of present values, from the best to the worst.
pub type Shares = [f64; super::values::things::PRESENT];

/// How the levels of a field go together with those of others.
pub type Dependence = super::mixture::Dependence<{ super::values::things::PRESENT }>;
