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
    loaded: &'a SegmentDescription,
    page: Option<u32>,
    words: Vec<u64>,
}

impl<'a> SegmentRows<'a> {
    pub fn new(index: SigfileIndex, loaded: &'a SegmentDescription) -> Self {
        SegmentRows {
            reader: SegmentReader::new(index, loaded),
            loaded,
            page: None,
            words: Vec::new(),
        }
    }

    /// Errors: a damaged page.
    fn row(&mut self, row: u32) -> Result<SignatureRow<'_>> {
        let segment = &self.loaded.segment;
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

/// Rows sorted by bit count.
pub enum RowRun<'a> {
    RowsInMemory(RowsInMemory),
    SpilledRows(SpilledRows),
    SegmentRows(SegmentRows<'a>),
}

impl RowRun<'_> {
    /// Passes on the rows of `count` set bits; called for every count, ascending.
    ///
    /// Errors: those of `to`; a damaged page.
    fn each(
        &mut self,
        count: u32,
        to: &mut dyn FnMut(SignatureRow<'_>) -> Result<()>,
    ) -> Result<()> {
        match self {
            RowRun::RowsInMemory(rows) => {
                for &i in rows.of_count(count) {
                    to(rows.row(i as usize))?;
                }
            }
            RowRun::SpilledRows(file) => {
                while let Some(row) = file.next().filter(|row| row.popcount == count) {
                    to(row)?;
                    file.advance();
                }
            }
            RowRun::SegmentRows(segment) => {
                for row in segment.loaded.segment.range(count, count) {
                    to(segment.row(row)?)?;
                }
            }
        }
        Ok(())
    }
}

/// Passes on the live rows of all runs by bit count.
///
/// Errors: those of `to`; a damaged page.
pub fn merge(
    geometry: &Geometry,
    runs: &mut [RowRun<'_>],
    mut to: impl FnMut(SignatureRow<'_>) -> Result<()>,
) -> Result<()> {
    for count in 0..=geometry.null_popcount() {
        for run in &mut *runs {
            check_for_interrupts();
            run.each(count, &mut |row| {
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
