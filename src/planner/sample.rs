//! Statistics of a column of type `bloom` or `minhash_bits`: besides the ordinary ones, a sample of its signatures.

use pg::{boundary, check_for_interrupts, entry, ffi};
use pgrx::pg_sys;

use types::objects::{is_bits, is_signature};

/// Kind of the statistics slot that holds the sample; the range is free for private use
/// (pg_statistic.h).
pub const KIND: i32 = 21_045;

/// Signatures in a sample.
const SIGNATURES: i32 = 4000;

/// Bytes of a sample, so that large signatures do not bloat pg_statistic.
const BYTES: usize = 1 << 20;

/// What the ordinary analysis wants back when it is its turn.
struct Ordinary {
    compute: pg_sys::AnalyzeAttrComputeStatsFunc,
    extra: *mut std::ffi::c_void,
}

/// `(internal) RETURNS boolean`
///
/// The analysis function of both types.
#[entry(volatile)]
fn bloom_typanalyze(fcinfo: pg_sys::FunctionCallInfo) -> bool {
    // SAFETY: declared as analysis function, so the argument is a VacAttrStats; what is allocated
    // lives as long as the analysis of this table.
    unsafe {
        let stats: *mut pg_sys::VacAttrStats = (*fcinfo).args.as_slice(1)[0].value.cast_mut_ptr();
        if !ffi::std_typanalyze(stats) {
            return false;
        }
        if !is_signature((*stats).attrtypid) && !is_bits((*stats).attrtypid) {
            return true;
        }
        let ordinary: *mut Ordinary = pg_sys::palloc(size_of::<Ordinary>()).cast();
        ordinary.write(Ordinary {
            compute: (*stats).compute_stats,
            extra: (*stats).extra_data,
        });
        (*stats).compute_stats = Some(compute);
        (*stats).extra_data = ordinary.cast();
    }
    true
}

/// The rows 0 to n−1, each once, and evenly spread wherever one stops: they come in the order of the
/// table, in which values may be sorted.
fn scattered(n: i32) -> impl Iterator<Item = i32> {
    let n = i64::from(n.max(0));
    let coprime = |step: &i64| {
        let (mut a, mut b) = (n, *step);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a == 1
    };
    // near the golden ratio, whose multiples are spread most evenly
    let step = ((n as f64 * 0.618) as i64..n).find(coprime).unwrap_or(1);
    (0..n).map(move |i| (i * step % n) as i32)
}

#[entry]
unsafe extern "C-unwind" fn compute(
    stats: *mut pg_sys::VacAttrStats,
    fetch: pg_sys::AnalyzeAttrFetchFunc,
    sampled: std::ffi::c_int,
    total: f64,
) {
    // SAFETY: called by ANALYZE with what bloom_typanalyze has set up. Calls of function pointers
    // into the server are guarded, since they may raise errors.
    unsafe {
        let ordinary = &*(*stats).extra_data.cast::<Ordinary>();
        (*stats).extra_data = ordinary.extra;
        if let Some(compute) = ordinary.compute {
            boundary::call(|| compute(stats, fetch, sampled, total));
        }
        let free = (0..(*stats).stakind.len()).find(|&slot| (*stats).stakind[slot] == 0);
        let (Some(slot), Some(fetch), true) = (free, fetch, (*stats).stats_valid) else {
            return;
        };
        let wanted = SIGNATURES.min(sampled);
        let context = pg_sys::MemoryContextSwitchTo((*stats).anl_context);
        let values: *mut pg_sys::Datum =
            pg_sys::palloc(wanted.max(1) as usize * size_of::<pg_sys::Datum>()).cast();
        let (mut n, mut bytes) = (0, 0);
        for row in scattered(sampled).take(wanted as usize) {
            check_for_interrupts();
            let mut is_null = false;
            let value = boundary::call(|| fetch(stats, row, &mut is_null));
            if is_null {
                continue;
            }
            // the sizes in the table may be compressed ones
            let copy = pg_sys::pg_detoast_datum_copy(value.cast_mut_ptr());
            bytes += pgrx::varsize_any(copy);
            if n > 0 && bytes > BYTES {
                pg_sys::pfree(copy.cast());
                break;
            }
            *values.add(n) = pg_sys::Datum::from(copy);
            n += 1;
        }
        pg_sys::MemoryContextSwitchTo(context);
        if n > 0 {
            (*stats).stakind[slot] = KIND as i16;
            (*stats).staop[slot] = pg_sys::InvalidOid;
            (*stats).stacoll[slot] = pg_sys::InvalidOid;
            (*stats).stavalues[slot] = values;
            (*stats).numvalues[slot] = n as i32;
        }
    }
}
