//! Encodings of normal forms: n-grams of the whole and of words, words, and words that follow each other.

use super::encodings::Encodings;
use base::Result;
use base::Ticker;

/// Characters of an n-gram.
const NGRAM: usize = 3;

/// Most bytes of what stands for itself as a word; what is longer is none, and has n-grams only.
const LONGEST_WORD: usize = 256;

/// The n-grams of a normal form, padded by `_`; none of nothing. The form is ASCII, or it is digits of another script.
pub(super) fn whole_ngrams(
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
pub(super) fn word_encodings(
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
