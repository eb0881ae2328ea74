//! The rows of records that are compared: in memory, or in a temporary file that is read chunk by chunk.

use linkage::model::values::RowLayout;
use linkage::model::{FrequentLevels, Pattern};

use crate::models::records::identities::bits_of;
use pg::budget::reserve;
use pg::check_for_interrupts;
use pg::file::TemporaryFile;

/// Rows under construction.
pub struct RowStoreBuilder {
    layout: RowLayout,
    /// Words that fit into memory.
    most: usize,
    rows: Vec<u64>,
    file: Option<TemporaryFile>,
    records: u32,
}

/// The rows of all records. Each has one word more than the layout says: 1 if the record counts in a fit.
pub struct RowStore {
    layout: RowLayout,
    rows: Vec<u64>,
    file: Option<TemporaryFile>,
    pub records: u32,
    /// Bits of a record's number, and of its number within a chunk.
    bits: u32,
    chunk_bits: u32,
    /// The chunks in memory, where the rows are in a file.
    chunks: [LoadedRows; 2],
}

/// How pairs of records are numbered, which depends on what is in memory.
#[derive(Clone, Copy)]
pub struct PairNumbers {
    bits: u32,
    chunk_bits: u32,
}

impl PairNumbers {
    /// A number for a pair: pairs whose rows are in the same chunks follow each other in its order. It has twice the bits of a record's number.
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

impl RowStoreBuilder {
    /// Takes about `memory` bytes.
    pub fn new(layout: RowLayout, memory: usize) -> RowStoreBuilder {
        RowStoreBuilder {
            most: memory / size_of::<u64>(),
            layout,
            rows: Vec::new(),
            file: None,
            records: 0,
        }
    }

    /// Words of a row.
    fn stride(&self) -> usize {
        self.layout.words() + 1
    }

    /// Adds a row that `write` writes to its words, which are all 0. The record counts until [`RowStore::settle`] says that it does not.
    ///
    /// Errors: out of memory.
    pub fn push(&mut self, write: impl FnOnce(&RowLayout, &mut [u64])) {
        let stride = self.stride();
        let at = self.rows.len();
        if self.rows.capacity() - at < stride {
            if at + stride > self.most && at > 0 {
                self.spill();
            } else {
                let more = at.clamp(stride, (self.most - at.min(self.most)).max(stride));
                reserve(&mut self.rows, more);
            }
        }
        let at = self.rows.len();
        self.rows.resize(at + stride, 0);
        write(&self.layout, &mut self.rows[at..at + stride - 1]);
        self.rows[at + stride - 1] = 1;
        self.records += 1;
    }

    fn spill(&mut self) {
        self.file
            .get_or_insert_with(TemporaryFile::new)
            .append_words(&self.rows);
        self.rows.clear();
    }

    /// The rows are complete.
    pub fn finish(mut self) -> RowStore {
        let bits = bits_of(self.records);
        let mut chunk_bits = bits;
        if self.file.is_some() {
            self.spill();
            self.rows = Vec::new();
            // two chunks fit into memory
            let rows = (self.most / self.stride() / 2).max(1);
            chunk_bits = rows.ilog2().min(bits);
        }
        RowStore {
            layout: self.layout,
            rows: self.rows,
            file: self.file,
            records: self.records,
            bits,
            chunk_bits,
            chunks: Default::default(),
        }
    }
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
    fn stride(&self) -> usize {
        self.layout.words() + 1
    }

    /// Gives every two chunks of rows, or a chunk with itself, to `each`, the lesser one first.
    pub fn each_two_chunks(
        &mut self,
        mut each: impl FnMut(&RowLayout, ChunkRows<'_>, ChunkRows<'_>),
    ) {
        let (stride, bits) = (self.stride(), self.chunk_bits);
        if self.file.is_none() {
            let all = ChunkRows::new(0, &self.rows, stride);
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
        let (stride, layout) = (self.stride(), self.layout.clone());
        let settle = |record: u32, row: &mut [u64]| {
            settle_levels(&layout, levels, row);
            row[stride - 1] = u64::from(counts(record));
        };
        let Some(file) = &mut self.file else {
            for (record, row) in self.rows.chunks_exact_mut(stride).enumerate() {
                if record % 1024 == 0 {
                    check_for_interrupts();
                }
                settle(record as u32, row);
            }
            return;
        };
        let mut settled = TemporaryFile::new();
        let mut row = vec![0; stride];
        file.seek(0);
        for record in 0..self.records {
            file.read_words(&mut row);
            settle(record, &mut row);
            settled.append_words(&row);
        }
        self.file = Some(settled);
    }

    /// How many pairs all records make; of two relations, where `second` is the first record of the second one, those of a record of each.
    pub fn pairs(&self, second: Option<u32>) -> f64 {
        let n = f64::from(self.records);
        match second.map(f64::from) {
            None => n * (n - 1.0) / 2.0,
            Some(second) => second * (n - second),
        }
    }

    /// How pairs are numbered.
    pub fn numbering(&self) -> PairNumbers {
        PairNumbers {
            bits: self.bits,
            chunk_bits: self.chunk_bits,
        }
    }

    /// Gives the records of a pair, its pattern, and whether both count in a fit. Rows in a file are read when pairs come in the order of their numbers.
    pub fn compare(&mut self, number: u64) -> Compared {
        let (a, b) = self.numbering().pair(number);
        let (x, y) = if self.file.is_none() {
            let row = |record: u32| &self.rows[self.stride() * record as usize..][..self.stride()];
            (row(a), row(b))
        } else {
            self.load(0, a >> self.chunk_bits);
            self.load(1, b >> self.chunk_bits);
            let stride = self.stride();
            let within = |record: u32| stride * (record & ((1 << self.chunk_bits) - 1)) as usize;
            let row =
                |side: usize, record: u32| &self.chunks[side].rows[within(record)..][..stride];
            (row(0, a), row(1, b))
        };
        Compared {
            a,
            b,
            pattern: self.layout.pattern(x, y),
            counts: RowStore::counts(x) && RowStore::counts(y),
        }
    }

    fn load(&mut self, side: usize, number: u32) {
        let stride = self.stride();
        let chunk = &mut self.chunks[side];
        let Some(file) = self.file.as_mut().filter(|_| chunk.number != Some(number)) else {
            return;
        };
        let first = u64::from(number) << self.chunk_bits;
        let rows = (u64::from(self.records) - first).min(1 << self.chunk_bits) as usize;
        chunk.rows.resize(stride * rows, 0);
        file.seek(first * (stride * size_of::<u64>()) as u64);
        file.read_words(&mut chunk.rows);
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
