//! Counting the bits that two equally long byte strings have in common, in one way for each instruction set. All
//! give the same numbers.

#[cfg(target_arch = "aarch64")]
use super::arm;
use super::columns::{near_rows, Eight};
#[cfg(target_arch = "x86_64")]
use super::x86;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

/// Counts the bits that two strings of so many bytes have in common.
type IntersectFn = unsafe fn(*const u8, *const u8, usize) -> u32;

/// Calls the function with number and common bits of every row that reaches its limit.
type ScanFn = unsafe fn(&PackedScan<'_>, &mut dyn FnMut(usize, u32));

/// Writes for each eight rows, by columns, a bit each: whether no more bits of the fold differ than the limit says.
type NearFn = unsafe fn(&[Eight], &[u64], u32, &mut [u8]);

/// One way to count, for one instruction set.
#[derive(Clone, Copy, Debug)]
pub struct Kernel {
    /// The instruction set, in lower case.
    pub name: &'static str,
    intersect: IntersectFn,
    scan: ScanFn,
    near: NearFn,
}

impl Kernel {
    /// # Safety
    /// The processor has the instructions that the functions are compiled for. `intersect` reads as many bytes
    /// behind both pointers as its third argument says, and nothing else.
    pub(super) const unsafe fn new(
        name: &'static str,
        intersect: IntersectFn,
        scan: ScanFn,
        near: NearFn,
    ) -> Kernel {
        Kernel {
            name,
            intersect,
            scan,
            near,
        }
    }

    /// Bits set in both.
    #[inline]
    pub fn intersect(&self, a: &[u8], b: &[u8]) -> u32 {
        assert_eq!(a.len(), b.len(), "bit strings of different length");
        // SAFETY: both slices have the length, and the processor has the instructions, as the kernel's maker
        // promised.
        unsafe { (self.intersect)(a.as_ptr(), b.as_ptr(), a.len()) }
    }

    /// Bits set in both of two equally long rows of words.
    #[inline]
    pub(super) fn intersect_words(&self, a: &[u64], b: &[u64]) -> u32 {
        assert_eq!(a.len(), b.len(), "rows of different length");
        // SAFETY: both slices have the length in bytes, and the processor has the instructions, as the kernel's
        // maker promised.
        unsafe { (self.intersect)(a.as_ptr().cast(), b.as_ptr().cast(), size_of_val(a)) }
    }

    /// Calls `hit` with number and common bits of every row that reaches its limit.
    pub fn scan(&self, scan: &PackedScan<'_>, hit: &mut dyn FnMut(usize, u32)) {
        // SAFETY: the processor has the instructions, as the kernel's maker promised.
        unsafe { (self.scan)(scan, hit) }
    }

    /// Writes for each eight rows a bit each, the first row's the lowest: whether its fold differs from `fold` in `limit`
    /// bits at most.
    ///
    /// # Panics
    /// If there are not as many eights of words as `fold` has for each of `near`.
    pub(super) fn near(&self, columns: &[Eight], fold: &[u64], limit: u32, near: &mut [u8]) {
        assert_eq!(columns.len(), near.len() * fold.len(), "eights by columns");
        // SAFETY: the processor has the instructions, as the kernel's maker promised.
        unsafe { (self.near)(columns, fold, limit, near) }
    }
}

// The kernel that is chosen when the first is needed, by what the processor offers.
static BEST: LazyLock<Kernel> =
    LazyLock::new(|| *kernels().last().expect("portable is always there"));

/// The kernels that run on this processor, the best last.
pub fn kernels() -> Vec<Kernel> {
    let mut kernels = vec![portable()];
    #[cfg(target_arch = "x86_64")]
    kernels.extend(x86::kernels());
    #[cfg(target_arch = "aarch64")]
    kernels.extend(arm::kernels());
    kernels
}

/// Bits that are set.
#[inline]
pub fn popcount(bits: &[u8]) -> u32 {
    BEST.intersect(bits, bits)
}

/// Bits set in both of two equally long bit strings.
#[inline]
pub fn intersect_bits(a: &[u8], b: &[u8]) -> u32 {
    BEST.intersect(a, b)
}

/// Bits set in both of two equally long rows of words.
#[inline]
pub fn intersect_words(a: &[u64], b: &[u64]) -> u32 {
    BEST.intersect_words(a, b)
}

/// Calls `hit` with number and common bits of every row that reaches its limit.
#[inline]
pub fn scan(scan: &PackedScan<'_>, hit: &mut dyn FnMut(usize, u32)) {
    BEST.scan(scan, hit);
}

/// [`Kernel::near`] by the best kernel.
#[inline]
pub(super) fn near(columns: &[Eight], fold: &[u64], limit: u32, near: &mut [u8]) {
    BEST.near(columns, fold, limit, near);
}

// The kernel that runs on every processor, and what the others do with what is left over.

/// Runs on every processor.
fn portable() -> Kernel {
    // SAFETY: no special instructions; the functions read what they are told to.
    unsafe { Kernel::new("portable", intersect_portable, scan_portable, near_rows) }
}

/// # Safety
/// `a` and `b` are readable for `n` bytes.
unsafe fn intersect_portable(a: *const u8, b: *const u8, n: usize) -> u32 {
    // SAFETY: both are readable for `n` bytes, as the caller promises.
    unsafe { intersect_bytes(a, b, n) }
}

fn scan_portable(scan: &PackedScan<'_>, hit: &mut dyn FnMut(usize, u32)) {
    scan_words(scan, hit);
}

/// Eight bytes at a time; compiled once for each instruction set that calls it.
///
/// # Safety
/// `a` and `b` are readable for `n` bytes.
#[inline(always)]
pub(super) unsafe fn intersect_bytes(a: *const u8, b: *const u8, n: usize) -> u32 {
    let words = n / 8;
    let mut common = 0;
    for i in 0..words {
        // SAFETY: 8·(i+1) ≤ n; the reads need no alignment.
        let (x, y) = unsafe {
            (
                a.cast::<u64>().add(i).read_unaligned(),
                b.cast::<u64>().add(i).read_unaligned(),
            )
        };
        common += (x & y).count_ones();
    }
    let rest = n % 8;
    if rest > 0 {
        let (mut x, mut y) = ([0u8; 8], [0u8; 8]);
        // SAFETY: `rest` bytes follow the last whole word.
        unsafe {
            a.add(8 * words)
                .copy_to_nonoverlapping(x.as_mut_ptr(), rest);
            b.add(8 * words)
                .copy_to_nonoverlapping(y.as_mut_ptr(), rest);
        }
        common += (u64::from_le_bytes(x) & u64::from_le_bytes(y)).count_ones();
    }
    common
}

#[inline(always)]
pub(super) fn scan_words(scan: &PackedScan<'_>, hit: &mut dyn FnMut(usize, u32)) {
    // fixed widths unroll
    match scan.query.len() {
        1 => scan_width::<1>(scan, hit),
        2 => scan_width::<2>(scan, hit),
        3 => scan_width::<3>(scan, hit),
        4 => scan_width::<4>(scan, hit),
        5 => scan_width::<5>(scan, hit),
        6 => scan_width::<6>(scan, hit),
        7 => scan_width::<7>(scan, hit),
        8 => scan_width::<8>(scan, hit),
        10 => scan_width::<10>(scan, hit),
        16 => scan_width::<16>(scan, hit),
        width => scan.rows(
            0,
            width,
            |row, _| {
                let mut common = 0;
                for (x, y) in row.iter().zip(scan.query) {
                    common += (x & y).count_ones();
                }
                common
            },
            hit,
        ),
    }
}

/// Words that tell of most rows that they are not similar.
const HEAD: usize = 2;

/// The loops are loops, and no iterators: what an iterator calls would be compiled without the caller's instructions.
#[inline(always)]
fn scan_width<const W: usize>(scan: &PackedScan<'_>, hit: &mut dyn FnMut(usize, u32)) {
    let query: [u64; W] = scan.query.try_into().expect("W words");
    let mut rest = 0;
    for word in query.iter().skip(HEAD) {
        rest += word.count_ones();
    }
    scan.rows(
        0,
        W,
        |row, least| {
            let row: &[u64; W] = row.try_into().expect("W words");
            let (mut common, mut i) = (0, 0);
            while i < W.min(HEAD) {
                common += (row[i] & query[i]).count_ones();
                i += 1;
            }
            if W > HEAD + 1 && common + rest < least {
                return common;
            }
            while i < W {
                common += (row[i] & query[i]).count_ones();
                i += 1;
            }
            common
        },
        hit,
    );
}

// What a kernel scans.

/// Rows of as many words as the query, their popcounts, and for each
/// popcount the common bits that make a hit.
pub struct PackedScan<'a> {
    pub(super) words: &'a [u64],
    pub(super) popcounts: &'a [u32],
    pub(super) query: &'a [u64],
    /// Indexed by popcount; `u32::MAX` where no row of that popcount can reach the threshold.
    pub(super) limits: &'a [u32],
    /// Slope and offset: a hit has in single precision, too, slope · popcount + offset common bits at least.
    #[cfg_attr(
        not(target_arch = "x86_64"),
        expect(dead_code, reason = "the kernels of x86 alone ask for it")
    )]
    pub(super) bound: (f32, f32),
    /// Least and greatest popcount of the rows that can be hits, where many rows have others.
    pub(super) window: Option<(u32, u32)>,
}

