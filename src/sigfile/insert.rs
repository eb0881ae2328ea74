//! Adding a row: it goes to the end of the tail, and when that has become long, a part of it is sealed.

use bloom_ident_core::bits::to_words;
use bloom_ident_core::filter::Shape;
use bloom_ident_core::sigfile::{tiers, Geometry, RowPage, RowPageMut, SignatureRow};
use bloom_ident_core::{ErrorKind, Result};
use pgrx::pg_sys;

use super::meta::{Meta, Part, MAX_SEGMENTS};
use super::page::{self, Index, Kind, META};
use super::rewrite::{Publisher, Sources};
use crate::pg::entry;
use crate::pg::error::{raise, warn, OrRaise};
use crate::types::{Bloom, BloomQuery};

/// A value to be indexed.
pub struct NewRow {
    /// The first eight bytes of the signature, 0 for NULL.
    pub shape: u64,
    pub words: Vec<u64>,
    pub count: u32,
    pub threshold: f64,
    pub place: u64,
}

/// Block · 2^16 + offset.
///
/// SAFETY: `tid` is valid.
pub unsafe fn place(tid: pg_sys::ItemPointer) -> u64 {
    // SAFETY: as promised by the caller.
    let tid = unsafe { &*tid };
    let block = u64::from(tid.ip_blkid.bi_hi) << 16 | u64::from(tid.ip_blkid.bi_lo);
    block << 16 | u64::from(tid.ip_posid)
}

impl NewRow {
    /// SAFETY: `value` is of the index's type, and `tid` valid.
    pub unsafe fn of(
        thresholds: bool,
        value: pg_sys::Datum,
        is_null: bool,
        tid: pg_sys::ItemPointer,
    ) -> NewRow {
        // SAFETY: as promised by the caller.
        unsafe {
            let place = place(tid);
            if is_null {
                let geometry = Geometry::new(page::PAGE_WORDS, 1, false).or_raise();
                return NewRow {
                    shape: 0,
                    words: vec![0; geometry.stride],
                    count: geometry.null_popcount(),
                    threshold: 0.0,
                    place,
                };
            }
            let mut words = Vec::new();
            let mut fill = |view: bloom_ident_core::filter::View<'_>| {
                let stride = view.shape().m().div_ceil(64) as usize;
                to_words(view.bits(), stride, &mut words);
                (view.tag(), words.iter().map(|w| w.count_ones()).sum())
            };
            let ((shape, count), threshold) = if thresholds {
                let query = BloomQuery::from_raw(value);
                (fill(query.view().signature), query.view().threshold)
            } else {
                let signature = Bloom::from_raw(value);
                (fill(signature.view()), 0.0)
            };
            NewRow {
                shape,
                words,
                count,
                threshold,
                place,
            }
        }
    }

    pub fn part(&self) -> Part {
        if self.shape == 0 {
            Part::Missing
        } else {
            Part::Signatures
        }
    }

    pub fn row(&self) -> SignatureRow<'_> {
        SignatureRow {
            words: &self.words,
            popcount: self.count,
            threshold: self.threshold,
            tid: self.place,
        }
    }
}

/// Errors: a signature of another shape than those in the index.
pub fn check_shape(index: Index, expected: u64, row: &NewRow) {
    if row.part() == Part::Signatures && expected != 0 && expected != row.shape {
        let (new, old) = (Shape::of_tag(row.shape), Shape::of_tag(expected));
        raise(&Shape::mismatch(new, old).hint(format!(
            "Use a column type such as bloom{old} to keep other shapes out of the table. If index \"{}\" has deleted rows only, run VACUUM.",
            index.name()
        )));
    }
}

/// Merges of at most so many rows are done by the session that inserts; others wait for VACUUM, unless there
/// are too many segments.
const MERGED_BY_INSERT: u64 = 1 << 19;

/// Segments from which on an insert does not leave any merge to VACUUM.
const TOO_MANY: usize = 20;

/// The limit of an insert then.
const MERGED_IN_NEED: u64 = 1 << 21;

/// Tails of so many times their limit are sealed without merging anything.
const HURRIED: u64 = 3;

/// Segments from which on each new one takes the place of some, even if no size has enough of them: both kinds of
/// rows can have a few of every size.
const NEARLY_ALL: usize = MAX_SEGMENTS - 4;

/// Adds the row. True if it has begun a new page.
fn add(index: Index, heap: pg_sys::Relation, thresholds: bool, new: &NewRow) -> bool {
    let part = new.part();
    loop {
        let meta = Meta::read(index);
        if meta.thresholds != thresholds {
            let what = "the kind of rows is not that of the operator class";
            raise(&index.damaged(META, what));
        }
        check_shape(index, meta.shape, new);
        if part == Part::Missing || meta.shape != 0 {
            let geometry = meta.geometry(part);
            if let Some(&last) = meta.tails[part as usize].last() {
                let buffer = index.exclusive(last);
                // sealed meanwhile, it would be closed or full; used for something else, of another kind
                let has_room = |page: RowPage<'_>| !page.is_full();
                let page = RowPage::growing(geometry, buffer.words());
                if buffer.is(Kind::Tail, 0)
                    && page
                        .map(has_room)
                        .map_err(|e| index.locate(e.on_page(0), &[last]))
                        .or_raise()
                {
                    page::change(index, [&buffer], |[words]| {
                        RowPageMut::new(geometry, words).push(new.row());
                    });
                    return false;
                }
            }
        }
        if lengthen(index, heap, &meta, new) {
            return true;
        }
    }
}

