//! Several encodings of one value, as tokens: what is written differently in one of them still agrees in others
//! (redundant encodings, as they are used against fraud).

use base::{Error, Result, Ticker};

use crate::contact::{address_parts, email, AddressParts, Email};
use crate::expand;
use crate::is_letter_or_digit;

/// Version of the encodings below, for `bloom_fingerprint()`: a change of any takes a new number.
pub const ENCODINGS: u8 = 1;

base::named! {
    /// What a value is. It is part of each token, so that values of two kinds have none in common.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum IdentityKind {
        /// A postal address, as [`address_parts`] takes it apart.
        Address = "address",
        /// An e-mail address, in any form that [`email`] reads.
        Email = "email",
        /// A name of a person or a company.
        Name = "name",
        /// Digits of a telephone number, as [`crate::contact::phone`] gives them.
        Phone = "phone",
        /// Any other text.
        Text = "text",
    }
}

impl IdentityKind {
    /// The kind of this name.
    ///
    /// Errors: there is none.
    pub fn of_name(name: &str) -> Result<IdentityKind> {
        Self::named(name).ok_or_else(|| {
            let shown: String = name.chars().take(40).collect();
            let names = Self::ALL.map(Self::name);
            Error::invalid(format!("kind of identity \"{shown}\" is not known"))
                .hint(format!("Use one of {}.", names.join(", ")))
                .perhaps("kind", name, names)
        })
    }
}

/// Calls `each` with the tokens of a value, repetitions included; `turn` is called now and then. Blank values of kinds
/// `Name` and `Text` have none.
///
/// Errors: those of `each`; a value that is not of its kind; out of memory.
pub fn for_each_encoding(
    kind: IdentityKind,
    value: &str,
    mut turn: impl FnMut(),
    each: impl FnMut(&str) -> Result<()>,
) -> Result<()> {
    let mut to = Encodings::new(each);
    match kind {
        IdentityKind::Address => of_address(value, turn, &mut to),
        IdentityKind::Email => of_email(&email(value)?, &mut to),
        IdentityKind::Phone => of_phone(value, &mut to),
        IdentityKind::Name => {
            let normal = crate::normalize(value, true, &mut turn)?;
            word_encodings("n", &normal, &mut Ticker::new(&mut turn), &mut to)?;
            // Double Metaphone helps most of the algorithms, and counts twice: on labelled pairs of names that is
            // better than once.
            let sounds = |code: &str| {
                ["ns", "ns2"]
                    .iter()
                    .try_for_each(|kind| to.give(kind, code))
            };
            crate::for_each_sound(value, crate::Sound::DoubleMetaphone, sounds, turn)
        }
        IdentityKind::Text => {
            let normal = crate::normalize(value, true, &mut turn)?;
            let mut ticker = Ticker::new(turn);
            whole_ngrams("t3", &normal, &mut ticker, &mut to)?;
            word_encodings("t", &normal, &mut ticker, &mut to)
        }
    }
}

/// Who invents addresses by a pattern changes digits and provider. What stays counts most: letters and pattern, twice
/// each. The domain counts little, since so many have the same.
fn of_email(email: &Email, to: &mut Encodings<impl FnMut(&str) -> Result<()>>) -> Result<()> {
    let parts = email.parts();
    let normal = crate::normalize(&parts.letters, false, || ())?;
    if normal.is_empty() {
        // Nothing but digits: their n-grams stand in for those of letters.
        whole_ngrams("ed3", &parts.digits, &mut Ticker::new(|| ()), to)?;
    } else {
        whole_ngrams("e3", &normal, &mut Ticker::new(|| ()), to)?;
        to.give("el", &normal)?;
        to.give("el2", &normal)?;
        to.give("ep", &parts.pattern)?;
        to.give("ep2", &parts.pattern)?;
    }
    if !parts.digits.is_empty() {
        to.give("ed", &parts.digits)?;
    }
    for word in parts
        .pattern
        .split(|c: char| !is_letter_or_digit(c))
        .filter(|word| !word.is_empty())
    {
        to.give("ew", word)?;
    }
    to.give("eh", parts.registrable.as_deref().unwrap_or(&email.domain))?;
    let name = parts
        .registrable
        .as_deref()
        .and_then(|domain| domain.split('.').next());
    name.map_or(Ok(()), |name| to.give("eo", name))
}

// Names of encodings before their values.

/// Tokens on their way out, each with the letters of its encoding before it.
struct Encodings<F> {
    token: String,
    each: F,
}

impl<F: FnMut(&str) -> Result<()>> Encodings<F> {
    fn new(each: F) -> Self {
        Encodings {
            token: String::new(),
            each,
        }
    }

    /// Errors: those of `each`; out of memory.
    fn give(&mut self, encoding: &str, value: &str) -> Result<()> {
        self.token.clear();
        let bytes = encoding.len() + 1 + value.len();
        if self.token.try_reserve(bytes).is_err() {
            return Err(Error::out_of_memory(bytes));
        }
        self.token.push_str(encoding);
        self.token.push(':');
        self.token.push_str(value);
        (self.each)(&self.token)
    }
}

// Encodings of normal forms: n-grams of the whole and of words, words, and words that follow each other.

/// Characters of an n-gram.
const NGRAM: usize = 3;

/// Most bytes of what stands for itself as a word; what is longer is none, and has n-grams only.
const LONGEST_WORD: usize = 256;

