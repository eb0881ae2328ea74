//! What a search asks of a row: integers only, found by testing the float8 quotient, since a
//! closed form alone loses rows (see [`LeastCommon`]).

use super::rows::{Geometry, RowPage};
use signature::bits::{intersect_words, scan, PackedScan};
use signature::similarity::{LeastCommon, Measure, Popcounts};
use std::ops::RangeInclusive;

/// A signature and the similarity from which rows are found.
#[derive(Clone, Debug)]
pub struct Query {
    measure: Measure,
    words: Vec<u64>,
    popcount: u32,
    threshold: f64,
    /// For each popcount of a row the common bits that it takes, `u32::MAX` where none suffice;
    /// the last entry stands for null signatures.
    limits: Vec<u32>,
    /// What [`Measure::bound`] says of them.
    bound: (f32, f32),
    /// Common bits at least, and bits at most that only a row has, whatever its popcount.
    within: (u32, u32),
    /// Least and greatest popcount that can reach the threshold; none where least > greatest.
    window: (u32, u32),
}

impl Query {
    /// `words` has the geometry's stride. Any threshold will do; NaN finds nothing.
    pub fn new(geometry: &Geometry, words: &[u64], threshold: f64) -> Query {
        let mut query = Query {
            measure: geometry.measure,
            words: words.to_vec(),
            popcount: words.iter().map(|w| w.count_ones()).sum(),
            threshold,
            limits: vec![u32::MAX; geometry.bits as usize + 2],
            bound: (0.0, 0.0),
            within: (0, u32::MAX),
            window: (1, 0),
        };
        query.raise(threshold);
        query
    }

    /// A query of what has no bits that could be compared, by [`Measure::Agreement`]: it is similar by 0 to everything.
    pub fn without_bits(geometry: &Geometry, threshold: f64) -> Query {
        Query::of_popcount(geometry, geometry.null_popcount(), threshold)
    }

    /// Any query of so many bits: to plan with, not to search with.
    pub fn of_popcount(geometry: &Geometry, popcount: u32, threshold: f64) -> Query {
        let mut query = Query::new(geometry, &vec![0; geometry.stride], f64::NAN);
        query.popcount = popcount;
        query.raise(threshold);
        query
    }

    /// Asks besides for so many common bits, and so few that only a row has.
    pub fn restrict(&mut self, least_common: u32, most_others: u32) {
        self.within = (least_common, most_others);
        self.raise(self.threshold);
    }

    /// Sets another threshold.
    pub fn raise(&mut self, threshold: f64) {
        self.threshold = threshold;
        self.bound = self.measure.bound(self.popcount, threshold);
        let most = match self.measure {
            Measure::Jaccard => self.limits.len() as u32 - 2,
            // Rows without bits are among those that are searched.
            Measure::Agreement { .. } => self.limits.len() as u32 - 1,
        };
        let (lo, hi) = self.window;
        if lo <= hi {
            self.limits[lo as usize..=hi as usize].fill(u32::MAX);
        }
        self.window = (1, 0);
        let start = self.popcount.min(most);
        let least = LeastCommon::new(self.measure, threshold);
        // the greatest similarity that a popcount allows falls on both sides of the query's own
        let (least_common, most_others) = self.within;
        let mut set = |popcount: u32| match least.bits(self.popcount, popcount) {
            Some(least) => {
                let least = least
                    .max(least_common)
                    .max(popcount.saturating_sub(most_others));
                let can = least <= self.popcount.min(popcount);
                if can {
                    self.limits[popcount as usize] = least;
                }
                can
            }
            None => false,
        };
        if !set(start) {
            return;
        }
        let lo = (0..start).rev().take_while(|&c| set(c)).last();
        let hi = (start + 1..=most).take_while(|&c| set(c)).last();
        self.window = (lo.unwrap_or(start), hi.unwrap_or(start));
    }

