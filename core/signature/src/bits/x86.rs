//! Kernels for instructions that not every x86 processor has.

use std::arch::x86_64::*;

use super::columns::{near_rows, Eight, EIGHT};
use super::kernel::{intersect_bytes, scan_words, Kernel, PackedScan};

/// Those of them that this processor has, the best last.
pub(super) fn kernels() -> impl Iterator<Item = Kernel> {
    let popcnt = is_x86_feature_detected!("popcnt");
    let avx2 = popcnt && is_x86_feature_detected!("avx2");
    let avx512 = avx2
        && is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vpopcntdq");
    // SAFETY: each is made only where the processor has its instructions; the functions read what they are told to.
    let (popcnt, avx2, avx512) = unsafe {
        (
            popcnt.then(|| Kernel::new("popcnt", intersect_popcnt, scan_popcnt, near_popcnt)),
            avx2.then(|| Kernel::new("avx2", intersect_avx2, scan_avx2, near_popcnt)),
            avx512.then(|| Kernel::new("avx512", intersect_avx512, scan_avx512, near_avx512)),
        )
    };
    [popcnt, avx2, avx512].into_iter().flatten()
}

/// # Safety
/// `a` and `b` are readable for `n` bytes.
#[target_feature(enable = "popcnt")]
unsafe fn intersect_popcnt(a: *const u8, b: *const u8, n: usize) -> u32 {
    // SAFETY: both are readable for `n` bytes, as the caller promises.
    unsafe { intersect_bytes(a, b, n) }
}

#[target_feature(enable = "popcnt")]
fn scan_popcnt(scan: &PackedScan<'_>, hit: &mut dyn FnMut(usize, u32)) {
    scan_words(scan, hit);
}

#[target_feature(enable = "popcnt")]
fn near_popcnt(columns: &[Eight], fold: &[u64], limit: u32, near: &mut [u8]) {
    near_rows(columns, fold, limit, near);
}

/// From here on the byte shuffle is quicker than popcnt.
const AVX2_FROM: usize = 256;

/// Nibble look-up by byte shuffle (W. Muła, N. Kurz, D. Lemire: Faster population counts
/// using AVX2 instructions, 2018).
///
/// # Safety
/// `a` and `b` are readable for `n` bytes.
#[target_feature(enable = "avx2,popcnt")]
unsafe fn intersect_avx2(a: *const u8, b: *const u8, n: usize) -> u32 {
    if n < AVX2_FROM {
        // SAFETY: both are readable for `n` bytes, as the caller promises.
        return unsafe { intersect_bytes(a, b, n) };
    }
    let table = _mm256_setr_epi8(
        0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3,
        3, 4,
    );
    let low = _mm256_set1_epi8(0x0f);
    let mut sums = _mm256_setzero_si256();
    let blocks = n / 32;
    for i in 0..blocks {
        // SAFETY: 32·(i+1) ≤ n; loads are unaligned.
        let v = unsafe {
            _mm256_and_si256(
                _mm256_loadu_si256(a.add(32 * i).cast()),
                _mm256_loadu_si256(b.add(32 * i).cast()),
            )
        };
        let counts = _mm256_add_epi8(
            _mm256_shuffle_epi8(table, _mm256_and_si256(v, low)),
            _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(v, 4), low)),
        );
        sums = _mm256_add_epi64(sums, _mm256_sad_epu8(counts, _mm256_setzero_si256()));
    }
    let pair = _mm_add_epi64(
        _mm256_castsi256_si128(sums),
        _mm256_extracti128_si256(sums, 1),
    );
    let sum = _mm_extract_epi64(pair, 0) + _mm_extract_epi64(pair, 1);
    // SAFETY: n % 32 of the caller's bytes are left behind the last block.
    sum as u32 + unsafe { intersect_bytes(a.add(32 * blocks), b.add(32 * blocks), n % 32) }
}

#[target_feature(enable = "avx2,popcnt")]
fn scan_avx2(scan: &PackedScan<'_>, hit: &mut dyn FnMut(usize, u32)) {
    // signatures are short of where the shuffle pays
    scan_words(scan, hit);
}

