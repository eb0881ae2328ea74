//! What ANALYZE has stored of a column of signatures or sketches, taken apart once and kept for the session.
//!
//! A column's row of pg_statistic holds some hundred kilobytes, compressed: to fetch them at every estimate takes ten
//! times as long as the rest of planning. What is kept belongs to one version of that row. The planner looks the row up
//! for every estimate, and checks whether the user may know it, so nothing here is older than the server's own
//! statistics, and nobody sees more.

use pg::error::OrRaise;
use pg::memory::{SessionMemory, SessionWords};
use pg::session_state::map_bytes;
use pg::{boundary, check_for_interrupts, entry, ffi};
use pgrx::pg_sys;
use sigfile::selectivity::{append, appended, pack, Packed};
use sigfile::RowBits;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::sync::Once;
use types::objects::{is_bits, is_signature};
use types::{Bloom, MinhashBits};

/// Bytes of statistics that a session keeps, beside those that it needs: some 170 samples of 301 bits.
const KEPT: usize = 32 << 20;

/// Signatures of one side that are asked of the other in a join, or in place of a parameter.
const ASKED: usize = 50;

/// Estimates that are kept.
const ESTIMATES: usize = 1024;

/// Which row of pg_statistic: relation, column, with what inherits from it.
type ColumnKey = (pg_sys::Oid, i16, bool);

/// Which version of the row: block, offset and inserting transaction.
type Version = (u32, u16, u32);

/// What the statistics say of a column.
pub struct Statistics {
    /// No others of the session have this number.
    pub number: u64,
    /// Share of rows that are not NULL.
    pub present: f64,
    /// Share of those in all rows that are no common value.
    pub share_of_others: f64,
    /// The packed common values, their shares, the packed others, and the signatures to ask.
    words: SessionWords,
    /// Where the parts begin, but the first.
    at: [usize; 3],
    /// From which word on each signature to ask is.
    asked: Vec<usize>,
}

impl Statistics {
    /// The most common values.
    pub fn common(&self) -> Packed<'_> {
        Packed::new(&self.words[..self.at[0]])
    }

    /// The share of a common value in all rows.
    pub fn share_of_common(&self, number: usize) -> f64 {
        f64::from_bits(self.words[self.at[0] + number])
    }

    /// The sample of the rows that have no common value.
    pub fn others(&self) -> Packed<'_> {
        Packed::new(&self.words[self.at[1]..self.at[2]])
    }

    /// A few signatures of the column.
    pub fn asked(&self) -> impl ExactSizeIterator<Item = RowBits<'_>> {
        self.asked.iter().map(|&at| appended(&self.words[at..]))
    }

    /// Bytes.
    fn size(&self) -> usize {
        8 * self.words.len() + size_of::<Statistics>() + 8 * self.asked.len()
    }

    /// Takes a row of pg_statistic apart: the shares of the most common values are known, and the sample stands for the
    /// others, so those among it that are common are left out. `None` if there is no sample.
    ///
    /// # Safety
    /// `row` is one of pg_statistic.
    unsafe fn of_row(row: pg_sys::HeapTuple) -> Option<Statistics> {
        // SAFETY: the row is one of pg_statistic; a slot gives as many values and numbers as it says, and its values
        // are of its type.
        unsafe {
            let sample = Slot::get(row, KIND, pg_sys::ATTSTATSSLOT_VALUES)?;
            // the kind's number may be used by others, too
            if !is_signature(sample.0.valuetype) && !is_bits(sample.0.valuetype) {
                return None;
            }
            let both = pg_sys::ATTSTATSSLOT_VALUES | pg_sys::ATTSTATSSLOT_NUMBERS;
            let common = Slot::get(row, pg_sys::STATISTIC_KIND_MCV as i32, both);
            let values = common.as_ref().map_or(Vec::new(), Slot::values);
            let values: Vec<RowBits<'_>> = values.iter().map(Sampled::bits).collect();
            let shares = common.as_ref().map_or(&[][..], |slot| slot.numbers());
            let mut common: Vec<(RowBits<'_>, f64)> = values
                .into_iter()
                .zip(shares)
                .map(|(value, &share)| (value, f64::from(share)))
                .collect();
            common.sort_by_key(|c| c.0.tag);
            let known: HashSet<RowBits<'_>> = common.iter().map(|c| c.0).collect();
            let sampled = sample.values();
            let sampled: Vec<RowBits<'_>> = sampled.iter().map(Sampled::bits).collect();
            let others = sampled.iter().filter(|&s| !known.contains(s));
            let mut others: Vec<RowBits<'_>> = others.copied().collect();
            others.sort_by_key(|s| s.tag);
            let present = 1.0 - f64::from(form(row).stanullfrac);
            let counted: f64 = common.iter().map(|c| c.1).sum();

            let values: Vec<RowBits<'_>> = common.iter().map(|c| c.0).collect();
            let mut words = pack(&values).or_raise();
            let mut at = [words.len(); 3];
            words.extend(common.iter().map(|c| c.1.to_bits()));
            at[1] = words.len();
            words.extend(pack(&others).or_raise());
            at[2] = words.len();
            let step = (sampled.len() / ASKED).max(1);
            let mut asked = Vec::new();
            for signature in sampled.iter().step_by(step) {
                asked.push(words.len());
                append(signature, &mut words);
            }
            Some(Statistics {
                number: NUMBERS.replace(NUMBERS.get() + 1),
                present,
                share_of_others: (present - counted).max(0.0),
                words: MEMORY.with(|memory| memory.keep(&words)),
                at,
                asked,
            })
        }
    }
}

