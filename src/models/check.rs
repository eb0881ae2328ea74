//! `bloom_model_check`: whether a table has moved away from a model that was fitted to it some time ago.

use std::collections::{HashMap, HashSet};

use linkage::model::drift::{
    filled_matters, is_beyond_chance, matters, CountedLevel, EqualCounts, ExpectedLevel, StarCounts,
};
use linkage::model::json::{read_any_model, AnyModel};
use linkage::model::values::{
    equal_level, meaning, more_frequent_from, FieldLayout, Kind, EQUAL, MISSING,
};
use linkage::model::{FieldModel, FrequentLevels, MatchModel};
use pgrx::{pg_sys, IntoDatum};

use super::fit_model::RANDOM_PAIRS;
use super::fit_records::is_sampled;
use super::sample::ModelSample;
use super::single::refuse_of_two_tables;
use super::warnings::{cannot_be_read, OddValues, UnreadFields};
use super::Seen;
use crate::pairs::records::lock;
use pg::budget::Budget;
use pg::entry;
use pg::error::OrRaise;
use pg::function::arguments::Arguments;
use pg::function::rows::{text_datum, ResultRows};
use pg::progress::{self, phases};
use pg::values::text::to_database;
use pg::values::varlena::NewValue;

/// Most values of a field that are named.
const MOST_VALUES: usize = 5;

/// Longer values are cut where they are named.
const SHOWN: usize = 60;

/// The frequencies from which equal values have another level are so far apart. Of so many times as many records a fit
/// learns one level of rare values more.
const NEXT_LEVEL: f64 = 8.0;

/// Fewer make no pair.
const LEAST_RECORDS: f64 = 2.0;

/// What has been found.
struct Finding<'a> {
    /// `None`: the whole table.
    field: Option<&'a str>,
    what: String,
    fitted: Option<f64>,
    now: Option<f64>,
    /// How many bits the model gives too much for it.
    bits: Option<f64>,
    advice: Option<String>,
}

/// `(model jsonb, rel regclass) RETURNS TABLE (field text, what text, fitted float8, now float8, bits float8, advice
/// text)`
///
/// Errors: a model of two tables; a field that the relation does not have; the caller may not read it.
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_model_check(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let model = match read_any_model(&arguments.jsonb(0)).or_raise() {
        AnyModel::OfPairs(model) if !model.linkage => model,
        _ => refuse_of_two_tables("bloom_model_check()"),
    };
    let oid = arguments.oid(1);
    let relation = lock(oid);
    let _job = progress::job("bloom_model_check", oid);
    // SAFETY: the SQL function is declared to return a set of rows.
    let mut rows = unsafe { ResultRows::new(fcinfo) };
    let memory = Budget::of_setting().bytes();
    let sample = ModelSample::read(&model, oid, &relation, memory);
    for finding in ModelCheck::new(&model, sample, memory).findings() {
        let texts = [
            finding.field.map(to_database),
            Some(to_database(&finding.what)),
            finding.advice.as_deref().map(to_database),
        ];
        rows.make(|| {
            let [field, what, advice] = texts.map(|text| text.map(|text| text_datum(&text)));
            let numbers = [finding.fitted, finding.now, finding.bits];
            let [fitted, now, bits] = numbers.map(IntoDatum::into_datum);
            Some([field, what, fitted, now, bits, advice])
        });
    }
    NewValue(pg_sys::Datum::null())
}

/// A model, and what is seen of a table.
struct ModelCheck<'m> {
    model: &'m MatchModel,
    sample: ModelSample,
    memory: usize,
    stars: StarCounts,
    /// All pairs of the sample were compared.
    are_all: bool,
    unread: UnreadFields,
    seen: Vec<Seen>,
}

