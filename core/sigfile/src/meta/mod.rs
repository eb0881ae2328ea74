//! The metapage: which segments there are, where new rows are, which merges are in progress, and which blocks are free.

mod stored;

use super::posting::MAX_ROWS;
use super::rows::Geometry;
use super::shape::RowShape;
use base::{Error, ErrorKind, Result};

pub use stored::{LEAST_WORDS, MAX_FREE, MAX_SEGMENTS, MAX_STOCK};

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
    /// What its stamp has for a generation; a page of the first format version has 0.
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
    shape: u64,
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
    pub fn shape(&self) -> u64 {
        self.shape
    }

    /// From now on signatures have this tag; 0 for none.
    ///
    /// Errors: signatures of this shape do not fit a page.
    pub fn set_shape(&mut self, shape: u64) -> Result<()> {
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
        2 * stored::tail_words(part, self.page_words()).len()
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
