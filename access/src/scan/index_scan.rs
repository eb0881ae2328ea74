//! Scans of an index sigfile: what the keys ask for, and the rows page by page.
//!
//! A scan reads the metapage once. Rows that come later belong to transactions that its snapshot does not
//! see; pages that are replaced meanwhile stay as they are until the snapshot is gone.

use std::cell::Cell;
use std::rc::Rc;

use base::{Error, Result};
use pgrx::pg_sys;
use sigfile::search::{PageWork, Search};
use sigfile::{Meta, Pages, Part, Query, RowPage, Segment};

use super::key::RowConditions;
use crate::page::{SharedLock, SigfileIndex, SigfileTable};
use crate::read::{self, SegmentDescription, SegmentReader, TailBlocks, TailPage};
use pg::check_for_interrupts;
use pg::error::OrRaise;
use pg::tid::Tid;

/// A row that was found.
#[derive(Clone, Copy)]
pub struct Hit {
    pub tid: Tid,
    /// The number of the segment among those that are scanned. A tail page has its own number behind them.
    pub source: u32,
    /// The number of the row there.
    pub row: u32,
}

/// An index scan: rows that fulfil all conditions, page by page.
pub struct IndexScan<'r> {
    index: SigfileIndex<'r>,
    /// Of the scan, NULL for none.
    snapshot: pg_sys::Snapshot,
    /// The table, not known where its rows are not read by the tids that are found.
    table: SigfileTable<'r>,
    conditions: RowConditions,
    /// The condition that the search goes by.
    leading: Option<Query>,
    parts: Vec<Part>,
    segments: Vec<Rc<SegmentDescription>>,
    tails: [TailBlocks; 2],
    /// What is next: number of the segment, and of the tail page in the order of `parts`.
    at: (usize, usize),
    /// The search of the segment that is being read.
    search: Search,
    /// It has begun.
    searching: bool,
    /// Where the rows' thresholds count, the leading query with that of the segment being searched.
    here: Option<Query>,
}

pg::session_state! {
    /// The memory of the last search, for the next one.
    static SPARE: Cell<Search> = Cell::default();
    "memory of a search" by "the last" until "the next one takes it" bytes |spare| {
        let search = spare.take();
        let bytes = size_of::<u32>() * search.room();
        spare.set(search);
        bytes
    };
}

/// Candidates that the memory of a search has room for, if it is kept.
const MOST_SPARE: usize = 1 << 14;

impl Drop for IndexScan<'_> {
    fn drop(&mut self) {
        let search = std::mem::take(&mut self.search);
        if search.room() <= MOST_SPARE {
            // This may run when memory is freed after an error, as the process ends, too.
            let _ = SPARE.try_with(|spare| spare.set(search));
        }
    }
}

impl<'r> IndexScan<'r> {
    /// The rows of some parts that fulfil all conditions; the search goes by the leading one.
    ///
    /// Errors: a damaged description; out of memory.
    pub fn new(
        index: SigfileIndex<'r>,
        meta: &Meta,
        conditions: RowConditions,
        leading: Option<Query>,
        parts: Vec<Part>,
    ) -> Self {
        let of_parts = meta.segments.iter().filter(|s| parts.contains(&s.part));
        IndexScan {
            index,
            snapshot: std::ptr::null_mut(),
            table: SigfileTable::UNKNOWN,
            conditions,
            leading,
            segments: of_parts
                .map(|s| read::segment(index, meta, s).or_raise())
                .collect(),
            tails: Part::ALL.map(|part| TailBlocks::new(meta, part)),
            parts,
            at: (0, 0),
            search: SPARE.take(),
            searching: false,
            here: None,
        }
    }

    /// For a scan with this snapshot.
    ///
    /// # Safety
    /// `snapshot` is NULL, or that of a running scan, which lasts longer than this one.
    pub unsafe fn with_snapshot(mut self, snapshot: pg_sys::Snapshot) -> Self {
        self.snapshot = snapshot;
        self
    }

    /// Tids have to be in this table.
    pub fn with_table(mut self, table: SigfileTable<'r>) -> Self {
        self.table = table;
        self
    }

