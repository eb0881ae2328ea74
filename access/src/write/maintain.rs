//! What an inserting session does for merges: a little of them with each row, so that none waits long and a search
//! never finds many segments.

use std::cell::Cell;

use base::{ErrorKind, Result};
use pgrx::pg_sys;
use sigfile::merge_policy::{Choice, Sizes};
use sigfile::merging::{SegmentMerge, MAX_MERGES, MAX_SOURCES};
use sigfile::{Meta, Part};

use super::merging::{MergeProgress, MergeSources, MergeStepSize, PartialSort};
use super::MergeLock;
use crate::meta;
use pg::error::warn;

/// What an insert does at a time: some two milliseconds, mostly.
const STEP: MergeStepSize = MergeStepSize {
    pages: 16,
    memory: 4 << 20,
    scanned: usize::MAX,
    interruptible: false,
};

/// Pages of rows that are read at a time for the postings of a large merge, where a tail has so many rows, too; in
/// proportion to the square where it has others, so that an index of short tails is merged in short steps.
const SCANNED: usize = 1024;

/// How much of a merge ought to be done, as a share, when it has taken twice its time.
const OVERDUE: f64 = 2.0;

/// Bytes for sorting, for each row of a large merge: the rows are read as many times as that does not hold all
/// postings.
const MEMORY_A_ROW: usize = 3;

/// Pages that an insert writes at most, but for those of a step.
const PAGES: u32 = 48;

/// Tails of a session that enters many rows by one statement, and of an index whose space is kept by an old snapshot,
/// become so many times longer: each row is moved less often.
const PATIENT: u64 = 4;

/// Twice as long for each so many segments, while space is kept: then nothing but the tail is sealed. Segments so are
/// few until many rows have come, and small ones take more space for each row.
const MORE: usize = 8;

/// Tails have as many rows at least while space is kept, or this share of those of the index, if that is less.
const LEAST_KEPT: u64 = 4096;
const SHARE_KEPT: u64 = 16;

/// Segments from which on no merge waits for space.
const MANY: usize = 36;

pg::session_state! {
    /// The identity of the index in whose segments this session has met damage: it merges nothing but its tail.
    static DAMAGED: Cell<u64> = Cell::default();
    "damaged index" by "the last" until "another is met";
}

/// Rows of a tail, if all pages but the last are full.
pub fn tail_rows(meta: &Meta, part: Part) -> u64 {
    let pages = meta.tail(part).len() as u64;
    pages.saturating_sub(1) * meta.geometry(part).capacity as u64
}

/// Does what is due of the merges in progress, and begins others. `on_page` rows have been entered since a tail got its
/// last page; `bulk`: the statement has entered many rows before.
///
/// Errors: damage that leaves nothing to do; out of memory; no space left.
pub fn maintain(lock: &MergeLock<'_>, part: Part, on_page: u64, bulk: bool) -> Result<()> {
    let held = HeldInterrupts::new();
    let meta = lock.settled();
    lock.fill_stock(&meta)?;
    let entered = meta.entered() + on_page;
    let mut merges = lock.merges(&meta)?;
    PartialSort::forget_others(&meta, &merges);
    // The small ones are what others wait for.
    merges.sort_by_key(|merge| merge.expected_rows);
    let starved = lock.is_starved(&meta, part);
    let mut pages = PAGES;
    for merge in merges {
        // Without space of its own a merge waits, unless rows wait for it, or segments have become too many.
        let few = !too_many(&meta, 0);
        if starved && few && merge.tail == 0 && lock.reusable(&meta) == 0 {
            continue;
        }
        go_on(lock, &merge, merge.due(entered), &mut pages, false)?;
    }
    if pages > 0 {
        let meta = meta::read(lock.index);
        let merges = lock.merges(&meta)?;
        begin(lock, &meta, &merges, part, bulk)?;
    }
    drop(held);
    Ok(())
}

