//! Segments in memory, what is done with them, and how much memory that takes.

mod key_bits;
pub mod metapage;
pub mod tree_keys;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::panic::{catch_unwind, AssertUnwindSafe};

use base::{ErrorKind, Result};
use sigfile::budget::SearchSteps;
use sigfile::check::check;
use sigfile::join::{Batch, Folds, Joiner};
use sigfile::search::{PageWork, Search};
use sigfile::write::{Content, PageStore, Writer};
use sigfile::{Geometry, Pages, Query, Segment, SignatureRow};
use signature::similarity::Measure;

/// Notes the largest request of each thread.
pub struct Counting;

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

pub fn note(size: usize) {
    let _ = LARGEST.try_with(|largest| largest.set(largest.get().max(size)));
}

// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller's layout.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: allocated above.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        // SAFETY: allocated above.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Words of a page here.
pub const PAGE_WORDS: usize = 64;

/// What damage may make an operation ask for at once, beyond what it needs with sound pages.
pub const SLACK: usize = 256 << 10;

#[derive(Clone, Default)]
pub struct Memory(pub Vec<Vec<u64>>);

impl Pages for Memory {
    fn page(&mut self, number: u32) -> Result<&[u64]> {
        Ok(&self.0[number as usize])
    }
}

impl PageStore for Memory {
    fn append(&mut self, _: Content, words: &[u64]) {
        self.0.push(words.to_vec());
    }
}

pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 7
    }
}

/// A row's bits, bit count, threshold, place and key.
pub type Stored = (Vec<u64>, u32, f64, u64, u32);

pub struct Index {
    pub segment: Segment,
    pub pages: Memory,
    pub rows: Vec<Stored>,
}

pub fn index(bits: u32, thresholds: bool, n: usize, missing: usize) -> Index {
    let geometry = Geometry::new(PAGE_WORDS, bits, thresholds, false).unwrap();
    index_of(geometry, n, missing)
}

/// Rows of seven keys, one of which has two thirds of them.
pub fn keyed_index(bits: u32, thresholds: bool, n: usize) -> Index {
    let geometry = Geometry::new(PAGE_WORDS, bits, thresholds, true).unwrap();
    index_of(geometry, n, 0)
}

/// The same of sketches' bits, of which those that are missing are of empty sets.
pub fn sketch_index(bits: u32, thresholds: bool, n: usize, empty: usize) -> Index {
    let geometry = Geometry::new(PAGE_WORDS, bits, thresholds, false).unwrap();
    let measure = Measure::Agreement { bits };
    index_of(geometry.with_bits(bits, measure).unwrap(), n, empty)
}

fn index_of(geometry: Geometry, n: usize, missing: usize) -> Index {
    let (bits, thresholds) = (geometry.bits, geometry.thresholds);
    let mut random = Random(u64::from(bits) << 20 | n as u64 | 1);
    let mut rows: Vec<Stored> = Vec::new();
    for i in 0..n {
        let mut words = vec![0; geometry.stride];
        if i >= missing {
            // of every fourth row there are near ones
            if i % 4 != 0 && i > missing {
                words.copy_from_slice(&rows[i - 1].0);
            }
            for _ in 0..if i % 4 == 0 { bits / 3 } else { 2 } {
                let bit = (random.next() % u64::from(bits)) as usize;
                words[bit / 64] ^= 1 << (bit % 64);
            }
        }
        let count = match i < missing {
            true => geometry.null_popcount(),
            false => words.iter().map(|w| w.count_ones()).sum(),
        };
        let threshold = if thresholds {
            0.5 + (i % 5) as f64 / 10.0
        } else {
            0.0
        };
        // some are dead
        let place = if i % 11 == 5 { 0 } else { i as u64 + 1 };
        let key = match geometry.keys {
            true => [1, 2, 3, 4, 5, 1 << 31][(i % 18).min(5)],
            false => 0,
        };
        rows.push((words, count, threshold, place, key));
    }
    rows.sort_by_key(|row| (row.4, row.1));
    let mut writer = Writer::new(geometry, Memory::default());
    for (words, count, threshold, place, key) in &rows {
        let (count, threshold, place) = (*count, *threshold, *place);
        let row = SignatureRow {
            words,
            popcount: count,
            threshold,
            key: *key,
            tid: place,
        };
        writer.push(row).unwrap();
    }
    let (segment, pages) = writer.finish(None, 1 << 16).unwrap();
    Index {
        segment,
        pages,
        rows,
    }
}

