//! Clusters of records that are the same: all that is connected.

use super::bounds::Bounds;
use super::forest::Forest;
use super::links::{Links, Pair};
use base::memory::{collected, filled_in_turns, reserve};
use base::range::unit;
use base::sort::sort_by;
use base::Result;
use base::Ticker;

/// Not a record: there are at most `u32::MAX`, counted from 0.
pub(super) const NONE: u32 = u32::MAX;

/// What a clustering says of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Member {
    /// The cluster's least member.
    pub cluster: u32,
    /// The record that stands for the cluster, and the one to keep of it.
    pub centre: u32,
    /// With the centre, in 0…1; 1 for the centre itself, `None` where no such pair was given.
    pub similarity: Option<f64>,
    /// The cluster's members.
    pub size: u32,
}

/// A clustering: every record is in one cluster, if only by itself. 20 bytes a record.
#[derive(Clone, Debug)]
pub struct Clusters {
    cluster: Vec<u32>,
    /// At each cluster's least member.
    centre: Vec<u32>,
    /// At each cluster's least member, 0 elsewhere.
    size: Vec<u32>,
    /// With the centre; NaN where unknown.
    similarity: Vec<f64>,
    refused: u64,
}

impl Clusters {
    /// How many records there are.
    pub fn len(&self) -> usize {
        self.cluster.len()
    }

    /// Whether there are no records.
    pub fn is_empty(&self) -> bool {
        self.cluster.is_empty()
    }

    /// How many clusters there are, those of one record among them.
    pub fn count(&self) -> usize {
        self.size.iter().filter(|&&size| size > 0).count()
    }

    /// How often two clusters were not made one because it would have been too large.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// The cluster of each record: its least member.
    pub fn labels(&self) -> &[u32] {
        &self.cluster
    }

    /// What becomes of record `i`.
    pub fn member(&self, i: u32) -> Member {
        let cluster = self.cluster[i as usize];
        let similarity = self.similarity[i as usize];
        Member {
            cluster,
            centre: self.centre[cluster as usize],
            similarity: (!similarity.is_nan()).then_some(similarity),
            size: self.size[cluster as usize],
        }
    }

    /// `cluster` has the least member of each record's cluster, `centre` at each of these the centre;
    /// `refused` says how often two clusters would have been too large as one.
    pub(super) fn new(
        links: &Links,
        cluster: Vec<u32>,
        centre: Vec<u32>,
        refused: u64,
        ticker: &mut Ticker<impl FnMut()>,
    ) -> Result<Clusters> {
        let n = cluster.len();
        let mut size = filled_in_turns(n, 0u32, ticker)?;
        for &least in &cluster {
            ticker.step();
            size[least as usize] += 1;
        }
        let mut clusters = Clusters {
            cluster,
            centre,
            size,
            similarity: filled_in_turns(n, f64::NAN, ticker)?,
            refused,
        };
        clusters.compare(links, ticker);
        Ok(clusters)
    }

    /// Finds the similarities with the centres.
    fn compare(&mut self, links: &Links, ticker: &mut Ticker<impl FnMut()>) {
        self.similarity.fill(f64::NAN);
        for least in 0..links.records() {
            ticker.step();
            if self.size[least as usize] == 0 {
                continue;
            }
            let centre = self.centre[least as usize];
            self.similarity[centre as usize] = 1.0;
            for link in links.from(centre) {
                ticker.step();
                if self.cluster[link.to as usize] == least {
                    self.similarity[link.to as usize] = link.similarity;
                }
            }
        }
    }

    /// The same clusters, each with another record to keep, where one of it is among `kept`. Similarities are those
    /// with this record, as `links` have them.
    ///
    /// # Panics
    /// When there is no such record.
    pub fn keep(&mut self, kept: impl Iterator<Item = u32>, links: &Links, turn: impl FnMut()) {
        let ticker = &mut Ticker::new(turn);
        for record in kept {
            ticker.step();
            let least = self.cluster[record as usize];
            self.centre[least as usize] = record;
        }
        self.compare(links, ticker);
    }

