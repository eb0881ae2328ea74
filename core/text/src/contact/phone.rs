//! Telephone numbers to one form: the digits of E.164 without the plus.

use rlibphonenumber::{
    NumberLengthType, ParseError, PhoneNumber, PhoneNumberFormat, Region, ValidationError,
    PHONE_NUMBER_UTIL,
};

use crate::is_letter_or_digit;
use crate::letters::is_digit;
use base::error::quoted;
use base::{Error, Result};

/// Version of the metadata of telephone numbers that is compiled in.
pub const PHONE_METADATA: &str = "9.0.42";

/// Most characters of a text that is looked at; those who made the metadata have the same limit.
const LONGEST: usize = 250;

/// A number that can be dialled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phone {
    /// Country code and national number.
    pub digits: String,
    /// What is dialled when the call is answered.
    pub extension: Option<String>,
}

/// Reads a number as it is written in `region`, which is two letters of ISO 3166. With a `+` and a country code it is
/// understood in any region, and without one, which is blank.
///
/// Errors: the region has no numbers, or the text is no valid number. Blank text is none.
pub fn phone(text: &str, region: &str) -> Result<Phone> {
    let region = region_of(region)?;
    read(text, region).map_err(|why| {
        Error::invalid(format!(
            "\"{}\" is not a valid telephone number",
            quoted(text)
        ))
        .detail(why)
        .hint("ident_phone_or_null() gives NULL instead.")
    })
}

/// The same; `None` for what is no valid number. A region that has no numbers is as none: one wrong value among those
/// of a column must not stop the others.
pub fn phone_or_none(text: &str, region: &str) -> Option<Phone> {
    read(text, region_of(region).ok().flatten()).ok()
}

/// Whether a region has numbers.
pub fn is_phone_region(region: &str) -> bool {
    matches!(region_of(region), Ok(Some(_)))
}

/// The region of a number that is written with its country code; `None` for all others.
pub fn phone_region(text: &str) -> Option<String> {
    let text = text.trim();
    let is_short = text.len() <= LONGEST && !context_comes_first(text);
    let number = PHONE_NUMBER_UTIL
        .parse(text, None)
        .ok()
        .filter(|_| is_short)?;
    let region = PHONE_NUMBER_UTIL.get_region_for_number(&number)?;
    Some(region.to_string())
}

/// `None` for a blank one.
fn region_of(name: &str) -> Result<Option<Region>> {
    let name = name.trim();
    if name.is_empty() {
        return Ok(None);
    }
    // "001" is no region that anybody lives in.
    let two_letters = Some(name).filter(|name| name.len() == 2);
    two_letters
        .and_then(|name| Region::from_code(name).ok())
        .filter(|region| PHONE_NUMBER_UTIL.get_country_code_for_region(*region).is_some())
        .map(Some)
        .ok_or_else(|| {
            Error::invalid(format!("region \"{}\" is not known", quoted(name)),
            )
            .detail("A region is two letters of ISO 3166-1, and has telephone numbers.")
            .hint("Use DE for Germany, GB for the United Kingdom, US for the United States, and so on, or '' if all \
                numbers begin with + and a country code.")
        })
}

/// Errors: a sentence that says why it is no valid number.
fn read(text: &str, region: Option<Region>) -> std::result::Result<Phone, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("It is blank.".to_owned());
    }
    if text.chars().take(LONGEST + 1).count() > LONGEST {
        return Err(format!("It has more than {LONGEST} characters."));
    }
    if context_comes_first(text) {
        return Err("The parts of a tel: URI are in the wrong order.".to_owned());
    }
    let number = PHONE_NUMBER_UTIL
        .parse(text, region)
        .map_err(|error| parse_detail(&error, region))?;
    if !PHONE_NUMBER_UTIL.is_valid_number(&number) {
        return Err(validity_detail(&number));
    }
    if has_more_behind_a_slash(text, region) {
        return Err("Digits follow a \"/\" behind what is a number already: an extension or another number.".to_owned());
    }
    let formatted = PHONE_NUMBER_UTIL.format(&number, PhoneNumberFormat::E164);
    let digits: String = formatted
        .bytes()
        .filter(u8::is_ascii_digit)
        .map(char::from)
        .collect();
    let extension = number.extension.filter(|extension| !extension.is_empty());
    Ok(Phone { digits, extension })
}

