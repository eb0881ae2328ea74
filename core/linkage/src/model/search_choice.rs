//! Which searches are done: those that find most matches for the pairs that they bring.

use std::ops::Range;

/// Pairs that the same searches find.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoundTogether {
    /// The searches, as bits.
    pub searches: u64,
    /// How many pairs.
    pub pairs: f64,
    /// How many of them are expected to be matches.
    pub matches: f64,
    /// How many of those speak for a search.
    pub sure: f64,
}

/// A search that is done, in its turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chosen {
    /// Its number.
    pub search: usize,
    /// Pairs that no search before it finds.
    pub new_pairs: f64,
    /// Matches that are expected among them.
    pub new_matches: f64,
}

/// What is chosen from.
#[derive(Clone, Debug)]
pub struct Choice<'a> {
    /// What all searches find, in an order that does not depend on anything else.
    pub found: &'a [FoundTogether],
    /// The numbers of the searches.
    pub searches: Range<usize>,
    /// Searches that are done whatever is chosen, as bits.
    pub done: u64,
    /// Records, of both tables.
    pub records: f64,
    /// Matches that are expected besides those that are found.
    pub besides: f64,
    /// A search that brings less than this share of the expected matches is not worth while, nor one of whose matches
    /// fewer than half of this speak for it.
    pub least_gain: f64,
    /// Nor one of whose new pairs fewer than its share of these are matches, by its number; of those that have none, any number.
    pub least_shares: &'a [f64],
    /// No more searches are chosen where this share of the expected matches is lost, or less.
    pub most_loss: f64,
}

/// Chooses searches one by one, each the one with the most new matches for its new pairs, until little is lost, or the
/// rest brings next to nothing.
pub fn choose(choice: Choice<'_>) -> Vec<Chosen> {
    let Choice {
        found,
        searches,
        mut done,
        records,
        besides,
        least_gain,
        least_shares,
        most_loss,
    } = choice;
    let all: f64 = found.iter().map(|f| f.matches).sum::<f64>() + besides;
    let mut chosen = Vec::<Chosen>::new();
    let by_done = found.iter().filter(|f| f.searches & done != 0);
    let mut matches: f64 = by_done.map(|f| f.matches).sum();
    let mut possible: Vec<usize> = searches.collect();
    while (1.0 - most_loss) * all > matches {
        let gain = |&search: &usize| {
            let new = found
                .iter()
                .filter(|f| f.searches & done == 0 && f.searches >> search & 1 == 1);
            new.fold((0.0, 0.0, 0.0), |(p, m, s), f| {
                (p + f.pairs, m + f.matches, s + f.sure)
            })
        };
        let worth = |(pairs, _, sure): (f64, f64, f64)| sure / (pairs + records / 10.0);
        // the first one of those that are worth as much
        let mut best: Option<(usize, (f64, f64, f64))> = None;
        for &search in &possible {
            let new = gain(&search);
            if best.is_none_or(|(_, other)| worth(new) > worth(other)) {
                best = Some((search, new));
            }
        }
        let Some((search, (new_pairs, new_matches, sure))) = best else {
            break;
        };
        possible.retain(|&other| other != search);
        // another one may bring more, if for more pairs
        let is_little = new_matches < least_gain * all || sure < least_gain / 2.0 * all;
        let least_share = least_shares.get(search).copied().unwrap_or_default();
        if is_little || new_matches < least_share * new_pairs {
            continue;
        }
        done |= 1 << search;
        matches += new_matches;
        chosen.push(Chosen {
            search,
            new_pairs,
            new_matches,
        });
    }
    chosen
}

/// Matches that no search finds, by those that only one and only two of the searches find (A. Chao: Nonparametric
/// Estimation of the Number of Classes in a Population, 1984). Searches find the same matches more often than chance
/// says, so there may be more; and of records that have little, fewer.
pub fn missed(found: &[FoundTogether]) -> f64 {
    let by = |n: u32| -> f64 {
        let found = found.iter().filter(|f| f.searches.count_ones() == n);
        found.map(|f| f.matches).sum()
    };
    let (once, twice) = (by(1), by(2));
    once * once / (2.0 * twice.max(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(searches: u64, pairs: f64, matches: f64) -> FoundTogether {
        FoundTogether {
            searches,
            pairs,
            matches,
            sure: matches,
        }
    }

    #[test]
    fn the_best_comes_first() {
        let all = [
            found(0b001, 100.0, 50.0),
            found(0b011, 100.0, 90.0),
            found(0b100, 9000.0, 60.0),
            found(0b010, 5.0, 5.0),
        ];
        let chosen = |besides, least_gain| {
            choose(Choice {
                found: &all,
                searches: 0..3,
                done: 0,
                records: 100.0,
                besides,
                least_gain,
                least_shares: &[0.1, 0.1, 0.001],
                most_loss: 0.01,
            })
        };
        let order = |chosen: &[Chosen]| -> Vec<usize> { chosen.iter().map(|c| c.search).collect() };
        assert_eq!(order(&chosen(0.0, 0.001)), [1, 0, 2]);
        assert_eq!(order(&chosen(0.0, 0.28)), [1, 2]);
        // of 410 matches, what the next one brings is less than this share, and what the last one brings is more
        assert_eq!(order(&chosen(205.0, 0.13)), [1, 2]);
        let chosen = chosen(0.0, 0.001);
        assert_eq!((chosen[0].new_pairs, chosen[0].new_matches), (105.0, 95.0));
        let rest = choose(Choice {
            found: &all,
            searches: 0..2,
            done: 0b100,
            records: 100.0,
            besides: 0.0,
            least_gain: 0.0,
            least_shares: &[],
            most_loss: 0.6,
        });
        assert_eq!(order(&rest), [1]);
    }

    #[test]
    fn little_is_missed_where_searches_agree() {
        assert_eq!(missed(&[found(0b111, 10.0, 10.0)]), 0.0);
        assert_eq!(
            missed(&[found(0b1, 10.0, 10.0), found(0b11, 9.0, 5.0)]),
            10.0
        );
    }
}
