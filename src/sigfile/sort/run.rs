//! Runs of sorted rows, and merging them.

use bloom_ident_core::sigfile::{Geometry, Pages, RowPage, SignatureRow};
use bloom_ident_core::Result;

use super::spill::SpilledRows;
use super::RowsInMemory;
use crate::pg::check_for_interrupts;
use crate::sigfile::page::SigfileIndex;
use crate::sigfile::read::{SegmentDescription, SegmentReader};

/// A segment being merged; its pages are copied, so that none is locked while others are written.
pub struct SegmentRows<'a> {
    reader: SegmentReader<'a>,
    description: &'a SegmentDescription,
    page: Option<u32>,
    words: Vec<u64>,
}

impl<'a> SegmentRows<'a> {
    /// The rows of a segment of the index.
    pub fn new(index: SigfileIndex<'a>, description: &'a SegmentDescription) -> Self {
        SegmentRows {
            reader: SegmentReader::new(index, description),
            description,
            page: None,
            words: Vec::new(),
        }
    }

    /// A row by its number in the segment.
    ///
    /// Errors: a damaged page.
    fn row(&mut self, row: u32) -> Result<SignatureRow<'_>> {
        let segment = &self.description.segment;
        let geometry = segment.geometry;
        let number = row / geometry.capacity as u32;
        if self.page != Some(number) {
            self.reader.checked(number)?;
            self.words.clear();
            self.words.extend_from_slice(self.reader.page(number)?);
            self.reader.release();
            self.page = Some(number);
        }
        let page = RowPage::new(geometry, &self.words)?;
        Ok(page.row(row as usize % geometry.capacity))
    }
}

/// Rows sorted by popcount, wherever they are.
pub enum RowRun<'a> {
    Memory(RowsInMemory),
    Spilled(SpilledRows),
    Segment(SegmentRows<'a>),
}

impl RowRun<'_> {
    /// Passes on the rows of a popcount; called for every popcount, ascending.
    ///
    /// Errors: those of `to`; a damaged page.
    fn each(
        &mut self,
        popcount: u32,
        to: &mut dyn FnMut(SignatureRow<'_>) -> Result<()>,
    ) -> Result<()> {
        match self {
            RowRun::Memory(rows) => rows.of_popcount(popcount).try_for_each(to),
            RowRun::Spilled(file) => {
                while let Some(row) = file.next().filter(|row| row.popcount == popcount) {
                    to(row)?;
                    file.advance();
                }
                Ok(())
            }
            RowRun::Segment(segment) => {
                let mut rows = segment.description.segment.range(popcount, popcount);
                rows.try_for_each(|row| to(segment.row(row)?))
            }
        }
    }
}

/// Rows in several runs, which are merged when they are read.
pub struct SortedRuns<'a> {
    geometry: Geometry,
    runs: Vec<RowRun<'a>>,
}

impl<'a> SortedRuns<'a> {
    /// Runs of rows of this geometry.
    pub fn of(geometry: Geometry, runs: Vec<RowRun<'a>>) -> SortedRuns<'a> {
        SortedRuns { geometry, runs }
    }

    /// How the rows lie on pages.
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }

    /// All rows, if they are in memory; otherwise the runs again.
    pub fn into_memory(mut self) -> std::result::Result<RowsInMemory, Self> {
        match self.runs.pop() {
            Some(RowRun::Memory(rows)) if self.runs.is_empty() => Ok(rows),
            last => {
                self.runs.extend(last);
                Err(self)
            }
        }
    }

    /// Passes on the live rows by popcount. To be called once: afterwards the runs have been read.
    ///
    /// Errors: those of `to`; a damaged page.
    pub fn each(&mut self, mut to: impl FnMut(SignatureRow<'_>) -> Result<()>) -> Result<()> {
        for popcount in 0..=self.geometry.null_popcount() {
            for run in &mut self.runs {
                check_for_interrupts();
                run.each(popcount, &mut |row| {
                    check_for_interrupts();
                    if row.tid != 0 {
                        to(row)?;
                    }
                    Ok(())
                })?;
            }
        }
        Ok(())
    }
}
