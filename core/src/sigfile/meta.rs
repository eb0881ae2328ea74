//! The metapage: which segments there are, where new rows are, and which blocks are free.
//!
//! | word | content |
//! |---|---|
//! | 0 | magic (u32), format version (u16), flags (u16): 1 if rows have thresholds |
//! | 1 | identity: a random number, so that what a session remembers of an index is not taken for another's |
//! | 2 | shape of the signatures, as their first eight bytes; 0 as long as there is no row |
//! | 3 | generation of the next segment |
//! | 4 | segments (u32), free lists (u32) |
//! | 5 | tail pages with signatures (u32), without (u32) |
//! | 8 | segments, 4 words each: generation; rows, dead rows (u32); first map block, pages (u32); 1 if its rows have no signature |
//! | 200 | free lists, 2 words each: transaction id from which they are free; first block, blocks in it (u32) |
//! | 264 | blocks of the tail with signatures (u32) |
//! | the last 128 | blocks of the tail without (u32); from word 891 on where a page has 1019 |

use super::bytes::{halves, halves_mut};
use super::posting::MAX_ROWS;
use super::rows::Geometry;
use super::words::{join, split};
use crate::filter::{newer_version, Shape, VERSION as SIGNATURE_VERSION};
use crate::{Error, ErrorKind, Result};

/// "BISF"
const MAGIC: u32 = 0x4653_4942;

/// Version of the format of an index.
const VERSION: u16 = 1;

/// Block of the metapage. No other page has this number.
pub const BLOCK: u32 = 0;

// Words at which the tables begin, and how much they hold.

const SEGMENTS_AT: usize = 8;

/// Segments that an index can have.
pub const MAX_SEGMENTS: usize = 48;

const FREE_AT: usize = SEGMENTS_AT + 4 * MAX_SEGMENTS;

/// Lists of free blocks that an index can have.
pub const MAX_FREE: usize = 32;

const TAIL_AT: usize = FREE_AT + 2 * MAX_FREE;

const NULLS_WORDS: usize = 128;

/// The shortest page that a metapage fits, in words: no row with a signature can be added then.
pub const LEAST_WORDS: usize = TAIL_AT + NULLS_WORDS;

const _: () = assert!(FREE_AT == 200 && TAIL_AT == 264);

/// Two kinds of rows, kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Rows with a signature.
    Signatures = 0,
    /// NULL instead of a signature.
    Nulls = 1,
}

impl Part {
    /// Both, in the order of their numbers.
    pub const ALL: [Part; 2] = [Part::Signatures, Part::Nulls];

    /// Where on a page of so many words the blocks of the tail are.
    fn tail_words(self, page_words: usize) -> std::ops::Range<usize> {
        let nulls_at = page_words - NULLS_WORDS;
        match self {
            Part::Signatures => TAIL_AT..nulls_at,
            Part::Nulls => nulls_at..page_words,
        }
    }
}

/// A segment, as the metapage knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentEntry {
    /// The number that the stamps of its pages have.
    pub generation: u64,
    /// Its rows, the dead ones included.
    pub rows: u32,
    /// How many of them are known to be dead.
    pub dead: u32,
    /// First block of its description.
    pub map: u32,
    /// All its pages, map included.
    pub pages: u32,
    /// Which rows it has.
    pub part: Part,
}

/// Blocks that are free as soon as no snapshot is older than `horizon`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreeList {
    /// A full transaction id.
    pub horizon: u64,
    /// First block of the chain that the list is written on.
    pub first: u32,
    /// How many blocks it names.
    pub blocks: u32,
}

/// What a metapage says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// A random number.
    pub identity: u64,
    /// Greater than the generation of every segment.
    pub next_generation: u64,
    /// By generation.
    pub segments: Vec<SegmentEntry>,
    /// Lists of free blocks.
    pub free: Vec<FreeList>,
    /// Blocks of the tails, one list for each [`Part`].
    pub tails: [Vec<u32>; 2],
    shape: u64,
    /// One for each [`Part`].
    geometries: [Geometry; 2],
}

/// Versions count from 1, as those of signatures do, and higher ones than these are damage.
const FUTURE: std::ops::Range<u16> = VERSION + 1..0x80;

/// Errors: a newer version has written the metapage, or its signatures; any other unknown version is damage.
fn check_format(version: u16, shape: u64) -> Result<()> {
    if FUTURE.contains(&version) {
        return Err(Error::newer_format(
            format!("is in format version {version}"),
            VERSION,
        ));
    }
    if let Some(newer) = newer_version(&shape.to_le_bytes()) {
        let what = format!("has signatures in format version {newer}");
        return Err(Error::newer_format(what, SIGNATURE_VERSION));
    }
    if version != VERSION {
        return Err(Error::damaged("the metapage is of an unknown version"));
    }
    Ok(())
}

