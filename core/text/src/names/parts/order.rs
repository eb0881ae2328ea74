//! Which words are given names, particles and surnames.

use super::east_asian;
use super::lists::{GIVEN_TOO, JOINED_PARTICLES, NOBLE, PARTICLES, SPANISH};
use super::read::Word;
use crate::normalize;

/// Given names, particles, surname.
type Arranged = [Vec<Word>; 3];

/// `titles` gets the nobility that stands within the name.
pub(super) fn arrange(mut segments: Vec<Vec<Word>>, titles: &mut Vec<Word>) -> Arranged {
    if segments.is_empty() {
        return Arranged::default();
    }
    let first = segments.remove(0);
    let behind: Vec<Word> = segments.into_iter().flatten().collect();
    if behind.is_empty() {
        return natural(first, titles);
    }
    // "Goethe, Johann Wolfgang von": particles and nobility may be on either side of the comma.
    let (mut given, mut surname) = (behind, first);
    let mut particles = Vec::new();
    take_noble(&mut surname, titles);
    let mut at = given.len();
    while at > 1 && (PARTICLES.has(&given[at - 1].key) || is_link(&given, at - 1)) {
        at -= 1;
    }
    let of_given = given.split_off(at);
    while given.len() > 1 {
        match given.pop_if(|word| NOBLE.has(&word.key)) {
            Some(word) => titles.push(word),
            None => break,
        }
    }
    let n = run_of_particles(&surname, 0);
    particles.extend(of_given);
    particles.extend(surname.drain(..n));
    split_joined(&mut particles, &mut surname);
    [given, particles, surname]
}

/// Given names first, unless the name is known to be in another order.
fn natural(mut words: Vec<Word>, titles: &mut Vec<Word>) -> Arranged {
    if let Some([surname, given]) = east_asian::split(&words).or_else(|| capitals_first(&words)) {
        return [given, Vec::new(), surname];
    }
    take_noble(&mut words, titles);
    let given = given_names(&words);
    let mut surname = words.split_off(given);
    let n = run_of_particles(&surname, 0);
    let mut particles: Vec<Word> = surname.drain(..n).collect();
    split_joined(&mut particles, &mut surname);
    [words, particles, surname]
}

/// "DUPONT Jean": the surname is written in capitals, and stands first. Initials that are written together, as in J.K.
/// or JD, are none.
fn capitals_first(words: &[Word]) -> Option<[Vec<Word>; 2]> {
    let n = words
        .iter()
        .take_while(|word| word.is_in_capitals() && may_be_surname(word))
        .count();
    let rest = &words[n..];
    let is_mixed =
        |word: &Word| !word.is_in_capitals() && word.written.chars().any(char::is_lowercase);
    let plain = n > 0 && !rest.is_empty() && rest.iter().all(is_mixed);
    (plain && !rest.iter().any(|word| PARTICLES.has(&word.key)))
        .then(|| [words[..n].to_vec(), rest.to_vec()])
}

/// Whether a word in capitals may be more than initials: it can be spoken.
fn may_be_surname(word: &Word) -> bool {
    word.key.len() >= 3
        && !word.written.contains('.')
        && word.key.contains(['a', 'e', 'i', 'o', 'u', 'y'])
}

/// Takes nobility that has a word behind it.
fn take_noble(words: &mut Vec<Word>, titles: &mut Vec<Word>) {
    let mut i = 0;
    while i + 1 < words.len() {
        if NOBLE.has(&words[i].key) {
            titles.push(words.remove(i));
        } else {
            i += 1;
        }
    }
}

