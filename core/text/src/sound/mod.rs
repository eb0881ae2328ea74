//! How words sound: codes that are equal for words which are pronounced alike, by the algorithms of the crate
//! rphonetic, which follows Apache Commons Codec.

mod caverphone;

use std::cell::RefCell;
use std::sync::LazyLock;

use rphonetic::{
    BeiderMorse, BeiderMorseBuilder, Cologne, ConfigFiles, DaitchMokotoffSoundex, DoubleMetaphone,
    Encoder, Metaphone, Nysiis, Soundex,
};

use super::normalize::scan_words;
use base::error::quoted;
use base::{Error, Result};

/// Letters of a word that count; what is behind them is not heard. Some algorithms take time that grows with the square
/// of the length.
pub const MOST_LETTERS: usize = 64;

/// Codes that a word has at most. Only Beider-Morse knows more.
pub const MOST_CODES: usize = 20;

base::named! {
    /// An algorithm.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Sound {
        /// Kölner Phonetik (H. J. Postel, 1969), for German.
        Cologne = "cologne",
        /// American Soundex, with h and w that separate nothing, as the National Archives use it.
        Soundex = "soundex",
        /// Metaphone (L. Philips, 1990), in full length.
        Metaphone = "metaphone",
        /// Double Metaphone (L. Philips, 2000), four letters, with the second code where there is one.
        DoubleMetaphone = "double_metaphone",
        /// Daitch-Mokotoff Soundex (1985), for Slavic and Yiddish names; all branches.
        DaitchMokotoff = "daitch_mokotoff",
        /// New York State Identification and Intelligence System (1970), six letters.
        Nysiis = "nysiis",
        /// Caverphone 2.0 (D. Hood, 2004), by steps of our own that give what the crate's give in a third of the time.
        Caverphone = "caverphone",
        /// Beider-Morse Phonetic Matching (2008): generic names, approximate, the rules for any language.
        BeiderMorse = "beider_morse",
    }
}

impl std::str::FromStr for Sound {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Sound::named(name).ok_or_else(|| {
            let names = Sound::ALL.map(Sound::name);
            Error::invalid(format!(
                "phonetic algorithm \"{}\" does not exist",
                quoted(name)
            ))
            .hint(format!("Use one of {}.", names.join(", ")))
            .perhaps("algorithm", name, names)
        })
    }
}

/// Rules that are compiled in are read once a process.
static DAITCH_MOKOTOFF: LazyLock<DaitchMokotoffSoundex> =
    LazyLock::new(DaitchMokotoffSoundex::default);
static RULES: LazyLock<ConfigFiles> = LazyLock::new(ConfigFiles::default);
static BEIDER_MORSE: LazyLock<BeiderMorse<'static>> = LazyLock::new(|| {
    BeiderMorseBuilder::new(&RULES)
        .max_phonemes(MOST_CODES)
        .build()
});

impl Sound {
    /// The codes of a word of a to z, each once; none for one that sounds like nothing.
    fn codes(self, word: &str) -> Vec<String> {
        let joined = |codes: String| codes.split('|').map(str::to_owned).collect();
        let mut codes: Vec<String> = match self {
            Sound::Cologne => vec![Cologne.encode(word)],
            Sound::Soundex => vec![Soundex::default().encode(word)],
            Sound::Metaphone => vec![Metaphone::new(None).encode(word)],
            Sound::DoubleMetaphone => {
                let both = DoubleMetaphone::default().double_metaphone(word);
                vec![both.primary(), both.alternate()]
            }
            Sound::DaitchMokotoff => joined(DAITCH_MOKOTOFF.soundex(word)),
            Sound::Nysiis => vec![Nysiis::new(true).encode(word)],
            Sound::Caverphone => vec![caverphone::encode(word)],
            Sound::BeiderMorse => joined(BEIDER_MORSE.encode(word)),
        };
        let mut seen: Vec<String> = vec![];
        codes.retain(|code| {
            let new = !code.is_empty() && !seen.contains(code) && seen.len() < MOST_CODES;
            if new {
                seen.push(code.clone());
            }
            new
        });
        codes
    }
}

/// Calls `each` with the codes of every word of `text`, in order. Of a word only the letters a to z of its normal form
/// count, and the first [`MOST_LETTERS`] of them; an apostrophe does not end a word. `tick` is called now and then.
///
/// Errors: those of `each`.
pub fn for_each_sound(
    text: &str,
    sound: Sound,
    mut each: impl FnMut(&str) -> Result<()>,
    tick: impl FnMut(),
) -> Result<()> {
    let tick = RefCell::new(tick);
    let mut word = String::new();
    let mut outcome = Ok(());
    let take = |symbol: Option<u8>| match symbol {
        Some(symbol) if symbol.is_ascii_lowercase() && word.len() < MOST_LETTERS => {
            word.push(symbol.into());
        }
        Some(_) => {}
        None => {
            if !word.is_empty() && outcome.is_ok() {
                (tick.borrow_mut())();
                outcome = sound.codes(&word).iter().try_for_each(|code| each(code));
            }
            word.clear();
        }
    };
    scan_words(text, take, || (tick.borrow_mut())());
    outcome
}
