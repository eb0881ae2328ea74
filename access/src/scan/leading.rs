//! Scan keys on columns before the signature: together they give the key of the rows that are wanted, if there is one for each column.

use pgrx::pg_sys;

use crate::class::leading::{combine, hash, hash_other, leading_columns, EQUAL};
use crate::page::SigfileIndex;

/// What the keys of a scan ask of the columns before the signature.
pub struct LeadingKeys<'r> {
    index: SigfileIndex<'r>,
    /// For each column the hash of the value that is asked for.
    hashes: Vec<Option<u32>>,
    /// There are such keys. Rows have to be checked again, as several values can have the same hash.
    pub asked: bool,
    /// No row fulfils them.
    pub nothing: bool,
}

impl<'r> LeadingKeys<'r> {
    /// No keys as yet.
    pub fn new(index: SigfileIndex<'r>) -> Self {
        LeadingKeys {
            index,
            hashes: vec![None; leading_columns(index)],
            asked: false,
            nothing: false,
        }
    }

    /// Takes in a key. False if it is not one on a column before the signature.
    ///
    /// # Safety
    /// `key` is one of a scan of the index: its argument is of the operator's right-hand type, unless it is NULL.
    pub unsafe fn read(&mut self, key: &pg_sys::ScanKeyData) -> bool {
        let column = key.sk_attno as usize - 1;
        if column >= self.hashes.len() {
            return false;
        }
        self.asked = true;
        let flags = key.sk_flags as u32;
        if flags & pg_sys::SK_SEARCHNOTNULL != 0 {
            return true;
        }
        // SAFETY: the argument is of the column's type, or of the other that the key tells of.
        let hash = unsafe {
            if flags & pg_sys::SK_SEARCHNULL != 0 {
                Some(hash(self.index, column, None))
            } else if flags & pg_sys::SK_ISNULL != 0 {
                // The operators are strict.
                self.nothing = true;
                None
            } else if key.sk_strategy != EQUAL {
                let other = key.sk_strategy;
                pg::error::internal!("unrecognized strategy number: {other}")
            } else {
                let own = *(*self.index.relation()).rd_opcintype.add(column);
                // An exclusion check leaves the type unset.
                let of_type = key.sk_subtype;
                if of_type == own || of_type == pg_sys::InvalidOid {
                    Some(hash(self.index, column, Some(key.sk_argument)))
                } else {
                    hash_other(self.index, column, of_type, key.sk_argument)
                }
            }
        };
        match (self.hashes[column], hash) {
            (Some(before), Some(hash)) if before != hash => self.nothing = true,
            (None, Some(hash)) => self.hashes[column] = Some(hash),
            _ => (),
        }
        true
    }

    /// The key of the rows that are wanted, if it is known.
    pub fn key(&self) -> Option<u32> {
        if self.hashes.is_empty() {
            return None;
        }
        let mut hashes = self.hashes.iter();
        hashes.try_fold(0, |key, hash| hash.map(|hash| combine(key, hash)))
    }
}
