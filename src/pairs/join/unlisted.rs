//! Unlisted rows are the rows of an index without posting lists: those on its tail pages, and those of small segments. The
//! unlisted rows of all tables are joined as those of one table, since a thousand partitions with a few rows each would be
//! half a million pairs of pieces.

use base::{Error, Result};
use sigfile::{Geometry, Pages, Part, RowPage, SignatureRow};

use crate::pairs::join::pieces::has_postings;
use crate::pairs::join::sorted::Sorted;
use crate::pairs::join::units::is_null;
use crate::pairs::join::{JoinSink, RowPair, TableNumber, TableRow};
use crate::pairs::table::IndexedTable;
use access::{check_tids, RowSort, SegmentReader, TailBlocks};
use pg::check_for_interrupts;
use pg::error::OrRaise;
use pg::file::SpillVec;

/// The tables and tids of the unlisted rows of each side, by their numbers from 1.
pub struct Origins(pub [Option<SpillVec<TableRow>>; 2]);

impl Origins {
    /// The row of a table that a row is.
    pub fn locate(&mut self, row: TableRow) -> TableRow {
        let side = row.table().unlisted_side();
        match side.and_then(|side| self.0[side].as_mut()) {
            Some(rows) => rows.get(row.row() - 1..row.row())[0],
            None => row,
        }
    }
}

/// Gives pairs to another sink, by the rows of tables that the unlisted ones are.
pub struct LocatedPairs<'a, S> {
    pub sink: &'a mut S,
    pub origins: Origins,
}

impl<S: JoinSink> JoinSink for LocatedPairs<'_, S> {
    fn pair(&mut self, pair: &RowPair) {
        self.sink.pair(&RowPair {
            a: self.origins.locate(pair.a),
            b: self.origins.locate(pair.b),
            similarity: pair.similarity,
        });
    }

    fn progress(&mut self, done: u64, all: u64) {
        self.sink.progress(done, all);
    }
}

/// Collects unlisted rows and where they are.
struct Collector {
    origins: SpillVec<TableRow>,
    rows: RowSort,
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
            let tid = self.origins.len();
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

/// The unlisted rows of some tables, by popcount, and where they are. The result is `None` if there are none. It takes
/// `memory` bytes.
///
/// Errors: a damaged page; out of memory.
pub fn unlisted<'a>(
    tables: impl IntoIterator<Item = (TableNumber, &'a IndexedTable)>,
    memory: usize,
) -> Option<(Sorted, SpillVec<TableRow>)> {
    let mut all: Option<Collector> = None;
    // The indexes can be of both operator classes, whose pages are laid out differently. The thresholds of rows are
    // left out.
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
        let collector = all.get_or_insert_with(|| {
            let geometry = Geometry::new(here.page_words, 0, false, false);
            let geometry = geometry.and_then(|g| g.with_bits(here.bits, here.measure));
            let geometry = geometry.or_raise();
            Collector {
                origins: SpillVec::new(memory / 8),
                rows: RowSort::new(geometry, memory - memory / 8),
            }
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
        let blocks = TailBlocks::new(&table.meta, Part::Signatures);
        // SAFETY: the snapshot stays active until the table is closed.
        let tail = unsafe { blocks.shared_with_snapshot(table.index(), table.snapshot) };
        for page in tail {
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
    let collector = all.filter(|collector| !collector.origins.is_empty())?;
    let rows = Sorted::new(collector.rows.finish());
    Some((rows, collector.origins))
}
