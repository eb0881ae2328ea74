//! The records that a model is fitted to: how their fields are compared, and how frequent values are.

use std::collections::HashMap;

use base::Error;
use linkage::model::mixture::{FieldFrequencies, FrequencyCount};
use linkage::model::things::{RecordMasks, TableField};
use linkage::model::values::{equal_level, words, FieldLayout, Kind, Reading, RowLayout};
use linkage::model::{column_names, FieldModel, FrequentLevels, LeftOut};

use super::compounds::Compounds;
use super::fields::{self, is_date, is_fraction, FieldWish};
use super::guess::{self, Seen};
use super::warnings::{self, UnreadFields};
use crate::models::options::ModelOptions;
use crate::models::population::Population;
use crate::models::records::labels::Labels;
use crate::models::records::prepared::{PreparedRecords, RecordWriter};
use crate::models::records::read::{RecordSet, RecordTexts, Table};
use pg::catalog;
use pg::error::{raise, OrRaise};
use pg::progress::{self, phases};
use pg::values::text::readable;
use signature::mix;
use types::objects::is_signature;

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
    /// What they stand for.
    pub population: Population,
    /// What is known of each field in each of two tables.
    pub tables: Vec<[TableField; 2]>,
    /// What the records of each table lack.
    pub lacking: [RecordMasks; 2],
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
    /// What is described are things that compete.
    pub are_things: bool,
    pub options: ModelOptions,
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
        let (mut labels, are_things) = (std::mem::take(&mut fields.labels), fields.are_things);
        for (wish, column) in fields.wishes.iter_mut().zip(&tables[0].columns) {
            if wish.kind.is_none() && is_signature(column.type_oid) {
                wish.kind = Some(Kind::Signature);
            }
            if are_things && wish.kind == Some(Kind::Signature) {
                raise(&fields::not_of_things(&wish.name));
            }
        }
        let wishes = &fields.wishes;
        let note = |key: &[u8], side, record| labels.note(key, side, record);
        let mut texts = RecordTexts::read(tables, job, note, |record, values| {
            // the second table is looked at as much as the first one where kinds are guessed by more than lengths
            let in_sample = are_things || is_sampled(record);
            for ((seen, wish), value) in seen.iter_mut().zip(wishes).zip(values) {
                match (wish.kind, value.unwrap_or("")) {
                    (Some(Kind::Signature), value) => seen.add_signature(value),
                    (_, value) => seen.add(value, in_sample),
                }
            }
        });
        if let Some(i) = texts.by_relation().iter().position(|&records| records == 0) {
            let name = readable(catalog::name(tables[i].records.oid).to_bytes());
            raise(
                &Error::invalid(format!("relation \"{name}\" has no records to learn from"))
                    .hint("Fit the model when it has some; a model that was fitted before can be used until then."),
            );
        }
        let population = Population::new(&fields.options, &mut texts);
        let mut warnings = Vec::new();
        let smaller = texts.smaller();
        let (models, taken, swap) = settle_fields(tables, fields, &seen, smaller, &mut warnings);
        let seen: Vec<&Seen> = taken.iter().map(|&column| &seen[column]).collect();
        let models = (models, &seen[..]);
        let mut records = match are_things {
            true => FitRecords::of_things(texts, models, taken, memory),
            false => FitRecords::of((texts, population), models, taken, swap, memory),
        };
        records.labels = labels;
        warnings.append(&mut records.warnings);
        records.warnings = warnings;
        records
    }

    /// Records of things, whose fields are known. They take a quarter of `memory`. `seen`: what was seen of each field, or
    /// nothing where values that cannot be read are not looked for.
    ///
    /// Errors: out of memory.
    pub fn of_things(
        mut texts: RecordTexts,
        (models, seen): (Vec<FieldModel>, &[&Seen]),
        taken: Vec<usize>,
        memory: usize,
    ) -> FitRecords {
        let mut unread = UnreadFields::new(&models);
        let layout = RowLayout::new(models.iter().map(|m| m.layout.clone()).collect(), None);
        let mut writer = RecordWriter::new(&models, layout, memory / 4, None);
        let mut lacking = [RecordMasks::default(), RecordMasks::default()];
        let second = texts.second.unwrap_or(texts.records);
        texts.each(|record, values| {
            let values = taken.iter().map(|&column| values[column].as_str());
            if !seen.is_empty() && is_sampled(record) {
                unread.look(&models, values.clone());
            }
            lacking[usize::from(record >= second)].add(writer.push(values));
        });
        let population = Population::new(&ModelOptions::default(), &mut texts);
        let prepared = writer.finish(texts, taken);
        let counts = RecordSet::full(prepared.store.records);
        FitRecords {
            warnings: unread.finish(&models, seen),
            ..FitRecords::counted(
                (prepared, population),
                counts,
                models,
                None,
                (Vec::new(), lacking),
                memory,
            )
        }
    }

    /// Records of which few equal ones count.
    fn of(
        (mut texts, population): (RecordTexts, Population),
        (models, seen): (Vec<FieldModel>, &[&Seen]),
        taken: Vec<usize>,
        swap: Option<[usize; 2]>,
        memory: usize,
    ) -> FitRecords {
        let layout = RowLayout::new(models.iter().map(|m| m.layout.clone()).collect(), swap);
        let mut writer = RecordWriter::new(&models, layout, memory / 2, None);
        let mut compounds = Compounds::new(&models, texts.records);
        let mut unread = UnreadFields::new(&models);
        texts.each(|record, values| {
            let values = taken.iter().map(|&column| values[column].as_str());
            compounds.look(record, values.clone());
            if is_sampled(record) {
                unread.look(&models, values.clone());
            }
            writer.push(values);
        });
        let compounds = (compounds.finish(), Default::default());
        let warnings = unread.finish(&models, seen);
        let mut prepared = writer.finish(texts, taken);
        let all = RecordSet::full(prepared.store.records);
        let counts = without_equal(&mut prepared, all, memory / 4);
        FitRecords {
            warnings,
            ..FitRecords::counted(
                (prepared, population),
                counts,
                models,
                swap,
                compounds,
                memory,
            )
        }
    }

    /// Counts the values of all fields.
    fn counted(
        (prepared, population): (PreparedRecords, Population),
        counts: RecordSet,
        fields: Vec<FieldModel>,
        swap: Option<[usize; 2]>,
        (compounds, lacking): (Vec<u32>, [RecordMasks; 2]),
        memory: usize,
    ) -> FitRecords {
        let mut records = FitRecords {
            counts,
            population,
            prepared,
            frequencies: Vec::new(),
            fields,
            swap,
            compounds,
            labels: Labels::default(),
            warnings: Vec::new(),
            tables: Vec::new(),
            lacking,
        };
        progress::phase(phases::COUNTING_VALUES, Some(records.fields.len() as u64));
        for field in 0..records.fields.len() {
            progress::done(field as u64);
            records.count_values(field, memory / 4);
        }
        let levels = FrequentLevels::of_fields(&records.fields);
        let (prepared, population) = (&mut records.prepared, &mut records.population);
        let counts = |record: u32| records.counts.has(record);
        prepared.store.settle(&levels, counts);
        let of_sample = |&record: &u32| counts(record) && population.has(record);
        let counted = |range: std::ops::Range<u32>| range.filter(of_sample).count() as f64;
        let all = prepared.store.records;
        prepared.all_pairs = match prepared.texts.second {
            None => counted(0..all) * (counted(0..all) - 1.0) / 2.0,
            Some(second) => counted(0..second) * counted(second..all),
        };
        let of_one = counted(0..all);
        population.set_counted(of_one);
        if prepared.texts.second.is_some() {
            population.all_pairs = prepared.all_pairs;
        }
        records
    }

    /// Counts the values of a field, and notes those that are frequent.
    fn count_values(&mut self, field: usize, memory: usize) {
        let (prepared, population) = (&mut self.prepared, &self.population);
        let counts = |record: u32| self.counts.has(record) && population.has(record);
        let second = prepared.texts.second.unwrap_or(prepared.store.records);
        let side = |record: u32| usize::from(record >= second);
        let mut of_tables = [0; 2];
        prepared.identities.each(&[field], false, |record, _| {
            of_tables[side(record)] += u64::from(counts(record))
        });
        let present = of_tables[0] + of_tables[1];
        let rare_level = equal_level(1.0 / present.max(2) as f64);
        let mut count = FrequencyCount::new(present);
        let mut table_counts = of_tables.map(FrequencyCount::new);
        // by the first record that has it
        let mut frequent: Vec<(u32, f64)> = Vec::new();
        let mut value: Option<(u32, [u64; 2])> = None;
        let mut finish = |value: Option<(u32, [u64; 2])>| {
            if let Some((first, of_tables)) = value.filter(|v| v.1 != [0; 2]) {
                let records = of_tables[0] + of_tables[1];
                let level = count.add(records);
                if level > rare_level && records > 1 {
                    frequent.push((first, records as f64 / present.max(2) as f64));
                }
                let tables = table_counts.iter_mut().zip(of_tables);
                for (count, records) in tables.filter(|of| of.1 > 0) {
                    count.add_of_level(records, level);
                }
            }
        };
        for entry in prepared.identities.blocks(&[field], false, memory) {
            if entry.is_first {
                finish(value.replace((entry.record, [0; 2])));
            }
            if let Some((_, records)) = &mut value {
                records[side(entry.record)] += u64::from(counts(entry.record));
            }
        }
        finish(value);
        let sizes = [second, prepared.store.records - second];
        let tables = table_counts.into_iter().zip(sizes);
        let tables = tables.map(|(count, records)| {
            let of = count.finish();
            TableField {
                filled: of.present as f64 / f64::from(records).max(1.0),
                equal: of.equal,
            }
        });
        let tables: Vec<TableField> = tables.collect();
        self.tables.extend(<[TableField; 2]>::try_from(tables).ok());
        self.frequencies.push(count.finish());
        let model = &mut self.fields[field];
        model.filled = present as f64 / population.drawn().max(1.0);
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
        let n = self.prepared.store.records;
        let (a, b) = (random_number(2 * k, n), random_number(2 * k + 1, n));
        let (a, b) = (a.min(b), a.max(b));
        let is_pair = match self.prepared.texts.second {
            None => a != b,
            Some(second) => a < second && b >= second,
        };
        let are_drawn = self.population.has(a) && self.population.has(b);
        (is_pair && are_drawn).then_some((a, b))
    }
}