/// A value of a sample.
enum Sampled<'a> {
    Filter(Bloom<'a>),
    Bits(MinhashBits<'a>),
}

impl Sampled<'_> {
    fn bits(&self) -> RowBits<'_> {
        match self {
            Sampled::Filter(value) => value.view().into(),
            Sampled::Bits(value) => value.view().into(),
        }
    }
}

/// A slot of a row of pg_statistic, freed when this is dropped.
struct Slot(pg_sys::AttStatsSlot);

impl Slot {
    /// # Safety
    /// `row` is one of pg_statistic.
    unsafe fn get(row: pg_sys::HeapTuple, kind: i32, what: u32) -> Option<Slot> {
        let mut slot = Slot(pg_sys::AttStatsSlot::default());
        // SAFETY: the row is one of pg_statistic.
        let found = unsafe {
            pg_sys::get_attstatsslot(&mut slot.0, row, kind, pg_sys::InvalidOid, what as c_int)
        };
        found.then_some(slot)
    }

    fn values(&self) -> Vec<Sampled<'_>> {
        let of_bits = is_bits(self.0.valuetype);
        // SAFETY: the slot's values are those of a column of either type.
        let value = |i: usize| unsafe {
            match (of_bits, *self.0.values.add(i)) {
                (true, value) => Sampled::Bits(MinhashBits::from_raw(value)),
                (false, value) => Sampled::Filter(Bloom::from_raw(value)),
            }
        };
        (0..self.0.nvalues as usize).map(value).collect()
    }

    fn numbers(&self) -> &[f32] {
        if self.0.numbers.is_null() {
            return &[];
        }
        // SAFETY: there are as many numbers as the slot says.
        unsafe { std::slice::from_raw_parts(self.0.numbers, self.0.nnumbers as usize) }
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // SAFETY: the slot was filled by the server, or is empty.
        unsafe { pg_sys::free_attstatsslot(&mut self.0) };
    }
}

/// The fixed part of a row.
///
/// # Safety
/// `row` is one of pg_statistic, as long as the result is used.
unsafe fn form<'a>(row: pg_sys::HeapTuple) -> &'a pg_sys::FormData_pg_statistic {
    // SAFETY: the caller knows what row it is.
    unsafe { &*pg_sys::GETSTRUCT(row).cast::<pg_sys::FormData_pg_statistic>() }
}

/// A number below `n`, which is 1 or more. What gives way is chosen at random: of more partitions than can be kept, the
/// least recently used one is always the one that is asked for next.
fn random(n: usize) -> usize {
    let next = RANDOM.get().wrapping_mul(6364136223846793005);
    let next = next.wrapping_add(1442695040888963407);
    RANDOM.set(next);
    (next >> 33) as usize % n
}

struct CachedStatistics {
    column: ColumnKey,
    version: Version,
    /// What an invalidation of the row will say.
    hash: u32,
    statistics: Rc<Statistics>,
}