/// The n-grams of a normal form, padded by `_`; none of nothing. The form is ASCII, or it is digits of another script.
fn whole_ngrams(
    encoding: &str,
    normal: &str,
    ticker: &mut Ticker<impl FnMut()>,
    to: &mut Encodings<impl FnMut(&str) -> Result<()>>,
) -> Result<()> {
    if normal.is_empty() {
        return Ok(());
    }
    let mut window = ['_'; NGRAM];
    let mut ngram = String::with_capacity(4 * NGRAM);
    let end = std::iter::repeat_n('_', NGRAM - 1);
    for c in normal.chars().chain(end) {
        ticker.step();
        window.rotate_left(1);
        window[NGRAM - 1] = c;
        ngram.clear();
        ngram.extend(window);
        to.give(encoding, &ngram)?;
    }
    Ok(())
}

/// N-grams of each word, each word, and each two words that follow each other, whichever of them comes first.
fn word_encodings(
    kind: &str,
    normal: &str,
    ticker: &mut Ticker<impl FnMut()>,
    to: &mut Encodings<impl FnMut(&str) -> Result<()>>,
) -> Result<()> {
    let (ngram, whole, pair) = (format!("{kind}w3"), format!("{kind}w"), format!("{kind}p"));
    let mut last = "";
    for word in normal.split('_').filter(|word| !word.is_empty()) {
        whole_ngrams(&ngram, word, ticker, to)?;
        if word.len() > LONGEST_WORD {
            last = "";
            continue;
        }
        to.give(&whole, word)?;
        if !last.is_empty() {
            let (first, second) = if last <= word {
                (last, word)
            } else {
                (word, last)
            };
            to.give(&pair, &format!("{first}_{second}"))?;
        }
        last = word;
    }
    Ok(())
}

// Encodings of a postal address.

/// Languages whose abbreviations are written out, and the version of these.
const LANGUAGES: [&str; 5] = ["de", "en", "es", "fr", "it"];
const ABBREVIATIONS: i64 = 1;

/// Street and town by n-grams and as they are; the number, and with it the street and the postcode, several times: neighbours
/// have all but that in common. An abbreviation stands for all that it may be: `St` for street, Sankt and saint. What cannot
/// be taken apart is encoded as a street.
fn of_address(
    value: &str,
    mut turn: impl FnMut(),
    to: &mut Encodings<impl FnMut(&str) -> Result<()>>,
) -> Result<()> {
    let parts = address_parts(value, &mut turn)?;
    let has_none = parts == AddressParts::default();
    let street = if has_none {
        Some(value)
    } else {
        parts.street.as_deref()
    };
    let mut expanded: Vec<String> = Vec::new();
    for language in street.iter().flat_map(|_| LANGUAGES) {
        let street = expand(
            street.unwrap_or_default(),
            language,
            ABBREVIATIONS,
            &mut turn,
        )?;
        let normal = crate::normalize(&street, false, &mut turn)?;
        if !normal.is_empty() && !expanded.contains(&normal) {
            expanded.push(normal);
        }
    }
    let mut normal = |part: &Option<String>| match part {
        Some(part) => crate::normalize(part, false, &mut turn),
        None => Ok(String::new()),
    };
    let (number, postcode) = (normal(&parts.number)?, normal(&parts.postcode)?);
    let town = normal(&parts.city)?;
    let mut ticker = Ticker::new(turn);
    for street in &expanded {
        whole_ngrams("as3", street, &mut ticker, to)?;
        to.give("as", street)?;
        if !number.is_empty() {
            for encoding in ["asn", "asn2"] {
                to.give(encoding, &format!("{street}_{number}"))?;
            }
        }
    }
    whole_ngrams("ac3", &town, &mut ticker, to)?;
    for (encoding, value) in [("ac", &town), ("ap", &postcode)] {
        if !value.is_empty() {
            to.give(encoding, value)?;
        }
    }
    if number.is_empty() {
        return Ok(());
    }
    for encoding in ["an", "an2", "an3"] {
        to.give(encoding, &number)?;
    }
    if !postcode.is_empty() {
        for encoding in ["apn", "apn2", "apn3"] {
            to.give(encoding, &format!("{postcode}_{number}"))?;
        }
    }
    Ok(())
}

// Encodings of a telephone number.

/// Most digits of a number by E.164, and what some countries have beyond.
const LONGEST: usize = 17;

/// Three neighbours wherever they stand, two neighbours by their place from the end, and the last seven digits, which
/// are written alike with and without codes of country and area.
fn of_phone(digits: &str, to: &mut Encodings<impl FnMut(&str) -> Result<()>>) -> Result<()> {
    if !(3..=LONGEST).contains(&digits.len()) || !digits.bytes().all(|b| b.is_ascii_digit()) {
        let shown: String = digits.chars().take(40).collect();
        return Err(Error::invalid(format!(
            "\"{shown}\" is not a telephone number of digits only"
        ))
        .detail(format!(
            "It has from 3 to {LONGEST} digits, country code included, and nothing else."
        ))
        .hint("Use ident_phone(text, region), which gives them."));
    }
    for at in 0..digits.len() - 2 {
        to.give("p3", &digits[at..at + 3])?;
    }
    for at in 0..digits.len() - 1 {
        let from_end = digits.len() - at;
        to.give("p2", &format!("{from_end}_{}", &digits[at..at + 2]))?;
    }
    if let Some(start) = digits.len().checked_sub(7) {
        to.give("p7", &digits[start..])?;
    }
    Ok(())
}
