//! The metapage: which segments there are, where new rows are, which merges are in progress, and which blocks are free.
//! Long, since what it says and how it is stored are read together.

use super::posting::MAX_ROWS;
use super::rows::Geometry;
use super::shape::RowShape;
use crate::words::{halves, halves_mut, join, split};
use base::{Error, ErrorKind, Result};
use signature::filter::{newer_version, KEYED};
use signature::sketch::VERSION as SKETCH;

/// Block of the metapage. No other page has this number.
pub const BLOCK: u32 = 0;

/// Generations that the tails begin with: no page of one is taken for a page of the other.
const FIRST_GENERATIONS: [u64; 2] = [1, 1 << 63];

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
    /// [`Meta::entered`] when it was made.
    pub entered: u64,
}

/// A page of a tail, as the metapage knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TailBlock {
    /// Its block.
    pub block: u32,
    /// What its stamp has for a generation.
    pub generation: u64,
}

/// What a metapage says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// A random number.
    pub identity: u64,
    /// Greater than the generation of every segment, and of every merge.
    pub next_generation: u64,
    /// Block of the page of merges, [`BLOCK`] for none.
    pub work: u32,
    /// Merges on that page.
    pub merges: u16,
    /// Rows that have left the tails.
    pub sealed: u64,
    /// Blocks for the next pages of tails; nobody can be reading them any more.
    pub stock: Vec<u32>,
    /// By generation.
    pub segments: Vec<SegmentEntry>,
    /// Lists of free blocks.
    pub free: Vec<FreeList>,
    /// Blocks of the tails, one list for each [`Part`].
    pub tails: [Vec<u32>; 2],
    /// Generation of the first page of each tail; the others follow one by one.
    bases: [u64; 2],
    shape: u128,
    /// One for each [`Part`].
    geometries: [Geometry; 2],
}

impl Meta {
    /// That of an empty index, with pages of so many words: [`LEAST_WORDS`] at least. `keys`: its rows have keys.
    ///
    /// Errors: shorter pages.
    pub fn new(page_words: usize, identity: u64, thresholds: bool, keys: bool) -> Result<Meta> {
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
            work: BLOCK,
            merges: 0,
            sealed: 0,
            stock: Vec::new(),
            segments: Vec::new(),
            free: Vec::new(),
            tails: [Vec::new(), Vec::new()],
            bases: FIRST_GENERATIONS,
            shape: 0,
            geometries: [
                Geometry::new(page_words, 0, thresholds, keys)?,
                Geometry::new(page_words, 1, false, keys)?,
            ],
        })
    }

    /// The tag of all signatures, see [`RowShape`]; 0 as long as there is no row.
    pub fn shape(&self) -> u128 {
        self.shape
    }

    /// From now on signatures have this tag; 0 for none.
    ///
    /// Errors: signatures of this shape do not fit a page.
    pub fn set_shape(&mut self, shape: u128) -> Result<()> {
        let [geometry, _] = &mut self.geometries;
        let rows = RowShape::of_tag(shape);
        *geometry = geometry.with_bits(rows.bits(), rows.measure())?;
        self.shape = shape;
        Ok(())
    }

    /// Whether rows have thresholds of their own.
    pub fn thresholds(&self) -> bool {
        self.geometry(Part::Signatures).thresholds
    }

    /// Whether rows have keys: the index has columns before the signature.
    pub fn keys(&self) -> bool {
        self.geometry(Part::Signatures).keys
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
        2 * tail_words(part, self.page_words(), self.is_keyed()).len()
    }

    /// Whether signatures are keyed: then their id takes the last word of the blocks of their tail.
    fn is_keyed(&self) -> bool {
        self.shape > u128::from(u64::MAX)
    }

    /// Whether all of it fits a page.
    ///
    /// Errors: more than a metapage holds.
    pub fn check_size(&self) -> Result<()> {
        let tail_fits = |part: Part| self.tail(part).len() <= self.most_pages(part);
        if self.segments.len() <= MAX_SEGMENTS
            && self.free.len() <= MAX_FREE
            && self.stock.len() <= MAX_STOCK
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

    /// Whether no page of the index has been replaced between this and `later`, which was read afterwards.
    pub fn holds_of(&self, later: &Meta) -> bool {
        let is_there =
            |s: &SegmentEntry| later.segments.iter().any(|l| l.generation == s.generation);
        let tail_is_there = |part: Part| {
            let same = self.bases[part as usize] == later.bases[part as usize];
            let own = self.tail(part);
            own.is_empty() || (same && later.tail(part).starts_with(own))
        };
        self.segments.iter().all(is_there) && Part::ALL.into_iter().all(tail_is_there)
    }

    /// The segments of a part.
    pub fn segments_of(&self, part: Part) -> impl Iterator<Item = &SegmentEntry> {
        self.segments.iter().filter(move |s| s.part == part)
    }

    /// Rows that are not dead of the segments of these generations.
    pub fn live_rows(&self, generations: &[u64]) -> u64 {
        let those = self
            .segments
            .iter()
            .filter(|s| generations.contains(&s.generation));
        those.map(|s| u64::from(s.rows - s.dead)).sum()
    }

    /// The blocks of the tail of a part.
    pub fn tail(&self, part: Part) -> &[u32] {
        &self.tails[part as usize]
    }

    /// The pages of the tail of a part.
    pub fn tail_blocks(&self, part: Part) -> impl ExactSizeIterator<Item = TailBlock> + '_ {
        let base = self.bases[part as usize];
        let blocks = self.tail(part).iter().enumerate();
        blocks.map(move |(i, &block)| TailBlock {
            block,
            generation: base.wrapping_add(i as u64),
        })
    }

    /// Adds a page to the tail of a part.
    pub fn lengthen(&mut self, part: Part, block: u32) -> TailBlock {
        self.tails[part as usize].push(block);
        self.tail_blocks(part).last().expect("just added")
    }

    /// Takes the first pages from the tail of a part; they had so many rows.
    pub fn shorten(&mut self, part: Part, pages: usize, rows: u64) {
        self.tails[part as usize].drain(..pages);
        self.bases[part as usize] = self.bases[part as usize].wrapping_add(pages as u64);
        self.sealed = self.sealed.wrapping_add(rows);
    }

    /// Rows that have been entered, if all pages of tails but the last ones are full. It never descends by more than a
    /// page.
    pub fn entered(&self) -> u64 {
        let rows = Part::ALL.map(|part| {
            (self.tail(part).len() as u64).saturating_sub(1) * self.geometry(part).capacity as u64
        });
        self.sealed.wrapping_add(rows[0] + rows[1])
    }
}

