//! The nearest records of another table by what their words weigh (TF-IDF; G. Salton, C. Buckley: Term-Weighting
//! Approaches in Automatic Text Retrieval, 1988). Words are numbered, and come in the order of their numbers, so that a
//! sort of all words gives them.

/// A word that more records than this share of them have says too little to be looked up, but so many may have any word.
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
    /// Where each word's records begin.
    begins: Vec<u32>,
    /// The records with the word's weight in them.
    records: Vec<(u32, f32)>,
    /// The greatest number of a record, and one more.
    end: u32,
}

impl Postings {
    /// A record with a word. Words come in the order of their numbers.
    pub fn push(&mut self, record: u32, of: WordOf) {
        while self.begins.len() <= of.word as usize {
            self.begins.push(self.records.len() as u32);
        }
        self.records.push((record, of.weight));
        self.end = self.end.max(record + 1);
    }

    /// Bytes that are used.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.begins[..]) + size_of_val(&self.records[..])
    }

    /// The records that have a word.
    fn of(&self, word: u32) -> &[(u32, f32)] {
        let at = |word: usize| {
            self.begins
                .get(word)
                .map_or(self.records.len(), |&at| at as usize)
        };
        &self.records[at(word as usize)..at(word as usize + 1)]
    }
}

/// Finds the nearest records.
pub struct Nearest<'p> {
    postings: &'p Postings,
    /// What each record has in common with the one that is looked for, and which have something.
    common: Vec<f32>,
    found: Vec<u32>,
}

impl<'p> Nearest<'p> {
    /// Among these records.
    pub fn new(postings: &'p Postings) -> Nearest<'p> {
        Nearest {
            postings,
            common: vec![0.0; postings.end as usize],
            found: Vec::new(),
        }
    }

    /// Gives the `most` records that are nearest to one with these words to `each`, with their cosine. Of equally near
    /// ones the first are taken.
    pub fn find(&mut self, words: &[WordOf], most: usize, mut each: impl FnMut(u32, f32)) {
        for of in words {
            for &(record, weight) in self.postings.of(of.word) {
                let common = &mut self.common[record as usize];
                if *common == 0.0 {
                    self.found.push(record);
                }
                // never nothing, or the record would be found twice
                *common += (of.weight * weight).max(f32::MIN_POSITIVE);
            }
        }
        let common = &self.common;
        if self.found.len() > most {
            self.found.select_nth_unstable_by(most, |&x, &y| {
                let [of_x, of_y] = [x, y].map(|record| common[record as usize]);
                of_y.total_cmp(&of_x).then(x.cmp(&y))
            });
        }
        for &record in self.found.iter().take(most) {
            each(record, common[record as usize]);
        }
        for record in self.found.drain(..) {
            self.common[record as usize] = 0.0;
        }
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
        let mut nearest = Nearest::new(&postings);
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

    #[test]
    fn frequent_words_are_not_looked_up() {
        assert!(!is_looked_up(1000, 1));
        assert!(is_looked_up(1000, 200) && !is_looked_up(1000, 201));
        assert!(is_looked_up(10_000, 500) && !is_looked_up(10_000, 501));
    }
}
