//! Compacting: VACUUM, and the function for the DBA, seal tails and merge segments. They do it in steps, too, and let
//! others do theirs between two of them.

use base::Result;
use pgrx::pg_sys;
use sigfile::merging::MAX_SOURCES;
use sigfile::{merge_policy, posting, Meta, Part, RowPageMut};

use super::maintain::{tail_rows, too_many};
use super::merging::{MergeSources, MergeStepSize};
use super::MergeLock;
use crate::meta;
use crate::page::{SigfileIndex, SigfileTable};
use crate::read::{load, read_list, TailBlocks};

/// Share of dead rows from which on a segment is written anew.
const DEAD: f64 = 0.2;

/// VACUUM seals tails of that share of their limit.
const SEALED: u64 = 4;

/// Pages at the beginning of an index that are never too many.
const ROOM: u64 = 64;

/// The index that is compacted.
#[derive(Clone, Copy)]
pub struct Compaction<'r> {
    pub index: SigfileIndex<'r>,
    pub table: SigfileTable<'r>,
    /// Everything into as few segments as can be, even if old snapshots keep the space.
    pub all: bool,
    /// Called between two steps.
    pub pause: fn(),
}

/// What VACUUM does at a time.
fn step_size() -> MergeStepSize {
    // SAFETY: a setting of this process.
    let memory = unsafe { pg_sys::maintenance_work_mem } as usize * 1024;
    MergeStepSize {
        pages: 64,
        memory: memory.max(1 << 20),
        scanned: usize::MAX,
        interruptible: true,
    }
}

