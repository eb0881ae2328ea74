//! The rows of records that are compared: in memory, or in a temporary file that is read chunk by chunk.

use linkage::model::values::RowLayout;
use linkage::model::{FrequentLevels, Pattern};
use pgrx::pg_sys::BLCKSZ;

use crate::models::records::identities::bits_of;
use pg::file::SpillVec;

/// The rows of all records. Each has one word more than the layout says: 1 if the record counts in a fit.
pub struct RowStore {
    layout: RowLayout,
    rows: SpillVec<u64>,
    pub records: u32,
    /// Words that fit into memory.
    most: usize,
    /// Set when all rows are there, before any pair is looked at.
    numbers: PairNumbers,
    /// The chunks in memory, where the rows are in a file.
    chunks: [LoadedRows; 2],
    /// Pairs are so few that the second row of each is read from the file by itself, and not with its chunk.
    few: bool,
    row: Vec<u64>,
}

/// How pairs of records are numbered, which depends on what is in memory.
#[derive(Clone, Copy, Default)]
pub struct PairNumbers {
    /// Bits of a record's number, and of its number within a chunk.
    bits: u32,
    chunk_bits: u32,
}

impl PairNumbers {
    /// A number for a pair: pairs whose rows are in the same chunks follow each other in its order. It has twice the
    /// bits of a record's number.
    #[inline]
    pub fn number(self, a: u32, b: u32) -> u64 {
        let (low, high) = (self.chunk_bits, self.bits - self.chunk_bits);
        let (a, b, mask) = (u64::from(a), u64::from(b), (1u64 << low) - 1);
        ((a >> low << high | b >> low) << low | a & mask) << low | b & mask
    }

    /// The records of a pair by its number.
    #[inline]
    pub fn pair(self, number: u64) -> (u32, u32) {
        let (low, high) = (self.chunk_bits, self.bits - self.chunk_bits);
        let (chunks, within) = (number >> (2 * low), number & ((1 << (2 * low)) - 1));
        let a = chunks >> high << low | within >> low;
        let b = (chunks & ((1 << high) - 1)) << low | within & ((1 << low) - 1);
        (a as u32, b as u32)
    }
}

#[derive(Default)]
struct LoadedRows {
    number: Option<u32>,
    rows: Vec<u64>,
}

/// Some rows that follow each other.
#[derive(Clone, Copy)]
pub struct ChunkRows<'a> {
    first: u32,
    rows: &'a [u64],
    stride: usize,
}

impl<'a> ChunkRows<'a> {
    fn new(first: u32, rows: &'a [u64], stride: usize) -> ChunkRows<'a> {
        ChunkRows {
            first,
            rows,
            stride,
        }
    }

    /// The numbers of the records.
    pub fn records(self) -> std::ops::Range<u32> {
        self.first..self.first + (self.rows.len() / self.stride) as u32
    }

    /// The row of one of them.
    pub fn row(self, record: u32) -> &'a [u64] {
        &self.rows[self.stride * (record - self.first) as usize..][..self.stride]
    }
}

impl RowStore {
    /// No rows yet. They take about `memory` bytes.
    pub fn new(layout: RowLayout, memory: usize) -> RowStore {
        RowStore {
            layout,
            rows: SpillVec::new(memory),
            records: 0,
            most: memory / size_of::<u64>(),
            numbers: PairNumbers::default(),
            chunks: Default::default(),
            few: false,
            row: Vec::new(),
        }
    }

    /// Words of a row.
    fn stride(&self) -> usize {
        self.layout.words() + 1
    }

    /// Adds a row that `write` writes to its words, which are all 0. The record counts until [`RowStore::settle`] says
    /// that it does not.
    ///
    /// Errors: out of memory.
    pub fn push(&mut self, write: impl FnOnce(&RowLayout, &mut [u64])) {
        let words = self.layout.words();
        let layout = &self.layout;
        self.rows.extend_by(words + 1, |row| {
            write(layout, &mut row[..words]);
            row[words] = 1;
        });
        self.records += 1;
    }

    /// The rows are complete.
    pub fn finish(mut self) -> RowStore {
        let bits = bits_of(self.records);
        let chunk_bits = match self.rows.in_memory() {
            Some(_) => bits,
            // two chunks fit into memory
            None => (self.most / self.stride() / 2).max(1).ilog2().min(bits),
        };
        self.numbers = PairNumbers { bits, chunk_bits };
        self
    }

    /// Gives every two chunks of rows, or a chunk with itself, to `each`, the lesser one first.
    pub fn each_two_chunks(
        &mut self,
        mut each: impl FnMut(&RowLayout, ChunkRows<'_>, ChunkRows<'_>),
    ) {
        let (stride, bits) = (self.stride(), self.numbers.chunk_bits);
        if let Some(rows) = self.rows.in_memory() {
            let all = ChunkRows::new(0, rows, stride);
            return each(&self.layout, all, all);
        }
        let chunks = u64::from(self.records).div_ceil(1 << bits) as u32;
        for a in 0..chunks {
            self.load(0, a);
            for b in a..chunks {
                self.load(1, b);
                let of = |side: usize, number: u32| {
                    ChunkRows::new(number << bits, &self.chunks[side].rows, stride)
                };
                each(&self.layout, of(0, a), of(1, b));
            }
        }
    }