/// Rows whose popcounts are looked at before their bits are.
const AT_ONCE: usize = 64;

impl<'a> PackedScan<'a> {
    /// `limits` has for each popcount the common bits that make a hit (`u32::MAX`: out of reach), `bound` is what
    /// [`Measure::bound`](crate::similarity::Measure::bound) says of them.
    ///
    /// # Panics
    /// If there are not as many words for each row, or popcount, as the query has.
    pub fn new(
        words: &'a [u64],
        popcounts: &'a [u32],
        query: &'a [u64],
        limits: &'a [u32],
        bound: (f32, f32),
    ) -> PackedScan<'a> {
        assert_eq!(
            words.len(),
            popcounts.len() * query.len(),
            "a popcount a row"
        );
        PackedScan {
            words,
            popcounts,
            query,
            limits,
            bound,
            window: None,
        }
    }

    /// The same rows, many of which have popcounts that are not within `window`, least and greatest: no limit is for
    /// these.
    pub fn within(mut self, window: (u32, u32)) -> PackedScan<'a> {
        self.window = Some(window);
        self
    }

    /// Runs `intersect` over the rows from number `first` on. It counts the common bits of a row, or fewer if the row
    /// has not the least that it is told. `width` is the number of the query's words, which is better known to the
    /// compiler.
    #[inline(always)]
    pub(super) fn rows(
        &self,
        first: usize,
        width: usize,
        mut intersect: impl FnMut(&[u64], u32) -> u32,
        hit: &mut dyn FnMut(usize, u32),
    ) {
        if let Some((least, greatest)) = self.window {
            return self.rows_within(first, width, least..=greatest, intersect, hit);
        }
        let mut at = first;
        for popcounts in self.popcounts[first..].chunks(AT_ONCE) {
            let end = at + popcounts.len();
            let rows = self.words[at * width..end * width].chunks_exact(width);
            // Rows of a segment are in the order of their popcounts, so that most have that of their neighbours, and
            // its limit.
            match same(popcounts) {
                Some(popcount) => {
                    let least = self.limit(popcount);
                    for (i, row) in rows.enumerate() {
                        let common = intersect(row, least);
                        if common >= least {
                            hit(at + i, common);
                        }
                    }
                }
                None => {
                    for (i, (row, &popcount)) in rows.zip(popcounts).enumerate() {
                        let least = self.limit(popcount);
                        let common = intersect(row, least);
                        if common >= least {
                            hit(at + i, common);
                        }
                    }
                }
            }
            at = end;
        }
    }

    /// The same where many popcounts are not within `window`. Which of them are is found for many at once and without a
    /// branch, so that the bits of the others are not read. These are held against the lowest limit of the window
    /// first, since few of them reach it.
    #[inline(always)]
    fn rows_within(
        &self,
        first: usize,
        width: usize,
        window: RangeInclusive<u32>,
        mut intersect: impl FnMut(&[u64], u32) -> u32,
        hit: &mut dyn FnMut(usize, u32),
    ) {
        let mut lowest = u32::MAX;
        for popcount in window.clone() {
            lowest = lowest.min(self.limit(popcount));
        }
        let mut at = first;
        for popcounts in self.popcounts[first..].chunks(AT_ONCE) {
            let mut near = are_within(popcounts, *window.start(), *window.end());
            let words = &self.words[at * width..(at + popcounts.len()) * width];
            while near != 0 {
                let i = near.trailing_zeros() as usize;
                near &= near - 1;
                let Some(row) = words.get(i * width..(i + 1) * width) else {
                    break;
                };
                let common = intersect(row, lowest);
                if common >= lowest {
                    self.check(at + i, common, hit);
                }
            }
            at += popcounts.len();
        }
    }

    /// The common bits that a row of so many bits takes; one of more bits than there are reaches nothing.
    #[inline(always)]
    fn limit(&self, popcount: u32) -> u32 {
        self.limits
            .get(popcount as usize)
            .copied()
            .unwrap_or(u32::MAX)
    }

    /// Reports row `i` if its common bits reach the limit.
    pub(super) fn check(&self, i: usize, common: u32, hit: &mut dyn FnMut(usize, u32)) {
        if common >= self.limit(self.popcounts[i]) {
            hit(i, common);
        }
    }
}

