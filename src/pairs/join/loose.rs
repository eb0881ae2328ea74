//! Loose rows are the rows of an index without posting lists: those on its tail pages, and those of small segments. The loose
//! rows of all tables are joined as those of one table, since a thousand partitions with a few rows each would be half a
//! million pairs of pieces.

use base::{Error, Result};
use sigfile::{Geometry, Pages, Part, RowPage, SignatureRow};

use crate::pairs::join::pieces::has_postings;
use crate::pairs::join::sorted::Sorted;
use crate::pairs::join::units::is_null;
use crate::pairs::join::{TableNumber, TableRow};
use crate::pairs::table::IndexedTable;
use access::{check_tids, ExternalSort, SegmentReader, TailBlocks};
use pg::budget::push;
use pg::check_for_interrupts;
use pg::error::OrRaise;
use pg::file::TemporaryFile;

/// The tables and tids of loose rows by their numbers from 1. They are in memory or, if they are many, in a temporary file.
pub struct Origins {
    rows: Vec<TableRow>,
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
    fn push(&mut self, row: TableRow) {
        if self.file.is_none() && size_of::<TableRow>() * (self.rows.len() + 1) > self.memory {
            let mut file = TemporaryFile::new();
            for row in std::mem::take(&mut self.rows) {
                file.append(&row.to_bytes());
            }
            self.file = Some(file);
        }
        match &mut self.file {
            None => push(&mut self.rows, row),
            Some(file) => file.append(&row.to_bytes()),
        }
    }

    /// The table and the tid of a row.
    pub fn get(&mut self, number: u64) -> TableRow {
        let before = number - 1;
        let Some(file) = &mut self.file else {
            return self.rows[before as usize];
        };
        let mut row = [0; size_of::<TableRow>()];
        file.seek(row.len() as u64 * before);
        file.read(&mut row);
        TableRow::of_bytes(row)
    }
}

/// Collects loose rows and where they are.
struct Collector {
    origins: Origins,
    rows: ExternalSort,
    count: u64,
}

impl Collector {
    /// Errors: a damaged page; out of memory.
    fn add(&mut self, table: TableNumber, page: &RowPage<'_>) -> Result<()> {
        page.check()?;
        check_tids(page)?;
        for i in (0..page.len()).filter(|&i| page.tid(i) != 0) {
            let row = page.row(i);
            if is_null(page.geometry(), row.popcount) {
                continue;
            }
            self.origins.push(TableRow::new(table, row.tid));
            self.count += 1;
            let tid = self.count;
            let threshold = 0.0;
            self.rows.push(SignatureRow {
                tid,
                threshold,
                ..row
            })?;
        }
        Ok(())
    }
}

/// The loose rows of some tables, by popcount, and where they are. The result is `None` if there are none. It takes `memory`
/// bytes.
///
/// Errors: a damaged page; out of memory.
pub fn loose<'a>(
    tables: impl IntoIterator<Item = (TableNumber, &'a IndexedTable)>,
    memory: usize,
) -> Option<(Sorted, Origins)> {
    let mut all: Option<(Geometry, Collector)> = None;
    // The indexes can be of both operator classes, whose pages are laid out differently. The thresholds of rows are left out.
    for (number, table) in tables {
        let tail = table.meta.tail(Part::Signatures);
        let small = || {
            let entries = table.meta.segments_of(Part::Signatures);
            entries.filter(|e| !has_postings(e))
        };
        if tail.is_empty() && small().next().is_none() {
            continue;
        }
        let here = table.meta.geometry(Part::Signatures);
        let (_, collector) = all.get_or_insert_with(|| {
            let geometry = Geometry::new(here.page_words, 0, false);
            let geometry = geometry.and_then(|g| g.with_bits(here.bits, here.measure));
            let geometry = geometry.or_raise();
            let collector = Collector {
                origins: Origins::new(memory / 8),
                rows: ExternalSort::new(geometry, memory - memory / 8),
                count: 0,
            };
            (geometry, collector)
        });
        // Temporary files may be written while the rows of a page are taken, so the page is copied and released first.
        let mut words = Vec::new();
        for entry in small() {
            let loaded = access::segment(table.index(), &table.meta, entry).or_raise();
            let reader = SegmentReader::new(table.index(), &loaded);
            // SAFETY: the snapshot stays active until the table is closed.
            let mut reader = unsafe { reader.with_snapshot(table.snapshot) };
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
        let blocks = TailBlocks::of(&table.meta, Part::Signatures);
        let tail = blocks.shared(table.index(), here);
        // SAFETY: the snapshot stays active until the table is closed.
        for page in unsafe { tail.with_snapshot(table.snapshot) } {
            let page = page.or_raise();
            words.clear();
            words.extend_from_slice(page.words());
            let block = page.release();
            let rows = RowPage::growing(here, &words);
            let added = rows.and_then(|rows| collector.add(number, &rows));
            let located = |e: Error| table.index().locate(e.on_page(0), &[block]);
            added.map_err(located).or_raise();
        }
    }
    let (geometry, collector) = all?;
    if collector.count == 0 {
        return None;
    }
    let runs = collector.rows.finish().or_raise();
    Some((Sorted::new(geometry, runs), collector.origins))
}
