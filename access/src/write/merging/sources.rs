//! What a merge reads: rows in order, of segments and of the beginning of a tail.

use super::MergeStep;
use crate::page::{PageKind, SigfileIndex};
use crate::read::{self, SegmentDescription, SegmentReader, TailBlocks};
use base::memory::with_room;
use base::sort::{order_by_count, sort_records};
use base::{Error, Result};
use sigfile::chunk::{Chunk, Frequencies, MIN_ROWS};
use sigfile::merging::{MergedChunk, Phase, RowPosition};
use sigfile::rows::order_of;
use sigfile::{Geometry, Meta, Pages, Part, RowPage, RowPageMut, SegmentMerge, SignatureRow};
use std::ops::Range;
use std::ptr::null_mut;
use std::rc::Rc;

/// A segment that is merged. A page of it is copied, so that none is locked while others are written.
struct SegmentSource<'a> {
    reader: SegmentReader<'a>,
    description: &'a SegmentDescription,
    page: Option<u32>,
    words: Vec<u64>,
    /// Rows of one popcount, and that, where rows have no keys.
    run: (Range<u32>, u32),
}

impl SegmentSource<'_> {
    /// What a row is sorted by; `None` behind the last row.
    ///
    /// Errors: a damaged page.
    fn order(&mut self, row: u32) -> Result<Option<u64>> {
        let segment = &self.description.segment;
        if row >= segment.rows {
            return Ok(None);
        }
        if !segment.geometry.keys {
            if !self.run.0.contains(&row) {
                let popcount = segment.popcount_of(row);
                self.run = (segment.range(popcount, popcount), popcount);
            }
            return Ok(Some(self.run.1.into()));
        }
        self.row(row).map(|row| Some(row.order()))
    }

    /// The first row that is not before an order.
    ///
    /// Errors: a damaged page.
    fn place(&mut self, order: u64) -> Result<u32> {
        let segment = &self.description.segment;
        if !segment.geometry.keys {
            let first = segment.first.get(order as usize).copied();
            return Ok(first.unwrap_or(segment.rows));
        }
        let (capacity, rows) = (segment.geometry.capacity as u32, segment.rows);
        let page = segment.begins.before(order) as u64;
        let end = ((page + 1) * u64::from(capacity)).min(rows.into()) as u32;
        let mut row = page as u32 * capacity;
        while row < end && self.order(row)?.is_some_and(|here| here < order) {
            row += 1;
        }
        Ok(row)
    }

    /// A row by its number in the segment.
    ///
    /// Errors: a damaged page.
    fn row(&mut self, row: u32) -> Result<SignatureRow<'_>> {
        let geometry = self.description.segment.geometry;
        let number = row / geometry.capacity as u32;
        if self.page != Some(number) {
            self.page = None;
            self.reader.checked(number)?;
            self.words.clear();
            self.words.extend_from_slice(self.reader.page(number)?);
            self.reader.release();
            self.page = Some(number);
        }
        let page = RowPage::new(geometry, &self.words)?;
        Ok(page.row(row as usize % geometry.capacity))
    }
}

/// The beginning of a tail, its rows in order. Only the order is remembered: a row may be marked dead at any time.
struct TailSource<'a> {
    index: SigfileIndex<'a>,
    geometry: Geometry,
    pages: TailBlocks,
    /// For each row, in order: [`SignatureRow::order`], and its number, page · capacity + place.
    rows: Vec<[u64; 2]>,
    words: Vec<u64>,
}

impl<'a> TailSource<'a> {
    fn new(index: SigfileIndex<'a>, geometry: Geometry, pages: TailBlocks) -> Result<Self> {
        let capacity = geometry.capacity;
        let most = pages.len() * capacity;
        let mut rows = with_room(most)?;
        // A page that was closed before it was full lacks some.
        for (number, page) in pages.shared(index).enumerate() {
            let page = page?;
            let here = page.checked_rows()?;
            let first = number * capacity;
            rows.extend((0..here.len()).map(|i| [here.order(i), (first + i) as u64]));
        }
        if geometry.keys {
            sort_records(&mut rows, || ());
        } else {
            let (n, most) = (rows.len() as u32, geometry.null_popcount());
            let popcount = |i: u32| rows[i as usize][0] as u32;
            let (order, _) = order_by_count(n, most, popcount, || ())?;
            rows = order.into_iter().map(|i| rows[i as usize]).collect();
        }
        Ok(TailSource {
            index,
            geometry,
            pages,
            rows,
            words: Vec::new(),
        })
    }

    /// A row by its place in the order.
    fn row(&mut self, place: u32) -> Result<SignatureRow<'_>> {
        let [order, number] = self.rows[place as usize];
        let (page, at) = (
            number as usize / self.geometry.capacity,
            number as usize % self.geometry.capacity,
        );
        // SAFETY: there is no snapshot.
        let page = unsafe { self.pages.read(self.index, page, null_mut()) }?;
        let row = page.rows()?.checked(at).map_err(|e| page.locate(e))?;
        if row.order() != order {
            return Err(page.locate(Error::damaged(format!("row {at} has changed"))));
        }
        self.words.clear();
        self.words.extend_from_slice(row.words);
        let row = SignatureRow { words: &[], ..row };
        Ok(SignatureRow {
            words: &self.words,
            ..row
        })
    }
}

