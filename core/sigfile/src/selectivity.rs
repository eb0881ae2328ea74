//! How many rows a similarity search will find, from a sample.
//!
//! A sample of four thousand says nothing directly of one row in a million, but its nearest
//! signatures say how fast the number of rows falls as the threshold rises. On a million names of
//! persons the logarithm of that number falls a little faster than linearly.

use crate::{RowBits, RowShape};
use base::memory::with_room;
use base::Result;
use signature::bits::{scan, PackedScan};
use signature::similarity::{Measure, Popcounts};

/// Hits in the sample that are enough to be counted.
pub const ENOUGH: usize = 8;

/// The ranks of the nearest sampled signatures that the line is fitted through; the very nearest
/// may be the row itself.
const RANKS: std::ops::RangeInclusive<usize> = 2..=100;

/// How much the logarithm bends, per squared similarity.
fn bend(measure: Measure) -> f64 {
    match measure {
        Measure::Jaccard => 10.0,
        // The bits of sets without a common token agree as fair coins fall, nearly normally: by z standard deviations
        // of √n/2 bits the logarithm falls by z²/2.
        Measure::Agreement { bits } => 2.0 * f64::from(bits),
    }
}

/// The least slope of the logarithm per similarity.
const FLATTEST: f64 = -1.0;

/// Rows expected of the most selective search: a row and some double.
const FEWEST: f64 = 1.3;

/// What a sample says of a query and a threshold.
pub struct Nearest {
    /// Signatures in the sample.
    sampled: usize,
    /// Those of them that reach the threshold.
    hits: usize,
    /// By which the logarithm bends.
    bend: f64,
    /// Where these are fewer than [`ENOUGH`], the greatest similarities in descending order, [`RANKS`] of them if there
    /// are so many.
    similarities: Vec<f64>,
}

impl Nearest {
    /// Compares a query with a random sample.
    pub fn new(sample: &Packed<'_>, query: &RowBits<'_>, threshold: f64) -> Nearest {
        let (hits, similarities) = sample.nearest(query, threshold, ENOUGH, *RANKS.end());
        Nearest {
            sampled: sample.len(),
            hits,
            bend: bend(query.shape().measure()),
            similarities,
        }
    }

    /// Share of `rows` rows with a similarity of at least the threshold.
    pub fn matching(&self, threshold: f64, rows: f64) -> f64 {
        self.share(threshold, rows, FEWEST)
    }

    /// How many of `rows` rows to expect for a query that need not be one of them; less than one where
    /// it is doubtful that there is any.
    pub fn expected(&self, threshold: f64, rows: f64) -> f64 {
        let share = self.share(threshold, rows, 0.0);
        (share * rows).max(self.hits as f64)
    }

    fn share(&self, threshold: f64, rows: f64, fewest: f64) -> f64 {
        let fewest = (fewest / rows.max(1.0)).min(1.0);
        if self.sampled == 0 {
            return fewest;
        }
        let sampled = self.sampled as f64;
        if self.hits >= ENOUGH || sampled >= rows {
            return (self.hits as f64 / sampled).max(fewest);
        }
        let share = self.extended(threshold);
        share.clamp(fewest, (ENOUGH as f64 / sampled).max(fewest))
    }

    /// The share at the threshold, by a line through the greatest similarities of a sample, which are in descending
    /// order.
    fn extended(&self, threshold: f64) -> f64 {
        let sampled = self.sampled as f64;
        let ranked = self.similarities.iter().zip(1..);
        let ranked = ranked.filter(|(_, rank)| RANKS.contains(rank));
        let points: Vec<(f64, f64)> = ranked
            .map(|(&s, rank)| (s, (rank as f64 / sampled).ln()))
            .collect();
        let count = points.len().max(1) as f64;
        let mean_s = points.iter().map(|p| p.0).sum::<f64>() / count;
        let mean_l = points.iter().map(|p| p.1).sum::<f64>() / count;
        let variance: f64 = points.iter().map(|p| (p.0 - mean_s).powi(2)).sum();
        let covariance: f64 = points.iter().map(|p| (p.0 - mean_s) * (p.1 - mean_l)).sum();
        let slope = if variance > 0.0 {
            (covariance / variance).min(FLATTEST)
        } else {
            FLATTEST
        };
        let beyond = (threshold - mean_s).max(0.0);
        (mean_l + slope * beyond - self.bend * beyond * beyond).exp()
    }
}

