//! Writing a segment: rows in the order of their popcounts, or of key and popcount where they have keys, then the
//! posting lists of each chunk.
//!
//! Memory: a chunk's postings are sorted in what the caller allows; where they do not fit, the rows are
//! read once for each part of the postings that does.

mod sorter;

use super::chunk::{Frequencies, MIN_ROWS};
use super::posting::{PostingFiller, MAX_ROWS};
use super::rows::{Geometry, RowPageMut, SignatureRow};
use super::segment::Pages;
use super::segment::{Postings, Segment, MEASURED};
use base::{Error, ErrorKind, Result};

pub use sorter::measure;
pub use sorter::PostingSorter;
pub use sorter::RowCounts;

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
            least_threshold: if self.least_threshold.is_finite() {
                self.least_threshold
            } else {
                0.0
            },
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
