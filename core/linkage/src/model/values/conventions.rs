//! How the values of a column are written, as far as that says how to read them: formats of dates, regions of
//! telephones, mailboxes.

use std::collections::BTreeMap;

use super::Reading;
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

/// So many telephones without a country's code are kept, to be tried when the region is known.
const MOST_NATIONAL: usize = 500;

/// What a sample of a column's values shows.
#[derive(Clone, Default)]
pub struct Conventions {
    values: u64,
    /// Dates, by the set of formats that read them, a bit for each.
    dates: BTreeMap<u8, u64>,
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
            let reads = |formats: &DateFormats| formats.date_if_any(value, || ()).is_some();
            let set = PARSERS.iter().enumerate();
            let set = set.fold(0, |set, (i, formats)| set | u8::from(reads(formats)) << i);
            *self.dates.entry(set).or_default() += 1;
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

    /// Whether nine in ten values are e-mail addresses, some of which are not written as their mailbox. Where all are,
    /// the texts say as much.
    pub fn mailbox(&self) -> Option<Reading> {
        let are_addresses = 10 * self.addresses >= 9 * self.values;
        (are_addresses && 100 * self.folded >= self.values.max(1)).then_some(Reading::Mailbox)
    }

    /// The region of telephones that are written both with the code of its country and without. Where all are written
    /// alike, their digits say as much.
    pub fn phone_region(&self) -> Option<Reading> {
        let abroad: u64 = self.abroad.values().sum();
        let are_phones = 10 * (abroad + self.national) >= 9 * self.values;
        let both = 10 * abroad.min(self.national) >= self.values;
        // the first of several that are as frequent
        let (region, _) = self.abroad.iter().rev().max_by_key(|(_, &n)| n)?;
        let valid = |text: &&String| phone_or_none(text, region).is_some();
        let known = self.kept.iter().filter(valid).count();
        match are_phones && both && 2 * known >= self.kept.len() {
            true => Reading::phone(region).ok(),
            false => None,
        }
    }
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