// The two kinds of rows of an index.

/// Two kinds of rows, kept apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// Rows with a signature.
    #[default]
    Signatures = 0,
    /// NULL instead of a signature.
    Nulls = 1,
}

impl Part {
    /// Both, in the order of their numbers.
    pub const ALL: [Part; 2] = [Part::Signatures, Part::Nulls];
}

// How a metapage is stored.
//
// | word | content |
// |---|---|
// | 0 | magic (u32), format version (u16), flags (u16): 1 if rows have thresholds, and 2 if they have keys |
// | 1 | identity: a random number, so that what a session remembers of an index is not taken for another's |
// | 2 | shape of the signatures, as the low word of their tag; 0 as long as there is no row |
// | 3 | generation of the next segment |
// | 4 | segments (u32), free lists (u32) |
// | 5 | tail pages with signatures (u32), without (u32) |
// | 6 | block of the page of merges (u32), merges on it (u16), blocks in stock (u16) |
// | 7 | rows that have left the tails, of both parts |
// | 8 | segments, 4 words each: generation; rows, dead rows (u32); first map block, pages (u32); 1 if its rows have no signature |
// | 200 | free lists, 2 words each: transaction id from which they are free; first block, blocks in it (u32) |
// | 264 | for each free list the rows that had been entered when it was made |
// | 296 | generation of the first page of the tail with signatures, and of that without |
// | 298 | stock: blocks for the next pages of tails (u32) |
// | 330 | blocks of the tail with signatures (u32) |
// | the word before the last 128 | of keyed signatures, the high word of their tag, which is the id: the blocks end before it |
// | the last 128 | blocks of the tail without (u32); from word 891 on where a page has 1019 |
//
// Format version 1 is one of before the first release.

/// Versions count from 1, as those of signatures do, and higher ones than these are damage.
const FUTURE: std::ops::Range<u16> = VERSION + 1..0x80;

/// Errors: a newer version has written the metapage, or its signatures, or one that is too old; any other unknown
/// version is damage.
fn check_format(version: u16, shape: u64) -> Result<()> {
    let what = || format!("is in format version {version}");
    if FUTURE.contains(&version) {
        return Err(Error::newer_format(what(), VERSION));
    }
    if (1..OLDEST_VERSION).contains(&version) {
        return Err(Error::older_format(what(), OLDEST_VERSION));
    }
    let bytes = shape.to_le_bytes();
    // Sketches have no k.
    let newest = if bytes[1] == 0 { SKETCH } else { KEYED };
    if let Some(newer) = newer_version(newest, &bytes) {
        let what = format!("has signatures in format version {newer}");
        return Err(Error::newer_format(what, newest));
    }
    if !(OLDEST_VERSION..=VERSION).contains(&version) {
        return Err(Error::damaged("the metapage is of an unknown version"));
    }
    Ok(())
}

