//! How the values of a column are written, as far as that says how to read them: formats of dates, regions of
//! telephones, mailboxes.

use std::collections::BTreeMap;

use super::{date_formats, Reading};
use text::contact::{email_or_none, phone_or_none, phone_region};
use text::DateFormats;

/// Formats of dates that are looked for, those of day and month first where both can be meant. A set of them is the bits
/// of a byte, by their places here, and [`EITHER`] has two of the places.
const FORMATS: [&str; 8] = [
    "DD.MM.YYYY",
    "DD/MM/YYYY",
    "MM/DD/YYYY",
    "DD-MM-YYYY",
    "YYYY-MM-DD",
    "DD. Month YYYY",
    "DD Month YYYY",
    "Month DD, YYYY",
];

/// These two are never taken together, since the same text is another day by each.
const EITHER: [usize; 2] = [1, 2];

const _: () = assert!(FORMATS.len() <= u8::BITS as usize);

/// Longer texts are no dates.
const LONGEST_DATE: usize = 30;

/// One value in so many that is written otherwise than the others, or cannot be read, is no longer of no account, nor are
/// so many: one or two are typing errors.
const FEW: u64 = 500;
const LEAST_ODD: u64 = 3;

/// Dates of birth lie as far apart: so many years between the first and the last tenth of them.
const DECADES: u32 = 20;

/// So many telephones without a country's code are kept, to be tried when the region is known.
const MOST_NATIONAL: usize = 500;

/// What a sample of a column's values shows.
#[derive(Clone, Default)]
pub struct Conventions {
    values: u64,
    /// Dates, by the set of formats that read them, a bit for each.
    dates: BTreeMap<u8, u64>,
    /// Dates of those formats, or of eight digits, by their years.
    years: BTreeMap<u32, u64>,
    /// Telephones with the code of a country, by the region that it belongs to.
    abroad: BTreeMap<String, u64>,
    /// Telephones without.
    national: u64,
    kept: Vec<String>,
    /// E-mail addresses, and those of them that are written otherwise than their mailbox.
    addresses: u64,
    folded: u64,
}

impl Conventions {
    /// One value more, which is not blank.
    pub fn add(&mut self, value: &str) {
        let value = value.trim();
        self.values += 1;
        if value.len() <= LONGEST_DATE && value.bytes().any(|b| b.is_ascii_digit()) {
            let (set, date) = formats_of(value);
            *self.dates.entry(set).or_default() += 1;
            let date = date.or_else(|| is_plain_date(value).then(|| digits(value)));
            if let Some(year) = date.and_then(|date| date.get(..4)?.parse().ok()) {
                *self.years.entry(year).or_default() += 1;
            }
        }
        if let Some(email) = value.contains('@').then(|| email_or_none(value)).flatten() {
            self.addresses += 1;
            self.folded += u64::from(!email.text().eq_ignore_ascii_case(value));
        }
        if is_like_phone(value) {
            // what is dialled for a call abroad is a plus in most countries' writing
            let plus = value.strip_prefix("00").map(|rest| format!("+{rest}"));
            let region = phone_region(plus.as_deref().unwrap_or(value));
            match region {
                Some(region) => *self.abroad.entry(region).or_default() += 1,
                None => {
                    self.national += 1;
                    if self.kept.len() < MOST_NATIONAL {
                        self.kept.push(value.to_owned());
                    }
                }
            }
        }
    }

    /// The formats of nine in ten values, the most frequent one first: each that reads one value in a hundred which
    /// those before it do not.
    pub fn date_format(&self) -> Option<Reading> {
        let (mut taken, mut read, mut names) = (0, 0, Vec::new());
        loop {
            let gain = |format: usize| -> u64 {
                let new = |&(set, _): &(&u8, &u64)| set & taken == 0 && set & (1 << format) != 0;
                self.dates.iter().filter(new).map(|(_, n)| n).sum()
            };
            let is_free = |format: &usize| {
                !EITHER.contains(format) || EITHER.iter().all(|other| taken & (1 << other) == 0)
            };
            // the first of several that are as frequent
            let best = (0..FORMATS.len())
                .rev()
                .filter(is_free)
                .max_by_key(|&f| gain(f))?;
            if gain(best) == 0 || 100 * gain(best) < self.values {
                break;
            }
            read += gain(best);
            taken |= 1 << best;
            names.push(FORMATS[best]);
        }
        match !names.is_empty() && 10 * read >= 9 * self.values {
            true => Reading::dates(&names.join("|")).ok(),
            false => None,
        }
    }

