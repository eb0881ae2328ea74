//! Clusters by average link, over the pairs that are known.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use base::error::number;
use base::memory::{collected, filled_in_turns};
use base::range::unit;
use base::sort::sort_by;
use base::{Error, Result, Ticker};

use super::bounds::{Bounds, Joining};
use super::components::{connected, Clusters};
use super::forest::{numbers, Forest};
use super::links::{steps, Link, Links};

/// Clusters by average link (UPGMA; R. R. Sokal, C. D. Michener: A Statistical Method for Evaluating
/// Systematic Relationships, 1958): again and again the two clusters are merged whose members have the
/// greatest mean similarity, as long as it is at least `threshold`; of equals those with the least
/// members. A pair that is not given counts as `missing`, and so does one given with less: 0 is severe,
/// the threshold that the pairs were searched with is the most that a missing one can have. Only
/// clusters that a pair above `missing` connects are ever merged. The centre is the record with the
/// greatest sum of similarities given within the cluster, of equals the least. What is judged the same is merged first,
/// and two clusters that bounds keep apart are not.
///
/// Takes time in proportion to the pairs, times a logarithm; where many records share one neighbour, up to
/// 1/(threshold − missing) times as much, since each record that joins it changes the mean of all
/// others. Besides 50 bytes a record, some 90 bytes for each pair of the largest connected part.
///
/// Errors: a threshold or `missing` outside 0…1, `missing` not below the threshold (everything
/// connected, and nothing else, would be merged), out of memory.
pub fn average(
    links: &Links,
    threshold: f64,
    missing: f64,
    bounds: &Bounds,
    turn: impl FnMut(),
) -> Result<Clusters> {
    unit("threshold", threshold)?;
    unit("similarity of missing pairs", missing)?;
    if missing >= threshold {
        return Err(Error::invalid(format!(
            "the similarity of missing pairs, {}, is not below the threshold {}",
            number(missing),
            number(threshold)
        ))
        .hint("Take all that is connected instead."));
    }
    let ticker = &mut Ticker::new(turn);
    // merged clusters are connected by pairs of the threshold, so parts can be taken one by one
    let mut parts = connected(links, threshold, ticker)?;
    for &(a, b) in &bounds.decided.same {
        ticker.step();
        parts.join(a, b);
    }
    let same = bounds.decided.same.iter();
    let of_part = same.map(|&(a, b)| (parts.find(a), a, b));
    let mut judged = collected(of_part, bounds.decided.same.len())?;
    sort_by(&mut judged, ticker, Ord::cmp);
    let mut members = numbers(links.records(), ticker)?;
    for i in 0..links.records() {
        ticker.step();
        let root = parts.find(i);
        // the root is in a ring with all that came before
        if root != i {
            members.swap(root as usize, i as usize);
        }
    }
    let mut merging = Merging::new(links, missing, threshold, bounds, ticker)?;
    for i in 0..links.records() {
        ticker.step();
        if parts.find(i) == i && parts.size(i) > 1 {
            let first = judged.partition_point(|&(part, ..)| part < i);
            let judged = judged[first..].iter().take_while(|&&(part, ..)| part == i);
            let judged = judged.map(|&(_, a, b)| (a, b));
            merging.part(i, &members, &mut parts, judged, ticker)?;
        }
    }
    drop((parts, members));
    let mut joining = merging.finish(ticker);
    Clusters::of_forest(links, &mut joining.forest, joining.refused, ticker)
}

/// Similarities are counted above that of missing pairs, in steps: these then are zeros, and the
/// mean of a cluster's pairs with another is their sum by the product of the sizes.
struct Merging<'a> {
    links: &'a Links,
    missing: u64,
    /// The least mean that merges.
    least: u64,
    joining: Joining,
    /// At the root of each cluster: its least member,
    first: Vec<u32>,
    /// and the links of its members.
    reach: Vec<usize>,
    /// A ring through each cluster's members.
    next: Vec<u32>,
    /// The sum over all pairs between two clusters, by their roots.
    sums: Sums,
    /// Means, and the least members of both clusters when they had it. A merged cluster's mean is a weighted
    /// mean of what its parts had, so no cluster has a greater one than the first in here says, and
    /// what has changed is put right when it comes first.
    heap: BinaryHeap<(u64, Reverse<(u32, u32)>)>,
}

