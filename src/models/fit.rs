//! `bloom_model_fit` and `bloom_model_fit_linkage`: a model of the records of one table, or of pairs of two.

use std::ffi::CString;

use base::error::shortened;
use base::range::counted;
use base::Error;
use linkage::model::json::{write_model, write_things};
use linkage::model::things::OneToOne;
use linkage::model::{column_names, doubts, FieldModel, LeftOut, MatchModel, Status};
use pgrx::pg_sys;

use super::fields::{wishes, FieldWish};
use super::fit_model::fit;
use super::fit_records::{FitFields, FitRecords};
use super::options::ModelOptions;
use super::pairs::relations;
use super::things;
use super::warnings;
use crate::models::records::labels::Labels;
use crate::models::records::read::Table;
use crate::pairs::only_new::NewRecords;
use crate::pairs::records::Records;
use pg::budget::Budget;

use pg::entry;
use pg::error::{raise, warn, OrRaise};
use pg::function::arguments::Arguments;
use pg::progress;
use pg::values::jsonb::jsonb_datum;
use pg::values::text::readable;
use pg::values::varlena::NewValue;

/// Below this share of the records, next to no duplicates are expected.
const NONE: f64 = 0.01;

/// Of fewer records it is no news that no duplicates are expected.
const FEW: f64 = 100.0;

/// What to do about a model that must not be used.
pub const OTHER_DATA: &str =
    "Fit a model to more records or to other fields, or use this one all the same by the \
                              option {\"force\": true}.";

/// `(rel regclass, key name, fields text[], personal name[], labels regclass, options jsonb) RETURNS jsonb`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_model_fit(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    run(fcinfo, 1, "bloom_model_fit")
}

/// `(a_rel regclass, a_key name, b_rel regclass, b_key name, fields text[], personal name[], labels regclass, options
/// jsonb, one_to_one text) RETURNS jsonb`
#[entry(stable, called_on_null, parallel_unsafe)]
fn bloom_model_fit_linkage(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    run(fcinfo, 2, "bloom_model_fit_linkage")
}

fn run(fcinfo: pg_sys::FunctionCallInfo, sides: usize, job: &'static str) -> NewValue {
    // SAFETY: the SQL functions are declared with these arguments.
    let arguments = unsafe { Arguments::new(fcinfo) };
    let (mut relations, at) = (relations(arguments, sides), 2 * sides);
    let _job = progress::job(job, relations[0].oid);
    let given = arguments.datum(at).map(|_| arguments.texts(at));
    let personal: Option<Vec<String>> = arguments.datum(at + 1).map(|_| {
        let names = arguments.names(at + 1);
        names.iter().map(|name| readable(name.to_bytes())).collect()
    });
    let options = ModelOptions::of_fit(arguments, at + 3);
    options.stands_for(0.0, 0.0, sides);
    let one_to_one = match sides {
        2 => one_to_one(&arguments.text(at + 4)),
        _ => None,
    };
    if let Some(one_to_one) = one_to_one {
        let has_labels = arguments.datum(at + 2).is_some();
        refuse_of_people(
            one_to_one,
            personal.as_deref().unwrap_or_default(),
            has_labels,
        );
    }
    let mut left_out = Vec::new();
    let wishes = wishes(
        &relations,
        given.as_deref(),
        one_to_one.is_some(),
        &mut left_out,
    );
    for name in personal.iter().flatten() {
        if !wishes.iter().any(|wish| &wish.name == name) {
            let fields: Vec<&str> = wishes.iter().map(|wish| wish.name.as_str()).collect();
            let message = format!("personal field \"{name}\" is not one of the fields");
            raise(
                &Error::invalid(message)
                    .detail(format!("The fields are {}.", fields.join(", ")))
                    .hint("Name it among the fields, too, or leave it out of personal."),
            );
        }
    }
    let names: Vec<&str> = wishes.iter().map(|wish| wish.name.as_str()).collect();
    if let Some(sample) = options.sample {
        let only = |records: Records| records.only(Some(NewRecords::lock(sample)));
        relations = relations.into_iter().map(only).collect();
    }
    let tables = Table::of_relations(relations, &names);
    let labels = arguments
        .datum(at + 2)
        .map_or_else(Labels::default, |_| Labels::read(arguments.oid(at + 2)));
    let memory = Budget::of_setting().bytes() - labels.bytes;
    let fields = FitFields {
        wishes,
        personal: personal.as_deref(),
        are_guessed: given.is_none(),
        labels,
        left_out: &mut left_out,
        are_things: one_to_one.is_some(),
        options,
    };
    let mut records = FitRecords::read(&tables, fields, memory, job);
    check_fields(&records);
    if let Some(one_to_one) = one_to_one {
        let warned = std::mem::take(&mut records.warnings);
        let mut model = things::fit(records, one_to_one, left_out, memory);
        model.warnings = warned.iter().map(warnings::text).collect();
        warned.iter().for_each(warn);
        things::tell(&model);
        return NewValue(jsonb_datum(&write_things(&model).or_raise()));
    }
    let model = of_people(records, left_out, memory, personal.is_some());
    NewValue(jsonb_datum(&write_model(&model).or_raise()))
}

