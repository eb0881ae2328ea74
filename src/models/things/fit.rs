//! The fit of a linkage of things.

use base::range::counted;
use base::Error;
use linkage::model::things::{learn, FitInput, MaskShares, OneToOne, ThingField, ThingsModel};
use linkage::model::values::Kind;
use linkage::model::{FieldModel, LeftOut, Status};

use super::compared::ComparedPairs;
use super::nearest;
use crate::models::fit::OTHER_DATA;
use crate::models::fit_records::FitRecords;
use crate::models::search::candidates::Candidates;
use pg::check_for_interrupts;
use pg::error::{warn, OrRaise};
use pg::progress::{self, phases};
use signature::mix;

/// Random pairs that are looked at; of tables with fewer pairs all are.
const RANDOM_PAIRS: u64 = 400_000;

/// Fits a model to records of things.
pub fn fit(
    mut records: FitRecords,
    one_to_one: OneToOne,
    left_out: Vec<LeftOut>,
    memory: usize,
) -> ThingsModel {
    let n = records.prepared.store.records;
    let second = records.prepared.texts.second.unwrap_or(n);
    let sizes = [second, n - second].map(|n| n as usize);
    let mut candidates = Candidates::new(&records.prepared.store, memory / 8, u64::MAX);
    nearest::search(&mut records, &mut candidates, memory);
    random_pairs(sizes, |a, b| candidates.push(a, second + b, 1));
    let mut compared =
        ComparedPairs::new(candidates.finish_shown(), &mut records, u64::MAX, memory);
    progress::phase(phases::FITTING, None);
    let fields: Vec<ThingField> = things(&records);
    let masks = masks(&records);
    let fit = learn(
        FitInput {
            fields: &fields,
            pairs: &mut compared.pairs,
            patterns: &mut compared.patterns,
            random: &mut compared.others,
            masks,
            records: sizes,
            one_to_one,
        },
        check_for_interrupts,
    )
    .or_raise();
    ThingsModel::of_fit(&records.fields, fit, left_out)
}

/// What pairs lack.
pub fn masks(records: &FitRecords) -> MaskShares {
    let [a, b] = &records.lacking;
    MaskShares::new(a, b, records.fields.len(), check_for_interrupts)
}

/// What is known of the fields.
fn things(records: &FitRecords) -> Vec<ThingField> {
    let fields = records.fields.iter().enumerate();
    let thing = |(k, field): (usize, &FieldModel)| ThingField {
        is_long: matches!(field.layout.kind(), Kind::Words | Kind::Number),
        frequencies: records.frequencies[k].clone(),
        tables: records.tables[k].clone(),
    };
    fields.map(thing).collect()
}

/// Gives random pairs of two tables of so many records to `each`, or all where there are few.
fn random_pairs([a, b]: [usize; 2], mut each: impl FnMut(u32, u32)) {
    let all = a as u64 * b as u64;
    let number = |k: u64, n: usize| ((u128::from(mix(k)) * n as u128) >> 64) as u32;
    for k in 0..all.min(RANDOM_PAIRS) {
        if k % 4096 == 0 {
            check_for_interrupts();
        }
        match all <= RANDOM_PAIRS {
            true => each((k / b as u64) as u32, (k % b as u64) as u32),
            false => each(number(2 * k, a), number(2 * k + 1, b)),
        }
    }
}

/// Says what to do about a model that should not be used.
pub fn tell(model: &ThingsModel) {
    let (message, hint) = match model.status {
        Status::Stopped => ("the rounds of the fit were not enough", OTHER_DATA),
        Status::NoneExpected => (
            "next to no matches are expected",
            "Compare other fields, or use the model all the same by the option {\"force\": true}.",
        ),
        Status::Degenerate => (
            "there is nothing to learn from",
            "Fit a model to more records, or to other fields.",
        ),
        Status::Converged | Status::NoPersonalFields => return,
    };
    warn(&Error::invalid(message).detail(detail(model)).hint(hint));
}

/// What the model expects.
pub fn detail(model: &ThingsModel) -> String {
    let records = |n: f64| counted(n as u64, "record", "records");
    let [a, b] = model.records.map(records);
    format!(
        "The model expects {:.1} matches between {a} and {b}; its status is {}.",
        model.matches(),
        model.status.name()
    )
}
