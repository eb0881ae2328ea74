//! The pieces that rows are joined in: segments of indexes, and rows in memory.

use std::rc::Rc;

use base::{Error, Result};
use sigfile::chunk::MIN_ROWS;
use sigfile::write::{Content, PageStore, Writer};
use sigfile::{Geometry, Pages, Part, Segment, SegmentEntry, SignatureRow};

use pgrx::pg_sys;

use crate::pairs::join::TableNumber;
use crate::pairs::table::IndexedTable;
use access::{SegmentDescription, SegmentReader, SigfileIndex, PAGE_WORDS};
use pg::check_for_interrupts;
use pg::error::OrRaise;

/// Rows of one table, sorted by popcount, with posting lists.
pub struct JoinPiece<'a> {
    table: TableNumber,
    side: u8,
    rows: PieceRows<'a>,
}

enum PieceRows<'a> {
    /// A segment of an index.
    Indexed {
        index: SigfileIndex<'a>,
        loaded: Rc<SegmentDescription>,
        snapshot: pg_sys::Snapshot,
    },
    /// Rows that were sorted for this join.
    Memory(Segment, Memory),
}

impl<'a> JoinPiece<'a> {
    pub fn segment(&self) -> &Segment {
        match &self.rows {
            PieceRows::Indexed { loaded, .. } => &loaded.segment,
            PieceRows::Memory(segment, _) => segment,
        }
    }

    pub fn table(&self) -> TableNumber {
        self.table
    }

    /// The side is 0 or 1 where pieces of different sides are joined. In a pair the row of side 0 comes first.
    pub fn side(&self) -> u8 {
        self.side
    }

    pub fn pages(&self) -> PieceReader<'_> {
        match &self.rows {
            PieceRows::Indexed {
                index,
                loaded,
                snapshot,
            } => {
                let reader = SegmentReader::new(*index, loaded);
                // SAFETY: the snapshot stays active until the tables of the join are closed.
                PieceReader::Indexed(unsafe { reader.with_snapshot(*snapshot) })
            }
            PieceRows::Memory(_, pages) => PieceReader::Memory(pages),
        }
    }

    /// Makes a piece of the rows that `rows` gives in the order of their popcounts. Sorting takes `memory` bytes.
    ///
    /// Errors: out of memory.
    pub fn of_rows(
        (table, side): (TableNumber, u8),
        geometry: Geometry,
        memory: usize,
        rows: impl FnOnce(&mut dyn FnMut(SignatureRow<'_>)),
    ) -> JoinPiece<'a> {
        let mut writer = Writer::new(geometry, Memory::default());
        rows(&mut |row| writer.push(row).or_raise());
        let (segment, pages) = writer.finish(None, memory).or_raise();
        JoinPiece {
            table,
            side,
            rows: PieceRows::Memory(segment, pages.check().or_raise()),
        }
    }
}

/// Whether the rows of a segment are joined by its posting lists, and not as [`unlisted`](crate::pairs::join::unlisted) rows.
pub fn has_postings(entry: &SegmentEntry) -> bool {
    entry.part == Part::Signatures && entry.rows >= MIN_ROWS
}

/// The segments of a table that have posting lists.
pub fn segments(
    number: TableNumber,
    side: u8,
    table: &IndexedTable,
) -> impl Iterator<Item = JoinPiece<'_>> + '_ {
    let entries = table.meta.segments.iter().filter(|e| has_postings(e));
    entries.map(move |entry| JoinPiece {
        table: number,
        side,
        rows: PieceRows::Indexed {
            index: table.index(),
            loaded: access::segment(table.index(), &table.meta, entry).or_raise(),
            snapshot: table.snapshot,
        },
    })
}

/// Pages in memory.
#[derive(Default)]
pub struct Memory {
    pages: Vec<Box<[u64]>>,
    failed: bool,
}

impl Memory {
    /// Errors: out of memory while the pages were written.
    fn check(self) -> Result<Memory> {
        if self.failed {
            return Err(Error::out_of_memory(
                8 * PAGE_WORDS * (self.pages.len() + 1),
            ));
        }
        Ok(self)
    }
}

impl Pages for Memory {
    /// Errors: a page that there was no memory for.
    fn page(&mut self, number: u32) -> Result<&[u64]> {
        let page = self.pages.get(number as usize);
        let page = page.ok_or_else(|| Error::out_of_memory(8 * PAGE_WORDS))?;
        Ok(page)
    }

    #[inline]
    fn tick(&mut self) {
        check_for_interrupts();
    }
}

impl PageStore for Memory {
    fn append(&mut self, _: Content, words: &[u64]) {
        let mut page = Vec::new();
        if self.failed
            || page.try_reserve_exact(words.len()).is_err()
            || self.pages.try_reserve(1).is_err()
        {
            self.failed = true;
            return;
        }
        page.extend_from_slice(words);
        self.pages.push(page.into_boxed_slice());
    }
}

impl PieceReader<'_> {
    /// Adds the index and the block to an error of the core's about a page.
    #[cold]
    pub fn locate(&self, error: Error) -> Error {
        match self {
            PieceReader::Indexed(reader) => reader.locate(error),
            PieceReader::Memory(_) => error,
        }
    }
}

/// Reads the pages of a piece.
pub enum PieceReader<'a> {
    Indexed(SegmentReader<'a>),
    Memory(&'a Memory),
}

impl Pages for PieceReader<'_> {
    #[inline]
    fn page(&mut self, number: u32) -> Result<&[u64]> {
        match self {
            PieceReader::Indexed(reader) => reader.page(number),
            PieceReader::Memory(memory) => Ok(&memory.pages[number as usize]),
        }
    }

    fn release(&mut self) {
        if let PieceReader::Indexed(reader) = self {
            reader.release();
        }
    }

    #[inline]
    fn tick(&mut self) {
        match self {
            PieceReader::Indexed(reader) => reader.tick(),
            PieceReader::Memory(_) => check_for_interrupts(),
        }
    }
}
