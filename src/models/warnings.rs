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
        let odd = (0..fields.len()).zip(seen);
        let odd = odd.filter_map(|(k, seen)| self.odd(k, &fields[k], seen));
        odd.map(|odd| odd.warning()).collect()
    }

    /// The values of a field that are amiss.
    pub fn odd(&self, number: usize, field: &FieldModel, seen: &Seen) -> Option<OddValues> {
        self.0[number].odd(field, seen)
    }

    /// How many values of a field cannot be read, and of how many.
    pub fn unread(&self, number: usize) -> (u64, u64) {
        (self.0[number].unread, self.0[number].looked_at)
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
    fn odd(&self, field: &FieldModel, seen: &Seen) -> Option<OddValues> {
        let (kind, reading) = (field.layout.kind(), field.layout.reading());
        let odd = match (kind, reading) {
            (Kind::Text, None) => seen.conventions.odd_texts(),
            (Kind::Date | Kind::Day, first) => {
                // as they are written, if that is what is read
                let written = seen.conventions.date_format();
                let written = written.filter(|_| 2 * self.unread < self.looked_at);
                let first = first.or(written.as_ref());
                let first = first.map_or("YYYYMMDD", Reading::name);
                self.shown.odd(self.unread, self.looked_at, Some(first))
            }
            _ => self.shown.odd(self.unread, self.looked_at, None),
        }?;
        let (values, kind, reading) = match odd {
            Odd::Otherwise(n, reading @ Reading::Phone(_)) => (n, Kind::Phone, Some(reading)),
            Odd::Otherwise(n, reading) => (n, kind, Some(reading)),
            Odd::Unreadable(n) => (n, kind, None),
        };
        Some(OddValues {
            field: field.name.clone(),
            values,
            of: self.looked_at,
            kind,
            reading,
        })
    }
}

/// Values of a field that agree with no other ones as they could.
pub struct OddValues {
    field: String,
    pub values: u64,
    pub of: u64,
    kind: Kind,
    /// What reads them and the others; `None` if they cannot be read.
    reading: Option<Reading>,
}

/// What values are that cannot be read.
pub fn cannot_be_read(kind: Kind) -> String {
    let what = match kind {
        Kind::Date | Kind::Day => "a date",
        Kind::Phone => "a telephone",
        Kind::Number => "a number",
        _ => "an e-mail address",
    };
    format!("that cannot be read as {what}")
}

impl OddValues {
    /// What they are, as half a sentence.
    pub fn what(&self) -> String {
        match self.reading {
            Some(_) => "in another form than the others".to_owned(),
            None => cannot_be_read(self.kind),
        }
    }

    /// The field with its kind and what reads all values, if anything does.
    pub fn field_with_reading(&self) -> Option<String> {
        let (name, kind) = (&self.field, self.kind);
        let reading = self.reading.as_ref()?;
        Some(format!("\"{name}:{kind}({})\"", reading.name()))
    }

    fn warning(&self) -> Error {
        let (name, n, of, what) = (&self.field, self.values, self.of, self.what());
        let warning = Error::invalid(format!("field \"{name}\" has {n} of {of} values {what}"));
        match self.field_with_reading() {
            Some(field) => warning
                .detail("They do not agree with the same value as the others are written.")
                .hint(format!("Say among the fields how to read both: {field}.")),
            None => warning
                .detail("What cannot be read is compared by its letters, so that two records with \"unknown\" agree.")
                .hint("Correct such values, use a view in which they are NULL, or name another kind."),
        }
    }

    /// How many values of a field the warnings of a fit say this of, and of how many.
    pub fn told(warnings: &[String], field: &str) -> Option<(u64, u64)> {
        let begin = format!("field \"{field}\" has ");
        warnings.iter().find_map(|text| {
            let mut words = text.strip_prefix(&begin)?.split(' ');
            let mut word = || words.next();
            let values = word()?.parse().ok()?;
            let of = word().filter(|&word| word == "of").and(word())?;
            Some((values, of.parse().ok()?)).filter(|_| word() == Some("values"))
        })
    }
}
