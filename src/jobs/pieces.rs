//! Pieces that rows are joined in: the segments of indexes, and rows that are in memory.

use std::rc::Rc;

use bloom_ident_core::sigfile::write::{Content, Store, Writer};
use bloom_ident_core::sigfile::{Geometry, Pages, Row, RowPage, Segment};
use bloom_ident_core::{Error, Result};

use pgrx::pg_sys;

use crate::error::OrRaise;
use crate::sigfile::{sorted, Collected, Index, Loaded, PageKind, Part, Reader, PAGE_WORDS};

use super::relation::Table;

/// Rows of one table, sorted by bit count, with posting lists.
pub enum Piece {
    Indexed {
        table: u16,
        index: Index,
        loaded: Rc<Loaded>,
        snapshot: pg_sys::Snapshot,
    },
    Memory {
        table: u16,
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

    pub fn is_in_memory(&self) -> bool {
        matches!(self, Piece::Memory { .. })
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
        table: u16,
        geometry: Geometry,
        memory: usize,
        rows: impl FnOnce(&mut dyn FnMut(Row<'_>)),
    ) -> Piece {
        let mut writer = Writer::new(geometry, Memory::default());
        rows(&mut |row| writer.push(row).or_raise());
        let (segment, pages) = writer.finish(None, memory).or_raise();
        Piece::Memory {
            table,
            segment,
            pages: pages.check().or_raise(),
        }
    }
}

/// The segments of a table.
pub fn segments(number: u16, table: &Table) -> impl Iterator<Item = Piece> + '_ {
    let parts = table.meta.segments.iter();
    let entries = parts.filter(|entry| entry.part == Part::Signatures);
    entries.map(move |entry| Piece::Indexed {
        table: number,
        index: table.index,
        loaded: crate::sigfile::segment(table.index, &table.meta, entry),
        snapshot: table.snapshot,
    })
}

/// The rows of a table that are in no segment yet, in memory.
pub fn tail(number: u16, table: &Table, memory: usize) -> Option<Piece> {
    let blocks = &table.meta.tails[Part::Signatures as usize];
    if blocks.is_empty() {
        return None;
    }
    let geometry = table.meta.geometry(Part::Signatures);
    let mut rows = Collected::new(geometry);
    for &block in blocks {
        let buffer = table.index.share(block);
        buffer.test_old_snapshot(table.index, table.snapshot);
        let buffer = buffer.expect(table.index, PageKind::Tail, 0);
        let words = buffer.words().to_vec();
        drop(buffer);
        let page = RowPage::new(geometry, &words);
        for i in (0..page.len()).filter(|&i| page.place(i) != 0) {
            rows.push(page.row(i)).or_raise();
        }
        pgrx::check_for_interrupts!();
    }
    let rows = sorted(rows);
    Some(Piece::of_rows(number, geometry, memory, |to| {
        (0..rows.len()).for_each(|i| to(rows.nth(i)));
    }))
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
    fn page(&mut self, number: u32) -> &[u64] {
        // a page that there was no memory for is one without anything on it
        self.pages
            .get(number as usize)
            .map_or(&[0; PAGE_WORDS], |page| page)
    }

    fn tick(&mut self) {
        pgrx::check_for_interrupts!();
    }
}

impl Store for Memory {
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

/// Reads the pages of a piece.
pub enum PieceReader<'a> {
    Indexed(Reader<'a>),
    Memory(&'a Memory),
}

impl Pages for PieceReader<'_> {
    #[inline]
    fn page(&mut self, number: u32) -> &[u64] {
        match self {
            PieceReader::Indexed(reader) => reader.page(number),
            PieceReader::Memory(memory) => &memory.pages[number as usize],
        }
    }

    fn release(&mut self) {
        if let PieceReader::Indexed(reader) = self {
            reader.release();
        }
    }

    fn tick(&mut self) {
        match self {
            PieceReader::Indexed(reader) => reader.tick(),
            PieceReader::Memory(_) => crate::types::tick(),
        }
    }
}