pg::session_state! {
    static MEMORY: SessionMemory = SessionMemory::new(c"bloom_ident statistics");
    "memory of statistics" by "the only one" until "the session ends";
    static NUMBERS: Cell<u64> = Cell::default();
    "number of the next statistics" by "the only one" until "the session ends";
    static RANDOM: Cell<u64> = Cell::default();
    "random number" by "the last" until "the next one";
    /// Never dropped: the server's memory may be gone by then.
    static CACHE: RefCell<ManuallyDrop<Vec<CachedStatistics>>> = RefCell::default();
    "statistics" by "column" until "ANALYZE, or others need the room"
        bytes |cache| cache.borrow().iter().map(|kept| kept.statistics.size()).sum();
    /// Estimates that were made from statistics that are kept.
    static KNOWN: RefCell<HashMap<Estimate, f64>> = RefCell::default();
    "estimates" by "statistics and what is asked" until "there are 1024" bytes |known| map_bytes(&known.borrow());
}

/// The server calls it when rows of pg_statistic change. What belongs to them would not be found again, and is freed.
#[entry]
unsafe extern "C-unwind" fn forget(_argument: pg_sys::Datum, _cache: c_int, hash: u32) {
    CACHE.with_borrow_mut(|cache| cache.retain(|kept| hash != 0 && kept.hash != hash));
}

/// The statistics of a row of pg_statistic, kept or read. `None` if it has no sample of signatures.
///
/// # Safety
/// `row` is one of pg_statistic, or was made by somebody's hook as if it were one.
pub unsafe fn read(row: pg_sys::HeapTuple) -> Option<Rc<Statistics>> {
    // SAFETY: such a row has the fixed part, and a header.
    let (column, version) = unsafe {
        let form = form(row);
        let tid = (*row).t_self;
        let block = u32::from(tid.ip_blkid.bi_hi) << 16 | u32::from(tid.ip_blkid.bi_lo);
        let inserted = (*(*row).t_data).t_choice.t_heap.t_xmin;
        let stored = (*row).t_tableOid == pg_sys::StatisticRelationId && tid.ip_posid != 0;
        let column = (form.starelid, form.staattnum, form.stainherit);
        let version = (block, tid.ip_posid, u32::from(inserted));
        (stored.then_some(column), version)
    };
    let Some(column) = column else {
        // Statistics of expressions, and those that somebody imagines, are in no row that could be told from another.
        // SAFETY: the caller knows what row it is.
        return unsafe { Statistics::of_row(row) }.map(Rc::new);
    };
    let kept = CACHE.with_borrow_mut(|cache| {
        let at = cache.iter().position(|k| k.column == column)?;
        if cache[at].version == version {
            return Some(cache[at].statistics.clone());
        }
        cache.swap_remove(at);
        None
    });
    if kept.is_some() {
        return kept;
    }
    // SAFETY: the caller knows what row it is. The key of the cache STATRELATTINH is relation, column and inheritance.
    let (statistics, hash) = unsafe {
        static LISTENING: Once = Once::new();
        LISTENING.call_once(|| {
            pg_sys::CacheRegisterSyscacheCallback(
                pg_sys::SysCacheIdentifier::STATRELATTINH as c_int,
                Some(forget),
                pg_sys::Datum::null(),
            );
        });
        let hash = pg_sys::GetSysCacheHashValue(
            pg_sys::SysCacheIdentifier::STATRELATTINH as c_int,
            pg_sys::Datum::from(column.0),
            pg_sys::Datum::from(column.1),
            pg_sys::Datum::from(column.2),
            pg_sys::Datum::null(),
        );
        (Rc::new(Statistics::of_row(row)?), hash)
    };
    CACHE.with_borrow_mut(|cache| {
        cache.push(CachedStatistics {
            column,
            version,
            hash,
            statistics: statistics.clone(),
        });
        let mut size: usize = cache.iter().map(|k| k.statistics.size()).sum();
        while size > KEPT {
            let victim = random(cache.len());
            size -= cache.swap_remove(victim).statistics.size();
        }
    });
    Some(statistics)
}

/// What was estimated: of which statistics, for whom (the hash of a signature, or the number of other statistics), and
/// the bits of the numbers that it depends on.
pub type Estimate = (&'static str, u64, u64, [u64; 3]);

/// An estimate that was made before, or is made now: the planner asks for each several times.
pub fn remembered(estimate: Estimate, make: impl FnOnce() -> f64) -> f64 {
    if let Some(known) = KNOWN.with_borrow(|known| known.get(&estimate).copied()) {
        return known;
    }
    let made = make();
    KNOWN.with_borrow_mut(|known| {
        if known.len() >= ESTIMATES {
            known.clear();
        }
        known.insert(estimate, made);
    });
    made
}

// Statistics of a column of type `bloom` or `minhash_bits`: besides the ordinary ones, a sample of its signatures.

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
