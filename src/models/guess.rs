//! What columns are, by their names and values.

use std::collections::HashSet;

use base::Error;
use linkage::model::column_names::{
    has_one_of, is_given_name, is_named_personal, is_surname, plain,
};
use linkage::model::values::{is_number, is_plain_date, Conventions, FieldLayout, Kind, Reading};
use pg::error::OrRaise;
use signature::filter::{parse_shape, Shape};
use text::{normalize, Sound};

/// What has been seen of the values of a column.
#[derive(Clone)]
pub struct Seen {
    /// Records with a value.
    pub present: u64,
    /// Of them, those with a date of eight digits.
    dates: u64,
    /// Records by the length of their normal form, for a sample of them.
    lengths: Vec<u32>,
    sampled: u64,
    /// How the values of the sample are written.
    pub conventions: Conventions,
    /// Records with a value of several words.
    of_words: u64,
    /// Records with a value that has a digit or an `@`.
    coded: u64,
    /// Of the sample, those with a number, and all words of their normal forms.
    numbers: u64,
    words: u64,
    /// Different values, or a sample of them, by hash; none once it is known that many have come again.
    values: HashSet<u64>,
    /// Hashes in the sample have so many zeros at their end.
    zeros: u32,
    /// Values of the sample that had come before.
    repeats: usize,
    /// The shape of the first signature, where values are signatures.
    shape: Option<Shape>,
}

/// Lengths from here on are one.
const LONGEST: usize = 1000;

/// Different values that are remembered.
const MOST_VALUES: usize = 1 << 16;

/// Texts of more words in the mean are compared by their words alone, and of more than the second number by these, too.
const MANY_WORDS: f64 = 4.0;
const SEVERAL_WORDS: f64 = 1.2;

/// A column has numbers if this share of its values are some.
const NUMBERS: f64 = 0.9;

/// Fewer records say nothing of a column in which hardly two of them agree; and of so many it is no more than likely that
/// the column is of no use.
const LEAST_UNIQUE: u64 = 200;
const FEW_UNIQUE: u64 = 1000;

/// In a column that each record has another value in, one value in so many has come before, or fewer: where a field of
/// people has so few, there are fewer duplicates than a model can tell from chance.
const REPEATED: usize = 500;

impl Default for Seen {
    fn default() -> Seen {
        Seen {
            present: 0,
            dates: 0,
            lengths: vec![0; LONGEST + 1],
            sampled: 0,
            conventions: Conventions::default(),
            of_words: 0,
            coded: 0,
            numbers: 0,
            words: 0,
            values: HashSet::new(),
            zeros: 0,
            repeats: 0,
            shape: None,
        }
    }
}

impl Seen {
    /// One value more; it is none if nothing is left of it in its normal form. The length of that is looked at if it
    /// belongs to the sample.
    pub fn add(&mut self, value: &str, in_sample: bool) {
        let is_plain = |b: u8| b.is_ascii_alphanumeric();
        if !value.bytes().any(is_plain)
            && normalize(value, true, || ()).unwrap_or_default().is_empty()
        {
            return;
        }
        self.present += 1;
        self.dates += u64::from(is_plain_date(value));
        self.of_words += u64::from(value.trim().contains(' '));
        self.coded += u64::from(value.chars().any(|c| c.is_numeric() || c == '@'));
        self.look_for_repeated(value);
        if in_sample {
            self.conventions.add(value);
            let normal = normalize(value, true, || ()).unwrap_or_default();
            if !normal.is_empty() {
                self.lengths[normal.len().min(LONGEST)] += 1;
                self.sampled += 1;
                self.numbers += u64::from(is_number(value));
                self.words += 1 + normal.bytes().filter(|&b| b == b'_').count() as u64;
            }
        }
    }

    /// One signature more, as it is written; it is no value if none of its bits is set.
    pub fn add_signature(&mut self, value: &str) {
        if value.is_empty() {
            return;
        }
        if self.shape.is_none() {
            let shape = value.rsplit_once(':').map(|(shape, _)| parse_shape(shape));
            // what is no signature is an error when it is read whole
            self.shape = shape.and_then(Result::ok);
        }
        let digits = value.rsplit(':').next().unwrap_or("");
        if digits.bytes().any(|digit| digit != b'0') {
            self.present += 1;
            self.look_for_repeated(value);
        }
    }

    /// That values are signatures of the shape of the first one. `column` is for messages.
    ///
    /// Errors: the first one is no signature, or has more bits than a model compares.
    pub fn signatures(&self, column: &str) -> Option<Reading> {
        let no_signature = || {
            Error::invalid(format!("values of field \"{column}\" are no signatures"))
                .hint("Name another kind, or a column of type bloom.")
        };
        let of_field = |error: Error| error.of(&format!("value of field \"{column}\""));
        let shape = self.shape.ok_or_else(no_signature);
        let reading = shape.and_then(|shape| Reading::signatures(shape).map_err(of_field));
        Some(reading.or_raise())
    }

