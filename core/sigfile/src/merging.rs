//! Merges in progress. A merge is done in steps, by whoever comes by, so everything that a step has to know is on a
//! page of the index: the page of merges, of which the metapage tells.
//!
//! | word | content |
//! |---|---|
//! | 0 | merges (u32), 0 (u32) |
//! | 1 + 157 · i | merge i, in the order in which they were begun |
//!
//! | word of a merge | content |
//! |---|---|
//! | 0 | generation of the segment to be written |
//! | 1 | 1 if its rows have no signature (u8), phase (u8), segments taken (u16), chunks (u32) |
//! | 2 | pages of the tail taken (u32), pages written (u32) |
//! | 3 | first and last block of the list of pages (u32) |
//! | 4 | pages on that list (u32), rows written (u32) |
//! | 5 | where the rows go on: popcount, source (u32) |
//! | 6 | where they go on: row among those of that popcount there (u32), chunk (u32) |
//! | 7 | least threshold so far (float8) |
//! | 8 | where the chunk's postings go on: the last one written, plus one |
//! | 9 | rows entered when the merge began |
//! | 10 | rows entered when it ought to be done |
//! | 11 | rows of the sources (u32), pages that are expected (u32) |
//! | 12 | dead rows among those written (u32); while rows are written, the key at which they go on, if they have keys; then the process that sorts postings (u32), 0 for none |
//! | 13 | generations of the segments taken |
//! | 29 | chunks: start (u16), width (u16), pages (u32) |
//!
//! The list of pages is a chain, with a word for each page of the segment to be: its block (u32), and what the
//! description will tell of it (u32): the popcount of the first row (the key where rows have keys), or the least value.
//! Pages behind those that are written are blocks to be used next.

use super::chunk::{Chunk, MAX_CHUNKS};
use super::meta::{Meta, Part, BLOCK};
use super::posting::MAX_ROWS;
use super::rows::Geometry;
use super::words::{join, split};
use base::{Error, Result};

/// Merges that an index can have at a time.
pub const MAX_MERGES: usize = 6;

/// Segments that a merge can take.
pub const MAX_SOURCES: usize = 16;

const MERGE_WORDS: usize = CHUNKS_AT + MAX_CHUNKS;

const CHUNKS_AT: usize = 29;

const SOURCES_AT: usize = 13;

/// Words of the page of merges that are used.
pub const WORDS: usize = 1 + MAX_MERGES * MERGE_WORDS;

const _: () = assert!(SOURCES_AT + MAX_SOURCES == CHUNKS_AT && WORDS <= 1019);

/// What is to be written next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Rows, by popcount.
    #[default]
    Rows = 0,
    /// The posting lists of the chunks, one chunk after the other.
    Postings = 1,
    /// The description; then the segment takes the place of its sources.
    Description = 2,
}

/// A chunk of a segment to be, and how many posting pages it has as yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MergedChunk {
    /// The bits.
    pub chunk: Chunk,
    /// Posting pages written.
    pub pages: u32,
}

/// Where the rows of a merge go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowPosition {
    /// Popcount of the next row.
    pub popcount: u32,
    /// Number of the source: the segments in their order, then the tail.
    pub source: u32,
    /// Number of the row among those of that popcount, and of that key, there.
    pub row: u32,
    /// Key of the next row, 0 where rows have none.
    pub key: u32,
}

/// A merge in progress: some segments and the beginning of a tail become one segment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SegmentMerge {
    /// That of the segment to be written.
    pub generation: u64,
    /// Which rows it has.
    pub part: Part,
    /// What comes next.
    pub phase: Phase,
    /// Generations of the segments that are taken.
    pub segments: Vec<u64>,
    /// Pages of the tail that are taken, from its beginning: full or closed.
    pub tail: u32,
    /// First and last block of the list of pages, [`BLOCK`] for none.
    pub list: (u32, u32),
    /// Pages on the list.
    pub listed: u32,
    /// How many of them are written.
    pub written: u32,
    /// Rows written.
    pub rows: u32,
    /// How many of them have been marked dead since.
    pub dead: u32,
    /// The process that has some of its postings in memory, 0 for none: it may be gone.
    pub owner: u32,
    /// Where the rows go on.
    pub position: RowPosition,
    /// Least threshold of the rows written; infinite without any.
    pub least_threshold: f64,
    /// The chunk whose postings are being written.
    pub chunk: u32,
    /// Postings of this chunk below, value · 2^32 + row, are written.
    pub posting: u64,
    /// Rows entered when it began, and when it ought to be done.
    pub paced: (u64, u64),
    /// Rows of the sources.
    pub expected_rows: u32,
    /// Pages that it is expected to have.
    pub expected_pages: u32,
    /// Chosen when the rows are written.
    pub chunks: Vec<MergedChunk>,
}

