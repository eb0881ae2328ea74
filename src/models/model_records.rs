//! Records made ready for a model.

use linkage::model::{FrequentLevels, MatchModel, Search};

use super::fields::columns;
use crate::models::records::identities::Identities;
use crate::models::records::read::{RecordTexts, Table};
use crate::models::records::sketches::Sketches;
use crate::models::records::store::{settle_levels, RowStore};
use crate::pairs::records::Records;
use pg::catalog;
use pg::error::OrRaise;
use pg::values::text::readable;

/// Records made ready for a model.
pub struct ModelRecords {
    pub texts: RecordTexts,
    pub store: RowStore,
    pub identities: Identities,
    pub all_pairs: f64,
}

impl ModelRecords {
    /// Reads the fields of the model.
    ///
    /// Errors: as [`RecordTexts::read`]; a field that a relation does not have.
    pub fn read(
        model: &MatchModel,
        relations: Vec<Records>,
        memory: usize,
        job: &'static str,
    ) -> ModelRecords {
        let tables: Vec<Table> = relations
            .into_iter()
            .map(|records| {
                let name = readable(catalog::name(records.oid).to_bytes());
                let columns = columns(
                    records.oid,
                    model.fields.iter().map(|field| field.name.as_str()),
                    &name,
                );
                Table { records, columns }
            })
            .collect();
        let levels = FrequentLevels::new(model);
        let mut store = RowStore::new(model.layout(), memory / 2);
        let mut identities = Identities::new(model.fields.len());
        let (mut of_record, mut bytes) = (vec![0; model.fields.len()], Vec::new());
        let texts = RecordTexts::read(
            &tables,
            job,
            |_, _, _| (),
            |_, values| {
                store.push(|layout, row| {
                    for (field, value) in values.iter().enumerate() {
                        let value = layout
                            .write(row, field, value.unwrap_or(""), &mut bytes)
                            .or_raise();
                        of_record[field] = value.identity;
                    }
                    settle_levels(layout, &levels, row);
                });
                identities.push(&of_record);
            },
        );
        let store = store.finish();
        ModelRecords {
            all_pairs: store.pairs(texts.second),
            texts,
            store,
            identities,
        }
    }
}

impl ModelRecords {
    /// The sketches that the chosen searches need.
    pub fn sketches(&mut self, model: &MatchModel, chosen: &[bool]) -> Sketches {
        let mut used = vec![false; model.fields.len()];
        for (planned, _) in model.searches.iter().zip(chosen).filter(|s| *s.1) {
            if let Search::Similar { fields, .. } = &planned.search {
                fields.iter().for_each(|&field| used[field] = true);
            }
        }
        let used = (0..used.len()).filter(|&field| used[field]);
        let fields = used.map(|field| (field, field, &model.fields[field].layout));
        Sketches::read(&mut self.texts, fields, model.swap, |_| true)
    }
}
