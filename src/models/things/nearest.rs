//! The candidates: of each record those of the other table whose words are nearest, over all fields and over each field
//! of texts, each side by the other.

use std::ops::Range;

use linkage::model::things::nearest::{NEAREST_OF_ALL, NEAREST_OF_FIELD};
use linkage::model::things::{Nearest, Postings};

use super::check_room;
use super::words::{sort_words, RecordWords, WordCounts};
use crate::models::fit_records::FitRecords;
use crate::models::search::candidates::Candidates;
use pg::check_for_interrupts;
use pg::error::OrRaise;
use pg::file::RecordSort;
use pg::progress::{self, phases};

/// Words that are read at a time.
const BLOCK: usize = 4096;

/// Sets what the words of the records weigh, and adds the nearest records to `candidates`, as of search 0. Takes five
/// eighths of `memory`.
///
/// Errors: what has to be in memory does not fit there.
pub fn search(records: &mut FitRecords, candidates: &mut Candidates, memory: usize) {
    let n = records.prepared.store.records;
    let second = records.prepared.texts.second.unwrap_or(n);
    check_room(n, 0);
    let sorts = sort_words(records, memory / 4);
    progress::phase(phases::SEARCHING_SIMILAR, Some(sorts.len() as u64));
    for (i, (field, blocks)) in sorts.into_iter().enumerate() {
        progress::done(i as u64);
        let weighed = field.filter(|&k| records.fields[k].layout.most_words() > 0);
        let mut counts = WordCounts::new(memory / 8);
        let words = RecordWords::new(blocks, n, memory / 8, |record, with, word| {
            if weighed.is_some() {
                counts.push(record, with, word);
            }
        });
        if let Some(field) = weighed {
            let present = records.frequencies[field].present;
            counts.weigh(&mut records.prepared.store, field, present);
        }
        let most = match field {
            Some(_) => NEAREST_OF_FIELD,
            None => NEAREST_OF_ALL,
        };
        let mut search = NearestSearch {
            words,
            most,
            memory: memory / 8,
        };
        search.find(0..second, second..n, |a, b| candidates.push(a, b, 0));
        search.find(second..n, 0..second, |b, a| candidates.push(a, b, 0));
    }
}

/// A search among the words of records.
struct NearestSearch {
    words: RecordWords,
    /// How many records are found for each.
    most: usize,
    memory: usize,
}

impl NearestSearch {
    /// Gives each of some records with each of its nearest among others to `each`.
    fn find(&mut self, of: Range<u32>, among: Range<u32>, mut each: impl FnMut(u32, u32)) {
        let parts = self.parts(among);
        if let [(part, words)] = &parts[..] {
            let each = |record, other, _| each(record, other);
            return self.find_in(of, part.clone(), *words, each);
        }
        // of each part the nearest, the nearest of all first
        let mut found = RecordSort::new(self.memory / 2);
        for (part, words) in parts {
            self.find_in(of.clone(), part, words, |record, other, common| {
                let nearest = u64::from(u32::MAX - common.to_bits());
                found.push([u64::from(record) << 32 | nearest, other.into()]);
            });
        }
        let (mut last, mut taken) = (None, 0);
        for (i, [first, other]) in found.finish().enumerate() {
            if i % BLOCK == 0 {
                check_for_interrupts();
            }
            let record = (first >> 32) as u32;
            taken = if last.replace(record) == Some(record) {
                taken + 1
            } else {
                1
            };
            if taken <= self.most {
                each(record, other as u32);
            }
        }
    }

    /// Parts of some records, each with how many words they have, so that these fit into half of the memory.
    fn parts(&mut self, among: Range<u32>) -> Vec<(Range<u32>, usize)> {
        let most = self.memory / 2 / Postings::BYTES;
        let (mut parts, mut begin, mut words) = (Vec::new(), among.start, 0);
        self.words.each_record(among.clone(), |record, of| {
            if words + of.len() > most && words > 0 {
                parts.push((begin..record, words));
                (begin, words) = (record, 0);
            }
            words += of.len();
        });
        parts.push((begin..among.end, words));
        parts
    }

    /// Gives each of some records with each of its nearest among a part of others to `each`, and what both have in
    /// common.
    fn find_in(
        &mut self,
        of: Range<u32>,
        part: Range<u32>,
        words_of_part: usize,
        mut each: impl FnMut(u32, u32, f32),
    ) {
        let words = &mut self.words;
        let room = Postings::with_room(words.weights.words(), words_of_part);
        let mut postings = room.or_raise();
        words.each_by_word(|record, of| {
            if part.contains(&record) {
                postings.push(record - part.start, of);
            }
        });
        let mut nearest = Nearest::new(&postings).or_raise();
        let most = self.most;
        words.each_record(of, |record, of| {
            nearest.find(of, most, |other, common| {
                each(record, part.start + other, common)
            });
        });
    }
}