/// The `k`th of random numbers below `n`, which are the same each time.
pub fn random_number(k: u64, n: u32) -> u32 {
    ((u128::from(mix(k)) * u128::from(n)) >> 64) as u32
}

/// Whether all values of a record are looked at.
pub fn is_sampled(record: u32) -> bool {
    record < SAMPLE || record.is_multiple_of(16)
}

/// Which of some records count: of those with equal values some only.
pub fn without_equal(
    records: &mut PreparedRecords,
    mut counts: RecordSet,
    memory: usize,
) -> RecordSet {
    let fields: Vec<usize> = (0..records.columns.len()).collect();
    let mut equal = 0;
    for entry in records.identities.blocks(&fields, true, memory) {
        equal = if entry.is_first { 0 } else { equal };
        equal += u32::from(counts.has(entry.record));
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
        let guessed_personal = guess::is_personal(&wish.name, seen);
        let personal = match fields.personal {
            Some(names) => names.contains(&wish.name),
            None => guessed_personal,
        };
        let (kind, reading) = match (wish.kind, &wish.reading) {
            (Some(kind), Some(reading)) => (kind, Some(reading.clone())),
            (Some(Kind::Number), None) if fields.are_things => {
                (Kind::Number, Some(Reading::Amount))
            }
            (None, _) if fields.are_things => guess::kind_of_thing(is_date(of_type), seen),
            (Some(Kind::Signature), None) => (Kind::Signature, seen.signatures(&wish.name)),
            (Some(kind), None) => (kind, guess::reading(kind, seen)),
            (None, _) => guess::kind(&wish.name, is_date(of_type), is_fraction(of_type), seen),
        };
        // Dates within some years are of what happened, on the same day or some days apart; those of birth are mistyped.
        let is_birth = personal || guessed_personal || seen.could_be_personal();
        let kind = match kind {
            Kind::Date if wish.kind.is_none() && !is_birth => Kind::Day,
            kind => kind,
        };
        // of things that are the same numbers are near each other
        let says_who = guessed_personal || column_names::is_surname(&wish.name);
        let says_who = says_who || matches!(kind, Kind::Date | Kind::Day);
        let says_who = says_who || fields.are_things && kind == Kind::Number;
        if !says_who && !seen.could_be_personal() && seen.is_unique(smaller) {
            if fields.are_guessed {
                fields.left_out.push(LeftOut {
                    column: wish.name.clone(),
                    reason: "has another value in nearly every record; name it among the fields if it is one".to_owned(),
                });
                if seen.are_few() {
                    warnings.push(warnings::left_out(&wish.name, fields.are_things));
                }
                continue;
            }
            warnings.push(warnings::unique(&wish.name, fields.are_things));
        }
        let layout = FieldLayout::new(kind, seen.usual_length()).or_raise();
        let has_words = kind == Kind::Words || kind == Kind::Text && seen.are_of_words();
        let layout = match fields.are_things && has_words {
            true => layout.with_words(words::room(seen.usual_length())),
            false => layout,
        };
        models.push(FieldModel {
            personal,
            ..FieldModel::unknown(wish.name.clone(), layout.with_reading(reading))
        });
        taken.push(i);
    }
    if fields.personal.is_none() {
        let found = warnings::unknown_people(&fields.wishes, seen, fields.are_things);
        warnings.extend(found);
    }
    let find = |is: fn(&str) -> bool| {
        let can_be = |m: &FieldModel| matches!(m.layout.kind(), Kind::Name | Kind::Signature);
        models.iter().position(|m| can_be(m) && is(&m.name))
    };
    let swap = find(column_names::is_given_name)
        .zip(find(column_names::is_surname))
        .map(|(a, b)| [a, b]);
    // Values that change places are compared alike: signatures if they have one id.
    let are_alike = |&[a, b]: &[usize; 2]| {
        let [a, b] = [a, b].map(|k| &models[k].layout);
        a.kind() == b.kind() && a.reading() == b.reading()
    };
    let swap = swap.filter(are_alike);
    if let Some([a, b]) = swap.filter(|&[a, _]| models[a].layout.kind() == Kind::Name) {
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