impl Meta {
    /// Writes what [`Meta::check_size`] has found to fit to the content of a page.
    pub fn encode(&self, words: &mut [u64]) {
        let flags = u64::from(self.thresholds()) | u64::from(self.keys()) << 1;
        words[0] = u64::from(MAGIC) | u64::from(VERSION) << 32 | flags << 48;
        words[1] = self.identity;
        words[2] = self.shape as u64;
        words[3] = self.next_generation;
        words[4] = join(self.segments.len() as u32, self.free.len() as u32);
        words[5] = join(self.tails[0].len() as u32, self.tails[1].len() as u32);
        words[6] = join(
            self.work,
            u32::from(self.merges) | (self.stock.len() as u32) << 16,
        );
        words[7] = self.sealed;
        words[8..].fill(0);
        let segments = words[SEGMENTS_AT..FREE_AT].chunks_exact_mut(4);
        for (to, s) in segments.zip(&self.segments) {
            to[0] = s.generation;
            to[1] = join(s.rows, s.dead);
            to[2] = join(s.map, s.pages);
            to[3] = s.part as u64;
        }
        let (lists, marks) = words[FREE_AT..BASES_AT].split_at_mut(2 * MAX_FREE);
        for (to, list) in lists.chunks_exact_mut(2).zip(&self.free) {
            to[0] = list.horizon;
            to[1] = join(list.first, list.blocks);
        }
        for (to, list) in marks.iter_mut().zip(&self.free) {
            *to = list.entered;
        }
        words[BASES_AT..STOCK_AT].copy_from_slice(&self.bases);
        let stock = halves_mut(&mut words[STOCK_AT..TAIL_AT]);
        for (to, &block) in stock.iter_mut().zip(&self.stock) {
            *to = block;
        }
        if self.is_keyed() {
            words[id_word(self.page_words())] = (self.shape >> 64) as u64;
        }
        for part in Part::ALL {
            let at = tail_words(part, self.page_words(), self.is_keyed());
            let blocks = halves_mut(&mut words[at]);
            for (to, &block) in blocks.iter_mut().zip(self.tail(part)) {
                *to = block;
            }
        }
    }

    /// Reads what [`Meta::encode`] has written; `words` are the whole content of the page.
    ///
    /// Errors: another format, of the metapage or of the signatures; the message goes on behind the name of the index.
    /// Damage. Blocks are looked at where they are read.
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
        let lists = words[FREE_AT..MARKS_AT].chunks_exact(2);
        let keyed = words[2] as u8 == KEYED;
        let tail = |part: Part| halves(&words[tail_words(part, words.len(), keyed)]);
        let (work, counts) = split(words[6]);
        let (merges, stock) = (counts as u16, (counts >> 16) as usize);
        let [with, without] = Part::ALL.map(tail);
        if magic != MAGIC
            || flags > 3
            || entries.clone().any(|w| w[3] > 1)
            || segments > MAX_SEGMENTS
            || free > MAX_FREE
            || tails.0 > with.len()
            || tails.1 > without.len()
            || stock > MAX_STOCK
            || (merges > 0 && work == BLOCK)
        {
            return impossible();
        }
        let thresholds = flags & 1 == 1;
        let empty = Meta::new(words.len(), words[1], thresholds, flags & 2 != 0)?;
        let mut meta = Meta {
            next_generation: words[3],
            segments: entries.take(segments).map(read_segment).collect(),
            work,
            merges,
            sealed: words[7],
            free: lists.take(free).map(read_list).collect(),
            tails: [with[..tails.0].to_vec(), without[..tails.1].to_vec()],
            ..empty
        };
        let marks = &words[MARKS_AT..BASES_AT];
        let lists = meta.free.iter_mut().zip(marks);
        lists.for_each(|(list, &entered)| list.entered = entered);
        meta.bases = [words[BASES_AT], words[BASES_AT + 1]];
        meta.stock = halves(&words[STOCK_AT..TAIL_AT])[..stock].to_vec();
        meta.check_segments()?;
        let id = if keyed {
            words[id_word(words.len())]
        } else {
            0
        };
        let shape = u128::from(words[2]) | u128::from(id) << 64;
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

    /// Whether there are signatures with this tag, or none at all if it is 0.
    fn can_have(&self, shape: u128) -> bool {
        let part = Part::Signatures;
        if shape == 0 {
            return self.tail(part).is_empty() && self.segments_of(part).next().is_none();
        }
        RowShape::is_possible(shape)
    }