impl<'m> ModelCheck<'m> {
    fn new(model: &'m MatchModel, mut sample: ModelSample, memory: usize) -> ModelCheck<'m> {
        let n = model.fields.len();
        let (mut unread, mut seen) = (UnreadFields::new(&model.fields), vec![Seen::default(); n]);
        let mut values = Vec::new();
        progress::phase(phases::PREPARING, Some(sample.counted.len() as u64));
        for (place, &record) in (0u32..).zip(&sample.counted) {
            progress::step();
            if is_sampled(place) {
                sample.records.texts.get(record, &mut values);
                let fields = seen.iter_mut().zip(&values);
                let of_kinds = model.fields.iter().map(|field| field.layout.kind());
                let fields = fields
                    .zip(of_kinds)
                    .filter(|(_, kind)| *kind != Kind::Signature);
                fields.for_each(|((seen, value), _)| seen.add(value, true));
                unread.look(&model.fields, values.iter().map(String::as_str));
            }
        }
        let mut stars = StarCounts::new(n);
        let mut spoken = vec![[false; MISSING]; n];
        for (k, of) in spoken.iter_mut().enumerate() {
            model.spoken_levels(k).for_each(|level| of[level] = true);
        }
        let is_spoken = |k: usize, level: usize| spoken[k][level];
        let mut last = None;
        let are_all = sample.pairs(memory, |record, pattern| {
            if last.is_some_and(|last| last != record) {
                stars.next_record(is_spoken);
            }
            last = Some(record);
            stars.add(pattern);
        });
        if last.is_some() {
            stars.next_record(is_spoken);
        }
        ModelCheck {
            model,
            sample,
            memory,
            stars,
            are_all,
            unread,
            seen,
        }
    }

    fn findings(mut self) -> Vec<Finding<'m>> {
        let mut findings = vec![self.number_of_records()];
        progress::phase(
            phases::COUNTING_VALUES,
            Some(self.model.fields.len() as u64),
        );
        for (k, field) in self.model.fields.iter().enumerate() {
            progress::done(k as u64);
            if self.sample.rows >= LEAST_RECORDS {
                let counts = self.count_values(k);
                findings.push(self.filled(field, counts.present));
                findings.extend(self.unread(k));
                let moved = self.moved_values(k, &counts);
                let levels = self.levels(k, &counts, &moved);
                findings.extend(self.values(k, moved));
                findings.extend(levels);
            }
        }
        findings
    }