impl Compaction<'_> {
    fn lock(&self) -> MergeLock<'_> {
        MergeLock::wait(self.index, self.table)
    }

    /// Ends all merges in progress, seals tails, and merges segments.
    ///
    /// Errors: a damaged index; out of memory.
    fn run(&self) -> Result<()> {
        self.give_up_dead()?;
        self.finish()?;
        for part in Part::ALL {
            // A merge takes so many segments only, so it may need some.
            for round in 0..4 {
                let groups = self.groups(part, round == 0)?;
                if groups.is_empty() {
                    break;
                }
                for mut sources in groups {
                    (self.pause)();
                    {
                        let lock = self.lock();
                        if !self.may(&lock, &sources) {
                            continue;
                        }
                        // The segments are in the order of their sizes.
                        let several = sources.segments.len() + usize::from(sources.tail > 0) > 1;
                        // Since they were chosen, others have had the lock.
                        if sources.tail > 0 && self.tail_is_taken(&lock, part)? {
                            sources.tail = 0;
                        }
                        while !self.leaves_it_small(&lock, &sources) {
                            sources.segments.pop();
                        }
                        let left = sources.segments.len() + usize::from(sources.tail > 0);
                        if left == 0 || (several && left == 1 && sources.tail == 0) {
                            continue;
                        }
                        lock.look_through(&sources)?;
                        if sources.tail > 0 {
                            sources.tail = self.close_tail(part)?;
                        }
                        // Segments that are not what they were are left to the next round.
                        lock.begin(&sources, 0)?;
                    }
                    self.finish()?;
                }
            }
        }
        Ok(())
    }

    /// [Compacts](Compaction::run) the index, and gives back what is free at its end.
    ///
    /// Errors: a damaged index; out of memory.
    pub fn run_and_truncate(&self) -> Result<()> {
        self.run()?;
        let lock = self.lock();
        lock.sweep()?;
        lock.truncate()?;
        // Otherwise the next row makes the index longer, by a page that keeps its end from being cut off.
        lock.fill_stock(&meta::read(self.index))
    }

    /// Gives up merges most of whose rows have died: what they have taken is more than what the rest of the rows needs,
    /// and there may be no space for going on.
    ///
    /// Errors: a damaged page; out of memory.
    fn give_up_dead(&self) -> Result<()> {
        let lock = self.lock();
        let meta = lock.settled();
        for merge in lock.merges(&meta)? {
            let live = meta.live_rows(&merge.segments);
            let of_tail = u64::from(merge.tail) * meta.geometry(merge.part).capacity as u64;
            if 2 * (live + of_tail) < u64::from(merge.expected_rows) {
                lock.abandon(&merge)?;
            }
        }
        Ok(())
    }

    /// Goes on with the merges in progress until there are none.
    ///
    /// Errors: a damaged index; out of memory.
    fn finish(&self) -> Result<()> {
        loop {
            (self.pause)();
            let lock = self.lock();
            let meta = meta::read(self.index);
            let merges = lock.merges(&meta)?;
            let few = !self.all && !too_many(&meta, 0);
            let waits = few && lock.reusable(&meta) == 0;
            let next = merges.iter().min_by_key(|merge| merge.expected_rows);
            let Some(merge) =
                next.filter(|m| m.tail > 0 || !(waits && lock.is_starved(&meta, m.part)))
            else {
                return Ok(());
            };
            lock.step(merge, step_size())?;
        }
    }

    /// Whether there is space for a merge. While old snapshots keep what was replaced, another one would only add to
    /// it.
    fn may(&self, lock: &MergeLock<'_>, sources: &MergeSources) -> bool {
        let meta = meta::read(self.index);
        let needed = self.all || too_many(&meta, 0);
        if needed || sources.segments.is_empty() || !lock.is_starved(&meta, sources.part) {
            return true;
        }
        let rows = meta.live_rows(&sources.segments) + tail_rows(&meta, sources.part);
        lock.reusable(&meta) >= lock.expected_pages(&meta, sources.part, rows) as usize
    }

    /// Whether the index stays within twice what its rows take in a fresh one, the dead ones counted, while this is
    /// merged.
    fn leaves_it_small(&self, lock: &MergeLock<'_>, sources: &MergeSources) -> bool {
        let meta = meta::read(self.index);
        if self.all || sources.segments.is_empty() {
            return true;
        }
        let rows = meta.live_rows(&sources.segments) + tail_rows(&meta, sources.part);
        let new = u64::from(lock.expected_pages(&meta, sources.part, rows));
        let new = new.saturating_sub(lock.reusable(&meta) as u64);
        new == 0 || u64::from(self.index.blocks()) + new <= 2 * fresh_pages(lock, &meta)
    }

    /// Whether pages of so many rows keep the end of the index from being cut off: one of them stands above twice what
    /// all rows take in a fresh index, and below there are enough free blocks, which are taken first when the rows are
    /// written anew.
    ///
    /// Errors: a damaged list; out of memory.
    fn stands_high(
        &self,
        lock: &MergeLock<'_>,
        meta: &Meta,
        (part, rows): (Part, u64),
        blocks: impl FnOnce() -> Result<Option<u32>>,
    ) -> Result<bool> {
        let limit = 2 * fresh_pages(lock, meta) + ROOM;
        let next = meta.free.iter().find(|list| lock.is_past(list.horizon));
        let Some(next) = next.filter(|_| u64::from(self.index.blocks()) > limit) else {
            return Ok(false);
        };
        let (free, _) = read_list(self.index, next)?;
        let low = free.iter().filter(|&&b| u64::from(b) < limit).count();
        let needed = lock.expected_pages(meta, part, rows) as usize;
        // Some for lists and the work of the merge itself.
        Ok(low > needed + needed / 8 && blocks()?.is_some_and(|b| u64::from(b) >= limit))
    }

    /// Whether a merge in progress has taken the tail.
    ///
    /// Errors: a damaged page.
    fn tail_is_taken(&self, lock: &MergeLock<'_>, part: Part) -> Result<bool> {
        let merges = lock.merges(&meta::read(self.index))?;
        Ok(merges.iter().any(|m| m.takes_tail(part)))
    }

    /// Closes the last page of a tail, so that all of it can be sealed. Returns its number of pages.
    ///
    /// Errors: a damaged page.
    fn close_tail(&self, part: Part) -> Result<usize> {
        let meta = meta::read(self.index);
        let blocks = TailBlocks::new(&meta, part);
        let last = blocks.last();
        for page in last.exclusive(self.index) {
            let page = page?;
            if !page.rows()?.is_full() {
                let geometry = meta.geometry(part);
                let mut page = page.into_page();
                page.change(|words| RowPageMut::new(geometry, words).close());
            }
        }
        // A page that was added meanwhile is not closed.
        Ok(blocks.len())
    }

    /// What is merged: the segments of each merge, with the tail or without; the lock is free afterwards. `moving`: a
    /// segment is written anew for its place, too.
    ///
    /// Errors: a damaged page; out of memory.
    fn groups(&self, part: Part, moving: bool) -> Result<Vec<MergeSources>> {
        let lock = self.lock();
        let meta = meta::read(self.index);
        let merges = lock.merges(&meta)?;
        let busy = |generation: u64| merges.iter().any(|m| m.segments.contains(&generation));
        let tail_is_taken = merges.iter().any(|m| m.takes_tail(part));
        let of_part = meta.segments_of(part);
        let of_part: Vec<_> = of_part.filter(|s| !busy(s.generation)).collect();
        let geometry = meta.geometry(part);
        let limit = lock.tail_limit(&meta, part);
        let pages = meta.tail(part).len() as u64;
        let rows = pages * geometry.capacity as u64;
        let long = rows >= limit / SEALED;
        let highest = || Ok(meta.tail(part).iter().copied().max());
        let due = self.all
            || long
            || (moving && self.stands_high(&lock, &meta, (part, rows), highest)?);
        let tail = if !tail_is_taken && due {
            pages as usize
        } else {
            0
        };
        let most = u64::from(posting::MAX_ROWS);
        let tail_rows = tail as u64 * geometry.capacity as u64;
        let mut sizes: Vec<u64> = of_part.iter().map(|s| u64::from(s.rows - s.dead)).collect();
        let dead = |i: usize| f64::from(of_part[i].dead) >= DEAD * f64::from(of_part[i].rows);
        // A merge writes as much as it takes, so a large segment is not taken for a small tail.
        let largest = sizes.iter().copied().max().unwrap_or(0);
        let rest = sizes.iter().sum::<u64>() - largest + tail_rows;
        let mut high = vec![false; of_part.len()];
        for (i, entry) in of_part.iter().enumerate().filter(|_| moving) {
            let highest = || Ok(load(self.index, &meta, entry)?.blocks.into_iter().max());
            high[i] = self.stands_high(&lock, &meta, (part, sizes[i]), highest)?;
        }
        let chosen: Vec<usize> = (0..of_part.len())
            .filter(|&i| {
                self.all || dead(i) || high[i] || sizes[i] < largest || rest * 4 >= largest
            })
            .collect();
        sizes = chosen.iter().map(|&i| sizes[i]).collect();
        let tail_at = sizes.len();
        if tail > 0 {
            sizes.push(tail_rows);
        }
        let worth = |i: usize| {
            let any_dead = |i: usize| self.all && of_part[i].dead > 0;
            i == tail_at || dead(chosen[i]) || any_dead(chosen[i]) || high[chosen[i]]
        };
        let groups = merge_policy::groups(&sizes, most, worth);
        let sources = |group: Vec<usize>| {
            let mut of_segments: Vec<usize> =
                group.iter().copied().filter(|&i| i != tail_at).collect();
            of_segments.sort_by_key(|&i| sizes[i]);
            of_segments.truncate(MAX_SOURCES);
            MergeSources {
                part,
                segments: of_segments
                    .into_iter()
                    .map(|i| of_part[chosen[i]].generation)
                    .collect(),
                tail: if group.contains(&tail_at) { tail } else { 0 },
            }
        };
        Ok(groups.into_iter().map(sources).collect())
    }
}

/// Pages of a fresh index over the rows, the dead ones counted.
fn fresh_pages(lock: &MergeLock<'_>, meta: &Meta) -> u64 {
    let of_part = |part: Part| {
        let rows = meta.segments_of(part).map(|s| u64::from(s.rows));
        let rows = rows.sum::<u64>() + tail_rows(meta, part);
        u64::from(lock.expected_pages(meta, part, rows))
    };
    Part::ALL.into_iter().map(of_part).sum()
}
