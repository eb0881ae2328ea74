//! What a merge reads: rows by popcount, of segments and of the beginning of a tail.

use std::rc::Rc;

use bloom_ident_core::sigfile::{Geometry, Meta, Pages, RowPage, SegmentMerge, SignatureRow};
use bloom_ident_core::sort::order_by_count;
use bloom_ident_core::{Error, Result};

use crate::sigfile::page::SigfileIndex;
use crate::sigfile::read::{cache, SegmentDescription, SegmentReader, TailBlocks};

/// A segment that is merged. A page of it is copied, so that none is locked while others are written.
struct SegmentSource<'a> {
    reader: SegmentReader<'a>,
    description: &'a SegmentDescription,
    page: Option<u32>,
    words: Vec<u64>,
}

impl SegmentSource<'_> {
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

/// The beginning of a tail, its rows in the order of their popcounts. Only their order is remembered: a row may be marked dead at any
/// time.
struct TailSource<'a> {
    index: SigfileIndex<'a>,
    geometry: Geometry,
    pages: TailBlocks,
    /// Numbers of the rows by popcount: page · capacity + place.
    order: Vec<u32>,
    /// Where in `order` each popcount begins.
    first: Vec<u32>,
    words: Vec<u64>,
}

impl<'a> TailSource<'a> {
    fn new(index: SigfileIndex<'a>, geometry: Geometry, pages: TailBlocks) -> Result<Self> {
        let capacity = geometry.capacity;
        // A page that was closed before it was full lacks some.
        let missing = geometry.null_popcount() + 1;
        let mut popcounts = vec![missing; pages.len() * capacity];
        for (i, page) in pages.shared(index, geometry).enumerate() {
            let page = page?;
            let rows = page.checked_rows()?;
            popcounts[i * capacity..][..rows.len()].copy_from_slice(rows.popcounts());
        }
        let (order, first) = order_by_count(
            popcounts.len() as u32,
            missing,
            |i| popcounts[i as usize],
            || (),
        )?;
        Ok(TailSource {
            index,
            geometry,
            pages,
            order,
            first,
            words: Vec::new(),
        })
    }

    fn row(&mut self, popcount: u32, i: u32) -> Result<SignatureRow<'_>> {
        let number = self.order[(self.first[popcount as usize] + i) as usize] as usize;
        let (page, at) = (
            number / self.geometry.capacity,
            number % self.geometry.capacity,
        );
        let page = self.pages.read(self.index, self.geometry, page)?;
        let row = page.rows()?.checked(at).map_err(|e| page.locate(e))?;
        if row.popcount != popcount {
            return Err(page.locate(Error::damaged(format!("row {at} has changed"))));
        }
        self.words.clear();
        self.words.extend_from_slice(row.words);
        let (threshold, tid) = (row.threshold, row.tid);
        Ok(SignatureRow {
            words: &self.words,
            popcount,
            threshold,
            tid,
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
            Some(entry) => cache::segment(index, meta, entry),
            None => Err(index.damaged(meta.work, "a merge takes a segment that is not there")),
        }
    };
    merge.segments.iter().map(of).collect()
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
            }))
        };
        let mut sources: Vec<RowSource<'a>> = segments.iter().map(of).collect();
        let pages = TailBlocks::beginning(meta, merge.part, merge.tail as usize);
        if pages.len() < merge.tail as usize {
            return Err(index.damaged(meta.work, "a merge takes more of a tail than there is"));
        }
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

    /// The rows of a popcount in a source, dead ones among them: as many in each step.
    pub fn count(&self, source: usize, popcount: u32) -> u32 {
        match &self.0[source] {
            RowSource::Segment(s) => s.description.segment.range(popcount, popcount).len() as u32,
            RowSource::Tail(t) => t.first[popcount as usize + 1] - t.first[popcount as usize],
        }
    }

    /// One of these rows.
    ///
    /// Errors: a damaged page.
    pub fn row(&mut self, source: usize, popcount: u32, i: u32) -> Result<SignatureRow<'_>> {
        match &mut self.0[source] {
            RowSource::Segment(s) => {
                let first = s.description.segment.range(popcount, popcount).start;
                s.row(first + i)
            }
            RowSource::Tail(t) => t.row(popcount, i),
        }
    }
}
