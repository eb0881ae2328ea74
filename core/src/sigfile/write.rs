//! Writing a segment: rows in the order of their popcounts, then the posting lists of each chunk.
//!
//! Memory: a chunk's postings are sorted in what the caller allows; where they do not fit, the rows are
//! read once for each range of values that does.

use super::chunk::{Chunk, Frequencies, MIN_ROWS};
use super::pages::Pages;
use super::posting::{PostingFiller, MAX_ROWS};
use super::rows::{Geometry, RowPageMut, SignatureRow};
use super::segment::{Postings, Segment, MEASURED};
use crate::sort::sort_stably;
use crate::tick::Ticker;
use crate::{Error, ErrorKind, Result};

/// What a page of a segment holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Rows, as [`super::rows`] has them.
    Rows,
    /// Posting lists, as [`super::posting`] has them.
    Postings,
}

/// Where a segment's pages go.
pub trait PageStore: Pages {
    /// Adds a page behind those already written.
    fn append(&mut self, content: Content, words: &[u64]);
}

/// Rows between two of the sample that the chunks are chosen by, and the most of it.
const SAMPLE_STEP: u32 = 7;
const SAMPLE: u32 = 1 << 16;

/// Rows whose neighbours are counted, for the expected list lengths.
const MEASURED_ROWS: u32 = 24;

/// Takes a segment's rows, and then writes its postings.
pub struct Writer<S> {
    geometry: Geometry,
    store: S,
    page: Vec<u64>,
    rows: u32,
    first: Vec<u32>,
    last_popcount: u32,
    least_threshold: f64,
    frequencies: Frequencies,
}

impl<S: PageStore> Writer<S> {
    /// A segment without rows as yet, whose pages go to `store`.
    pub fn new(geometry: Geometry, store: S) -> Self {
        Writer {
            geometry,
            store,
            page: vec![0; geometry.page_words],
            rows: 0,
            first: Vec::new(),
            last_popcount: 0,
            least_threshold: f64::INFINITY,
            frequencies: Frequencies::new(geometry.bits),
        }
    }

    /// Adds a row; popcounts never descend. This is the last gate: what is wrong with a row is not copied.
    ///
    /// Errors: more rows than a segment can hold; a row that cannot be, or comes too late.
    pub fn push(&mut self, row: SignatureRow<'_>) -> Result<()> {
        if self.rows == MAX_ROWS {
            return Err(Error::new(
                ErrorKind::LimitExceeded,
                format!("sigfile segment cannot hold more than {MAX_ROWS} rows"),
            ));
        }
        row.check(&self.geometry)?;
        if row.popcount < self.last_popcount {
            return Err(Error::damaged(format!(
                "a row of popcount {} comes behind one of {}",
                row.popcount, self.last_popcount
            )));
        }
        self.last_popcount = row.popcount;
        self.first.resize(row.popcount as usize + 1, self.rows);
        if row.popcount <= self.geometry.bits {
            self.least_threshold = self.least_threshold.min(row.threshold);
            if self.rows.is_multiple_of(SAMPLE_STEP) && self.rows / SAMPLE_STEP < SAMPLE {
                self.frequencies.add(row.words);
            }
        }
        if !RowPageMut::new(self.geometry, &mut self.page).push(row) {
            self.flush();
            RowPageMut::new(self.geometry, &mut self.page).push(row);
        }
        self.rows += 1;
        Ok(())
    }

    fn flush(&mut self) {
        self.store.append(Content::Rows, &self.page);
        self.page.fill(0);
        self.store.tick();
    }