/// What all of some numbers are, if they are the same.
#[inline(always)]
fn same(numbers: &[u32]) -> Option<u32> {
    let (&one, rest) = numbers.split_first()?;
    // without a branch for each, several at once
    (rest.iter().fold(0, |differ, &other| differ | (one ^ other)) == 0).then_some(one)
}

/// Which of some numbers, [`AT_ONCE`] at the most, are `least` to `greatest`: a bit each. A loop over bytes is one over
/// vectors wherever the processor has these.
#[inline(always)]
fn are_within(numbers: &[u32], least: u32, greatest: u32) -> u64 {
    let span = greatest - least;
    let mut are = [0u8; AT_ONCE];
    for (is, &number) in are.iter_mut().zip(numbers) {
        *is = u8::from(number.wrapping_sub(least) <= span);
    }
    let mut bits = 0;
    for (i, eight) in are.as_chunks::<8>().0.iter().enumerate() {
        // The product has the lowest bits of the eight bytes side by side at its top.
        let side_by_side = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        bits |= side_by_side << (8 * i);
    }
    bits
}

#[cfg(test)]
mod scan_tests {
    use super::*;
    use crate::bits::kernels;
    use crate::similarity::{least_common, Measure};
    use proptest::prelude::*;

    proptest! {
        /// Each kernel finds, with a window and without, what a plain loop finds.
        #[test]
        fn windows_leave_out_what_cannot_be_found(
            width in 1usize..30,
            seeds in prop::collection::vec(any::<u64>(), 0..300),
            threshold in 0.01..1.0f64,
        ) {
            let word = |seed: u64, i: usize| {
                let mixed = (seed % 5 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(i as u32);
                mixed & !(1u64.rotate_left((seed >> 8) as u32 % 64) | 1u64.rotate_left((seed >> 16) as u32 % 64))
            };
            let words: Vec<u64> = seeds
                .iter()
                .flat_map(|&seed| (0..width).map(move |i| word(seed, i)))
                .collect();
            let rows = || words.chunks_exact(width);
            let bits = |row: &[u64]| row.iter().map(|w| w.count_ones()).sum::<u32>();
            let popcounts: Vec<u32> = rows().map(bits).collect();
            let query: Vec<u64> = (0..width).map(|i| word(3, i)).collect();
            let most = 64 * width as u32;
            let limits: Vec<u32> = (0..=most)
                .map(|c| least_common(bits(&query), c, threshold).unwrap_or(u32::MAX))
                .collect();
            let can = |&c: &u32| limits[c as usize] != u32::MAX;
            let window = ((0..=most).find(can).unwrap(), (0..=most).rfind(can).unwrap());
            let common = |row: &[u64]| -> u32 {
                row.iter().zip(&query).map(|(a, b)| (a & b).count_ones()).sum()
            };
            let plain: Vec<(usize, u32)> = rows()
                .map(common)
                .enumerate()
                .filter(|&(i, common)| common >= limits[popcounts[i] as usize])
                .collect();
            for kernel in kernels() {
                let bound = Measure::Jaccard.bound(bits(&query), threshold);
                let scan = || PackedScan::new(&words, &popcounts, &query, &limits, bound);
                for scan in [scan(), scan().within(window)] {
                    let mut found = Vec::new();
                    kernel.scan(&scan, &mut |i, common| found.push((i, common)));
                    prop_assert_eq!(&found, &plain, "{}", kernel.name);
                }
            }
        }
    }
}
