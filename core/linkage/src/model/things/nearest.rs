//! The nearest records of another table by what their words weigh (TF-IDF; G. Salton, C. Buckley: Term-Weighting
//! Approaches in Automatic Text Retrieval, 1988). Words are numbered, and come in the order of their numbers, so that a
//! sort of all words gives them.

use base::memory::{filled, with_room};
use base::Result;

/// A word that more records than this share of them have says too little to be looked up, but so many may have any
/// word.
const MOST_SHARE: f64 = 0.05;
const MOST_RECORDS: f64 = 200.0;

/// So many of the nearest records are looked at by all fields together.
pub const NEAREST_OF_ALL: usize = 10;

/// So many by each field.
pub const NEAREST_OF_FIELD: usize = 5;

/// Whether records are found by a word that `with` of so many records have.
pub fn is_looked_up(records: u64, with: u64) -> bool {
    with > 1 && with as f64 <= MOST_RECORDS.max(MOST_SHARE * records as f64)
}

/// A word of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WordOf {
    /// The number of the word.
    pub word: u32,
    /// Its weight as a share of the length of the record's vector of weights.
    pub weight: f32,
}

/// Which records have each word.
#[derive(Clone, Debug, Default)]
pub struct Postings {
    /// Where each word's records begin, and the greatest weight that the word has in one of them.
    words: Vec<(u32, f32)>,
    /// The records with the word's weight in them.
    records: Vec<(u32, f32)>,
    /// The greatest number of a record, and one more.
    end: u32,
}

impl Postings {
    /// Bytes of a record of a word.
    pub const BYTES: usize = size_of::<(u32, f32)>();

    /// With room for so many words and records of words.
    ///
    /// Errors: out of memory.
    pub fn with_room(words: usize, records: usize) -> Result<Postings> {
        Ok(Postings {
            words: with_room(words)?,
            records: with_room(records)?,
            end: 0,
        })
    }

    /// A record with a word. Words come in the order of their numbers, and records of a word in the order of theirs.
    pub fn push(&mut self, record: u32, of: WordOf) {
        while self.words.len() <= of.word as usize {
            self.words.push((self.records.len() as u32, 0.0));
        }
        let greatest = &mut self.words[of.word as usize].1;
        *greatest = greatest.max(of.weight);
        self.records.push((record, of.weight));
        self.end = self.end.max(record + 1);
    }

    /// The records that have a word.
    fn of(&self, word: u32) -> &[(u32, f32)] {
        let begin = |word: usize| self.words.get(word).map(|of| of.0 as usize);
        let at = |word: usize| begin(word).unwrap_or(self.records.len());
        &self.records[at(word as usize)..at(word as usize + 1)]
    }

    /// The greatest weight of a word in a record.
    fn greatest(&self, word: u32) -> f32 {
        self.words.get(word as usize).map_or(0.0, |of| of.1)
    }
}

/// Finds the nearest records.
pub struct Nearest<'p> {
    postings: &'p Postings,
    /// What each record has in common with the one that is looked for, and which have something.
    common: Vec<f32>,
    found: Vec<u32>,
    /// Memory that is used again.
    words: Vec<WordOf>,
    best: Vec<(f32, u32)>,
}