enum RowSource<'a> {
    Segment(Box<SegmentSource<'a>>),
    Tail(TailSource<'a>),
}

/// The segments that a merge takes.
///
/// Errors: one of them is not there; a damaged description; out of memory.
pub fn segments(
    index: SigfileIndex<'_>,
    meta: &Meta,
    merge: &SegmentMerge,
) -> Result<Vec<Rc<SegmentDescription>>> {
    let of = |generation: &u64| {
        let entry = meta.segments.iter().find(|s| s.generation == *generation);
        match entry.filter(|s| s.part == merge.part) {
            Some(entry) => read::segment(index, meta, entry),
            None => Err(index.damaged(meta.work, "a merge takes a segment that is not there")),
        }
    };
    merge.segments.iter().map(of).collect()
}

/// The pages of a tail that a merge takes.
///
/// Errors: the tail has fewer.
pub fn beginning<'m>(
    index: SigfileIndex<'_>,
    meta: &'m Meta,
    merge: &SegmentMerge,
) -> Result<&'m [u32]> {
    let tail = meta.tail(merge.part).get(..merge.tail as usize);
    tail.ok_or_else(|| index.damaged(meta.work, "a merge takes more of a tail than there is"))
}

/// The rows of a merge.
pub struct RowSources<'a>(Vec<RowSource<'a>>);

impl<'a> RowSources<'a> {
    /// `segments` are those of the merge.
    ///
    /// Errors: a damaged page; out of memory.
    pub fn new(
        index: SigfileIndex<'a>,
        meta: &Meta,
        merge: &SegmentMerge,
        segments: &'a [Rc<SegmentDescription>],
    ) -> Result<RowSources<'a>> {
        let of = |description: &'a Rc<SegmentDescription>| {
            RowSource::Segment(Box::new(SegmentSource {
                reader: SegmentReader::new(index, description),
                description,
                page: None,
                words: Vec::new(),
                run: (0..0, 0),
            }))
        };
        let mut sources: Vec<RowSource<'a>> = segments.iter().map(of).collect();
        let taken = beginning(index, meta, merge)?.len();
        let pages = TailBlocks::beginning(meta, merge.part, taken);
        sources.push(RowSource::Tail(TailSource::new(
            index,
            meta.geometry(merge.part),
            pages,
        )?));
        Ok(RowSources(sources))
    }

    /// The number of sources.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The order of a row of a source by its place there, dead ones counted; `None` behind the last.
    ///
    /// Errors: a damaged page.
    pub fn order(&mut self, source: usize, place: u32) -> Result<Option<u64>> {
        match &mut self.0[source] {
            RowSource::Segment(s) => s.order(place),
            RowSource::Tail(t) => Ok(t.rows.get(place as usize).map(|row| row[0])),
        }
    }

    /// The place of the first row in a source that is not before an order.
    ///
    /// Errors: a damaged page.
    pub fn place(&mut self, source: usize, order: u64) -> Result<u32> {
        match &mut self.0[source] {
            RowSource::Segment(s) => s.place(order),
            RowSource::Tail(t) => Ok(t.rows.partition_point(|row| row[0] < order) as u32),
        }
    }

    /// A row of a source by its place.
    ///
    /// Errors: a damaged page.
    pub fn row(&mut self, source: usize, place: u32) -> Result<SignatureRow<'_>> {
        match &mut self.0[source] {
            RowSource::Segment(s) => s.row(place),
            RowSource::Tail(t) => t.row(place),
        }
    }
}

// Where the rows of a merge go on, in all its sources: they are taken in order, and those that agree in it source by
// source.

/// A place in each source.
pub struct RowPlaces {
    /// Where each source goes on, and what the row there is sorted by.
    next: Vec<(u32, Option<u64>)>,
    /// What the rows that are being taken are sorted by.
    order: u64,
    /// The source that they are taken from.
    source: usize,
    /// Where its rows of this order begin.
    begin: u32,
    /// Where the next row is in its source.
    pub place: u32,
}

impl RowPlaces {
    /// Those of a position that a merge has noted.
    ///
    /// Errors: a damaged page.
    pub fn new(sources: &mut RowSources<'_>, position: RowPosition) -> Result<RowPlaces> {
        let order = order_of(position.key, position.popcount);
        let source = position.source as usize;
        let (mut next, mut begin) = (Vec::new(), 0);
        for i in 0..sources.len() {
            // The sources before have given all their rows of this order.
            let from = if i < source { order + 1 } else { order };
            let mut place = sources.place(i, from)?;
            if i == source {
                begin = place;
                place += position.row;
            }
            next.push((place, sources.order(i, place)?));
        }
        Ok(RowPlaces {
            next,
            order,
            source,
            begin,
            place: begin + position.row,
        })
    }

