//! Abbreviations written out, by dictionaries that are compiled in: one file a language and version, which never changes once it is released, since
//! what is stored in databases was made by it.
//!
//! A line is a kind, an abbreviation and the words it stands for, parted by tabs:
//!
//! | kind | the abbreviation stands for the words |
//! |---|---|
//! | `word` | as a word, in its normal form: `S.A.` and `SA` are `sa` |
//! | `dot` | as a word with a dot behind it |
//! | `suffix` | at the end of a word |
//! | `dotsuffix` | at the end of a word with a dot behind it |
//! | `raw` | as a word that is written just so, but for upper case of a to z |
//! | `prefix` | before anything, written just so: `c/Mayor` |
//! | `front` | as a word before a name: before another word of the same part of the text that begins with a letter and is no `stop` |
//! | `end` | as a word elsewhere |
//! | `stop` | (a word that is no name) |

mod own;
mod pieces;

use std::collections::{HashMap, VecDeque};
use std::sync::LazyLock;

pub use own::{own_candidates, MOST_OWN_WORDS};

use pieces::{dictionary, for_each_piece, Dictionary, Piece};

use crate::{Error, Result};

/// The words of `text` in their normal form, with blanks between them, and abbreviations of the language written out. `tick` is called now and
/// then.
///
/// Errors: there is no such dictionary; a text of more than a megabyte; out of memory.
pub fn expand(text: &str, language: &str, version: i64, tick: impl FnMut()) -> Result<String> {
    expand_with(text, language, version, &HashMap::new(), tick)
}

/// The same, where `own` abbreviations go before those of the dictionary: words that follow each other in a part of the text, by their normal
/// forms with blanks between them, and what they stand for, which stays as it is. Of those that begin at a word, the longest holds.
///
/// Errors: as [`expand`].
pub fn expand_with(
    text: &str,
    language: &str,
    version: i64,
    own: &HashMap<String, String>,
    tick: impl FnMut(),
) -> Result<String> {
    let dictionary = dictionary(language, version)?;
    let mut written = Written {
        dictionary,
        out: String::new(),
        waiting: None,
    };
    let mut window = VecDeque::new();
    for_each_piece(dictionary, text, tick, |piece| {
        if own.is_empty() {
            return written.add(piece);
        }
        window.push_back(piece);
        if window.len() < MOST_OWN_WORDS {
            return Ok(());
        }
        let next = own::take_own(&mut window, own);
        next.map_or(Ok(()), |piece| written.add(piece))
    })?;
    while let Some(piece) = own::take_own(&mut window, own) {
        written.add(piece)?;
    }
    written.finish()
}

/// The words of a text in their normal form, with blanks between them, as abbreviations of one's own are looked up.
///
/// Errors: out of memory.
pub fn plain_words(text: &str, tick: impl FnMut()) -> Result<String> {
    static NONE: LazyLock<Dictionary> = LazyLock::new(Dictionary::default);
    let mut written = Written {
        dictionary: &NONE,
        out: String::new(),
        waiting: None,
    };
    for_each_piece(&NONE, text, tick, |piece| written.add(piece))?;
    written.finish()
}

/// The text that is written piece by piece, each when the next one is known.
struct Written {
    dictionary: &'static Dictionary,
    out: String,
    waiting: Option<Piece>,
}

impl Written {
    fn add(&mut self, piece: Piece) -> Result<()> {
        match self.waiting.replace(piece) {
            Some(before) => self.write(&before),
            None => Ok(()),
        }
    }

    fn finish(mut self) -> Result<String> {
        if let Some(piece) = self.waiting.take() {
            self.write(&piece)?;
        }
        Ok(self.out)
    }

    fn write(&mut self, piece: &Piece) -> Result<()> {
        let words = self.dictionary.written_out(piece, self.waiting.as_ref());
        let out = &mut self.out;
        for word in [words.before, &words.normal, words.after] {
            let joined = std::ptr::eq(word, words.after) && words.joined;
            out.try_reserve(word.len() + 1)
                .map_err(|_| Error::out_of_memory(out.len() + word.len() + 1))?;
            if !out.is_empty() && !word.is_empty() && !joined {
                out.push(' ');
            }
            out.push_str(word);
        }
        Ok(())
    }
}