impl<'p> Nearest<'p> {
    /// Among these records.
    ///
    /// Errors: out of memory.
    pub fn new(postings: &'p Postings) -> Result<Nearest<'p>> {
        Ok(Nearest {
            postings,
            common: filled(postings.end as usize, 0.0)?,
            found: with_room(postings.end as usize)?,
            words: Vec::new(),
            best: Vec::new(),
        })
    }

    /// Gives the `most` records that are nearest to one with these words to `each`, with their cosine. Of equally near
    /// ones the first are taken.
    ///
    /// Words of most weight, the rare ones, come first, whatever the postings are, so that parts of them give the sums
    /// that all of them give. As soon as those that are left weigh less together than the last of the nearest has in
    /// common, no other record can become one of them, and only those found are looked up (H. Turtle, J. Flood: Query
    /// Evaluation: Strategies and Optimizations, 1995).
    pub fn find(&mut self, words: &[WordOf], most: usize, mut each: impl FnMut(u32, f32)) {
        let postings = self.postings;
        let mut words_left = std::mem::take(&mut self.words);
        words_left.clear();
        words_left.extend_from_slice(words);
        words_left.sort_unstable_by(|x, y| y.weight.total_cmp(&x.weight).then(x.word.cmp(&y.word)));
        let mut left: f32 = words
            .iter()
            .map(|of| of.weight * postings.greatest(of.word))
            .sum();
        let mut is_closed = false;
        for &of in &words_left {
            let records = postings.of(of.word);
            if !is_closed && self.found.len() > most && records.len() > self.found.len() {
                is_closed = self.close(most, left);
            }
            left -= of.weight * postings.greatest(of.word);
            if is_closed {
                for &record in &self.found {
                    if let Ok(at) = records.binary_search_by_key(&record, |of| of.0) {
                        self.common[record as usize] += of.weight * records[at].1;
                    }
                }
                continue;
            }
            for &(record, weight) in records {
                let common = &mut self.common[record as usize];
                if *common == 0.0 {
                    self.found.push(record);
                }
                // never nothing, or the record would be found twice
                *common += (of.weight * weight).max(f32::MIN_POSITIVE);
            }
        }
        self.words = words_left;
        self.choose(most);
        self.best
            .iter()
            .for_each(|&(common, record)| each(record, common));
        for record in self.found.drain(..) {
            self.common[record as usize] = 0.0;
        }
    }

    /// Writes the `most` records found that are nearest to `best`. Returns what the last of them has in common.
    fn choose(&mut self, most: usize) -> f32 {
        let room = 4 * most + 16;
        let mut least = 0.0;
        let shorten = |best: &mut Vec<(f32, u32)>| {
            if best.len() <= most {
                return 0.0;
            }
            best.select_nth_unstable_by(most, |x, y| y.0.total_cmp(&x.0).then(x.1.cmp(&y.1)));
            best.truncate(most);
            best.iter().map(|of| of.0).fold(f32::INFINITY, f32::min)
        };
        self.best.clear();
        for &record in &self.found {
            let common = self.common[record as usize];
            if common >= least {
                self.best.push((common, record));
                if self.best.len() == room {
                    least = shorten(&mut self.best);
                }
            }
        }
        shorten(&mut self.best)
    }

    /// Whether no other record can become one of the `most` nearest, if the words that are left weigh so much. Then
    /// those found that cannot either are forgotten.
    fn close(&mut self, most: usize, left: f32) -> bool {
        let least = self.choose(most);
        let common = &mut self.common;
        // sums of rounded numbers are not quite exact
        let left = left.max(0.0) * 1.0001 + 1e-6;
        if left >= least {
            return false;
        }
        self.found.retain(|&record| {
            let of = &mut common[record as usize];
            let can_be = *of + left >= least;
            if !can_be {
                *of = 0.0;
            }
            can_be
        });
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_are_found() {
        let mut postings = Postings::default();
        let of = |word, weight| WordOf { word, weight };
        // words 1 and 3 have no record
        for (record, word) in [
            (0, of(0, 0.5)),
            (2, of(0, 0.75)),
            (1, of(2, 1.0)),
            (2, of(2, 0.25)),
            (3, of(2, 0.25)),
            (3, of(4, 0.5)),
        ] {
            postings.push(record, word);
        }
        let mut nearest = Nearest::new(&postings).unwrap();
        let mut find = |words: &[WordOf], most| {
            let mut found = Vec::new();
            nearest.find(words, most, |record, cosine| found.push((record, cosine)));
            found.sort_by_key(|of| of.0);
            found
        };
        let words = [of(0, 1.0), of(2, 2.0)];
        assert_eq!(find(&words, 9), [(0, 0.5), (1, 2.0), (2, 1.25), (3, 0.5)]);
        assert_eq!(find(&words, 3), [(0, 0.5), (1, 2.0), (2, 1.25)]);
        assert_eq!(find(&[of(4, 1.0)], 3), [(3, 0.5)]);
        assert_eq!(find(&[of(1, 1.0), of(3, 1.0), of(5, 1.0)], 3), []);
        assert_eq!(find(&words, 0), []);
    }

    /// What is left out finds the same records as looking at all of them, and so do parts of them.
    #[test]
    fn nothing_is_lost() {
        const PART: u32 = 130;
        let random = |i: u32| i.wrapping_mul(2_654_435_761).rotate_left(13) % 1000;
        let mut postings = Postings::default();
        let mut parts = [Postings::default(), Postings::default()];
        let mut rows = vec![Vec::new(); 300];
        for word in 0..40u32 {
            for (record, row) in (0u32..).zip(&mut rows) {
                if random(record * 64 + word) < 25 * word {
                    let weight = (41 - word) as f32 / 64.0;
                    let of = WordOf { word, weight };
                    postings.push(record, of);
                    let part = usize::from(record >= PART);
                    parts[part].push(record - PART * part as u32, of);
                    row.push(of);
                }
            }
        }
        let mut nearest = Nearest::new(&postings).unwrap();
        let [first, second] = &parts;
        let mut of_parts = [first, second].map(|part| Nearest::new(part).unwrap());
        for words in &rows {
            let common = |of: &Vec<WordOf>| -> f32 {
                let weight = |x: &&WordOf| words.iter().find(|y| y.word == x.word);
                let both = of
                    .iter()
                    .filter_map(|x| weight(&x).map(|y| x.weight * y.weight));
                both.sum()
            };
            let mut all: Vec<f32> = rows.iter().map(common).collect();
            all.sort_by(|x, y| y.total_cmp(x));
            let mut found = Vec::new();
            nearest.find(words, 7, |record, common| found.push((record, common)));
            let order = |x: &(u32, f32), y: &(u32, f32)| y.1.total_cmp(&x.1).then(x.0.cmp(&y.0));
            found.sort_by(order);
            for (found, all) in found.iter().zip(&all) {
                assert!((found.1 - all).abs() < 1e-5);
            }
            let mut in_parts = Vec::new();
            for (part, begin) in of_parts.iter_mut().zip([0, PART]) {
                part.find(words, 7, |record, common| {
                    in_parts.push((begin + record, common))
                });
            }
            in_parts.sort_by(order);
            assert_eq!(found, in_parts[..7]);
        }
    }

    #[test]
    fn frequent_words_are_not_looked_up() {
        assert!(!is_looked_up(1000, 1));
        assert!(is_looked_up(1000, 200) && !is_looked_up(1000, 201));
        assert!(is_looked_up(10_000, 500) && !is_looked_up(10_000, 501));
    }
}
