//! Rows on their way into a segment: collected in memory, from there to temporary files if they are many,
//! and from segments that are merged; then all of them by bit count.

use bloom_ident_core::sigfile::{Geometry, Pages, RowPage, SignatureRow};
use bloom_ident_core::{Error, Result};
use pgrx::pg_sys;

use super::cache::Loaded;
use super::page::{Index, PAGE_WORDS};
use super::store::Reader;
use crate::pg::check_for_interrupts;
use crate::pg::error::OrRaise;

/// A bit count stands above the place of a row.
const _: () = assert!(Geometry::most_bits(PAGE_WORDS) + 1 < 1 << 16);

/// Rows in memory, of a number of words each: the bits, the threshold, and place + count · 2^48.
pub struct Collected {
    geometry: Geometry,
    words: Vec<u64>,
    /// Rows by bit count, once sorted.
    order: Vec<u32>,
    first: Vec<u32>,
}

impl Collected {
    pub fn new(geometry: Geometry) -> Self {
        Collected {
            geometry,
            words: Vec::new(),
            order: Vec::new(),
            first: Vec::new(),
        }
    }

    /// Words of a row.
    fn width(&self) -> usize {
        self.geometry.stride + 2
    }

    pub fn len(&self) -> usize {
        self.words.len() / self.width()
    }

    /// Bytes of memory for `rows` rows, sorted.
    fn bytes(&self, rows: usize) -> usize {
        rows * (8 * self.width() + 4) + 4 * self.counts()
    }

    /// Length of `first` while the rows are sorted.
    fn counts(&self) -> usize {
        self.geometry.null_popcount() as usize + 3
    }

    /// Errors: out of memory; a row that cannot be.
    pub fn push(&mut self, row: SignatureRow<'_>) -> Result<()> {
        let width = self.width();
        row.check(&self.geometry)?;
        if self.words.capacity() - self.words.len() < width {
            // by an eighth at a time: doubling would waste half of what is allowed
            let more = (self.words.len() / 8).max(1 << 12) + width;
            self.words
                .try_reserve_exact(more)
                .map_err(|_| Error::out_of_memory(8 * more))?;
        }
        self.words.extend_from_slice(row.words);
        self.words.extend_from_slice(&pack(row));
        Ok(())
    }

    fn row(&self, i: usize) -> SignatureRow<'_> {
        let words = &self.words[i * self.width()..(i + 1) * self.width()];
        unpack(&self.geometry, words)
    }

    /// Puts the rows in the order of their bit counts.
    ///
    /// Errors: out of memory.
    fn sort(&mut self) -> Result<()> {
        let (n, counts) = (self.len(), self.counts());
        let mut first = Vec::new();
        let mut order = Vec::new();
        let reserved = first
            .try_reserve_exact(counts)
            .and_then(|()| order.try_reserve_exact(n));
        reserved.map_err(|_| Error::out_of_memory(4 * (n + counts)))?;
        first.resize(counts, 0u32);
        order.resize(n, 0);
        for i in 0..n {
            check_for_interrupts();
            first[self.row(i).popcount as usize + 2] += 1;
        }
        for c in 1..counts {
            first[c] += first[c - 1];
        }
        // where count c begins is at c + 1 as yet, and comes to be where it ends
        for i in 0..n {
            let slot = &mut first[self.row(i).popcount as usize + 1];
            order[*slot as usize] = i as u32;
            *slot += 1;
            check_for_interrupts();
        }
        (self.first, self.order) = (first, order);
        Ok(())
    }

    /// A row by its number among the sorted ones.
    pub fn nth(&self, n: usize) -> SignatureRow<'_> {
        self.row(self.order[n] as usize)
    }

    fn of_count(&self, count: u32) -> &[u32] {
        &self.order[self.first[count as usize] as usize..self.first[count as usize + 1] as usize]
    }
}