    fn look_for_repeated(&mut self, value: &str) {
        let hash = FieldLayout::identity(value);
        if self.repeats > MOST_VALUES / REPEATED || hash.trailing_zeros() < self.zeros {
            return;
        }
        if !self.values.insert(hash) {
            self.repeats += 1;
            if self.repeats > MOST_VALUES / REPEATED {
                self.values = HashSet::new();
            }
        } else if self.values.len() > MOST_VALUES {
            self.zeros += 1;
            let zeros = self.zeros;
            self.values.retain(|hash| hash.trailing_zeros() >= zeros);
        }
    }

    /// Whether it looks like a column of numbers or codes of which each record has another one, but for a few, so that
    /// it says nothing of duplicates. Two tables, the smaller of which has `smaller` records, have no more duplicates
    /// than that allows.
    pub fn is_unique(&self, smaller: Option<u32>) -> bool {
        let values = self.values.len();
        let could_repeat = smaller.map_or(values, |n| values.min(n as usize));
        let has_repeated = self.repeats > could_repeat / REPEATED;
        !has_repeated && self.present >= LEAST_UNIQUE && 10 * self.of_words < self.present
    }

    /// Whether so few records have a value that it may be chance that each has another one.
    pub fn are_few(&self) -> bool {
        self.present < FEW_UNIQUE
    }

    /// Whether nine in ten values have neither a digit nor an `@`: dates, addresses and numbers they are not.
    fn are_words(&self) -> bool {
        self.present > 0 && 10 * self.coded <= self.present && self.shape.is_none()
    }

    /// Whether they could be names of people: a word each, most of them.
    pub fn could_be_names(&self) -> bool {
        self.are_words() && 2 * self.of_words < self.present
    }

    /// Whether they could be what one person has for himself: e-mail addresses, or dates that lie as far apart as those
    /// of birth do.
    pub fn could_be_personal(&self) -> bool {
        self.conventions.are_addresses() || self.conventions.are_dates_of_decades()
    }

    /// The length that nine in ten values do not exceed.
    pub fn usual_length(&self) -> usize {
        let most = self.sampled.saturating_sub(1) * 9 / 10;
        let mut below = 0;
        let found = self.lengths.iter().position(|&n| {
            below += u64::from(n);
            below > most
        });
        found.unwrap_or(4)
    }

    /// Whether some values have several words, whose order may be another one.
    pub fn are_of_words(&self) -> bool {
        self.mean_words() > SEVERAL_WORDS
    }

    fn mean_words(&self) -> f64 {
        self.words as f64 / self.sampled.max(1) as f64
    }

    fn are_dates(&self) -> bool {
        self.present > 0 && 10 * self.dates >= 9 * self.present
    }
}

/// Whether people of a household differ in it: in given names, and in dates, addresses and numbers of a person. Where the
/// values are words, they are none of the latter, whatever the name says: those of a `birth_place` are towns.
pub fn is_personal(name: &str, seen: &Seen) -> bool {
    is_named_personal(name) && (is_given_name(name) || !seen.are_words())
}

/// How the values of a column are compared, and how they are read before.
///
/// Telephones and e-mail addresses are compared as texts, which finds more than their own kinds where all are written
/// alike. Where telephones are written with and without the code of a country, only their digits show that they are the
/// same. A name that says that they are dates is believed where half of the values are.
pub fn kind(name: &str, is_date: bool, is_fraction: bool, seen: &Seen) -> (Kind, Option<Reading>) {
    let plain = plain(name);
    if is_date
        || has_one_of(&plain, "birth dob geburt naissance nacimiento")
            && seen.conventions.are_often_dates()
        || seen.are_dates()
        || seen.conventions.date_format().is_some()
    {
        (Kind::Date, reading(Kind::Date, seen))
    } else if is_given_name(name) || is_surname(name) {
        (Kind::Name, reading(Kind::Name, seen))
    } else if is_fraction {
        (Kind::Number, None)
    } else if let Some(region) = seen.conventions.phone_region() {
        (Kind::Phone, Some(region))
    } else {
        (Kind::Text, seen.conventions.mailbox())
    }
}

/// How the values of a column of things are compared, and how they are read before.
pub fn kind_of_thing(is_date: bool, seen: &Seen) -> (Kind, Option<Reading>) {
    if is_date || seen.are_dates() || seen.conventions.date_format().is_some() {
        (Kind::Date, reading(Kind::Date, seen))
    } else if seen.numbers as f64 > NUMBERS * seen.sampled as f64 {
        (Kind::Number, Some(Reading::Amount))
    } else if seen.mean_words() > MANY_WORDS {
        (Kind::Words, None)
    } else {
        (Kind::Text, None)
    }
}

/// How the values of a column of a given kind are read.
pub fn reading(kind: Kind, seen: &Seen) -> Option<Reading> {
    match kind {
        // Eight digits are year, month and day without a format.
        Kind::Date | Kind::Day if seen.are_dates() => None,
        Kind::Date | Kind::Day => seen.conventions.date_format(),
        Kind::Phone => seen.conventions.phone_region(),
        Kind::Email => Some(Reading::Mailbox),
        Kind::Name => Some(Reading::Sound(Sound::DoubleMetaphone)),
        Kind::Text | Kind::Words | Kind::Code | Kind::Number | Kind::Signature => None,
    }
}
