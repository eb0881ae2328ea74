//! Pairs by the exact similarity of their tokens. Signatures that stand for sets of tokens tell about how similar these
//! are, so the search for pairs goes somewhat below the threshold, and what it finds are candidates. The tokens of
//! their records are read once, as hashes, into a temporary file, and compared.

mod candidates;
mod compare;
mod token_file;

use std::ffi::CString;

use base::{Error, ErrorKind};
use pgrx::pg_sys;
use sigfile::shape::margin;

use crate::pairs::find;
use crate::pairs::output::PairOutput;
use crate::pairs::records::{is_text, RecordColumn, Relations};
use compare::{compare, VerifiedPairs};
use pg::budget::Budget;
use pg::error::{raise, OrRaise};
use pg::function::arguments::Arguments;
use pg::progress::{self, phases};
use token_file::TokenFile;

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

/// What a job is told of the exact comparison.
pub struct Verification {
    /// The column with the tokens.
    pub column: CString,
    /// By how much less similar candidates may be; `None` for as much as their signatures need.
    pub margin: Option<f64>,
}

/// The arguments `i`, a name, and `i` + 1, a float8; `None` if `verify` is NULL. `threshold` is that of the job.
///
/// Errors: a margin without a column, or outside 0…1; a threshold of 0 with a column (all 22023).
pub fn given(arguments: Arguments, i: usize, threshold: f64) -> Option<Verification> {
    let margin = arguments.datum(i + 1).map(|_| arguments.float8(i + 1));
    let Some(column) = arguments.datum(i).map(|_| arguments.name(i)) else {
        if margin.is_some() {
            raise(
                &Error::new(
                    ErrorKind::InvalidParameter,
                    "argument \"margin\" is given without argument \"verify\"",
                )
                .detail("Candidates are searched below the threshold where their tokens are compared.")
                .hint("Name the column of the tokens in argument \"verify\", or leave the margin out."),
            );
        }
        return None;
    };
    margin.into_iter().for_each(|m| margin::check(m).or_raise());
    if threshold == 0.0 {
        raise(
            &Error::new(
                ErrorKind::InvalidParameter,
                "threshold 0 is out of range with argument \"verify\"",
            )
            .detail("Any two records reach it, also those that have no token in common.")
            .hint("Give a threshold above 0, such as 0.01, to find pairs with tokens in common."),
        );
    }
    Some(Verification { column, margin })
}

/// The column with the tokens; `relation` is the name of its relation for messages.
///
/// Errors: no such column (42703); a type that is not an array of texts (42804).
pub fn column(oid: pg_sys::Oid, name: CString, relation: &str) -> RecordColumn {
    let column = RecordColumn::new(oid, name);
    // SAFETY: catalog look-ups of a type that exists; what is no array has no element type.
    let element = unsafe { pg_sys::get_element_type(pg_sys::getBaseType(column.type_oid)) };
    if element == pg_sys::InvalidOid || !is_text(element) {
        column.refuse_type(
            relation,
            "text[]",
            "Name the column of the tokens that the signatures were made of, such as one GENERATED ALWAYS AS \
             (ident_words(...)) STORED, or a view that has one.",
        );
    }
    column
}
