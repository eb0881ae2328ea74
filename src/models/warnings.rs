//! What speaks against a model, or against the data that it was fitted to. Each is a WARNING at the fit and a text in the
//! model, so that whoever gets the model later sees it, too.

use base::range::counted;
use base::Error;
use linkage::model::values::{Conventions, FieldLayout, Kind, Odd, Reading};
use linkage::model::{FieldModel, MatchModel, PlannedSearch, Search, Status};

use super::fields::FieldWish;
use super::guess::{self, Seen};

/// Below this share of the expected matches, what the searches miss is worth a word.
const LEAST_RECALL: f64 = 0.9;

/// Expectations that differ by fewer matches differ by chance.
const FEW_MATCHES: f64 = 10.0;

/// By so much an expectation passes what it cannot be, by chance.
const ROUNDING: f64 = 1.02;

/// A field in which less than this share of the records has a value is often missing.
const OFTEN_THERE: f64 = 0.8;

/// So many values that cannot be read show how they are written.
const SHOWN: u64 = 1000;

/// So many columns of names make people, with one that is personal.
const NAMES_OF_PEOPLE: usize = 2;

/// Message, detail and hint as one text, for the model.
pub fn text(warning: &Error) -> String {
    let mut text = format!("{}.", warning.message());
    for more in [warning.detail_text(), warning.hint_text()]
        .into_iter()
        .flatten()
    {
        text.push(' ');
        text.push_str(more);
    }
    text
}

/// A field that somebody has named, and of which each record has another value.
pub fn unique(field: &str) -> Error {
    Error::invalid(format!(
        "field \"{field}\" has another value in nearly each record"
    ))
    .detail("If two records of one person differ in it, too, it hides the duplicates.")
    .hint("Leave it out of the fields, unless those of one person would agree in it.")
}

/// Columns that look like people by their values, where no name says so.
pub fn unknown_people(wishes: &[FieldWish], seen: &[Seen]) -> Option<Error> {
    let is_known = |wish: &FieldWish, seen| {
        guess::is_surname(&wish.name) || guess::is_personal(&wish.name, seen)
    };
    let columns = || wishes.iter().zip(seen);
    let names = columns().filter(|(_, seen)| seen.could_be_names()).count();
    let personal = columns().filter(|(_, seen)| seen.could_be_personal());
    let personal: Vec<&str> = personal.map(|(wish, _)| wish.name.as_str()).collect();
    if personal.is_empty() || names < NAMES_OF_PEOPLE || columns().any(|(w, s)| is_known(w, s)) {
        return None;
    }
    Some(
        Error::invalid("the values look like people, and no personal field is known")
            .detail(format!(
                "No column has a name by which personal fields are known. By its values one could be \"{}\".",
                personal.join("\", \"")
            ))
            .hint(format!(
                "Name the fields in which the people of a household differ, such as given name and date of birth: \
                 personal => '{{{}, ...}}'; or '{{}}' if there are none.",
                personal.join(",")
            )),
    )
}

/// The values of a field that cannot be read.
#[derive(Clone, Default)]
pub struct Unread {
    looked_at: u64,
    unread: u64,
    /// How the first of them are written.
    shown: Conventions,
}

impl Unread {
    /// One value more. A blank one is none.
    pub fn look(&mut self, layout: &FieldLayout, value: &str) {
        if value.trim().is_empty() {
            return;
        }
        self.looked_at += 1;
        if !layout.reads(value) {
            self.unread += 1;
            if self.unread <= SHOWN {
                self.shown.add(value);
            }
        }
    }

