//! Posting pages: which rows have which value in a chunk, ordered by value.
//!
//! | bytes | content |
//! |---|---|
//! | 2, 2, 1, 3 | number of postings n, number of buckets b (u16 each), shift s (u8), 0 |
//! | 8 | base: the page's least value (u64) |
//! | 2·(b+1) | where each bucket's postings begin (u16): a bucket holds 2^s neighbouring values |
//! | n | value − base modulo 2^s of each posting |
//! | 3·n | row of each posting, little-endian |
//!
//! A value's postings can go on over several pages; then the following have it as their base.

use super::words::{bytes, bytes_mut, quarters, quarters_mut};
use base::{Error, Result};

/// Bytes of a posting: part of the value, row.
const POSTING: usize = 1 + ROW;

/// Two words.
const HEADER: usize = 2 * size_of::<u64>();
const HEADER_QUARTERS: usize = HEADER / size_of::<u16>();

/// Bytes of a row's number.
const ROW: usize = 3;

/// Rows of a segment are numbered in 24 bits.
pub const MAX_ROWS: u32 = 1 << (8 * ROW);

/// Words of the largest page whose postings a u16 can count.
pub const MAX_PAGE_WORDS: usize = u16::MAX as usize * POSTING / size_of::<u64>();

/// Values of a bucket, at most: what a byte can tell apart.
pub const MAX_SHIFT: u32 = u8::BITS;

/// Lists up to which looking at each row is quicker than searching.
const SHORT: usize = 48;

/// A posting page to read.
#[derive(Clone, Copy)]
pub struct PostingPage<'a> {
    words: &'a [u64],
    base: u64,
    /// Postings on this page.
    pub len: usize,
    buckets: usize,
    shift: u32,
}

/// Postings of one value on one page.
#[derive(Clone, Copy)]
pub struct PostingList<'a>(&'a [u8]);

impl<'a> PostingList<'a> {
    /// Rows of the list.
    pub fn len(&self) -> usize {
        self.0.len() / 3
    }

    /// Whether no row has the value.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Row numbers, three bytes each, little-endian, ascending.
    pub fn bytes(&self) -> &'a [u8] {
        self.0
    }

    /// How many there are of these rows.
    #[inline]
    pub fn count_within(&self, rows: std::ops::Range<u32>) -> usize {
        if self.len() > SHORT {
            return self.within(rows).len();
        }
        let n = rows.end.saturating_sub(rows.start);
        self.rows()
            .map(|row| usize::from(row.wrapping_sub(rows.start) < n))
            .sum()
    }

    /// Those of these rows, and perhaps some others if they are few.
    #[inline]
    pub fn about(&self, rows: std::ops::Range<u32>) -> PostingList<'a> {
        if self.len() > SHORT {
            self.within(rows)
        } else {
            *self
        }
    }

    /// Those of these rows.
    pub fn within(&self, rows: std::ops::Range<u32>) -> PostingList<'a> {
        let below = |limit: u32| {
            let (mut from, mut to) = (0, self.len());
            while from < to {
                let middle = (from + to) / 2;
                let b = &self.0[3 * middle..3 * middle + 3];
                let row = u32::from(b[0]) | u32::from(b[1]) << 8 | u32::from(b[2]) << 16;
                if row < limit {
                    from = middle + 1;
                } else {
                    to = middle;
                }
            }
            from
        };
        let (from, to) = (below(rows.start), below(rows.end));
        PostingList(self.0.get(3 * from..3 * to).unwrap_or_default())
    }

    /// Row numbers, ascending.
    pub fn rows(&self) -> impl Iterator<Item = u32> + 'a {
        self.0
            .chunks_exact(3)
            .map(|b| u32::from(b[0]) | u32::from(b[1]) << 8 | u32::from(b[2]) << 16)
    }
}

