//! Columns of tokens, by which option `verify` compares rows that may be similar.

use std::cell::RefCell;
use std::ffi::CStr;

use pgrx::pg_sys;
use text::tokens::{Overlap, TokenHashList, TokenHashes};

use super::column::{is_generated, undefined_column, wrong_type};
use pg::catalog;
use pg::check_for_interrupts;
use pg::error::OrRaise;
use pg::message::OrMessage;
use types::Tokens;

/// A column of type `text[]`, or `varchar[]`, which has the same bytes.
#[derive(Clone, Copy)]
pub struct TokensColumn {
    pub number: i16,
    /// Whether it is a stored generated column.
    pub is_generated: bool,
}

impl TokensColumn {
    /// The column of this name.
    ///
    /// Errors: there is no such column (42703), it is of another type (42804), or virtual (0A000).
    pub fn of(table: pg_sys::Oid, name: &CStr) -> OrMessage<TokensColumn> {
        let Some(number) = catalog::column(table, name) else {
            return Err(undefined_column(table, name));
        };
        let base = catalog::base_type(table, number).0;
        if ![pg_sys::TEXTARRAYOID, pg_sys::VARCHARARRAYOID].contains(&base) {
            let is = catalog::column_type(table, number);
            return Err(wrong_type("relation", table, name, is, c"text[]"));
        }
        Ok(TokensColumn {
            number,
            is_generated: is_generated(table, number)?,
        })
    }
}

/// The tokens of a row, each hashed once, with which those of rows that may be similar are compared.
pub struct WantedTokens {
    set: TokenHashes,
    /// The hashes of the last one of them; kept for its memory.
    other: RefCell<TokenHashList>,
}

impl WantedTokens {
    /// `None` if there are no tokens, or NULL: then nothing is similar.
    ///
    /// Errors: an array of more than one dimension; out of memory.
    ///
    /// # Safety
    /// `value` is a value of such a column that is readable during the call.
    pub unsafe fn of(value: Option<pg_sys::Datum>) -> Option<WantedTokens> {
        // SAFETY: the value is an array of texts, as the caller promises.
        let tokens = unsafe { Tokens::of(value?) }.or_raise();
        let set = TokenHashes::of(tokens.bytes(), check_for_interrupts).or_raise();
        (!set.is_empty()).then(|| WantedTokens {
            set,
            other: RefCell::default(),
        })
    }

    /// The exact similarity to another set of tokens, in [0,1]; `None` if that has no tokens, or is NULL.
    ///
    /// Errors: as for [`WantedTokens::of`].
    ///
    /// # Safety
    /// As for [`WantedTokens::of`].
    pub unsafe fn similarity(&self, other: Option<pg_sys::Datum>) -> Option<f64> {
        // SAFETY: the value is an array of texts, as the caller promises.
        let tokens = unsafe { Tokens::of(other?) }.or_raise();
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
