//! A sample of pairs that has as many of each band as can be, and is the same whatever order they come in.

use std::collections::BinaryHeap;

/// A pair in a band, by what decides whether it stays: the least priorities do.
type BandPair<T> = (u64, T);

/// Takes pairs, and keeps those of the least priorities in each band: as many of each as there is room for, all of the
/// small bands.
pub struct BandSample<T> {
    most: usize,
    /// Of no band more than so many are kept.
    level: usize,
    bands: Vec<BinaryHeap<BandPair<T>>>,
    held: usize,
}

impl<T: Ord> BandSample<T> {
    /// Of so many bands, at most `most` pairs in all.
    pub fn new(bands: usize, most: usize) -> BandSample<T> {
        BandSample {
            most,
            level: most,
            bands: (0..bands).map(|_| BinaryHeap::new()).collect(),
            held: 0,
        }
    }

    /// Takes a pair. Its priority is a hash of what it is, and no number that its place among the others gives it.
    pub fn offer(&mut self, band: usize, priority: u64, pair: T) {
        let heap = &mut self.bands[band];
        if heap.len() < self.level {
            heap.push((priority, pair));
            self.held += 1;
            if self.held > 2 * self.most {
                self.lower();
            }
        } else if let Some(mut last) = heap.peek_mut() {
            if priority < last.0 {
                *last = (priority, pair);
            }
        }
    }

    /// Lowers what each band may keep, so that all of them together have one pair a band too many at most.
    fn lower(&mut self) {
        self.level = level(&self.sizes(), self.most) + 1;
        for heap in &mut self.bands {
            while heap.len() > self.level {
                heap.pop();
            }
        }
        self.held = self.sizes().iter().sum();
    }

    fn sizes(&self) -> Vec<usize> {
        self.bands.iter().map(BinaryHeap::len).collect()
    }

    /// The pairs, band by band. What is left over when all bands have the same goes to the last ones.
    pub fn finish(self) -> Vec<T> {
        let sizes = self.sizes();
        let level = level(&sizes, self.most);
        let taken: usize = sizes.iter().map(|size| (*size).min(level)).sum();
        let mut over = self.most - taken;
        let mut bands: Vec<Vec<T>> = Vec::new();
        for heap in self.bands.into_iter().rev() {
            let more = usize::from(over > 0 && heap.len() > level);
            over -= more;
            let mut held = heap.into_sorted_vec();
            held.truncate(level + more);
            bands.push(held.into_iter().map(|(_, pair)| pair).collect());
        }
        bands.into_iter().rev().flatten().collect()
    }
}

/// The greatest number of which each band may have as many, so that all of them have `most` together.
fn level(sizes: &[usize], most: usize) -> usize {
    let mut sorted = sizes.to_vec();
    sorted.sort_unstable();
    let (mut left, mut level) = (most, most);
    for (i, size) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - i);
        level = share;
        if *size > share {
            return level;
        }
        left -= size;
        level = most;
    }
    level
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn levels() {
        assert_eq!(level(&[1, 100, 100], 61), 30);
        assert_eq!(level(&[5, 5], 10), 10);
        assert_eq!(level(&[], 10), 10);
        assert_eq!(level(&[100], 7), 7);
        assert_eq!(level(&[0, 3, 9, 9], 13), 5);
    }

    proptest! {
        #[test]
        fn any_order_gives_the_same(
            sizes in proptest::collection::vec(0usize..60, 1..8),
            most in 0usize..50,
            shift in any::<u64>(),
        ) {
            let mut all: Vec<(usize, u64)> = Vec::new();
            for (band, size) in sizes.iter().enumerate() {
                all.extend((0..*size as u64).map(|i| (band, (i * 7 + band as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15))));
            }
            let sample = |all: &[(usize, u64)]| {
                let mut sample = BandSample::new(sizes.len(), most);
                all.iter().for_each(|&(band, hash)| sample.offer(band, hash, (band, hash)));
                sample.finish()
            };
            let first = sample(&all);
            all.sort_by_key(|&(band, hash)| hash.rotate_left(13) ^ shift.wrapping_add(band as u64));
            prop_assert_eq!(&sample(&all), &first);
            prop_assert_eq!(first.len(), most.min(all.len()));
            // No band has two pairs less than another one if it has more of them.
            let taken = |band| first.iter().filter(|pair| pair.0 == band).count();
            for (a, size) in sizes.iter().enumerate() {
                for b in 0..sizes.len() {
                    prop_assert!(taken(a) == *size || taken(a) + 1 >= taken(b));
                }
            }
        }
    }
}
