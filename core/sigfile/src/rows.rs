//! Pages of rows: signatures one behind the other, then what belongs to them.
//!
//! | words | content |
//! |---|---|
//! | 1 | number of rows (u32), 1 if no row may be added any more (u32) |
//! | capacity · stride | bits of each row, padded with 0 to whole words |
//! | capacity, if rows have thresholds | threshold of each row (float8) |
//! | ⌈capacity/2⌉, if rows have keys | key of each row (u32): a hash of what it is searched within |
//! | ⌈capacity/2⌉ | popcount of each row (u32); one more than there are bits: a null signature |
//! | the rest | tid of each row (6 bytes: offset, block; little-endian), 0 for a dead row |

use super::words::{bytes, bytes_mut, halves, halves_mut};
use base::{Error, ErrorKind, Result};
use signature::bits::intersect_words;
use signature::filter::query::is_threshold;
use signature::similarity::Measure;

/// Bytes of a row's tid: offset and block.
const TID: usize = size_of::<u16>() + size_of::<u32>();

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
    /// Each row has a key: only rows of one key are compared with each other.
    pub keys: bool,
    /// Rows of a page.
    pub capacity: usize,
    /// How similar rows are.
    pub measure: Measure,
}

impl Geometry {
    /// That of other signatures in the same index.
    ///
    /// Errors: a signature that does not fit a page.
    pub fn with_bits(&self, bits: u32, measure: Measure) -> Result<Geometry> {
        let laid_out = Geometry::new(self.page_words, bits, self.thresholds, self.keys)?;
        Ok(Geometry {
            measure,
            ..laid_out
        })
    }

    /// Pages of rows of `bits` bits, with a threshold and with a key each if they have them. Rows with keys lie on their
    /// pages in the order of key and popcount.
    ///
    /// Errors: a signature that does not fit a page.
    pub fn new(page_words: usize, bits: u32, thresholds: bool, keys: bool) -> Result<Geometry> {
        let stride = bits.max(1).div_ceil(64) as usize;
        let of_keys = if keys { 4 } else { 0 };
        let row = 8 * stride + 4 + TID + if thresholds { 8 } else { 0 } + of_keys;
        let fits = |n: usize| {
            let numbers = n.div_ceil(2) * (1 + usize::from(keys));
            let words = 1 + n * (stride + usize::from(thresholds)) + numbers;
            8 * words + TID * n <= 8 * page_words
        };
        let mut capacity = 8 * page_words / row;
        while capacity > 0 && !fits(capacity) {
            capacity -= 1;
        }
        if capacity == 0 {
            let word = if keys && thresholds { 64 } else { 0 };
            let most = Geometry::most_bits(page_words) - word;
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
            keys,
            capacity,
            measure: Measure::Jaccard,
        })
    }

    /// Bits of the largest signature that fits a page.
    pub const fn most_bits(page_words: usize) -> usize {
        64 * (8 * page_words).saturating_sub(32) / 8
    }

    /// The popcount that stands for a null signature.
    pub fn null_popcount(&self) -> u32 {
        self.bits + 1
    }

    fn thresholds_at(&self) -> usize {
        1 + self.capacity * self.stride
    }

    fn keys_at(&self) -> usize {
        self.thresholds_at() + usize::from(self.thresholds) * self.capacity
    }

    fn popcounts_at(&self) -> usize {
        self.keys_at() + usize::from(self.keys) * self.capacity.div_ceil(2)
    }

    /// Where the tids begin, behind all that a scan reads of each row.
    pub(super) fn tids_at(&self) -> usize {
        self.popcounts_at() + self.capacity.div_ceil(2)
    }

    /// Where on its page the words, the popcount and the tid of a row are.
    pub fn words_of(&self, i: usize) -> [usize; 4] {
        let words = 1 + i * self.stride;
        [
            words,
            words + self.stride - 1,
            self.popcounts_at() + i / 2,
            self.tids_at() + TID * i / 8,
        ]
    }

    /// Pages that hold so many rows.
    pub fn pages(&self, rows: u32) -> u32 {
        rows.div_ceil(self.capacity as u32)
    }
}

/// A key and a popcount as one number, by which rows are in order.
#[inline]
pub const fn order_of(key: u32, popcount: u32) -> u64 {
    (key as u64) << 32 | popcount as u64
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignatureRow<'a> {
    /// The bits, as many words as the geometry's stride.
    pub words: &'a [u64],
    /// How many bits are set; one more than there are bits for a null signature.
    pub popcount: u32,
    /// 0 where rows have none.
    pub threshold: f64,
    /// What the row is searched within, as a hash; 0 where rows have none.
    pub key: u32,
    /// Block · 2^16 + offset, 0 for a dead row.
    pub tid: u64,
}