    /// Whether half of the values are dates, of a known format or of eight digits.
    pub fn are_often_dates(&self) -> bool {
        self.values > 0 && 2 * self.years.values().sum::<u64>() >= self.values
    }

    /// Whether nine in ten values are dates, which lie as far apart as those of birth do.
    pub fn are_dates_of_decades(&self) -> bool {
        let dates: u64 = self.years.values().sum();
        // the year of the date of this place in their order
        let year = |place: u64| {
            let mut before = 0;
            let found = self.years.iter().find(|&(_, n)| {
                before += n;
                before > place
            });
            found.map_or(0, |(&year, _)| year)
        };
        self.values > 0
            && 10 * dates >= 9 * self.values
            && year(dates * 9 / 10) >= year(dates / 10) + DECADES
    }

    /// Whether nine in ten values are e-mail addresses.
    pub fn are_addresses(&self) -> bool {
        self.values > 0 && 10 * self.addresses >= 9 * self.values
    }

    /// Whether nine in ten values are e-mail addresses, some of which are not written as their mailbox. Where all are,
    /// the texts say as much.
    pub fn mailbox(&self) -> Option<Reading> {
        (self.are_addresses() && 100 * self.folded >= self.values).then_some(Reading::Mailbox)
    }

    /// The region of telephones, if nine in ten values are some, and one is known.
    fn region(&self) -> Option<&str> {
        let abroad: u64 = self.abroad.values().sum();
        let are_phones = 10 * (abroad + self.national) >= 9 * self.values;
        // the first of several that are as frequent
        let (region, _) = self.abroad.iter().rev().max_by_key(|(_, &n)| n)?;
        let valid = |text: &&String| phone_or_none(text, region).is_some();
        let known = self.kept.iter().filter(valid).count();
        (are_phones && 2 * known >= self.kept.len()).then_some(region)
    }

    /// Telephones that are written with the code of a country, or without, whichever are fewer.
    fn fewer_phones(&self) -> u64 {
        let abroad: u64 = self.abroad.values().sum();
        abroad.min(self.national)
    }

    /// The region of telephones that are written both with the code of its country and without. Where all are written
    /// alike, their digits say as much.
    pub fn phone_region(&self) -> Option<Reading> {
        let region = self.region()?;
        let both = 10 * self.fewer_phones() >= self.values;
        both.then(|| Reading::phone(region).ok()).flatten()
    }

    /// What is amiss with the values of a field that is compared as a text, since nearly all are written alike: some
    /// e-mail addresses that are not written as their mailbox, or telephones with the code of a country and others
    /// without.
    pub fn odd_texts(&self) -> Option<Odd> {
        // who compares them as texts all the same has chosen it
        if self.mailbox().is_some() || self.phone_region().is_some() {
            return None;
        }
        if self.are_addresses() {
            return match is_no_few(self.folded, self.values) {
                true => Some(Odd::Otherwise(self.folded, Reading::Mailbox)),
                false => Odd::unreadable(self.values - self.addresses, self.values),
            };
        }
        let (fewer, region) = (self.fewer_phones(), self.region()?);
        let reading = Reading::phone(region).ok()?;
        is_no_few(fewer, self.values).then_some(Odd::Otherwise(fewer, reading))
    }

    /// What is amiss with the values of a field of which so many cannot be read. `self` has seen some of those; `first`
    /// are the formats of the others, if they are dates.
    pub fn odd(&self, unread: u64, of: u64, first: Option<&str>) -> Option<Odd> {
        let unreadable = Odd::unreadable(unread, of)?;
        let both = first.zip(self.date_format()).and_then(|(first, other)| {
            let has = |format: usize| {
                let mut all = date_formats(first).chain(date_formats(other.name()));
                all.any(|name| name == FORMATS[format])
            };
            match EITHER.into_iter().all(has) {
                true => None,
                false => Reading::dates(&format!("{first}|{}", other.name())).ok(),
            }
        });
        Some(both.map_or(unreadable, |both| Odd::Otherwise(unread, both)))
    }
}

