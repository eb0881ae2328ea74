//! Which records have which words, and what these weigh. All words are sorted, so that records of a word, and words of
//! a record, follow each other.

use std::ops::Range;

use base::memory::filled;
use linkage::model::things::nearest::is_looked_up;
use linkage::model::things::WordOf;
use linkage::model::values::{words, FieldLayout, Kind};
use linkage::model::FieldModel;

use super::{check_room, needed};
use crate::models::fit_records::FitRecords;
use crate::models::records::identities::{bits_of, BlockSort, Blocks};
use crate::models::records::store::RowStore;
use pg::budget::Budget;
use pg::check_for_interrupts;
use pg::error::OrRaise;
use pg::file::{RecordSort, SpillVec};

/// Words of records at a time.
const BLOCK: u64 = 4096;

/// Sorts the words of all records: of all fields, which are the most, and of each field of texts, whose number comes with
/// them. Takes `memory` bytes.
///
/// Errors: out of memory.
pub fn sort_words(records: &mut FitRecords, memory: usize) -> Vec<(Option<usize>, Blocks)> {
    let has_words = |field: &FieldModel| field.layout.kind() != Kind::Number;
    let fields = (0..records.fields.len()).filter(|&k| has_words(&records.fields[k]));
    let slots: Vec<Option<usize>> = [None].into_iter().chain(fields.map(Some)).collect();
    let n = records.prepared.store.records;
    let new = || BlockSort::new(n, memory / slots.len());
    let mut sorts: Vec<BlockSort> = slots.iter().map(|_| new()).collect();
    let plain = FieldLayout::new(Kind::Text, 0).or_raise();
    // one value may have millions of words
    let push = |sort: Option<&mut BlockSort>, record: u32, normal: &str| {
        let Some(sort) = sort else { return };
        for (i, (word, _)) in words::words_of(normal).enumerate() {
            if (i as u64).is_multiple_of(BLOCK) {
                check_for_interrupts();
            }
            sort.push(record, words::highest(word));
        }
    };
    let columns = &records.prepared.columns;
    let mut all = String::new();
    records.prepared.texts.each(|record, values| {
        check_for_interrupts();
        all.clear();
        let mut sorts_of = sorts.iter_mut();
        let of_all = sorts_of.next();
        for (field, &column) in records.fields.iter().zip(columns) {
            let normal = plain.normal(&values[column]).or_raise();
            if has_words(field) {
                push(sorts_of.next(), record, &normal);
            }
            if !normal.is_empty() {
                all.push('_');
                all.push_str(&normal);
            }
        }
        push(of_all, record, &all);
    });
    let sorts = slots.into_iter().zip(sorts);
    sorts.map(|(slot, sort)| (slot, sort.finish())).collect()
}

/// The words of records that are looked up, numbered.
pub struct RecordWords {
    /// The number of a word, and a record that has it, in their order.
    by_word: SpillVec<u64>,
    /// A record and the number of a word of it, in their order.
    by_record: SpillVec<u64>,
    pub weights: WordWeights,
}

impl RecordWords {
    /// Numbers sorted words. `weigh` gets each record that has a word, how many have it, and what tells it apart.
    ///
    /// Errors: what has to be in memory does not fit there.
    pub fn new(
        blocks: Blocks,
        records: u32,
        memory: usize,
        mut weigh: impl FnMut(u32, u32, u64),
    ) -> RecordWords {
        let mut of = RecordWords {
            by_word: SpillVec::new(memory / 2),
            by_record: SpillVec::new(0),
            weights: WordWeights {
                words: Vec::new(),
                lengths: filled(records as usize, 0.0).or_raise(),
            },
        };
        let mut by_record = RecordSort::new(memory / 2);
        let (mut group, mut word) = (Vec::new(), 0);
        // those that have no room are counted, so that an error can say how much they need
        let (mut numbered, room) = (0, Budget::of_setting().bytes());
        let mut end = |of: &mut RecordWords, group: &mut Vec<u32>, word: u64| {
            let weight = words::weight(records.into(), group.len() as u64);
            let number = numbered as u64;
            let is_looked_up = is_looked_up(records.into(), group.len() as u64);
            for (i, &record) in group.iter().enumerate() {
                if i % BLOCK as usize == 0 {
                    check_for_interrupts();
                }
                of.weights.lengths[record as usize] += weight * weight;
                weigh(record, group.len() as u32, word);
                if is_looked_up {
                    of.by_word.push(number << 32 | u64::from(record));
                    by_record.push([u64::from(record) << 32 | number]);
                }
            }
            group.clear();
            if is_looked_up {
                numbered += 1;
                if needed(records, numbered) <= room {
                    of.weights.words.push(weight as f32);
                }
            }
        };
        for entry in blocks {
            if entry.is_first {
                end(&mut of, &mut group, word);
                word = entry.block;
            }
            group.push(entry.record);
        }
        end(&mut of, &mut group, word);
        check_room(records, numbered);
        let lengths = of.weights.lengths.iter_mut();
        lengths.for_each(|length| *length = length.sqrt());
        of.by_record = by_record.finish().into_vec();
        of
    }

