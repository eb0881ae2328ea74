//! Signatures of a sample side by side, so that a query is compared with thousands of them in some microseconds.
//!
//! Packed as words: `[rows, runs, then for each run its shape's tag and its rows, then for each run the bits of its
//! rows and their popcounts (two a word)]`. A run has signatures of one shape.

use crate::bits::{scan, to_words, PackedScan};
use crate::filter::{Shape, View};
use crate::similarity::{Measure, Popcounts};
use crate::{Error, Result};

/// Words of a signature with this tag.
fn stride(tag: u64) -> usize {
    Shape::of_tag(tag).m().div_ceil(64) as usize
}

/// Packs signatures, which keep their order. Those of one shape should be side by side.
///
/// Errors: out of memory.
pub fn pack(signatures: &[View<'_>]) -> Result<Vec<u64>> {
    let runs = || signatures.chunk_by(|a, b| a.tag() == b.tag());
    let size_of = |run: &[View<'_>]| run.len() * stride(run[0].tag()) + run.len().div_ceil(2);
    let size = 2 + runs().map(|run| 2 + size_of(run)).sum::<usize>();
    let mut words = Vec::new();
    words
        .try_reserve_exact(size)
        .map_err(|_| Error::out_of_memory(8 * size))?;
    words.extend([signatures.len() as u64, runs().count() as u64]);
    words.extend(runs().flat_map(|run| [run[0].tag(), run.len() as u64]));
    for run in runs() {
        let stride = stride(run[0].tag());
        run.iter()
            .for_each(|s| to_words(s.bits(), stride, &mut words));
        words.extend(run.chunks(2).map(|two| {
            let high = two.get(1).map_or(0, View::popcount);
            u64::from(two[0].popcount()) | u64::from(high) << 32
        }));
    }
    Ok(words)
}

/// Appends all bytes of a signature, the last word filled up with zeros.
pub fn append(signature: &View<'_>, to: &mut Vec<u64>) {
    to_words(signature.bytes(), signature.bytes().len().div_ceil(8), to);
}

/// A signature of `size` bytes that [`append`] has appended, from its first word on.
pub fn appended(words: &[u64], size: usize) -> Option<View<'_>> {
    View::stored(&bytemuck::cast_slice(words)[..size])
}

/// What [`pack`] has packed.
#[derive(Clone, Copy)]
pub struct Packed<'a>(&'a [u64]);

/// Signatures of one shape.
struct ShapeRun<'a> {
    /// Number of the first.
    first: usize,
    words: &'a [u64],
    popcounts: &'a [u32],
}

