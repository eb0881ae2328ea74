//! Clusters of records that are near a centre.

use std::cmp::Reverse;

use super::bounds::{Bounds, Joining};
use super::components::{least_members, representatives, sort_by_similarity, Clusters, NONE};
use super::forest::numbers;
use super::links::{Link, Links, Pair};
use base::memory::{collected, filled_in_turns, push};
use base::range::unit;
use base::sort::sort_by;
use base::Result;
use base::Ticker;

/// Clusters around centres: every member's similarity to its centre is at least `threshold`, so chains
/// break, and no two centres are that similar. Records become centres in the order of their neighbours'
/// number, most first (then by the sum of similarities, greatest first, then by number), unless
/// they are a neighbour of one already (J. A. Aslam, E. Pelekhov, D. Rus: The Star Clustering
/// Algorithm for Static and Dynamic Information Organization, JGAA 8, 2004). Then each other record goes to
/// the most similar centre, of equals to the least.
///
/// Where there are bounds, records judged the same are one, as similar to others as the most similar of them, and go to
/// a centre by falling similarity, as far as the bounds allow. Those that may go to none begin anew among themselves.
/// Of a cluster's centre that is several records the one with the greatest sum of similarities within the cluster
/// stands for it. 60 bytes a pair more.
///
/// Errors: a threshold outside 0…1, out of memory.
pub fn centres(
    links: &Links,
    threshold: f64,
    bounds: &Bounds,
    turn: impl FnMut(),
) -> Result<Clusters> {
    unit("threshold", threshold)?;
    let ticker = &mut Ticker::new(turn);
    if !bounds.is_none() {
        return within(links, threshold, bounds, ticker);
    }
    let near = |i: u32| links.from(i).iter().filter(|l| l.similarity >= threshold);
    let all = numbers(links.records(), ticker)?;
    let order = by_weight(&all, near, ticker)?;
    drop(all);
    let mut centre = stars(links.records(), &order, near, ticker)?;
    for &i in &order {
        ticker.step();
        if centre[i as usize] == i {
            continue;
        }
        let mut most = -1.0;
        for link in near(i) {
            ticker.step();
            if link.similarity > most && centre[link.to as usize] == link.to {
                most = link.similarity;
                centre[i as usize] = link.to;
            }
        }
    }
    drop(order);
    for (of, i) in centre.iter_mut().zip(0..) {
        ticker.step();
        if *of == NONE {
            *of = i;
        }
    }
    let cluster = least_members(links.records(), |i| centre[i as usize], ticker)?;
    Clusters::new(links, cluster, centre, 0, ticker)
}

/// For each record a centre that is near, or itself if it is one; [`NONE`] for those that are not in the order.
fn stars<'a, N: Iterator<Item = &'a Link>>(
    records: u32,
    order: &[u32],
    near: impl Fn(u32) -> N,
    ticker: &mut Ticker<impl FnMut()>,
) -> Result<Vec<u32>> {
    let mut centre = filled_in_turns(records as usize, NONE, ticker)?;
    for &i in order {
        ticker.step();
        if centre[i as usize] != NONE {
            continue;
        }
        centre[i as usize] = i;
        for link in near(i) {
            ticker.step();
            let of = &mut centre[link.to as usize];
            if *of == NONE {
                *of = i;
            }
        }
    }
    Ok(centre)
}

/// The same within bounds.
fn within(
    links: &Links,
    threshold: f64,
    bounds: &Bounds,
    ticker: &mut Ticker<impl FnMut()>,
) -> Result<Clusters> {
    let n = links.records();
    let mut joining = bounds.joining(n, ticker)?;
    // of records judged the same the least stands for all
    let one = least_members(n, |i| joining.forest.find(i), ticker)?;
    let ones = contracted(links, threshold, &one, &mut joining, ticker)?;
    let mut centre_of = numbers(n, ticker)?;
    let mut open = filled_in_turns(n as usize, true, ticker)?;
    let mut left = collected((0..n).filter(|&i| !ones.from(i).is_empty()), n as usize)?;
    loop {
        let near = |i: u32| ones.from(i).iter().filter(|link| open[link.to as usize]);
        let order = by_weight(&left, near, ticker)?;
        if order.is_empty() {
            break;
        }
        let centre = stars(n, &order, near, ticker)?;
        let is_centre = |i: u32| centre[i as usize] == i;
        let mut offers = Vec::new();
        for &b in order.iter().filter(|&&b| !is_centre(b)) {
            let to_centres = near(b).filter(|link| is_centre(link.to));
            for &Link { to: a, similarity } in to_centres {
                ticker.step();
                push(&mut offers, Pair { a, b, similarity })?;
            }
        }
        sort_by_similarity(&mut offers, ticker);
        for &i in order.iter().filter(|&&i| is_centre(i)) {
            open[i as usize] = false;
        }
        for Pair { a, b, .. } in offers {
            ticker.step();
            if open[b as usize] && joining.join(a, b, ticker)? {
                open[b as usize] = false;
                centre_of[b as usize] = a;
            }
        }
        left.retain(|&i| open[i as usize]);
    }
    let cluster = least_members(n, |i| joining.forest.find(i), ticker)?;
    // a centre may be several records: those that are one with it may stand for it
    let is_centre = |i: u32| centre_of[one[i as usize] as usize] == one[i as usize];
    let centre = representatives(links, &cluster, is_centre, ticker)?;
    Clusters::new(links, cluster, centre, joining.refused, ticker)
}