/// How many words are given names; what follows are particles and the surname. At least one word is left.
fn given_names(words: &[Word]) -> usize {
    let n = words.len();
    if n < 2 {
        return 0;
    }
    // "von Goethe": a small particle in front is no given name, where other words begin with a capital.
    let first_is_small = words[0].begins_small() || joined_particle(&words[0]).is_some();
    if first_is_small && run_of_particles(words, 0) > 0 && words.iter().any(|w| !w.begins_small()) {
        return 0;
    }
    if joined_particle(&words[0]).is_some() && words[0].begins_small() {
        return 0;
    }
    let begin = compound(words);
    let limit = n - 1;
    // Two surnames of Spanish use: the first is a known one, and so is the second if the first is a given name, too; or
    // there is "y" between.
    let last = &words[limit].key;
    for i in begin.max(1)..limit {
        let between = matches!(&*words[i].key, "y") && i > 1;
        if between {
            return i - 1;
        }
        let rest = i + 1 + run_of_particles(words, i + 1);
        let key = &words[i].key;
        let is_known = SPANISH.has(key) && (!GIVEN_TOO.has(key) || SPANISH.has(last));
        if is_known && rest == limit {
            // Particles before the first one belong to it.
            let mut particles = begin.max(1)..i;
            let from = particles.find(|&from| run_of_particles(words, from) >= i - from);
            return from.unwrap_or(i);
        }
    }
    let particles = (begin.max(1)..limit).find(|&i| run_of_particles(words, i) > 0);
    let joined = (begin.max(1)..n).find(|&i| joined_particle(&words[i]).is_some());
    [particles, joined, Some(limit)]
        .into_iter()
        .flatten()
        .min()
        .expect("there is one")
}

/// How many words at the beginning belong together though there are particles among them: María del Carmen, Juan de
/// Dios, Abd al-Rahman.
fn compound(words: &[Word]) -> usize {
    let key = |i: usize| words.get(i).map_or("", |word| &word.key);
    for i in 0..words.len() {
        let run = run_of_particles(words, i + 1);
        // One word more must be left for the surname.
        let is_left = |n: usize| n < words.len();
        let is_devotion = matches!(key(i + 1), "de" | "del");
        if matches!(key(i), "maria" | "ma") && is_devotion && run > 0 && is_left(i + run + 2) {
            return i + run + 2;
        }
        if key(i) == "juan" && key(i + 1) == "de" && key(i + 2) == "dios" && is_left(i + 3) {
            return i + 3;
        }
        let of_abd = words
            .get(i + 1)
            .is_some_and(|word| joined_particle(word).is_some());
        if matches!(key(i), "abd" | "abdul") && of_abd && is_left(i + 2) {
            return i + 2;
        }
        if key(i) == "abd" && matches!(key(i + 1), "al" | "el" | "ul") && is_left(i + 3) {
            return i + 3;
        }
    }
    0
}

/// How many particles there are from here on. There is a word behind them.
fn run_of_particles(words: &[Word], from: usize) -> usize {
    let n = (from..words.len())
        .take_while(|&i| PARTICLES.has(&words[i].key) || is_link(words, i))
        .count();
    n.min(words.len().saturating_sub(from + 1))
}

/// "und" between particles: von und zu.
fn is_link(words: &[Word], i: usize) -> bool {
    let particle = |i: usize| words.get(i).is_some_and(|word| PARTICLES.has(&word.key));
    matches!(&*words[i].key, "und" | "u") && i > 0 && particle(i - 1) && particle(i + 1)
}

/// "al-Rahman", "d'Artagnan": the particle and the rest.
fn joined_particle(word: &Word) -> Option<(&str, &str)> {
    let at = word.written.find(['-', '‑', '\'', '’'])?;
    let mark = word.written[at..].chars().next()?;
    let (particle, rest) = word.written.split_at(at + mark.len_utf8());
    let before = &word.written[..at];
    let is_one = match mark {
        '-' | '‑' => JOINED_PARTICLES.has(&before.to_lowercase()),
        _ => before == "d" || before == "l",
    };
    (is_one && rest.chars().any(char::is_alphanumeric)).then_some((particle, rest))
}

/// Moves the particle that is written in one word with the surname to the particles.
fn split_joined(particles: &mut Vec<Word>, surname: &mut [Word]) {
    let Some(first) = surname.first_mut() else {
        return;
    };
    let Some((particle, rest)) = joined_particle(first) else {
        return;
    };
    let word = |written: &str| Word {
        written: written.to_owned(),
        key: normalize(written, false, || ()).unwrap_or_default(),
    };
    let (particle, rest) = (word(particle), word(rest));
    particles.push(particle);
    *first = rest;
}
