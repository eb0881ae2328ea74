//! The words of a name.

use crate::{scan, Symbol, ALPHABET};

/// The first `most` words of a text in normal form, each by its first `longest` symbols. An apostrophe ends no word, as in by_word of
/// n-grams: O'Brien is one.
pub(super) fn normal_words(
    text: &str,
    most: usize,
    longest: usize,
    tick: impl FnMut(),
) -> Vec<Vec<u8>> {
    let mut words: Vec<Vec<u8>> = Vec::new();
    let mut open = false;
    let mut add = |symbol: Symbol| {
        let Some(ordinal) = symbol.ordinal() else {
            open &= symbol != Symbol::SEPARATOR;
            return;
        };
        if !open {
            open = true;
            words.push(Vec::new());
        }
        // One word more than asked for is kept open, so that its symbols do not go to the one before.
        if words.len() > most {
            words.truncate(most + 1);
        }
        let word = words.last_mut().expect("a word is open");
        if word.len() < longest {
            word.push(ALPHABET[usize::from(ordinal)]);
        }
    };
    scan(text, &mut add, tick);
    words.truncate(most);
    words
}

#[cfg(test)]
mod tests {
    use super::normal_words;

    fn words(text: &str) -> Vec<String> {
        normal_words(text, 3, 5, || ())
            .into_iter()
            .map(|word| String::from_utf8(word).unwrap())
            .collect()
    }

    #[test]
    fn words_and_their_symbols_are_so_many_at_most() {
        assert_eq!(words("O'Brien, Jörg"), ["obrie", "joerg"]);
        assert_eq!(words("a b c d e f"), ["a", "b", "c"]);
        assert_eq!(words(" - "), [""; 0]);
    }
}
