//! Pairs by the exact similarity of their tokens. Signatures that stand for sets of tokens tell about how similar these
//! are, so the search for pairs goes somewhat below the threshold, and what it finds are candidates. The tokens of
//! their records are read once, as hashes, into a temporary file, and compared.

mod argument;
mod candidates;
mod compare;
mod token_file;

use crate::pairs::find;
use crate::pairs::output::PairOutput;
use crate::pairs::records::{RecordColumn, Relations};
use crate::pairs::unique::{check_distinct, repeated};
use compare::{compare, VerifiedSink};
use pg::budget::Budget;
use pg::function::rows::text_datum;
use pg::progress::{self, phases};
use token_file::{StoredRecord, TokenFile};

pub use argument::{column, given, Verification};
pub use candidates::CandidatePairs;

/// What decides about the pairs of a relation.
pub struct Verified {
    /// A column of type `text[]`.
    pub tokens: RecordColumn,
    /// By how much less similar the signatures of candidates may be; `None` for as much as they need.
    pub margin: Option<f64>,
}

/// Finds all pairs whose signatures reach the threshold less the margin, and gives those to the output whose tokens
/// reach the threshold.
///
/// Errors: those of a search; what reading the tokens fails with.
pub fn pairs(output: &mut PairOutput, relations: Relations<'_>, threshold: f64) {
    let memory = Budget::of_setting().bytes();
    let mut candidates = CandidatePairs::new(memory / 8);
    if relations.left.new.is_some() {
        candidates = candidates.with_keys();
    }
    let side = usize::from(relations.right.is_some());
    let search = PairOutput::candidates(output.job(), &mut candidates, side, memory / 8 * 7);
    find::similar(search, relations, threshold);
    let mut file = TokenFile::read(relations, &candidates, memory / 2);
    let (candidates, all) = candidates.finish();
    let mut found = VerifiedPairs {
        output,
        relations,
        done: 0,
        all,
    };
    progress::phase(phases::COMPARING_TOKENS, Some(all));
    compare(candidates, &mut file, threshold, memory / 4 * 3, &mut found);
}

/// Gives pairs to the output.
struct VerifiedPairs<'a, 'o> {
    output: &'a mut PairOutput<'o>,
    relations: Relations<'a>,
    done: u64,
    all: u64,
}

impl VerifiedSink for VerifiedPairs<'_, '_> {
    fn pair(&mut self, a: StoredRecord<'_>, b: StoredRecord<'_>, similarity: f64) {
        let relations = self.relations;
        self.output.put(similarity, || {
            let keys = [a, b].map(|record| Some(text_datum(record.key())));
            check_distinct(keys, relations);
            Some(keys)
        });
    }

    fn repeated(&mut self, key: &[u8], side: usize) -> ! {
        let Relations { left, right } = self.relations;
        repeated(key, right.filter(|_| side == 1).unwrap_or(left))
    }

    fn progress(&mut self, done: u64) {
        self.done += done;
        self.output.report(self.done, self.all);
    }
}
