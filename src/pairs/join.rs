//! Joining pieces: every pair of similar rows once, in units of work that several processes can share.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use bloom_ident_core::sigfile::join::{Batch, Folds, Joiner};
use bloom_ident_core::sigfile::{Pages, Segment};
use bloom_ident_core::{Error, Result};

use crate::pairs::pieces::Piece;
use crate::pg::check_for_interrupts;
use crate::pg::error::OrRaise;

/// Two rows, each by its place and, above 2^48, the number of its table.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Match {
    pub a: u64,
    pub b: u64,
    pub similarity: f64,
}

const PLACE: u64 = (1 << 48) - 1;

/// A row of a table.
pub fn row_of(table: u16, place: u64) -> u64 {
    u64::from(table) << 48 | place
}

/// Table and place.
pub fn parts_of(row: u64) -> (usize, u64) {
    ((row >> 48) as usize, row & PLACE)
}

/// Row pages that one unit searches for: a tenth of a second or so for the most, and the more the quicker for each row. Fewer
/// for a small piece, so that there is something to share.
fn unit(pages: u32) -> u32 {
    (pages / 32).clamp(4, 64)
}

/// Rows of one piece, in which those of all pieces behind it are searched for.
#[derive(Debug)]
struct Task {
    /// Number of the first unit.
    first: u64,
    /// By its place among the pieces.
    of: usize,
    band: Range<u32>,
    /// Units of other tasks in the same list of those that are searched for.
    before: u64,
}

/// All that has to be done, the same in every process that knows the pieces. Its size is that of the pieces, not of their
/// pairs: there can be thousands of partitions.
pub struct Work<'a> {
    /// Those with more rows first: the fewer rows are searched for in the more.
    pieces: Vec<&'a Piece>,
    pairing: Pairing,
    threshold: f64,
    tasks: Vec<Task>,
    /// For each side the units of all pieces before each one, as they are searched for; the first is of all if all are joined.
    before: [Vec<u64>; 2],
    units: u64,
}

/// Which pieces are joined.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// All with each other and with themselves.
    All,
    /// Those of different sides.
    Between,
}

impl<'a> Work<'a> {
    /// `memory` bytes are used for folded rows.
    pub fn new(
        pieces: impl IntoIterator<Item = &'a Piece>,
        pairing: Pairing,
        threshold: f64,
        memory: usize,
    ) -> Work<'a> {
        let mut pieces: Vec<&Piece> = pieces.into_iter().collect();
        pieces.sort_by_key(|piece| std::cmp::Reverse(piece.segment().rows));
        let mut work = Work {
            pieces,
            pairing,
            threshold,
            tasks: Vec::new(),
            before: [vec![0], vec![0]],
            units: 0,
        };
        for i in 0..work.pieces.len() {
            let pages = work.pages(i);
            let units = u64::from(pages.div_ceil(unit(pages)));
            let side = match pairing {
                Pairing::All => 0,
                Pairing::Between => work.pieces[i].side() as usize,
            };
            for (n, before) in work.before.iter_mut().enumerate() {
                let last = before[i];
                before.push(last + if n == side { units } else { 0 });
            }
        }
        let band = u32::try_from(memory / Folds::ROW)
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

    /// In which list the pieces are that are searched for in a piece.
    fn searched(&self, of: usize) -> usize {
        match self.pairing {
            Pairing::All => 0,
            Pairing::Between => 1 - self.pieces[of].side() as usize,
        }
    }

    /// Row pages of a piece that have signatures.
    fn pages(&self, piece: usize) -> u32 {
        let segment = self.pieces[piece].segment();
        segment.geometry.pages(segment.present())
    }

    pub fn units(&self) -> u64 {
        self.units
    }
}

/// One process at work.
pub struct Worker<'a> {
    work: &'a Work<'a>,
    /// Of which task the rows are folded.
    folded: Option<(usize, Range<u32>, Folds)>,
    batch: Batch,
    places: Vec<u64>,
}

impl<'a> Worker<'a> {
    pub fn new(work: &'a Work<'a>) -> Worker<'a> {
        Worker {
            work,
            folded: None,
            batch: Batch::default(),
            places: Vec::new(),
        }
    }

    /// Does the next unit that nobody has taken; false if there is none. No page is held while `each` is called.
    ///
    /// Errors: out of memory.
    pub fn turn(&mut self, next: &AtomicU64, each: &mut impl FnMut(&Match)) -> bool {
        let unit = next.fetch_add(1, Ordering::Relaxed);
        if unit >= self.work.units {
            return false;
        }
        let work = self.work;
        let number = work.tasks.partition_point(|task| task.first <= unit) - 1;
        let task = &work.tasks[number];
        let before = &work.before[work.searched(task.of)];
        let unit = task.before + (unit - task.first);
        let searched = before.partition_point(|&units| units <= unit) - 1;
        let pages = work.pages(searched);
        let size = self::unit(pages);
        let from = (unit - before[searched]) as u32 * size;
        let to = (from + size).min(pages);
        self.run(task, searched, from..to, each);
        true
    }

    /// Searches for the rows on some pages of piece `searched`.
    fn run(
        &mut self,
        task: &Task,
        searched: usize,
        pages: Range<u32>,
        each: &mut impl FnMut(&Match),
    ) {
        let itself = searched == task.of;
        let (searched, of) = (self.work.pieces[searched], self.work.pieces[task.of]);
        let segment = of.segment();
        let mut reader = of.pages();
        let folded = self.folded.as_ref();
        if !folded.is_some_and(|(piece, band, _)| *piece == task.of && *band == task.band) {
            self.folded = None;
            let folds = Folds::of(segment, task.band.clone(), &mut reader);
            let folds = folds.map_err(|e| reader.locate(e)).or_raise();
            self.folded = Some((task.of, task.band.clone(), folds));
        }
        self.batch.clear();
        self.places.clear();
        let mut source = searched.pages();
        for number in pages {
            let read = self.read(searched.segment(), number, itself, &mut source);
            read.map_err(|e| source.locate(e)).or_raise();
            source.release();
            check_for_interrupts();
        }
        let (_, _, folds) = self.folded.as_ref().expect("just made");
        let mut joiner = Joiner::new(segment, folds, self.work.threshold);
        let places = &self.places;
        let hit = |asked: usize, place: u64, similarity: f64| {
            if place == 0 {
                return;
            }
            let this = row_of(searched.table(), places[asked]);
            let other = row_of(of.table(), place);
            let (a, b) = if searched.side() == 0 {
                (this, other)
            } else {
                (other, this)
            };
            each(&Match { a, b, similarity });
        };
        let found = joiner.search(&mut reader, &mut self.batch, hit);
        found.map_err(|e| reader.locate(e)).or_raise();
    }

    /// Adds the rows of a page to those that are searched for; in their own piece among the rows behind each.
    ///
    /// Errors: a damaged page.
    fn read(
        &mut self,
        segment: &Segment,
        number: u32,
        itself: bool,
        source: &mut impl Pages,
    ) -> Result<()> {
        let geometry = &segment.geometry;
        let page = segment.row_page(number, source.page(number)?)?;
        segment.check_popcounts(number, &page, 0, page.len())?;
        for i in 0..page.len() {
            let row = page.checked(i).map_err(|e: Error| e.on_page(number))?;
            if row.tid == 0 || row.popcount > geometry.bits {
                continue;
            }
            let this = number * geometry.capacity as u32 + i as u32;
            let from = if itself { this + 1 } else { 0 };
            self.batch.push(row.words, row.popcount, from);
            self.places.push(row.tid);
        }
        Ok(())
    }
}
