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
    /// The chunks in memory of the pairs' first and second records, where the rows are in a file.
    chunks: [LoadedRows; 2],
    /// Pairs are so few that the second row of each is read from the file by itself, and not with its chunk.
    few: bool,
    row: Vec<u64>,
}

/// How pairs of records are numbered, which depends on what is in memory.
///
/// The first records' chunks are large, since all rows behind are read for each of them, and the second records' chunks
/// take what is left of the memory.
#[derive(Clone, Copy, Default)]
pub struct PairNumbers {
    /// Bits of a record's number.
    bits: u32,
    /// Records of a first chunk, a multiple of those of a second one; bits of a record's number within it.
    first: u32,
    first_bits: u32,
    /// Bits of a record's number within a second chunk.
    second_bits: u32,
}

impl PairNumbers {
    /// For so many records, when rows of `room` of them fit into memory.
    fn new(records: u32, room: usize) -> PairNumbers {
        /// A second chunk has up to such a share of the room.
        const SHARE: u32 = 8;
        let bits = bits_of(records);
        let room = u32::try_from(room).unwrap_or(u32::MAX);
        let second_bits = (room / SHARE).max(1).ilog2().min(bits);
        let second = 1 << second_bits;
        let chunks = (room / second).saturating_sub(1).max(1);
        let first = chunks.saturating_mul(second).min(1 << bits);
        PairNumbers {
            bits,
            first,
            first_bits: bits_of(first),
            second_bits,
        }
    }

    /// A number for a pair: pairs whose rows are in the same chunks follow each other in its order. It has twice the
    /// bits of a record's number, and one more.
    #[inline]
    pub fn number(self, a: u32, b: u32) -> u64 {
        let [chunk, within] = [a / self.first, a % self.first].map(u64::from);
        let (low, b) = (self.second_bits, u64::from(b));
        let chunks = chunk << (self.bits - low) | b >> low;
        (chunks << self.first_bits | within) << low | b & ((1 << low) - 1)
    }

    /// The records of a pair by its number.
    #[inline]
    pub fn pair(self, number: u64) -> (u32, u32) {
        let low = self.second_bits;
        let cut = |number: u64, bits: u32| (number >> bits, (number & ((1 << bits) - 1)) as u32);
        let (number, b) = cut(number, low);
        let (chunks, a) = cut(number, self.first_bits);
        let (first, second) = cut(chunks, self.bits - low);
        (first as u32 * self.first + a, second << low | b)
    }
}

#[derive(Default)]
struct LoadedRows {
    /// The number of the first of them.
    first: Option<u32>,
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
        let room = match self.rows.in_memory() {
            Some(_) => usize::MAX,
            None => self.most / self.stride(),
        };
        self.numbers = PairNumbers::new(self.records, room);
        self
    }

    /// Gives every two chunks of rows to `each` in which there are pairs, the lesser record in the first one.
    pub fn each_two_chunks(
        &mut self,
        mut each: impl FnMut(&RowLayout, ChunkRows<'_>, ChunkRows<'_>),
    ) {
        let stride = self.stride();
        if let Some(rows) = self.rows.in_memory() {
            let all = ChunkRows::new(0, rows, stride);
            return each(&self.layout, all, all);
        }
        let (first, second) = (self.numbers.first, 1 << self.numbers.second_bits);
        for a in (0..self.records).step_by(first as usize) {
            self.load(0, a, first);
            for b in (a..self.records).step_by(second) {
                self.load(1, b, second as u32);
                let of = |first: u32, side: usize| {
                    ChunkRows::new(first, &self.chunks[side].rows, stride)
                };
                each(&self.layout, of(a, 0), of(b, 1));
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

    /// About so many pairs are compared next. Every two chunks together are more than all rows, by half as many times
    /// as there are first chunks; a row takes a block of the file.
    pub fn expect(&mut self, pairs: u64) {
        let chunks = u64::from(self.records / self.numbers.first) + 1;
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
        let stride = self.stride();
        let (first, second) = (self.numbers.first, 1 << self.numbers.second_bits);
        let within = [a % first, b % second];
        if self.rows.in_memory().is_none() {
            self.load(0, a - within[0], first);
            if self.few {
                let first = stride as u64 * u64::from(b);
                self.rows.read(first..first + stride as u64, &mut self.row);
            } else {
                self.load(1, b - within[1], second);
            }
        }
        let row = |number: u32| stride * number as usize..stride * (number as usize + 1);
        let (x, y) = match self.rows.in_memory() {
            Some(rows) => (&rows[row(a)], &rows[row(b)]),
            None => {
                let [first, second] = [0, 1].map(|side| &self.chunks[side].rows[..]);
                let x = &first[row(within[0])];
                match self.few {
                    true => (x, &self.row[..]),
                    false => (x, &second[row(within[1])]),
                }
            }
        };
        look(&self.layout, [a, b], [x, y])
    }

    /// Has a chunk in memory: `records` rows from `first` on, or those that there are.
    fn load(&mut self, side: usize, first: u32, records: u32) {
        if self.chunks[side].first == Some(first) {
            return;
        }
        let stride = self.stride() as u64;
        let end = u64::from(self.records).min(u64::from(first) + u64::from(records));
        let chunk = &mut self.chunks[side];
        self.rows
            .read(stride * u64::from(first)..stride * end, &mut chunk.rows);
        chunk.first = Some(first);
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