/// The pairs of at least `threshold` between records that stand for all that are judged the same, without those that
/// must stay apart.
///
/// Errors: out of memory.
fn contracted(
    links: &Links,
    threshold: f64,
    one: &[u32],
    joining: &mut Joining,
    ticker: &mut Ticker<impl FnMut()>,
) -> Result<Links> {
    let mut pairs = Vec::new();
    links.each_pair(threshold, ticker, |pair| {
        let [a, b] = [pair.a, pair.b].map(|record| one[record as usize]);
        match a != b && !joining.are_apart(a, b) {
            true => push(&mut pairs, Pair { a, b, ..pair }),
            false => Ok(()),
        }
    })?;
    Links::new(links.records(), &pairs, || ticker.turn())
}

/// Those of `records` that have neighbours, by the number of these, then by the sum of similarities, then in their
/// order.
fn by_weight<'a, N: Iterator<Item = &'a Link>>(
    records: &[u32],
    near: impl Fn(u32) -> N,
    ticker: &mut Ticker<impl FnMut()>,
) -> Result<Vec<u32>> {
    let mut neighbours = filled_in_turns(records.len(), 0u32, ticker)?;
    let mut sums = filled_in_turns(records.len(), 0u128, ticker)?;
    for (at, &i) in records.iter().enumerate() {
        ticker.step();
        for link in near(i) {
            ticker.step();
            neighbours[at] += 1;
            sums[at] += u128::from(link.steps());
        }
    }
    let with_neighbours = (0..records.len() as u32).filter(|&at| neighbours[at as usize] > 0);
    let mut order = collected(with_neighbours, records.len())?;
    let key = |at: u32| {
        let at = at as usize;
        (Reverse((neighbours[at], sums[at])), records[at])
    };
    sort_by(&mut order, ticker, |&x, &y| key(x).cmp(&key(y)));
    for at in &mut order {
        *at = records[*at as usize];
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clusters::tests::{chain, check_method, links, SUMS};

    #[test]
    fn a_chain_breaks_around_centres() {
        let found = centres(&chain(), 0.8, &Bounds::default(), || ()).unwrap();
        assert_eq!(found.labels(), [0, 0, 2, 2, 2, 5]);
        let centre: Vec<u32> = (0..6).map(|i| found.member(i).centre).collect();
        assert_eq!(centre, [1, 1, 3, 3, 3, 5]);
        assert!((0..6).all(|i| found.member(i).similarity >= Some(0.8)));
    }

    #[test]
    fn the_nearest_centre_may_be_another_than_the_first() {
        let pairs = [
            (0, 1, 0.7),
            (0, 2, 0.7),
            (0, 3, 0.7),
            (3, 4, 0.9),
            (4, 5, 0.9),
        ];
        let nearest = centres(&links(6, &pairs), 0.5, &Bounds::default(), || ()).unwrap();
        assert_eq!(nearest.labels(), [0, 0, 0, 3, 3, 3]);
        assert_eq!(nearest.member(3).centre, 4);
    }

    #[test]
    fn sums_in_another_order_are_no_other_sums() {
        let found = centres(&links(5, &SUMS), 0.1, &Bounds::default(), || ()).unwrap();
        assert_eq!(found.member(2).centre, 0);
    }

    #[test]
    fn nothing_odd_thresholds_and_turns() {
        check_method(|links, t, turn| centres(links, t, &Bounds::default(), turn));
    }
}
