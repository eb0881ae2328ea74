//! What a kernel scans.

/// Rows of as many words as the query, their popcounts, and for each
/// popcount the common bits that make a hit.
pub struct PackedScan<'a> {
    pub(super) words: &'a [u64],
    pub(super) popcounts: &'a [u32],
    pub(super) query: &'a [u64],
    /// Indexed by popcount; `u32::MAX` where no row of that popcount can reach the threshold.
    pub(super) limits: &'a [u32],
    pub(super) threshold: f64,
}

impl<'a> PackedScan<'a> {
    /// `limits` has for each popcount the common bits that Jaccard similarity `threshold`, which is finite, takes
    /// (`u32::MAX`: out of reach).
    ///
    /// # Panics
    /// If there are not as many words for each row, or popcount, as the query has.
    pub(crate) fn new(
        words: &'a [u64],
        popcounts: &'a [u32],
        query: &'a [u64],
        limits: &'a [u32],
        threshold: f64,
    ) -> PackedScan<'a> {
        assert_eq!(
            words.len(),
            popcounts.len() * query.len(),
            "a popcount a row"
        );
        PackedScan {
            words,
            popcounts,
            query,
            limits,
            threshold,
        }
    }

    /// Runs `intersect` over the rows from number `first` on.
    #[inline(always)]
    pub(super) fn rows(
        &self,
        first: usize,
        mut intersect: impl FnMut(&[u64]) -> u32,
        hit: &mut dyn FnMut(usize, u32),
    ) {
        let width = self.query.len();
        let rows = self.words[first * width..].chunks_exact(width);
        for (i, (row, &popcount)) in rows.zip(&self.popcounts[first..]).enumerate() {
            let common = intersect(row);
            if common >= self.limit(popcount) {
                hit(first + i, common);
            }
        }
    }

    /// The common bits that a row of so many bits takes; one of more bits than there are reaches nothing.
    #[inline(always)]
    fn limit(&self, popcount: u32) -> u32 {
        self.limits
            .get(popcount as usize)
            .copied()
            .unwrap_or(u32::MAX)
    }

    /// Reports row `i` if its common bits reach the limit.
    pub(super) fn check(&self, i: usize, common: u32, hit: &mut dyn FnMut(usize, u32)) {
        if common >= self.limit(self.popcounts[i]) {
            hit(i, common);
        }
    }

    /// t/(1+t): the common bits that similarity t takes, of the sum of both popcounts.
    pub(super) fn slope(&self) -> f32 {
        (self.threshold / (1.0 + self.threshold)) as f32
    }

    /// Set bits of the query.
    pub(super) fn query_popcount(&self) -> u32 {
        self.query.iter().map(|w| w.count_ones()).sum()
    }
}
