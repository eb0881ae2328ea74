//! Rows that are compared with each other and with no others: those of a group, such as a tenant, which are few.

use crate::sigfile::query::Query;
use crate::sigfile::rows::{Geometry, SignatureRow};
use crate::{Error, Result};

/// The rows of a group, in the order of their popcounts.
pub struct RowGroup {
    geometry: Geometry,
    words: Vec<u64>,
    popcounts: Vec<u32>,
}

impl RowGroup {
    /// For more rows than that, lists of rows with equal values are quicker: comparing takes some 10 ns for two rows of 301 bits, or less.
    pub const MOST: usize = 20_000;

    /// No rows.
    pub fn new(geometry: Geometry) -> RowGroup {
        RowGroup {
            geometry,
            words: Vec::new(),
            popcounts: Vec::new(),
        }
    }

    /// Adds a row with a signature, which has no fewer bits than the one before.
    ///
    /// Errors: out of memory; a row that cannot be, or comes too late.
    pub fn push(&mut self, row: SignatureRow<'_>) -> Result<()> {
        row.check(&self.geometry)?;
        let last = self.popcounts.last().copied().unwrap_or(0);
        if row.popcount < last || row.popcount > self.geometry.bits {
            let popcount = row.popcount;
            return Err(Error::damaged(format!(
                "a row of popcount {popcount} comes behind one of {last}"
            )));
        }
        let bytes = size_of_val(row.words) + size_of::<u32>();
        self.words
            .try_reserve(row.words.len())
            .and_then(|()| self.popcounts.try_reserve(1))
            .map_err(|_| Error::out_of_memory(bytes))?;
        self.words.extend_from_slice(row.words);
        self.popcounts.push(row.popcount);
        Ok(())
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.popcounts.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.popcounts.is_empty()
    }

    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.words.clear();
        self.popcounts.clear();
    }

    /// Calls `hit` with the numbers of two rows and their similarity, for every two that reach the threshold, the lower number first.
    /// `turn` is called for each row.
    pub fn join(
        &self,
        threshold: f64,
        mut turn: impl FnMut(),
        mut hit: impl FnMut(usize, usize, f64),
    ) {
        let stride = self.geometry.stride;
        let mut query = Query::new(&self.geometry, &vec![0; stride], threshold);
        for (i, words) in self.words.chunks_exact(stride).enumerate() {
            turn();
            query.replace(words, self.popcounts[i]);
            let Some((_, most)) = query.window() else {
                continue;
            };
            let behind = i + 1;
            let end = behind + self.popcounts[behind..].partition_point(|&c| c <= most);
            let (words, popcounts) = (
                &self.words[behind * stride..end * stride],
                &self.popcounts[behind..end],
            );
            query.scan_words(words, popcounts, |n, common| {
                hit(i, behind + n, query.similarity(popcounts[n], common));
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::Popcounts;
    use proptest::prelude::*;

    proptest! {
        /// Every pair of similar rows is found, once.
        #[test]
        fn all_pairs_are_found(
            bits in prop_oneof![Just(5u32), Just(64), Just(301)],
            seeds in prop::collection::vec((any::<[u64; 5]>(), 0usize..40, 0u32..301), 0..80),
            threshold in 0.0..1.0f64,
        ) {
            let geometry = Geometry::new(1019, bits, false).unwrap();
            let mut rows: Vec<Vec<u64>> = vec![];
            for (seed, near, flip) in &seeds {
                let mut row: Vec<u64> = match rows.get(*near) {
                    Some(other) => other.clone(),
                    None => seed[..geometry.stride].to_vec(),
                };
                row[(flip % bits / 64) as usize] ^= 1 << (flip % bits % 64);
                if bits % 64 > 0 {
                    *row.last_mut().unwrap() &= (1 << (bits % 64)) - 1;
                }
                rows.push(row);
            }
            let count = |row: &[u64]| row.iter().map(|w| w.count_ones()).sum::<u32>();
            rows.sort_by_key(|row| count(row));
            let mut group = RowGroup::new(geometry);
            for words in &rows {
                let (popcount, threshold, key, tid) = (count(words), 0.0, 3, 1);
                let row = SignatureRow { words, popcount, threshold, key, tid };
                group.push(row).unwrap();
            }
            for t in [threshold, 0.0, 0.8, 1.0, 2.0, f64::NAN] {
                let (mut found, mut wanted) = (vec![], vec![]);
                group.join(t, || (), |i, j, similarity| found.push((i, j, similarity)));
                for (j, b) in rows.iter().enumerate() {
                    for (i, a) in rows[..j].iter().enumerate() {
                        let common = a.iter().zip(b).map(|(x, y)| (x & y).count_ones()).sum();
                        let similarity = Popcounts { a: count(a), b: count(b), common }.jaccard();
                        if similarity >= t {
                            wanted.push((i, j, similarity));
                        }
                    }
                }
                found.sort_by_key(|pair| (pair.1, pair.0));
                prop_assert_eq!(found, wanted);
            }
        }
    }
}
