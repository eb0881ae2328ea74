//! The sketches of values, one column for each field, in temporary files if they are many.

use linkage::model::keys::SimilarKeys;
use linkage::model::values::sketch::{Sketch, PARTS};
use linkage::model::values::FieldLayout;

use super::identities::Blocks;
use super::read::RecordTexts;
use pg::error::OrRaise;
use pg::file::SpillVec;

/// Records whose sketches are read or written at a time.
const BLOCK: usize = 4096;

/// Words of a sketch.
const WORDS: usize = PARTS / 4;

/// Sketches of some records, or of all, for each of some fields.
pub struct Sketches {
    /// The numbers of the records.
    records: SpillVec<[u32; 1]>,
    /// Fields, with the words of their sketches, in the same order.
    columns: Vec<(usize, SpillVec<u64>)>,
}

impl Default for Sketches {
    fn default() -> Sketches {
        Sketches {
            records: SpillVec::new(BLOCK * size_of::<u32>()),
            columns: Vec::new(),
        }
    }
}

impl Sketches {
    /// Reads the sketches of these fields. `fields`: the number of each in the model, its column among the texts, and
    /// how its values are compared. Only records that `has` says have sketches.
    ///
    /// Errors: out of memory.
    pub fn read<'l>(
        texts: &mut RecordTexts,
        fields: impl IntoIterator<Item = (usize, usize, &'l FieldLayout)>,
        has: impl Fn(u32) -> bool,
    ) -> Sketches {
        let mut read = Sketches::default();
        let mut sources = Vec::new();
        for (field, text, layout) in fields {
            let column = SpillVec::new(WORDS * BLOCK * size_of::<u64>());
            read.columns.push((field, column));
            sources.push((text, layout));
        }
        if !sources.is_empty() {
            texts.each_of(has, |record, values| {
                read.records.push([record]);
                for ((_, column), &(text, layout)) in read.columns.iter_mut().zip(&sources) {
                    column.extend(&layout.sketch(&values[text]).or_raise());
                }
            });
        }
        read
    }

    /// The records in blocks of those that have a key in common, that of this `number`. Records that lack a value are left
    /// out.
    ///
    /// `all`: how many records there are. Sorting takes `memory` bytes.
    pub fn blocks(&mut self, keys: &SimilarKeys, number: usize, all: u32, memory: usize) -> Blocks {
        let mut columns: Vec<&mut SpillVec<u64>> = (self.columns.iter_mut())
            .filter(|(field, _)| keys.fields.contains(field))
            .map(|(_, column)| column)
            .collect();
        Blocks::sort(all, memory, |each| {
            let mut blocks = vec![Vec::new(); columns.len()];
            let mut sketches = vec![Sketch::default(); columns.len()];
            self.records.each(BLOCK, |first, records| {
                let words = WORDS as u64 * first..WORDS as u64 * (first + records.len() as u64);
                for (block, column) in blocks.iter_mut().zip(&mut columns) {
                    column.read(words.clone(), block);
                }
                for (i, &[record]) in records.iter().enumerate() {
                    for (sketch, block) in sketches.iter_mut().zip(&blocks) {
                        sketch.copy_from_slice(&block[WORDS * i..][..WORDS]);
                    }
                    if let Some(key) = keys.key(&sketches, number) {
                        each(record, key);
                    }
                }
            });
        })
    }
}