    /// From the beginning, with another threshold for the leading query.
    pub fn restart(&mut self, leading: Option<Query>) {
        self.leading = leading;
        self.at = (0, 0);
        self.searching = false;
    }

    /// Raises the threshold of the leading query; what was already found stays.
    pub fn raise(&mut self, threshold: f64) {
        if let Some(query) = &mut self.leading {
            query.raise(threshold);
        }
    }

    /// Nanoseconds that a search for the leading query takes in the segments.
    pub fn cost(&self, query: &Query) -> f64 {
        let of = |s: &Rc<SegmentDescription>| {
            let within = s.segment.within(query, self.conditions.key);
            s.steps.plan(&s.segment, query, &within).cost
        };
        self.segments.iter().map(of).sum()
    }

    /// Goes on to the next page that has hits, and passes them with the page to `each`. False at
    /// the end.
    pub fn next(&mut self, mut each: impl FnMut(&RowPage<'_>, usize, Hit)) -> bool {
        while self.at.0 < self.segments.len() {
            check_for_interrupts();
            if self.next_of_segment(&mut each) {
                return true;
            }
        }
        check_for_interrupts();
        while let Some(found) = self.next_of_tails(&mut each) {
            if found {
                return true;
            }
            check_for_interrupts();
        }
        false
    }

    /// The reader of a segment, as the scan's snapshot wants it.
    fn reader<'a>(&self, description: &'a SegmentDescription) -> SegmentReader<'a>
    where
        'r: 'a,
    {
        // SAFETY: with_snapshot() was promised that the snapshot is there.
        unsafe { SegmentReader::new(self.index, description).with_snapshot(self.snapshot) }
    }

