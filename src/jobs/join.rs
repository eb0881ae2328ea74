//! Joining pieces: every pair of similar rows once, in units of work that several processes can share.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use bloom_ident_core::sigfile::join::{Batch, Folds, Joiner};
use bloom_ident_core::sigfile::{Pages, RowPage};

use super::pieces::Piece;
use crate::error::OrRaise;

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
fn row_of(table: u16, place: u64) -> u64 {
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

/// The rows of one piece are searched for in a range of the rows of another, or of itself.
#[derive(Debug)]
struct Task {
    /// Number of the first unit.
    first: u64,
    searched: usize,
    of: usize,
    band: Range<u32>,
    /// What is found belongs to b, and what is searched for to a; else the other way round.
    forward: bool,
}

/// All that has to be done, the same in every process that knows the pieces.
pub struct Work<'a> {
    pieces: &'a [Piece],
    threshold: f64,
    tasks: Vec<Task>,
    units: u64,
}

/// Which pairs of pieces are joined.
pub enum Pairing {
    /// All rows with each other.
    All,
    /// Those of the first so many tables with those of the others.
    Between(u16),
}

impl<'a> Work<'a> {
    /// Pairs of pieces for which `wanted` holds. `memory` bytes are used for folded rows.
    pub fn new(
        pieces: &'a [Piece],
        pairing: &Pairing,
        threshold: f64,
        memory: usize,
        wanted: impl Fn(&Piece, &Piece) -> bool,
    ) -> Work<'a> {
        let mut work = Work {
            pieces,
            threshold,
            tasks: Vec::new(),
            units: 0,
        };
        let band = u32::try_from(memory / Folds::ROW)
            .unwrap_or(u32::MAX)
            .max(1 << 12);
        for (i, a) in pieces.iter().enumerate() {
            for (j, b) in pieces.iter().enumerate().skip(i) {
                let joined = match *pairing {
                    Pairing::All => true,
                    Pairing::Between(left) => (a.table() < left) != (b.table() < left),
                };
                if !joined || !wanted(a, b) {
                    continue;
                }
                // the fewer rows are searched for in the more
                let (searched, of) = if a.segment().rows <= b.segment().rows {
                    (i, j)
                } else {
                    (j, i)
                };
                let present = pieces[of].segment().present();
                let mut start = 0;
                while start < present {
                    let end = start.saturating_add(band).min(present);
                    work.add(searched, of, start..end, searched == i);
                    start = end;
                }
            }
        }
        work
    }

    fn add(&mut self, searched: usize, of: usize, band: Range<u32>, forward: bool) {
        let pages = self.pages(searched);
        self.tasks.push(Task {
            first: self.units,
            searched,
            of,
            band,
            forward,
        });
        self.units += u64::from(pages.div_ceil(unit(pages)));
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
        let tasks = &self.work.tasks;
        let number = tasks.partition_point(|task| task.first <= unit) - 1;
        let task = &tasks[number];
        let pages = self.work.pages(task.searched);
        let size = self::unit(pages);
        let from = (unit - task.first) as u32 * size;
        let to = (from + size).min(pages);
        self.run(task, from..to, each);
        true
    }

    fn run(&mut self, task: &Task, pages: Range<u32>, each: &mut impl FnMut(&Match)) {
        let (searched, of) = (&self.work.pieces[task.searched], &self.work.pieces[task.of]);
        let segment = of.segment();
        let mut reader = of.pages();
        let folded = self.folded.as_ref();
        if !folded.is_some_and(|(piece, band, _)| *piece == task.of && *band == task.band) {
            self.folded = None;
            let folds = Folds::of(segment, task.band.clone(), &mut reader).or_raise();
            self.folded = Some((task.of, task.band.clone(), folds));
        }
        let (_, _, folds) = self.folded.as_ref().expect("just made");
        let mut joiner = Joiner::new(segment, folds, self.work.threshold);
        let itself = task.searched == task.of;
        let geometry = searched.segment().geometry;
        self.batch.clear();
        self.places.clear();
        let mut source = searched.pages();
        for number in pages {
            let page = RowPage::new(geometry, source.page(number));
            for (i, &count) in page.counts().iter().enumerate() {
                let place = page.place(i);
                if place == 0 || count > geometry.bits {
                    continue;
                }
                let row = number * geometry.capacity as u32 + i as u32;
                let from = if itself { row + 1 } else { 0 };
                self.batch.push(page.words(i, i + 1), count, from);
                self.places.push(place);
            }
            source.release();
            pgrx::check_for_interrupts!();
        }
        let places = &self.places;
        let hit = |asked: usize, place: u64, similarity: f64| {
            if place == 0 {
                return;
            }
            let this = row_of(searched.table(), places[asked]);
            let other = row_of(of.table(), place);
            let (a, b) = if task.forward {
                (this, other)
            } else {
                (other, this)
            };
            each(&Match { a, b, similarity });
        };
        joiner.search(&mut reader, &mut self.batch, hit).or_raise();
    }
}
