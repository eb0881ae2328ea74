//! Merges in steps: some segments and the beginning of a tail become one segment, which takes their place in the end.
//! What a step has to know is in the index, so that whoever comes by goes on where the last one stopped, after a crash
//! or a promotion, too. The old pages are used again when no snapshot, here or on a standby, can belong to a search
//! that still reads them.

mod begin;
mod end;
mod list;
mod partial;
mod postings;
mod rows;
mod sources;

use base::Result;
use sigfile::merging::{decode, encode, Phase, SegmentMerge};
use sigfile::{Meta, Part};

use super::MergeLock;
use crate::meta;
use crate::page::{PageKind, SigfileIndex};
use crate::read::{merges, work_list, WorkList};

pub use partial::PartialSort;

/// What a merge takes.
pub struct MergeSources {
    pub part: Part,
    /// Generations of segments: [`MAX_SOURCES`](sigfile::merging::MAX_SOURCES) at most.
    pub segments: Vec<u64>,
    /// Pages of the tail, from its beginning: full or closed.
    pub tail: usize,
}

/// How much is done in one step.
#[derive(Clone, Copy)]
pub struct MergeStepSize {
    /// Pages of rows.
    pub pages: usize,
    /// Bytes for sorting postings.
    pub memory: usize,
    /// Pages of rows that are read for sorting postings; the session keeps what it has collected until the next step.
    pub scanned: usize,
    /// Interrupts are looked for within the step.
    pub interruptible: bool,
}

/// What a step has come to.
pub enum MergeProgress {
    /// The segment is in its place.
    Ended,
    /// There is more to do.
    On(SegmentMerge),
    /// Nothing more can be done for the moment.
    Waits,
}

/// A merge that goes on, while the merge lock is held.
pub struct MergeStep<'l, 'r> {
    lock: &'l MergeLock<'r>,
    meta: Meta,
    merge: SegmentMerge,
    list: WorkList,
    /// Words of the list from this one on are not written yet.
    unsaved: usize,
    size: MergeStepSize,
}

impl<'r> MergeLock<'r> {
    /// The merges in progress.
    ///
    /// Errors: a damaged page.
    pub fn merges(&self, meta: &Meta) -> Result<Vec<SegmentMerge>> {
        merges(self.index, meta)
    }

    /// Writes to the index how many of the rows that a merge has written are dead.
    ///
    /// Errors: a damaged page.
    pub fn set_dead(&self, meta: &Meta, generation: u64, dead: u32) -> Result<()> {
        change_merge(self.index, meta, generation, |merge| merge.dead = dead)
    }

    /// Does a step of a merge.
    ///
    /// Errors: a damaged page; out of memory.
    pub fn step(&self, merge: &SegmentMerge, size: MergeStepSize) -> Result<MergeProgress> {
        let meta = meta::read(self.index);
        let list = work_list(self.index, merge)?;
        let mut step = MergeStep {
            lock: self,
            meta,
            merge: merge.clone(),
            unsaved: list.words.len(),
            list,
            size,
        };
        match merge.phase {
            Phase::Rows => step.rows()?,
            Phase::Postings => {
                let (written, phase) = (step.merge.written, merge.phase);
                let changed = step.postings()?;
                if changed {
                    step.save()?;
                }
                let on = step.merge.written > written || step.merge.phase != phase;
                return Ok(match on {
                    true => MergeProgress::On(step.merge),
                    false => MergeProgress::Waits,
                });
            }
            Phase::Description => {
                step.end()?;
                return Ok(MergeProgress::Ended);
            }
        }
        step.save()?;
        Ok(MergeProgress::On(step.merge))
    }
}

impl MergeStep<'_, '_> {
    /// Writes to the index how far the merge has come.
    ///
    /// Errors: a damaged page; out of memory.
    fn save(&mut self) -> Result<()> {
        self.save_list()?;
        let generation = self.merge.generation;
        change_merge(self.lock.index, &self.meta, generation, |merge| {
            *merge = self.merge.clone();
        })
    }
}

/// Changes a merge on the page of merges.
///
/// Errors: a damaged page.
fn change_merge(
    index: SigfileIndex<'_>,
    meta: &Meta,
    generation: u64,
    change: impl FnOnce(&mut SegmentMerge),
) -> Result<()> {
    let mut page = index.exclusive(meta.work).expect(PageKind::Merges, 0)?;
    let wrong = |e: base::Error| index.damaged(meta.work, e.message());
    let mut merges = decode(page.words()).map_err(wrong)?;
    let mut same = merges.iter_mut();
    if let Some(merge) = same.find(|merge| merge.generation == generation) {
        change(merge);
        page.change(|words| encode(&merges, words));
    }
    Ok(())
}