impl SignatureRow<'_> {
    /// By what rows of a segment are in order: the key, then the popcount.
    #[inline]
    pub fn order(&self) -> u64 {
        order_of(self.key, self.popcount)
    }

    /// Errors: bits, popcount and threshold do not fit together, or the shape.
    #[inline]
    pub fn check(&self, geometry: &Geometry) -> Result<()> {
        let counted = intersect_words(self.words, self.words);
        let null = self.popcount == geometry.null_popcount() && counted == 0;
        if counted != self.popcount && !null {
            let popcount = self.popcount;
            return Err(Error::damaged(format!(
                "a row has {counted} bits set, and popcount {popcount}"
            )));
        }
        let padding = 64 * geometry.stride as u32 - geometry.bits;
        let last = self.words.last().copied().unwrap_or(0);
        if padding > 0 && padding < 64 && last >> (64 - padding) != 0 {
            return Err(Error::damaged("a row has padding bits set"));
        }
        if geometry.thresholds && !null && !is_threshold(self.threshold) {
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
    /// Errors: more rows than fit; popcounts that no row can have; a row behind the last one.
    pub fn growing(geometry: Geometry, words: &'a [u64]) -> Result<Self> {
        let page = RowPage::new(geometry, words)?;
        let popcounts = page.popcounts();
        // the top bit tells, of several at once
        let most = geometry.null_popcount();
        let wrong = |all: u32, &popcount: &u32| all | popcount | most.wrapping_sub(popcount);
        if popcounts.iter().fold(0, wrong) >> 31 != 0 {
            let popcount = popcounts.iter().max().copied().unwrap_or(0);
            return Err(Error::damaged(format!("a row has popcount {popcount}")));
        }
        if page.len < geometry.capacity {
            let n = page.len;
            let popcount = page.all_popcounts()[n];
            let bits = page.words(n, n + 1).iter().any(|&word| word != 0);
            let key = page.all_keys().get(n).is_some_and(|&key| key != 0);
            if popcount != 0 || page.tid(n) != 0 || bits || key {
                return Err(Error::damaged(format!(
                    "there is a row behind the last, {n}"
                )));
            }
        }
        Ok(page)
    }

    /// How the rows lie on the page.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Rows on this page.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no rows on this page.
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

    /// The popcounts of all rows.
    pub fn popcounts(&self) -> &'a [u32] {
        &self.all_popcounts()[..self.len]
    }

    fn all_popcounts(&self) -> &'a [u32] {
        let g = self.geometry;
        halves(&self.words[g.popcounts_at()..g.tids_at()])
    }

    fn all_keys(&self) -> &'a [u32] {
        let g = self.geometry;
        halves(&self.words[g.keys_at()..g.popcounts_at()])
    }

    /// The keys of all rows; empty where rows have none.
    pub fn keys(&self) -> &'a [u32] {
        let keys = self.all_keys();
        &keys[..self.len.min(keys.len())]
    }

    /// The key of row `i`, 0 where rows have none.
    #[inline]
    pub fn key(&self, i: usize) -> u32 {
        self.keys().get(i).copied().unwrap_or(0)
    }

    /// Key and popcount of row `i`, by which rows of a segment are in order.
    #[inline]
    pub fn order(&self, i: usize) -> u64 {
        order_of(self.key(i), self.popcounts()[i])
    }

    /// The tid of row `i`: block · 2^16 + offset, 0 for a dead row.
    pub fn tid(&self, i: usize) -> u64 {
        let at = TID * i;
        let mut tid = [0; 8];
        tid[..TID].copy_from_slice(&bytes(&self.words[self.geometry.tids_at()..])[at..at + TID]);
        u64::from_le_bytes(tid)
    }

    /// The threshold of row `i`, 0 where rows have none.
    pub fn threshold(&self, i: usize) -> f64 {
        let g = self.geometry;
        if g.thresholds {
            f64::from_bits(self.words[g.thresholds_at() + i])
        } else {
            0.0
        }
    }

    /// A row below the page's number of rows, as it stands there.
    pub fn row(&self, i: usize) -> SignatureRow<'a> {
        SignatureRow {
            words: self.words(i, i + 1),
            popcount: self.popcounts()[i],
            threshold: self.threshold(i),
            key: self.key(i),
            tid: self.tid(i),
        }
    }

    /// Errors: no such row; a row that cannot be.
    #[inline]
    pub fn checked(&self, i: usize) -> Result<SignatureRow<'a>> {
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

// Writing pages of rows.

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
    pub fn push(&mut self, row: SignatureRow<'_>) -> bool {
        let g = self.geometry;
        let n = self.len();
        if n == g.capacity || self.words[0] >> 32 != 0 {
            return false;
        }
        self.words[1 + n * g.stride..1 + (n + 1) * g.stride].copy_from_slice(row.words);
        if g.thresholds {
            self.words[g.thresholds_at() + n] = row.threshold.to_bits();
        }
        if g.keys {
            halves_mut(&mut self.words[g.keys_at()..g.popcounts_at()])[n] = row.key;
        }
        halves_mut(&mut self.words[g.popcounts_at()..g.tids_at()])[n] = row.popcount;
        self.set_tid(n, row.tid);
        self.words[0] = n as u64 + 1;
        true
    }

    fn set_tid(&mut self, i: usize, tid: u64) {
        let at = TID * i;
        let tids = bytes_mut(&mut self.words[self.geometry.tids_at()..]);
        tids[at..at + TID].copy_from_slice(&tid.to_le_bytes()[..TID]);
    }

    /// Marks row `i` dead: its bits stay, and no search finds it.
    pub fn mark_dead(&mut self, i: usize) {
        self.set_tid(i, 0);
    }

    /// Lets no more rows in.
    pub fn close(&mut self) {
        self.words[0] |= 1 << 32;
    }
}