    /// What is amiss with the values of a field.
    pub fn warning(&self, field: &FieldModel, seen: &Seen) -> Option<Error> {
        let (kind, reading) = (field.layout.kind(), field.layout.reading());
        let odd = match (kind, reading) {
            (Kind::Text, None) => seen.conventions.odd_texts(),
            (Kind::Date, first) => {
                let written = seen.conventions.date_format();
                let first = first.or(written.as_ref());
                let first = first.map_or("YYYYMMDD", Reading::name);
                self.shown.odd(self.unread, self.looked_at, Some(first))
            }
            _ => self.shown.odd(self.unread, self.looked_at, None),
        }?;
        let (name, of) = (&field.name, self.looked_at);
        Some(match odd {
            Odd::Otherwise(n, reading) => {
                let kind = match reading {
                    Reading::Phone(_) => Kind::Phone,
                    _ => kind,
                };
                Error::invalid(format!(
                    "field \"{name}\" has {n} of {of} values in another form than the others"
                ))
                .detail("They do not agree with the same value as the others are written.")
                .hint(format!(
                    "Say among the fields how to read both: \"{name}:{kind}({})\".",
                    reading.name()
                ))
            }
            Odd::Unreadable(n) => {
                let what = match kind {
                    Kind::Date => "a date",
                    Kind::Phone => "a telephone",
                    _ => "an e-mail address",
                };
                Error::invalid(format!(
                    "field \"{name}\" has {n} of {of} values that cannot be read as {what}"
                ))
                .detail("What cannot be read is compared by its letters, and \"unknown\" is the same as \"unknown\".")
                .hint("Correct such values, or use a view in which they are NULL.")
            }
        })
    }
}

/// What a model expects, and what cannot be.
///
/// `found` are the matches that its searches are expected to find, and the share of all of these that is. Of two tables
/// the smaller one has `smaller` records.
pub fn of_expectations(model: &MatchModel, smaller: Option<u32>) -> Vec<Error> {
    let mut warnings = Vec::new();
    let Some(class) = model
        .classes
        .first()
        .filter(|_| model.status == Status::Converged)
    else {
        return warnings;
    };
    let expected = class.pairs_per_record * model.records;
    let is_scan = |search: &&PlannedSearch| matches!(search.search, Search::Scan { .. });
    let (scans, others): (Vec<_>, Vec<_>) = model.searches.iter().partition(is_scan);
    let found: f64 = others
        .iter()
        .map(|s| s.matches_per_record * model.records)
        .sum();
    // a scan finds all by itself, and there may be nothing beside it
    let recall = others.last().map_or(1.0, |search| search.recall);
    let by_searches = match others.is_empty() {
        true => expected,
        false => found / recall.max(1e-9),
    };
    let (less, more) = (expected.min(by_searches), expected.max(by_searches));
    if more > 2.0 * less && more > less + FEW_MATCHES {
        warnings.push(
            Error::invalid(format!(
                "the model expects {expected:.0} matches, and its searches {by_searches:.0}"
            ))
            .detail(format!(
                "The searches are expected to find {found:.0} matches, which would be {:.1} % of all.",
                100.0 * recall
            ))
            .hint(
                "Look at some pairs before you use them. What is taken for a match may be something else: see \
                 bloom_model_classes(), name the personal fields, or compare other fields.",
            ),
        );
    }
    if scans.is_empty() && recall < LEAST_RECALL {
        let missing: Vec<String> = model
            .fields
            .iter()
            .filter(|field| field.filled < OFTEN_THERE)
            .map(|field| format!("\"{}\" ({:.0} %)", field.name, 100.0 * (1.0 - field.filled)))
            .collect();
        let detail = match missing.is_empty() {
            true => "No field is often missing, so two records of one person are often equal in no two fields.".into(),
            false => format!("Many records have no value of {}.", missing.join(", ")),
        };
        warnings.push(
            Error::invalid(format!(
                "the searches are expected to find {:.0} % of the matches",
                100.0 * recall
            ))
            .detail(detail)
            .hint("Add a field that most records have and in which those of one person agree, such as a telephone, an e-mail address or a street."),
        );
    }
    if let Some(smaller) = smaller.filter(|&n| expected > ROUNDING * f64::from(n)) {
        warnings.push(
            Error::invalid(format!(
                "{expected:.0} matches are expected, and the smaller table has {}",
                counted(smaller.into(), "record", "records")
            ))
            .detail("If neither table has duplicates of its own, there are at most as many matches as that.")
            .hint(
                "Ask for one_to_one where neither table has duplicates of its own. If it has, find them first, by \
                 bloom_model_fit(); and look at some pairs before you use them.",
            ),
        );
    }
    warnings
}
