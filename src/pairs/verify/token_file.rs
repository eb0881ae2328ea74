//! The tokens of records, by their hashes, in a temporary file in the order of the records' identities.

use text::tokens::TokenHashList;

use super::candidates::{CandidatePairs, RecordId};
use crate::pairs::only_new;
use crate::pairs::records::{Records, Relations};
use pg::budget::reserve;
use pg::check_for_interrupts;
use pg::error::OrRaise;
use pg::file::{RecordSort, SpillVec};
use pg::function::rows::text_datum;
use pg::progress::{self, phases};
use pg::session::{self, BATCH};
use pg::sql;
use pg::sql::Sql;
use pg::values::array::text_array;
use types::Tokens;

/// Entries of the index read at a time.
const BLOCK: u64 = 256;

/// Two records have this identity.
const REPEATED: u64 = 1 << 32;

/// Where a record is in the file.
#[derive(Clone, Copy)]
pub struct RecordPlace {
    pub id: RecordId,
    /// Its key is that of another record, too.
    pub repeated: bool,
    /// In words, and its length.
    at: u64,
    pub words: usize,
}

impl From<[u64; 4]> for RecordPlace {
    fn from([high, low, at, words]: [u64; 4]) -> RecordPlace {
        RecordPlace {
            id: RecordId::new(high, low),
            repeated: low & REPEATED != 0,
            at,
            words: words as usize,
        }
    }
}

/// A record as it is stored: the length of its key in bytes, the key, and the hashes of its tokens.
#[derive(Clone, Copy)]
pub struct StoredRecord<'a>(pub &'a [u64]);

impl<'a> StoredRecord<'a> {
    /// As text in the database's encoding.
    pub fn key(self) -> &'a [u8] {
        let key = &self.0[1..];
        // SAFETY: numbers have no bytes that are not initialised, and bytes need no alignment.
        let bytes = unsafe { std::slice::from_raw_parts(key.as_ptr().cast(), size_of_val(key)) };
        &bytes[..self.0[0] as usize]
    }

    /// Each once, ascending.
    pub fn hashes(self) -> &'a [u64] {
        &self.0[1 + key_words(self.0[0] as usize)..]
    }
}

/// Words that a key of so many bytes takes.
fn key_words(bytes: usize) -> usize {
    bytes.div_ceil(size_of::<u64>())
}

/// Records as the query gives them.
struct Unordered {
    words: SpillVec<u64>,
    /// Entries as in the index.
    entries: RecordSort<4>,
    /// The key that is being written, behind its length.
    key: Vec<u64>,
    hashes: TokenHashList,
}

impl Unordered {
    /// Adds a record. NULLs among its tokens are skipped, and one that comes twice counts once.
    ///
    /// Errors: out of memory.
    fn push(&mut self, id: RecordId, key: &[u8], tokens: Option<&Tokens<'_>>) {
        self.hashes.clear();
        for token in tokens.into_iter().flat_map(Tokens::bytes) {
            check_for_interrupts();
            self.hashes.push(token).or_raise();
        }
        let hashes = self.hashes.sort_distinct(check_for_interrupts);
        let all = 1 + key_words(key.len()) + hashes.len();
        self.key.clear();
        reserve(&mut self.key, 1 + key_words(key.len()));
        self.key.push(key.len() as u64);
        self.key.extend(key.chunks(size_of::<u64>()).map(|some| {
            let mut word = [0; size_of::<u64>()];
            word[..some.len()].copy_from_slice(some);
            u64::from_ne_bytes(word)
        }));
        let entry = [id.high, id.low.into(), self.words.len(), all as u64];
        self.entries.push(entry);
        self.words.extend(&self.key);
        self.words.extend(hashes);
    }
}

/// The tokens of all records that may be in a candidate.
pub struct TokenFile {
    words: SpillVec<u64>,
    /// Four numbers a record: identity, place, length.
    index: SpillVec<[u64; 4]>,
}

