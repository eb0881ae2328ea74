//! How many matches the searches by equality miss, by those that they find.

/// Rounds of the estimate: more change nothing that matters.
const ROUNDS: usize = 200;

/// Most fields: every set of them has a count.
const MOST_FIELDS: usize = 10;

/// Matches by the fields in which they are equal, and how many of them each search finds.
#[derive(Clone, Debug)]
pub struct EqualFields {
    /// Fields of each search, as bits.
    searches: Vec<u32>,
    fields: usize,
    /// Found matches, by their equal fields as bits.
    found: Vec<f64>,
    /// Found matches that are equal in the fields of a search, and those of them that it has found itself: in blocks
    /// that are not too large.
    equal: Vec<f64>,
    by_search: Vec<f64>,
}

impl EqualFields {
    /// `searches` have the fields of each search as bits; of more than ten `fields` the first ten count.
    pub fn new(searches: Vec<u32>, fields: usize) -> EqualFields {
        let fields = fields.min(MOST_FIELDS);
        EqualFields {
            found: vec![0.0; 1 << fields],
            equal: vec![0.0; searches.len()],
            by_search: vec![0.0; searches.len()],
            searches,
            fields,
        }
    }

    /// So many matches more, which are equal in these fields and have been found by these searches, both as bits.
    pub fn add(&mut self, equal: u32, searches: u64, matches: f64) {
        let sets = self.found.len();
        self.found[equal as usize % sets] += matches;
        for (number, &fields) in self.searches.iter().enumerate() {
            if equal & fields == fields {
                self.equal[number] += matches;
                if searches >> number & 1 == 1 {
                    self.by_search[number] += matches;
                }
            }
        }
    }

    /// The share of the matches that are found: most likely where fields are equal or not independently of each other, and
    /// a match that is equal in the fields of a search is found by it as often as those that are found by others. Both
    /// make it too large rather than too small, since who errs in one field errs in others.
    pub fn recall(&self) -> f64 {
        let all: f64 = self.found.iter().sum();
        if all <= 0.0 {
            return 1.0;
        }
        let is_found: Vec<f64> = (0..self.found.len())
            .map(|equal| self.chance_of(equal as u32))
            .collect();
        let share = |k: usize| {
            let has = |(equal, _): &(usize, &f64)| equal >> k & 1 == 1;
            self.found
                .iter()
                .enumerate()
                .filter(has)
                .map(|(_, n)| n)
                .sum::<f64>()
                / all
        };
        let mut equal: Vec<f64> = (0..self.fields).map(share).collect();
        let mut recall = 1.0;
        for _ in 0..ROUNDS {
            let states = products(&equal);
            recall = states
                .iter()
                .zip(&is_found)
                .map(|(p, f)| p * f)
                .sum::<f64>();
            let matches = all / recall.max(1e-3);
            // those that are found, and those that must be missed if these shares were true
            let full = self.found.iter().zip(states.iter().zip(&is_found));
            let full: Vec<f64> = full
                .map(|(n, (p, f))| n + matches * p * (1.0 - f))
                .collect();
            let sum: f64 = full.iter().sum();
            for (k, share) in equal.iter_mut().enumerate() {
                let has = |(state, _): &(usize, &f64)| state >> k & 1 == 1;
                let of = full.iter().enumerate().filter(has).map(|(_, n)| n);
                *share = (of.sum::<f64>() + 1.0) / (sum + 2.0);
            }
        }
        recall.clamp(0.0, 1.0)
    }

    /// How likely a match is found that is equal in these fields.
    fn chance_of(&self, equal: u32) -> f64 {
        let searches = self.searches.iter().enumerate();
        let of = searches.filter(|(n, &fields)| equal & fields == fields && self.equal[*n] > 0.0);
        1.0 - of.fold(1.0, |missed, (n, _)| {
            missed * (1.0 - self.by_search[n] / self.equal[n])
        })
    }
}

/// How likely each set of fields is, if each field is in it with its share.
fn products(shares: &[f64]) -> Vec<f64> {
    shares.iter().fold(vec![1.0], |sets, share| {
        let without = sets.iter().map(|p| p * (1.0 - share));
        without.chain(sets.iter().map(|p| p * share)).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of 1000 matches that are equal in each of so many fields with a share, those with two equal fields are found.
    fn recall(fields: usize, share: f64) -> [f64; 2] {
        let twos = (0..fields).flat_map(|a| (0..a).map(move |b| 1 << a | 1 << b));
        let twos: Vec<u32> = twos.collect();
        let mut matches = EqualFields::new(twos.clone(), fields);
        let mut found = 0.0;
        for (equal, p) in products(&vec![share; fields]).into_iter().enumerate() {
            let is = |two: &u32| equal as u32 & two == *two;
            let searches = twos.iter().enumerate().filter(|(_, two)| is(two));
            let searches = searches.fold(0u64, |all, (n, _)| all | 1 << n);
            if searches != 0 {
                matches.add(equal as u32, searches, 1000.0 * p);
                found += p;
            }
        }
        [matches.recall(), found]
    }

    #[test]
    fn what_is_missed_is_known_where_fields_are_independent() {
        for (fields, share) in [(3, 0.9), (6, 0.5), (6, 0.3), (10, 0.8)] {
            let [estimated, found] = recall(fields, share);
            assert!(
                (estimated - found).abs() < 0.01,
                "{fields} {share}: {estimated} for {found}"
            );
        }
    }

    #[test]
    fn where_nothing_is_found_nothing_is_missed() {
        assert_eq!(EqualFields::new(vec![1, 2, 3], 2).recall(), 1.0);
    }
}