impl<'a> Merging<'a> {
    fn new(
        links: &'a Links,
        missing: f64,
        threshold: f64,
        bounds: &Bounds,
        ticker: &mut Ticker<impl FnMut()>,
    ) -> Result<Merging<'a>> {
        let n = links.records();
        let mut reach = filled_in_turns(n as usize, 0, ticker)?;
        for i in 0..n {
            ticker.step();
            reach[i as usize] = links.from(i).len();
        }
        Ok(Merging {
            links,
            missing: steps(missing),
            // 0 would merge what no pair above `missing` connects
            least: (steps(threshold) - steps(missing)).max(1),
            // what is judged the same is merged with the rest of its part
            joining: bounds.parted(n, ticker)?,
            first: numbers(n, ticker)?,
            reach,
            next: numbers(n, ticker)?,
            sums: Sums::default(),
            heap: BinaryHeap::new(),
        })
    }

    /// The clusters; all else is freed.
    fn finish(mut self, ticker: &mut Ticker<impl FnMut()>) -> Joining {
        self.sums.clear(ticker);
        self.joining
    }

    fn above(&self, link: &Link) -> u64 {
        link.steps().saturating_sub(self.missing)
    }

    /// Merges what is to be merged among the records of a part, which are a ring through `start`: first those of pairs
    /// that are judged the same.
    fn part(
        &mut self,
        start: u32,
        members: &[u32],
        parts: &mut Forest,
        judged: impl Iterator<Item = (u32, u32)>,
        ticker: &mut Ticker<impl FnMut()>,
    ) -> Result<()> {
        let links = self.links;
        let mut inside = |i: u32, ticker: &mut Ticker<_>, see: &mut dyn FnMut(&Link)| {
            for link in links.from(i).iter().take_while(|link| link.to < i) {
                ticker.step();
                if parts.find(link.to) == start {
                    see(link);
                }
            }
        };
        let (mut pairs, mut high) = (0, 0);
        for i in ring(members, start) {
            inside(i, ticker, &mut |link| {
                pairs += usize::from(self.above(link) > 0);
                high += usize::from(self.above(link) >= self.least);
            });
        }
        // tables of its own for each part: to clear one costs as much as the largest part did
        self.sums.clear(ticker);
        self.sums.reserve(pairs)?;
        self.heap
            .try_reserve(high)
            .map_err(|_| Error::out_of_memory(high.saturating_mul(16)))?;
        for i in ring(members, start) {
            let mut refused = None;
            inside(i, ticker, &mut |link| {
                let above = self.above(link);
                if above > 0 {
                    let added = self.sums.add(key(i, link.to), u128::from(above));
                    refused = refused.take().or(added.err());
                }
                if above >= self.least {
                    self.heap.push((above, Reverse((link.to, i))));
                }
            });
            if let Some(refused) = refused {
                return Err(refused);
            }
        }
        for (a, b) in judged {
            let (a, b) = (self.joining.forest.find(a), self.joining.forest.find(b));
            if a != b {
                self.merge(a, b, ticker)?;
            }
        }
        while let Some((mean, Reverse((x, y)))) = self.heap.pop() {
            ticker.step();
            let (a, b) = (self.joining.forest.find(x), self.joining.forest.find(y));
            if a == b {
                continue;
            }
            let now = self.mean(a, b);
            if now == (mean, Reverse((x, y))) {
                // what may not be merged now may not be later, with more members
                if self.joining.may_join(a, b) {
                    self.merge(a, b, ticker)?;
                }
            } else if now.0 >= self.least {
                self.heap.push(now);
            }
        }
        Ok(())
    }

    fn mean(&mut self, a: u32, b: u32) -> (u64, Reverse<(u32, u32)>) {
        let sum = self.sums.get(key(a, b));
        let size = |root| u64::from(self.joining.forest.size(root));
        let pairs = size(a) * size(b);
        let (a, b) = (self.first[a as usize], self.first[b as usize]);
        // a mean of u64
        let mean = (sum / u128::from(pairs)) as u64;
        (mean, Reverse((a.min(b), a.max(b))))
    }

    /// Merges the clusters of two roots. Only the links of the one with fewer are walked.
    fn merge(&mut self, a: u32, b: u32, ticker: &mut Ticker<impl FnMut()>) -> Result<()> {
        let a_reaches_more = self.reach[a as usize] >= self.reach[b as usize];
        let (root, below) = if a_reaches_more { (a, b) } else { (b, a) };
        self.sums.remove(key(root, below));
        for i in ring(&self.next, below) {
            for link in self.links.from(i) {
                ticker.step();
                let other = self.joining.forest.find(link.to);
                if other == root || other == below {
                    continue;
                }
                if let Some(sum) = self.sums.remove(key(below, other)) {
                    self.sums.add(key(root, other), sum)?;
                }
            }
        }
        self.joining.hang(below, root, ticker)?;
        let (root, below) = (root as usize, below as usize);
        self.first[root] = self.first[root].min(self.first[below]);
        self.reach[root] += self.reach[below];
        self.next.swap(root, below);
        Ok(())
    }
}

/// The records of a ring, where each has the one that follows.
fn ring(next: &[u32], start: u32) -> impl Iterator<Item = u32> + '_ {
    let mut at = Some(start);
    std::iter::from_fn(move || {
        let i = at?;
        let following = next[i as usize];
        at = (following != start).then_some(following);
        Some(i)
    })
}