    /// The clusters of a forest. A cluster's centre is the record with the greatest sum of similarities
    /// given within the cluster, of equals the least.
    pub(super) fn of_forest(
        links: &Links,
        forest: &mut Forest,
        refused: u64,
        ticker: &mut Ticker<impl FnMut()>,
    ) -> Result<Clusters> {
        let records = links.records();
        let cluster = least_members(records, |i| forest.find(i), ticker)?;
        let centre = representatives(links, &cluster, |_| true, ticker)?;
        Clusters::new(links, cluster, centre, refused, ticker)
    }
}

/// At the least member of each cluster the record that stands for it: of those that may, the one with the greatest sum
/// of similarities within the cluster, of equals the least.
///
/// Errors: out of memory.
pub(super) fn representatives(
    links: &Links,
    cluster: &[u32],
    may: impl Fn(u32) -> bool,
    ticker: &mut Ticker<impl FnMut()>,
) -> Result<Vec<u32>> {
    let mut centre = filled_in_turns(cluster.len(), NONE, ticker)?;
    let mut most = filled_in_turns(cluster.len(), 0u128, ticker)?;
    for i in (0..links.records()).filter(|&i| may(i)) {
        ticker.step();
        let least = cluster[i as usize];
        let inside = links.from(i).iter().inspect(|_| ticker.step());
        let inside = inside.filter(|link| cluster[link.to as usize] == least);
        let sum = inside.map(|link| u128::from(link.steps())).sum();
        let (centre, most) = (&mut centre[least as usize], &mut most[least as usize]);
        if *centre == NONE || sum > *most {
            (*centre, *most) = (i, sum);
        }
    }
    Ok(centre)
}

/// The least record with the same value of `of`, which is a record, for each record.
pub(super) fn least_members(
    records: u32,
    mut of: impl FnMut(u32) -> u32,
    ticker: &mut Ticker<impl FnMut()>,
) -> Result<Vec<u32>> {
    let mut least = filled_in_turns(records as usize, NONE, ticker)?;
    let of_each = (0..records).map(|i| {
        ticker.step();
        let least = &mut least[of(i) as usize];
        *least = i.min(*least);
        *least
    });
    collected(of_each, records as usize)
}

/// Clusters of all that is connected by pairs of at least `threshold`. A chain of similar records is one
/// cluster, however different its ends are. The centre is the record with the greatest sum of
/// similarities within the cluster, of equals the least. Where there are bounds, what is judged the same is joined
/// first, then pairs by falling similarity, equal ones by their records, as far as the bounds allow; then 16 bytes a
/// pair more.
///
/// Errors: a threshold outside 0…1, out of memory.
pub fn components(
    links: &Links,
    threshold: f64,
    bounds: &Bounds,
    turn: impl FnMut(),
) -> Result<Clusters> {
    unit("threshold", threshold)?;
    let ticker = &mut Ticker::new(turn);
    if !bounds.is_none() {
        let mut joining = bounds.joining(links.records(), ticker)?;
        for Pair { a, b, .. } in by_similarity(links, threshold, ticker)? {
            ticker.step();
            joining.join(a, b, ticker)?;
        }
        return Clusters::of_forest(links, &mut joining.forest, joining.refused, ticker);
    }
    let mut forest = connected(links, threshold, ticker)?;
    Clusters::of_forest(links, &mut forest, 0, ticker)
}

/// The pairs of at least `threshold`, by falling similarity, equal ones by their records.
///
/// Errors: out of memory.
fn by_similarity(
    links: &Links,
    threshold: f64,
    ticker: &mut Ticker<impl FnMut()>,
) -> Result<Vec<Pair>> {
    let mut pairs = Vec::new();
    reserve(&mut pairs, links.pairs())?;
    links.each_pair(threshold, ticker, |pair| {
        pairs.push(pair);
        Ok(())
    })?;
    sort_by_similarity(&mut pairs, ticker);
    Ok(pairs)
}