impl<'a> PostingPage<'a> {
    /// Errors: a page whose header cannot be.
    #[inline(always)]
    pub fn new(words: &'a [u64]) -> Result<Self> {
        let page = PostingPage {
            words,
            base: words[1],
            len: (words[0] & 0xffff) as usize,
            buckets: (words[0] >> 16 & 0xffff) as usize,
            shift: (words[0] >> 32 & 0xff) as u32,
        };
        let size = HEADER + 2 * (page.buckets + 1) + POSTING * page.len;
        if (size > 8 * words.len()) | (page.shift > MAX_SHIFT) {
            return Err(unfit(words[0]));
        }
        Ok(page)
    }

    /// The page's least value.
    pub fn base(&self) -> u64 {
        self.base
    }

    fn directory(&self) -> &'a [u16] {
        &quarters(self.words)[HEADER_QUARTERS..HEADER_QUARTERS + self.buckets + 1]
    }

    fn keys_at(&self) -> usize {
        HEADER + 2 * (self.buckets + 1)
    }

    /// The postings of `value`.
    ///
    /// Errors: a directory that cannot be.
    #[inline]
    pub fn find(&self, value: u32) -> Result<PostingList<'a>> {
        let Some(offset) = u64::from(value).checked_sub(self.base) else {
            return Ok(PostingList(&[]));
        };
        let bucket = (offset >> self.shift) as usize;
        if bucket >= self.buckets {
            return Ok(PostingList(&[]));
        }
        let directory = self.directory();
        let (from, to) = (directory[bucket] as usize, directory[bucket + 1] as usize);
        if from > to || to > self.len {
            return Err(out_of_order());
        }
        let all = bytes(self.words);
        let at = self.keys_at();
        let keys = &all[at + from..at + to];
        let key = (offset & ((1 << self.shift) - 1)) as u8;
        // they ascend; on a damaged page too it is some part of them
        let first = keys.partition_point(|&k| k < key);
        let run = keys[first..].partition_point(|&k| k == key);
        let rows = at + self.len + 3 * (from + first);
        Ok(PostingList(&all[rows..rows + 3 * run]))
    }

    /// Errors: a header or a directory that cannot be.
    pub fn check(&self) -> Result<()> {
        if self.len == 0 || self.words[0] >> 40 != 0 || self.base > u64::from(u32::MAX) {
            return Err(unfit(self.words[0]));
        }
        let directory = self.directory();
        let ends = directory[0] == 0 && directory[self.buckets] as usize == self.len;
        if ends && directory.is_sorted() {
            Ok(())
        } else {
            Err(out_of_order())
        }
    }

    /// Calls `each` with the rows whose values have all bits of `value`, which is not 0, of a page that was
    /// [checked](PostingPage::check). Buckets whose values cannot have them are left out.
    #[inline]
    pub fn for_each_covering(&self, value: u32, mut each: impl FnMut(u32)) {
        let all = bytes(self.words);
        let keys = &all[self.keys_at()..self.keys_at() + self.len];
        let rows = &all[self.keys_at() + self.len..self.keys_at() + POSTING * self.len];
        let mut from = 0;
        for (bucket, &to) in self.directory()[1..].iter().enumerate() {
            let least = (self.base as u32).wrapping_add((bucket as u32) << self.shift);
            let greatest = u64::from(least) + (1 << self.shift) - 1;
            let to = usize::from(to);
            if from < to && least_covering(least, value) <= greatest {
                let (keys, rows) = (&keys[from..to], &rows[ROW * from..ROW * to]);
                for (&key, row) in keys.iter().zip(rows.chunks_exact(ROW)) {
                    if least.wrapping_add(key.into()) & value == value {
                        each(u32::from(row[0]) | u32::from(row[1]) << 8 | u32::from(row[2]) << 16);
                    }
                }
            }
            from = to;
        }
    }

    /// All postings, value and row, ascending, of a page that was [checked](PostingPage::check).
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> + 'a {
        let page = *self;
        let directory = self.directory();
        let all = bytes(self.words);
        let rows =
            PostingList(&all[self.keys_at() + self.len..self.keys_at() + POSTING * self.len]);
        let keys = &all[self.keys_at()..self.keys_at() + self.len];
        let values = (0..self.buckets).flat_map(move |b| {
            let (from, to) = (directory[b] as usize, directory[b + 1] as usize);
            let keys = keys.get(from..to).unwrap_or_default();
            keys.iter().map(move |&k| {
                (page.base as u32)
                    .wrapping_add((b as u32) << page.shift)
                    .wrapping_add(k.into())
            })
        });
        values.zip(rows.rows())
    }
}