    /// A tail page by its number in all the tails that are scanned.
    ///
    /// Errors: a damaged page.
    ///
    /// # Safety
    /// `snapshot` is NULL, or that of the scan.
    unsafe fn tail_page(
        &self,
        number: usize,
        snapshot: pg_sys::Snapshot,
    ) -> Option<TailPage<'r, SharedLock>> {
        let mut left = number;
        let mut tails = self.parts.iter().map(|&part| &self.tails[part as usize]);
        let tail = tails.find(|tail| {
            let is_here = left < tail.len();
            left -= if is_here { 0 } else { tail.len() };
            is_here
        })?;
        // SAFETY: the caller knows that the snapshot is there.
        let page = unsafe { tail.read(self.index, left, snapshot) };
        Some(page.or_raise())
    }

    /// Whether the segment that is searched had another page with hits; if not, the next one is on.
    fn next_of_segment(&mut self, each: &mut impl FnMut(&RowPage<'_>, usize, Hit)) -> bool {
        let number = self.at.0;
        let loaded = self.segments[number].clone();
        let segment = &loaded.segment;
        let (thresholds, key) = (self.conditions.thresholds, self.conditions.key);
        if thresholds && !self.searching {
            self.here = self.leading.clone();
            if let Some(query) = &mut self.here {
                query.raise(query.threshold().max(segment.least_threshold));
            }
        }
        let mut search = std::mem::take(&mut self.search);
        let query = if thresholds {
            self.here.as_ref()
        } else {
            self.leading.as_ref()
        };
        let mut reader = self.reader(&loaded);
        if !self.searching {
            match query {
                Some(query) => {
                    let started = search.start(segment, &loaded.steps, query, key, &mut reader);
                    started.map_err(|e| reader.locate(e)).or_raise();
                }
                None => match self.conditions.covers() {
                    Some(words) => {
                        let started = search.start_covering(segment, words, key, &mut reader);
                        started.map_err(|e| reader.locate(e)).or_raise();
                    }
                    None => search.start_everything(segment, key),
                },
            }
        }
        let mut found = false;
        search.prefetch(segment, &mut reader);
        while let Some((page, work)) = search.next(segment) {
            let page_rows = reader.rows(page).or_raise();
            let first = page * segment.geometry.capacity as u32;
            let of = Some((segment, page));
            let visited = self.visit(&page_rows, of, work, query, &mut |i| {
                found = true;
                let hit = Hit {
                    tid: Tid::of_stored(page_rows.tid(i)),
                    source: number as u32,
                    row: first + i as u32,
                };
                each(&page_rows, i, hit);
            });
            visited.map_err(|e| reader.locate(e)).or_raise();
            if found {
                break;
            }
            reader.tick();
            search.prefetch(segment, &mut reader);
        }
        drop(reader);
        self.search = search;
        self.searching = found;
        if !found {
            self.at.0 += 1;
        }
        found
    }

    /// Some(whether there were hits), None when the tails are through.
    fn next_of_tails(&mut self, each: &mut impl FnMut(&RowPage<'_>, usize, Hit)) -> Option<bool> {
        let number = self.at.1;
        // SAFETY: with_snapshot() was promised that the snapshot is there.
        let page = unsafe { self.tail_page(number, self.snapshot) }?;
        self.at.1 += 1;
        let rows = page.rows().or_raise();
        let work = PageWork::Range(0, rows.len());
        let mut found = false;
        let leading = self.leading.as_ref();
        let visited = self.visit(&rows, None, work, leading, &mut |i| {
            found = true;
            let hit = Hit {
                tid: Tid::of_stored(rows.tid(i)),
                source: (self.segments.len() + number) as u32,
                row: i as u32,
            };
            each(&rows, i, hit);
        });
        visited.map_err(|e| page.locate(e)).or_raise();
        Some(found)
    }

    /// Calls `hit` for the live rows that fulfil all conditions.
    ///
    /// Errors: a row that cannot be.
    fn visit(
        &self,
        page: &RowPage<'_>,
        of: Option<(&Segment, u32)>,
        work: PageWork<'_>,
        query: Option<&Query>,
        hit: &mut dyn FnMut(usize),
    ) -> Result<()> {
        let mut wrong = None;
        let mut check = |i: usize, common: u32| {
            if !self.conditions.admit(page, i) {
                return;
            }
            let (tid, leading) = (page.tid(i), self.leading.as_ref());
            if tid == 0 || !self.conditions.hold(page, i, leading, common) {
                return;
            }
            let tid = Tid::of_stored(tid);
            if self.table.can_have(tid) {
                hit(i);
            } else {
                wrong = Some(tid);
            }
        };
        match query {
            Some(query) => work.run(page, of, query, check)?,
            None => match (self.conditions.covers(), work) {
                (Some(bits), work) => work.run_covering(page, of, bits, |i| check(i, 0))?,
                (None, PageWork::Range(from, to)) => {
                    let to = to.min(page.len());
                    if let Some((segment, number)) = of {
                        segment.check_popcounts(number, page, from, to)?;
                    }
                    for i in (from..to).filter(|&i| self.conditions.admit(page, i)) {
                        page.checked(i)?;
                        check(i, 0);
                    }
                }
                (None, PageWork::Rows(_)) => unreachable!("nothing is probed by no bits"),
            },
        }
        match wrong {
            None => Ok(()),
            Some(tid) => {
                let error = Error::damaged(tid.describe_impossible());
                Err(error.on_page(of.map_or(0, |(_, number)| number)))
            }
        }
    }

    /// Reads the row of a hit again.
    ///
    /// Errors: a damaged page or row.
    pub fn read<T>(&self, hit: &Hit, read: impl FnOnce(&RowPage<'_>, usize) -> T) -> T {
        match self.segments.get(hit.source as usize) {
            Some(description) => {
                let capacity = description.segment.geometry.capacity as u32;
                let number = hit.row / capacity;
                let i = (hit.row % capacity) as usize;
                let mut reader = SegmentReader::new(self.index, description);
                let rows = reader.rows(number).or_raise();
                let checked = rows.checked(i).map_err(|e| e.on_page(number));
                let located = checked.map_err(|e| self.index.locate(e, &description.blocks));
                located.or_raise();
                read(&rows, i)
            }
            None => {
                let number = hit.source as usize - self.segments.len();
                // SAFETY: there is no snapshot.
                let page = unsafe { self.tail_page(number, std::ptr::null_mut()) };
                let page = page.expect("the hit was on this page");
                let rows = page.rows().or_raise();
                let i = hit.row as usize;
                rows.checked(i).map_err(|e| page.locate(e)).or_raise();
                read(&rows, i)
            }
        }
    }
}
