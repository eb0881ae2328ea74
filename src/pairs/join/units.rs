//! Joining pieces: every pair of similar rows once, in units of work that several processes can share.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use base::{Error, Result};
use sigfile::join::{Batch, Folds, Joiner};
use sigfile::{Geometry, Pages, Segment};
use signature::similarity::Measure;

use crate::pairs::join::pieces::JoinPiece;
use crate::pairs::join::{RowPair, TableRow};
use pg::check_for_interrupts;
use pg::error::OrRaise;

/// Into how many units a small piece is cut: for one process, and for several, so that there are some to share.
pub const ALONE: u32 = 1;
pub const SHARED: u32 = 32;

/// What a process of a join uses beside folds, tables and the rows that are searched for, in bytes.
const OVERHEAD: usize = 4 << 20;

/// Whether a row of so many bits has no signature. By agreement, that of an empty set has no bits, but is one.
pub fn is_null(geometry: &Geometry, popcount: u32) -> bool {
    popcount > geometry.bits && geometry.measure == Measure::Jaccard
}

/// Row pages of a unit, at the most: with a quarter of them all pairs of a million rows take a tenth longer.
const MOST_PAGES: usize = 1024;

/// What a row page takes in memory while its rows are searched for, in bytes: its bits, and what is planned for each
/// row.
const PAGE: usize = 20 << 10;

/// Some rows of one piece. The rows of the piece itself and of all pieces behind it are searched for among them.
#[derive(Debug)]
struct Task {
    /// Number of the first unit.
    first: u64,
    /// Index of the piece in the list.
    of: usize,
    band: Range<u32>,
    /// Units of the pieces in front of it, in the list of those that are searched for. The task does not have these.
    before: u64,
}

/// All units of work of a join. Every process that knows the pieces makes the same plan. Its size grows with the number
/// of pieces, not with that of their pairs, since there can be thousands of partitions.
pub struct JoinPlan<'a> {
    /// Those with more rows come first, so that the fewer rows are searched for among the more.
    pieces: Vec<&'a JoinPiece<'a>>,
    pairing: Pairing,
    threshold: f64,
    tasks: Vec<Task>,
    /// For each side, how many units the pieces in front of each one have when they are searched for. If all pieces are
    /// joined with each other, the first list has all of them.
    before: [Vec<u64>; 2],
    units: u64,
    /// Row pages of a unit, at the most.
    most: u32,
    /// Into how many units a piece is cut if these are no larger.
    least: u32,
}

/// Which pieces are joined.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// All pieces are joined with each other and with themselves.
    All,
    /// Pieces of different sides are joined.
    Between,
}

impl<'a> JoinPlan<'a> {
    /// Each process uses `memory` bytes. `least` is [`ALONE`] or [`SHARED`].
    pub fn new(
        pieces: impl IntoIterator<Item = &'a JoinPiece<'a>>,
        pairing: Pairing,
        threshold: f64,
        memory: usize,
        least: u32,
    ) -> JoinPlan<'a> {
        let mut pieces: Vec<&JoinPiece<'_>> = pieces.into_iter().collect();
        pieces.sort_by_key(|piece| std::cmp::Reverse(piece.segment().rows));
        let memory = memory - OVERHEAD.min(memory / 2);
        let most = (memory / 5 / PAGE).clamp(16, MOST_PAGES) as u32;
        let mut work = JoinPlan {
            pieces,
            pairing,
            threshold,
            tasks: Vec::new(),
            before: [vec![0], vec![0]],
            units: 0,
            most,
            least,
        };
        for i in 0..work.pieces.len() {
            let pages = work.pages(i);
            let units = u64::from(pages.div_ceil(work.unit(pages)));
            let side = match pairing {
                Pairing::All => 0,
                Pairing::Between => work.pieces[i].side() as usize,
            };
            for (n, before) in work.before.iter_mut().enumerate() {
                let last = before[i];
                before.push(last + if n == side { units } else { 0 });
            }
        }
        let band = u32::try_from(memory / 5 * 4 / Folds::ROW)
            .unwrap_or(u32::MAX)
            .max(1 << 12);
        for of in 0..work.pieces.len() {
            let searched = &work.before[work.searched(of)];
            let (before, all) = (searched[of], searched[work.pieces.len()]);
            let present = work.pieces[of].segment().present();
            let mut start = 0;
            while start < present && before < all {
                let end = start.saturating_add(band).min(present);
                work.tasks.push(Task {
                    first: work.units,
                    of,
                    band: start..end,
                    before,
                });
                work.units += all - before;
                start = end;
            }
        }
        work
    }

    /// In which list of `before` the pieces are that are searched for in a piece.
    fn searched(&self, of: usize) -> usize {
        match self.pairing {
            Pairing::All => 0,
            Pairing::Between => 1 - self.pieces[of].side() as usize,
        }
    }

    /// How many row pages of a piece have signatures.
    fn pages(&self, piece: usize) -> u32 {
        let segment = self.pieces[piece].segment();
        segment.geometry.pages(segment.present())
    }

    /// How many row pages of a piece of so many one unit searches for. More pages make a unit quicker for each row.
    fn unit(&self, pages: u32) -> u32 {
        (pages / self.least).clamp(4, self.most)
    }

    pub fn units(&self) -> u64 {
        self.units
    }

    /// How often rows are folded, by one process that does all units.
    pub fn foldings(&self) -> usize {
        self.tasks.len()
    }

    /// The task of a unit, the piece whose rows are searched for, and their pages.
    fn find(&self, unit: u64) -> (&Task, usize, Range<u32>) {
        let number = self.tasks.partition_point(|task| task.first <= unit) - 1;
        let task = &self.tasks[number];
        let before = &self.before[self.searched(task.of)];
        let unit = task.before + (unit - task.first);
        let searched = before.partition_point(|&units| units <= unit) - 1;
        let pages = self.pages(searched);
        let size = self.unit(pages);
        let from = (unit - before[searched]) as u32 * size;
        (task, searched, from..(from + size).min(pages))
    }
}