/// Values of a field that agree with no other ones as they could, so many.
#[derive(Clone, Debug, PartialEq)]
pub enum Odd {
    /// They are written otherwise than the others, and this would read both.
    Otherwise(u64, Reading),
    /// They cannot be read.
    Unreadable(u64),
}

impl Odd {
    fn unreadable(values: u64, of: u64) -> Option<Odd> {
        is_no_few(values, of).then_some(Odd::Unreadable(values))
    }
}

fn is_no_few(values: u64, of: u64) -> bool {
    values >= LEAST_ODD && FEW * values > of
}

/// The set of formats that read a text, and its date by the first of them.
fn formats_of(value: &str) -> (u8, Option<String>) {
    let (mut set, mut first) = (0, None);
    for (i, formats) in PARSERS.iter().enumerate() {
        if let Some(date) = formats.date_if_any(value, || ()) {
            set |= 1 << i;
            first.get_or_insert(date);
        }
    }
    (set, first)
}

fn digits(value: &str) -> String {
    value.chars().filter(char::is_ascii_digit).collect()
}

/// Whether a text has the eight digits of a date that may be: year, month and day.
pub fn is_plain_date(value: &str) -> bool {
    let mut digits = value
        .bytes()
        .filter(u8::is_ascii_digit)
        .map(|b| u32::from(b - b'0'));
    let mut number = |n: usize| {
        digits
            .by_ref()
            .take(n)
            .fold(0, |all, digit| 10 * all + digit)
    };
    let count = value.bytes().filter(u8::is_ascii_digit).count();
    count == 8
        && (1800..2200).contains(&number(4))
        && (1..=12).contains(&number(2))
        && (1..=31).contains(&number(2))
}

/// Whether the eight digits of a text are those of a date in another order than year, month and day.
pub(super) fn is_date_of_other_order(value: &str) -> bool {
    !is_plain_date(value) && formats_of(value.trim()).0 != 0
}

static PARSERS: std::sync::LazyLock<Vec<DateFormats>> = std::sync::LazyLock::new(|| {
    let format = |format: &&str| DateFormats::new(format).expect("a format that is read in a test");
    FORMATS.iter().map(format).collect()
});