/// What follows the bits of a row.
fn pack(row: SignatureRow<'_>) -> [u64; 2] {
    let place = row.tid | u64::from(row.popcount) << 48;
    [row.threshold.to_bits(), place]
}

fn unpack<'a>(geometry: &Geometry, words: &'a [u64]) -> SignatureRow<'a> {
    let stride = geometry.stride;
    SignatureRow {
        words: &words[..stride],
        threshold: f64::from_bits(words[stride]),
        tid: words[stride + 1] & ((1 << 48) - 1),
        popcount: (words[stride + 1] >> 48) as u32,
    }
}

/// Sorted rows in a temporary file.
pub struct Spilled {
    geometry: Geometry,
    file: *mut pg_sys::BufFile,
    /// Rows in the file that have not been read.
    left: u64,
    /// The next row, as soon as one has been read.
    row: Vec<u64>,
    started: bool,
}

impl Spilled {
    /// An empty file that goes with the transaction at the latest.
    ///
    /// Errors: out of memory.
    fn new(geometry: Geometry) -> Result<Spilled> {
        let width = geometry.stride + 2;
        let mut row = Vec::new();
        row.try_reserve_exact(width)
            .map_err(|_| Error::out_of_memory(8 * width))?;
        row.resize(width, 0);
        // SAFETY: the file is used by this backend only, and closed by it or at the end of the
        // transaction.
        let file = unsafe {
            // PrepareTempTablespaces() chooses where
            pg_sys::PrepareTempTablespaces();
            pg_sys::BufFileCreateTemp(false)
        };
        Ok(Spilled {
            geometry,
            file,
            left: 0,
            row,
            started: false,
        })
    }

    /// Writes sorted rows.
    ///
    /// Errors: out of memory.
    fn write(rows: &Collected) -> Result<Spilled> {
        let mut spilled = Spilled::new(rows.geometry)?;
        let width = rows.width();
        for &i in &rows.order {
            spilled.append(&rows.words[i as usize * width..(i as usize + 1) * width]);
        }
        Ok(spilled)
    }

    /// Makes one file of several.
    ///
    /// Errors: out of memory.
    fn merged(geometry: Geometry, files: Vec<Spilled>) -> Result<Spilled> {
        let mut spilled = Spilled::new(geometry)?;
        let mut runs: Vec<Run<'_>> = files.into_iter().map(Run::Spilled).collect();
        let mut words = std::mem::take(&mut spilled.row);
        merge(&geometry, &mut runs, |row| {
            words[..geometry.stride].copy_from_slice(row.words);
            words[geometry.stride..].copy_from_slice(&pack(row));
            spilled.append(&words);
            Ok(())
        })?;
        spilled.row = words;
        Ok(spilled)
    }

    fn append(&mut self, words: &[u64]) {
        check_for_interrupts();
        // SAFETY: so many bytes are readable.
        unsafe {
            pg_sys::BufFileWrite(
                self.file,
                words.as_ptr().cast_mut().cast(),
                size_of_val(words),
            )
        };
        self.left += 1;
    }

    /// The next row, which stays the next until [`Spilled::advance`].
    fn next(&mut self) -> Option<SignatureRow<'_>> {
        if !self.started {
            // SAFETY: the file is open.
            if unsafe { pg_sys::BufFileSeek(self.file, 0, 0, 0) } != 0 {
                crate::pg::error::internal!("could not rewind a temporary file");
            }
            self.started = true;
            self.read();
        }
        (self.left > 0).then(|| unpack(&self.geometry, &self.row))
    }

    fn advance(&mut self) {
        self.left -= 1;
        self.read();
    }

    fn read(&mut self) {
        if self.left == 0 {
            return;
        }
        let bytes = 8 * self.row.len();
        // SAFETY: so many bytes may be written; an ERROR if there are fewer.
        let got = unsafe { pg_sys::BufFileRead(self.file, self.row.as_mut_ptr().cast(), bytes) };
        if got != bytes {
            crate::pg::error::internal!(
                "could not read a temporary file: read {got} of {bytes} bytes"
            );
        }
    }
}

