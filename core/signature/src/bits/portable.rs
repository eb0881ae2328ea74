//! The kernel that runs on every processor, and what the others do with what is left over.

use super::kernel::Kernel;
use super::scan::PackedScan;

/// Runs on every processor.
pub(super) fn kernel() -> Kernel {
    // SAFETY: no special instructions; the functions read what they are told to.
    unsafe { Kernel::new("portable", intersect_portable, scan_portable) }
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
