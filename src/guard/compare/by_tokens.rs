//! Rows whose signatures may be similar are compared by their tokens, exactly: option `verify`.

use base::Result;
use std::cell::{Cell, RefCell};
use std::ffi::CString;

use pgrx::pg_sys;
use sigfile::shape::margin;
use signature::similarity::Measure;
use text::tokens::{Overlap, TokenHashList, TokenHashes};

use super::by_signature::ComparedSignature;
use super::{Change, Judge, JudgedRow, Subject};
use crate::guard::options::GuardOptions;
use crate::guard::tables::column::{check_stored, undefined_column, wrong_type};
use pg::error::OrRaise;
use pg::{catalog, check_for_interrupts};
use types::Tokens;

/// The place of the tokens among the judge's columns.
const TOKENS: usize = 1;

/// Rows are as similar as their tokens. Full signatures do no harm.
pub struct TokenJudge {
    /// Of type `text[]`, or `varchar[]`, which has the same bytes.
    column: CString,
    threshold: f64,
    margin: Option<f64>,
    /// By what measure was searched last, and from which similarity on.
    searched: Cell<Option<(Measure, f64)>>,
}

impl TokenJudge {
    pub fn new(options: &GuardOptions, column: CString) -> TokenJudge {
        TokenJudge {
            column,
            threshold: options.threshold,
            margin: options.margin,
            searched: Cell::new(None),
        }
    }
}

impl Judge for TokenJudge {
    fn reads(&self) -> &'static str {
        "signatures and tokens"
    }

    fn columns(&self, table: pg_sys::Oid, signature: i16) -> Result<Vec<i16>> {
        let name = &self.column;
        let Some(number) = catalog::column(table, name) else {
            return Err(undefined_column(table, name));
        };
        let base = catalog::base_type(table, number).0;
        if ![pg_sys::TEXTARRAYOID, pg_sys::VARCHARARRAYOID].contains(&base) {
            let is = catalog::column_type(table, number);
            return Err(wrong_type("relation", table, name, is, c"text[]"));
        }
        check_stored(table, number)?;
        Ok(vec![signature, number])
    }

    fn searched_from(&self, measure: Measure) -> f64 {
        match self.searched.get() {
            Some((by, from)) if by == measure => from,
            _ => {
                let from = margin::searched(measure, self.threshold, self.margin);
                self.searched.set(Some((measure, from)));
                from
            }
        }
    }

    fn ignores(&self, _signature: &ComparedSignature<'_>) -> bool {
        false
    }

    fn subject(&self, row: JudgedRow<'_>) -> Option<Box<dyn Subject>> {
        let tokens = HashedTokens::of(row, self.threshold)?;
        Some(Box::new(tokens))
    }

    fn change(&self, old: JudgedRow<'_>, new: JudgedRow<'_>) -> Option<Change> {
        let similarity = HashedTokens::of(old, 0.0)?.exact_similarity(new);
        Some(Change {
            similarity: similarity.unwrap_or(0.0),
            without: similarity.is_none().then_some("tokens"),
        })
    }
}

/// The tokens of a row, each hashed once, with which those of candidates are compared.
struct HashedTokens {
    set: TokenHashes,
    /// The hashes of the last candidate's; kept for their memory.
    other: RefCell<TokenHashList>,
    threshold: f64,
}

impl HashedTokens {
    /// `None` if there are no tokens, or NULL: then nothing is similar.
    ///
    /// Errors: an array of more than one dimension; out of memory.
    fn of(row: JudgedRow<'_>, threshold: f64) -> Option<HashedTokens> {
        // SAFETY: the column is one of tokens, as `columns` has found, and the row stays during the call.
        let tokens = unsafe { Tokens::new(row.value(TOKENS)?) }.or_raise();
        let set = TokenHashes::new(tokens.bytes(), check_for_interrupts).or_raise();
        (!set.is_empty()).then(|| HashedTokens {
            set,
            other: RefCell::default(),
            threshold,
        })
    }

    /// In [0,1]; `None` if the other row has no tokens, or NULL.
    ///
    /// Errors: as for [`HashedTokens::of`].
    fn exact_similarity(&self, other: JudgedRow<'_>) -> Option<f64> {
        // SAFETY: the column is one of tokens, as `columns` has found, and the row stays during the call.
        let tokens = unsafe { Tokens::new(other.value(TOKENS)?) }.or_raise();
        let mut list = self.other.borrow_mut();
        list.clear();
        for token in tokens.bytes() {
            check_for_interrupts();
            list.push(token).or_raise();
        }
        let other = list.sort_distinct(check_for_interrupts);
        let overlap = || Overlap::of_hashes(&self.set, other, check_for_interrupts);
        (!other.is_empty()).then(|| overlap().jaccard())
    }
}

impl Subject for HashedTokens {
    fn similarity(&self, _of_signatures: f64, candidate: JudgedRow<'_>) -> Option<f64> {
        let exact = self.exact_similarity(candidate)?;
        (exact >= self.threshold).then_some(exact)
    }
}