/// The least number from `from` on that has all bits of `value`.
pub(super) fn least_covering(from: u32, value: u32) -> u64 {
    let missing = value & !from;
    if missing == 0 {
        return from.into();
    }
    // The highest missing bit is set, and below it no more bits than are needed.
    let bit = missing.ilog2();
    let low = (1u64 << bit) - 1;
    u64::from(from) & !low | 1 << bit | u64::from(value) & low
}

/// Where on a page the list of a value is, by words of it that may be anything: to be prefetched.
pub(super) struct ListPlace {
    buckets: usize,
    len: usize,
    bucket: usize,
}

impl ListPlace {
    /// The first word of the page; by how much the value is greater than the page's least.
    #[inline]
    pub(super) fn new(head: u64, offset: u32) -> ListPlace {
        ListPlace {
            buckets: (head >> 16 & 0xffff) as usize,
            len: (head & 0xffff) as usize,
            bucket: (offset >> (head >> 32 & 0xf)) as usize,
        }
    }

    /// The word that says where the value's bucket begins; whether the page has the bucket.
    #[inline]
    pub(super) fn entry(&self) -> Option<usize> {
        let entry = (HEADER_QUARTERS + self.bucket) / 4;
        (self.bucket < self.buckets).then_some(entry)
    }

    /// Words that the keys of the bucket and its rows begin in, and one some rows later. `entry` is the word that says
    /// where it begins.
    #[inline]
    pub(super) fn list(&self, entry: u64) -> [usize; 3] {
        let from = (entry >> (16 * ((HEADER_QUARTERS + self.bucket) % 4)) & 0xffff) as usize;
        let keys = HEADER + 2 * (self.buckets + 1);
        let rows = keys + self.len + ROW * from;
        [(keys + from) / 8, rows / 8, rows / 8 + 5]
    }
}

#[cold]
fn unfit(head: u64) -> Error {
    Error::damaged(format!("a page of postings begins with {head:#x}"))
}

#[cold]
fn out_of_order() -> Error {
    Error::damaged("the directory of a page of postings is out of order")
}

/// Collects the postings of a page, ascending by value, then row.
pub struct PostingFiller {
    page_bytes: usize,
    shift: u32,
    values: Vec<u32>,
    rows: Vec<u32>,
}

