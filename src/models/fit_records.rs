//! The records that a model is fitted to: how their fields are compared, and how frequent values are.

use std::collections::HashMap;

use base::Error;
use linkage::model::mixture::{FieldFrequencies, FrequencyCount};
use linkage::model::values::{equal_level, FieldLayout, Kind, RowLayout, LEVELS};
use linkage::model::{FieldModel, FrequentLevels, LeftOut};

use super::compounds::Compounds;
use super::fields::{is_date, is_fraction, FieldWish};
use super::guess::{self, Seen};
use super::warnings::{self, Unread};
use crate::models::records::labels::Labels;
use crate::models::records::prepared::{PreparedRecords, RecordWriter};
use crate::models::records::read::{RecordSet, RecordTexts, Table};
use crate::pairs::random::mix;
use pg::catalog;
use pg::error::{raise, OrRaise};
use pg::progress::{self, phases};
use pg::values::text::readable;

/// Of equal records eight count, or they drown the others.
const MOST_EQUAL: u32 = 8;

/// Records of which all values are looked at for their length and how they are written; of those behind, one in 16.
const SAMPLE: u32 = 20_000;

/// The records, ready to be compared.
pub struct FitRecords {
    pub prepared: PreparedRecords,
    /// By field.
    pub frequencies: Vec<FieldFrequencies>,
    /// The fields, with everything but the levels' shares.
    pub fields: Vec<FieldModel>,
    pub swap: Option<[usize; 2]>,
    /// Fields whose values hold those of others, each with these, as bits.
    pub compounds: Vec<u32>,
    /// What somebody has said of pairs.
    pub labels: Labels,
    /// What is amiss with the fields.
    pub warnings: Vec<Error>,
    /// Which records count.
    counts: RecordSet,
}

/// What a fit is asked to compare.
pub struct FitFields<'a> {
    pub wishes: Vec<FieldWish>,
    /// `None`: to be guessed.
    pub personal: Option<&'a [String]>,
    /// Nobody has named the fields.
    pub are_guessed: bool,
    pub labels: Labels,
    pub left_out: &'a mut Vec<LeftOut>,
}

impl FitRecords {
    /// Reads the records of one table or two.
    ///
    /// Errors: as [`RecordTexts::read`]; a table without records; out of memory.
    pub fn read(
        tables: &[Table],
        mut fields: FitFields<'_>,
        memory: usize,
        job: &'static str,
    ) -> FitRecords {
        let n = fields.wishes.len();
        let mut seen = vec![Seen::default(); n];
        let mut labels = std::mem::take(&mut fields.labels);
        let note = |key: &[u8], side, record| labels.note(key, side, record);
        let mut texts = RecordTexts::read(tables, job, note, |record, values| {
            let in_sample = is_sampled(record);
            for (seen, value) in seen.iter_mut().zip(values) {
                seen.add(value.unwrap_or(""), in_sample);
            }
        });
        if let Some(i) = texts.by_relation().iter().position(|&records| records == 0) {
            let name = readable(catalog::name(tables[i].records.oid).to_bytes());
            raise(
                &Error::invalid(format!("relation \"{name}\" has no records to learn from"))
                    .hint("Fit the model when it has some; a model that was fitted before can be used until then."),
            );
        }
        let mut warnings = Vec::new();
        let smaller = texts.smaller();
        let (models, taken, swap) = settle_fields(tables, fields, &seen, smaller, &mut warnings);
        let layout = RowLayout::new(models.iter().map(|m| m.layout.clone()).collect(), swap);
        let mut writer = RecordWriter::new(layout, memory / 2, None);
        let mut compounds = Compounds::new(&models, texts.records);
        let mut unread = vec![Unread::default(); models.len()];
        texts.each(|record, values| {
            let values = taken.iter().map(|&column| values[column].as_str());
            compounds.look(record, values.clone());
            if is_sampled(record) {
                for ((unread, field), value) in unread.iter_mut().zip(&models).zip(values.clone()) {
                    unread.look(&field.layout, value);
                }
            }
            writer.push(values);
        });
        let compounds = compounds.finish();
        for ((unread, field), &column) in unread.iter().zip(&models).zip(&taken) {
            warnings.extend(unread.warning(field, &seen[column]));
        }
        let mut prepared = writer.finish(texts, taken);
        let mut records = FitRecords {
            counts: without_equal(&mut prepared, memory / 4),
            prepared,
            frequencies: Vec::new(),
            fields: models,
            swap,
            compounds,
            labels,
            warnings,
        };
        progress::phase(phases::COUNTING_VALUES, Some(records.fields.len() as u64));
        for field in 0..records.fields.len() {
            progress::done(field as u64);
            records.count_values(field, memory / 4);
        }
        let levels = FrequentLevels::of_fields(&records.fields);
        let prepared = &mut records.prepared;
        let counts = |record: u32| records.counts.has(record);
        prepared.store.settle(&levels, counts);
        let counted = |range: std::ops::Range<u32>| range.filter(|&r| counts(r)).count() as f64;
        let all = prepared.store.records;
        prepared.all_pairs = match prepared.texts.second {
            None => counted(0..all) * (counted(0..all) - 1.0) / 2.0,
            Some(second) => counted(0..second) * counted(second..all),
        };
        records
    }

