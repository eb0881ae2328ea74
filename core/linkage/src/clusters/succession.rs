//! Which of the clusters of a later run is which of an earlier one, and what has become of it.

use std::cmp::Reverse;

use base::memory::{collected, filled_in_turns};
use base::sort::sort_by;
use base::Result;
use base::Ticker;

/// The cluster of a record that is in none.
pub const NOWHERE: u32 = u32::MAX;

base::named! {
    /// What has become of a cluster.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Change {
        /// It has the records that it had.
        Same = "same",
        /// None of its records was in a cluster.
        Made = "made",
        /// It has the records that it had, and more.
        Grown = "grown",
        /// It has fewer of the records that it had; the others are in no cluster now.
        Shrunk = "shrunk",
        /// It has fewer of the records that it had, and others.
        Changed = "changed",
        /// Its records were in several clusters.
        Merged = "merged",
        /// It has some records of a cluster, and another one has others of these.
        Split = "split",
    }
}

/// What is said of a later cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Successor {
    /// The earlier cluster whose identity it keeps, if any.
    pub keeps: Option<u32>,
    /// What has become of that, or how it came.
    pub change: Change,
}

/// Records that an earlier cluster and a later one have in common.
struct Overlap {
    old: u32,
    new: u32,
    records: u32,
    /// The least of them.
    first: u32,
}

/// For each later cluster which earlier one it is. `old` and `new` are the clusters of each record, in the order of the
/// records' keys, numbered from 0 without a gap, or [`NOWHERE`]. Those with the most records in common come first, and
/// where that is the same, those whose common records have the least key: each earlier cluster is one later cluster at
/// the most, and the other way round. 16 bytes a record and some 60 a cluster.
///
/// Errors: out of memory.
///
/// # Panics
/// If not as many clusters are given for both.
pub fn succession(old: &[u32], new: &[u32], turn: impl FnMut()) -> Result<Vec<Successor>> {
    assert_eq!(old.len(), new.len(), "two clusters for each record");
    let ticker = &mut Ticker::new(turn);
    let (old_sizes, new_sizes) = (sizes(old, ticker)?, sizes(new, ticker)?);
    let mut overlaps = overlaps(old, new, ticker)?;
    // Records of each earlier cluster that are in any later one, and how many earlier ones each later one has records
    // of.
    let mut placed = filled_in_turns(old_sizes.len(), 0u32, ticker)?;
    let mut sources = filled_in_turns(new_sizes.len(), 0u32, ticker)?;
    for overlap in &overlaps {
        ticker.step();
        placed[overlap.old as usize] += overlap.records;
        sources[overlap.new as usize] += 1;
    }
    let made = Successor {
        keeps: None,
        change: Change::Made,
    };
    let mut successors = filled_in_turns(new_sizes.len(), made, ticker)?;
    let mut is_kept = filled_in_turns(old_sizes.len(), false, ticker)?;
    let order = |overlap: &Overlap| (Reverse(overlap.records), overlap.first);
    sort_by(&mut overlaps, ticker, |x, y| order(x).cmp(&order(y)));
    for overlap in &overlaps {
        ticker.step();
        let (old, new) = (overlap.old as usize, overlap.new as usize);
        let successor = &mut successors[new];
        if !is_kept[old] && successor.keeps.is_none() {
            is_kept[old] = true;
            successor.keeps = Some(overlap.old);
        }
        successor.change = if sources[new] > 1 {
            Change::Merged
        } else if placed[old] > overlap.records {
            Change::Split
        } else {
            match (
                new_sizes[new] > overlap.records,
                old_sizes[old] > overlap.records,
            ) {
                (false, false) => Change::Same,
                (true, false) => Change::Grown,
                (false, true) => Change::Shrunk,
                (true, true) => Change::Changed,
            }
        };
    }
    Ok(successors)
}

/// How many records each cluster has.
fn sizes(clusters: &[u32], ticker: &mut Ticker<impl FnMut()>) -> Result<Vec<u32>> {
    let some = || clusters.iter().filter(|&&cluster| cluster != NOWHERE);
    let count = some().max().map_or(0, |&greatest| greatest as usize + 1);
    let mut sizes = filled_in_turns(count, 0, ticker)?;
    for &cluster in some() {
        ticker.step();
        sizes[cluster as usize] += 1;
    }
    Ok(sizes)
}

fn overlaps(old: &[u32], new: &[u32], ticker: &mut Ticker<impl FnMut()>) -> Result<Vec<Overlap>> {
    let in_both = || {
        let clusters = old.iter().zip(new).zip(0..);
        clusters.filter(|((&old, &new), _)| old != NOWHERE && new != NOWHERE)
    };
    let clusters = in_both().inspect(|_| ticker.step());
    let clusters = clusters.map(|((&old, &new), record)| (old, new, record));
    let mut both: Vec<(u32, u32, u32)> = collected(clusters, in_both().count())?;
    sort_by(&mut both, ticker, Ord::cmp);
    let same = |x: &(u32, u32, u32), y: &(u32, u32, u32)| (x.0, x.1) == (y.0, y.1);
    let overlap = |records: &[(u32, u32, u32)]| {
        ticker.step();
        let (old, new, first) = records[0];
        Overlap {
            old,
            new,
            records: records.len() as u32,
            first,
        }
    };
    let overlaps = both.chunk_by(same).map(overlap);
    collected(overlaps, both.chunk_by(same).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: u32 = NOWHERE;

    fn of(old: &[u32], new: &[u32]) -> Vec<(Option<u32>, &'static str)> {
        let successors = succession(old, new, || ()).unwrap();
        successors
            .iter()
            .map(|s| (s.keeps, s.change.name()))
            .collect()
    }

    #[test]
    fn what_becomes_of_clusters() {
        assert_eq!(of(&[], &[]), []);
        assert_eq!(of(&[0, 0, N], &[N, N, N]), []);
        assert_eq!(of(&[N, N], &[0, 0]), [(None, "made")]);
        assert_eq!(of(&[0, 0, N], &[0, 0, N]), [(Some(0), "same")]);
        assert_eq!(of(&[0, 0, N], &[0, 0, 0]), [(Some(0), "grown")]);
        assert_eq!(of(&[0, 0, 0], &[0, N, 0]), [(Some(0), "shrunk")]);
        assert_eq!(of(&[0, 0, 0, N], &[0, N, 0, 0]), [(Some(0), "changed")]);
        assert_eq!(of(&[0, 0, 1, 1, 1], &[0; 5]), [(Some(1), "merged")]);
        let two = [(None, "split"), (Some(0), "split")];
        assert_eq!(of(&[0; 5], &[0, 0, 1, 1, 1]), two);
    }

    #[test]
    fn the_least_key_decides_between_equals() {
        assert_eq!(of(&[1, 1, 0, 0], &[0; 4]), [(Some(1), "merged")]);
        let two = [(None, "split"), (Some(0), "split")];
        assert_eq!(of(&[0; 4], &[1, 1, 0, 0]), two);
        // both of 1 have the records 0 and 1, and of 0 the other two
        let crossed = of(&[0, 1, 0, 1], &[1, 0, 0, 1]);
        assert_eq!(crossed, [(Some(1), "merged"), (Some(0), "merged")]);
    }

    #[test]
    fn what_is_taken_is_left_to_the_next() {
        // cluster 0 has most in common with what has still more of cluster 1
        let old = [0, 0, 0, 0, 1, 1, 1, 1, 1];
        let new = [0, 0, 0, 1, 0, 0, 0, 0, 0];
        assert_eq!(of(&old, &new), [(Some(1), "merged"), (Some(0), "split")]);
    }
}
