//! Runs of sorted rows, and merging them.

use base::Result;
use sigfile::{Geometry, SignatureRow};

use super::spill::SpilledRows;
use super::RowsInMemory;
use pg::check_for_interrupts;

/// Sorted rows, wherever they are.
pub enum RowRun {
    Memory(RowsInMemory),
    Spilled(SpilledRows),
}

impl RowRun {
    /// Passes on the rows of a popcount, where rows have no keys; called for every popcount, ascending.
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
        }
    }

    /// A row by its place in the run. Of a file it is the next row, and is asked for in turn.
    fn at(&mut self, place: usize) -> Option<SignatureRow<'_>> {
        match self {
            RowRun::Memory(rows) => (place < rows.len()).then(|| rows.nth(place)),
            RowRun::Spilled(file) => file.next(),
        }
    }
}

/// Rows in several runs, which are merged when they are read.
pub struct SortedRuns {
    geometry: Geometry,
    runs: Vec<RowRun>,
}

impl SortedRuns {
    /// Runs of rows of this geometry.
    pub fn of(geometry: Geometry, runs: Vec<RowRun>) -> SortedRuns {
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

    /// Passes on the live rows in their order: by popcount, or by key and popcount. To be called once: afterwards the runs have been read.
    ///
    /// Errors: those of `to`; a damaged page.
    pub fn each(&mut self, mut to: impl FnMut(SignatureRow<'_>) -> Result<()>) -> Result<()> {
        if self.geometry.keys {
            return self.each_by_key(to);
        }
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

    /// The same where rows have keys.
    fn each_by_key(&mut self, mut to: impl FnMut(SignatureRow<'_>) -> Result<()>) -> Result<()> {
        let mut places = vec![0; self.runs.len()];
        let first = self
            .runs
            .iter_mut()
            .map(|run| run.at(0).map(|row| row.order()));
        let mut next: Vec<Option<u64>> = first.collect();
        while let Some(order) = next.iter().flatten().min().copied() {
            for (i, run) in self.runs.iter_mut().enumerate() {
                while next[i] == Some(order) {
                    check_for_interrupts();
                    let row = run.at(places[i]).filter(|row| row.tid != 0);
                    row.map_or(Ok(()), &mut to)?;
                    if let RowRun::Spilled(file) = run {
                        file.advance();
                    }
                    places[i] += 1;
                    next[i] = run.at(places[i]).map(|row| row.order());
                }
            }
        }
        Ok(())
    }
}