/// By falling similarity, equal ones by their records.
pub(super) fn sort_by_similarity(pairs: &mut [Pair], ticker: &mut Ticker<impl FnMut()>) {
    sort_by(pairs, ticker, |x, y| {
        let greatest_first = y.similarity.total_cmp(&x.similarity);
        greatest_first.then((x.a, x.b).cmp(&(y.a, y.b)))
    });
}

/// The least record that each record is connected with by the pairs, which is itself where there are none.
/// 12 bytes a record.
///
/// Errors: out of memory.
///
/// # Panics
/// When a pair names a record that is not below `records`.
pub fn labels(
    records: u32,
    pairs: impl IntoIterator<Item = (u32, u32)>,
    turn: impl FnMut(),
) -> Result<Vec<u32>> {
    let ticker = &mut Ticker::new(turn);
    let mut forest = Forest::new(records, ticker)?;
    for (a, b) in pairs {
        ticker.step();
        forest.join(a, b);
    }
    least_members(records, |i| forest.find(i), ticker)
}

/// Errors: out of memory.
pub(super) fn connected(
    links: &Links,
    threshold: f64,
    ticker: &mut Ticker<impl FnMut()>,
) -> Result<Forest> {
    let mut forest = Forest::new(links.records(), ticker)?;
    links.each_pair(threshold, ticker, |pair| {
        forest.join(pair.b, pair.a);
        Ok(())
    })?;
    Ok(forest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clusters::tests::{chain, check_method, links, SUMS};

    #[test]
    fn a_chain_is_connected() {
        let found = components(&chain(), 0.8, &Bounds::default(), || ()).unwrap();
        assert_eq!(found.labels(), [0, 0, 0, 0, 0, 5]);
        assert_eq!((found.count(), found.len()), (2, 6));
        let expected = |i, similarity| {
            let member = Member {
                cluster: 0,
                centre: 3,
                similarity,
                size: 5,
            };
            assert_eq!(found.member(i), member);
        };
        expected(0, None);
        expected(2, Some(0.9));
        expected(3, Some(1.0));
        let alone = found.member(5);
        assert_eq!(
            (alone.centre, alone.similarity, alone.size),
            (5, Some(1.0), 1)
        );
        let found = components(&chain(), 0.8f64.next_up(), &Bounds::default(), || ()).unwrap();
        assert_eq!(found.labels(), [0, 0, 2, 2, 2, 5]);
    }

    #[test]
    fn another_record_is_kept() {
        let links = chain();
        let mut found = components(&links, 0.8, &Bounds::default(), || ()).unwrap();
        let before = found.clone();
        found.keep([0].into_iter(), &links, || ());
        assert_eq!(found.labels(), before.labels());
        let of = |i| (found.member(i).centre, found.member(i).similarity);
        assert_eq!([of(0), of(1)], [(0, Some(1.0)), (0, Some(0.9))]);
        assert_eq!([of(3), of(5)], [(0, None), (5, Some(1.0))]);
        found.keep([3].into_iter(), &links, || ());
        assert!((0..6).all(|i| found.member(i) == before.member(i)));
    }

    #[test]
    fn labels_are_the_least_members() {
        let pairs = [(4, 2), (5, 0), (2, 5), (3, 3)];
        assert_eq!(labels(6, pairs, || ()).unwrap(), [0, 1, 0, 3, 0, 0]);
        assert!(labels(0, [], || ()).unwrap().is_empty());
    }

    #[test]
    fn sums_in_another_order_are_no_other_sums() {
        let found = components(&links(5, &SUMS), 0.1, &Bounds::default(), || ()).unwrap();
        assert_eq!(found.member(4).centre, 0);
    }

    #[test]
    fn nothing_odd_thresholds_and_turns() {
        check_method(|links, t, turn| components(links, t, &Bounds::default(), turn));
    }
}