    /// Rows added so far.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Writes the postings; `chunks` of them, or as many as suit the rows. `memory` bytes are
    /// used for sorting, at least 64 kB.
    ///
    /// Errors: out of memory.
    pub fn finish(mut self, chunks: Option<u32>, memory: usize) -> Result<(Segment, S)> {
        if self.rows > 0 {
            self.flush();
        }
        self.first
            .resize(self.geometry.null_popcount() as usize + 2, self.rows);
        let mut segment = Segment {
            geometry: self.geometry,
            rows: self.rows,
            least_threshold: if self.least_threshold.is_finite() {
                self.least_threshold
            } else {
                0.0
            },
            first: self.first,
            postings: Vec::new(),
        };
        let present = segment.present();
        if present < MIN_ROWS && chunks.is_none() {
            return Ok((segment, self.store));
        }
        // two buffers of eight bytes a posting
        let capacity = u32::try_from(memory.max(1 << 16) / 16).unwrap_or(u32::MAX);
        let mut sorter = PostingSorter::new(capacity.min(present))?;
        for chunk in self.frequencies.deal(present, chunks) {
            let mut output = PostingOutput {
                store: &mut self.store,
                filler: PostingFiller::new(self.geometry.page_words, chunk.width, present),
                page: &mut self.page,
                fences: Vec::new(),
            };
            let most = ((1u64 << chunk.width) - 1) as u32;
            sorter.write(&segment, chunk, 0, most, present, &mut output)?;
            output.flush();
            let fences = output.fences;
            let first_page = segment.pages();
            segment.postings.push(Postings {
                chunk,
                first_page,
                fences,
                expected: [0.0; MEASURED],
            });
        }
        self.page = Vec::new();
        measure(&mut segment, &mut self.store)?;
        Ok((segment, self.store))
    }
}

/// Fills in how long the lists are that a row of the table leads to.
fn measure(segment: &mut Segment, store: &mut impl Pages) -> Result<()> {
    let present = segment.present();
    // small segments are not worth as much
    let sample = (present / 2048).clamp(4, MEASURED_ROWS);
    for n in 0..segment.postings.len() {
        let mut sums = [0.0; MEASURED];
        for i in 0..sample {
            let row =
                (u64::from(present) * (2 * u64::from(i) + 1) / (2 * u64::from(sample))) as u32;
            let capacity = segment.geometry.capacity as u32;
            let chunk = segment.postings[n].chunk;
            let number = row / capacity;
            let page = segment.row_page(number, store.page(number)?)?;
            let at = (row % capacity) as usize;
            let value = chunk.value(page.words(at, at + 1));
            let postings = &segment.postings[n];
            let mut length = |value: u32| -> Result<f64> {
                postings.pages(value).try_fold(0.0, |sum, number| {
                    let page = postings.page(number, store.page(number)?)?;
                    let list = page.find(value).map_err(|e| e.on_page(number))?;
                    Ok(sum + list.len() as f64)
                })
            };
            sums[0] += length(value)?;
            for a in 0..chunk.width {
                sums[1] += length(value ^ 1 << a)?;
                // every third pair stands for three
                for b in (0..a).skip((a as usize + i as usize) % 3).step_by(3) {
                    sums[2] += 3.0 * length(value ^ 1 << a ^ 1 << b)?;
                }
            }
            store.tick();
        }
        segment.postings[n].expected = sums.map(|s| s / f64::from(sample));
    }
    Ok(())
}

/// Posting pages of one chunk on their way out.
struct PostingOutput<'a, S> {
    store: &'a mut S,
    filler: PostingFiller,
    page: &'a mut Vec<u64>,
    fences: Vec<u32>,
}

impl<S: PageStore> PostingOutput<'_, S> {
    fn push(&mut self, value: u32, row: u32) {
        if !self.filler.push(value, row) {
            self.flush();
            self.filler.push(value, row);
        }
    }

    fn flush(&mut self) {
        if !self.filler.is_empty() {
            self.fences.push(self.filler.finish(self.page));
            self.store.append(Content::Postings, self.page);
            self.store.tick();
        }
    }
}

/// Sorts postings, value · 2^32 + row each.
struct PostingSorter {
    capacity: u32,
    postings: Vec<u64>,
    spare: Vec<u64>,
}

impl PostingSorter {
    fn new(capacity: u32) -> Result<PostingSorter> {
        let reserved = || {
            let mut v = Vec::new();
            v.try_reserve_exact(capacity as usize)
                .map_err(|_| Error::out_of_memory(8 * capacity as usize))?;
            Ok(v)
        };
        Ok(PostingSorter {
            capacity,
            postings: reserved()?,
            spare: reserved()?,
        })
    }

