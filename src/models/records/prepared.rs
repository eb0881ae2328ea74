//! Records that are ready to be searched and compared, for a fit or by a model.

use linkage::model::values::RowLayout;
use linkage::model::{FieldModel, FrequentLevels, MatchModel, Search};

use super::identities::Identities;
use super::large_blocks::LargeBlocks;
use super::read::{RecordTexts, Table};
use super::sketches::Sketches;
use super::store::{settle_levels, RowStore};
use crate::pairs::records::Records;
use pg::error::OrRaise;

/// Records that are ready to be searched and compared.
pub struct PreparedRecords {
    pub texts: RecordTexts,
    /// Which of the texts' columns each field is.
    pub columns: Vec<usize>,
    pub store: RowStore,
    pub identities: Identities,
    /// Those that the searches need, once they are read.
    pub sketches: Sketches,
    /// Blocks of searches by equality that are left out, though few of their records are there.
    pub large: LargeBlocks,
    /// Pairs of records; in a fit those that count.
    pub all_pairs: f64,
}

impl PreparedRecords {
    /// Reads the fields of a model.
    ///
    /// Errors: as [`RecordTexts::read`]; a field that a relation does not have.
    pub fn read(
        model: &MatchModel,
        relations: Vec<Records>,
        memory: usize,
        job: &'static str,
    ) -> PreparedRecords {
        let names: Vec<&str> = model
            .fields
            .iter()
            .map(|field| field.name.as_str())
            .collect();
        let tables = Table::of_relations(relations, &names);
        let levels = FrequentLevels::new(model);
        let mut writer = RecordWriter::new(&model.fields, model.layout(), memory / 2, Some(levels));
        let texts = RecordTexts::read(
            &tables,
            job,
            |_, _, _| (),
            |_, values| {
                writer.push(values.iter().map(|value| value.unwrap_or("")));
            },
        );
        writer.finish(texts, (0..names.len()).collect())
    }

    /// Reads the records once more, for the sketches that some searches need. Only records that `has` says have
    /// sketches; others are left out as those without values.
    ///
    /// Errors: out of memory.
    pub fn read_sketches<'s>(
        &mut self,
        fields: &[FieldModel],
        searches: impl IntoIterator<Item = &'s Search>,
        has: impl Fn(u32) -> bool,
    ) {
        let mut used = vec![false; fields.len()];
        for search in searches {
            if let Search::Similar { fields, .. } = search {
                fields.iter().for_each(|&field| used[field] = true);
            }
        }
        let used = (0..fields.len()).filter(|&field| used[field]);
        let used = used.map(|field| (field, self.columns[field], &fields[field].layout));
        self.sketches = Sketches::read(&mut self.texts, used, has);
    }
}

/// Makes rows of records, and notes the identities of their values.
pub struct RecordWriter<'m> {
    fields: &'m [FieldModel],
    store: RowStore,
    identities: Identities,
    /// With these levels of equal values, if they are known.
    levels: Option<FrequentLevels>,
    of_record: Vec<u64>,
    bytes: Vec<u8>,
}

impl RecordWriter<'_> {
    /// The rows take about `memory` bytes. `layout`: that of the fields.
    pub fn new(
        fields: &[FieldModel],
        layout: RowLayout,
        memory: usize,
        levels: Option<FrequentLevels>,
    ) -> RecordWriter<'_> {
        RecordWriter {
            store: RowStore::new(layout, memory),
            identities: Identities::new(fields.len()),
            levels,
            of_record: vec![0; fields.len()],
            fields,
            bytes: Vec::new(),
        }
    }

    /// The fields of the next record. A missing value is empty. Returns those that have no value, as bits.
    ///
    /// Errors: a value that the field's kind does not allow; out of memory.
    pub fn push<'v>(&mut self, values: impl Iterator<Item = &'v str>) -> u32 {
        self.store.push(|layout, row| {
            for (field, value) in values.enumerate() {
                let value = layout.write(row, field, value, &mut self.bytes);
                let value = value.map_err(|error| self.fields[field].value_error(error));
                let value = value.or_raise();
                self.of_record[field] = value.identity;
            }
            let levels = self.levels.iter();
            levels.for_each(|levels| settle_levels(layout, levels, row));
        });
        self.identities.push(&self.of_record);
        let fields = self.of_record.iter().enumerate();
        let lacking = fields.filter(|(_, &identity)| identity == 0);
        lacking.fold(0, |bits, (k, _)| bits | 1 << k)
    }

    /// The records are complete. `columns` says which of the texts' columns each field is.
    pub fn finish(self, texts: RecordTexts, columns: Vec<usize>) -> PreparedRecords {
        let store = self.store.finish();
        PreparedRecords {
            all_pairs: store.pairs(texts.second),
            texts,
            columns,
            store,
            identities: self.identities,
            sketches: Sketches::default(),
            large: LargeBlocks::default(),
        }
    }
}
