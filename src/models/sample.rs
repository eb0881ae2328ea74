//! A sample of a relation's records, read as a model compares them: the same one each time.

use linkage::model::{FrequentLevels, MatchModel, Pattern};
use pgrx::pg_sys;

use super::fields;
use super::fit_records::{random_number, without_equal};
use crate::models::records::prepared::{PreparedRecords, RecordWriter};
use crate::models::records::read::{field_value, reading_fields, RecordSet, RecordTexts};
use pg::catalog;
use pg::check_for_interrupts;
use pg::ffi;
use pg::file::RecordSort;
use pg::progress::{self, phases};
use pg::session::{read, BATCH};
use pg::sql;
use pg::sql::Sql;
use pg::values::text::Text;
use signature::mix;

/// Most records of a sample. A relation that has no more is read as a whole.
pub const MOST: u32 = 100_000;

/// Pairs of them that are compared. If they have no more, all are.
pub const PAIRS: u32 = 500_000;

/// Of a table that nobody has analysed, so many rows are taken for those of a block.
const ROWS_OF_A_BLOCK: usize = 50;

/// So many are asked for if the relation has as many as the catalogs say, that there is room for some more.
const ASKED_FOR: f64 = 0.95 * MOST as f64;

/// A sample of a relation's records.
pub struct ModelSample {
    /// Those that were read, of which the sample is a part.
    pub records: PreparedRecords,
    /// The numbers of the records of the sample that would count in a fit: of equal ones some do not.
    pub counted: Vec<u32>,
    /// About so many rows the relation has; all of them, if it was read as a whole.
    pub rows: f64,
}

/// The share of the rows that a query is to give; `None` if it is to give all.
///
/// Only tables of the server's own kind are sampled by the server. Of anything else a query gives all rows.
fn share(oid: pg_sys::Oid) -> Option<f64> {
    let kind = catalog::kind(oid);
    let is_plain = match kind {
        // SAFETY: a look-up in the catalogs by OID. Those that inherit from a table are no partitions.
        pg_sys::RELKIND_RELATION => !unsafe { ffi::has_subclass(oid) },
        pg_sys::RELKIND_PARTITIONED_TABLE | pg_sys::RELKIND_MATVIEW => true,
        _ => false,
    };
    if !is_plain {
        return None;
    }
    let number = oid.to_u32().to_string();
    let sql = sql!(
        "SELECT pg_catalog.bool_and(c.relkind OPERATOR(pg_catalog.=) 'p' \
        OR c.relam OPERATOR(pg_catalog.=) 2::pg_catalog.oid), \
        pg_catalog.sum(pg_catalog.ceil(COALESCE(pg_catalog.pg_relation_size(c.oid), 0)::pg_catalog.float8 \
        OPERATOR(pg_catalog./) pg_catalog.current_setting('block_size')::pg_catalog.float8 \
        OPERATOR(pg_catalog.*) CASE WHEN c.relpages OPERATOR(pg_catalog.>) 0 AND c.reltuples OPERATOR(pg_catalog.>) 0 \
        THEN c.reltuples::pg_catalog.float8 OPERATOR(pg_catalog./) c.relpages::pg_catalog.float8 \
        ELSE {ROWS_OF_A_BLOCK} END))::pg_catalog.int8 FROM pg_catalog.pg_class AS c \
        WHERE c.oid OPERATOR(pg_catalog.=) {number} OR c.oid OPERATOR(pg_catalog.=) \
        ANY (SELECT relid::pg_catalog.oid FROM pg_catalog.pg_partition_tree({number}))"
    );
    let mut share = None;
    read(sql, &[], 1).each(|row| {
        let rows = row.integer(1) as f64;
        share = (row.is_true(0) && rows > f64::from(MOST)).then(|| ASKED_FOR / rows);
    });
    share
}

