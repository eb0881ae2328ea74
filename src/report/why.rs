//! Why a pair has its bits, and what a model's levels say, as bars.

use linkage::model::{ReadyModel, Reason};

use super::html::name_of;
use super::value::{grouped, similarity};
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

    /// Why two records have their bits. Each has a text or nothing for every field of the model. `probability` is that of
    /// the pair, if it is known: what the model does not account for has a row of its own, so that the sum is that of
    /// the pair.
    ///
    /// Errors: out of memory.
    pub fn explain(
        &self,
        a: &[Option<String>],
        b: &[Option<String>],
        probability: Option<f64>,
    ) -> Explanation {
        let model = self.model.model();
        let pattern = self.model.pattern(a, b).or_raise();
        let addends = self.model.explain(pattern, self.records, self.all_pairs);
        let of_model: f64 = addends.iter().map(|addend| addend.bits).sum();
        let mut explanation = Explanation {
            fields: Vec::new(),
            beside: Vec::new(),
            sum: short(of_model),
            probability: similarity(probability_of(of_model)),
        };
        for addend in addends {
            let name = match addend.reason {
                Reason::Field(_) => name_of(addend.reason.name(model)),
                Reason::Together => "fields that go together".to_owned(),
                Reason::Prior => "matches are rare".to_owned(),
                Reason::Others(class) => {
                    name_of(&class.map_or(String::new(), |class| model.class_people(class)))
                }
                Reason::Calibration => "answers of people".to_owned(),
            };
            let addition = Addition {
                name,
                words: name_of(addend.words.as_deref().unwrap_or("")),
                bits: short(addend.bits),
            };
            match addend.reason {
                Reason::Field(_) => explanation.fields.push(addition),
                _ => explanation.add(addition),
            }
        }
        let shown = probability.map(similarity);
        if let (Some(probability), Some(shown)) = (probability, shown) {
            if shown != explanation.probability {
                let bits = bits_of(probability);
                explanation.add(Addition {
                    name: "found elsewhere".to_owned(),
                    words: "among another number of records, or by another model".to_owned(),
                    bits: short(bits - of_model),
                });
                (explanation.sum, explanation.probability) = (short(bits), shown);
            }
        }
        explanation
    }
}

/// Why a pair has its bits.
pub struct Explanation {
    /// What each field of the model adds.
    pub fields: Vec<Addition>,
    /// What is added besides, as far as it is anything.
    pub beside: Vec<Addition>,
    pub sum: f64,
    /// That of the sum, as it is shown.
    pub probability: String,
}

impl Explanation {
    fn add(&mut self, addition: Addition) {
        if signed(addition.bits) != NOTHING {
            self.beside.push(addition);
        }
    }
}

/// What a field or something else adds to the bits of a pair.
pub struct Addition {
    pub name: String,
    pub words: String,
    pub bits: f64,
}

/// Bits as the page has them, also for its script, so that both show the same.
fn short(bits: f64) -> f64 {
    (bits * 10_000.0).round() / 10_000.0
}

/// The probability of so many bits.
fn probability_of(bits: f64) -> f64 {
    1.0 / (1.0 + (-bits).exp2())
}

/// The bits of a probability. Of one that has none, as many as a number can tell from it.
fn bits_of(probability: f64) -> f64 {
    let probability = probability.clamp(f64::EPSILON, 1.0 - f64::EPSILON);
    (probability / (1.0 - probability)).log2()
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
pub struct Step {
    pub name: String,
    pub words: String,
    pub bits: String,
    pub span: Span,
}

/// Why a pair has its bits: what each field adds, and the sum.
pub struct Waterfall {
    pub rows: Vec<Step>,
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

/// What some levels of a field say.
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
    /// The levels that no match has.
    pub empty: Vec<FieldBars>,
    pub empty_levels: usize,
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

/// What is shown of bits that are none.
const NOTHING: &str = "0.0";

/// Bits with their sign. The script of the page rounds them as this does.
fn signed(bits: f64) -> String {
    let tenths = (bits * 10.0).round() / 10.0;
    match tenths == 0.0 {
        true => NOTHING.to_owned(),
        false => format!("{tenths:+.1}"),
    }
}

/// Why a pair has its bits, as bars.
pub fn waterfall(explanation: &Explanation) -> Waterfall {
    let additions = explanation.fields.iter().chain(&explanation.beside);
    let sums = additions.clone().scan(0.0, |sum, addition| {
        *sum += addition.bits;
        Some(*sum)
    });
    let sums: Vec<f64> = sums.collect();
    let sum = explanation.sum;
    let scale = Scale::new(sums.iter().copied().chain([sum]));
    let before = [0.0].into_iter().chain(sums.iter().copied());
    let rows = additions.zip(before.zip(&sums));
    let rows = rows.map(|(addition, (from, &to))| Step {
        name: addition.name.clone(),
        words: addition.words.clone(),
        bits: signed(addition.bits),
        span: scale.span(from, to),
    });
    let mut rows: Vec<Step> = rows.collect();
    rows.push(Step {
        name: "sum".to_owned(),
        words: format!("probability {}", explanation.probability),
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
        probability: explanation.probability.clone(),
    }
}

/// What the levels of a model say, field by field.
pub fn levels(model: &ReadyModel) -> ModelBars {
    let model = model.model();
    let levels = model.levels();
    let scale = Scale::new(levels.iter().map(|level| level.bits));
    // Of one field, those that some match has, or those that none has.
    let bars = |k: usize, some: bool| {
        let levels = levels.iter().filter(|level| level.field == k);
        let levels = levels.filter(|level| (level.pairs.round() >= 1.0) == some);
        let levels = levels.map(|level| LevelBar {
            words: level.meaning,
            bits: signed(level.bits),
            span: scale.span(0.0, level.bits),
            matches: grouped(level.pairs.round().max(0.0) as u64),
            weak: level.is_weak(),
        });
        FieldBars {
            name: name_of(&model.fields[k].name),
            levels: levels.collect(),
        }
    };
    let of_fields = |some: bool| -> Vec<FieldBars> {
        let all = (0..model.fields.len()).map(|k| bars(k, some));
        all.filter(|field| !field.levels.is_empty()).collect()
    };
    let empty = of_fields(false);
    ModelBars {
        status: model.status.name(),
        records: grouped(model.records.max(0.0) as u64),
        zero: scale.at(0.0),
        fields: of_fields(true),
        empty_levels: empty.iter().map(|field| field.levels.len()).sum(),
        empty,
    }
}