/// Fewest digits of a national number that is taken for a whole one: an area code alone has fewer.
const WHOLE: u64 = 1_000_000;

/// Whether digits follow a slash behind a whole number. In `040 4228384625 / 22` nobody knows what they are, and in
/// plans that allow numbers of many lengths they would make a longer one. A slash behind an area code parts it from the
/// rest.
fn has_more_behind_a_slash(text: &str, region: Option<Region>) -> bool {
    if text.contains(";phone-context=") {
        return false;
    }
    let slashes = text.match_indices(['/', '\u{ff0f}']);
    slashes.into_iter().any(|(at, slash)| {
        let more = text[at + slash.len()..]
            .chars()
            .find(|&c| is_letter_or_digit(c));
        more.is_some_and(is_digit)
            && PHONE_NUMBER_UTIL
                .parse(text[..at].trim(), region)
                .is_ok_and(|number| {
                    number.national_number >= WHOLE && PHONE_NUMBER_UTIL.is_valid_number(&number)
                })
    })
}

/// The library would take a slice that ends before it begins.
fn context_comes_first(text: &str) -> bool {
    match (text.find(";phone-context="), text.find("tel:")) {
        (Some(context), Some(prefix)) => prefix > context,
        _ => false,
    }
}

fn parse_detail(error: &ParseError, region: Option<Region>) -> String {
    let of_region = match region {
        Some(region) => format!("a number of {region}"),
        None => "a number".to_owned(),
    };
    match error {
        ParseError::InvalidCountryCode if region.is_none() => {
            "It does not begin with + and a country code that is in use, and there is no region."
                .to_owned()
        }
        ParseError::InvalidCountryCode => "Its country code is not in use.".to_owned(),
        ParseError::NotANumber(_) => "It has no digits that could be a number.".to_owned(),
        ParseError::TooShortAfterIdd => {
            "Too few digits follow the prefix for calls abroad.".to_owned()
        }
        ParseError::TooShortNsn => format!("It is too short for {of_region}."),
        ParseError::TooLongNsn => format!("It is too long for {of_region}."),
    }
}

