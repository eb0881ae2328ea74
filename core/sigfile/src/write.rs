//! Writing a segment: rows in the order of their popcounts, or of key and popcount where they have keys, then the
//! posting lists of each chunk.
//!
//! Memory: a chunk's postings are sorted in what the caller allows; where they do not fit, the rows are
//! read once for each part of the postings that does.

use super::chunk::{Frequencies, MIN_ROWS};
use super::posting::{PostingFiller, MAX_ROWS};
use super::rows::{Geometry, RowPageMut, SignatureRow};
use super::segment::{Pages, Postings, Segment, MEASURED};
use crate::chunk::Chunk;
use crate::keys::PageOrders;
use crate::segment::RowPages;
use base::memory::with_room;
use base::sort::{sort, sort_stably};
use base::{Error, ErrorKind, Result, Ticker};
use std::ops::Range;

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

/// Takes a segment's rows, and then writes its postings.
pub struct Writer<S> {
    geometry: Geometry,
    store: S,
    page: Vec<u64>,
    rows: u32,
    counts: RowCounts,
    last: u64,
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
            counts: RowCounts::new(&geometry),
            last: 0,
            least_threshold: f64::INFINITY,
            frequencies: Frequencies::new(geometry.bits, geometry.measure),
        }
    }

    /// Adds a row; popcounts never descend, nor do keys, which come first. This is the last gate: what is wrong with a
    /// row is not copied.
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
        let order = if self.geometry.keys {
            row.order()
        } else {
            row.popcount.into()
        };
        if order < self.last {
            return Err(Error::damaged(format!(
                "a row of popcount {} comes behind one of {}",
                row.popcount, self.last as u32
            )));
        }
        self.last = order;
        self.counts.add(order);
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
        let (first, begins) = self.counts.finish();
        let mut segment = Segment {
            geometry: self.geometry,
            rows: self.rows,
            least_threshold: finite(self.least_threshold),
            first,
            begins,
            postings: Vec::new(),
        };
        let present = segment.present();
        if present < MIN_ROWS && chunks.is_none() {
            return Ok((segment, self.store));
        }
        let mut sorter = PostingSorter::new(memory.max(1 << 16), present)?;
        for chunk in self.frequencies.deal(present, chunks) {
            let mut output = PostingOutput {
                store: &mut self.store,
                filler: PostingFiller::new(self.geometry.page_words, chunk.width, present),
                page: &mut self.page,
                fences: Vec::new(),
            };
            let (mut from, mut all) = (0, false);
            while !all {
                all = sorter.collect(segment.row_set(), chunk, from, output.store)?;
                for (i, &posting) in sorter.postings().iter().enumerate() {
                    output.push((posting >> 32) as u32, posting as u32);
                    if i % 4096 == 0 {
                        output.store.tick();
                    }
                }
                from = sorter.postings().last().map_or(from, |&last| last + 1);
            }
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

/// The least threshold of rows, which is infinite without any, as a description has it.
pub fn finite(least_threshold: f64) -> f64 {
    Some(least_threshold)
        .filter(|least| least.is_finite())
        .unwrap_or(0.0)
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

// The sorter of a chunk's postings.

/// Sorts the postings of a chunk, value · 2^32 + row each, as many at a time as fit. The pages of rows can be read some
/// at a time.
pub struct PostingSorter {
    /// Postings that are sorted at a time.
    most: usize,
    postings: Vec<u64>,
    spare: Vec<u64>,
    /// Pages that have been read since [`PostingSorter::start`].
    pages: usize,
    /// Postings from here on are wanted, and below that.
    wanted: (u64, u64),
    /// Those before this place have been taken by [`PostingSorter::leave`].
    taken: usize,
}

/// Bits of a row's number.
const ROW_BITS: u32 = 24;

impl PostingSorter {
    /// For up to `present` postings, in some `memory` bytes: two buffers if all of them fit, of as many each. Otherwise
    /// one of them is twice as long, so that what is too much for one turn is seldom thrown out.
    ///
    /// Errors: out of memory.
    pub fn new(memory: usize, present: u32) -> Result<PostingSorter> {
        let present = present as usize;
        let (most, room) = if 16 * present <= memory {
            (present, present)
        } else {
            let most = (memory / 24).max(1);
            (most, 2 * most)
        };
        PostingSorter::with_buffers(most, room, most)
    }

    /// Bytes of both buffers.
    pub fn size(&self) -> usize {
        size_of::<u64>() * (self.postings.capacity() + self.spare.capacity())
    }

    /// The same for postings that are sorted a part at a time, by [`PostingSorter::part`], in some `memory` bytes.
    ///
    /// Errors: out of memory.
    pub fn in_parts(memory: usize, present: u32) -> Result<PostingSorter> {
        let room = (memory / 8).max(2);
        let (most, room) = match present as usize {
            present if present <= room => (present, present),
            _ => (room / 2, room),
        };
        PostingSorter::with_buffers(most, room, 0)
    }

    fn with_buffers(most: usize, room: usize, spare: usize) -> Result<PostingSorter> {
        Ok(PostingSorter {
            most,
            postings: with_room(room)?,
            spare: with_room(spare)?,
            pages: 0,
            wanted: (0, u64::MAX),
            taken: 0,
        })
    }

    /// Forgets what was collected. The least postings from `from` on are wanted next.
    pub fn start(&mut self, from: u64) {
        // Sorting may have swapped the buffers, of which collecting needs the longer one.
        if self.spare.capacity() > self.postings.capacity() {
            std::mem::swap(&mut self.postings, &mut self.spare);
        }
        self.postings.clear();
        (self.pages, self.wanted, self.taken) = (0, (from, u64::MAX), 0);
    }

    /// Collects the least postings from `from` on. Returns whether these are all of them.
    ///
    /// Errors: a damaged page.
    pub fn collect(
        &mut self,
        rows: RowPages,
        chunk: Chunk,
        from: u64,
        pages: &mut impl Pages,
    ) -> Result<bool> {
        self.start(from);
        self.scan(rows, chunk, usize::MAX, pages)?;
        Ok(self.sort(chunk, pages))
    }

    /// Reads up to `most` more pages of rows. Returns whether all have been read.
    ///
    /// Errors: a damaged page.
    pub fn scan(
        &mut self,
        rows: RowPages,
        chunk: Chunk,
        most: usize,
        pages: &mut impl Pages,
    ) -> Result<bool> {
        let all = (rows.present as usize).div_ceil(rows.geometry.capacity);
        let to = all.min(self.pages.saturating_add(most));
        let (kept, postings) = (self.most, &mut self.postings);
        let room = postings.capacity().max(kept);
        let (from, mut below) = self.wanted;
        for_each_value(rows, chunk, self.pages..to, pages, |row, value| {
            let posting = u64::from(value) << 32 | u64::from(row);
            if posting >= from && posting < below {
                if postings.len() == room {
                    // The greatest of those that stay is the first that is not wanted any more.
                    below = *postings.select_nth_unstable(kept).1;
                    postings.truncate(kept);
                    if posting >= below {
                        return;
                    }
                }
                postings.push(posting);
            }
        })?;
        if to == all && postings.len() > kept {
            below = *postings.select_nth_unstable(kept).1;
            postings.truncate(kept);
        }
        (self.pages, self.wanted) = (to, (from, below));
        Ok(to == all)
    }

    /// Sorts what was collected. Returns whether nothing was left out.
    fn sort(&mut self, chunk: Chunk, pages: &mut impl Pages) -> bool {
        let ticker = &mut Ticker::new(|| pages.tick());
        let all = self.is_all();
        if !all {
            // They are not in the order of their rows any more.
            sort_stably(&mut self.postings, &mut self.spare, 0..ROW_BITS, ticker);
        }
        let bits = 32..32 + chunk.width;
        sort_stably(&mut self.postings, &mut self.spare, bits, ticker);
        all
    }

    /// Whether nothing that is wanted was left out.
    pub fn is_all(&self) -> bool {
        self.wanted.1 == u64::MAX
    }

    /// The least `n` of the postings that were collected and are not taken, in order, and whether these are the last.
    pub fn part(&mut self, n: usize, pages: &mut impl Pages) -> (&[u64], bool) {
        let rest = &mut self.postings[self.taken..];
        let last = rest.len() <= n;
        let part = match last {
            true => rest,
            false => rest.select_nth_unstable(n).0,
        };
        sort(part, &mut Ticker::new(|| pages.tick()));
        (part, last)
    }

    /// Those of the last part that are below `posting` are taken.
    pub fn leave(&mut self, posting: u64) {
        let rest = self.postings[self.taken..].iter();
        self.taken += rest.take_while(|&&p| p < posting).count();
    }

    /// What was collected, in order.
    pub fn postings(&self) -> &[u64] {
        &self.postings
    }
}

/// Calls `each` with row and value of every signature on some pages, in the order of rows.
fn for_each_value(
    rows: RowPages,
    chunk: Chunk,
    numbers: Range<usize>,
    pages: &mut impl Pages,
    mut each: impl FnMut(u32, u32),
) -> Result<()> {
    let capacity = rows.geometry.capacity;
    let stride = rows.geometry.stride;
    let present = rows.present as usize;
    for page in numbers {
        let start = page * capacity;
        let n = (present - start).min(capacity);
        let content = rows.page(page as u32, pages.page(page as u32)?)?;
        for (i, words) in content.words(0, n).chunks_exact(stride).enumerate() {
            each((start + i) as u32, chunk.value(words));
        }
        pages.tick();
    }
    Ok(())
}

// Measuring a segment that was written: the search plans with the lengths of lists.

/// Rows whose neighbours are counted, for the expected list lengths.
const MEASURED_ROWS: u32 = 24;

/// Fills in how long the lists are that a row of the table leads to.
///
/// Errors: a damaged page.
pub fn measure(segment: &mut Segment, store: &mut impl Pages) -> Result<()> {
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

// What a description tells of the order of rows.

/// Counts the rows of a segment by popcount, and notes what its pages begin with. Rows come in their order.
pub struct RowCounts {
    counts: Vec<u32>,
    begins: PageOrders,
    capacity: u32,
    keys: bool,
    rows: u32,
}

impl RowCounts {
    /// No rows as yet.
    pub fn new(geometry: &Geometry) -> RowCounts {
        RowCounts {
            counts: vec![0; geometry.null_popcount() as usize + 1],
            begins: PageOrders::default(),
            capacity: geometry.capacity as u32,
            keys: geometry.keys,
            rows: 0,
        }
    }

    /// Adds a row by its [order](crate::SignatureRow::order), whose popcount fits the geometry.
    pub fn add(&mut self, order: u64) {
        self.counts[order as u32 as usize] += 1;
        if self.keys && self.rows.is_multiple_of(self.capacity) {
            self.begins.push(order);
        }
        self.rows += 1;
    }

    /// [`Segment::first`](crate::Segment::first) and [`Segment::begins`](crate::Segment::begins).
    pub fn finish(self) -> (Vec<u32>, PageOrders) {
        let mut sum = 0;
        let mut first = vec![0];
        first.extend(self.counts.iter().map(|count| {
            sum += count;
            sum
        }));
        (first, self.begins)
    }
}

#[cfg(test)]
mod sorter_tests {
    use super::PostingSorter;
    use base::sort::sort_stably;
    use base::Ticker;

    #[test]
    fn collecting_has_the_longer_buffer_after_an_odd_number_of_swaps() {
        let mut sorter = PostingSorter::new(240, 1000).unwrap();
        let room = sorter.postings.capacity();
        assert!(room >= 2 * sorter.most);
        for turn in 0..3 {
            sorter.start(0);
            assert_eq!(sorter.postings.capacity(), room, "turn {turn}");
            sorter.postings.extend([3, 1, 2]);
            let ticker = &mut Ticker::new(|| ());
            sort_stably(&mut sorter.postings, &mut sorter.spare, 0..8, ticker);
            assert_eq!(sorter.postings(), [1, 2, 3]);
        }
    }
}