/// What becomes of a piece: words before what is left of it, that, and words or an ending behind.
struct WrittenOut<'a> {
    before: &'a str,
    normal: String,
    after: &'a str,
    joined: bool,
}

impl Dictionary {
    fn written_out(&self, piece: &Piece, next: Option<&Piece>) -> WrittenOut<'static> {
        let whole = |long| WrittenOut {
            before: long,
            normal: String::new(),
            after: "",
            joined: false,
        };
        let dot = piece.raw.ends_with('.');
        let before_name = !piece.last
            && next.is_some_and(|next| {
                next.normal.as_bytes()[0].is_ascii_lowercase()
                    && !self.words.contains_key(&("stop", next.normal.as_str()))
            });
        let place = if before_name { "front" } else { "end" };
        let word = piece.normal.as_str();
        for (kind, short, holds) in [
            ("raw", piece.raw.trim_end_matches('.'), true),
            ("dot", word, dot),
            ("word", word, true),
            (place, word, true),
        ] {
            if let Some(long) = self
                .words
                .get(&(kind, short))
                .filter(|_| holds && !piece.raw.is_empty())
            {
                return whole(long);
            }
        }
        // what has been written out has no ending to look at
        for (kind, short, long) in self.parts.iter().filter(|_| !piece.raw.is_empty()) {
            let holds = *kind == "suffix" || *kind == "dotsuffix" && dot;
            if let Some(stem) = word
                .strip_suffix(short)
                .filter(|stem| holds && !stem.is_empty())
            {
                return WrittenOut {
                    before: "",
                    normal: stem.to_owned(),
                    after: long,
                    joined: true,
                };
            }
        }
        WrittenOut {
            before: "",
            normal: word.to_owned(),
            after: "",
            joined: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::pieces::FILES;
    use super::*;
    use crate::text::normalize;
    use crate::tokens::token_hash;

    /// What a released dictionary gives is stored in databases. Whoever wants another makes a new version.
    #[test]
    fn no_dictionary_changes() {
        const HASHES: [(&str, i64, u64); 5] = [
            ("de", 1, 0xa71e_8b06_0e66_e5df),
            ("en", 1, 0x39f5_1c12_c189_3c96),
            ("es", 1, 0x0ae1_8994_f801_30b3),
            ("fr", 1, 0xeb6e_faeb_7b3e_d150),
            ("it", 1, 0x294e_581c_1978_ed6f),
        ];
        let now = FILES.map(|(language, version, content)| {
            (language, version, token_hash(content.as_bytes()))
        });
        assert_eq!(now, HASHES, "{now:x?}");
    }

    #[test]
    fn dictionaries_are_well_formed() {
        for (language, version, content) in FILES {
            let mut seen = vec![];
            for line in content.lines() {
                let fields: Vec<&str> = line.split('\t').collect();
                let normal = |text: &str| normalize(text, true, || ()).unwrap().replace('_', " ");
                let kinds = [
                    "word",
                    "dot",
                    "suffix",
                    "dotsuffix",
                    "raw",
                    "prefix",
                    "front",
                    "end",
                    "stop",
                ];
                assert!(kinds.contains(&fields[0]), "{line}");
                assert_eq!(
                    fields.len(),
                    if fields[0] == "stop" { 2 } else { 3 },
                    "{line}"
                );
                if !matches!(fields[0], "raw" | "prefix") {
                    assert_eq!(normal(fields[1]), fields[1], "{line}");
                }
                if let Some(long) = fields.get(2) {
                    assert_eq!(normal(long), *long, "{line}");
                    assert_eq!(
                        expand(long, language, version, || ()).unwrap(),
                        *long,
                        "{line}"
                    );
                }
                assert!(!seen.contains(&(fields[0], fields[1])), "{line}");
                seen.push((fields[0], fields[1]));
            }
        }
    }
}