    fn number_of_records(&self) -> Finding<'m> {
        let (fitted, now) = (self.model.records, self.sample.rows.round());
        let bits = (now.max(1.0) / fitted.max(1.0)).log2();
        let given = "give records =>";
        let asked = "to the functions that score single records";
        let knows_no_rarer = self.model.fields.iter().any(|field| field.rare_level > 0);
        let advice = if now < LEAST_RECORDS {
            Some("there are no pairs to compare with those of the fit".to_owned())
        } else if bits >= NEXT_LEVEL.log2() && knows_no_rarer {
            Some(format!(
                "fit anew: of {} as many records a model learns which values are rarer than it could know; until then {given} \
                 {now} {asked}",
                times(now / fitted)
            ))
        } else {
            matters(bits, 1.0).then(|| format!("{given} {now} {asked}"))
        };
        Finding {
            field: None,
            what: "records".to_owned(),
            fitted: Some(fitted),
            now: Some(now),
            bits: Some(bits),
            advice,
        }
    }

    /// The records that counted at the fit: of equal ones some do not.
    fn counted_at_fit(&self) -> f64 {
        (1.0 + (1.0 + 8.0 * self.model.all_pairs).sqrt()) / 2.0
    }

    /// The share of them that had a value. The model has that of all records.
    fn filled_at_fit(&self, field: &FieldModel) -> f64 {
        (field.filled * self.model.records / self.counted_at_fit()).min(1.0)
    }

    fn filled(&self, field: &'m FieldModel, present: u64) -> Finding<'m> {
        let n = self.sample.counted.len() as f64;
        let (before, now) = (self.filled_at_fit(field), present as f64 / n.max(1.0));
        let is_news = is_beyond_chance((before, self.counted_at_fit()), (now, n));
        let advice = (is_news && filled_matters(before, now)).then(|| {
            let [missing, is_missing] = [before, now].map(|filled| (1.0 - filled).max(0.0));
            match (is_missing > missing, missing, now) {
                (true, ..1e-9, _) => "fit anew: values are missing, and none was at the fit".into(),
                (true, _, ..1e-9) => "fit anew: all values are missing".to_owned(),
                (true, ..) => format!(
                    "fit anew: {} as many values are missing as at the fit",
                    times(is_missing / missing)
                ),
                _ if before < 1e-9 => "fit anew: there are values, and none was at the fit".into(),
                _ => format!(
                    "fit anew: {} as many records have a value as at the fit",
                    times(now / before)
                ),
            }
        });
        Finding {
            field: Some(&field.name),
            what: "filled".to_owned(),
            fitted: Some(before),
            now: Some(now),
            bits: None,
            advice,
        }
    }

    /// Values that cannot be read, if the field has a kind that reads them, or that are written otherwise.
    fn unread(&self, k: usize) -> Option<Finding<'m>> {
        let field = &self.model.fields[k];
        let odd = self.unread.odd(k, field, &self.seen[k]);
        let (kind, has_reading) = (field.layout.kind(), field.layout.reading().is_some());
        let is_read = match kind {
            Kind::Date | Kind::Day | Kind::Phone | Kind::Number => true,
            Kind::Text | Kind::Email => has_reading,
            Kind::Name | Kind::Words | Kind::Code | Kind::Signature => false,
        };
        let (unread, of) = self.unread.unread(k);
        let (values, of) = match &odd {
            Some(odd) => (odd.values, odd.of),
            None if is_read => (unread, of),
            None => return None,
        };
        let share = |(values, of): (u64, u64)| (values as f64 / of.max(1) as f64, of as f64);
        let told = OddValues::told(&self.model.warnings, &field.name).map(share);
        let now = share((values, of));
        // The fit has said a word of more than two in a thousand.
        let before = told.unwrap_or((0.002, self.model.records * field.filled));
        let is_news = now.0 > 2.0 * before.0 && is_beyond_chance(before, now);
        let advice = odd.as_ref().filter(|_| is_news).map(|odd| match odd.field_with_reading() {
            Some(field) => format!(
                "fit anew, and say among the fields how to read both, {field}: they do not agree with the same value as the \
                 others are written"
            ),
            None => "correct them, or use a view in which they are NULL: what cannot be read is compared by its letters".into(),
        });
        let what = odd.map_or_else(|| cannot_be_read(kind), |odd| odd.what());
        Some(Finding {
            field: Some(&field.name),
            what: format!("values {what}"),
            fitted: told.map(|told| told.0),
            now: Some(now.0),
            bits: None,
            advice,
        })
    }

    /// Equality, and each level.
    fn levels(&self, k: usize, counts: &ValueCounts, moved: &[MovedValue]) -> Vec<Finding<'m>> {
        let (model, field) = (self.model, &self.model.fields[k]);
        let (kind, reading) = (field.layout.kind(), field.layout.reading());
        let expected = model.expected_levels(k, self.sample.rows);
        let both = self.filled_at_fit(field).powi(2);
        let pairs = both * model.all_pairs;
        let looked_at = pairs.min(both * RANDOM_PAIRS as f64);
        let finding = |what: &str, expected: &ExpectedLevel, now: CountedLevel, of_fit, is_told| {
            let drift = expected.drift(&now, model.records * field.filled, of_fit);
            let is_known = now.pairs > 0.0;
            let is_news = drift.is_news && is_known && is_told;
            Finding {
                field: Some(&field.name),
                what: what.to_owned(),
                fitted: Some(expected.share),
                now: is_known.then_some(now.share),
                bits: is_known.then_some(drift.bits),
                advice: is_news.then(|| moved_away(expected.share, now.share, drift.bits)),
            }
        };
        let mut by_values = [0.0; EQUAL];
        for value in moved {
            by_values[usize::from(value.level)] += value.pairs();
        }
        let equal = ExpectedLevel::sum(&expected[..EQUAL]);
        let now = counts.equal.levels(0..EQUAL, counts.present);
        let mut findings = vec![finding("equal", &equal, now, pairs, true)];
        let levels = model.levels().into_iter();
        for facts in levels.filter(|facts| facts.field == k && facts.level != MISSING) {
            let (level, expected) = (facts.level, &expected[facts.level]);
            let (now, of_fit, is_told) = match by_values.get(level) {
                Some(&change) => {
                    let now = counts.equal.levels(level..level + 1, counts.present);
                    (now, pairs, expected.matters_by_values(change))
                }
                None => (self.stars.level(k, level, self.are_all), looked_at, true),
            };
            let what = meaning(kind, reading, level);
            findings.push(finding(what, expected, now, of_fit, is_told));
        }
        findings
    }

    /// Counts the values of a field.
    fn count_values(&mut self, k: usize) -> ValueCounts {
        let of_model = FrequentLevels::of_fields(std::slice::from_ref(&self.model.fields[k]));
        let records = &mut self.sample.records;
        let mut is_counted = vec![false; records.store.records as usize];
        for &record in &self.sample.counted {
            is_counted[record as usize] = true;
        }
        let (mut values, mut identities) = (Vec::<(u32, u64)>::new(), HashMap::new());
        let mut first = true;
        for entry in records.identities.blocks(&[k], false, self.memory / 4) {
            first |= entry.is_first;
            if is_counted[entry.record as usize] {
                match values.last_mut().filter(|_| !first) {
                    Some((_, n)) => *n += 1,
                    None => values.push((entry.record, 1)),
                }
                first = false;
            }
        }
        let mut counts = ValueCounts {
            present: values.iter().map(|value| value.1).sum(),
            ..ValueCounts::default()
        };
        let layout = &self.model.fields[k].layout;
        let mut texts = Vec::new();
        for (record, n) in values {
            // those that are alone are rare, whatever they are
            let mut level = self.model.fields[k].rare_level;
            if n > 1 {
                records.texts.get(record, &mut texts);
                let normal = layout.normal(&texts[k]).or_raise();
                let identity = FieldLayout::identity(&normal);
                level = of_model.level(0, identity);
                identities.insert(identity, (record, n));
            }
            counts.equal.add(n, level);
        }
        counts.by_identity = identities;
        counts
    }

    /// Values that are frequent now and were not, or the other way round, and of which that is more than chance.
    fn moved_values(&self, k: usize, counts: &ValueCounts) -> Vec<MovedValue> {
        let field = &self.model.fields[k];
        let (n, rare) = (counts.present as f64, field.rare_level);
        let fitted = self.model.records * field.filled;
        let mut moved: Vec<MovedValue> = Vec::new();
        let mut look = |value: MovedValue| {
            let [before, now] = [value.before, value.now].map(|share| equal_level(share).max(rare));
            if before != now && is_beyond_chance((value.before, fitted), (value.now, n)) {
                moved.push(value);
            }
        };
        let mut known = HashSet::new();
        for (normal, share) in &field.frequent {
            let identity = FieldLayout::identity(normal);
            known.insert(identity);
            let now = counts.by_identity.get(&identity);
            look(MovedValue {
                record: now.map(|now| now.0),
                normal: normal.clone(),
                is_known: true,
                level: equal_level(*share).max(rare),
                before: *share,
                now: now.map_or(0.0, |now| now.1 as f64 / n),
            });
        }
        // What the model does not have was rarer than that.
        let of_one = equal_level(1.0 / fitted.max(2.0));
        if let Some(least) = more_frequent_from(of_one) {
            for (identity, &(record, records)) in &counts.by_identity {
                if !known.contains(identity) {
                    look(MovedValue {
                        record: Some(record),
                        normal: String::new(),
                        is_known: false,
                        level: rare,
                        before: least,
                        now: records as f64 / n,
                    });
                }
            }
        }
        moved
    }

    /// Those of them that change most.
    fn values(&mut self, k: usize, mut moved: Vec<MovedValue>) -> Vec<Finding<'m>> {
        let field = &self.model.fields[k];
        let expected = self.model.expected_levels(k, self.sample.rows);
        let mut texts = Vec::new();
        for value in &mut moved {
            if let Some(record) = value.record {
                self.sample.records.texts.get(record, &mut texts);
                value.normal = texts[k].trim().to_owned();
            }
        }
        moved.sort_by(|a, b| {
            let by_pairs = b.pairs().abs().total_cmp(&a.pairs().abs());
            by_pairs.then_with(|| a.normal.cmp(&b.normal))
        });
        moved.truncate(MOST_VALUES);
        let finding =
            |value: MovedValue| value.finding(&field.name, &expected[usize::from(value.level)]);
        moved.into_iter().map(finding).collect()
    }
}

