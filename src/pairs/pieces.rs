//! Pieces that rows are joined in: the segments of indexes, and rows that are in memory.

use std::rc::Rc;

use bloom_ident_core::sigfile::chunk::MIN_ROWS;
use bloom_ident_core::sigfile::write::{Content, PageStore, Writer};
use bloom_ident_core::sigfile::{Geometry, Pages, Segment, SignatureRow};
use bloom_ident_core::{Error, Result};

use pgrx::pg_sys;

use crate::pg::check_for_interrupts;
use crate::pg::error::OrRaise;
use crate::sigfile::{Entry, Index, Loaded, Part, Reader, PAGE_WORDS};

use crate::pairs::relation::Table;

/// Rows of one table, sorted by bit count, with posting lists.
pub enum Piece {
    Indexed {
        table: u16,
        side: u8,
        index: Index,
        loaded: Rc<Loaded>,
        snapshot: pg_sys::Snapshot,
    },
    Memory {
        table: u16,
        side: u8,
        segment: Segment,
        pages: Memory,
    },
}

impl Piece {
    pub fn segment(&self) -> &Segment {
        match self {
            Piece::Indexed { loaded, .. } => &loaded.segment,
            Piece::Memory { segment, .. } => segment,
        }
    }

    pub fn table(&self) -> u16 {
        match self {
            Piece::Indexed { table, .. } | Piece::Memory { table, .. } => *table,
        }
    }

    /// 0 or 1, where pieces of different sides are joined. What is found of side 0 comes first.
    pub fn side(&self) -> u8 {
        match self {
            Piece::Indexed { side, .. } | Piece::Memory { side, .. } => *side,
        }
    }

    pub fn pages(&self) -> PieceReader<'_> {
        match self {
            Piece::Indexed {
                index,
                loaded,
                snapshot,
                ..
            } => PieceReader::Indexed(Reader::new(*index, loaded).with_snapshot(*snapshot)),
            Piece::Memory { pages, .. } => PieceReader::Memory(pages),
        }
    }

    /// Rows that come by bit count as a piece; `memory` bytes are used to sort.
    pub fn of_rows(
        (table, side): (u16, u8),
        geometry: Geometry,
        memory: usize,
        rows: impl FnOnce(&mut dyn FnMut(SignatureRow<'_>)),
    ) -> Piece {
        let mut writer = Writer::new(geometry, Memory::default());
        rows(&mut |row| writer.push(row).or_raise());
        let (segment, pages) = writer.finish(None, memory).or_raise();
        Piece::Memory {
            table,
            side,
            segment,
            pages: pages.check().or_raise(),
        }
    }
}

/// Whether the rows of a segment are joined by its posting lists, and not as [`loose`](crate::pairs::loose) ones.
pub fn has_postings(entry: &Entry) -> bool {
    entry.part == Part::Signatures && entry.rows >= MIN_ROWS
}

/// The segments of a table that have posting lists.
pub fn segments(number: u16, side: u8, table: &Table) -> impl Iterator<Item = Piece> + '_ {
    let entries = table.meta.segments.iter().filter(|e| has_postings(e));
    entries.map(move |entry| Piece::Indexed {
        table: number,
        side,
        index: table.index,
        loaded: crate::sigfile::segment(table.index, &table.meta, entry).or_raise(),
        snapshot: table.snapshot,
    })
}

/// Pages in memory.
#[derive(Default)]
pub struct Memory {
    pages: Vec<Box<[u64]>>,
    failed: bool,
}

impl Memory {
    /// Errors: out of memory while it was filled.
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
    /// What the core says of a page, with the index and the block.
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
    Indexed(Reader<'a>),
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