/// Errors: no field has values.
fn check_fields(records: &FitRecords) {
    if records.fields.is_empty() {
        let n = records.prepared.store.records;
        raise(
            &Error::invalid("no field has values to learn from")
                .detail(format!("There are {n} records."))
                .hint("Fit the model to a table with records, or name fields that have values."),
        );
    }
}

/// A model that says of each pair by itself what it is.
fn of_people(
    mut records: FitRecords,
    left_out: Vec<LeftOut>,
    memory: usize,
    personal_given: bool,
) -> MatchModel {
    let (mut model, recall) = fit(&mut records, left_out, memory);
    set_status(&mut model, personal_given);
    let mut warned = std::mem::take(&mut records.warnings);
    warned.extend(doubts(&model, recall, records.prepared.texts.smaller()));
    model.warnings = warned.iter().map(warnings::text).collect();
    tell(&model);
    warned.iter().for_each(warn);
    model
}

/// A model of the records of a table that compares the fields of another one as that does: by the same kinds and
/// readings, and with the same personal fields. `job` is what it is for.
///
/// Errors: those of a fit.
pub fn fit_anew(
    relation: pg_sys::Oid,
    key: CString,
    model: &MatchModel,
    job: &'static str,
) -> MatchModel {
    let relations = vec![Records::new(relation, key, Vec::new())];
    let _job = progress::job(job, relation);
    let wish = |field: &FieldModel| FieldWish {
        name: field.name.clone(),
        kind: Some(field.layout.kind()),
        reading: field.layout.reading().cloned(),
    };
    let fields = model.fields.iter();
    let personal = fields.clone().filter(|field| field.personal);
    let personal: Vec<String> = personal.map(|field| field.name.clone()).collect();
    let names: Vec<&str> = fields.clone().map(|field| field.name.as_str()).collect();
    let tables = Table::of_relations(relations, &names);
    let (memory, mut left_out) = (Budget::of_setting().bytes(), Vec::new());
    let fields = FitFields {
        wishes: fields.map(wish).collect(),
        personal: Some(&personal),
        are_guessed: false,
        labels: Labels::default(),
        left_out: &mut left_out,
        are_things: false,
        options: ModelOptions::default(),
    };
    let records = FitRecords::read(&tables, fields, memory, job);
    check_fields(&records);
    of_people(records, left_out, memory, true)
}

/// Which records have one partner at most; `None` if any may have several.
///
/// Errors: another word.
fn one_to_one(word: &str) -> Option<OneToOne> {
    const NONE: &str = "none";
    let found = OneToOne::named(word);
    if found.is_none() && word != NONE {
        raise(
            &Error::invalid(format!("unrecognized one_to_one \"{}\"", shortened(word, 40)))
                .hint("Use 'both' if no record has more than one partner in the other table, 'a' or 'b' if that holds for \
                       the records of the first or of the second table only, or 'none'.")
                .perhaps("value", word, OneToOne::ALL.map(OneToOne::name)),
        );
    }
    found
}

