//! A person's name as it is written, to its parts.
//!
//! The rules are the project's own. The crate human_name 2.0.4 reads II as Jr. and Graf as a given name, decomposes
//! letters, and knows no order with the surname first: it reads Mao Zedong as Mr Zedong, and each character of 毛泽东 as a
//! name.

mod east_asian;
mod lists;
mod order;
mod read;

use base::Result;
use read::Reading;

pub use read::MAX_PARTS;

/// The parts of a name, each with its words as they are written and one blank between them; `None` for a part that the
/// name does not have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameParts {
    /// Academic titles, forms of address, ranks, and nobility: Prof. Dr., Mrs, Graf.
    pub titles: Option<String>,
    /// Given names and what stands among them: Johann Wolfgang, M., María del Carmen.
    pub given: Option<String>,
    /// What joins the surname to the rest: von, van der, de la, bin, al-.
    pub particles: Option<String>,
    /// One surname, or two of Spanish use.
    pub surname: Option<String>,
    /// What follows a name: Jr., III, PhD.
    pub suffixes: Option<String>,
    /// What stands in quotation marks or parentheses.
    pub nickname: Option<String>,
    /// What follows geb., née or born: the name at birth.
    pub born: Option<String>,
}

/// Takes a name apart. The rules are those of docs/names.md; they know no country and no dictionary of given names, so
/// what is ambiguous is decided by where a word stands and how it is written.
///
/// Errors: more than [`MAX_PARTS`] words, or [`super::MAX_NAME`] bytes; out of memory.
pub fn name_parts(text: &str, tick: impl FnMut()) -> Result<NameParts> {
    super::check_length(text)?;
    let mut reading = Reading::new(text, tick)?;
    if reading.is_no_person() {
        return Ok(NameParts {
            surname: joined(&reading.segments.concat()),
            ..NameParts::default()
        });
    }
    let born = reading.take_born();
    let mut parts = NameParts {
        born: joined(&born),
        nickname: joined(&reading.nickname),
        ..NameParts::default()
    };
    let mut titles = Vec::new();
    let mut suffixes = Vec::new();
    let is_ruler = reading.take_ruler(&mut titles);
    reading.take_affixes(&mut titles, &mut suffixes);
    let [given, particles, surname] = match is_ruler {
        true => [reading.segments.concat(), Vec::new(), Vec::new()],
        false => order::arrange(reading.segments, &mut titles),
    };
    (parts.titles, parts.given) = (joined(&titles), joined(&given));
    (parts.particles, parts.surname) = (joined(&particles), joined(&surname));
    parts.suffixes = joined(&suffixes);
    Ok(parts)
}

fn joined<T: AsRef<str>>(words: &[T]) -> Option<String> {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    (!words.is_empty()).then(|| words.join(" "))
}