impl<'a> Packed<'a> {
    /// `words` are those of [`pack`].
    pub fn of(words: &'a [u64]) -> Packed<'a> {
        Packed(words)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0[0] as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The runs of signatures with this tag.
    fn runs(&self, tag: u64) -> impl Iterator<Item = ShapeRun<'a>> {
        let (heads, mut rest) = self.0[2..].split_at(2 * self.0[1] as usize);
        let mut first = 0;
        heads.chunks_exact(2).filter_map(move |head| {
            let rows = head[1] as usize;
            let (words, after) = rest.split_at(rows * stride(head[0]));
            let (popcounts, after) = after.split_at(rows.div_ceil(2));
            rest = after;
            let run = ShapeRun {
                first,
                words,
                popcounts: &bytemuck::cast_slice(popcounts)[..rows],
            };
            first += rows;
            (head[0] == tag).then_some(run)
        })
    }

    /// Calls `hit` with the numbers and similarities of the signatures that reach `least`, and perhaps with some below; those of another
    /// shape are similar to none. `words` are those of the query.
    fn scan(&self, query: &View<'_>, words: &[u64], least: f64, hit: &mut dyn FnMut(usize, f64)) {
        let asked = query.popcount();
        let least = least.clamp(0.0, 2.0);
        let slope = least / (1.0 + least);
        let mut limits = Vec::new();
        for run in self.runs(query.tag()) {
            let most = run.popcounts.iter().copied().max().unwrap_or(0);
            // a little less than it takes, so that rounding loses none
            let limit = |of: u32| (slope * (f64::from(asked) + f64::from(of)) - 1e-6) as u32;
            limits.clear();
            limits.extend((0..=most.min(64 * words.len() as u32)).map(limit));
            let bound = Measure::Jaccard.bound(asked, least);
            let packed = PackedScan::new(run.words, run.popcounts, words, &limits, bound);
            scan(&packed, &mut |i, common| {
                let counts = Popcounts {
                    a: run.popcounts[i],
                    b: asked,
                    common,
                };
                hit(run.first + i, counts.jaccard());
            });
        }
    }

    /// Calls `hit` with the numbers of the signatures that reach the threshold.
    pub fn reaching(&self, query: &View<'_>, threshold: f64, mut hit: impl FnMut(usize)) {
        let mut words = Vec::new();
        to_words(query.bits(), stride(query.tag()), &mut words);
        if threshold <= 0.0 {
            // those of other shapes, too
            return (0..self.len()).for_each(hit);
        }
        self.scan(query, &words, threshold, &mut |i, similarity| {
            if similarity >= threshold {
                hit(i);
            }
        });
    }

    /// How many reach the threshold, and if they are fewer than `enough`, the `wanted` greatest similarities, in descending order.
    pub fn nearest(
        &self,
        query: &View<'_>,
        threshold: f64,
        enough: usize,
        wanted: usize,
    ) -> (usize, Vec<f64>) {
        let everything = threshold <= 0.0;
        if self.is_empty() || (everything && self.len() >= enough) {
            return (self.len(), Vec::new());
        }
        let mut words = Vec::new();
        to_words(query.bits(), stride(query.tag()), &mut words);
        let mut found = Vec::with_capacity(4 * wanted);
        let mut least = self.guess(query, &words, wanted).min(threshold);
        loop {
            found.clear();
            self.scan(query, &words, least, &mut |_, s| found.push(s));
            let hits = match everything {
                true => self.len(),
                false => found.iter().filter(|&&s| s >= threshold).count(),
            };
            if hits >= enough {
                return (hits, Vec::new());
            }
            let surely = found.iter().filter(|&&s| s >= least).count();
            if least <= 0.0 {
                // whatever is not compared is similar to none
                found.resize(self.len().max(found.len()), 0.0);
            } else if surely < wanted.min(self.len()) {
                least = if least > 0.1 { least / 2.0 } else { 0.0 };
                continue;
            }
            if wanted < found.len() {
                found.select_nth_unstable_by(wanted, |a, b| b.total_cmp(a));
                found.truncate(wanted);
            }
            found.sort_unstable_by(|a, b| b.total_cmp(a));
            return (hits, found);
        }
    }

    /// A similarity that a few more than `wanted` signatures reach, as far as some tell.
    fn guess(&self, query: &View<'_>, words: &[u64], wanted: usize) -> f64 {
        const STEP: usize = 16;
        let rank = 2 * wanted / STEP;
        let mut some: Vec<f64> = Vec::with_capacity(self.len() / STEP + 1);
        for run in self.runs(query.tag()) {
            let rows = run.words.chunks_exact(words.len()).step_by(STEP);
            some.extend(
                rows.zip(run.popcounts.iter().step_by(STEP))
                    .map(|(row, &popcount)| {
                        let counts = Popcounts {
                            a: popcount,
                            b: query.popcount(),
                            common: crate::bits::intersect_words(row, words),
                        };
                        counts.jaccard()
                    }),
            );
        }
        if some.len() <= rank {
            return 0.0;
        }
        *some.select_nth_unstable_by(rank, |a, b| b.total_cmp(a)).1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::Builder;

    fn signature(shape: Shape, text: &str) -> Vec<u8> {
        let mut bytes = vec![0; Builder::size(shape)];
        let mut builder = Builder::new(shape, &mut bytes);
        builder.add_text(text, false, || ()).unwrap();
        builder.finish();
        bytes
    }

    #[test]
    fn the_nearest_are_those_of_a_loop() {
        let shapes = [Shape::new(7, 43, 3).unwrap(), Shape::new(5, 7, 2).unwrap()];
        for (n, other) in [(0, 2), (1, 2), (7, 2), (150, 3), (1200, 1000), (3000, 7)] {
            let texts = (0..n).map(|i| format!("name {} {}", i * i % 97, i * 7 % 1009));
            let shape = |i: usize| shapes[usize::from(i % other == 1)];
            let bytes: Vec<_> = texts
                .enumerate()
                .map(|(i, t)| signature(shape(i), &t))
                .collect();
            let views: Vec<_> = bytes.iter().map(|b| View::stored(b).unwrap()).collect();
            let words = pack(&views).unwrap();
            let packed = Packed::of(&words);
            assert_eq!(packed.len(), n);
            for text in ["name 12 345", "", "name 0 0", "quite another"] {
                for shape in shapes {
                    let query = signature(shape, text);
                    let query = View::stored(&query).unwrap();
                    let of =
                        |s: &View<'_>| Popcounts::of(s, &query).map_or(0.0, Popcounts::jaccard);
                    let mut all: Vec<f64> = views.iter().map(of).collect();
                    all.sort_by(|a, b| b.total_cmp(a));
                    for threshold in [0.0, 0.2, 0.4, 0.55, 0.8, 1.0, 2.0, f64::NAN] {
                        let hits = all.iter().filter(|&&s| s >= threshold).count();
                        let (counted, nearest) = packed.nearest(&query, threshold, 8, 100);
                        assert_eq!(counted, hits, "{n} {text} {threshold}");
                        if hits < 8 {
                            assert_eq!(nearest, all[..n.min(100)], "{n} {text} {threshold}");
                        }
                        let mut reached = Vec::new();
                        packed.reaching(&query, threshold, |i| reached.push(i));
                        reached.sort_unstable();
                        let expected = (0..n).filter(|&i| of(&views[i]) >= threshold);
                        assert!(reached.into_iter().eq(expected), "{n} {text} {threshold}");
                    }
                }
            }
        }
    }
}
