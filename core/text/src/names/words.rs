//! The words of a name.

use crate::normalize::scan_words;

/// The first `most` words of a text in normal form, each by its first `longest` symbols. An apostrophe ends no word, as
/// in by_word of n-grams: O'Brien is one.
pub(super) fn normal_words(
    text: &str,
    most: usize,
    longest: usize,
    tick: impl FnMut(),
) -> Vec<Vec<u8>> {
    let mut words: Vec<Vec<u8>> = Vec::new();
    let mut ended = 0;
    let add = |symbol: Option<u8>| match symbol {
        None => ended += 1,
        Some(symbol) if ended < most => {
            if ended == words.len() {
                words.push(Vec::new());
            }
            if words[ended].len() < longest {
                words[ended].push(symbol);
            }
        }
        Some(_) => {}
    };
    scan_words(text, add, tick);
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
