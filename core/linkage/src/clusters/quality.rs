//! How good found duplicates are, where the truth is known.
//!
//! Where there is nothing to be wrong about, nothing is wrong: the precision of nothing found is 1, and so
//! is the recall of no truth.

use base::memory::{collected, push};
use base::sort::{sort, sort_distinct};
use base::Ticker;
use base::{Error, Result};

/// Shares in 0…1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rates {
    /// How much of what was found is true; 1 if nothing was found.
    pub precision: f64,
    /// How much of what is true was found; 1 if nothing is true.
    pub recall: f64,
    /// The harmonic mean of both; 0 if both are.
    pub f1: f64,
}

/// Distinct pairs of different records, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairCounts {
    /// The pairs that were found.
    pub found: u64,
    /// The pairs that are true, found or not.
    pub truth: u64,
    /// Those found that are true.
    pub both: u64,
}

impl PairCounts {
    /// both/found, both/truth and 2·both/(found + truth), which is their harmonic mean.
    pub fn rates(&self) -> Rates {
        let (found, truth, both) = (self.found as f64, self.truth as f64, self.both as f64);
        Rates {
            precision: share(both, found),
            recall: share(both, truth),
            f1: share(2.0 * both, found + truth),
        }
    }

    /// Pairs held against a truth that gives every record a label, equal for those that are the same (one
    /// of its own for a record without duplicates). A pair given several times, in whichever
    /// direction, counts once; a pair of a record with itself does not count. 8 bytes a pair.
    ///
    /// Errors: a record without a label, out of memory.
    pub fn with_labels(
        found: impl IntoIterator<Item = (u32, u32)>,
        truth: &[u32],
        turn: impl FnMut(),
    ) -> Result<PairCounts> {
        let ticker = &mut Ticker::new(turn);
        let label = |record: u32| {
            let label = truth.get(record as usize).copied();
            label.ok_or_else(|| unlabelled(record, truth.len()))
        };
        let found = distinct(found, ticker)?;
        let mut both = 0;
        for &pair in &found {
            ticker.step();
            let (a, b) = ((pair >> 32) as u32, pair as u32);
            both += u64::from(label(a)? == label(b)?);
        }
        Ok(PairCounts {
            found: found.len() as u64,
            truth: Groups::new(truth, truth, ticker)?.pairs,
            both,
        })
    }

    /// Pairs held against the true pairs, each in whichever direction; repetitions and pairs of a record
    /// with itself do not count. The truth is taken as it is: that a and b, b and c are the same does
    /// not make a and c a true pair. 8 bytes a pair.
    ///
    /// Errors: out of memory.
    pub fn with_pairs(
        found: impl IntoIterator<Item = (u32, u32)>,
        truth: impl IntoIterator<Item = (u32, u32)>,
        turn: impl FnMut(),
    ) -> Result<PairCounts> {
        let ticker = &mut Ticker::new(turn);
        let found = distinct(found, ticker)?;
        let truth = distinct(truth, ticker)?;
        let mut both = 0;
        let mut rest = truth.iter().copied().peekable();
        for &pair in &found {
            ticker.step();
            while rest.next_if(|&other| other < pair).is_some() {
                ticker.step();
            }
            both += u64::from(rest.next_if_eq(&pair).is_some());
        }
        Ok(PairCounts {
            found: found.len() as u64,
            truth: truth.len() as u64,
            both,
        })
    }

    /// All pairs within the clusters that were found, held against all pairs within the true ones: a label for
    /// each record on either side. The pairs are counted, not listed. 8 bytes a record.
    ///
    /// Errors: not as many labels on both sides, out of memory.
    pub fn of_clusters(found: &[u32], truth: &[u32], turn: impl FnMut()) -> Result<PairCounts> {
        let ticker = &mut Ticker::new(turn);
        let groups = Groups::new(found, truth, ticker)?;
        Ok(PairCounts {
            found: groups.pairs,
            truth: Groups::new(truth, truth, ticker)?.pairs,
            both: groups.agreeing,
        })
    }
}

/// How many pairs of records have the same label. 8 bytes a record.
///
/// Errors: out of memory.
pub fn pairs_within(labels: &[u32], turn: impl FnMut()) -> Result<u64> {
    Ok(Groups::new(labels, labels, &mut Ticker::new(turn))?.pairs)
}

/// B-cubed: the means over all records of the share of its found cluster that truly belongs to it
/// (precision), and of the share of its true cluster that was found with it (recall), the record itself
/// included; F1 is the harmonic mean of these two. Without records all of them are 1. (A. Bagga,
/// B. Baldwin: Algorithms for Scoring Coreference Chains, LREC Workshop on Linguistic Coreference 1998;
/// all records weigh the same.) A label for each record on either side; 8 bytes a record.
///
/// Errors: not as many labels on both sides, out of memory.
pub fn b_cubed(found: &[u32], truth: &[u32], turn: impl FnMut()) -> Result<Rates> {
    let ticker = &mut Ticker::new(turn);
    let records = found.len() as f64;
    let precision = share(Groups::new(found, truth, ticker)?.purity, records);
    let recall = share(Groups::new(truth, found, ticker)?.purity, records);
    Ok(Rates {
        precision,
        recall,
        f1: share(2.0 * precision * recall, precision + recall),
    })
}

fn share(part: f64, whole: f64) -> f64 {
    if whole == 0.0 {
        1.0
    } else {
        part / whole
    }
}

/// Records grouped by one label, and within that by another.
#[derive(Default)]
struct Groups {
    /// Pairs within groups,
    pairs: u64,
    /// and those of them that the other label joins, too.
    agreeing: u64,
    /// Σ n²/N over what the other label makes of a group of N: the sum over its records of the share of the
    /// group that has the same other label.
    purity: f64,
}

