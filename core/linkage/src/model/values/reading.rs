//! How the texts of a field are read before they are compared, where people write the same thing in many ways.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use twox_hash::XxHash3_64;

use super::Kind;
use base::error::shortened;
use base::{Error, ErrorKind, Result};
use signature::filter::{parse_shape, Shape};
use text::contact::{email_or_none, is_phone_region, phone_or_none};
use text::{for_each_sound, DateFormats, Sound};

/// The name of [`Reading::Mailbox`].
const MAILBOX: &str = "mailbox";

/// The name of [`Reading::Amount`].
const AMOUNT: &str = "amount";

/// Most bits of a signature: how many are set is kept in 16 bits.
const MOST_BITS: u32 = u16::MAX as u32;

/// Characters of a name that messages show.
const LONGEST: usize = 40;

/// How texts are read. What cannot be read is compared as it is.
#[derive(Clone)]
pub enum Reading {
    /// Telephone numbers as they are written in a region: the digits with the country's code.
    Phone(String),
    /// E-mail addresses: the mailbox, without what its provider does not look at.
    Mailbox,
    /// Dates of one format or more, in order of preference: year, month and day.
    Dates(String, Arc<DateFormats>),
    /// Names: how they sound, besides how they are written.
    Sound(Sound),
    /// Numbers: an amount may have its currency before it, and commas between thousands.
    Amount,
    /// Signatures of a shape, and as it is written.
    Signatures(String, Shape),
}

impl Reading {
    /// Telephones of a region, which is two letters of ISO 3166.
    ///
    /// Errors: a region that has no numbers.
    pub fn phone(region: &str) -> Result<Reading> {
        match is_phone_region(region) {
            true => Ok(Reading::Phone(region.to_ascii_uppercase())),
            false => Err(Error::invalid(format!(
                "region \"{}\" of telephones is not known",
                shortened(region, LONGEST)
            ))
            .hint("A region is two letters of ISO 3166-1, such as DE, GB or US.")),
        }
    }

    /// Dates of a format, or of several with bars between.
    ///
    /// Errors: a malformed format.
    pub fn dates(names: &str) -> Result<Reading> {
        let mut each = date_formats(names);
        let mut formats = DateFormats::new(each.next().unwrap_or(""))?;
        each.try_for_each(|name| formats.push(name))?;
        Ok(Reading::Dates(names.to_owned(), Arc::new(formats)))
    }

    /// Signatures of a shape.
    ///
    /// Errors: more bits than a model compares.
    pub fn signatures(shape: Shape) -> Result<Reading> {
        match shape.m() <= MOST_BITS {
            true => Ok(Reading::Signatures(shape.to_string(), shape)),
            false => Err(Error::new(
                ErrorKind::LimitExceeded,
                format!("signature of shape {shape} has {} bits", shape.m()),
            )
            .detail(format!(
                "A model compares signatures of {MOST_BITS} bits at most."
            ))),
        }
    }

    /// The reading of this name for fields of a kind.
    ///
    /// Errors: there is none.
    pub fn of_name(kind: Kind, name: &str) -> Result<Reading> {
        match kind {
            Kind::Phone => Reading::phone(name),
            Kind::Date | Kind::Day => Reading::dates(name),
            Kind::Name => name.parse().map(Reading::Sound),
            Kind::Text | Kind::Email if name == MAILBOX => Ok(Reading::Mailbox),
            Kind::Number if name == AMOUNT => Ok(Reading::Amount),
            Kind::Signature => parse_shape(name).and_then(Reading::signatures),
            _ => Err(Error::invalid(format!("fields of kind {kind} are not read as \"{}\"", shortened(name, LONGEST)),
            )
            .hint("Write phone(DE) with a region, date(DD.MM.YYYY) with a format or date(DD.MM.YYYY|YYYY-MM-DD) with \
                several, name(double_metaphone) with an algorithm, number(amount), text(mailbox) or email(mailbox).")),
        }
    }

    /// As SQL and JSON write it.
    pub fn name(&self) -> &str {
        match self {
            Reading::Phone(region) => region,
            Reading::Mailbox => MAILBOX,
            Reading::Dates(format, _) => format,
            Reading::Sound(sound) => sound.name(),
            Reading::Amount => AMOUNT,
            Reading::Signatures(name, _) => name,
        }
    }

    /// A text as it is compared.
    pub fn read<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let read = match self {
            Reading::Phone(region) => phone_or_none(text, region).map(|phone| phone.digits),
            Reading::Mailbox => email_or_none(text).map(|email| email.text()),
            // Only whole dates: the digits of anything else are as good where they stand.
            Reading::Dates(_, formats) => formats.date_if_written(text),
            Reading::Amount => amount(text),
            Reading::Sound(_) | Reading::Signatures(..) => None,
        };
        read.map_or(Cow::Borrowed(text), Cow::Owned)
    }
}

