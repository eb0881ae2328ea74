//! Abbreviations written out, by dictionaries that are compiled in: one file a language and version, which never
//! changes once it is released, since what is stored in databases was made by it.
//!
//! A line is a kind, an abbreviation and the words it stands for, parted by tabs:
//!
//! | kind | the abbreviation stands for the words |
//! |---|---|
//! | `raw` | as a word that is written just so, but for upper case of a to z |
//! | `dot` | as a word with a dot behind it, in its normal form |
//! | `word` | as a word, in its normal form: `S.A.` and `SA` are `sa` |
//! | `beside` | as a word beside a number |
//! | `front` | as a word before a name, as [`Place::in_front`] has it |
//! | `end` | as a word elsewhere |
//! | `behind` | as a word, but not where it opens a part of the text and a name follows: `Ave Maria` |
//! | `street` | as a word in an address: a number and another word stand before it in its part, and no kind of street |
//! | `lead` | as a word that opens a part of the text, but for numbers |
//! | `title` | as a word before a name |
//! | `suffix` | at the end of a word |
//! | `dotsuffix` | at the end of a word with a dot behind it |
//! | `prefix` | before anything, written just so: `c/Mayor` |
//!
//! Other lines say what a word is: `stop`, no name; `kind`, a kind of street; `state`, the code of a state of the USA,
//! which stays as it is where one is written; `unit`, a unit behind a number.

mod pieces;
mod place;

use std::collections::{HashMap, VecDeque};
use std::sync::LazyLock;

use base::{Error, Result};
use pieces::{dictionary, for_each_piece, Dictionary, Piece};
use place::{Place, BEHIND};

/// The words of `text` in their normal form, with blanks between them, and abbreviations of the language written out.
/// `tick` is called now and then.
///
/// Errors: there is no such dictionary; a text of more than a megabyte; out of memory.
pub fn expand(text: &str, language: &str, version: i64, tick: impl FnMut()) -> Result<String> {
    expand_with(text, language, version, &HashMap::new(), tick)
}

/// The same, where `own` abbreviations go before those of the dictionary: words that follow each other in a part of the
/// text, by their normal forms with blanks between them, and what they stand for, which stays as it is. Of those that
/// begin at a word, the longest holds.
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
    let mut written = Written::new(dictionary);
    let mut window = VecDeque::new();
    for_each_piece(dictionary, text, tick, |piece| {
        if own.is_empty() {
            return written.add(piece);
        }
        window.push_back(piece);
        if window.len() < MOST_OWN_WORDS {
            return Ok(());
        }
        let next = take_own(&mut window, own);
        next.map_or(Ok(()), |piece| written.add(piece))
    })?;
    while let Some(piece) = take_own(&mut window, own) {
        written.add(piece)?;
    }
    written.finish()
}

/// The words of a text in their normal form, with blanks between them, as abbreviations of one's own are looked up.
///
/// Errors: out of memory.
pub fn plain_words(text: &str, tick: impl FnMut()) -> Result<String> {
    static NONE: LazyLock<Dictionary> = LazyLock::new(Dictionary::default);
    let mut written = Written::new(&NONE);
    for_each_piece(&NONE, text, tick, |piece| written.add(piece))?;
    written.finish()
}

/// The text that is written piece by piece, each when some of those behind it are known.
struct Written {
    dictionary: &'static Dictionary,
    out: String,
    waiting: VecDeque<Piece>,
    place: Place,
}

impl Written {
    fn new(dictionary: &'static Dictionary) -> Written {
        Written {
            dictionary,
            out: String::new(),
            waiting: VecDeque::new(),
            place: Place::default(),
        }
    }

    fn add(&mut self, piece: Piece) -> Result<()> {
        self.waiting.push_back(piece);
        if self.waiting.len() <= BEHIND {
            return Ok(());
        }
        self.write()
    }

    fn finish(mut self) -> Result<String> {
        while !self.waiting.is_empty() {
            self.write()?;
        }
        Ok(self.out)
    }

    /// Writes the first of those that wait.
    fn write(&mut self) -> Result<()> {
        let Some(piece) = self.waiting.pop_front() else {
            return Ok(());
        };
        let words = self
            .dictionary
            .written_out(&piece, &self.place, &self.waiting);
        self.place.pass(self.dictionary, &piece, words.before);
        let out = &mut self.out;
        for word in [words.before, words.rest, words.after] {
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
    before: &'static str,
    rest: &'a str,
    after: &'static str,
    joined: bool,
}

impl Dictionary {
    fn written_out<'a>(
        &self,
        piece: &'a Piece,
        place: &Place,
        behind: &VecDeque<Piece>,
    ) -> WrittenOut<'a> {
        let word = piece.normal.as_str();
        let as_it_is = WrittenOut {
            before: "",
            rest: word,
            after: "",
            joined: false,
        };
        // what has been written out is not looked up again
        if piece.raw.is_empty() {
            return as_it_is;
        }
        if let Some(long) = self.whole(piece, place, behind) {
            return WrittenOut {
                before: long,
                rest: "",
                ..as_it_is
            };
        }
        for (kind, short, long) in &self.parts {
            let holds = *kind == "suffix" || *kind == "dotsuffix" && piece.raw.ends_with('.');
            let stem = word.strip_suffix(short);
            if let Some(stem) = stem.filter(|stem| holds && !stem.is_empty()) {
                return WrittenOut {
                    rest: stem,
                    after: long,
                    joined: true,
                    ..as_it_is
                };
            }
        }
        as_it_is
    }