    /// Goes on to the next row, at [`RowPlaces::place`]. `None` if there are no more.
    ///
    /// Errors: a damaged page.
    pub fn next(&mut self, sources: &mut RowSources<'_>) -> Result<Option<RowPosition>> {
        loop {
            if let Some(next) = self.next.get_mut(self.source) {
                if next.0 != self.place {
                    *next = (self.place, sources.order(self.source, self.place)?);
                }
                if next.1 == Some(self.order) {
                    return Ok(Some(self.position()));
                }
            }
            let rest = self.next.iter().enumerate();
            let here = rest.skip(self.source + 1);
            let same = here.clone().find(|(_, next)| next.1 == Some(self.order));
            let source = match same {
                Some((i, _)) => i,
                None => {
                    let orders = self.next.iter().filter_map(|next| next.1);
                    let Some(order) = orders.min() else {
                        return Ok(None);
                    };
                    self.order = order;
                    let first = |next: &(u32, Option<u64>)| next.1 == Some(order);
                    self.next.iter().position(first).expect("just found")
                }
            };
            self.source = source;
            self.begin = self.next[source].0;
            self.place = self.begin;
        }
    }

    /// The place as a merge notes it.
    pub fn position(&self) -> RowPosition {
        RowPosition {
            popcount: self.order as u32,
            source: self.source as u32,
            row: self.place - self.begin,
            key: (self.order >> 32) as u32,
        }
    }
}

// The rows of a merge.

/// Pages of rows that the chunks are chosen by.
const SAMPLED_PAGES: u32 = 128;

impl MergeStep<'_, '_> {
    /// Writes some pages of rows; at the end of the rows, chooses the chunks.
    ///
    /// Errors: a damaged page; out of memory.
    pub fn rows(&mut self) -> Result<()> {
        let index = self.lock.index;
        let segments = segments(index, &self.meta, &self.merge)?;
        let mut sources = RowSources::new(index, &self.meta, &self.merge, &segments)?;
        let geometry = self.meta.geometry(self.merge.part);
        let mut page = vec![0; geometry.page_words];
        let (mut rows, mut about, mut least) = (0, 0, f64::INFINITY);
        let mut pages = 0;
        let mut from = RowPlaces::new(&mut sources, self.merge.position)?;
        while let Some(position) = from.next(&mut sources)? {
            // What is not written yet is done once more.
            if self.size.interruptible {
                pg::check_for_interrupts();
            }
            let next = sources.row(position.source as usize, from.place)?;
            from.place += 1;
            if next.tid == 0 {
                continue;
            }
            // This is the last gate: what is wrong with a row is not copied.
            next.check(&geometry)?;
            if rows == 0 {
                about = if geometry.keys {
                    next.key
                } else {
                    next.popcount
                };
            }
            if next.popcount < geometry.null_popcount() {
                least = least.min(next.threshold);
            }
            RowPageMut::new(geometry, &mut page).push(next);
            rows += 1;
            if rows == geometry.capacity as u32 {
                self.write_rows(&page, about, rows, least)?;
                self.merge.position = from.position();
                page.fill(0);
                (rows, least) = (0, f64::INFINITY);
                pages += 1;
                if pages >= self.size.pages {
                    return Ok(());
                }
            }
        }
        if rows > 0 {
            self.write_rows(&page, about, rows, least)?;
        }
        self.merge.position = from.position();
        drop(sources);
        self.choose_chunks()
    }

    /// Writes a page of so many rows. `about` is what the description will tell of it, `least` the least threshold.
    ///
    /// Errors: damaged lists of free blocks; out of memory.
    fn write_rows(&mut self, page: &[u64], about: u32, rows: u32, least: f64) -> Result<()> {
        self.write(PageKind::Rows, about, |to| to.copy_from_slice(page))?;
        self.merge.rows += rows;
        self.merge.least_threshold = self.merge.least_threshold.min(least);
        Ok(())
    }

    /// Errors: a damaged page.
    fn choose_chunks(&mut self) -> Result<()> {
        let geometry = self.meta.geometry(self.merge.part);
        let (rows, given) = (self.merge.rows, self.lock.options.chunks);
        self.merge.phase = Phase::Description;
        if self.merge.part == Part::Nulls || (rows < MIN_ROWS && given.is_none()) {
            return Ok(());
        }
        let mut frequencies = Frequencies::new(geometry.bits, geometry.measure);
        let written = self.row_set();
        let step = geometry.pages(rows).div_ceil(SAMPLED_PAGES).max(1);
        let mut pages = self.pages();
        for number in (0..geometry.pages(rows)).step_by(step as usize) {
            let page = written.page(number, pages.page(number)?)?;
            (0..page.len()).for_each(|i| frequencies.add(page.words(i, i + 1)));
            pages.tick();
        }
        drop(pages);
        let new = |chunk: Chunk| MergedChunk { chunk, pages: 0 };
        let chunks = frequencies.deal(rows, given);
        self.merge.chunks = chunks.into_iter().map(new).collect();
        if !self.merge.chunks.is_empty() {
            self.merge.phase = Phase::Postings;
        }
        Ok(())
    }
}