    /// Gives each word of each record to `each`, in the order of the words and then of the records.
    pub fn each_by_word(&mut self, mut each: impl FnMut(u32, WordOf)) {
        let weights = &self.weights;
        self.by_word.each(BLOCK as usize, |_, some| {
            for &of in some {
                let (word, record) = ((of >> 32) as u32, of as u32);
                each(record, weights.of(record, word));
            }
        });
    }

    /// Gives each of some records that have words to `each`, with these.
    pub fn each_record(&mut self, of: Range<u32>, mut each: impl FnMut(u32, &[WordOf])) {
        let weights = &self.weights;
        let (mut record, mut words) = (of.start, Vec::new());
        let mut end = |record: u32, words: &mut Vec<WordOf>| {
            if !words.is_empty() {
                each(record, words);
                words.clear();
            }
        };
        self.by_record.each(BLOCK as usize, |_, some| {
            for &word in some {
                let (next, word) = ((word >> 32) as u32, word as u32);
                if next != record {
                    end(record, &mut words);
                    record = next;
                }
                if of.contains(&next) {
                    words.push(weights.of(next, word));
                }
            }
        });
        end(record, &mut words);
    }
}

/// What words weigh in records.
#[derive(Default)]
pub struct WordWeights {
    /// What each word weighs.
    words: Vec<f32>,
    /// How long the vector of the weights of each record is.
    lengths: Vec<f64>,
}

impl WordWeights {
    fn of(&self, record: u32, word: u32) -> WordOf {
        let length = self.lengths[record as usize].max(1e-9);
        WordOf {
            word,
            weight: (f64::from(self.words[word as usize]) / length) as f32,
        }
    }

    /// How many words there are.
    pub fn words(&self) -> usize {
        self.words.len()
    }
}

/// How many records have each word of each record of a field.
pub struct WordCounts {
    /// A record and how many have one of its words; what tells the word apart.
    sort: RecordSort<2>,
}

impl WordCounts {
    /// Sorting takes `memory` bytes.
    pub fn new(memory: usize) -> WordCounts {
        WordCounts {
            sort: RecordSort::new(memory),
        }
    }

    /// A record that has a word, which so many have.
    pub fn push(&mut self, record: u32, with: u32, word: u64) {
        self.sort
            .push([u64::from(record) << 32 | u64::from(with), word]);
    }

    /// Sets what the words of a field weigh, which so many records have.
    pub fn weigh(self, store: &mut RowStore, field: usize, present: u64) {
        let bits = bits_of(store.records);
        let mut sorted = self.sort.finish().peekable();
        let mut of_record: Vec<(u64, u64)> = Vec::new();
        store.change(|layout, record, row| {
            of_record.clear();
            while let Some([first, word]) = sorted.next_if(|of| of[0] >> 32 == u64::from(record)) {
                of_record.push((word, first & u64::from(u32::MAX)));
            }
            of_record.sort_unstable();
            layout.weigh(row, field, present, |hash| {
                let word = words::highest(hash) >> bits;
                let at = of_record.binary_search_by_key(&word, |of| of.0);
                at.map_or(1, |at| of_record[at].1)
            });
        });
    }
}