impl TokenFile {
    /// Reads them by a query of the caller's, with the snapshot of the running function. It takes `memory` bytes, and
    /// those of a record.
    ///
    /// Errors: what the query fails with; an array of more than one dimension; out of memory.
    pub fn read(relations: Relations<'_>, candidates: &CandidatePairs, memory: usize) -> TokenFile {
        let mut read = Unordered {
            words: SpillVec::new(0),
            entries: RecordSort::new(memory),
            key: Vec::new(),
            hashes: TokenHashList::new(),
        };
        progress::phase(phases::READING_TOKENS, None);
        for (side, records) in relations.each().enumerate() {
            let mut sql = query(records);
            let mut arguments = Vec::new();
            if let Some(keys) = candidates.keys() {
                let keys = (0..keys.len() as u32).map(|number| text_datum(keys.key(number)));
                arguments.push(text_array(&mut keys.collect::<Vec<_>>()));
                sql = sql.text(" AND ").sql(&only_new::among(&records.key));
            }
            let cursor = session::read(sql, &arguments, BATCH);
            let mut output = cursor.output(0);
            cursor.each(|row| {
                let Some(key) = row.datum(0) else { return };
                output.show(key, |key| {
                    let Some(id) = candidates.wanted(side, key) else {
                        return;
                    };
                    // SAFETY: the query selects an array of texts, which lives as long as the row.
                    let tokens = row
                        .datum(1)
                        .map(|tokens| unsafe { Tokens::new(tokens) }.or_raise());
                    read.push(id, key, tokens.as_ref());
                });
            });
        }
        TokenFile::ordered(read)
    }

    /// Puts the records into the order of their identities.
    fn ordered(read: Unordered) -> TokenFile {
        let Unordered {
            words: mut from,
            entries,
            ..
        } = read;
        let (mut words, mut index) = (SpillVec::new(0), SpillVec::new(0));
        let mut last: Option<[u64; 4]> = None;
        for [high, low, at, len] in entries.finish() {
            check_for_interrupts();
            if let Some(same) = last.as_mut().filter(|last| last[..2] == [high, low]) {
                same[1] |= REPEATED;
                continue;
            }
            // of one that is repeated, the rest are left out
            if last.is_some_and(|last| last[..2] == [high, low | REPEATED]) {
                continue;
            }
            last.into_iter().for_each(|last| index.push(last));
            last = Some([high, low, words.len(), len]);
            words.extend(from.get(at..at + len));
        }
        last.into_iter().for_each(|last| index.push(last));
        TokenFile { words, index }
    }

    /// Reads a record to the end of `to`.
    ///
    /// Errors: out of memory.
    pub fn append(&mut self, entry: &RecordPlace, to: &mut Vec<u64>) {
        let end = entry.at + entry.words as u64;
        self.words.append_to(entry.at..end, to);
    }

    /// Begins to read the index.
    pub fn entries(&self) -> Entries {
        Entries {
            next: 0,
            block: Vec::new(),
            at: 0,
        }
    }
}

/// Reads the index in its order, which is that of the identities.
pub struct Entries {
    /// The first entry that has not been read.
    next: u64,
    block: Vec<[u64; 4]>,
    at: usize,
}

impl Entries {
    /// The entry of a record, if it is there. Records are asked for in the order of their identities; one may be asked
    /// for again.
    pub fn find(&mut self, file: &mut TokenFile, id: RecordId) -> Option<RecordPlace> {
        loop {
            if self.at == self.block.len() {
                let end = file.index.len().min(self.next + BLOCK);
                file.index.read(self.next..end, &mut self.block);
                (self.next, self.at) = (end, 0);
            }
            let entry = RecordPlace::from(*self.block.get(self.at)?);
            if entry.id >= id {
                return (entry.id == id).then_some(entry);
            }
            self.at += 1;
        }
    }
}

/// Selects key and tokens of all records with a signature, which are called r: others are in no pair, and may have any
/// key.
fn query(records: &Records) -> Sql {
    let verified = records.verified.as_ref();
    let tokens = &verified.expect("there are tokens to compare").tokens;
    let (key, signature) = (&records.key.name, &records.signatures[0].name);
    sql!("SELECT {key}, {tokens.name} FROM {records.oid} AS r WHERE {signature} IS NOT NULL")
}