/// # Safety
/// `a` and `b` are readable for `n` bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512vpopcntdq")]
unsafe fn intersect_avx512(a: *const u8, b: *const u8, n: usize) -> u32 {
    let mut sums = _mm512_setzero_si512();
    let blocks = n / 64;
    for i in 0..blocks {
        // SAFETY: 64·(i+1) ≤ n; loads are unaligned.
        let v = unsafe {
            _mm512_and_si512(
                _mm512_loadu_si512(a.add(64 * i).cast()),
                _mm512_loadu_si512(b.add(64 * i).cast()),
            )
        };
        sums = _mm512_add_epi64(sums, _mm512_popcnt_epi64(v));
    }
    let rest = n % 64;
    if rest > 0 {
        let mask = u64::MAX >> (64 - rest);
        // SAFETY: masked-out bytes are not read; `rest` bytes follow the last block.
        let v = unsafe {
            _mm512_and_si512(
                _mm512_maskz_loadu_epi8(mask, a.add(64 * blocks).cast()),
                _mm512_maskz_loadu_epi8(mask, b.add(64 * blocks).cast()),
            )
        };
        sums = _mm512_add_epi64(sums, _mm512_popcnt_epi64(v));
    }
    _mm512_reduce_add_epi64(sums) as u32
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vpopcntdq")]
fn scan_avx512(scan: &PackedScan<'_>, hit: &mut dyn FnMut(usize, u32)) {
    match scan.query.len() {
        1..=8 => scan_eights::<1>(scan, hit),
        9..=16 => scan_eights::<2>(scan, hit),
        17..=24 => scan_eights::<3>(scan, hit),
        _ => scan_singly(scan, 0, hit),
    }
}

/// One row after the other, from number `first` on.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vpopcntdq")]
#[inline]
fn scan_singly(scan: &PackedScan<'_>, first: usize, hit: &mut dyn FnMut(usize, u32)) {
    let intersect = |row: &[u64], _: u32| {
        let (a, b) = (row.as_ptr().cast(), scan.query.as_ptr().cast());
        // SAFETY: row and query have the same number of words, and both are read to their end.
        unsafe { intersect_avx512(a, b, 8 * row.len()) }
    };
    scan.rows(first, scan.query.len(), intersect, hit);
}

/// Reports those of eight rows, from number `first` on, whose common bits reach the bound and the limit.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vpopcntdq")]
#[inline]
fn report(
    scan: &PackedScan<'_>,
    first: usize,
    sums: __m256i,
    least: __m256,
    hit: &mut dyn FnMut(usize, u32),
) {
    let reached = _mm256_cmp_ps(_mm256_cvtepi32_ps(sums), least, _CMP_GE_OQ);
    let mut near = _mm256_movemask_ps(reached) as u32;
    if near == 0 {
        return;
    }
    let mut common = [0u32; EIGHT];
    // SAFETY: `common` has room for the eight numbers that are written.
    unsafe { _mm256_storeu_si256(common.as_mut_ptr().cast(), sums) };
    while near != 0 {
        let r = near.trailing_zeros() as usize;
        scan.check(first + r, common[r], hit);
        near &= near - 1;
    }
}

/// The sums of eight rows' lanes. Each lane is less than 256 and so fits a byte: they are packed into one register,
/// transposed, and summed by one instruction.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vpopcntdq")]
#[inline]
fn sums_of(lanes: &[__m512i; 8], transposed: __m512i) -> __m256i {
    let low = _mm512_or_si512(
        _mm512_or_si512(lanes[0], _mm512_slli_epi64(lanes[1], 8)),
        _mm512_or_si512(
            _mm512_slli_epi64(lanes[2], 16),
            _mm512_slli_epi64(lanes[3], 24),
        ),
    );
    let high = _mm512_or_si512(
        _mm512_or_si512(lanes[4], _mm512_slli_epi64(lanes[5], 8)),
        _mm512_or_si512(
            _mm512_slli_epi64(lanes[6], 16),
            _mm512_slli_epi64(lanes[7], 24),
        ),
    );
    let packed = _mm512_or_si512(low, _mm512_slli_epi64(high, 32));
    let by_row = _mm512_permutexvar_epi8(transposed, packed);
    _mm512_cvtepi64_epi32(_mm512_sad_epu8(by_row, _mm512_setzero_si512()))
}

/// Eight rows at a time, each of up to 8·B words, the query held in B registers; popcounts are up to 64·B ≤ 192.
///
/// Where B > 1 the first eight words are counted first: if a row would not reach its limit though all of the query's other
/// bits were common, the other words are not read. Where that is in vain too often, all are counted at once.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx512vpopcntdq")]
fn scan_eights<const B: usize>(scan: &PackedScan<'_>, hit: &mut dyn FnMut(usize, u32)) {
    /// Eights of which a row reaches the first bound, more than of which none does.
    const IN_VAIN: u32 = 8;
    let width = scan.query.len();
    let masks: [__mmask8; B] = std::array::from_fn(|i| {
        let left = width.saturating_sub(8 * i).min(8);
        (0xffu16 >> (8 - left)) as u8
    });
    let load = |words: &[u64], i: usize| {
        // SAFETY: the mask leaves only words of the row; words that it masks out are not read.
        unsafe { _mm512_maskz_loadu_epi64(masks[i], words.as_ptr().wrapping_add(8 * i).cast()) }
    };
    let query: [__m512i; B] = std::array::from_fn(|i| load(scan.query, i));
    let transposed: [u8; 64] = std::array::from_fn(|i| (i % 8 * 8 + i / 8) as u8);
    // SAFETY: the array has the 64 bytes that are read.
    let transposed = unsafe { _mm512_loadu_si512(transposed.as_ptr().cast()) };
    // The exact limit is looked up only for rows that reach the bound.
    let slope = _mm256_set1_ps(scan.bound.0);
    let offset = _mm256_set1_ps(scan.bound.1);
    let behind: u32 = scan
        .query
        .iter()
        .skip(8)
        .map(|word| word.count_ones())
        .sum();
    let behind = _mm256_set1_ps(behind as f32);
    let mut in_vain = if B > 1 { 0 } else { IN_VAIN };
    let eights = scan.words.chunks_exact(EIGHT * width);
    let counts = scan.popcounts.chunks_exact(EIGHT);
    for (i, (rows, counts)) in eights.zip(counts).enumerate() {
        let lanes = |r: usize, block: usize| {
            let row = &rows[r * width..(r + 1) * width];
            _mm512_popcnt_epi64(_mm512_and_si512(load(row, block), query[block]))
        };
        // SAFETY: `popcounts` has the eight numbers that are read.
        let counts8 = unsafe { _mm256_loadu_si256(counts.as_ptr().cast()) };
        let least = _mm256_add_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(counts8), slope), offset);
        // No iterator: what it calls would be compiled without these instructions.
        let mut all = [
            lanes(0, 0),
            lanes(1, 0),
            lanes(2, 0),
            lanes(3, 0),
            lanes(4, 0),
            lanes(5, 0),
            lanes(6, 0),
            lanes(7, 0),
        ];
        if in_vain < IN_VAIN {
            let most = _mm256_add_ps(_mm256_cvtepi32_ps(sums_of(&all, transposed)), behind);
            if _mm256_movemask_ps(_mm256_cmp_ps(most, least, _CMP_GE_OQ)) == 0 {
                in_vain = in_vain.saturating_sub(1);
                continue;
            }
            in_vain += 1;
        }
        let mut block = 1;
        while block < B {
            let mut r = 0;
            while r < EIGHT {
                all[r] = _mm512_add_epi64(all[r], lanes(r, block));
                r += 1;
            }
            block += 1;
        }
        let sums = sums_of(&all, transposed);
        report(scan, EIGHT * i, sums, least, hit);
    }
    let rest = scan.popcounts.len() / EIGHT * EIGHT;
    scan_singly(scan, rest, hit);
}

