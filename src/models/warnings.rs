//! What speaks against a model, or against the data that it was fitted to. Each is a WARNING at the fit and a text in the
//! model, so that whoever gets the model later sees it, too.

use base::Error;
use linkage::model::values::{Conventions, FieldLayout, Kind, Odd, Reading};
use linkage::model::{column_names, FieldModel};

use super::fields::FieldWish;
use super::guess::{self, Seen};

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

/// What the records are of.
fn described(are_things: bool) -> [&'static str; 2] {
    match are_things {
        true => ["thing"; 2],
        false => ["person or thing", "person"],
    }
}

/// A field that somebody has named, and of which each record has another value.
pub fn unique(field: &str, are_things: bool) -> Error {
    let [one, short] = described(are_things);
    Error::invalid(format!(
        "field \"{field}\" has another value in nearly every record"
    ))
    .detail(format!(
        "If two records of one {one} differ in it, too, it hides the duplicates."
    ))
    .hint(format!(
        "Leave it out of the fields, unless those of one {short} would agree in it."
    ))
}

/// A column that is no field, since each of the few records has another value in it.
pub fn left_out(column: &str, are_things: bool) -> Error {
    let [one, short] = described(are_things);
    Error::invalid(format!(
        "column \"{column}\" is left out, since nearly every record has another value in it"
    ))
    .detail(format!(
        "If two records of one {one} differ in it, too, it would hide the duplicates."
    ))
    .hint(format!(
        "If those of one {short} would agree in it, name all fields, and it among them."
    ))
}

/// Columns that look like people by their values, where no name says so.
pub fn unknown_people(wishes: &[FieldWish], seen: &[Seen], are_things: bool) -> Option<Error> {
    let is_known = |wish: &FieldWish, seen| {
        column_names::is_surname(&wish.name) || guess::is_personal(&wish.name, seen)
    };
    let columns = || wishes.iter().zip(seen);
    let names = columns().filter(|(_, seen)| seen.could_be_names()).count();
    let personal = columns().filter(|(_, seen)| seen.could_be_personal());
    let personal: Vec<&str> = personal.map(|(wish, _)| wish.name.as_str()).collect();
    if personal.is_empty() || names < NAMES_OF_PEOPLE || columns().any(|(w, s)| is_known(w, s)) {
        return None;
    }
    if are_things {
        return Some(
            Error::invalid("the values look like people, whose households are no competitors")
                .detail(format!(
                    "By its values \"{}\" could be a field in which the people of a household differ.",
                    personal.join("\", \"")
                ))
                .hint("If they are people, fit with one_to_one => 'none', and name such fields as personal."),
        );
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

/// The values of all fields that cannot be read.
pub struct UnreadFields(Vec<Unread>);

impl UnreadFields {
    /// None yet.
    pub fn new(fields: &[FieldModel]) -> UnreadFields {
        UnreadFields(vec![Unread::default(); fields.len()])
    }

    /// A record more, whose values come in the order of the fields.
    pub fn look<'v>(&mut self, fields: &[FieldModel], values: impl Iterator<Item = &'v str>) {
        for ((unread, field), value) in self.0.iter_mut().zip(fields).zip(values) {
            unread.look(&field.layout, value);
        }
    }

    /// What is amiss with their values.
    pub fn finish(&self, fields: &[FieldModel], seen: &[&Seen]) -> Vec<Error> {
        let fields = self.0.iter().zip(fields).zip(seen);
        let warnings = fields.filter_map(|((unread, field), seen)| unread.warning(field, seen));
        warnings.collect()
    }
}

/// The values of a field that cannot be read.
#[derive(Clone, Default)]
struct Unread {
    looked_at: u64,
    unread: u64,
    /// How the first of them are written.
    shown: Conventions,
}

impl Unread {
    /// One value more. A blank one is none.
    fn look(&mut self, layout: &FieldLayout, value: &str) {
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
    fn warning(&self, field: &FieldModel, seen: &Seen) -> Option<Error> {
        let (kind, reading) = (field.layout.kind(), field.layout.reading());
        let odd = match (kind, reading) {
            (Kind::Text, None) => seen.conventions.odd_texts(),
            (Kind::Date | Kind::Day, first) => {
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
                    Kind::Date | Kind::Day => "a date",
                    Kind::Phone => "a telephone",
                    Kind::Number => "a number",
                    _ => "an e-mail address",
                };
                Error::invalid(format!(
                    "field \"{name}\" has {n} of {of} values that cannot be read as {what}"
                ))
                .detail("What cannot be read is compared by its letters, so that two records with \"unknown\" agree.")
                .hint("Correct such values, use a view in which they are NULL, or name another kind.")
            }
        })
    }
}