impl PostingFiller {
    /// For a chunk of `width` bits over so many rows: `shift` leaves some 16 postings a bucket.
    ///
    /// # Panics
    /// If a page has more than [`MAX_PAGE_WORDS`].
    pub fn new(page_words: usize, width: u32, rows: u32) -> Self {
        assert!(page_words <= MAX_PAGE_WORDS, "a u16 counts the postings");
        let values_a_row = f64::from(width).exp2() / f64::from(rows.max(1));
        let shift = (16.0 * values_a_row)
            .log2()
            .round()
            .clamp(0.0, f64::from(MAX_SHIFT));
        PostingFiller {
            page_bytes: 8 * page_words,
            shift: shift as u32,
            values: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Whether there are no postings to write.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The least value of those to be written; 0 without any.
    pub fn least(&self) -> u32 {
        self.values.first().copied().unwrap_or(0)
    }

    /// Adds a posting; false if the page has no room for it.
    pub fn push(&mut self, value: u32, row: u32) -> bool {
        let base = *self.values.first().unwrap_or(&value);
        let buckets = ((value - base) >> self.shift) as usize + 1;
        let size = HEADER + 2 * (buckets + 1) + POSTING * (self.values.len() + 1);
        if size > self.page_bytes || buckets > usize::from(u16::MAX) {
            return false;
        }
        self.values.push(value);
        self.rows.push(row);
        true
    }

    /// Writes the page's content and starts the next. Returns the least value.
    pub fn finish(&mut self, words: &mut [u64]) -> u32 {
        words.fill(0);
        let base = self.values[0];
        let n = self.values.len();
        let bucket = |value: u32| ((value - base) >> self.shift) as usize;
        let buckets = bucket(self.values[n - 1]) + 1;
        words[0] = n as u64 | (buckets as u64) << 16 | u64::from(self.shift) << 32;
        words[1] = u64::from(base);
        let directory = &mut quarters_mut(words)[HEADER_QUARTERS..HEADER_QUARTERS + buckets + 1];
        let mut next = 0;
        for (i, &value) in self.values.iter().enumerate() {
            while next <= bucket(value) {
                directory[next] = i as u16;
                next += 1;
            }
        }
        directory[buckets] = n as u16;
        let all = &mut bytes_mut(words)[HEADER + 2 * (buckets + 1)..];
        let (keys, rows) = all.split_at_mut(n);
        for (key, &value) in keys.iter_mut().zip(&self.values) {
            *key = ((value - base) & ((1 << self.shift) - 1)) as u8;
        }
        for (to, &row) in rows.chunks_exact_mut(3).zip(&self.rows) {
            to.copy_from_slice(&row.to_le_bytes()[..3]);
        }
        self.values.clear();
        self.rows.clear();
        base
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn it_is_the_least() {
        for value in 0..64 {
            for from in 0..128 {
                let least = (from..).find(|v| v & value == value);
                assert_eq!(
                    Some(least_covering(from, value)),
                    least.map(u64::from),
                    "{from} {value}"
                );
            }
        }
        assert_eq!(least_covering(0, u32::MAX), u32::MAX.into());
        assert_eq!(least_covering(u32::MAX - 1, 1), u32::MAX.into());
    }

    proptest! {
        /// What was put in comes out, over page borders and long runs too.
        #[test]
        fn pages_give_back_their_postings(
            width in 1u32..=32,
            seeds in prop::collection::vec(any::<u32>(), 1..3000),
            modulus in 1u32..=u32::MAX,
        ) {
            let mask = ((1u64 << width) - 1) as u32;
            let mut postings: Vec<(u32, u32)> = seeds
                .iter()
                .enumerate()
                .map(|(row, seed)| ((seed % modulus) & mask, row as u32))
                .collect();
            postings.sort_unstable();
            let mut filler = PostingFiller::new(128, width, postings.len() as u32);
            let mut pages = vec![];
            for &(value, row) in &postings {
                if !filler.push(value, row) {
                    let mut page = vec![0; 128];
                    filler.finish(&mut page);
                    pages.push(page);
                    prop_assert!(filler.push(value, row));
                }
            }
            let mut page = vec![0; 128];
            filler.finish(&mut page);
            pages.push(page);
            let back: Vec<_> = pages.iter().flat_map(|p| PostingPage::new(p).unwrap().iter()).collect();
            prop_assert!(pages.iter().all(|p| PostingPage::new(p).unwrap().check().is_ok()));
            prop_assert_eq!(&back, &postings);
            for &(value, _) in postings.iter().step_by(7) {
                for asked in [value, value ^ 1, value.wrapping_add(3)] {
                    let found: Vec<u32> = pages
                        .iter()
                        .flat_map(|p| PostingPage::new(p).unwrap().find(asked).unwrap().rows())
                        .collect();
                    let wanted: Vec<u32> =
                        postings.iter().filter(|p| p.0 == asked).map(|p| p.1).collect();
                    prop_assert_eq!(found, wanted);
                }
            }
        }
    }
}