/// Whether there are so many segments, with those that so many merges will add, that they are merged even without space
/// for it.
pub fn too_many(meta: &Meta, merges: usize) -> bool {
    meta.segments.len() + merges >= MANY
}

/// Seals a tail that has no room for another page. Segments that have become too many are merged before. That can take
/// long, and the row is not entered yet, so it can be cancelled: what is done of a merge stays.
///
/// Errors: damage; out of memory; no space left.
pub fn seal(lock: &MergeLock<'_>, part: Part) -> Result<()> {
    let meta = meta::read(lock.index);
    if meta.tail(part).len() < meta.most_pages(part) {
        return Ok(());
    }
    let merges = lock.merges(&meta)?;
    let many = too_many(&meta, merges.len()) || merges.len() == MAX_MERGES;
    let sealing = merges.iter().any(|merge| merge.takes_tail(part));
    for merge in merges {
        if many || merge.takes_tail(part) {
            finish(lock, merge, true)?;
        }
    }
    if !sealing {
        let meta = meta::read(lock.index);
        let full = meta.tail(part).len().saturating_sub(1);
        let mut sources = tail_alone(part, full);
        if many && DAMAGED.get() != meta.identity {
            let mut segments: Vec<_> = meta.segments_of(part).collect();
            segments.sort_by_key(|s| s.rows - s.dead);
            segments.truncate(MAX_SOURCES);
            sources.segments = segments.iter().map(|s| s.generation).collect();
        }
        let begun = match lock.begin(&sources, 0)? {
            // They would be more rows than a segment holds.
            None => lock.begin(&tail_alone(part, full), 0)?,
            begun => begun,
        };
        if let Some(merge) = begun {
            finish(lock, merge, true)?;
        }
    }
    Ok(())
}

/// So many pages of a tail, and nothing else.
fn tail_alone(part: Part, tail: usize) -> MergeSources {
    MergeSources {
        part,
        segments: Vec::new(),
        tail,
    }
}

/// Goes on with a merge until as much of it is done as is due, or so many pages are written.
///
/// Errors: damage that leaves nothing to do; out of memory; no space left.
fn go_on(
    lock: &MergeLock<'_>,
    merge: &SegmentMerge,
    due: f64,
    pages: &mut u32,
    interruptible: bool,
) -> Result<()> {
    let mut merge = merge.clone();
    // SAFETY: a setting of this process.
    let most = unsafe { pg_sys::maintenance_work_mem } as usize * 1024;
    let memory = (merge.rows as usize * MEMORY_A_ROW).min(most);
    let limit = lock.tail_limit(&meta::read(lock.index), merge.part) as usize;
    let size = MergeStepSize {
        memory: STEP.memory.max(memory),
        scanned: match due < OVERDUE {
            true => limit * limit / SCANNED,
            // Then it does not depend any more on what a session collects for itself.
            false => STEP.scanned,
        },
        interruptible,
        ..STEP
    };
    while *pages > 0 && (merge.done() < due || due >= 1.0) {
        match lock.step(&merge, size) {
            Ok(MergeProgress::Ended | MergeProgress::Waits) => break,
            Ok(MergeProgress::On(next)) => {
                let written = next.written.saturating_sub(merge.written);
                *pages = pages.saturating_sub(written.max(1));
                merge = next;
            }
            Err(e) => return give_up(lock, &merge, e, interruptible),
        }
    }
    Ok(())
}

/// Goes on to the end.
///
/// Errors: damage that leaves nothing to do; out of memory; no space left.
fn finish(lock: &MergeLock<'_>, merge: SegmentMerge, interruptible: bool) -> Result<()> {
    let mut pages = u32::MAX;
    go_on(lock, &merge, OVERDUE, &mut pages, interruptible)
}

