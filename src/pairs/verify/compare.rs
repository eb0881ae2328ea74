//! Comparing the tokens of candidates, band by band: as many first records of candidates as fit into memory are held,
//! and their second records pass by.

use std::iter::Peekable;

use text::tokens::Overlap;

use super::candidates::{pair_of, RecordId};
use super::token_file::{Entries, StoredRecord, TokenFile};
use crate::pairs::output::PairOutput;
use crate::pairs::records::Relations;
use crate::pairs::unique::{check_distinct, repeated};
use pg::budget::push;
use pg::check_for_interrupts;
use pg::file::{RecordSort, SortedRecords};
use pg::function::rows::text_datum;

/// Takes what has been compared, and gives pairs to the output.
pub struct VerifiedPairs<'a, 'o> {
    pub output: &'a mut PairOutput<'o>,
    pub relations: Relations<'a>,
    /// Candidates that have been compared, and all of them.
    pub done: u64,
    pub all: u64,
}

impl VerifiedPairs<'_, '_> {
    /// Both records, and the Jaccard similarity of their tokens, which reaches the threshold.
    fn pair(&mut self, a: StoredRecord<'_>, b: StoredRecord<'_>, similarity: f64) {
        let relations = self.relations;
        self.output.put(similarity, || {
            let keys = [a, b].map(|record| Some(text_datum(record.key())));
            check_distinct(keys, relations);
            Some(keys)
        });
    }

    /// The key of a record of a candidate, of side 0 or 1 of the pair, which another record has, too.
    fn repeated(&mut self, key: &[u8], side: usize) -> ! {
        let Relations { left, right } = self.relations;
        repeated(key, right.filter(|_| side == 1).unwrap_or(left))
    }

    /// So many candidates more have been compared.
    fn progress(&mut self, done: u64) {
        self.done += done;
        self.output.report(self.done, self.all);
    }
}

/// Some first records, one behind the other.
#[derive(Default)]
struct Held {
    words: Vec<u64>,
    /// Where each begins.
    starts: Vec<usize>,
    last: Option<RecordId>,
}

impl Held {
    fn clear(&mut self) {
        self.words.clear();
        self.starts.clear();
        self.last = None;
    }

    fn get(&self, place: u32) -> StoredRecord<'_> {
        let place = place as usize;
        let end = self.starts.get(place + 1).copied();
        StoredRecord(&self.words[self.starts[place]..end.unwrap_or(self.words.len())])
    }

    /// Bytes with another record of so many words.
    fn bytes_with(&self, words: usize) -> usize {
        size_of::<u64>() * (self.words.len() + words) + size_of::<usize>() * (self.starts.len() + 1)
    }
}

/// Compares candidates, which come in the order of their first records. It takes about `memory` bytes, and more only
/// for two records that exceed it. A record that is not in the file has no tokens.
///
/// Errors: two records with the key of one of a candidate; out of memory.
pub fn compare(
    candidates: SortedRecords<3>,
    file: &mut TokenFile,
    threshold: f64,
    memory: usize,
    sink: &mut VerifiedPairs<'_, '_>,
) {
    let mut candidates = candidates.peekable();
    let mut firsts = file.entries();
    let mut held = Held::default();
    while candidates.peek().is_some() {
        held.clear();
        let seconds = hold(&mut candidates, file, &mut firsts, &mut held, memory, sink);
        compare_held(&held, seconds, file, threshold, sink);
    }
}

/// Takes candidates as long as their first records fit into memory. Gives their second records, each with the place of
/// the first one.
fn hold(
    candidates: &mut Peekable<SortedRecords<3>>,
    file: &mut TokenFile,
    firsts: &mut Entries,
    held: &mut Held,
    memory: usize,
    sink: &mut VerifiedPairs<'_, '_>,
) -> SortedRecords<2> {
    let mut seconds = RecordSort::new(memory / 4);
    let mut passed = 0;
    while let Some(&candidate) = candidates.peek() {
        check_for_interrupts();
        let [a, b] = pair_of(candidate);
        if held.last != Some(a) {
            if let Some(entry) = firsts.find(file, a) {
                if !held.starts.is_empty() && held.bytes_with(entry.words) > memory / 2 {
                    break;
                }
                let at = held.words.len();
                push(&mut held.starts, at);
                file.append(&entry, &mut held.words);
                held.last = Some(a);
                if entry.repeated {
                    sink.repeated(StoredRecord(&held.words[at..]).key(), 0);
                }
            }
        }
        candidates.next();
        if held.last == Some(a) {
            let place = held.starts.len() as u64 - 1;
            seconds.push([b.high, u64::from(b.low) << 32 | place]);
        } else {
            passed += 1;
        }
    }
    sink.progress(passed);
    seconds.finish()
}

fn compare_held(
    held: &Held,
    seconds: SortedRecords<2>,
    file: &mut TokenFile,
    threshold: f64,
    sink: &mut VerifiedPairs<'_, '_>,
) {
    let mut entries = file.entries();
    let (mut last, mut is_there) = (None, false);
    let mut words = Vec::new();
    for [high, low] in seconds {
        check_for_interrupts();
        sink.progress(1);
        let id = RecordId::new(high, low >> 32);
        if last.replace(id) != Some(id) {
            words.clear();
            let entry = entries.find(file, id);
            is_there = entry.is_some();
            if let Some(entry) = entry {
                file.append(&entry, &mut words);
                if entry.repeated {
                    sink.repeated(StoredRecord(&words).key(), 1);
                }
            }
        }
        if !is_there {
            continue;
        }
        let (a, b) = (held.get(low as u32), StoredRecord(&words));
        let (x, y) = (a.hashes(), b.hashes());
        let most = Overlap {
            a: x.len() as u64,
            b: y.len() as u64,
            common: 0,
        };
        if most.bound() < threshold {
            continue;
        }
        let similarity = Overlap::of_hashes(x, y, check_for_interrupts).jaccard();
        if similarity >= threshold && similarity > 0.0 {
            sink.pair(a, b, similarity);
        }
    }
}