impl Groups {
    /// Errors: not as many labels on both sides, out of memory.
    fn new(by: &[u32], other: &[u32], ticker: &mut Ticker<impl FnMut()>) -> Result<Groups> {
        if by.len() != other.len() {
            return Err(Error::data_exception(
                "both clusterings must have a label for every record",
            )
            .detail(format!(
                "One has {} labels, the other has {}.",
                by.len(),
                other.len()
            )));
        }
        let both = by.iter().zip(other);
        let keys = both.map(|(&by, &other)| u64::from(by) << 32 | u64::from(other));
        let mut keys = collected(keys, by.len())?;
        sort(&mut keys, ticker);
        let mut groups = Groups::default();
        for group in keys.chunk_by(|a, b| a >> 32 == b >> 32) {
            let mut squares = 0.0;
            for same in group.chunk_by(|a, b| a == b) {
                ticker.step();
                let n = same.len() as f64;
                squares += n * n;
                groups.agreeing += pairs(same.len());
            }
            groups.pairs += pairs(group.len());
            groups.purity += squares / group.len() as f64;
        }
        Ok(groups)
    }
}

fn pairs(n: usize) -> u64 {
    let n = n as u64;
    n * n.saturating_sub(1) / 2
}

/// Pairs as numbers, the lesser record first, in order and without repetition.
fn distinct(
    pairs: impl IntoIterator<Item = (u32, u32)>,
    ticker: &mut Ticker<impl FnMut()>,
) -> Result<Vec<u64>> {
    let mut keys: Vec<u64> = Vec::new();
    for (a, b) in pairs {
        ticker.step();
        if a != b {
            push(&mut keys, u64::from(a.min(b)) << 32 | u64::from(a.max(b)))?;
        }
    }
    sort_distinct(&mut keys, ticker);
    Ok(keys)
}

#[cold]
fn unlabelled(record: u32, labels: usize) -> Error {
    Error::data_exception(format!(
        "a pair names record {record}, but there are {labels} labels"
    ))
    .detail("Records are numbered from 0.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(precision: f64, recall: f64, f1: f64) -> Rates {
        Rates {
            precision,
            recall,
            f1,
        }
    }

    /// The example of the paper: 12 mentions of entities with 5, 2 and 5; once two entities of 5 and 2 are
    /// confused, once those of 5 and 5.
    #[test]
    fn the_example_of_bagga_and_baldwin() {
        let truth = [1, 1, 1, 1, 1, 2, 2, 3, 3, 3, 3, 3];
        let small = [1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2];
        let large = [1, 1, 1, 1, 1, 2, 2, 1, 1, 1, 1, 1];
        let found = b_cubed(&small, &truth, || ()).unwrap();
        assert!((found.precision - 16.0 / 21.0).abs() < 1e-15);
        assert_eq!(found.recall, 1.0);
        let found = b_cubed(&large, &truth, || ()).unwrap();
        assert!((found.precision - 7.0 / 12.0).abs() < 1e-15);
        assert_eq!(found.recall, 1.0);
    }

    #[test]
    fn pairs_are_counted_once() {
        let truth = [7, 7, 7, 9, 9];
        let found = [(0, 1), (1, 0), (0, 1), (3, 3), (2, 3)];
        let counts = PairCounts::with_labels(found, &truth, || ()).unwrap();
        let expected = PairCounts {
            found: 2,
            truth: 4,
            both: 1,
        };
        assert_eq!(counts, expected);
        assert_eq!(counts.rates(), rates(0.5, 0.25, 1.0 / 3.0));
        let pairs = [(0, 1), (0, 2), (2, 1), (1, 2), (4, 3), (2, 2)];
        let counts = PairCounts::with_pairs(found, pairs, || ()).unwrap();
        assert_eq!(counts, expected);
        assert_eq!(pairs_within(&truth, || ()).unwrap(), 4);
    }

    #[test]
    fn nothing_is_not_wrong() {
        let none = PairCounts::with_pairs([], [], || ()).unwrap();
        assert_eq!(none.rates(), rates(1.0, 1.0, 1.0));
        let missed = PairCounts::with_labels([], &[1, 1], || ()).unwrap();
        assert_eq!(missed.rates(), rates(1.0, 0.0, 0.0));
        let false_alarm = PairCounts::with_labels([(0, 1)], &[1, 2], || ()).unwrap();
        assert_eq!(false_alarm.rates(), rates(0.0, 1.0, 0.0));
        let none = b_cubed(&[], &[], || ()).unwrap();
        assert_eq!(none, rates(1.0, 1.0, 1.0));
        assert_eq!(pairs_within(&[], || ()).unwrap(), 0);
    }

    #[test]
    fn labels_must_be_complete() {
        let short = PairCounts::with_labels([(0, 2)], &[1, 1], || ()).unwrap_err();
        assert_eq!(
            short.message(),
            "a pair names record 2, but there are 2 labels"
        );
        let uneven = b_cubed(&[1], &[1, 2], || ()).unwrap_err();
        assert_eq!(
            uneven.detail_text(),
            Some("One has 1 labels, the other has 2.")
        );
        assert!(PairCounts::of_clusters(&[1, 2], &[1], || ()).is_err());
    }

    #[test]
    fn many_records_in_one_cluster() {
        let all = vec![3; 200_000];
        let mut turns = 0;
        let counts = PairCounts::of_clusters(&all, &all, || turns += 1).unwrap();
        let pairs = 200_000 * 199_999 / 2;
        assert_eq!(
            counts,
            PairCounts {
                found: pairs,
                truth: pairs,
                both: pairs
            }
        );
        assert!(turns > 0);
    }
}