// Signatures of a sample side by side, so that a query is compared with thousands of them in some microseconds.
//
// Packed as words: `[rows, runs, then for each run its shape's tag (two words) and its rows, then for each run the bits of its
// rows and their popcounts (two a word)]`. A run has signatures of one shape.

/// Words of a signature with this tag.
fn stride(tag: u128) -> usize {
    RowShape::of_tag(tag).bits().div_ceil(64) as usize
}

/// Words of a tag and a number.
const HEAD: usize = 3;

fn tag_words(tag: u128) -> [u64; 2] {
    [tag as u64, (tag >> 64) as u64]
}

/// The tag that words begin with.
fn tag_of(words: &[u64]) -> u128 {
    u128::from(words[0]) | u128::from(words[1]) << 64
}

/// Packs signatures, which keep their order. Those of one shape should be side by side.
///
/// Errors: out of memory.
pub fn pack(signatures: &[RowBits<'_>]) -> Result<Vec<u64>> {
    let runs = || signatures.chunk_by(|a, b| a.tag == b.tag);
    let size_of = |run: &[RowBits<'_>]| run.len() * stride(run[0].tag) + run.len().div_ceil(2);
    let size = 2 + runs().map(|run| HEAD + size_of(run)).sum::<usize>();
    let mut words = with_room(size)?;
    words.extend([signatures.len() as u64, runs().count() as u64]);
    words.extend(runs().flat_map(|run| {
        let [low, high] = tag_words(run[0].tag);
        [low, high, run.len() as u64]
    }));
    for run in runs() {
        run.iter().for_each(|s| s.append_words(&mut words));
        words.extend(run.chunks(2).map(|two| {
            let high = two.get(1).map_or(0, |s| s.popcount);
            u64::from(two[0].popcount) | u64::from(high) << 32
        }));
    }
    Ok(words)
}

/// Appends a signature: its tag, its popcount, and the words of its bits.
pub fn append(signature: &RowBits<'_>, to: &mut Vec<u64>) {
    to.extend(tag_words(signature.tag));
    to.push(signature.popcount.into());
    signature.append_words(to);
}

/// A signature that [`append`] has appended, from its first word on.
///
/// # Panics
/// If there is none.
pub fn appended(words: &[u64]) -> RowBits<'_> {
    let (tag, bits) = (tag_of(words), bytemuck::cast_slice(&words[HEAD..]));
    RowBits {
        tag,
        bits: &bits[..RowShape::of_tag(tag).bytes()],
        popcount: words[2] as u32,
    }
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
    pub fn new(words: &'a [u64]) -> Packed<'a> {
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
    fn runs(&self, tag: u128) -> impl Iterator<Item = ShapeRun<'a>> {
        let (heads, mut rest) = self.0[2..].split_at(HEAD * self.0[1] as usize);
        let mut first = 0;
        heads.chunks_exact(HEAD).filter_map(move |head| {
            let (of_run, rows) = (tag_of(head), head[2] as usize);
            let (words, after) = rest.split_at(rows * stride(of_run));
            let (popcounts, after) = after.split_at(rows.div_ceil(2));
            rest = after;
            let run = ShapeRun {
                first,
                words,
                popcounts: &bytemuck::cast_slice(popcounts)[..rows],
            };
            first += rows;
            (of_run == tag).then_some(run)
        })
    }

    /// Calls `hit` with the numbers and similarities of the signatures that reach `least`, and perhaps with some below;
    /// those of another shape are similar to none. `words` are those of the query.
    fn scan(
        &self,
        query: &RowBits<'_>,
        words: &[u64],
        least: f64,
        hit: &mut dyn FnMut(usize, f64),
    ) {
        let measure = query.shape().measure();
        // It has some slack, so that rounding loses none.
        let bound = measure.bound(query.popcount, least);
        let mut limits = Vec::new();
        for run in self.runs(query.tag) {
            let most = run.popcounts.iter().copied().max().unwrap_or(0);
            let limit = |of: u32| (bound.0 * of as f32 + bound.1) as u32;
            limits.clear();
            // An empty set of tokens has more than all bits, and is similar to none.
            limits.extend((0..=most.min(64 * words.len() as u32)).map(limit));
            let packed = PackedScan::new(run.words, run.popcounts, words, &limits, bound);
            scan(&packed, &mut |i, common| {
                let counts = Popcounts {
                    a: run.popcounts[i],
                    b: query.popcount,
                    common,
                };
                hit(run.first + i, measure.similarity(counts));
            });
        }
    }

    /// Calls `hit` with the numbers of the signatures that reach the threshold.
    pub fn reaching(&self, query: &RowBits<'_>, threshold: f64, mut hit: impl FnMut(usize)) {
        let mut words = Vec::new();
        query.append_words(&mut words);
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

    /// How many reach the threshold, and if they are fewer than `enough`, the `wanted` greatest similarities, in
    /// descending order.
    pub fn nearest(
        &self,
        query: &RowBits<'_>,
        threshold: f64,
        enough: usize,
        wanted: usize,
    ) -> (usize, Vec<f64>) {
        let everything = threshold <= 0.0;
        if self.is_empty() || (everything && self.len() >= enough) {
            return (self.len(), Vec::new());
        }
        let mut words = Vec::new();
        query.append_words(&mut words);
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
    fn guess(&self, query: &RowBits<'_>, words: &[u64], wanted: usize) -> f64 {
        const STEP: usize = 16;
        let rank = 2 * wanted / STEP;
        let mut some: Vec<f64> = Vec::with_capacity(self.len() / STEP + 1);
        let measure = query.shape().measure();
        for run in self.runs(query.tag) {
            let rows = run.words.chunks_exact(words.len()).step_by(STEP);
            some.extend(
                rows.zip(run.popcounts.iter().step_by(STEP))
                    .map(|(row, &popcount)| {
                        let counts = Popcounts {
                            a: popcount,
                            b: query.popcount,
                            common: signature::bits::intersect_words(row, words),
                        };
                        measure.similarity(counts)
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
    use super::{Nearest, ENOUGH, RANKS};

    /// As [`Nearest::new`] for these similarities.
    fn nearest(sample: &[f64], threshold: f64) -> Nearest {
        let mut similarities = sample.to_vec();
        similarities.sort_by(|a, b| b.total_cmp(a));
        let hits = similarities.iter().filter(|&&s| s >= threshold).count();
        let kept = if hits < ENOUGH { *RANKS.end() } else { 0 };
        similarities.truncate(kept);
        Nearest {
            sampled: sample.len(),
            hits,
            bend: super::bend(super::Measure::Jaccard),
            similarities,
        }
    }

    fn matching(sample: &mut [f64], threshold: f64, rows: f64) -> f64 {
        nearest(sample, threshold).matching(threshold, rows)
    }

    fn expected(sample: &mut [f64], threshold: f64, rows: f64) -> f64 {
        nearest(sample, threshold).expected(threshold, rows)
    }

    #[test]
    fn what_the_sample_shows_is_counted() {
        let mut sample: Vec<f64> = (0..1000).map(|i| f64::from(i) / 1000.0).collect();
        assert_eq!(matching(&mut sample, 0.5, 1e6), 0.5);
        assert_eq!(matching(&mut sample, 0.0, 1e6), 1.0);
        assert_eq!(matching(&mut sample, 0.999, 1000.0), 0.0013);
    }

    #[test]
    fn the_tail_falls_and_stays_in_bounds() {
        let mut sample: Vec<f64> = (0..2000)
            .map(|i| 0.3 * (f64::from(i) / 2000.0).powi(4))
            .collect();
        let mut last = 1.0;
        for t in 0..=10 {
            let share = matching(&mut sample, f64::from(t) / 10.0, 1e6);
            assert!(share <= last && share >= 1.3e-6, "{t} {share}");
            last = share;
        }
        assert_eq!(last, 1.3e-6);
    }

    #[test]
    fn nothing_alike_means_nothing_expected() {
        let far: Vec<f64> = (0..2000).map(|i| f64::from(i) / 20_000.0).collect();
        assert!(expected(&mut far.clone(), 0.9, 1e6) < 0.01);
        assert_eq!(expected(&mut far.clone(), 0.9, 2000.0), 0.0);
        let near: Vec<f64> = far.iter().copied().chain([1.0]).collect();
        assert!(expected(&mut near.clone(), 0.9, 1e6) >= 1.0);
        assert_eq!(expected(&mut [0.95; 10], 0.9, 1000.0), 1000.0);
        assert_eq!(expected(&mut [], 0.9, 1000.0), 0.0);
    }

    #[test]
    fn odd_samples_do_no_harm() {
        for sample in [vec![], vec![0.0], vec![0.0; 50], vec![1.0; 3], vec![0.5; 7]] {
            for t in [0.0, 0.5, 1.0, 2.0] {
                for rows in [0.0, 1.0, 1e9] {
                    let share = matching(&mut sample.clone(), t, rows);
                    assert!(
                        (0.0..=1.0).contains(&share),
                        "{sample:?} {t} {rows} {share}"
                    );
                }
            }
        }
    }
}

#[cfg(test)]
mod sample_tests {
    use super::*;
    use signature::filter::{Builder, Shape, View};
    use signature::sketch::{write_bits, BitsView, Signer, SketchShape};

    fn signature(shape: Shape, text: &str) -> Vec<u8> {
        let mut bytes = vec![0; Builder::size(shape)];
        let mut builder = Builder::new(shape, &mut bytes);
        builder.add_text(text, false, || ()).unwrap();
        builder.finish();
        bytes
    }

    /// Holds what is found of a sample against a loop over it.
    fn check(
        sample: &[RowBits<'_>],
        query: &RowBits<'_>,
        similarity: impl Fn(&RowBits<'_>) -> f64,
    ) {
        let words = pack(sample).unwrap();
        let packed = Packed::new(&words);
        assert_eq!(packed.len(), sample.len());
        let of: Vec<f64> = sample.iter().map(similarity).collect();
        let mut all = of.clone();
        all.sort_by(|a, b| b.total_cmp(a));
        for threshold in [0.0, 0.2, 0.4, 0.55, 0.8, 1.0, 2.0, f64::NAN] {
            let hits = all.iter().filter(|&&s| s >= threshold).count();
            let (counted, nearest) = packed.nearest(query, threshold, 8, 100);
            assert_eq!(counted, hits, "{query:?} {threshold}");
            if hits < 8 {
                assert_eq!(nearest, all[..all.len().min(100)], "{query:?} {threshold}");
            }
            let mut reached = Vec::new();
            packed.reaching(query, threshold, |i| reached.push(i));
            reached.sort_unstable();
            let expected = (0..of.len()).filter(|&i| of[i] >= threshold);
            assert!(reached.into_iter().eq(expected), "{query:?} {threshold}");
        }
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
            let rows: Vec<RowBits<'_>> = views.iter().map(|&view| view.into()).collect();
            for text in ["name 12 345", "", "name 0 0", "quite another"] {
                for shape in shapes {
                    let query = signature(shape, text);
                    let query = View::stored(&query).unwrap();
                    check(&rows, &query.into(), |row| {
                        let i = rows.iter().position(|other| other == row).unwrap();
                        Popcounts::new(&views[i], &query).map_or(0.0, Popcounts::jaccard)
                    });
                }
            }
        }
    }

    fn view(bytes: &[u8]) -> RowBits<'_> {
        BitsView::stored(bytes).unwrap().into()
    }

    #[test]
    fn so_are_the_nearest_sketches() {
        let sketch = |n: i64, tokens: std::ops::Range<u32>| {
            let shape = SketchShape::new(n, 0).unwrap();
            let mut bytes = vec![0; 6 + n.div_euclid(8) as usize + usize::from(n % 8 > 0)];
            let mut signer = Signer::new(shape);
            tokens
                .for_each(|token| signer.add_hash(text::tokens::token_hash(&token.to_le_bytes())));
            write_bits(&mut signer, &mut bytes);
            bytes
        };
        for n in [1, 64, 192, 200] {
            // empty ones, too
            let sketches: Vec<_> = (0..900).map(|i| sketch(n, i / 2..i / 2 + i % 11)).collect();
            let rows: Vec<RowBits<'_>> = sketches.iter().map(|bytes| view(bytes)).collect();
            for query in [0..0, 30..40, 5000..5003] {
                let query = sketch(n, query);
                let query = view(&query);
                let most = n as u32 + 1;
                check(&rows, &query, |row| {
                    let differ = row
                        .bits
                        .iter()
                        .zip(query.bits)
                        .map(|(a, b)| (a ^ b).count_ones());
                    match row.popcount == most || query.popcount == most {
                        true => 0.0,
                        false => f64::from(most - differ.sum::<u32>()) / f64::from(most),
                    }
                });
            }
        }
    }
}