impl Meta {
    /// That of an empty index, with pages of so many words: [`LEAST_WORDS`] at least.
    ///
    /// Errors: shorter pages.
    pub fn new(page_words: usize, identity: u64, thresholds: bool) -> Result<Meta> {
        if page_words < LEAST_WORDS {
            return Err(Error::new(
                ErrorKind::LimitExceeded,
                format!("page of {page_words} words is too short for a sigfile index"),
            )
            .detail(format!("The metapage has {LEAST_WORDS} words at least.")));
        }
        Ok(Meta {
            identity,
            next_generation: 1,
            segments: Vec::new(),
            free: Vec::new(),
            tails: [Vec::new(), Vec::new()],
            shape: 0,
            geometries: [
                Geometry::new(page_words, 0, thresholds)?,
                Geometry::new(page_words, 1, false)?,
            ],
        })
    }

    /// The first eight bytes of all signatures, 0 as long as there is no row.
    pub fn shape(&self) -> u64 {
        self.shape
    }

    /// From now on signatures begin with these eight bytes; 0 for none.
    ///
    /// Errors: signatures of this shape do not fit a page.
    pub fn set_shape(&mut self, shape: u64) -> Result<()> {
        let [geometry, _] = &mut self.geometries;
        let bits = Shape::of_tag(shape).m();
        *geometry = Geometry::new(geometry.page_words, bits, geometry.thresholds)?;
        self.shape = shape;
        Ok(())
    }

    /// Whether rows have thresholds of their own.
    pub fn thresholds(&self) -> bool {
        self.geometry(Part::Signatures).thresholds
    }

    /// How rows of a part lie on pages.
    pub fn geometry(&self, part: Part) -> Geometry {
        self.geometries[part as usize]
    }

    /// Words of a page's content.
    fn page_words(&self) -> usize {
        self.geometry(Part::Signatures).page_words
    }

    /// Pages that the tail of a part can have.
    pub fn most_pages(&self, part: Part) -> usize {
        2 * part.tail_words(self.page_words()).len()
    }