    /// What a whole word stands for.
    fn whole(
        &self,
        piece: &Piece,
        place: &Place,
        behind: &VecDeque<Piece>,
    ) -> Option<&'static str> {
        let word = piece.normal.as_str();
        let entry = |kind, short| self.words.get(&(kind, short)).copied();
        let raw = entry("raw", piece.raw.trim_end_matches('.'));
        if raw.is_some() || place.is_state(self, piece, behind) || place.is_unit(self, piece) {
            return raw;
        }
        let before_name = place::before_name(self, piece, behind);
        let in_front = || place.in_front(self, piece, behind);
        // of the kinds that an abbreviation has, the first that holds
        entry("dot", word)
            .filter(|_| piece.raw.ends_with('.'))
            .or_else(|| entry("word", word))
            .or_else(|| entry("beside", word).filter(|_| place.beside_number(piece, behind)))
            .or_else(|| entry("front", word).filter(|_| in_front()))
            .or_else(|| entry("end", word).filter(|_| !in_front()))
            .or_else(|| entry("behind", word).filter(|_| !(before_name && place.opens())))
            .or_else(|| entry("street", word).filter(|_| place.in_address()))
            .or_else(|| {
                entry("lead", word).filter(|_| place.opens() && !piece.last && !behind.is_empty())
            })
            .or_else(|| entry("title", word).filter(|_| before_name))
    }
}

// Abbreviations of one's own, of several words.

/// Most words of an abbreviation of one's own.
pub const MOST_OWN_WORDS: usize = 8;

/// Takes the first piece of those that wait, or as many as an abbreviation of `own` has words, written out.
fn take_own(window: &mut VecDeque<Piece>, own: &HashMap<String, String>) -> Option<Piece> {
    let within = window.iter().position(|piece| piece.last);
    let most = within.map_or(window.len(), |at| at + 1);
    for n in (1..=most).rev() {
        if let Some(long) = own.get(&joined(window.iter().take(n))) {
            let last = window
                .drain(..n)
                .next_back()
                .is_some_and(|piece| piece.last);
            return Some(Piece::written_out(long, last));
        }
    }
    window.pop_front()
}

fn joined<'a>(pieces: impl Iterator<Item = &'a Piece>) -> String {
    let words: Vec<&str> = pieces.map(|piece| piece.normal.as_str()).collect();
    words.join(" ")
}

/// What [`super::expand_with`] asks its own abbreviations for; `None` if the text has more than `most` words.
///
/// Errors: as [`super::expand`].
pub fn own_candidates(
    text: &str,
    language: &str,
    version: i64,
    most: usize,
    tick: impl FnMut(),
) -> Result<Option<Vec<String>>> {
    let mut pieces = vec![];
    let mut many = false;
    for_each_piece(dictionary(language, version)?, text, tick, |piece| {
        many |= pieces.len() == most;
        if !many {
            pieces.push(piece);
        }
        Ok(())
    })?;
    if many {
        return Ok(None);
    }
    let mut all = vec![];
    for from in 0..pieces.len() {
        let behind = &pieces[from..pieces.len().min(from + MOST_OWN_WORDS)];
        let within = behind.iter().position(|piece| piece.last);
        let end = within.map_or(behind.len(), |at| at + 1);
        all.extend((1..=end).map(|n| joined(behind[..n].iter())));
    }
    Ok(Some(all))
}

#[cfg(test)]
mod tests {
    use super::pieces::FILES;
    use super::*;
    use crate::normalize;
    use crate::tokens::token_hash;

    /// What a released dictionary gives is stored in databases. Whoever wants another makes a new version.
    #[test]
    fn no_dictionary_changes() {
        const HASHES: [(&str, i64, u64); 5] = [
            ("de", 1, 0x2b92_f9ef_efef_5ec8),
            ("en", 1, 0xdafa_6ba4_1cfc_5d45),
            ("es", 1, 0xaba6_9cb2_e7c1_e3e1),
            ("fr", 1, 0x2db3_85eb_5607_3b4a),
            ("it", 1, 0x38eb_e940_9b7a_03c7),
        ];
        let now = FILES.map(|(language, version, contents)| {
            (language, version, token_hash(contents.as_bytes()))
        });
        assert_eq!(now, HASHES, "{now:x?}");
    }

    #[test]
    fn dictionaries_are_well_formed() {
        for (language, version, contents) in FILES {
            let mut seen = vec![];
            for line in contents.lines() {
                let fields: Vec<&str> = line.split('\t').collect();
                let normal = |text: &str| normalize(text, true, || ()).unwrap().replace('_', " ");
                let said = matches!(fields[0], "stop" | "kind" | "state");
                let kinds = "word dot suffix dotsuffix raw prefix front end behind beside street lead title unit \
                    stop kind state";
                assert!(kinds.split(' ').any(|kind| kind == fields[0]), "{line}");
                assert_eq!(fields.len(), if said { 2 } else { 3 }, "{line}");
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