/// Places of the rows that a search finds.
pub fn find(
    segment: &Segment,
    pages: &mut Memory,
    words: &[u64],
    threshold: f64,
) -> Result<Vec<u64>> {
    find_within(segment, pages, words, threshold, None)
}

/// The same among the rows of a key.
pub fn find_within(
    segment: &Segment,
    pages: &mut Memory,
    words: &[u64],
    threshold: f64,
    key: Option<u32>,
) -> Result<Vec<u64>> {
    let query = Query::new(&segment.geometry, words, threshold);
    let mut search = Search::default();
    let steps = SearchSteps::new(segment, &sigfile::costs::SEARCH);
    search.start(segment, &steps, &query, key, pages)?;
    let mut found = Vec::new();
    loop {
        search.prefetch(segment, pages);
        let Some((number, work)) = search.next(segment) else {
            found.sort_unstable();
            return Ok(found);
        };
        let page = segment.row_page(number, pages.page(number)?)?;
        work.run(&page, Some((segment, number)), &query, |i, _| {
            if key.is_none_or(|key| page.key(i) == key) {
                found.push(page.row(i).tid)
            }
        })?;
    }
}

/// Rows that have all bits of `words`.
pub fn find_covering(segment: &Segment, pages: &mut Memory, words: &[u64]) -> Result<usize> {
    let mut search = Search::default();
    search.start_covering(segment, words, None, pages)?;
    let (mut n, mut last) = (0, None);
    while let Some((number, work)) = search.next(segment) {
        let page = segment.row_page(number, pages.page(number)?)?;
        if let PageWork::Rows(rows) = work {
            assert!(rows.iter().all(|&row| row < segment.rows));
            // none is found twice
            assert!(rows.is_sorted_by(|a, b| a < b) && last < rows.first().copied());
            last = rows.last().copied();
        }
        work.run_covering(&page, Some((segment, number)), words, |_| n += 1)?;
    }
    Ok(n)
}

/// Pairs of rows, searched for by the rows of one page, in tables and in the posting pages.
pub fn join(segment: &Segment, pages: &mut Memory, number: u32, threshold: f64) -> Result<usize> {
    if segment.geometry.keys {
        return Ok(0);
    }
    let folds = Folds::new(segment, 0..segment.present(), pages)?;
    let mut n = 0;
    for in_tables in [true, false] {
        let mut joiner = Joiner::new(segment, &folds, threshold);
        let mut batch = Batch::default();
        let page = segment.row_page(number, pages.page(number)?)?;
        segment.check_popcounts(number, &page, 0, page.len())?;
        for i in 0..page.len() {
            let row = page.checked(i)?;
            if row.popcount <= segment.geometry.bits {
                batch.push(row.words, row.popcount, 0);
            }
        }
        joiner.forced = Some(in_tables);
        joiner.search(pages, &mut batch, |_, _, _| n += 1)?;
    }
    Ok(n)
}

/// What a merge does: the rows that it has written.
pub fn copy(segment: &Segment, pages: &mut Memory) -> Result<Vec<Stored>> {
    let mut writer = Writer::new(segment.geometry, Memory::default());
    for number in 0..segment.row_pages() {
        let words = pages.page(number)?.to_vec();
        let page = segment.check_row_page(number, &words)?;
        (0..page.len()).try_for_each(|i| writer.push(page.row(i)))?;
    }
    let (new, mut pages) = writer.finish(None, 1 << 16)?;
    check(&new, &mut pages).unwrap();
    let mut rows = Vec::new();
    for number in 0..new.row_pages() {
        let page = new.row_page(number, &pages.0[number as usize])?;
        let of = |i: usize| {
            (
                page.words(i, i + 1).to_vec(),
                page.row(i).popcount,
                page.threshold(i),
                page.tid(i),
                page.key(i),
            )
        };
        rows.extend((0..page.len()).map(of));
    }
    Ok(rows)
}