    /// Whether all of it fits a page.
    ///
    /// Errors: more than a metapage holds.
    pub fn check_size(&self) -> Result<()> {
        let tail_fits = |part: Part| self.tail(part).len() <= self.most_pages(part);
        if self.segments.len() <= MAX_SEGMENTS
            && self.free.len() <= MAX_FREE
            && Part::ALL.into_iter().all(tail_fits)
        {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::LimitExceeded,
            format!(
                "sigfile index cannot hold more than {MAX_SEGMENTS} segments of {MAX_ROWS} rows"
            ),
        )
        .hint("Partition the table, or run VACUUM to have segments merged."))
    }

    /// Writes what [`Meta::check_size`] has found to fit to the content of a page.
    pub fn encode(&self, words: &mut [u64]) {
        words[0] = u64::from(MAGIC) | u64::from(VERSION) << 32 | u64::from(self.thresholds()) << 48;
        words[1] = self.identity;
        words[2] = self.shape;
        words[3] = self.next_generation;
        words[4] = join(self.segments.len() as u32, self.free.len() as u32);
        words[5] = join(self.tails[0].len() as u32, self.tails[1].len() as u32);
        words[6..].fill(0);
        let segments = words[SEGMENTS_AT..FREE_AT].chunks_exact_mut(4);
        for (to, s) in segments.zip(&self.segments) {
            to[0] = s.generation;
            to[1] = join(s.rows, s.dead);
            to[2] = join(s.map, s.pages);
            to[3] = s.part as u64;
        }
        let lists = words[FREE_AT..TAIL_AT].chunks_exact_mut(2);
        for (to, list) in lists.zip(&self.free) {
            to[0] = list.horizon;
            to[1] = join(list.first, list.blocks);
        }
        for part in Part::ALL {
            let blocks = halves_mut(&mut words[part.tail_words(self.page_words())]);
            for (to, &block) in blocks.iter_mut().zip(self.tail(part)) {
                *to = block;
            }
        }
    }

    /// Reads what [`Meta::encode`] has written; `words` are the whole content of the page.
    ///
    /// Errors: a newer format, of the metapage or of the signatures; the message goes on behind the name of the index. Damage. Blocks are looked at
    /// where they are read.
    pub fn decode(words: &[u64]) -> Result<Meta> {
        let impossible = || Err(Error::damaged("the metapage has impossible numbers"));
        if words.len() < LEAST_WORDS {
            return impossible();
        }
        let (magic, head) = split(words[0]);
        let (version, flags) = (head as u16, head >> 16);
        if magic == MAGIC {
            check_format(version, words[2])?;
        }
        let numbers = |word: u64| {
            let (low, high) = split(word);
            (low as usize, high as usize)
        };
        let ((segments, free), tails) = (numbers(words[4]), numbers(words[5]));
        let entries = words[SEGMENTS_AT..FREE_AT].chunks_exact(4);
        let lists = words[FREE_AT..TAIL_AT].chunks_exact(2);
        let tail = |part: Part| halves(&words[part.tail_words(words.len())]);
        let [with, without] = Part::ALL.map(tail);
        if magic != MAGIC
            || flags > 1
            || entries.clone().any(|w| w[3] > 1)
            || segments > MAX_SEGMENTS
            || free > MAX_FREE
            || tails.0 > with.len()
            || tails.1 > without.len()
        {
            return impossible();
        }
        let mut meta = Meta {
            next_generation: words[3],
            segments: entries.take(segments).map(read_segment).collect(),
            free: lists.take(free).map(read_list).collect(),
            tails: [with[..tails.0].to_vec(), without[..tails.1].to_vec()],
            ..Meta::new(words.len(), words[1], flags == 1)?
        };
        meta.check_segments()?;
        let shape = words[2];
        if !meta.can_have(shape) || meta.set_shape(shape).is_err() {
            return Err(Error::damaged("the shape of the signatures is impossible"));
        }
        meta.check_blocks()?;
        Ok(meta)
    }

    /// Errors: a segment that cannot be.
    fn check_segments(&self) -> Result<()> {
        let mut last = 0;
        for s in &self.segments {
            if s.generation <= last || s.generation >= self.next_generation {
                return Err(Error::damaged("a segment has an impossible generation"));
            }
            last = s.generation;
            if s.rows == 0 || s.rows > MAX_ROWS || s.dead > s.rows || s.map == BLOCK || s.pages < 2
            {
                return Err(Error::damaged("a segment has impossible numbers"));
            }
        }
        Ok(())
    }

    /// Whether there are signatures that begin with these eight bytes, or none at all if these are 0.
    fn can_have(&self, shape: u64) -> bool {
        let part = Part::Signatures;
        if shape == 0 {
            return self.tail(part).is_empty() && self.segments_of(part).next().is_none();
        }
        shape as u8 == SIGNATURE_VERSION && Shape::of_tag(shape).check().is_ok()
    }

    /// Errors: a list of free blocks, or a block of a tail, that cannot be.
    fn check_blocks(&self) -> Result<()> {
        let is_list = |list: &FreeList| list.first != BLOCK && list.blocks > 0;
        if !self.free.iter().all(is_list) {
            return Err(Error::damaged("a list of free blocks is impossible"));
        }
        if self.tails.iter().flatten().any(|&block| block == BLOCK) {
            return Err(Error::damaged("a block of new rows is impossible"));
        }
        Ok(())
    }

    /// Whether no page of the index has been replaced between this and `later`, which was read afterwards.
    pub fn holds_of(&self, later: &Meta) -> bool {
        let is_there =
            |s: &SegmentEntry| later.segments.iter().any(|l| l.generation == s.generation);
        let mut tails = later.tails.iter().zip(&self.tails);
        self.segments.iter().all(is_there) && tails.all(|(l, t)| l.starts_with(t))
    }

    /// The segments of a part.
    pub fn segments_of(&self, part: Part) -> impl Iterator<Item = &SegmentEntry> {
        self.segments.iter().filter(move |s| s.part == part)
    }

    /// The blocks of the tail of a part.
    pub fn tail(&self, part: Part) -> &[u32] {
        &self.tails[part as usize]
    }
}

fn read_segment(words: &[u64]) -> SegmentEntry {
    let ((rows, dead), (map, pages)) = (split(words[1]), split(words[2]));
    SegmentEntry {
        generation: words[0],
        rows,
        dead,
        map,
        pages,
        part: Part::ALL[usize::from(words[3] == 1)],
    }
}

fn read_list(words: &[u64]) -> FreeList {
    let (first, blocks) = split(words[1]);
    FreeList {
        horizon: words[0],
        first,
        blocks,
    }
}