/// How long a unit takes: to fold rows, which later units of the same task need not do again, and to search them.
pub struct UnitTime {
    pub folding: Duration,
    pub searching: Duration,
    /// What searching for some of its rows has taken.
    pub took: Duration,
}

/// What of a run's time does not depend on how many rows were searched for.
struct RunTime {
    folding: Duration,
    once: Duration,
}

/// One process that does units of a plan.
pub struct Worker<'a> {
    work: &'a JoinPlan<'a>,
    /// The piece and the rows that are folded, with their folds.
    folded: Option<(usize, Range<u32>, Folds)>,
    batch: Batch,
    /// The tids of the rows in the batch.
    tids: Vec<u64>,
}

impl<'a> Worker<'a> {
    pub fn new(work: &'a JoinPlan<'a>) -> Worker<'a> {
        Worker {
            work,
            folded: None,
            batch: Batch::default(),
            tids: Vec::new(),
        }
    }

    /// Does the next unit that no process has taken; returns `false` if there is none. No page is locked while `each`
    /// runs.
    ///
    /// Errors: out of memory.
    pub fn turn(&mut self, next: &AtomicU64, each: &mut impl FnMut(&RowPair)) -> bool {
        let unit = next.fetch_add(1, Ordering::Relaxed);
        if unit >= self.work.units {
            return false;
        }
        let (task, searched, pages) = self.work.find(unit);
        self.run(task, searched, pages, 1, each);
        true
    }

    /// Does a unit for about `rows` of its rows, and says how long all of it would take.
    ///
    /// Errors: out of memory.
    pub fn time(&mut self, unit: u64, rows: u32) -> UnitTime {
        let (task, searched, pages) = self.work.find(unit);
        let capacity = self.work.pieces[searched].segment().geometry.capacity as u32;
        let every = (pages.len() as u32 * capacity / rows).max(1);
        let started = Instant::now();
        let ran = self.run(task, searched, pages, every, &mut |_| ());
        let took = started.elapsed().saturating_sub(ran.folding);
        let each = took.saturating_sub(ran.once);
        UnitTime {
            folding: ran.folding,
            searching: ran.once + each * every,
            took,
        }
    }

    /// Searches for every `every`-th row on some pages of piece `searched`.
    fn run(
        &mut self,
        task: &Task,
        searched: usize,
        pages: Range<u32>,
        every: u32,
        each: &mut impl FnMut(&RowPair),
    ) -> RunTime {
        let started = Instant::now();
        let itself = searched == task.of;
        let (searched, of) = (self.work.pieces[searched], self.work.pieces[task.of]);
        let segment = of.segment();
        let mut reader = of.pages();
        let folded = self.folded.as_ref();
        if !folded.is_some_and(|(piece, band, _)| *piece == task.of && *band == task.band) {
            self.folded = None;
            let folds = Folds::new(segment, task.band.clone(), &mut reader);
            let folds = folds.map_err(|e| reader.locate(e)).or_raise();
            self.folded = Some((task.of, task.band.clone(), folds));
        }
        let folding = started.elapsed();
        self.batch.clear();
        self.tids.clear();
        let mut source = searched.pages();
        for number in pages {
            let read = self.read(searched.segment(), number, itself, every, &mut source);
            read.map_err(|e| source.locate(e)).or_raise();
            source.release();
            check_for_interrupts();
        }
        let reading = started.elapsed() - folding;
        let (_, _, folds) = self.folded.as_ref().expect("just made");
        let (measure, threshold) = (segment.geometry.measure, self.work.threshold);
        let mut joiner = Joiner::new(segment, folds, measure.asked(threshold));
        joiner.weight = every.into();
        let tids = &self.tids;
        let hit = |asked: usize, tid: u64, similarity: f64| {
            let similarity = measure.for_user(similarity);
            // The row is dead, or was found since more is asked for than what reaches the threshold.
            if tid == 0 || similarity < threshold {
                return;
            }
            let this = TableRow::new(searched.table(), tids[asked]);
            let other = TableRow::new(of.table(), tid);
            let (a, b) = if searched.side() == 0 {
                (this, other)
            } else {
                (other, this)
            };
            each(&RowPair { a, b, similarity });
        };
        let found = joiner.search(&mut reader, &mut self.batch, hit);
        found.map_err(|e| reader.locate(e)).or_raise();
        let once = reading + joiner.once;
        RunTime { folding, once }
    }

    /// Adds every `every`-th row of a page to the batch that is searched for. `itself` says that they are searched for
    /// in their own piece: each row is then searched for among the rows behind it.
    ///
    /// Errors: a damaged page.
    fn read(
        &mut self,
        segment: &Segment,
        number: u32,
        itself: bool,
        every: u32,
        source: &mut impl Pages,
    ) -> Result<()> {
        let geometry = &segment.geometry;
        let page = segment.row_page(number, source.page(number)?)?;
        segment.check_popcounts(number, &page, 0, page.len())?;
        for i in 0..page.len() {
            let row = page.checked(i).map_err(|e: Error| e.on_page(number))?;
            if row.tid == 0 || is_null(geometry, row.popcount) {
                continue;
            }
            let this = number * geometry.capacity as u32 + i as u32;
            if !this.is_multiple_of(every) {
                continue;
            }
            let from = if itself { this + 1 } else { 0 };
            self.batch.push(row.words, row.popcount, from);
            self.tids.push(row.tid);
        }
        Ok(())
    }
}