/// Whether a text has the signs of a telephone only, and enough digits.
fn is_like_phone(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let signs = |b: u8| b.is_ascii_digit() || b"+()/-. ".contains(&b);
    (6..=20).contains(&digits) && value.len() <= 2 * 20 && value.bytes().all(signs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&str]) -> Conventions {
        let mut conventions = Conventions::default();
        values.iter().for_each(|value| conventions.add(value));
        conventions
    }

    fn format(values: &[&str]) -> Option<String> {
        let reading = of(values).date_format();
        reading.map(|reading| reading.name().to_owned())
    }

    fn region(values: &[&str]) -> Option<String> {
        let reading = of(values).phone_region();
        reading.map(|reading| reading.name().to_owned())
    }

    #[test]
    fn formats_of_dates_are_found() {
        let cases: [(&[&str], &str); 8] = [
            (&["27.05.1964", "3.1.2001"], "DD.MM.YYYY"),
            (&["01/02/1964", "27/05/1964"], "DD/MM/YYYY"),
            (&["01/02/1964", "05/27/1964"], "MM/DD/YYYY"),
            (&["01/02/1964", "03/04/1964"], "DD/MM/YYYY"),
            (&["27. Mai 1964", "3. Januar 2001"], "DD. Month YYYY"),
            (&["1964-5-27", "2001-1-3"], "YYYY-MM-DD"),
            (
                &["1964-5-27", "3.1.2001", "4.1.2001", "27. Mai 1964"],
                "DD.MM.YYYY|YYYY-MM-DD|DD. Month YYYY",
            ),
            (&["27.05.1964", "05/27/1964"], "DD.MM.YYYY|MM/DD/YYYY"),
        ];
        for (values, is) in cases {
            assert_eq!(format(values).as_deref(), Some(is), "{values:?}");
        }
        // of day and month first, one alone; and one in a hundred is no convention
        assert_eq!(format(&["27/05/1964", "05/27/1964"]), None);
        let mut many = vec!["27.05.1964"; 200];
        many.push("1964-05-27");
        assert_eq!(format(&many).as_deref(), Some("DD.MM.YYYY"));
        assert_eq!(format(&["Berlin", "27 High Street"]), None);
        assert_eq!(format(&[]), None);
    }

    /// So many of the first value, and so many of the second one.
    fn mixed(first: (&str, usize), second: (&str, usize)) -> Conventions {
        let of = |(value, n)| std::iter::repeat_n(value, n);
        of_all(of(first).chain(of(second)))
    }

    fn of_all<'v>(values: impl Iterator<Item = &'v str>) -> Conventions {
        of(&values.collect::<Vec<_>>())
    }

    #[test]
    fn odd_texts_are_found() {
        let mail = |n, other| mixed(("eva@web.example", 1000 - n), (other, n)).odd_texts();
        let folded = Odd::Otherwise(3, Reading::Mailbox);
        assert_eq!(mail(3, "max.muster+x@gmail.com"), Some(folded));
        assert_eq!(mail(3, "none"), Some(Odd::Unreadable(3)));
        assert_eq!(mail(2, "none"), None);
        let phone = |n, other| mixed(("040/422838-4625", 1000 - n), (other, n)).odd_texts();
        let region = Odd::Otherwise(3, Reading::phone("DE").unwrap());
        assert_eq!(phone(3, "+49 40 4228384625"), Some(region));
        assert_eq!(phone(2, "+49 40 4228384625"), None);
        assert_eq!(mail(30, "max.muster+x@gmail.com"), None);
        // digits are no telephones by themselves
        assert_eq!(phone(3, "none"), None);
        assert_eq!(of(&[]).odd_texts(), None);
    }

    #[test]
    fn odd_dates_are_found() {
        let odd = |values: &[&str], first| of(values).odd(values.len() as u64, 1000, Some(first));
        let german = ["27.05.1964", "3.1.2001", "1.1.1980"];
        let both = Odd::Otherwise(3, Reading::dates("YYYY-MM-DD|DD.MM.YYYY").unwrap());
        assert_eq!(odd(&german, "YYYY-MM-DD"), Some(both));
        let both = Odd::Otherwise(3, Reading::dates("YYYYMMDD|DD.MM.YYYY").unwrap());
        assert_eq!(odd(&german, "YYYYMMDD"), Some(both));
        assert_eq!(odd(&german[..2], "YYYYMMDD"), None);
        let unreadable = Some(Odd::Unreadable(3));
        assert_eq!(odd(&["unknown", "-1", "1964"], "YYYYMMDD"), unreadable);
        // one text would be two days
        assert_eq!(odd(&["05/27/1964"; 3], "DD/MM/YYYY"), unreadable);
    }

    #[test]
    fn dates_of_birth_lie_far_apart() {
        let born = ["19640527", "1971-03-04", "27.05.1999", "3.4.1950"];
        assert!(of(&born).are_dates_of_decades());
        assert!(of(&born).are_often_dates());
        assert!(!of(&["20200101", "2021-03-04", "27.05.2019"]).are_dates_of_decades());
        assert!(!of(&["Bremen", "Hamburg", "19640527"]).are_often_dates());
        assert!(!of(&[]).are_often_dates() && !of(&[]).are_dates_of_decades());
    }

    #[test]
    fn mailboxes_are_found_where_they_matter() {
        let mailbox = |values: &[&str]| of(values).mailbox().is_some();
        assert!(mailbox(&["max.muster+x@gmail.com", "eva@web.example"]));
        assert!(mailbox(&["Eva <eva@web.example>"]));
        assert!(!mailbox(&["MAX@web.example", "eva@web.example"]));
        assert!(!mailbox(&["max.muster+x@gmail.com", "eva"]));
        assert!(!mailbox(&[]));
    }

    #[test]
    fn a_region_is_found_where_it_matters() {
        let both = ["+49 40 4228384625", "040/422838-4625", "0049 40 42283846"];
        assert_eq!(region(&both).as_deref(), Some("DE"));
        assert_eq!(
            region(&["+34 674 529 661", "674529661"]).as_deref(),
            Some("ES")
        );
        // all with a country's code, or all without, or of another country than the code's, or no telephones
        assert_eq!(region(&["+49 40 4228384625", "+49 40 422838"]), None);
        assert_eq!(region(&["040 4228384625", "040 422838"]), None);
        assert_eq!(region(&["+34 674 529 661", "040/422838-4625"]), None);
        assert_eq!(region(&["+49 40 4228384625", "Max", "Eva"]), None);
        assert_eq!(region(&[]), None);
    }
}
