//! Rows whose folded bits differ little. A fold combines a row's words by exclusive or, so rows differ in at least as
//! many bits as their folds do (P. Baldi, D. S. Hirschberg, R. J. Nasr: Speeding Up Chemical Database Searches Using a
//! Proximity Filter Based on the Logical Exclusive OR, J. Chem. Inf. Model. 48, 2008).

use std::ops::Range;

use base::memory::reserve;
use base::Result;

/// A row's bits, folded.
pub type Fold = [u64; 2];

/// Folds a row.
#[inline]
pub fn fold(words: &[u64]) -> Fold {
    let mut fold = [0; 2];
    fold_into(&mut fold, words);
    fold
}

/// Folds a row to as many words as `fold` has, which are 0.
#[inline]
pub fn fold_into(fold: &mut [u64], words: &[u64]) {
    for some in words.chunks(fold.len()) {
        for (fold, word) in fold.iter_mut().zip(some) {
            *fold ^= word;
        }
    }
}

/// Compares with rows from number `first` on, of which it has the folds.
#[derive(Clone, Copy)]
pub struct FoldFilter<'a> {
    /// The folds of the rows.
    pub folds: &'a [Fold],
    /// The number of the first of them.
    pub first: u32,
    /// The fold that is asked for.
    pub fold: &'a Fold,
    /// The greatest number of bits that may differ.
    pub limit: u32,
}

impl FoldFilter<'_> {
    /// Whether a row with this fold may be near.
    #[inline(always)]
    pub fn passes(&self, other: &Fold) -> bool {
        let differ =
            (other[0] ^ self.fold[0]).count_ones() + (other[1] ^ self.fold[1]).count_ones();
        differ <= self.limit
    }

    /// Adds to `out` the rows of a list (three bytes each, little-endian) that may be near, of those in `rows`.
    ///
    /// Errors: out of memory.
    #[inline]
    pub fn list(&self, list: &[u8], rows: Range<u32>, out: &mut Vec<u32>) -> Result<()> {
        reserve(out, list.len() / 3)?;
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("popcnt") {
            // SAFETY: the processor has the instruction.
            unsafe { self.list_popcnt(list, rows, out) };
            return Ok(());
        }
        self.list_here(list, rows, out);
        Ok(())
    }

    /// The same for all rows with these numbers.
    ///
    /// Errors: out of memory.
    pub fn all(&self, rows: Range<u32>, out: &mut Vec<u32>) -> Result<()> {
        // what passes is little, so there is room for one block after the other
        const BLOCK: u32 = 1 << 12;
        let mut from = rows.start;
        while from < rows.end {
            let to = rows.end.min(from + BLOCK);
            reserve(out, BLOCK as usize)?;
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("popcnt") {
                // SAFETY: the processor has the instruction.
                unsafe { self.all_popcnt(from..to, out) };
                from = to;
                continue;
            }
            self.all_here(from..to, out);
            from = to;
        }
        Ok(())
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "popcnt")]
    fn list_popcnt(&self, list: &[u8], rows: Range<u32>, out: &mut Vec<u32>) {
        self.list_here(list, rows, out);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "popcnt")]
    fn all_popcnt(&self, rows: Range<u32>, out: &mut Vec<u32>) {
        self.all_here(rows, out);
    }

    #[inline(always)]
    fn list_here(&self, list: &[u8], rows: Range<u32>, out: &mut Vec<u32>) {
        let start = rows.start;
        let at = (start - self.first) as usize..(rows.end - self.first) as usize;
        let folds = &self.folds[at];
        for b in list.chunks_exact(3) {
            let row = u32::from(b[0]) | u32::from(b[1]) << 8 | u32::from(b[2]) << 16;
            let other = folds.get(row.wrapping_sub(start) as usize);
            if other.is_some_and(|other| self.passes(other)) {
                out.push(row);
            }
        }
    }

    #[inline(always)]
    fn all_here(&self, rows: Range<u32>, out: &mut Vec<u32>) {
        let at = (rows.start - self.first) as usize..(rows.end - self.first) as usize;
        for (row, other) in rows.zip(&self.folds[at]) {
            if self.passes(other) {
                out.push(row);
            }
        }
    }
}

/// Keeps those of the values that `passes` says, which counts bits.
#[inline]
pub fn keep_counted(values: &mut Vec<u64>, passes: impl Fn(u64) -> bool) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("popcnt") {
        // SAFETY: the processor has the instruction.
        unsafe { keep_popcnt(values, passes) };
        return;
    }
    keep_here(values, passes);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn keep_popcnt(values: &mut Vec<u64>, passes: impl Fn(u64) -> bool) {
    keep_here(values, passes);
}

#[inline(always)]
fn keep_here(values: &mut Vec<u64>, passes: impl Fn(u64) -> bool) {
    // without a branch for each
    let mut kept = 0;
    for i in 0..values.len() {
        let value = values[i];
        values[kept] = value;
        kept += usize::from(passes(value));
    }
    values.truncate(kept);
}