fn key(a: u32, b: u32) -> u64 {
    u64::from(a.min(b)) << 32 | u64::from(a.max(b))
}

// Sums between clusters, by both of them.

/// Numbers by keys, in tables of moderate size: one that grows, or is rid of what was removed, is rewritten as a whole,
/// without a turn for the caller.
#[derive(Default)]
pub(super) struct Sums {
    /// A power of two of them, or none.
    tables: Vec<HashMap<u64, u128>>,
}

impl Sums {
    /// Keys of a table, at the most, on average: a little less than what a table of 2^15 slots takes.
    const SIZE: usize = 27_000;

    /// Makes room for so many keys, and forgets what there was.
    ///
    /// Errors: out of memory.
    pub(super) fn reserve(&mut self, keys: usize) -> Result<()> {
        let n = keys.div_ceil(Self::SIZE).next_power_of_two();
        self.tables.clear();
        self.tables.resize_with(n, HashMap::new);
        // not all get the same
        let each = if n == 1 { keys } else { keys / n * 33 / 32 };
        self.tables
            .iter_mut()
            .try_for_each(|table| make_room(table, each))
    }

    pub(super) fn clear(&mut self, ticker: &mut Ticker<impl FnMut()>) {
        while self.tables.pop().is_some() {
            ticker.step();
        }
    }

    fn table(&mut self, key: u64) -> &mut HashMap<u64, u128> {
        let scattered = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let n = self.tables.len();
        &mut self.tables[scattered as usize & (n - 1)]
    }

    /// 0 if there is none.
    pub(super) fn get(&mut self, key: u64) -> u128 {
        self.table(key).get(&key).copied().unwrap_or(0)
    }

    pub(super) fn remove(&mut self, key: u64) -> Option<u128> {
        self.table(key).remove(&key)
    }

    /// Errors: out of memory.
    pub(super) fn add(&mut self, key: u64, more: u128) -> Result<()> {
        let table = self.table(key);
        make_room(table, 1)?;
        *table.entry(key).or_insert(0) += more;
        Ok(())
    }
}

/// Errors: out of memory.
fn make_room(table: &mut HashMap<u64, u128>, more: usize) -> Result<()> {
    table
        .try_reserve(more)
        .map_err(|_| Error::out_of_memory(more.saturating_mul(size_of::<(u64, u128)>())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clusters::tests::links;
    use base::ErrorKind;

    #[test]
    fn a_chain_breaks_unless_missing_pairs_are_thought_alike() {
        let chain = links(4, &[(0, 1, 0.9), (1, 2, 0.85), (2, 3, 0.9)]);
        let labels = |threshold, missing| {
            let found = average(&chain, threshold, missing, &Bounds::default(), || ()).unwrap();
            found.labels().to_vec()
        };
        assert_eq!(labels(0.8, 0.0), [0, 0, 2, 2]);
        // (0.85 + 3·0.75)/4 = 0.775
        assert_eq!(labels(0.77, 0.75), [0, 0, 0, 0]);
        assert_eq!(labels(0.78, 0.75), [0, 0, 2, 2]);
    }

    #[test]
    fn the_threshold_is_reached_whatever_the_rounding() {
        // in float8 (0.1 + … + 0.1)/6 is less than 0.1
        for t in [0.1, 0.7, 0.8, 1.0 / 3.0] {
            let pairs: Vec<_> = (0..7)
                .flat_map(|i| (0..i).map(move |j| (i, j, t)))
                .collect();
            let found = average(&links(7, &pairs), t, 0.0, &Bounds::default(), || ()).unwrap();
            assert_eq!(found.count(), 1);
            assert_eq!(found.member(6).centre, 0);
        }
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let none = links(0, &[]);
        assert!(average(&none, 0.5, 0.0, &Bounds::default(), || ())
            .unwrap()
            .is_empty());
        for (t, missing) in [
            (0.5, 0.5),
            (0.0, 0.0),
            (1.1, 0.0),
            (0.5, -0.1),
            (f64::NAN, 0.0),
            (0.5, f64::NAN),
        ] {
            let refused = average(&none, t, missing, &Bounds::default(), || ()).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::InvalidParameter);
        }
    }

    #[test]
    fn a_neighbour_of_all_is_no_trouble() {
        let n = 50_000;
        let pairs: Vec<_> = (1..n).map(|i| (0, i, 0.9)).collect();
        let mut turns = 0;
        let found = average(&links(n, &pairs), 0.2, 0.0, &Bounds::default(), || {
            turns += 1
        })
        .unwrap();
        // 0.9/4 is enough and 0.9/5 is not
        assert_eq!(found.member(0).size, 5);
        assert!(turns >= 4, "{turns}");
    }
}