/// The row that was entered is there, and all that it needs. What is damaged elsewhere fails those who read it; a merge
/// that would have read it is given up, and the tail sealed without it.
///
/// Errors: others than damage of a segment.
fn give_up(
    lock: &MergeLock<'_>,
    merge: &SegmentMerge,
    error: base::Error,
    interruptible: bool,
) -> Result<()> {
    if error.kind() != ErrorKind::Corrupted || merge.segments.is_empty() {
        return Err(error);
    }
    warn(&error);
    let meta = meta::read(lock.index);
    DAMAGED.set(meta.identity);
    lock.abandon(merge)?;
    if merge.tail > 0 {
        let sources = tail_alone(merge.part, merge.tail as usize);
        if let Some(merge) = lock.begin(&sources, 0)? {
            finish(lock, merge, interruptible)?;
        }
    }
    Ok(())
}

/// Begins the merge that the sizes call for.
///
/// Errors: a damaged page; out of memory; no space left.
fn begin(
    lock: &MergeLock<'_>,
    meta: &Meta,
    merges: &[SegmentMerge],
    part: Part,
    bulk: bool,
) -> Result<()> {
    let limit = lock.tail_limit(meta, part);
    let starved = lock.is_starved(meta, part);
    let longer = match starved {
        true => PATIENT << (meta.segments.len() / MORE),
        false if bulk => PATIENT,
        false => 1,
    };
    // Short tails would be too many segments soon, which are merged even though that takes space.
    let all: u64 = meta.segments_of(part).map(|s| u64::from(s.rows)).sum();
    let least = if starved {
        LEAST_KEPT.min(all / SHARE_KEPT)
    } else {
        0
    };
    let trigger = (longer * limit).max(least);
    let taken = merges.iter().any(|merge| merge.takes_tail(part));
    let rows = tail_rows(meta, part);
    let tail = if taken || rows < trigger { 0 } else { rows };
    let busy = |generation: u64| merges.iter().any(|m| m.segments.contains(&generation));
    let of_part: Vec<_> = meta.segments_of(part).collect();
    let live = |s: &&sigfile::SegmentEntry| u64::from(s.rows - s.dead);
    let free: Vec<_> = of_part.iter().filter(|s| !busy(s.generation)).collect();
    let available: Vec<u64> = free.iter().map(|s| live(s)).collect();
    let sizes = Sizes {
        available: &available,
        greatest: of_part.iter().map(live).max().unwrap_or(0),
        total: of_part.iter().map(live).sum::<u64>() + rows,
        tail,
        unit: if starved { trigger } else { limit }.max(1),
        most: MAX_SOURCES,
    };
    let damaged = DAMAGED.get() == meta.identity;
    let choice = match (starved, damaged) {
        (_, true) if tail > 0 => Some(Choice {
            segments: Vec::new(),
            tail: true,
            rows: tail,
        }),
        (_, true) => None,
        // Those that merges will add count, too.
        (true, _) => sizes.next_starved(too_many(meta, merges.len())),
        (false, _) => sizes.next(),
    };
    let Some(choice) = choice else { return Ok(()) };
    let sources = MergeSources {
        part,
        segments: choice
            .segments
            .iter()
            .map(|&i| free[i].generation)
            .collect(),
        tail: if choice.tail {
            meta.tail(part).len() - 1
        } else {
            0
        },
    };
    // Half of the time in which as much will be there again.
    lock.begin(&sources, choice.rows / 2).map(|_| ())
}

/// HOLD_INTERRUPTS(): a step of an insert is short, and a cancelled one would have been for nothing.
struct HeldInterrupts;

impl HeldInterrupts {
    fn new() -> HeldInterrupts {
        // SAFETY: a counter of this process, which the server resets after an error.
        unsafe { pg_sys::InterruptHoldoffCount += 1 };
        HeldInterrupts
    }
}

impl Drop for HeldInterrupts {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: a counter of this process, which new() has raised.
            unsafe { pg_sys::InterruptHoldoffCount -= 1 };
        }
    }
}