/// Adds a page with the row to the tail, unless somebody else has added one since `seen` was
/// read: then false.
fn lengthen(index: Index, heap: pg_sys::Relation, seen: &Meta, new: &NewRow) -> bool {
    let part = new.part();
    let tail = part as usize;
    let buffer = index.exclusive(META);
    let mut meta = Meta::decode(index, &buffer);
    if meta.tails[tail].last() != seen.tails[tail].last() || meta.shape != seen.shape {
        return false;
    }
    if meta.tails[tail].len() == part.most_pages() {
        drop(buffer);
        // sealing has been held up by a long VACUUM: wait for it
        maintain(&Publisher::wait(index, heap), part).or_raise();
        return false;
    }
    if part == Part::Signatures && meta.shape == 0 {
        meta.shape = new.shape;
    }
    let geometry = meta.geometry(part);
    let page = index.extended();
    meta.tails[tail].push(page.block());
    page::change_and_start(index, &buffer, &page, Kind::Tail, |words, content| {
        meta.encode(words);
        RowPageMut::new(geometry, content).push(new.row());
    });
    true
}

/// Rows of a tail, if all pages but the last are full.
fn tail_rows(meta: &Meta, part: Part) -> u64 {
    let pages = meta.tails[part as usize].len();
    if pages == 0 {
        return 0;
    }
    pages.saturating_sub(1) as u64 * meta.geometry(part).capacity as u64
}

/// Seals the full pages of a tail that has become too long, together with segments of like size, or without these if they are
/// damaged.
///
/// Errors: damage that leaves nothing to do; out of memory.
pub fn maintain(publisher: &Publisher, part: Part) -> Result<()> {
    let meta = Meta::read(publisher.index);
    if meta.tails[part as usize].is_empty() {
        return Ok(());
    }
    let stride = meta.geometry(part).stride;
    let limit = u64::from(publisher.options.tail_limit(stride));
    let rows = tail_rows(&meta, part);
    let half_full = 2 * meta.tails[part as usize].len() > part.most_pages();
    if rows < limit && !half_full {
        return Ok(());
    }
    let of_part: Vec<_> = meta.segments.iter().filter(|s| s.part == part).collect();
    let mut sizes: Vec<u64> = of_part.iter().map(|s| u64::from(s.rows - s.dead)).collect();
    sizes.push(rows);
    // a tail of that length: earlier merges have been canceled, by statement_timeout for example
    let hurried = rows >= HURRIED * limit && meta.segments.len() < NEARLY_ALL;
    let most = match meta.segments.len() {
        _ if hurried => 0,
        TOO_MANY.. => MERGED_IN_NEED,
        _ => MERGED_BY_INSERT,
    };
    let mut merged = tiers::crowded(&sizes, limit.max(1), most);
    if merged.is_empty() && meta.segments.len() >= NEARLY_ALL {
        merged = (0..of_part.len()).collect();
        merged.sort_by_key(|&i| sizes[i]);
        merged.truncate(tiers::FAN);
    }
    let segments = merged.iter().filter(|&&i| i < of_part.len());
    let mut sources = Sources {
        part,
        segments: segments.map(|&i| of_part[i].generation).collect(),
        tail: meta.tails[part as usize].len() - 1,
    };
    match publisher.rewrite(&sources) {
        Err(e)
            if e.kind() == ErrorKind::Corrupted
                && !sources.segments.is_empty()
                && meta.segments.len() < NEARLY_ALL =>
        {
            warn(&e);
            sources.segments.clear();
            publisher.rewrite(&sources)
        }
        done => done,
    }
}

#[entry]
#[allow(clippy::too_many_arguments)] // the server's interface
pub unsafe extern "C-unwind" fn aminsert(
    index: pg_sys::Relation,
    values: *mut pg_sys::Datum,
    nulls: *mut bool,
    tid: pg_sys::ItemPointer,
    heap: pg_sys::Relation,
    _check: pg_sys::IndexUniqueCheck::Type,
    _unchanged: bool,
    _info: *mut pg_sys::IndexInfo,
) -> bool {
    // SAFETY: called by the server with one value and open relations.
    unsafe {
        let index = Index::new(index);
        let thresholds = super::validate::has_thresholds(index);
        let new = NewRow::of(thresholds, *values, *nulls, tid);
        if add(index, heap, thresholds, &new) {
            let part = new.part();
            let meta = Meta::read(index);
            let geometry = meta.geometry(part);
            let limit = super::options::Options::of(index).tail_limit(geometry.stride);
            let pages = meta.tails[part as usize].len();
            if tail_rows(&meta, part) >= u64::from(limit) || 2 * pages > part.most_pages() {
                if let Some(publisher) = Publisher::now(index, heap) {
                    // The row is there, and all that it needs: what is wrong elsewhere fails who reads it. Without room in the tail
                    // the next row fails.
                    match maintain(&publisher, part) {
                        Err(e) if e.kind() == ErrorKind::Corrupted => warn(&e),
                        done => done.or_raise(),
                    }
                }
            }
        }
    }
    // no uniqueness to report on
    false
}
