//! Pages of rows: signatures one behind the other, then what belongs to them.
//!
//! | words | content |
//! |---|---|
//! | 1 | number of rows (u32), 1 if no row may be added any more (u32) |
//! | capacity · stride | bits of each row, padded with 0 to whole words |
//! | capacity, if rows have thresholds | threshold of each row (float8) |
//! | ⌈capacity/2⌉ | bit count of each row (u32); one more than there are bits: a missing signature |
//! | the rest | place of each row in the table (6 bytes: offset, block; little-endian), 0 for a dead row |

use super::bytes::{bytes, bytes_mut, halves, halves_mut};
use crate::bits::intersect_words;
use crate::filter::query::NEVER;
use crate::{Error, ErrorKind, Result};

/// Bytes of a row's place.
const PLACE: usize = 6;

/// How rows of one shape lie on pages of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Words of a page's content.
    pub page_words: usize,
    /// Bits of a signature.
    pub bits: u32,
    /// Words of a signature.
    pub stride: usize,
    /// Each row has a threshold of its own.
    pub thresholds: bool,
    /// Rows of a page.
    pub capacity: usize,
}

impl Geometry {
    /// Errors: a signature that does not fit a page.
    pub fn new(page_words: usize, bits: u32, thresholds: bool) -> Result<Geometry> {
        let stride = bits.max(1).div_ceil(64) as usize;
        let row = 8 * stride + 4 + PLACE + if thresholds { 8 } else { 0 };
        let fits = |n: usize| {
            let words = 1 + n * (stride + usize::from(thresholds)) + n.div_ceil(2);
            8 * words + PLACE * n <= 8 * page_words
        };
        let mut capacity = 8 * page_words / row;
        while capacity > 0 && !fits(capacity) {
            capacity -= 1;
        }
        if capacity == 0 {
            let most = Geometry::most_bits(page_words);
            return Err(Error::new(
                ErrorKind::LimitExceeded,
                format!("signature of {bits} bits is too large for a sigfile index"),
            )
            .detail(format!(
                "An index page holds signatures of at most {most} bits."
            ))
            .hint("Use a smaller shape, or no index."));
        }
        Ok(Geometry {
            page_words,
            bits,
            stride,
            thresholds,
            capacity,
        })
    }

    /// Bits of the largest signature that fits a page.
    pub const fn most_bits(page_words: usize) -> usize {
        64 * (8 * page_words).saturating_sub(32) / 8
    }

    /// The bit count that stands for a missing signature.
    pub fn missing(&self) -> u32 {
        self.bits + 1
    }

    fn thresholds_at(&self) -> usize {
        1 + self.capacity * self.stride
    }

    fn counts_at(&self) -> usize {
        self.thresholds_at() + if self.thresholds { self.capacity } else { 0 }
    }

    fn places_at(&self) -> usize {
        self.counts_at() + self.capacity.div_ceil(2)
    }

    /// Where on its page the words, the count and the place of a row are.
    pub fn words_of(&self, i: usize) -> [usize; 4] {
        let words = 1 + i * self.stride;
        [
            words,
            words + self.stride - 1,
            self.counts_at() + i / 2,
            self.places_at() + PLACE * i / 8,
        ]
    }

    /// Pages that hold so many rows.
    pub fn pages(&self, rows: u32) -> u32 {
        rows.div_ceil(self.capacity as u32)
    }
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row<'a> {
    pub words: &'a [u64],
    pub count: u32,
    /// 0 where rows have none.
    pub threshold: f64,
    /// Block · 2^16 + offset, 0 for a dead row.
    pub place: u64,
}

impl Row<'_> {
    /// Errors: bits, bit count and threshold do not fit together, or the shape.
    #[inline]
    pub fn check(&self, geometry: &Geometry) -> Result<()> {
        let counted = intersect_words(self.words, self.words);
        let missing = self.count == geometry.missing() && counted == 0;
        if counted != self.count && !missing {
            let count = self.count;
            return Err(Error::damaged(format!(
                "a row has {counted} bits set, and bit count {count}"
            )));
        }
        let padding = 64 * geometry.stride as u32 - geometry.bits;
        let last = self.words.last().copied().unwrap_or(0);
        if padding > 0 && padding < 64 && last >> (64 - padding) != 0 {
            return Err(Error::damaged("a row has padding bits set"));
        }
        let possible = (0.0..=1.0).contains(&self.threshold) || self.threshold == NEVER;
        if geometry.thresholds && !missing && !possible {
            let threshold = self.threshold;
            return Err(Error::damaged(format!("a row has threshold {threshold}")));
        }
        Ok(())
    }
}

/// A page of rows to read.
#[derive(Clone, Copy)]
pub struct RowPage<'a> {
    geometry: Geometry,
    words: &'a [u64],
    len: usize,
}

impl<'a> RowPage<'a> {
    /// `words` is the content of a page of this geometry.
    ///
    /// Errors: more rows than fit.
    #[inline]
    pub fn new(geometry: Geometry, words: &'a [u64]) -> Result<Self> {
        let (len, closed) = (words[0] as u32 as usize, words[0] >> 32);
        if len > geometry.capacity || closed > 1 {
            let head = words[0];
            return Err(Error::damaged(format!(
                "a page of rows begins with {head:#x}"
            )));
        }
        Ok(RowPage {
            geometry,
            words,
            len,
        })
    }