fn validity_detail(number: &PhoneNumber) -> String {
    let what = match PHONE_NUMBER_UTIL.is_possible_number_with_reason(number) {
        Ok(NumberLengthType::IsPossibleLocalOnly) => {
            "has no area code, without which it is ambiguous"
        }
        Ok(NumberLengthType::IsPossible) => "begins as no number there does",
        Err(ValidationError::InvalidCountryCode) => {
            return "Its country code is not in use.".to_owned()
        }
        Err(ValidationError::TooShort) => "is too short for one there",
        Err(ValidationError::TooLong) => "is too long for one there",
        Err(ValidationError::InvalidLength) => "has a length that no number there has",
    };
    format!("With country code {} it {what}.", number.country_code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::ErrorKind;

    fn digits(text: &str, region: &str) -> String {
        phone(text, region).unwrap().digits
    }

    #[test]
    fn one_number_in_many_spellings() {
        for text in [
            "040/422838-4625",
            "(040) 422838 4625",
            "+49 40 4228384625",
            "0049 40 422838-4625",
            "+49 (0)40 422838-4625",
            "Tel.: 040-422838-4625",
            "٠٤٠٤٢٢٨٣٨٤٦٢٥",
            "０４０４２２８３８４６２５",
            "tel:040-4228384625;phone-context=+49",
        ] {
            assert_eq!(digits(text, "DE"), "49404228384625", "{text}");
            assert_eq!(digits(text, "de"), "49404228384625", "{text}");
        }
        assert_eq!(digits("+49 40 4228384625", "US"), "49404228384625");
    }

    #[test]
    fn letters_stand_for_the_digits_of_their_keys() {
        assert_eq!(digits("1-800-FLOWERS", "US"), "18003569377");
        assert_eq!(digits("1-800-flowers", "us"), "18003569377");
        assert_eq!(digits("1-800-3569377", "US"), "18003569377");
    }

    #[test]
    fn an_extension_stands_apart() {
        for text in [
            "+1 650 253 0000 ext. 123",
            "(650) 253-0000 x123",
            "650-253-0000;ext=123",
            "650 253 0000 extension 123",
        ] {
            let phone = phone(text, "US").unwrap();
            assert_eq!(
                (phone.digits.as_str(), phone.extension.as_deref()),
                ("16502530000", Some("123")),
                "{text}"
            );
        }
        assert_eq!(phone("650 253 0000", "US").unwrap().extension, None);
    }

    #[test]
    fn what_is_no_number() {
        for text in [
            "",
            " \t",
            "-",
            "Erika",
            "1",
            "040",
            "+999 123456789",
            "+",
            "4228384625 4228384625",
            "\u{0}",
            "😀",
            "+49",
            ";phone-context=+49tel:5",
        ] {
            assert_eq!(phone_or_none(text, "DE"), None, "{text}");
            let error = phone(text, "DE").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidParameter, "{text}");
            assert!(
                error
                    .detail_text()
                    .is_some_and(|detail| detail.ends_with('.')),
                "{text}"
            );
        }
        assert!(phone(&"0".repeat(1_000_000), "DE").is_err());
    }

    #[test]
    fn international_numbers_need_no_region() {
        for region in ["", " "] {
            assert_eq!(digits("+49 40 4228384625", region), "49404228384625");
            assert_eq!(digits("tel:+49-40-4228384625", region), "49404228384625");
            for text in ["040 4228384625", "0049 40 4228384625", "", "+49"] {
                assert!(phone(text, region).is_err(), "{text}");
                assert_eq!(phone_or_none(text, region), None, "{text}");
            }
        }
        assert_eq!(digits("040 4228384625", " de "), "49404228384625");
    }

    #[test]
    fn what_follows_a_whole_number_behind_a_slash_is_not_added_to_it() {
        for (text, region) in [
            ("040 4228384625 / 22", "DE"),
            ("040 4228384625/22", "DE"),
            ("+49 40 4228384625 / 22", ""),
            ("040/4228384625/22", "DE"),
            ("030 901820 / 901821", "DE"),
            ("030 901820 ／ 2", "DE"),
            ("01 5346720 / 10", "AT"),
        ] {
            let error = phone(text, region).unwrap_err();
            let detail = error.detail_text().unwrap();
            assert!(detail.starts_with("Digits follow"), "{text}: {detail}");
            assert_eq!(phone_or_none(text, region), None, "{text}");
        }
        for (text, region, is) in [
            ("040/422838-4625", "DE", "49404228384625"),
            ("06131 / 123456", "DE", "496131123456"),
            ("03501/55123", "DE", "49350155123"),
            ("+49 / 40 / 4228384625", "DE", "49404228384625"),
            ("0049/40/4228384625", "DE", "49404228384625"),
            ("01/42/68/53/00", "FR", "33142685300"),
            ("0475/12.34.56", "BE", "32475123456"),
            ("01/5346720", "AT", "4315346720"),
            ("0664/1234567", "AT", "436641234567"),
            ("044/668 18 00", "CH", "41446681800"),
            ("02/12345678", "IT", "390212345678"),
        ] {
            assert_eq!(digits(text, region), is, "{text}");
        }
    }

    #[test]
    fn a_region_has_to_be_known() {
        for region in [
            "D",
            "DEU",
            "XX",
            "ZZ",
            "001",
            "49",
            "Germany",
            "ÄÖ",
            "\u{0}\u{0}",
        ] {
            assert_eq!(phone_or_none("040 4228384625", region), None);
            let number = phone_or_none("+49 40 4228384625", region).unwrap();
            assert_eq!(number.digits, "49404228384625");
            let error = phone("+49 40 4228384625", region).unwrap_err();
            assert!(error.message().starts_with("region \""), "{error}");
            assert!(error.hint_text().is_some());
        }
    }
}
