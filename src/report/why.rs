//! Why a pair has its bits, and what a model's levels say, as bars.

use linkage::model::{Addend, ReadyModel, Reason};

use super::html::{name_of, similarity};
use super::value::grouped;
use pg::error::OrRaise;

/// A model that says why pairs have their bits, and among how many records and pairs they are.
#[derive(Clone, Copy)]
pub struct Explainer<'a> {
    pub model: &'a ReadyModel,
    records: f64,
    all_pairs: f64,
}

impl<'a> Explainer<'a> {
    /// Among those that the model was fitted to.
    pub fn of_fit(model: &'a ReadyModel) -> Explainer<'a> {
        let fitted = model.model();
        Explainer {
            model,
            records: fitted.records,
            all_pairs: fitted.all_pairs,
        }
    }

    /// Among so many records of one table.
    pub fn of_records(model: &'a ReadyModel, records: i64) -> Explainer<'a> {
        let records = records as f64;
        Explainer {
            model,
            records,
            all_pairs: records * (records - 1.0) / 2.0,
        }
    }

    /// What adds to the bits of two records. Each has a text or nothing for every field of the model.
    ///
    /// Errors: out of memory.
    pub fn addends(&self, a: &[Option<String>], b: &[Option<String>]) -> Vec<Addend> {
        let pattern = self.model.pattern(a, b).or_raise();
        self.model.explain(pattern, self.records, self.all_pairs)
    }
}

/// The width of the bars' field, in units of the SVG.
pub const WIDTH: f64 = 240.0;

/// A bar from left to right.
pub struct Span {
    pub x: f64,
    pub width: f64,
    /// What it speaks for: a match or none.
    pub class: &'static str,
}

/// A row of a waterfall.
pub struct Addition {
    pub name: String,
    pub words: String,
    pub bits: String,
    pub span: Span,
}

/// Why a pair has its bits: what each field adds, and the sum.
pub struct Waterfall {
    pub rows: Vec<Addition>,
    /// Where no bits are.
    pub zero: f64,
    pub bits: String,
    pub probability: String,
}

/// A level of a field.
pub struct LevelBar {
    pub words: &'static str,
    pub bits: String,
    pub span: Span,
    pub matches: String,
    pub weak: bool,
}

/// What the levels of a field say.
pub struct FieldBars {
    pub name: String,
    pub levels: Vec<LevelBar>,
}

/// What a model has learned.
pub struct ModelBars {
    pub status: &'static str,
    pub records: String,
    pub zero: f64,
    pub fields: Vec<FieldBars>,
}

/// Bits from `low` to `high`, as places from left to right.
struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    /// It holds 0 and all of these.
    fn new(bits: impl Iterator<Item = f64>) -> Scale {
        bits.fold(
            Scale {
                low: 0.0,
                high: 0.0,
            },
            |scale, bits| Scale {
                low: scale.low.min(bits),
                high: scale.high.max(bits),
            },
        )
    }

    fn at(&self, bits: f64) -> f64 {
        // A bar is seen even where it is short.
        (WIDTH - 2.0) * (bits - self.low) / (self.high - self.low).max(1e-9) + 1.0
    }

    fn span(&self, from: f64, to: f64) -> Span {
        let (a, b) = (self.at(from), self.at(to));
        Span {
            x: a.min(b),
            width: (a - b).abs(),
            class: if to < from { "against" } else { "for" },
        }
    }
}

/// Bits with their sign.
fn signed(bits: f64) -> String {
    let rounded = (bits * 10.0).round() / 10.0;
    match rounded == 0.0 {
        true => "0.0".to_owned(),
        false => format!("{rounded:+.1}"),
    }
}

/// Why two records have their bits. Each has a text or nothing for every field of the model.
///
/// Errors: out of memory.
pub fn waterfall(explainer: Explainer, a: &[Option<String>], b: &[Option<String>]) -> Waterfall {
    let model = explainer.model.model();
    let mut addends = explainer.addends(a, b);
    addends.retain(|addend| addend.reason != Reason::Together || addend.bits != 0.0);
    let sums = addends.iter().scan(0.0, |sum, addend| {
        *sum += addend.bits;
        Some(*sum)
    });
    let sums: Vec<f64> = sums.collect();
    let scale = Scale::new(sums.iter().copied());
    let sum = sums.last().copied().unwrap_or(0.0);
    let before = [0.0].into_iter().chain(sums.iter().copied());
    let rows = addends.iter().zip(before.zip(&sums));
    let rows = rows.map(|(addend, (from, &to))| Addition {
        name: name_of(addend.reason.name(model)),
        words: name_of(addend.words.as_deref().unwrap_or("")),
        bits: signed(addend.bits),
        span: scale.span(from, to),
    });
    let mut rows: Vec<Addition> = rows.collect();
    let probability = probability(sum);
    rows.push(Addition {
        name: "sum".to_owned(),
        words: format!("probability {probability}"),
        bits: signed(sum),
        span: Span {
            class: "sum",
            ..scale.span(0.0, sum)
        },
    });
    Waterfall {
        rows,
        zero: scale.at(0.0),
        bits: signed(sum),
        probability,
    }
}

/// The probability of so many bits; one that is not 1 is not shown as 1.
fn probability(bits: f64) -> String {
    similarity(1.0 / (1.0 + (-bits).exp2()))
}

/// What the levels of a model say, field by field.
pub fn levels(model: &ReadyModel) -> ModelBars {
    let model = model.model();
    let levels = model.levels();
    let scale = Scale::new(levels.iter().map(|level| level.bits));
    let fields = model.fields.iter().enumerate().map(|(k, field)| {
        let levels = levels.iter().filter(|level| level.field == k);
        let levels = levels.map(|level| LevelBar {
            words: level.meaning,
            bits: signed(level.bits),
            span: scale.span(0.0, level.bits),
            matches: grouped(level.pairs.round().max(0.0) as u64),
            weak: level.is_weak(),
        });
        FieldBars {
            name: name_of(&field.name),
            levels: levels.collect(),
        }
    });
    ModelBars {
        status: model.status.name(),
        records: grouped(model.records.max(0.0) as u64),
        zero: scale.at(0.0),
        fields: fields.collect(),
    }
}