impl Drop for Spilled {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: open since construction.
            unsafe { pg_sys::BufFileClose(self.file) };
        }
    }
}

/// A segment being merged; its pages are copied, so that none is locked while others are written.
pub struct Merged<'a> {
    reader: Reader<'a>,
    loaded: &'a Loaded,
    page: Option<u32>,
    words: Vec<u64>,
}

impl<'a> Merged<'a> {
    pub fn new(index: Index, loaded: &'a Loaded) -> Self {
        Merged {
            reader: Reader::new(index, loaded),
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
pub enum Run<'a> {
    Collected(Collected),
    Spilled(Spilled),
    Merged(Merged<'a>),
}

impl Run<'_> {
    /// Passes on the rows of `count` set bits; called for every count, ascending.
    ///
    /// Errors: those of `to`; a damaged page.
    fn each(
        &mut self,
        count: u32,
        to: &mut dyn FnMut(SignatureRow<'_>) -> Result<()>,
    ) -> Result<()> {
        match self {
            Run::Collected(rows) => {
                for &i in rows.of_count(count) {
                    to(rows.row(i as usize))?;
                }
            }
            Run::Spilled(file) => {
                while let Some(row) = file.next().filter(|row| row.popcount == count) {
                    to(row)?;
                    file.advance();
                }
            }
            Run::Merged(segment) => {
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
    runs: &mut [Run<'_>],
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

/// Sorts what was collected.
pub fn sorted(mut rows: Collected) -> Collected {
    rows.sort().or_raise();
    rows
}

/// Collects rows in bounded memory: those that do not fit go to temporary files, sorted.
pub struct Sorting {
    collected: Collected,
    /// Files of rows; each of a level has been made of many of the level below.
    levels: Vec<Vec<Spilled>>,
    memory: usize,
}

/// Rows that are collected in any case, so that wide ones make no more files than can be.
const LEAST_ROWS: usize = 64;

impl Sorting {
    /// `memory` bytes are used, but for what [`LEAST_ROWS`] take.
    pub fn new(geometry: Geometry, memory: usize) -> Sorting {
        Sorting {
            collected: Collected::new(geometry),
            levels: Vec::new(),
            memory,
        }
    }

    /// Errors: out of memory.
    pub fn push(&mut self, row: SignatureRow<'_>) -> Result<()> {
        let n = self.collected.len();
        if n >= LEAST_ROWS && self.collected.bytes(n + 1) > self.memory {
            self.spill()?;
        }
        self.collected.push(row)
    }

    /// Files of a level, each of which has a buffer of a page and a row in memory.
    fn most_files(&self) -> usize {
        let file = pg_sys::BLCKSZ as usize + 8 * self.collected.width();
        (self.memory / 4 / file).clamp(8, 64)
    }

    /// Errors: out of memory.
    fn spill(&mut self) -> Result<()> {
        let geometry = self.collected.geometry;
        let mut rows = std::mem::replace(&mut self.collected, Collected::new(geometry));
        rows.sort()?;
        let mut file = Spilled::write(&rows)?;
        drop(rows);
        let most = self.most_files();
        for level in &mut self.levels {
            level.push(file);
            if level.len() < most {
                return Ok(());
            }
            file = Spilled::merged(geometry, std::mem::take(level))?;
        }
        self.levels.push(vec![file]);
        Ok(())
    }

    /// All of it in files, or in memory: what comes next needs the memory.
    ///
    /// Errors: out of memory.
    pub fn finish(mut self) -> Result<Vec<Run<'static>>> {
        if self.levels.is_empty() {
            self.collected.sort()?;
            return Ok(vec![Run::Collected(self.collected)]);
        }
        self.spill()?;
        let files = self.levels.into_iter().flatten();
        Ok(files.map(Run::Spilled).collect())
    }
}