impl SegmentMerge {
    /// The words of one number each.
    fn words(&mut self) -> [(usize, &mut u64); 4] {
        let (begun, due) = (&mut self.paced.0, &mut self.paced.1);
        let generation = &mut self.generation;
        [
            (0, generation),
            (8, &mut self.posting),
            (9, begun),
            (10, due),
        ]
    }

    /// The words of two numbers each.
    fn pairs(&mut self) -> [(usize, &mut u32, &mut u32); 7] {
        let RowPosition {
            popcount,
            source,
            row,
            key,
        } = &mut self.position;
        // Each is of its phase.
        let more = match self.phase {
            Phase::Rows => key,
            _ => &mut self.owner,
        };
        [
            (2, &mut self.tail, &mut self.written),
            (3, &mut self.list.0, &mut self.list.1),
            (4, &mut self.listed, &mut self.rows),
            (5, popcount, source),
            (6, row, &mut self.chunk),
            (11, &mut self.expected_rows, &mut self.expected_pages),
            (12, &mut self.dead, more),
        ]
    }

    /// Writes it to [`MERGE_WORDS`] words.
    fn encode(&self, words: &mut [u64]) {
        words.fill(0);
        let mut merge = self.clone();
        merge
            .words()
            .into_iter()
            .for_each(|(at, number)| words[at] = *number);
        for (at, low, high) in merge.pairs() {
            words[at] = join(*low, *high);
        }
        let head = self.part as u32 | (self.phase as u32) << 8 | (self.segments.len() as u32) << 16;
        words[1] = join(head, self.chunks.len() as u32);
        words[7] = self.least_threshold.to_bits();
        words[SOURCES_AT..SOURCES_AT + self.segments.len()].copy_from_slice(&self.segments);
        for (to, merged) in words[CHUNKS_AT..].iter_mut().zip(&self.chunks) {
            let Chunk { start, width } = merged.chunk;
            *to = join(start | width << 16, merged.pages);
        }
    }

    /// Reads what [`SegmentMerge::encode`] has written.
    ///
    /// Errors: numbers that no merge can have.
    fn decode(words: &[u64]) -> Result<SegmentMerge> {
        let impossible = || Error::damaged("a merge has impossible numbers");
        let (head, chunks) = split(words[1]);
        let (segments, chunks) = ((head >> 16) as usize, chunks as usize);
        let phases = [Phase::Rows, Phase::Postings, Phase::Description];
        let phase = phases.get((head >> 8 & 0xff) as usize).copied();
        let phase = phase.ok_or_else(impossible)?;
        if segments > MAX_SOURCES || chunks > MAX_CHUNKS || head & 0xff > 1 {
            return Err(impossible());
        }
        let read_chunk = |&word: &u64| {
            let (place, pages) = split(word);
            let (start, width) = (place & 0xffff, place >> 16);
            let chunk = Chunk { start, width };
            MergedChunk { chunk, pages }
        };
        let mut merge = SegmentMerge {
            part: Part::ALL[(head & 1) as usize],
            phase,
            segments: words[SOURCES_AT..SOURCES_AT + segments].to_vec(),
            least_threshold: f64::from_bits(words[7]),
            chunks: words[CHUNKS_AT..CHUNKS_AT + chunks]
                .iter()
                .map(read_chunk)
                .collect(),
            ..SegmentMerge::default()
        };
        merge
            .words()
            .into_iter()
            .for_each(|(at, number)| *number = words[at]);
        for (at, low, high) in merge.pairs() {
            (*low, *high) = split(words[at]);
        }
        match merge.is_possible() {
            true => Ok(merge),
            false => Err(impossible()),
        }
    }

