//! Clusters of records that are near a centre.

use std::cmp::Reverse;

use super::components::{least_members, Clusters, NONE};
use super::links::{Link, Links};
use super::memory::{filled, reserve};
use crate::range::unit;
use crate::tick::Ticker;
use crate::Result;

/// Which centre a record belongs to that is near several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The one that became a centre first.
    First,
    /// The most similar; of equals the least.
    Nearest,
}

/// Clusters around centres: every member's similarity to its centre is at least `threshold`, so chains
/// break, and no two centres are that similar. Records become centres in the order of their neighbours'
/// number, most first (then by the sum of similarities, greatest first, then by number), unless
/// they are a neighbour of one already (J. A. Aslam, E. Pelekhov, D. Rus: The Star Clustering
/// Algorithm for Static and Dynamic Information Organization, JGAA 8, 2004).
///
/// Errors: a threshold outside 0…1, out of memory.
pub fn centres(
    links: &Links,
    threshold: f64,
    choice: Choice,
    turn: impl FnMut(),
) -> Result<Clusters> {
    unit("threshold", threshold)?;
    let ticker = &mut Ticker::new(turn);
    let near = |i: u32| links.of(i).iter().filter(|l| l.similarity >= threshold);
    let order = by_weight(links, near, ticker)?;
    let mut centre = filled(links.records() as usize, NONE, ticker)?;
    for &i in &order {
        ticker.step();
        if centre[i as usize] == NONE {
            centre[i as usize] = i;
            for link in near(i) {
                ticker.step();
                let of = &mut centre[link.to as usize];
                if *of == NONE {
                    *of = i;
                }
            }
        }
    }
    if choice == Choice::Nearest {
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
    }
    drop(order);
    for (of, i) in centre.iter_mut().zip(0..) {
        ticker.step();
        if *of == NONE {
            *of = i;
        }
    }
    let cluster = least_members(links.records(), |i| centre[i as usize], ticker)?;
    Clusters::new(links, cluster, centre, ticker)
}

/// The records that have neighbours, by the number of these, then by the sum of similarities.
fn by_weight<'a, N: Iterator<Item = &'a Link>>(
    links: &Links,
    near: impl Fn(u32) -> N,
    ticker: &mut Ticker<impl FnMut()>,
) -> Result<Vec<u32>> {
    let n = links.records() as usize;
    let mut neighbours = filled(n, 0u32, ticker)?;
    let mut sums = filled(n, 0u128, ticker)?;
    let mut some = 0;
    for i in 0..links.records() {
        ticker.step();
        for link in near(i) {
            ticker.step();
            neighbours[i as usize] += 1;
            sums[i as usize] += u128::from(link.steps());
        }
        some += usize::from(neighbours[i as usize] > 0);
    }
    let mut order = Vec::new();
    reserve(&mut order, some)?;
    order.extend((0..links.records()).filter(|&i| neighbours[i as usize] > 0));
    let key = |i: u32| (Reverse((neighbours[i as usize], sums[i as usize])), i);
    order.sort_unstable_by(|&x, &y| {
        ticker.step();
        key(x).cmp(&key(y))
    });
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clusters::examples::{chain, links};

    #[test]
    fn a_chain_breaks_around_centres() {
        let found = centres(&chain(), 0.8, Choice::First, || ()).unwrap();
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
        let first = centres(&links(6, &pairs), 0.5, Choice::First, || ()).unwrap();
        assert_eq!(first.labels(), [0, 0, 0, 0, 4, 4]);
        let nearest = centres(&links(6, &pairs), 0.5, Choice::Nearest, || ()).unwrap();
        assert_eq!(nearest.labels(), [0, 0, 0, 3, 3, 3]);
        assert_eq!(nearest.member(3).centre, 4);
    }

    #[test]
    fn sums_in_another_order_are_no_other_sums() {
        // 0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 differ in float8
        let pairs = [
            (0, 2, 0.3),
            (0, 3, 0.2),
            (0, 4, 0.1),
            (1, 2, 0.1),
            (1, 3, 0.2),
            (1, 4, 0.3),
        ];
        for choice in [Choice::First, Choice::Nearest] {
            let found = centres(&links(5, &pairs), 0.1, choice, || ()).unwrap();
            assert_eq!(found.member(2).centre, 0);
        }
    }

    #[test]
    fn nothing_and_odd_thresholds() {
        let none = links(0, &[]);
        assert!(centres(&none, 0.5, Choice::Nearest, || ())
            .unwrap()
            .is_empty());
        for t in [-0.1, 1.1, f64::NAN] {
            assert!(centres(&none, t, Choice::First, || ()).is_err());
        }
    }

    #[test]
    fn the_caller_has_its_turns() {
        let pairs: Vec<_> = (1..100_000).map(|i| (0, i, 0.9)).collect();
        let mut turns = 0;
        let links = links(100_000, &pairs);
        centres(&links, 0.8, Choice::Nearest, || turns += 1).unwrap();
        assert!(turns >= 8, "{turns}");
    }
}