/// Errors: what only models of people have is asked of one of things.
fn refuse_of_people(one_to_one: OneToOne, personal: &[String], has_labels: bool) {
    let refused = match (personal, has_labels) {
        ([], false) => return,
        ([], true) => "labels",
        _ => "personal fields",
    };
    raise(
        &Error::invalid(format!("a fit with one_to_one => '{}' takes no {refused}", one_to_one.name()))
            .detail("Where pairs compete, there are no households, and the matches are learned without labels.")
            .hint("Leave them out, or fit with one_to_one => 'none'."),
    )
}

/// Says in the model whether it can be used.
fn set_status(model: &mut MatchModel, personal_given: bool) {
    let matches = model
        .classes
        .first()
        .map_or(f64::NAN, |class| class.pairs_per_record);
    let is_sound = matches.is_finite()
        && model
            .classes
            .iter()
            .flat_map(|c| &c.shares)
            .flatten()
            .all(|share| share.is_finite());
    let people = model
        .fields
        .iter()
        .any(|f| column_names::is_surname(&f.name));
    let no_personal = !personal_given && !model.fields.iter().any(|f| f.personal);
    if !is_sound || model.fields.is_empty() || model.records < 2.0 {
        model.status = Status::Degenerate;
    } else if matches * model.records < NONE * comparable_records(model) {
        model.status = Status::NoneExpected;
    } else if people && no_personal {
        model.status = Status::NoPersonalFields;
    }
}

/// How many records of one table there would be that a model expects duplicates of as it does of its own. A small table
/// that is compared with a large one has few duplicates for the records of both, so of two tables it is twice the
/// geometric mean, which is their sum where they have the same size.
fn comparable_records(model: &MatchModel) -> f64 {
    match model.linkage {
        true => 2.0 * model.all_pairs.sqrt(),
        false => model.records,
    }
}

/// Says what to do about a model that should not be used.
pub fn tell(model: &MatchModel) {
    // One value has no information; of rounding there may be some.
    let is_constant = |field: &FieldModel| field.information < 1e-9;
    let status = model.status.name();
    let (message, detail, hint) = match model.status {
        Status::Converged => return,
        Status::Stopped => ("the rounds of the fit were not enough", detail(model), OTHER_DATA),
        Status::Degenerate => (
            "there is nothing to learn from",
            format!(
                "The model was fitted to {}; its status is {status}.",
                counted(model.records as u64, "record", "records")
            ),
            "Fit a model to more records, or to other fields.",
        ),
        Status::NoneExpected if model.fields.iter().all(is_constant) => (
            "all records have the same values in the fields that are compared",
            format!(
                "No field tells one record from another, so none says which are the same; the status of the model is \
                 {status}."
            ),
            "Compare fields whose values differ, or find equal records by GROUP BY.",
        ),
        Status::NoneExpected if model.records < FEW => (
            "so few records show no duplicates to learn from",
            format!(
                "The model was fitted to {} records; its status is {status}.",
                model.records
            ),
            "Fit the model to more records, or find pairs by their similarity, by bloom_duplicates().",
        ),
        Status::NoneExpected => (
            "next to no duplicates are expected",
            detail(model),
            "Compare other fields, or use the model all the same by the option {\"force\": true}.",
        ),
        Status::NoPersonalFields => (
            "the columns look like people, and no personal field is known",
            detail(model),
            "Name the fields in which the people of a household differ, such as given name and date of birth: personal \
             => '{given_name,dob}'; or '{}' if there are none.",
        ),
    };
    warn(&Error::invalid(message).detail(detail).hint(hint));
}

/// What the model expects.
pub fn detail(model: &MatchModel) -> String {
    let matches = model
        .classes
        .first()
        .map_or(0.0, |class| class.pairs_per_record);
    format!(
        "The model expects {:.1} duplicates per 1000 records; its status is {}.",
        1000.0 * matches,
        model.status.name()
    )
}