    /// Whether the numbers fit each other. Those that depend on the geometry are looked at by [`SegmentMerge::fits`].
    fn is_possible(&self) -> bool {
        let mut next = 0;
        let chunks_fit = self.chunks.iter().all(|merged| {
            let Chunk { start, width } = merged.chunk;
            let fits = start == next && (1..=Chunk::MAX_WIDTH).contains(&width);
            next = start + width;
            fits
        });
        let pages: u64 = self.chunks.iter().map(|c| u64::from(c.pages)).sum();
        let list = (self.list.0 == BLOCK) == (self.listed == 0)
            && (self.list.0 == BLOCK) == (self.list.1 == BLOCK);
        chunks_fit
            && list
            && self.generation > 0
            && pages <= u64::from(self.written)
            && self.written <= self.listed
            && self.dead <= self.rows
            && self.rows <= self.expected_rows
            && self.expected_rows <= MAX_ROWS
            && self.chunk as usize <= self.chunks.len()
            && (self.tail > 0 || !self.segments.is_empty())
            && !self.least_threshold.is_nan()
    }

    /// Errors: a merge that cannot be one of rows of this geometry.
    pub fn fits(&self, geometry: &Geometry) -> Result<()> {
        let end = self
            .chunks
            .last()
            .map_or(0, |c| c.chunk.start + c.chunk.width);
        let row_pages = u64::from(geometry.pages(self.rows));
        let postings: u64 = self.chunks.iter().map(|c| u64::from(c.pages)).sum();
        let pages = match self.phase {
            // The pages that are written are full.
            Phase::Rows => {
                u64::from(self.rows) == u64::from(self.written) * geometry.capacity as u64
            }
            _ => row_pages + postings == u64::from(self.written),
        };
        let position = geometry.keys || self.position.key == 0;
        let popcount = self.position.popcount <= geometry.null_popcount() + 1;
        if end <= geometry.bits && pages && popcount && position {
            Ok(())
        } else {
            Err(Error::damaged(
                "a merge has numbers that do not fit its rows",
            ))
        }
    }

    /// Whether it takes some of the tail of a part.
    pub fn takes_tail(&self, part: Part) -> bool {
        self.part == part && self.tail > 0
    }

    /// What it cannot take from an index in which others are in progress: what is not there, and what one of them has
    /// taken. `None` if there is nothing of the kind.
    pub fn lacks(&self, meta: &Meta, others: &[SegmentMerge]) -> Option<&'static str> {
        let of_part = |g: &u64| meta.segments_of(self.part).any(|s| s.generation == *g);
        let taken = |g: &u64| others.iter().any(|other| other.segments.contains(g));
        if !self.segments.iter().all(of_part) {
            Some("a merge takes a segment that is not there")
        } else if self.segments.iter().any(taken) {
            Some("two merges take one segment")
        } else if self.tail as usize > meta.tail(self.part).len() {
            Some("a merge takes more of a tail than there is")
        } else if self.tail > 0 && others.iter().any(|other| other.takes_tail(self.part)) {
            Some("two merges take one tail")
        } else {
            None
        }
    }

    /// How much of it ought to be done when so many rows have been entered, as a share of all pages. It can be more
    /// than 1.
    pub fn due(&self, entered: u64) -> f64 {
        let (from, to) = self.paced;
        let all = to.saturating_sub(from).max(1);
        entered.saturating_sub(from) as f64 / all as f64
    }

    /// How much of it is done, as a share of all pages.
    pub fn done(&self) -> f64 {
        f64::from(self.written) / f64::from(self.expected_pages.max(1))
    }
}

/// Writes the content of a page of merges: at most [`MAX_MERGES`] of them.
pub fn encode(merges: &[SegmentMerge], words: &mut [u64]) {
    words.fill(0);
    words[0] = merges.len() as u64;
    for (to, merge) in words[1..].chunks_exact_mut(MERGE_WORDS).zip(merges) {
        merge.encode(to);
    }
}

/// Reads what [`encode`] has written.
///
/// Errors: a page that cannot be one of merges.
pub fn decode(words: &[u64]) -> Result<Vec<SegmentMerge>> {
    let merges = words.first().copied().unwrap_or(u64::MAX);
    if merges > MAX_MERGES as u64 || words.len() < WORDS {
        return Err(Error::damaged("a page of merges has impossible numbers"));
    }
    let of = words[1..].chunks_exact(MERGE_WORDS);
    of.take(merges as usize).map(SegmentMerge::decode).collect()
}