    /// Whether a row counts in a fit.
    pub fn counts(row: &[u64]) -> bool {
        row[row.len() - 1] == 1
    }

    /// Sets the levels of equal values, and which records count.
    pub fn settle(&mut self, levels: &FrequentLevels, counts: impl Fn(u32) -> bool) {
        let last = self.stride() - 1;
        self.change(|layout, record, row| {
            settle_levels(layout, levels, row);
            row[last] = u64::from(counts(record));
        });
    }

    /// No rows any more, as they are not looked at again. How pairs are numbered stays known.
    pub fn clear(&mut self) {
        self.rows = SpillVec::new(0);
        self.chunks = Default::default();
    }

    /// Gives each record's row to `change`.
    pub fn change(&mut self, mut change: impl FnMut(&RowLayout, u32, &mut [u64])) {
        let (stride, layout) = (self.stride(), self.layout.clone());
        const AT_ONCE: usize = 256;
        self.rows.change(stride * AT_ONCE, |first, rows| {
            let first = (first / stride as u64) as u32;
            for (record, row) in (first..).zip(rows.chunks_exact_mut(stride)) {
                change(&layout, record, row);
            }
        });
    }

    /// Two fields whose values may have changed places.
    pub fn swap(&self) -> Option<[usize; 2]> {
        self.layout.swap()
    }

    /// How many pairs all records make; of two relations, where `second` is the first record of the second one, those
    /// of a record of each.
    pub fn pairs(&self, second: Option<u32>) -> f64 {
        let n = f64::from(self.records);
        match second.map(f64::from) {
            None => n * (n - 1.0) / 2.0,
            Some(second) => second * (n - second),
        }
    }

    /// How pairs are numbered.
    pub fn numbering(&self) -> PairNumbers {
        self.numbers
    }

    /// About so many pairs are compared next. Every two chunks together are more than all rows, by as many times as
    /// there are chunks; a row takes a block of the file.
    pub fn expect(&mut self, pairs: u64) {
        let chunks = u64::from(self.records >> self.numbers.chunk_bits) + 1;
        let bytes = (self.stride() * size_of::<u64>()) as u64;
        let of_chunks = (u64::from(self.records) * bytes).saturating_mul(chunks) / 2;
        self.few = chunks > 1 && pairs * u64::from(BLCKSZ) < of_chunks;
    }

    /// Gives the records of a pair, its pattern, and whether both count in a fit. Rows in a file are read when pairs
    /// come in the order of their numbers; [`RowStore::expect`] says how.
    pub fn compare(&mut self, number: u64) -> Compared {
        self.with_pair(number, |layout, [a, b], [x, y]| Compared {
            a,
            b,
            pattern: layout.pattern(x, y),
            counts: RowStore::counts(x) && RowStore::counts(y),
        })
    }

    /// Gives the layout, the records of a pair and their rows to `look`, as [`RowStore::compare`] does.
    #[inline]
    pub fn with_pair<T>(
        &mut self,
        number: u64,
        look: impl FnOnce(&RowLayout, [u32; 2], [&[u64]; 2]) -> T,
    ) -> T {
        let (a, b) = self.numbers.pair(number);
        let (stride, chunk_bits) = (self.stride(), self.numbers.chunk_bits);
        if self.rows.in_memory().is_none() {
            self.load(0, a >> chunk_bits);
            if self.few {
                let first = stride as u64 * u64::from(b);
                self.rows.read(first..first + stride as u64, &mut self.row);
            } else {
                self.load(1, b >> chunk_bits);
            }
        }
        let row = |number: u32| stride * number as usize..stride * (number as usize + 1);
        let within = |record: u32| record & ((1 << chunk_bits) - 1);
        let (x, y) = match self.rows.in_memory() {
            Some(rows) => (&rows[row(a)], &rows[row(b)]),
            None => {
                let [first, second] = [0, 1].map(|side| &self.chunks[side].rows[..]);
                let x = &first[row(within(a))];
                match self.few {
                    true => (x, &self.row[..]),
                    false => (x, &second[row(within(b))]),
                }
            }
        };
        look(&self.layout, [a, b], [x, y])
    }

    fn load(&mut self, side: usize, number: u32) {
        if self.chunks[side].number == Some(number) {
            return;
        }
        let (stride, bits) = (self.stride() as u64, self.numbers.chunk_bits);
        let first = u64::from(number) << bits;
        let end = u64::from(self.records).min(first + (1 << bits));
        let chunk = &mut self.chunks[side];
        self.rows
            .read(stride * first..stride * end, &mut chunk.rows);
        chunk.number = Some(number);
    }
}

/// Sets the levels of a row's equal values.
pub fn settle_levels(layout: &RowLayout, levels: &FrequentLevels, row: &mut [u64]) {
    for field in 0..layout.fields().len() {
        let identity = linkage::model::values::FieldLayout::identity_of(layout.value(row, field));
        if identity != 0 {
            layout.set_level(row, field, levels.level(field, identity));
        }
    }
}

/// Two records that have been compared.
pub struct Compared {
    pub a: u32,
    pub b: u32,
    pub pattern: Pattern,
    pub counts: bool,
}
