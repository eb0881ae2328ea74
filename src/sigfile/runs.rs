//! Rows on their way into a segment: collected in memory, from there to temporary files if they are many,
//! and from segments that are merged; then all of them by bit count.

use bloom_ident_core::sigfile::{Geometry, Pages, Row, RowPage};
use bloom_ident_core::{Error, Result};
use pgrx::pg_sys;

use super::cache::Loaded;
use super::page::Index;
use super::store::Reader;
use crate::error::OrRaise;

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
    pub fn bytes(&self, rows: usize) -> usize {
        rows * (8 * self.width() + 4)
    }

    /// Errors: out of memory.
    pub fn push(&mut self, row: Row<'_>) -> Result<()> {
        let width = self.width();
        if self.words.capacity() - self.words.len() < width {
            // by an eighth at a time: doubling would waste half of what is allowed
            let more = (self.words.len() / 8).max(1 << 12) + width;
            self.words
                .try_reserve_exact(more)
                .map_err(|_| Error::out_of_memory(8 * more))?;
        }
        self.words.extend_from_slice(row.words);
        self.words.push(row.threshold.to_bits());
        self.words.push(row.place | u64::from(row.count) << 48);
        Ok(())
    }

    fn row(&self, i: usize) -> Row<'_> {
        let words = &self.words[i * self.width()..(i + 1) * self.width()];
        unpack(&self.geometry, words)
    }

    /// Puts the rows in the order of their bit counts.
    pub fn sort(&mut self) -> Result<()> {
        let n = self.len();
        let counts = self.geometry.missing() as usize + 2;
        let mut at = vec![0u32; counts];
        for i in 0..n {
            at[self.row(i).count as usize + 1] += 1;
            turn(i);
        }
        for c in 1..counts {
            at[c] += at[c - 1];
        }
        self.first = at.clone();
        self.order = Vec::new();
        self.order
            .try_reserve_exact(n)
            .map_err(|_| Error::out_of_memory(4 * n))?;
        self.order.resize(n, 0);
        for i in 0..n {
            let slot = &mut at[self.row(i).count as usize];
            self.order[*slot as usize] = i as u32;
            *slot += 1;
            turn(i);
        }
        Ok(())
    }

    /// A row by its number among the sorted ones.
    pub fn nth(&self, n: usize) -> Row<'_> {
        self.row(self.order[n] as usize)
    }

    fn of_count(&self, count: u32) -> &[u32] {
        &self.order[self.first[count as usize] as usize..self.first[count as usize + 1] as usize]
    }
}

/// Looks for interrupts every few milliseconds.
fn turn(i: usize) {
    if i.is_multiple_of(1 << 16) {
        pgrx::check_for_interrupts!();
    }
}

fn unpack<'a>(geometry: &Geometry, words: &'a [u64]) -> Row<'a> {
    let stride = geometry.stride;
    Row {
        words: &words[..stride],
        threshold: f64::from_bits(words[stride]),
        place: words[stride + 1] & ((1 << 48) - 1),
        count: (words[stride + 1] >> 48) as u32,
    }
}

/// Sorted rows in a temporary file.
pub struct Spilled {
    geometry: Geometry,
    file: *mut pg_sys::BufFile,
    first: Vec<u32>,
    row: Vec<u64>,
}

impl Spilled {
    /// Writes sorted rows to a file that goes with the transaction at the latest.
    pub fn write(rows: &Collected) -> Spilled {
        // SAFETY: the file is used by this backend only, and closed by it or at the end of the
        // transaction.
        let file = unsafe {
            // PrepareTempTablespaces() chooses where
            pg_sys::PrepareTempTablespaces();
            pg_sys::BufFileCreateTemp(false)
        };
        let width = rows.width();
        for (n, &i) in rows.order.iter().enumerate() {
            let words = &rows.words[i as usize * width..(i as usize + 1) * width];
            // SAFETY: so many bytes are readable.
            unsafe { pg_sys::BufFileWrite(file, words.as_ptr().cast_mut().cast(), 8 * width) };
            if n % 4096 == 0 {
                pgrx::check_for_interrupts!();
            }
        }
        // SAFETY: the file is open.
        if unsafe { pg_sys::BufFileSeek(file, 0, 0, 0) } != 0 {
            pgrx::error!("could not rewind a temporary file");
        }
        Spilled {
            geometry: rows.geometry,
            file,
            first: rows.first.clone(),
            row: vec![0; width],
        }
    }

    /// The next row of the file.
    fn next(&mut self) -> Row<'_> {
        let bytes = 8 * self.row.len();
        // SAFETY: so many bytes may be written; an ERROR if there are fewer.
        let got = unsafe { pg_sys::BufFileRead(self.file, self.row.as_mut_ptr().cast(), bytes) };
        if got != bytes {
            pgrx::error!("could not read a temporary file: read {got} of {bytes} bytes");
        }
        unpack(&self.geometry, &self.row)
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

    fn row(&mut self, row: u32) -> Row<'_> {
        let geometry = self.loaded.segment.geometry;
        let number = row / geometry.capacity as u32;
        if self.page != Some(number) {
            self.words.clear();
            self.words.extend_from_slice(self.reader.page(number));
            self.reader.release();
            self.page = Some(number);
        }
        RowPage::new(geometry, &self.words).row(row as usize % geometry.capacity)
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
    fn each(&mut self, count: u32, to: &mut dyn FnMut(Row<'_>)) {
        match self {
            Run::Collected(rows) => {
                for &i in rows.of_count(count) {
                    to(rows.row(i as usize));
                }
            }
            Run::Spilled(file) => {
                let n = file.first[count as usize + 1] - file.first[count as usize];
                for _ in 0..n {
                    to(file.next());
                }
            }
            Run::Merged(segment) => {
                for row in segment.loaded.segment.range(count, count) {
                    to(segment.row(row));
                }
            }
        }
    }
}

/// Passes on the live rows of all runs by bit count.
pub fn merge(geometry: &Geometry, runs: &mut [Run<'_>], mut to: impl FnMut(Row<'_>)) {
    for count in 0..=geometry.missing() {
        for run in &mut *runs {
            run.each(count, &mut |row| {
                if row.place != 0 {
                    to(row);
                }
            });
        }
        pgrx::check_for_interrupts!();
    }
}

/// Sorts what was collected.
pub fn sorted(mut rows: Collected) -> Collected {
    rows.sort().or_raise();
    rows
}
