//! Hashes of the records that a report shows: by them a decision tells that a record has changed since.

use std::collections::{HashMap, HashSet};
use std::ffi::CString;

use linkage::record_hash::RecordHash;

use crate::pairs::decisions::{read_digests, HashColumns};
use crate::pairs::records::{RecordColumn, Records};
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
    let of = columns.iter().cloned();
    let of = of.map(|column| RecordColumn::new(records.oid, column, &name));
    let of = HashColumns::new(of.collect());
    let names = columns.iter().map(|column| readable(column.to_bytes()));
    let mut hash = RecordHash {
        columns: names.collect(),
        digest: 0,
    };
    read_digests(records, &[of], |key, digests| {
        if let (true, Some(&Some(digest))) = (wanted.contains(key), digests.first()) {
            hash.digest = digest;
            found.insert(key.to_vec(), hash.to_string());
        }
    });
    found
}
