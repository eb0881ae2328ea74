//! What is true: which pairs of records belong together, where that is known.

use base::memory::collected;
use linkage::clusters::quality::pairs_within;

use crate::clusters::resolution::Resolution;
use crate::clusters::source::Source;
use crate::pairs::dictionary::NONE;
use pg::check_for_interrupts;
use pg::error::OrRaise;

/// The different pairs of two records, in order, each with the lesser number first.
pub fn distinct(mut pairs: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    pairs.retain(|(a, b)| a != b);
    for pair in &mut pairs {
        check_for_interrupts();
        *pair = (pair.0.min(pair.1), pair.0.max(pair.1));
    }
    pairs.sort_unstable_by(|x, y| {
        check_for_interrupts();
        x.cmp(y)
    });
    pairs.dedup();
    pairs
}

/// Which pairs are true.
pub enum Truth {
    /// The lesser number of a pair is first. The pairs are in order, and each comes once.
    Pairs(Vec<(u32, u32)>),
    /// A label for each number, as [`Resolution::Labels`] has it, and how many pairs have equal ones.
    Labels { labels: Vec<u32>, pairs: u64 },
}

impl Truth {
    /// Errors: out of memory; more pairs than can be counted.
    pub fn new(resolution: Resolution) -> Truth {
        match resolution {
            Resolution::Labels(labels) => {
                let known = labels.iter().copied().filter(|&label| label != NONE);
                let known = collected(known, labels.len()).or_raise();
                let pairs = pairs_within(&known, check_for_interrupts).or_raise();
                Truth::Labels { labels, pairs }
            }
            Resolution::Pairs(pairs) => Truth::Pairs(distinct(pairs)),
        }
    }

    /// Memory in use, in bytes.
    pub fn memory(&self) -> usize {
        match self {
            Truth::Pairs(pairs) => size_of::<(u32, u32)>() * pairs.capacity(),
            Truth::Labels { labels, .. } => size_of::<u32>() * labels.capacity(),
        }
    }

    /// How many pairs are true.
    pub fn pairs(&self) -> u64 {
        match self {
            Truth::Pairs(pairs) => pairs.len() as u64,
            Truth::Labels { pairs, .. } => *pairs,
        }
    }

    /// Whether two records belong together; `None` if that is not known, since a record has no label.
    pub fn knows(&self, a: u32, b: u32) -> Option<bool> {
        match self {
            Truth::Pairs(pairs) => Some(pairs.binary_search(&(a.min(b), a.max(b))).is_ok()),
            Truth::Labels { labels, .. } => {
                let (a, b) = (Resolution::label(labels, a), Resolution::label(labels, b));
                (a != NONE && b != NONE).then_some(a == b)
            }
        }
    }
}

/// Tells the user that `unknown` pairs or records of all were left out.
pub fn tell_unknown(unknown: u64, of: u64, what: &str, truth: &Source) {
    if unknown > 0 {
        pg::error::notice!(
            "{unknown} of {of} {what} {} not counted, since \"{}\" does not say which cluster they are in",
            if unknown == 1 { "is" } else { "are" },
            truth.name
        );
    }
}