#[target_feature(enable = "avx512f,avx512vpopcntdq")]
fn near_avx512(columns: &[Eight], fold: &[u64], limit: u32, near: &mut [u8]) {
    // With a width that is known, the fold stays in registers.
    match fold.len() {
        1 => near_width::<1>(columns, fold, limit, near),
        2 => near_width::<2>(columns, fold, limit, near),
        3 => near_width::<3>(columns, fold, limit, near),
        4 => near_width::<4>(columns, fold, limit, near),
        5 => near_width::<5>(columns, fold, limit, near),
        6 => near_width::<6>(columns, fold, limit, near),
        7 => near_width::<7>(columns, fold, limit, near),
        8 => near_width::<8>(columns, fold, limit, near),
        9 => near_width::<9>(columns, fold, limit, near),
        10 => near_width::<10>(columns, fold, limit, near),
        11 => near_width::<11>(columns, fold, limit, near),
        12 => near_width::<12>(columns, fold, limit, near),
        _ => near_rows(columns, fold, limit, near),
    }
}

/// The sum of each of eight rows is in a lane.
#[target_feature(enable = "avx512f,avx512vpopcntdq")]
fn near_width<const W: usize>(columns: &[Eight], fold: &[u64], limit: u32, near: &mut [u8]) {
    let mut own = [_mm512_setzero_si512(); W];
    let mut w = 0;
    while w < W {
        own[w] = _mm512_set1_epi64(fold[w] as i64);
        w += 1;
    }
    let limit = _mm512_set1_epi64(limit.into());
    for (rows, near) in columns.chunks_exact(W).zip(near) {
        let mut differ = _mm512_setzero_si512();
        let mut w = 0;
        while w < W {
            // SAFETY: `rows` has as many eights as the fold has words, each aligned to what is read at once.
            let words = unsafe { _mm512_load_si512((&raw const rows[w]).cast()) };
            let count = _mm512_popcnt_epi64(_mm512_xor_si512(words, own[w]));
            differ = _mm512_add_epi64(differ, count);
            w += 1;
        }
        *near = _mm512_cmple_epu64_mask(differ, limit);
    }
}
