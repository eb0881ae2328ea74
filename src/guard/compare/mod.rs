//! Who is compared with whom, and how similar two rows are.
//!
//! A judge reads some columns of a row and says how similar candidates are to it: [`by_signature`] by signatures alone,
//! [`by_tokens`] by the tokens that option `verify` names. Another judge is a file beside them that implements
//! [`Judge`], and a line in [`judge`]. [`within`] leaves out rows that are not to be compared, [`decisions`] those that
//! people have judged different.

pub mod by_signature;
pub mod by_tokens;
pub mod decisions;
pub mod within;

use base::Result;
use pgrx::pg_sys;
use signature::similarity::Measure;

use by_signature::{ComparedSignature, SignatureJudge};
use by_tokens::TokenJudge;

use super::options::GuardOptions;
use super::row::Row;
use access::SignatureType;

/// A row, and the columns of its table that a judge reads, in the judge's order.
#[derive(Clone, Copy)]
pub struct JudgedRow<'a> {
    pub row: &'a Row,
    pub columns: &'a [i16],
}

impl JudgedRow<'_> {
    /// The value of the judge's column of this place, `None` for NULL.
    pub fn value(&self, place: usize) -> Option<pg_sys::Datum> {
        self.row.get(self.columns[place])
    }
}

/// How rows are compared. Its columns come in an order of its own; the first is the signature, by which candidates are
/// searched for.
pub trait Judge {
    /// What its columns hold, for messages.
    fn reads(&self) -> &'static str;

    /// Its columns in a table, where that of signatures has this number.
    ///
    /// Errors: there is no such column (42703), it is of another type (42804), or virtual (0A000).
    fn columns(&self, table: pg_sys::Oid, signature: i16) -> Result<Vec<i16>>;

    /// From which similarity of signatures on rows are candidates.
    fn searched_from(&self, measure: Measure) -> f64;

    /// Whether a signature says so little that it is compared with none.
    fn ignores(&self, signature: &ComparedSignature<'_>) -> bool;

    /// What candidates for a row are compared with; `None` if nothing is similar to it.
    fn subject(&self, row: JudgedRow<'_>) -> Option<Box<dyn Subject>>;

    /// What has become of a row that is changed; `None` if it was nobody's.
    fn change(&self, old: JudgedRow<'_>, new: JudgedRow<'_>) -> Option<Change>;
}

/// A row that is checked, ready to be compared with candidates.
pub trait Subject {
    /// The similarity to a candidate, in [0,1]; `None` if it is below the threshold. That of their signatures is known.
    fn similarity(&self, of_signatures: f64, candidate: JudgedRow<'_>) -> Option<f64>;
}

/// What has become of a row.
pub struct Change {
    /// To what it was. An estimate may be below 0.
    pub similarity: f64,
    /// What it has no more, by which it could be compared.
    pub without: Option<&'static str>,
}

/// The judge that the options ask for, where signatures are of this type.
pub fn judge(options: &GuardOptions, of_type: SignatureType) -> Box<dyn Judge> {
    match &options.verify {
        None => Box::new(SignatureJudge::new(options, of_type)),
        Some(column) => Box::new(TokenJudge::new(options, column.clone())),
    }
}
