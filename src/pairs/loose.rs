//! Rows of indexes that have no posting lists: those in no segment yet, and those in small segments. Those of all tables are
//! joined as one: a thousand partitions, each with a few, would be half a million pairs of pieces.

use bloom_ident_core::sigfile::{Geometry, Pages, RowPage, SignatureRow};
use bloom_ident_core::{Error, Result};

use crate::pairs::join::{parts_of, row_of};
use crate::pairs::pieces::has_postings;
use crate::pairs::relation::Table;
use crate::pairs::sorted::Sorted;
use crate::pg::budget::push;
use crate::pg::check_for_interrupts;
use crate::pg::error::OrRaise;
use crate::pg::file::TemporaryFile;
use crate::sigfile::{check_places, PageKind, Part, Reader, Sorting};

/// The number that they have as those of a table: for each side one that no table has.
pub const TABLES: [u16; 2] = [u16::MAX - 1, u16::MAX];

/// Where rows are, by their numbers, from 1: in memory or, if they are many, in a temporary file.
pub struct Origins {
    rows: Vec<u64>,
    file: Option<TemporaryFile>,
    memory: usize,
}

impl Origins {
    fn new(memory: usize) -> Origins {
        Origins {
            rows: Vec::new(),
            file: None,
            memory,
        }
    }

    /// Errors: out of memory.
    fn push(&mut self, row: u64) {
        if self.file.is_none() && size_of::<u64>() * (self.rows.len() + 1) > self.memory {
            let mut file = TemporaryFile::new();
            for row in std::mem::take(&mut self.rows) {
                file.append(&row.to_le_bytes());
            }
            self.file = Some(file);
        }
        match &mut self.file {
            None => push(&mut self.rows, row),
            Some(file) => file.append(&row.to_le_bytes()),
        }
    }

    /// Table and place.
    pub fn get(&mut self, number: u64) -> (usize, u64) {
        let before = number - 1;
        let Some(file) = &mut self.file else {
            return parts_of(self.rows[before as usize]);
        };
        let mut row = [0; size_of::<u64>()];
        file.seek(row.len() as u64 * before);
        file.read(&mut row);
        parts_of(u64::from_le_bytes(row))
    }
}

struct Collector {
    origins: Origins,
    rows: Sorting,
    count: u64,
}

impl Collector {
    /// Errors: a damaged page; out of memory.
    fn add(&mut self, table: u16, page: &RowPage<'_>) -> Result<()> {
        page.check()?;
        check_places(page)?;
        for i in (0..page.len()).filter(|&i| page.tid(i) != 0) {
            let row = page.row(i);
            if row.popcount > page.geometry().bits {
                continue;
            }
            self.origins.push(row_of(table, row.tid));
            self.count += 1;
            let place = self.count;
            let threshold = 0.0;
            self.rows.push(SignatureRow {
                tid: place,
                threshold,
                ..row
            })?;
        }
        Ok(())
    }
}

/// The loose rows of some tables by bit count, and where they are; `None` if there are none. `memory` bytes are used.
///
/// Errors: out of memory.
pub fn loose<'a>(
    tables: impl IntoIterator<Item = (u16, &'a Table)>,
    memory: usize,
) -> Option<(Sorted, Origins)> {
    let mut all: Option<(Geometry, Collector)> = None;
    // indexes may be of both classes, and lay out their pages differently: thresholds stay behind
    for (number, table) in tables {
        let tail = &table.meta.tails[Part::Signatures as usize];
        let small = || {
            let entries = table.meta.segments.iter();
            entries.filter(|e| e.part == Part::Signatures && !has_postings(e))
        };
        if tail.is_empty() && small().next().is_none() {
            continue;
        }
        let here = table.meta.geometry(Part::Signatures);
        let (_, collector) = all.get_or_insert_with(|| {
            let geometry = Geometry::new(here.page_words, here.bits, false).or_raise();
            let collector = Collector {
                origins: Origins::new(memory / 8),
                rows: Sorting::new(geometry, memory - memory / 8),
                count: 0,
            };
            (geometry, collector)
        });
        // while the rows of a page are taken files are written, so it is copied
        let mut words = Vec::new();
        for entry in small() {
            let loaded = crate::sigfile::segment(table.index, &table.meta, entry).or_raise();
            let mut reader = Reader::new(table.index, &loaded).with_snapshot(table.snapshot);
            for page in 0..loaded.segment.row_pages() {
                words.clear();
                reader.checked(page).or_raise();
                words.extend_from_slice(reader.page(page).or_raise());
                reader.release();
                let rows = RowPage::new(here, &words).or_raise();
                let added = collector.add(number, &rows);
                added.map_err(|e| reader.locate(e)).or_raise();
                check_for_interrupts();
            }
        }
        for &block in tail {
            let buffer = table.index.share(block);
            buffer.test_old_snapshot(table.index, table.snapshot);
            let buffer = buffer.expect(table.index, PageKind::Tail, 0).or_raise();
            words.clear();
            words.extend_from_slice(buffer.words());
            drop(buffer);
            let rows = RowPage::growing(here, &words);
            let added = rows.and_then(|rows| collector.add(number, &rows));
            let located = |e: Error| table.index.locate(e.on_page(0), &[block]);
            added.map_err(located).or_raise();
            check_for_interrupts();
        }
    }
    let (geometry, collector) = all?;
    if collector.count == 0 {
        return None;
    }
    let runs = collector.rows.finish().or_raise();
    Some((Sorted::new(geometry, runs), collector.origins))
}
