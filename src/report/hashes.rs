//! Hashes of the records that a report shows: by them a decision tells that a record has changed since.

use std::collections::{HashMap, HashSet};
use std::ffi::CString;

use crate::pairs::decisions::each_hash;
use crate::pairs::records::Records;
use pg::values::text::readable;

/// The hash of each record of which one is known, by key.
pub type RecordHashes = HashMap<Vec<u8>, String>;

/// The hashes of the records with these keys over some columns, as `bloom_record_hash` gives them.
///
/// Errors: what the query fails with, which runs as the caller.
pub fn hashes(records: &Records, columns: &[CString], keys: &[&[u8]]) -> RecordHashes {
    let mut found = RecordHashes::new();
    if columns.is_empty() || keys.is_empty() {
        return found;
    }
    let wanted: HashSet<&[u8]> = keys.iter().copied().collect();
    let name = readable(records.key.name.to_bytes());
    each_hash(records, columns, &name, |key, hash| {
        if wanted.contains(key) {
            found.insert(key.to_vec(), hash.to_string());
        }
    });
    found
}