    /// Writes the postings whose values are `lo` to `hi`, `count` of them.
    fn write<S: PageStore>(
        &mut self,
        segment: &Segment,
        chunk: Chunk,
        lo: u32,
        hi: u32,
        count: u32,
        output: &mut PostingOutput<'_, S>,
    ) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        if count <= self.capacity {
            self.postings.clear();
            let postings = &mut self.postings;
            for_each_value(segment, chunk, output.store, |row, value| {
                if (lo..=hi).contains(&value) {
                    postings.push(u64::from(value) << 32 | u64::from(row));
                }
            })?;
            // values of this range differ in these bits only
            let bits = 32 + 32 - (lo ^ hi).leading_zeros();
            let ticker = &mut Ticker::new(|| output.store.tick());
            sort_stably(&mut self.postings, &mut self.spare, 32..bits, ticker);
            for (i, &p) in self.postings.iter().enumerate() {
                output.push((p >> 32) as u32, p as u32);
                if i % 4096 == 0 {
                    output.store.tick();
                }
            }
            return Ok(());
        }
        if lo == hi {
            return self.write_one_value(segment, chunk, lo, output);
        }
        // 256 ranges; neighbours that fit together are written together
        let width = (u64::from(hi - lo) + 1).div_ceil(256);
        let range_of = |value: u32| (u64::from(value - lo) / width) as usize;
        let mut counts = [0u32; 256];
        for_each_value(segment, chunk, output.store, |_, value| {
            if (lo..=hi).contains(&value) {
                counts[range_of(value)] += 1;
            }
        })?;
        let end_of = |range: usize| {
            let end = u64::from(lo) + (range as u64 + 1) * width - 1;
            end.min(u64::from(hi)) as u32
        };
        let mut start = lo;
        let mut range = 0;
        while start <= hi && range < 256 {
            let mut together = counts[range];
            let mut last = range;
            while last + 1 < 256 && together + counts[last + 1] <= self.capacity {
                last += 1;
                together += counts[last];
            }
            let end = end_of(last);
            self.write(segment, chunk, start, end, together, output)?;
            if end == hi {
                break;
            }
            start = end + 1;
            range = last + 1;
        }
        Ok(())
    }

    /// More rows with one value than fit into memory: in the order of the rows they are sorted.
    fn write_one_value<S: PageStore>(
        &mut self,
        segment: &Segment,
        chunk: Chunk,
        wanted: u32,
        output: &mut PostingOutput<'_, S>,
    ) -> Result<()> {
        let mut from = 0;
        while from < segment.present() {
            self.postings.clear();
            let (postings, room) = (&mut self.postings, self.capacity as usize);
            let mut next = segment.present();
            for_each_value(segment, chunk, output.store, |row, value| {
                if value == wanted && row >= from {
                    if postings.len() < room {
                        postings.push(u64::from(row));
                    } else {
                        next = next.min(row);
                    }
                }
            })?;
            for i in 0..self.postings.len() {
                output.push(wanted, self.postings[i] as u32);
            }
            from = next;
        }
        Ok(())
    }
}

/// Calls `each` with row and value of every signature, in the order of rows.
fn for_each_value(
    segment: &Segment,
    chunk: Chunk,
    pages: &mut impl Pages,
    mut each: impl FnMut(u32, u32),
) -> Result<()> {
    let capacity = segment.geometry.capacity;
    let stride = segment.geometry.stride;
    let present = segment.present() as usize;
    for page in 0..present.div_ceil(capacity) {
        let start = page * capacity;
        let n = (present - start).min(capacity);
        let content = segment.row_page(page as u32, pages.page(page as u32)?)?;
        for (i, words) in content.words(0, n).chunks_exact(stride).enumerate() {
            each((start + i) as u32, chunk.value(words));
        }
        pages.tick();
    }
    Ok(())
}
