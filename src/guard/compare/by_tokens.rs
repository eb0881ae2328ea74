//! Rows whose signatures may be similar are compared by their tokens, exactly: option `verify`.

use base::Result;
use std::cell::{Cell, RefCell};
use std::ffi::CString;

use pgrx::pg_sys;
use sigfile::shape::margin;
use signature::similarity::Measure;
use text::tokens::{Overlap, TokenHashList, TokenHashes};

use super::by_signature::{SignatureComparator, SignatureRow};
use super::{Change, Comparability, Comparator, ComparedRow, PreparedRow};
use crate::guard::options::GuardOptions;
use crate::guard::tables::{check_stored, column_number, wrong_type};
use pg::error::OrRaise;
use pg::{catalog, check_for_interrupts};
use types::Tokens;

/// The place of the tokens among the comparator's columns.
const TOKENS: usize = 1;

/// Rows are as similar as their tokens. Full signatures do no harm.
pub struct TokenComparator {
    /// Of type `text[]`, or `varchar[]`, which has the same bytes.
    column: CString,
    signatures: SignatureComparator,
    threshold: f64,
    margin: Option<f64>,
    /// By what measure was searched last, and from which similarity on.
    searched: Cell<Option<(Measure, f64)>>,
}

impl TokenComparator {
    /// Full signatures do no harm.
    pub fn new(
        options: &GuardOptions,
        mut signatures: SignatureComparator,
        column: CString,
    ) -> TokenComparator {
        signatures.compares_full = true;
        TokenComparator {
            column,
            signatures,
            threshold: options.threshold,
            margin: options.margin,
            searched: Cell::new(None),
        }
    }
}

impl Comparator for TokenComparator {
    fn reads(&self) -> &'static str {
        "signatures and tokens"
    }

    fn columns(&self, table: pg_sys::Oid, signature: i16) -> Result<Vec<i16>> {
        let number = column_number(table, &self.column)?;
        let base = catalog::base_type(table, number).0;
        if ![pg_sys::TEXTARRAYOID, pg_sys::VARCHARARRAYOID].contains(&base) {
            let is = catalog::column_type(table, number);
            return Err(wrong_type("relation", table, &self.column, is, c"text[]"));
        }
        check_stored(table, number)?;
        Ok(vec![signature, number])
    }

    fn candidate_threshold(&self, measure: Measure) -> f64 {
        let known = self.searched.get().filter(|(by, _)| *by == measure);
        let from = || margin::searched(measure, self.threshold, self.margin);
        let from = known.map_or_else(from, |(_, from)| from);
        self.searched.set(Some((measure, from)));
        from
    }

    fn comparability(&self, row: ComparedRow<'_>) -> Comparability {
        self.signatures.comparability(row)
    }

    fn prepare<'a>(&'a self, row: ComparedRow<'a>, _: bool) -> Option<Box<dyn PreparedRow + 'a>> {
        let tokens = HashedTokens::new(row)?;
        let signature = self
            .signatures
            .row(row, |by| self.candidate_threshold(by))?;
        let threshold = self.threshold;
        Some(Box::new(TokenRow {
            signature,
            tokens,
            threshold,
        }))
    }

    fn change(&self, old: ComparedRow<'_>, new: ComparedRow<'_>) -> Option<Change> {
        let similarity = HashedTokens::new(old)?.exact_similarity(new);
        Some(Change {
            similarity: similarity.unwrap_or(0.0),
            lacks: similarity.is_none().then_some("tokens"),
        })
    }
}

/// A row that is compared by its tokens, with those whose signatures are similar enough.
struct TokenRow<'a> {
    signature: SignatureRow<'a>,
    tokens: HashedTokens,
    threshold: f64,
}

impl PreparedRow for TokenRow<'_> {
    fn queries(&self) -> Vec<pg_sys::Datum> {
        self.signature.queries()
    }

    fn similarity(&self, candidate: ComparedRow<'_>) -> Option<f64> {
        self.signature.similarity(candidate)?;
        let exact = self.tokens.exact_similarity(candidate)?;
        (exact >= self.threshold).then_some(exact)
    }
}

/// The tokens of a row, each hashed once, with which those of candidates are compared.
struct HashedTokens {
    set: TokenHashes,
    /// The hashes of the last candidate's; kept for their memory.
    other: RefCell<TokenHashList>,
}

impl HashedTokens {
    /// `None` if there are no tokens, or NULL: then nothing is similar.
    ///
    /// Errors: an array of more than one dimension; out of memory.
    fn new(row: ComparedRow<'_>) -> Option<HashedTokens> {
        // SAFETY: the column is one of tokens, as `columns` has found, and the row stays during the call.
        let tokens = unsafe { Tokens::new(row.value(TOKENS)?) }.or_raise();
        let set = TokenHashes::new(tokens.bytes(), check_for_interrupts).or_raise();
        (!set.is_empty()).then(|| HashedTokens {
            set,
            other: RefCell::default(),
        })
    }

    /// In [0,1]; `None` if the other row has no tokens, or NULL.
    ///
    /// Errors: as for [`HashedTokens::new`].
    fn exact_similarity(&self, other: ComparedRow<'_>) -> Option<f64> {
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
