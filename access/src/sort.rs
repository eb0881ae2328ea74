//! Rows on their way into a segment: the external sort, by key and popcount.

use base::sort::{order_by_count, sort_records};
use base::Result;
use sigfile::rows::order_of;
use sigfile::{Geometry, SignatureRow};

use crate::page::PAGE_WORDS;
use pg::budget::reserve;
use pg::check_for_interrupts;
use pg::error::OrRaise;
use pg::file::{ExternalSort, SortOrder, Sorted, SpillVec};

/// Bits of a tid: 32 for the block, 16 for the offset.
const TID_BITS: u32 = 48;

// The popcount stands above the tid. The greatest is that of a row without a signature, one more than there are bits.
const _: () = assert!(
    Geometry::most_bits(PAGE_WORDS) + 1 < 1 << (u64::BITS - TID_BITS),
    "a popcount must fit 16 bits"
);

/// How rows of a geometry are packed: the bits; the threshold; tid and popcount in one word; the key, if rows have
/// keys.
#[derive(Clone, Copy)]
pub struct PackedRows(Geometry);

impl PackedRows {
    /// How the rows lie on pages.
    pub fn geometry(&self) -> &Geometry {
        &self.0
    }

    /// Words of a row.
    pub fn words(&self) -> usize {
        self.0.stride + 2 + usize::from(self.0.keys)
    }

    /// What follows the bits of a row, without the key where rows have none.
    fn rest(row: SignatureRow<'_>) -> [u64; 3] {
        let tid = row.tid | u64::from(row.popcount) << TID_BITS;
        [row.threshold.to_bits(), tid, row.key.into()]
    }

    /// The row of so many words.
    pub fn row<'a>(&self, words: &'a [u64]) -> SignatureRow<'a> {
        let (bits, rest) = words.split_at(self.0.stride);
        SignatureRow {
            words: bits,
            threshold: f64::from_bits(rest[0]),
            key: rest.get(2).map_or(0, |&key| key as u32),
            tid: rest[1] & ((1 << TID_BITS) - 1),
            popcount: (rest[1] >> TID_BITS) as u32,
        }
    }
}

impl SortOrder for PackedRows {
    /// Key and popcount.
    type Key = u64;

    fn width(&self) -> usize {
        self.words()
    }

    fn key(&self, row: &[u64]) -> u64 {
        let rest = &row[self.0.stride..];
        let key = rest.get(2).map_or(0, |&key| key as u32);
        order_of(key, (rest[1] >> TID_BITS) as u32)
    }

    fn bytes(&self) -> usize {
        // Rows with keys are sorted by records of two words.
        let sorting = if self.0.keys { 16 } else { 0 };
        size_of::<u64>() * self.words() + size_of::<u32>() + sorting
    }

    fn sort(&self, rows: &mut [u64]) {
        let width = self.words();
        let n = rows.len() / width;
        let key = |i: usize| self.key(&rows[i * width..(i + 1) * width]);
        let mut order = Vec::new();
        if self.0.keys {
            let mut records = Vec::new();
            reserve(&mut records, n);
            reserve(&mut order, n);
            records.extend((0..n).map(|i| [key(i), i as u64]));
            sort_records(&mut records, check_for_interrupts);
            order.extend(records.iter().map(|record| record[1] as u32));
        } else {
            // without keys it is the popcount
            let greatest = self.0.null_popcount();
            let popcount = |i| key(i as usize) as u32;
            let counted = order_by_count(n as u32, greatest, popcount, check_for_interrupts);
            (order, _) = counted.or_raise();
        }
        permute(rows, width, &mut order);
    }
}

/// Puts rows of so many words into an order, which says of each place which row comes there.
fn permute(rows: &mut [u64], width: usize, order: &mut [u32]) {
    let mut first = vec![0; width];
    for start in 0..order.len() {
        if start % 1024 == 0 {
            check_for_interrupts();
        }
        if order[start] as usize == start {
            continue;
        }
        // the rows of a cycle each go to the place of the one before; places that are done have their own number
        first.copy_from_slice(&rows[start * width..(start + 1) * width]);
        let mut place = start;
        loop {
            let from = std::mem::replace(&mut order[place], place as u32) as usize;
            let to = place * width;
            if from == start {
                rows[to..to + width].copy_from_slice(&first);
                break;
            }
            rows.copy_within(from * width..(from + 1) * width, to);
            place = from;
        }
    }
}

/// Collects rows in bounded memory.
pub struct RowSort(ExternalSort<PackedRows>);

impl RowSort {
    /// Rows of one geometry. They take about `memory` bytes.
    pub fn new(geometry: Geometry, memory: usize) -> RowSort {
        RowSort(ExternalSort::by(PackedRows(geometry), memory))
    }

    /// Adds a row.
    ///
    /// Errors: a row that cannot be.
    pub fn push(&mut self, row: SignatureRow<'_>) -> Result<()> {
        let packed = *self.0.order();
        row.check(&packed.0)?;
        let rest = packed.words() - packed.0.stride;
        self.0
            .push_parts([row.words, &PackedRows::rest(row)[..rest]]);
        Ok(())
    }

    /// All rows in their order.
    ///
    /// Errors: out of memory.
    pub fn finish(self) -> SortedRows {
        SortedRows {
            packed: *self.0.order(),
            rows: self.0.finish(),
        }
    }
}

/// Rows in the order of their popcounts, or of their keys and popcounts.
pub struct SortedRows {
    packed: PackedRows,
    rows: Sorted<PackedRows>,
}

impl SortedRows {
    /// How the rows lie on pages.
    pub fn geometry(&self) -> Geometry {
        self.packed.0
    }

    /// Passes on all rows.
    ///
    /// Errors: those of `to`.
    pub fn each(mut self, mut to: impl FnMut(SignatureRow<'_>) -> Result<()>) -> Result<()> {
        while let Some(words) = self.rows.next_record() {
            check_for_interrupts();
            to(self.packed.row(words))?;
        }
        Ok(())
    }

    /// The rows by their numbers in the order, and how they are packed.
    pub fn into_vec(self) -> (PackedRows, SpillVec<u64>) {
        (self.packed, self.rows.into_vec())
    }
}
