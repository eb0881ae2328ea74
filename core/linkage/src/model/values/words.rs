//! Weighted words: a word counts for more the rarer it is, and words that only one of two texts has count for less
//! where the other text has them all. Titles and names of goods are compared so.
//!
//! A text's words lie behind its signature: one word of memory that says what they weigh together, and then one for
//! each of them, in the order of their hashes. Weights depend on how many records have a word, so they are set when all
//! records have been read. They are whole numbers of 2^-16 bits: their sum does not depend on the order.

use std::collections::HashSet;

use super::encode::hash;

/// Most words of a text that are compared.
pub const MOST_WORDS: usize = 64;

/// Two neighbours are a word, too, if one of them has a digit and both together have so many characters: codes are
/// written with and without a space.
const LEAST_JOINED: usize = 4;

/// A weight is written in so many bits, of which these are behind the point.
const WEIGHT_BITS: u32 = 24;
const FRACTION_BITS: u32 = 16;

/// Set if the word is one of the text, and not two of them joined.
const PLAIN: u64 = 1 << WEIGHT_BITS;
const WEIGHT: u64 = PLAIN - 1;

/// So many bits of a word are its weight, and whether it is plain; the rest is the hash.
const HASH_AT: u32 = WEIGHT_BITS + 1;

/// In the first word: what plain words weigh, and the weight that is missing in each similarity, behind it.
const MISSED_AT: u32 = 32;

/// What two words that only one text has count for, where the other text has fewer of them.
const CONTAINED: f64 = 0.25;

/// The word of memory whose highest bits are a word's hash, which stands for it where many are sorted.
pub fn highest(hash: u64) -> u64 {
    hash << HASH_AT
}

fn in_bits(weight: u64) -> f64 {
    weight as f64 / f64::from(1 << FRACTION_BITS)
}

fn fixed(bits: f64) -> u64 {
    (bits * f64::from(1 << FRACTION_BITS)).round() as u64
}

/// How many words the texts of a field have room for, of which nine in ten have no more than `length` symbols.
pub fn room(length: usize) -> usize {
    (length / 4 + 4).min(MOST_WORDS)
}

/// The different words of a text, each with whether it is plain. `normal`: its normal form, words between underscores.
/// A text may have millions of them, so whoever takes them all checks for interrupts.
pub fn words_of(normal: &str) -> impl Iterator<Item = (u64, bool)> + '_ {
    let words = || normal.split('_').filter(|word| !word.is_empty());
    let plain = words().map(|word| (word_hash(word), true));
    let joined = words().zip(words().skip(1)).filter_map(|(word, next)| {
        let has_digit = |word: &str| word.bytes().any(|b| b.is_ascii_digit());
        let is_long = word.len() + next.len() >= LEAST_JOINED;
        let is_word = is_long && (has_digit(word) || has_digit(next));
        is_word.then(|| (word_hash(&[word, next].concat()), false))
    });
    let mut seen = HashSet::new();
    plain.chain(joined).filter(move |of| seen.insert(of.0))
}

/// The hash of a word, which stands for it.
fn word_hash(word: &str) -> u64 {
    hash(word.as_bytes()) >> HASH_AT
}

/// What a word weighs in bits, of which `with` of so many records have it.
pub fn weight(records: u64, with: u64) -> f64 {
    (records.max(2) as f64 / with.max(1) as f64).log2().max(0.0) + 0.1
}

/// Writes the words of a text behind their first one, without weights. Those that have no room are left out.
pub(super) fn write(normal: &str, to: &mut [u64]) {
    for (place, (word, is_plain)) in to[1..].iter_mut().zip(words_of(normal)) {
        *place = word << HASH_AT | if is_plain { PLAIN } else { 0 };
    }
    // places that are free stay behind
    let used = to[1..].iter().take_while(|&&word| word != 0).count();
    to[1..=used].sort_unstable();
}

fn written(words: &[u64]) -> impl Iterator<Item = u64> + '_ {
    words[1..].iter().copied().take_while(|&word| word != 0)
}

/// The words that have been written, each with its weight in bits.
pub(super) fn hashes(words: &[u64]) -> impl Iterator<Item = (u64, f64)> + '_ {
    written(words).map(|word| (word >> HASH_AT, in_bits(word & WEIGHT)))
}

/// Sets the weights. `records`: how many have a value; `with`: how many of them have the word of this hash.
pub(super) fn weigh(words: &mut [u64], records: u64, mut with: impl FnMut(u64) -> u64) {
    let (first, rest) = words.split_at_mut(1);
    let mut plain = 0;
    for word in rest.iter_mut().take_while(|word| **word != 0) {
        let weight = fixed(weight(records, with(*word >> HASH_AT))).min(WEIGHT);
        *word = *word & !WEIGHT | weight;
        if *word & PLAIN != 0 {
            plain += weight;
        }
    }
    // One word in common says little in a large table.
    let missed = fixed(0.25 * (records.max(2) as f64).log2());
    first[0] = missed << MISSED_AT | plain;
}

/// How similar two texts are, from 0 to 1.
pub(super) fn similarity(a: &[u64], b: &[u64]) -> f64 {
    let plain = |words: &[u64]| words[0] & ((1 << MISSED_AT) - 1);
    let mut shared = 0;
    let (mut x, mut y) = (written(a).peekable(), written(b).peekable());
    while let (Some(&of_a), Some(&of_b)) = (x.peek(), y.peek()) {
        match (of_a >> HASH_AT).cmp(&(of_b >> HASH_AT)) {
            std::cmp::Ordering::Less => {
                x.next();
            }
            std::cmp::Ordering::Greater => {
                y.next();
            }
            std::cmp::Ordering::Equal => {
                shared += of_a & WEIGHT;
                x.next();
                y.next();
            }
        }
    }
    let shared = shared.min(plain(a)).min(plain(b));
    let (rest_a, rest_b) = (plain(a) - shared, plain(b) - shared);
    let (less, more) = (rest_a.min(rest_b), rest_a.max(rest_b));
    let missed = a[0] >> MISSED_AT;
    let all = in_bits(shared + less + missed) + CONTAINED * in_bits(more);
    in_bits(shared) / all.max(1e-9)
}
