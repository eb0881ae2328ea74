//! Writing segments.

use bloom_ident_core::sigfile::posting::MAX_ROWS;
use bloom_ident_core::sigfile::write::{Content, PageStore, Writer};
use bloom_ident_core::sigfile::{Geometry, Pages, SignatureRow};
use bloom_ident_core::Result;

use super::Pool;
use crate::pg::{check_for_interrupts, interrupts_are_pending};
use crate::sigfile::class::options::Options;
use crate::sigfile::meta::{Entry, Part};
use crate::sigfile::page::{self, Buffer, Kind};
use crate::sigfile::read::describe;
use crate::sigfile::sort::{merge, Run};

/// Writes a segment's pages.
pub struct NewPages {
    pub pool: Pool,
    pub generation: u64,
    blocks: Vec<u32>,
    row_pages: u32,
    current: Option<(u32, Buffer)>,
}

impl NewPages {
    pub fn new(pool: Pool, generation: u64) -> Self {
        NewPages {
            pool,
            generation,
            blocks: Vec::new(),
            row_pages: 0,
            current: None,
        }
    }

    /// Writes the description behind the pages; the blocks of both.
    pub fn finish(mut self, segment: &bloom_ident_core::sigfile::Segment) -> (Pool, u32, u32) {
        self.current = None;
        let words = describe(segment, &self.blocks);
        let map = self.pool.write_chain(Kind::Map, self.generation, &words);
        (self.pool, map[0], (self.blocks.len() + map.len()) as u32)
    }
}

impl Pages for NewPages {
    fn page(&mut self, number: u32) -> Result<&[u64]> {
        if self.current.as_ref().is_none_or(|(n, _)| *n != number) {
            self.current = None;
            let kind = if number < self.row_pages {
                Kind::Rows
            } else {
                Kind::Postings
            };
            let index = self.pool.index;
            let buffer = index.share(self.blocks[number as usize]);
            let buffer = buffer.expect(index, kind, self.generation)?;
            self.current = Some((number, buffer));
        }
        Ok(self.current.as_ref().expect("just read").1.words())
    }

    #[inline]
    fn tick(&mut self) {
        if interrupts_are_pending() {
            self.current = None;
            check_for_interrupts();
        }
    }
}

impl PageStore for NewPages {
    fn append(&mut self, content: Content, words: &[u64]) {
        self.current = None;
        let kind = match content {
            Content::Rows => {
                self.row_pages += 1;
                Kind::Rows
            }
            Content::Postings => Kind::Postings,
        };
        let buffer = self.pool.take();
        let (index, log) = (self.pool.index, self.pool.log);
        page::write(index, &buffer, log, kind, self.generation, |to| {
            to.copy_from_slice(words)
        });
        self.blocks.push(buffer.block());
    }
}

/// Writes all live rows of `runs` into segments, several if they are too many for one.
///
/// Errors: a damaged page; out of memory.
pub fn write_segments(
    geometry: Geometry,
    part: Part,
    runs: &mut [Run<'_>],
    pool: Pool,
    first_generation: u64,
    options: &Options,
    memory: usize,
) -> Result<(Vec<Entry>, Pool)> {
    let index = pool.index;
    let mut new: Vec<Entry> = Vec::new();
    let mut generation = first_generation;
    let mut pool = Some(pool);
    let mut writer: Option<Writer<NewPages>> = None;
    let chunks = match part {
        Part::Signatures => options.chunks,
        Part::Missing => None,
    };
    let finish = |writer: Writer<NewPages>, new: &mut Vec<Entry>| -> Result<Pool> {
        let (segment, pages) = writer
            .finish(chunks, memory)
            .map_err(|e| index.locate(e, &[]))?;
        let generation = pages.generation;
        let (pool, map, pages) = pages.finish(&segment);
        new.push(Entry {
            generation,
            rows: segment.rows,
            dead: 0,
            map,
            pages,
            part,
        });
        Ok(pool)
    };
    merge(&geometry, runs, |row: SignatureRow<'_>| {
        if writer.as_ref().is_some_and(|w| w.rows() == MAX_ROWS) {
            pool = Some(finish(writer.take().expect("there is one"), &mut new)?);
        }
        let writer = writer.get_or_insert_with(|| {
            let pool = pool.take().expect("no other writer has it");
            generation += 1;
            Writer::new(geometry, NewPages::new(pool, generation - 1))
        });
        writer.push(row).map_err(|e| index.locate(e, &[]))
    })?;
    if let Some(writer) = writer.take() {
        pool = Some(finish(writer, &mut new)?);
    }
    Ok((new, pool.expect("given back by the last writer")))
}