/// Runs something over damaged pages: no panic, no more memory than `most`, and no error but the one there is for it.
pub fn survives<T>(what: &str, most: usize, run: impl FnOnce() -> Result<T>) -> Option<T> {
    LARGEST.set(0);
    let result =
        catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|_| panic!("{what} has panicked"));
    let largest = LARGEST.get();
    assert!(
        largest <= most + SLACK,
        "{what} has asked for {largest} bytes"
    );
    match result {
        Ok(answer) => Some(answer),
        Err(e) => {
            // a flipped bit can make a format version out of another one
            let expected = [
                ErrorKind::Corrupted,
                ErrorKind::NewerFormat,
                ErrorKind::OlderFormat,
            ];
            assert!(expected.contains(&e.kind()), "{what}: {e}");
            None
        }
    }
}

/// The most that an operation asks for at once when all is well.
pub fn needs<T>(run: impl FnOnce() -> Result<T>) -> (T, usize) {
    LARGEST.set(0);
    let answer = run().unwrap();
    (answer, LARGEST.get())
}

pub fn flip(pages: &mut Memory, page: u32, bit: usize) {
    pages.0[page as usize][bit / 64] ^= 1 << (bit % 64);
}

/// Bits of row pages that nothing but a checksum sees: thresholds that still are some, keys that are still in order,
/// places, and what is behind the last row.
pub fn is_silent(index: &Index, page: u32, bit: usize) -> bool {
    let g = index.segment.geometry;
    let rows = index
        .segment
        .row_page(page, &index.pages.0[page as usize])
        .unwrap()
        .len();
    let thresholds = 1 + g.capacity * g.stride;
    let keys = thresholds + if g.thresholds { g.capacity } else { 0 };
    let counts = keys + if g.keys { g.capacity.div_ceil(2) } else { 0 };
    let places = counts + g.capacity.div_ceil(2);
    match bit / 64 {
        0 => false,
        word if word < thresholds => (word - 1) / g.stride >= rows,
        word if word < counts => true,
        word if word < places => bit / 32 - 2 * counts >= rows,
        _ => true,
    }
}

/// All that is done with a segment, for one flipped bit of a row page.
pub fn row_bit(index: &Index, pages: &mut Memory, page: u32, bit: usize, most: &[usize; 4]) {
    let segment = &index.segment;
    let name = |what: &str| {
        format!(
            "{what}, {} bits, page {page}, bit {bit}",
            segment.geometry.bits
        )
    };
    let first = (page as usize * segment.geometry.capacity).min(index.rows.len() - 1);
    let (asked, key) = (&index.rows[first].0, index.rows[first].4);
    for threshold in [0.0, 0.8] {
        survives(&name("search within"), most[0], || {
            find_within(segment, pages, asked, threshold, Some(key))
        });
        survives(&name("search"), most[0], || {
            find(segment, pages, asked, threshold)
        });
    }
    survives(&name("join"), most[1], || join(segment, pages, page, 0.7));
    let copied = survives(&name("copy"), most[2], || copy(segment, pages));
    let sound = survives(&name("check"), most[3], || check(segment, pages)).is_some();
    let seen = copied.is_none() && !sound;
    assert!(seen || is_silent(index, page, bit), "{}", name("not seen"));
    if let Some(rows) = copied {
        let same = rows
            .iter()
            .zip(&index.rows)
            .all(|(a, b)| (&a.0, a.1) == (&b.0, b.1));
        assert!(same && rows.len() == index.rows.len(), "{}", name("copied"));
    }
}

pub fn demands(index: &Index) -> [usize; 4] {
    let (segment, mut pages) = (&index.segment, index.pages.clone());
    let asked = &index.rows[index.rows.len() / 2].0;
    [
        needs(|| find(segment, &mut pages, asked, 0.0)).1,
        needs(|| join(segment, &mut pages, 0, 0.7)).1,
        needs(|| copy(segment, &mut pages)).1,
        needs(|| check(segment, &mut pages)).1,
    ]
}
