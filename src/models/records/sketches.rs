//! The sketches of values, one column for each field, in temporary files if they are many.

use linkage::model::keys::SimilarKeys;
use linkage::model::values::sketch::{Sketch, PARTS};
use linkage::model::values::FieldLayout;

use super::identities::Blocks;
use super::read::RecordTexts;
use pg::check_for_interrupts;
use pg::error::OrRaise;
use pg::file::SpillVec;

/// Records whose sketches are read or written at a time.
const BLOCK: usize = 4096;

/// Words of a sketch.
const WORDS: usize = PARTS / 4;

/// A sketch for each record and for each of some fields.
#[derive(Default)]
pub struct Sketches {
    /// Fields, with the words of their sketches.
    columns: Vec<(usize, SpillVec<u64>)>,
    records: u32,
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
        let mut columns = Vec::new();
        let mut sources = Vec::new();
        for (field, text, layout) in fields {
            columns.push((field, SpillVec::new(WORDS * BLOCK * size_of::<u64>())));
            sources.push((text, layout));
        }
        if !columns.is_empty() {
            texts.each(|record, values| {
                check_for_interrupts();
                let has = has(record);
                for ((_, column), &(text, layout)) in columns.iter_mut().zip(&sources) {
                    column.extend(&match has {
                        true => layout.sketch(&values[text]).or_raise(),
                        false => Sketch::default(),
                    });
                }
            });
        }
        Sketches {
            columns,
            records: texts.records,
        }
    }

    /// The records in blocks of those that have a key in common, that of this `number`. Records that lack a value are left
    /// out.
    ///
    /// Sorting takes `memory` bytes.
    pub fn blocks(&mut self, keys: &SimilarKeys, number: usize, memory: usize) -> Blocks {
        let records = self.records;
        let mut columns: Vec<&mut SpillVec<u64>> = (self.columns.iter_mut())
            .filter(|(field, _)| keys.fields.contains(field))
            .map(|(_, column)| column)
            .collect();
        Blocks::sort(records, memory, |each| {
            let mut blocks = vec![Vec::new(); columns.len()];
            let mut sketches = vec![Sketch::default(); columns.len()];
            let mut begin = 0;
            while begin < records {
                check_for_interrupts();
                let some = (records - begin).min(BLOCK as u32);
                let range = WORDS as u64 * u64::from(begin)..WORDS as u64 * u64::from(begin + some);
                for (block, column) in blocks.iter_mut().zip(&mut columns) {
                    column.read(range.clone(), block);
                }
                for i in 0..some {
                    for (sketch, block) in sketches.iter_mut().zip(&blocks) {
                        sketch.copy_from_slice(&block[WORDS * i as usize..][..WORDS]);
                    }
                    if let Some(key) = keys.key(&sketches, number) {
                        each(begin + i, key);
                    }
                }
                begin += some;
            }
        })
    }
}
