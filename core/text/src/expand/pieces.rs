//! Dictionaries of abbreviations, and the pieces of a text that are looked up in them.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::normalize::normalize;
use base::error::quoted;
use base::{Error, ErrorKind, Result};

/// Bytes of the longest text: its words are copied, in memory that has to be there.
const MOST_BYTES: usize = 1 << 20;

/// The files: language, version, contents, those of the project first.
pub(super) const FILES: [(&str, i64, &str); 5] = [
    (
        "de",
        1,
        concat!(include_str!("de_1.tsv"), include_str!("de_1_libpostal.tsv")),
    ),
    (
        "en",
        1,
        concat!(
            include_str!("en_1.tsv"),
            include_str!("en_1_usps.tsv"),
            include_str!("en_1_libpostal.tsv")
        ),
    ),
    (
        "es",
        1,
        concat!(include_str!("es_1.tsv"), include_str!("es_1_libpostal.tsv")),
    ),
    (
        "fr",
        1,
        concat!(include_str!("fr_1.tsv"), include_str!("fr_1_libpostal.tsv")),
    ),
    (
        "it",
        1,
        concat!(include_str!("it_1.tsv"), include_str!("it_1_libpostal.tsv")),
    ),
];

#[derive(Default)]
pub(super) struct Dictionary {
    /// Of each kind that is looked up by the whole word.
    pub(super) words: HashMap<(&'static str, &'static str), &'static str>,
    /// Kind, ending or beginning, and what it stands for.
    pub(super) parts: Vec<(&'static str, &'static str, &'static str)>,
}

static DICTIONARIES: LazyLock<Vec<Dictionary>> = LazyLock::new(|| {
    let read = |contents: &'static str| {
        let mut dictionary = Dictionary::default();
        for line in contents.lines() {
            let mut fields = line.split('\t');
            let mut next = || fields.next().unwrap_or("");
            let (kind, short, long) = (next(), next(), next());
            if matches!(kind, "suffix" | "dotsuffix" | "prefix") {
                dictionary.parts.push((kind, short, long));
            } else {
                dictionary.words.insert((kind, short), long);
            }
        }
        dictionary
    };
    FILES.iter().map(|(.., contents)| read(contents)).collect()
});

pub(super) fn dictionary(language: &str, version: i64) -> Result<&'static Dictionary> {
    let is_language = |l: &str| l.eq_ignore_ascii_case(language);
    if let Some(at) = FILES
        .iter()
        .position(|(l, v, _)| is_language(l) && *v == version)
    {
        return Ok(&DICTIONARIES[at]);
    }
    let listed = |all: Vec<String>| all.join(", ");
    let versions: Vec<String> = FILES
        .iter()
        .filter(|(l, ..)| is_language(l))
        .map(|(_, v, _)| v.to_string())
        .collect();
    if versions.is_empty() {
        let mut languages: Vec<String> = FILES.iter().map(|(l, ..)| (*l).to_owned()).collect();
        languages.dedup();
        return Err(Error::invalid(format!(
            "there are no abbreviations of language \"{}\"",
            quoted(language)
        ))
        .hint(format!("Use one of {}.", listed(languages))));
    }
    Err(Error::invalid(format!(
        "there is no version {version} of the abbreviations of language \"{language}\""
    ))
    .detail(format!("There is version {}.", listed(versions))))
}

/// A stretch of text between blanks, hyphens and commas.
pub(super) struct Piece {
    pub(super) raw: String,
    pub(super) normal: String,
    /// It is written without capitals.
    pub(super) small: bool,
    /// A comma or the like stands behind it.
    pub(super) last: bool,
}

impl Piece {
    /// Words that stand for something and are not looked up again.
    pub(super) fn written_out(words: &str, last: bool) -> Piece {
        Piece {
            raw: String::new(),
            normal: words.to_owned(),
            small: true,
            last,
        }
    }
}

/// Whether a character parts words, and if so, whether it ends a part of the text, too.
fn parts(c: char) -> Option<bool> {
    match c {
        ',' | ';' | '(' | ')' | '\n' => Some(true),
        '-' | '\u{2010}'..='\u{2015}' | '\u{a0}' => Some(false),
        c => c.is_ascii_whitespace().then_some(false),
    }
}

/// Gives each piece of a text to `each`. `tick` is called now and then.
///
/// Errors: those of `each`; a text of more than [`MOST_BYTES`]; out of memory.
pub(super) fn for_each_piece(
    dictionary: &Dictionary,
    text: &str,
    mut tick: impl FnMut(),
    mut each: impl FnMut(Piece) -> Result<()>,
) -> Result<()> {
    if text.len() > MOST_BYTES {
        let message = format!("text of {} bytes is too long to be expanded", text.len());
        return Err(Error::new(ErrorKind::LimitExceeded, message)
            .detail(format!("It may have {MOST_BYTES} bytes."))
            .hint("Expand the fields of an address or a name, each by itself."));
    }
    let mut waiting: Option<Piece> = None;
    let mut from = 0;
    let ends = text
        .char_indices()
        .filter(|(_, c)| parts(*c).is_some())
        .map(|(at, c)| (at, c.len_utf8(), parts(c) == Some(true)))
        .chain([(text.len(), 0, true)]);
    for (at, len, last) in ends {
        tick();
        let mut raw = &text[from..at];
        from = at + len;
        for (_, short, long) in dictionary
            .parts
            .iter()
            .filter(|(kind, ..)| *kind == "prefix")
        {
            let Some(rest) = raw.get(short.len()..) else {
                continue;
            };
            if raw[..short.len()].eq_ignore_ascii_case(short) && !raw.eq_ignore_ascii_case("c/o") {
                if let Some(before) = waiting.replace(Piece::written_out(long, false)) {
                    each(before)?;
                }
                raw = rest;
                break;
            }
        }
        let normal = normalize(raw, false, &mut tick)?;
        if normal.is_empty() {
            // a comma behind a blank ends the part, too
            if let Some(piece) = waiting.as_mut().filter(|_| last) {
                piece.last = true;
            }
            continue;
        }
        let small = !raw.bytes().any(|b| b.is_ascii_uppercase());
        let raw = raw.get(..256).unwrap_or(raw).to_ascii_lowercase();
        let piece = Piece {
            raw,
            normal,
            small,
            last,
        };
        if let Some(before) = waiting.replace(piece) {
            each(before)?;
        }
    }
    waiting.map_or(Ok(()), each)
}