/// The formats between bars; a bar in double quotes stands for itself.
pub fn date_formats(names: &str) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    names.split(move |c| {
        quoted ^= c == '"';
        c == '|' && !quoted
    })
}

/// The number of an amount that is not written as a plain number.
fn amount(text: &str) -> Option<String> {
    let number = text.trim().trim_start_matches(['$', '€', '£']).trim_start();
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let is_group = |group: &str| group.len() == 3 && group.bytes().all(|b| b.is_ascii_digit());
    if !whole.split(',').skip(1).all(is_group) {
        return None;
    }
    match fraction {
        "" => Some(whole.replace(',', "")),
        _ => Some(format!("{}.{fraction}", whole.replace(',', ""))),
    }
}

/// How a name sounds: a hash of the codes of its words; 0 if they have none.
pub(super) fn sound_of(name: &str, sound: Sound) -> Result<u64> {
    let mut codes = String::new();
    let each = |code: &str| {
        codes.push_str(code);
        codes.push(' ');
        Ok(())
    };
    for_each_sound(name, sound, each, || ())?;
    Ok(match codes.as_str() {
        "" => 0,
        codes => XxHash3_64::oneshot(codes.as_bytes()).max(1),
    })
}

impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl PartialEq for Reading {
    fn eq(&self, other: &Reading) -> bool {
        self.name() == other.name()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(kind: Kind, name: &str, text: &str) -> String {
        Reading::of_name(kind, name)
            .unwrap()
            .read(text)
            .into_owned()
    }

    #[test]
    fn texts_are_read() {
        let cases = [
            (Kind::Phone, "DE", "040/422838-4625", "49404228384625"),
            (Kind::Phone, "de", "+49 (0)40 4228384625", "49404228384625"),
            (Kind::Phone, "DE", "+34 674 529 661", "34674529661"),
            (Kind::Phone, "DE", "12", "12"),
            (Kind::Phone, "DE", "ask Eva", "ask Eva"),
            (
                Kind::Text,
                "mailbox",
                "Max.Muster+x@googlemail.com",
                "maxmuster@gmail.com",
            ),
            (
                Kind::Email,
                "mailbox",
                "Max <m.m@WEB.example>",
                "m.m@web.example",
            ),
            (Kind::Email, "mailbox", "none", "none"),
            (Kind::Number, "amount", "$1,234.50", "1234.50"),
            (Kind::Number, "amount", " € 12,345", "12345"),
            (Kind::Number, "amount", "1,5", "1,5"),
            (Kind::Number, "amount", "-7", "-7"),
            (Kind::Date, "DD.MM.YYYY", "27.05.1964", "19640527"),
            (Kind::Date, "DD.MM.YYYY", "7.5.1964", "19640507"),
            // a month 86 costs the month, not the date
            (Kind::Date, "DD.MM.YYYY", "27.86.1964", "19648627"),
            (Kind::Date, "DD.MM.YYYY", "1964-05-27", "1964-05-27"),
            (Kind::Date, "DD.MM.YYYY", "", ""),
            (Kind::Date, "DD. Month YYYY", "27. Mai 1964", "19640527"),
            (
                Kind::Date,
                "DD.MM.YYYY|YYYY-MM-DD",
                "27.05.1964",
                "19640527",
            ),
            (
                Kind::Date,
                "DD.MM.YYYY|YYYY-MM-DD",
                "1964-05-27",
                "19640527",
            ),
            (
                Kind::Date,
                "DD.MM.YYYY|YYYY\"|\"MM\"|\"DD",
                "1964|05|27",
                "19640527",
            ),
        ];
        for (kind, name, text, is) in cases {
            assert_eq!(read(kind, name, text), is, "{kind} {name} {text}");
        }
    }

    #[test]
    fn names_sound() {
        let sound = |name: &str| sound_of(name, Sound::Cologne).unwrap();
        assert_eq!(sound("Meyer"), sound("Maier"));
        assert_eq!(sound("Müller-Lüdenscheidt"), sound("Mueller Luedenscheid"));
        assert_ne!(sound("Anna Maria"), sound("Maria Anna"));
        assert_eq!((sound(""), sound("42")), (0, 0));
    }

    #[test]
    fn other_readings_are_errors() {
        let cases = [
            (Kind::Phone, "XX"),
            (Kind::Phone, ""),
            (
                Kind::Phone,
                "Germany, and what lies around it as far as the sea",
            ),
            (Kind::Date, ""),
            (Kind::Date, "DD"),
            (Kind::Date, "DD.MM.YYYY|"),
            (Kind::Date, "|DD.MM.YYYY"),
            (Kind::Date, "DD.MM.YYYY|DD"),
            (Kind::Text, "DE"),
            (Kind::Name, "mailbox"),
            (Kind::Code, "mailbox"),
        ];
        for (kind, name) in cases {
            assert!(Reading::of_name(kind, name).is_err(), "{kind} {name}");
        }
    }
}