    /// Asks for another signature, of `popcount` set bits, with the same threshold. Cheap if it has as many as the
    /// last.
    pub fn replace(&mut self, words: &[u64], popcount: u32) {
        self.words.copy_from_slice(words);
        if popcount != self.popcount {
            self.popcount = popcount;
            self.raise(self.threshold);
        }
    }

    /// How rows are compared.
    pub fn measure(&self) -> Measure {
        self.measure
    }

    /// The bits.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Set bits.
    pub fn popcount(&self) -> u32 {
        self.popcount
    }

    /// The least similarity of a row that is found.
    pub fn threshold(&self) -> f64 {
        self.threshold
    }

    /// Popcounts that can reach the threshold, `None` if no row can: the popcount bound, min(|Q|,|B|)/max(|Q|,|B|) ≥ t
    /// (S. J. Swamidass, P. Baldi: Bounds and Algorithms for Fast Exact Searches of Chemical Fingerprints in Linear and
    /// Sublinear Time, J. Chem. Inf. Model. 47, 2007).
    pub fn window(&self) -> Option<(u32, u32)> {
        (self.window.0 <= self.window.1).then_some(self.window)
    }

    /// In how many bits a row of `popcount` set bits, within the window, can differ and still reach
    /// the threshold: |Q|+|B|−2I with I the least common bits that do.
    pub fn radius(&self, popcount: u32) -> u32 {
        self.popcount + popcount - 2 * self.limits[popcount as usize]
    }

    /// The greatest [`radius`](Query::radius) of these popcounts, of those that can reach the threshold.
    pub fn greatest_radius(&self, popcounts: RangeInclusive<u32>) -> Option<u32> {
        let (lo, hi) = self.window;
        let can = *popcounts.start().max(&lo)..=*popcounts.end().min(&hi);
        can.map(|popcount| self.radius(popcount)).max()
    }

    /// The common bits of a row that reaches the threshold.
    #[inline]
    pub fn hit(&self, words: &[u64], popcount: u32) -> Option<u32> {
        let least = self.limits.get(popcount as usize).copied()?;
        if least == u32::MAX {
            return None;
        }
        let common = intersect_words(words, &self.words);
        (common >= least).then_some(common)
    }

    /// Calls `hit` with number and common bits of the rows among `from..to` of a page that reach
    /// the threshold.
    pub fn scan(
        &self,
        page: &RowPage<'_>,
        from: usize,
        to: usize,
        mut hit: impl FnMut(usize, u32),
    ) {
        if from >= to {
            return;
        }
        let (words, popcounts) = (page.words(from, to), &page.popcounts()[from..to]);
        self.scan_words(words, popcounts, |i, common| hit(from + i, common));
    }

    /// The same for rows of which many have other popcounts than the query can find.
    pub fn scan_mixed(
        &self,
        page: &RowPage<'_>,
        from: usize,
        to: usize,
        mut hit: impl FnMut(usize, u32),
    ) {
        if from >= to {
            return;
        }
        let (words, popcounts) = (page.words(from, to), &page.popcounts()[from..to]);
        if let (Some(rows), Some(window)) = (self.packed(words, popcounts), self.window()) {
            scan(&rows.within(window), &mut |i, common| hit(from + i, common));
        }
    }

    /// The same for rows that are side by side, with their popcounts.
    pub fn scan_words(&self, words: &[u64], popcounts: &[u32], mut hit: impl FnMut(usize, u32)) {
        if let Some(rows) = self.packed(words, popcounts) {
            scan(&rows, &mut hit);
        }
    }

    /// What a kernel scans; nothing if no row can be found.
    fn packed<'a>(&'a self, words: &'a [u64], popcounts: &'a [u32]) -> Option<PackedScan<'a>> {
        self.window()?;
        let (own, limits, bound) = (&self.words, &self.limits, self.bound);
        Some(PackedScan::new(words, popcounts, own, limits, bound))
    }

    /// Similarity of the query to a row.
    pub fn similarity(&self, popcount: u32, common: u32) -> f64 {
        self.measure.similarity(Popcounts {
            a: self.popcount,
            b: popcount,
            common,
        })
    }
}