impl ModelSample {
    /// Reads some records as the caller. `relation` is its name for messages.
    ///
    /// Errors: a field that the relation does not have; what the query fails with.
    pub fn read(
        model: &MatchModel,
        oid: pg_sys::Oid,
        relation: &str,
        memory: usize,
    ) -> ModelSample {
        let names = model.fields.iter().map(|field| field.name.as_str());
        let columns = fields::columns(oid, names, relation);
        let values = columns
            .iter()
            .map(|column| field_value(Sql::new(", "), column));
        let values = Sql::join(values, "");
        let share = share(oid);
        let sampled = share.map_or_else(String::new, |share| {
            let percent = format!("{:.9}", 100.0 * share);
            format!(" TABLESAMPLE pg_catalog.bernoulli ({percent}) REPEATABLE (1)")
        });
        let query = sql!("SELECT NULL{values} FROM {oid} AS r{sampled}");
        let levels = FrequentLevels::new(model);
        let mut writer = RecordWriter::new(&model.fields, model.layout(), memory / 2, Some(levels));
        let mut texts = RecordTexts::without_keys(columns.len());
        // Rows whose number, mixed, has so many zeros at its end; they are fewer by half each time there are too many.
        let mut zeros = 0;
        let mut of_records: Vec<u8> = Vec::new();
        let (mut rows, mut size) = (0u64, 0);
        progress::phase(phases::READING, None);
        reading_fields(|| {
            read(query, &[], BATCH).each(|row| {
                let of_row = mix(rows).trailing_zeros() as u8;
                rows += 1;
                if of_row < zeros {
                    return;
                }
                let values: Vec<Option<Text<'_>>> =
                    (1..=columns.len()).map(|i| row.text(i)).collect();
                let values: Vec<Option<&str>> = values
                    .iter()
                    .map(|value| value.as_ref().map(Text::as_str))
                    .collect();
                texts.push(&values);
                writer.push(values.iter().map(|value| value.unwrap_or("")));
                of_records.push(of_row);
                size += 1;
                if size > MOST {
                    zeros += 1;
                    size = of_records.iter().filter(|&&of| of >= zeros).count() as u32;
                }
            });
        });
        let mut records = writer.finish(texts, (0..columns.len()).collect());
        let mut sample = RecordSet::default();
        of_records.iter().for_each(|&of| sample.push(of >= zeros));
        let counts = without_equal(&mut records, sample, memory / 4);
        ModelSample {
            counted: (0..records.store.records)
                .filter(|&record| counts.has(record))
                .collect(),
            records,
            rows: rows as f64 / share.unwrap_or(1.0),
        }
    }

    /// Compares each record of the sample with some others, or with all if these are few, and gives the patterns to
    /// `each`, with the place of the record, one record after the other. Returns whether all were compared, each pair
    /// by either record.
    pub fn pairs(&mut self, memory: usize, mut each: impl FnMut(u32, Pattern)) -> bool {
        let n = self.counted.len() as u32;
        if n < 2 {
            return true;
        }
        let others = (PAIRS / n).clamp(1, n - 1);
        let are_all = others == n - 1;
        let store = &mut self.records.store;
        let numbers = store.numbering();
        let mut pairs = RecordSort::<2>::new(memory / 8);
        for i in 0..n {
            for j in 0..others {
                let other = match are_all {
                    true => j + u32::from(j >= i),
                    false => random_number(u64::from(i) * u64::from(others) + u64::from(j), n),
                };
                if other != i {
                    let [a, b] = [i.min(other), i.max(other)].map(|at| self.counted[at as usize]);
                    pairs.push([numbers.number(a, b), i.into()]);
                }
            }
        }
        progress::phase(
            phases::COMPARING_PAIRS,
            Some(u64::from(n) * u64::from(others)),
        );
        store.expect(u64::from(n) * u64::from(others));
        let mut by_record = RecordSort::<3>::new(memory / 8);
        for (i, [pair, record]) in pairs.finish().enumerate() {
            if i % 256 == 0 {
                check_for_interrupts();
            }
            progress::step();
            let pattern = store.compare(pair).pattern.0;
            by_record.push([record, (pattern >> 64) as u64, pattern as u64]);
        }
        for [record, high, low] in by_record.finish() {
            each(
                record as u32,
                Pattern(u128::from(high) << 64 | u128::from(low)),
            );
        }
        are_all
    }
}