    /// Errors: a list of free blocks, or a block of a tail, that cannot be.
    fn check_blocks(&self) -> Result<()> {
        let is_list = |list: &FreeList| list.first != BLOCK && list.blocks > 0;
        if !self.free.iter().all(is_list) {
            return Err(Error::damaged("a list of free blocks is impossible"));
        }
        if self.stock.contains(&BLOCK) {
            return Err(Error::damaged("a block in stock is impossible"));
        }
        if self.tails.iter().flatten().any(|&block| block == BLOCK) {
            return Err(Error::damaged("a block of new rows is impossible"));
        }
        Ok(())
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
        entered: 0,
    }
}

// Where on a metapage the tables begin, and how much they hold.

/// "BISF"
const MAGIC: u32 = 0x4653_4942;

/// Version of the format of an index.
const VERSION: u16 = 2;

/// The oldest version that is read.
const OLDEST_VERSION: u16 = 2;

// Words at which the tables begin, and how much they hold.

/// Segments.
const SEGMENTS_AT: usize = 8;

/// Segments that an index can have.
pub const MAX_SEGMENTS: usize = 48;

/// Lists of free blocks.
const FREE_AT: usize = SEGMENTS_AT + 4 * MAX_SEGMENTS;

/// Lists of free blocks that an index can have.
pub const MAX_FREE: usize = 32;

/// What had been entered when they were made.
const MARKS_AT: usize = FREE_AT + 2 * MAX_FREE;

/// Generations of the tails' first pages.
const BASES_AT: usize = MARKS_AT + MAX_FREE;

/// Blocks in stock.
const STOCK_AT: usize = BASES_AT + 2;

/// Blocks that can be in stock for pages of tails.
pub const MAX_STOCK: usize = 64;

/// Blocks of the tail with signatures.
const TAIL_AT: usize = STOCK_AT + MAX_STOCK / 2;

/// Words for blocks of the tail without.
const NULLS_WORDS: usize = 128;

/// The shortest page that a metapage fits, in words: no row with a signature can be added then.
pub const LEAST_WORDS: usize = TAIL_AT + 1 + NULLS_WORDS;

const _: () = assert!(FREE_AT == 200 && MARKS_AT == 264 && BASES_AT == 296 && TAIL_AT == 330);

/// Where the id of keyed signatures is.
fn id_word(page_words: usize) -> usize {
    page_words - NULLS_WORDS - 1
}

/// Where on a page of so many words the blocks of the tail of a part are; `keyed`: of keyed signatures.
fn tail_words(part: Part, page_words: usize, keyed: bool) -> std::ops::Range<usize> {
    let nulls_at = page_words - NULLS_WORDS;
    match part {
        Part::Signatures if keyed => TAIL_AT..id_word(page_words),
        Part::Signatures => TAIL_AT..nulls_at,
        Part::Nulls => nulls_at..page_words,
    }
}

#[cfg(test)]
mod stored_tests {
    use super::*;
    use signature::filter::Shape;

    /// Of another format nothing else is read, and nothing is called damaged.
    #[test]
    fn another_format_is_named() {
        let meta = Meta::new(1019, 77, false, false).unwrap();
        let mut words = vec![0; 1019];
        meta.encode(&mut words);
        let current = words[0];
        let mut kind = |version: u16| {
            words.fill(u64::MAX);
            words[0] = current & !(0xffff << 32) | u64::from(version) << 32;
            Meta::decode(&words).unwrap_err().kind()
        };
        assert_eq!(kind(OLDEST_VERSION - 1), ErrorKind::OlderFormat);
        assert_eq!(kind(VERSION + 1), ErrorKind::NewerFormat);
        assert_eq!(kind(VERSION), ErrorKind::Corrupted);
        assert_eq!(kind(0), ErrorKind::Corrupted);
    }

    /// The id of keyed signatures is beside the blocks, of which there are two fewer.
    #[test]
    fn keyed_signatures_have_an_id() {
        let mut meta = Meta::new(1019, 77, false, false).unwrap();
        let most = meta.most_pages(Part::Signatures);
        let shape = Shape::of_records(1024, 0x0123_4567_89ab_cdef)
            .unwrap()
            .tag();
        meta.set_shape(shape).unwrap();
        assert_eq!(meta.most_pages(Part::Signatures), most - 2);
        meta.tails = [(1..most as u32 - 1).collect(), vec![6]];
        meta.check_size().unwrap();
        let mut words = vec![0; 1019];
        meta.encode(&mut words);
        assert_eq!(Meta::decode(&words).unwrap(), meta);
        words[id_word(1019)] = 0;
        assert!(Meta::decode(&words).is_err());
    }
}