/// The values of a field in a sample.
#[derive(Default)]
struct ValueCounts {
    /// Records with a value.
    present: u64,
    equal: EqualCounts,
    /// Of the values that several records have, one of these and how many they are.
    by_identity: HashMap<u64, (u32, u64)>,
}

/// A value that has another level of equality than at the fit.
struct MovedValue {
    /// A record that has it.
    record: Option<u32>,
    /// Its normal form, or what is written in the record.
    normal: String,
    /// The model has it among the frequent values. Of others `before` is what they were rarer than.
    is_known: bool,
    /// The level of its equality by the model.
    level: u8,
    before: f64,
    now: f64,
}

impl MovedValue {
    /// By how much the share of the pairs that are equal in it has changed.
    fn pairs(&self) -> f64 {
        self.now.powi(2) - self.before.powi(2)
    }

    /// `level`: what is expected of the level that its equality has by the model.
    fn finding<'a>(&self, field: &'a str, level: &ExpectedLevel) -> Finding<'a> {
        let share = level.share.max(1e-12);
        let bits = ((share + self.pairs()).max(1e-3 * share) / share).log2();
        let advice = level.matters_by_values(self.pairs()).then_some(match self.now > self.before {
            true => "use a view in which it is NULL if it stands for what is not known; if not, fit anew: the model \
                     takes it for rarer than it is, and its equality counts too much",
            false => "fit anew: the model takes it for more frequent than it is",
        });
        let shown: String = self.normal.chars().take(SHOWN).collect();
        let dots = if shown.len() < self.normal.len() {
            "…"
        } else {
            ""
        };
        Finding {
            field: Some(field),
            what: format!("value \"{shown}{dots}\""),
            fitted: self.is_known.then_some(self.before),
            now: Some(self.now),
            bits: Some(bits),
            advice: advice.map(str::to_owned),
        }
    }
}

/// What to do about a level that random pairs have more or less often than at the fit.
fn moved_away(before: f64, now: f64, bits: f64) -> String {
    let much = bits.abs();
    if now == 0.0 {
        "fit anew: random pairs have it no more".to_owned()
    } else if bits > 0.0 {
        let times = times(now / before);
        format!("fit anew: random pairs have it {times} as often as at the fit, so it counts {much:.1} bits too much")
    } else {
        format!("fit anew: random pairs have it less often than at the fit, so it counts {much:.1} bits too little")
    }
}

/// A factor in words.
fn times(factor: f64) -> String {
    match factor {
        ..9.95 => format!("{factor:.1} times"),
        _ => format!("{factor:.0} times"),
    }
}