    /// Counts the values of a field, and notes those that are frequent.
    fn count_values(&mut self, field: usize, memory: usize) {
        let (prepared, counts) = (&mut self.prepared, &self.counts);
        let mut present = 0;
        prepared.identities.each(&[field], false, |record, _| {
            present += u64::from(counts.has(record))
        });
        let rare_level = equal_level(1.0 / present.max(2) as f64);
        let mut count = FrequencyCount::new(present);
        // by the first record that has it
        let mut frequent: Vec<(u32, f64)> = Vec::new();
        let mut value: Option<(u32, u64)> = None;
        let mut finish = |value: Option<(u32, u64)>| {
            if let Some((first, records)) = value.filter(|v| v.1 > 0) {
                if count.add(records) > rare_level && records > 1 {
                    frequent.push((first, records as f64 / present.max(2) as f64));
                }
            }
        };
        for entry in prepared.identities.blocks(&[field], false, memory) {
            if entry.is_first {
                finish(value.replace((entry.record, 0)));
            }
            if let Some((_, records)) = &mut value {
                *records += u64::from(counts.has(entry.record));
            }
        }
        finish(value);
        self.frequencies.push(count.finish());
        let model = &mut self.fields[field];
        model.filled = present as f64 / f64::from(prepared.store.records).max(1.0);
        model.information = self.frequencies[field].information();
        model.rare_level = rare_level;
        let mut of_record = Vec::new();
        let mut normal: HashMap<String, f64> = HashMap::new();
        for (first, share) in frequent {
            prepared.texts.get(first, &mut of_record);
            let value = &of_record[prepared.columns[field]];
            normal.insert(model.layout.normal(value).or_raise(), share);
        }
        model.frequent = normal.into_iter().collect();
        model
            .frequent
            .sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    }

    /// The number of the `k`th of so many random pairs; `None` if it is none.
    pub fn random_pair(&self, k: u64) -> Option<(u32, u32)> {
        let n = u64::from(self.prepared.store.records);
        let number = |k: u64| ((u128::from(mix(k)) * u128::from(n)) >> 64) as u32;
        let (a, b) = (number(2 * k), number(2 * k + 1));
        let (a, b) = (a.min(b), a.max(b));
        let is_pair = match self.prepared.texts.second {
            None => a != b,
            Some(second) => a < second && b >= second,
        };
        is_pair.then_some((a, b))
    }
}

/// Whether all values of a record are looked at.
fn is_sampled(record: u32) -> bool {
    record < SAMPLE || record.is_multiple_of(16)
}

/// Which records count: of those with equal values some only.
fn without_equal(records: &mut PreparedRecords, memory: usize) -> RecordSet {
    let mut counts = RecordSet::full(records.store.records);
    let fields: Vec<usize> = (0..records.columns.len()).collect();
    let mut equal = 0;
    for entry in records.identities.blocks(&fields, true, memory) {
        equal = if entry.is_first { 1 } else { equal + 1 };
        if equal > MOST_EQUAL {
            counts.remove(entry.record);
        }
    }
    counts
}

/// The fields with their kinds, and which of the columns that were read they are. Of two tables the smaller one has
/// `smaller` records.
fn settle_fields(
    tables: &[Table],
    fields: FitFields<'_>,
    seen: &[Seen],
    smaller: Option<u32>,
    warnings: &mut Vec<Error>,
) -> (Vec<FieldModel>, Vec<usize>, Option<[usize; 2]>) {
    let (mut models, mut taken) = (Vec::new(), Vec::new());
    for (i, (wish, seen)) in fields.wishes.iter().zip(seen).enumerate() {
        if seen.present == 0 {
            fields.left_out.push(LeftOut {
                column: wish.name.clone(),
                reason: "has no values".to_owned(),
            });
            continue;
        }
        let of_type = tables[0].columns[i].type_oid;
        let (kind, reading) = match (wish.kind, &wish.reading) {
            (Some(kind), Some(reading)) => (kind, Some(reading.clone())),
            (Some(kind), None) => (kind, guess::reading(kind, seen)),
            (None, _) => guess::kind(&wish.name, is_date(of_type), is_fraction(of_type), seen),
        };
        let guessed_personal = guess::is_personal(&wish.name, seen);
        let says_who = guessed_personal || guess::is_surname(&wish.name) || kind == Kind::Date;
        if !says_who && !seen.could_be_personal() && seen.is_unique(smaller) {
            if fields.are_guessed {
                fields.left_out.push(LeftOut {
                    column: wish.name.clone(),
                    reason: "has another value in nearly every record; name it among the fields if it is one".to_owned(),
                });
                if seen.are_few() {
                    warnings.push(warnings::left_out(&wish.name));
                }
                continue;
            }
            warnings.push(warnings::unique(&wish.name));
        }
        let personal = match fields.personal {
            Some(names) => names.contains(&wish.name),
            None => guessed_personal,
        };
        models.push(FieldModel {
            name: wish.name.clone(),
            layout: FieldLayout::new(kind, seen.usual_length())
                .or_raise()
                .with_reading(reading),
            personal,
            filled: 0.0,
            information: 0.0,
            u: [0.0; LEVELS],
            rare_level: 0,
            frequent: Vec::new(),
        });
        taken.push(i);
    }
    if fields.personal.is_none() {
        warnings.extend(warnings::unknown_people(&fields.wishes, seen));
    }
    let find = |is: fn(&str) -> bool| {
        let is_name = |m: &FieldModel| m.layout.kind() == Kind::Name;
        models.iter().position(|m| is_name(m) && is(&m.name))
    };
    let swap = find(guess::is_given_name)
        .zip(find(guess::is_surname))
        .map(|(a, b)| [a, b]);
    // Values that change places are compared alike.
    let is_same_reading =
        |&[a, b]: &[usize; 2]| models[a].layout.reading() == models[b].layout.reading();
    let swap = swap.filter(is_same_reading);
    if let Some([a, b]) = swap {
        let segment = models[a].layout.segment().max(models[b].layout.segment());
        for k in [a, b] {
            let layout = &models[k].layout;
            models[k].layout = FieldLayout::of_segment(layout.kind(), segment.into())
                .or_raise()
                .with_reading(layout.reading().cloned());
        }
    }
    (models, taken, swap)
}