    /// A page that says of itself that it has `len` rows, which fit.
    #[inline]
    pub(super) fn of_rows(geometry: Geometry, words: &'a [u64], len: usize) -> Self {
        RowPage {
            geometry,
            words,
            len,
        }
    }

    /// A page that rows are added to.
    ///
    /// Errors: as above; bit counts that no row can have; a row behind the last one.
    pub fn growing(geometry: Geometry, words: &'a [u64]) -> Result<Self> {
        let page = RowPage::new(geometry, words)?;
        let counts = page.counts();
        if counts.iter().any(|&count| count > geometry.missing()) {
            let count = counts.iter().max().copied().unwrap_or(0);
            return Err(Error::damaged(format!("a row has bit count {count}")));
        }
        if page.len < geometry.capacity {
            let n = page.len;
            let count = page.all_counts()[n];
            let bits = page.words(n, n + 1).iter().any(|&word| word != 0);
            if count != 0 || page.place(n) != 0 || bits {
                return Err(Error::damaged(format!(
                    "there is a row behind the last, {n}"
                )));
            }
        }
        Ok(page)
    }

    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// No row can be added.
    pub fn is_full(&self) -> bool {
        self.len() == self.geometry.capacity || self.words[0] >> 32 != 0
    }

    /// The bits of rows `from..to`, one behind the other.
    pub fn words(&self, from: usize, to: usize) -> &'a [u64] {
        let stride = self.geometry.stride;
        &self.words[1 + from * stride..1 + to * stride]
    }

    /// The bit counts of all rows.
    pub fn counts(&self) -> &'a [u32] {
        &self.all_counts()[..self.len]
    }

    fn all_counts(&self) -> &'a [u32] {
        let g = self.geometry;
        halves(&self.words[g.counts_at()..g.places_at()])
    }

    pub fn place(&self, i: usize) -> u64 {
        let at = PLACE * i;
        let mut place = [0; 8];
        place[..PLACE]
            .copy_from_slice(&bytes(&self.words[self.geometry.places_at()..])[at..at + PLACE]);
        u64::from_le_bytes(place)
    }

    pub fn threshold(&self, i: usize) -> f64 {
        let g = self.geometry;
        if g.thresholds {
            f64::from_bits(self.words[g.thresholds_at() + i])
        } else {
            0.0
        }
    }

    /// A row below the page's number of rows, as it stands there.
    pub fn row(&self, i: usize) -> Row<'a> {
        Row {
            words: self.words(i, i + 1),
            count: self.counts()[i],
            threshold: self.threshold(i),
            place: self.place(i),
        }
    }

    /// Errors: no such row; a row that cannot be.
    #[inline]
    pub fn checked(&self, i: usize) -> Result<Row<'a>> {
        if i >= self.len {
            return Err(Error::damaged(format!("there is no row {i}")));
        }
        let row = self.row(i);
        row.check(&self.geometry)?;
        Ok(row)
    }

    /// Errors: a row that cannot be.
    pub fn check(&self) -> Result<()> {
        (0..self.len).try_for_each(|i| self.checked(i).map(|_| ()))
    }
}

/// A page of rows to write.
pub struct RowPageMut<'a> {
    geometry: Geometry,
    words: &'a mut [u64],
}

impl<'a> RowPageMut<'a> {
    /// `words` is the content of a page of this geometry, or all zero.
    pub fn new(geometry: Geometry, words: &'a mut [u64]) -> Self {
        RowPageMut { geometry, words }
    }

    fn len(&self) -> usize {
        (self.words[0] as u32 as usize).min(self.geometry.capacity)
    }

    /// Adds a row behind the others; false if the page is full.
    pub fn push(&mut self, row: Row<'_>) -> bool {
        let g = self.geometry;
        let n = self.len();
        if n == g.capacity || self.words[0] >> 32 != 0 {
            return false;
        }
        self.words[1 + n * g.stride..1 + (n + 1) * g.stride].copy_from_slice(row.words);
        if g.thresholds {
            self.words[g.thresholds_at() + n] = row.threshold.to_bits();
        }
        halves_mut(&mut self.words[g.counts_at()..g.places_at()])[n] = row.count;
        self.set_place(n, row.place);
        self.words[0] = n as u64 + 1;
        true
    }

    fn set_place(&mut self, i: usize, place: u64) {
        let at = PLACE * i;
        let places = bytes_mut(&mut self.words[self.geometry.places_at()..]);
        places[at..at + PLACE].copy_from_slice(&place.to_le_bytes()[..PLACE]);
    }

    /// Marks row `i` as dead: its bits stay, nobody finds it.
    pub fn bury(&mut self, i: usize) {
        self.set_place(i, 0);
    }

    /// Lets no more rows in.
    pub fn close(&mut self) {
        self.words[0] |= 1 << 32;
    }
}
