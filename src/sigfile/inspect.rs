//! Functions for the DBA: what is in an index, whether it is sound, and making it compact.

use std::ffi::CStr;

use bloom_ident_core::filter::Shape;
use bloom_ident_core::sigfile::check::check;
use bloom_ident_core::sigfile::chunk::Frequencies;
use bloom_ident_core::sigfile::{Pages, RowPage};
use bloom_ident_core::{Error, ErrorKind, Result};
use pgrx::datum::IntoDatum;
use pgrx::{pg_sys, PgSqlErrorCode};

use super::blocks::{in_use, read_list};
use super::cache;
use super::insert::NewRow;
use super::meta::{Meta, Part};
use super::page::{self, Index};
use super::rewrite::Publisher;
use super::scan::Walk;
use super::store::{check_places, Reader};
use super::vacuum::{compact, item_pointer};
use crate::pg::error::{raise_as, OrRaise};
use crate::pg::function::record::record;
use crate::pg::{boundary, check_for_interrupts, entry, ffi};
use crate::types::NewValue;

/// A sigfile index and its table, open and locked until the end of the transaction.
struct Opened {
    index: Index,
    heap: pg_sys::Relation,
    lock: pg_sys::LOCKMODE,
}

impl Drop for Opened {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: open since construction.
            unsafe {
                pg_sys::index_close(self.index.relation, self.lock);
                pg_sys::table_close(self.heap, self.lock);
            }
        }
    }
}

fn fail(code: PgSqlErrorCode, message: String) -> ! {
    raise_as(code, &Error::new(ErrorKind::InvalidParameter, message))
}

impl Opened {
    /// Opens the table first, as everybody does.
    fn new(oid: pg_sys::Oid, lock: u32, owner_only: bool) -> Opened {
        let lock = lock as pg_sys::LOCKMODE;
        // SAFETY: catalog look-ups, and relations opened with a lock.
        unsafe {
            let is_index = pg_sys::get_rel_relkind(oid) as u8 == pg_sys::RELKIND_INDEX;
            let table = if is_index {
                pg_sys::IndexGetRelation(oid, true)
            } else {
                pg_sys::InvalidOid
            };
            let name = || {
                let name = pg_sys::get_rel_name(oid);
                if name.is_null() {
                    oid.to_u32().to_string()
                } else {
                    CStr::from_ptr(name).to_string_lossy().into_owned()
                }
            };
            if pg_sys::get_rel_relkind(oid) == 0 || (is_index && table == pg_sys::InvalidOid) {
                // dropped meanwhile
                fail(
                    PgSqlErrorCode::ERRCODE_UNDEFINED_TABLE,
                    format!("could not open relation with OID {}", oid.to_u32()),
                );
            }
            if table == pg_sys::InvalidOid {
                fail(
                    PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE,
                    format!("\"{}\" is not an index", name()),
                );
            }
            let denied = || {
                fail(
                    PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
                    if owner_only {
                        format!("must be owner of index {}", name())
                    } else {
                        format!("permission denied for index {}", name())
                    },
                )
            };
            // before anybody has to wait for a lock
            if !may(oid, table, owner_only) {
                denied();
            }
            let heap = ffi::table_open(table, lock);
            let relation = ffi::index_open(oid, lock);
            let opened = Opened {
                index: Index::new(relation),
                heap,
                lock,
            };
            if !super::is_sigfile(relation) {
                fail(
                    PgSqlErrorCode::ERRCODE_WRONG_OBJECT_TYPE,
                    format!("\"{}\" is not a sigfile index", name()),
                );
            }
            let other_temp = (*(*relation).rd_rel).relpersistence as u8
                == pg_sys::RELPERSISTENCE_TEMP
                && !(*relation).rd_islocaltemp;
            if other_temp {
                fail(
                    PgSqlErrorCode::ERRCODE_FEATURE_NOT_SUPPORTED,
                    "cannot access temporary indexes of other sessions".into(),
                );
            }
            if !may(oid, table, owner_only) {
                denied();
            }
            opened
        }
    }
}

/// Owners may do all; who may read the table may look.
///
/// SAFETY: in a transaction.
unsafe fn may(index: pg_sys::Oid, table: pg_sys::Oid, owner_only: bool) -> bool {
    // SAFETY: as promised by the caller.
    unsafe {
        let select = pg_sys::AclMode::from(pg_sys::ACL_SELECT);
        owns(index)
            || (!owner_only
                && pg_sys::pg_class_aclcheck(table, pg_sys::GetUserId(), select)
                    == pg_sys::AclResult::ACLCHECK_OK)
    }
}

/// SAFETY: in a transaction.
unsafe fn owns(relation: pg_sys::Oid) -> bool {
    // SAFETY: as promised by the caller.
    unsafe {
        #[cfg(feature = "pg15")]
        return pg_sys::pg_class_ownercheck(relation, pg_sys::GetUserId());
        #[cfg(not(feature = "pg15"))]
        return pg_sys::object_ownercheck(
            pg_sys::RelationRelationId,
            relation,
            pg_sys::GetUserId(),
        );
    }
}

/// `(segments integer, rows, dead_rows, tail_rows, null_rows, bytes, free_bytes bigint, shape text, chunk_bits integer[], entropy float8)`
#[entry]
fn bloom_sigfile_stats(oid: pg_sys::Oid, fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    let opened = Opened::new(oid, pg_sys::AccessShareLock, false);
    let index = opened.index;
    let meta = Meta::read(index);
    let sum = |part: Part, of: &dyn Fn(&super::meta::Entry) -> u32| -> i64 {
        let of_part = meta.segments.iter().filter(|s| s.part == part);
        of_part.map(|s| i64::from(of(s))).sum()
    };
    let mut tail_rows = [0i64; 2];
    for part in Part::ALL {
        for &block in &meta.tails[part as usize] {
            let buffer = index.share(block).expect(index, page::Kind::Tail, 0);
            let buffer = buffer.or_raise();
            let rows = RowPage::growing(meta.geometry(part), buffer.words())
                .map_err(|e| index.damaged(block, e.message()))
                .or_raise();
            let live = (0..rows.len()).filter(|&i| rows.tid(i) != 0);
            tail_rows[part as usize] += live.count() as i64;
        }
    }
    let free: u32 = meta
        .free
        .iter()
        .map(|list| {
            let (blocks, pages) = read_list(index, list).or_raise();
            (blocks.len() + pages.len()) as u32
        })
        .sum();
    let block_size = i64::from(pg_sys::BLCKSZ);
    let largest = meta
        .segments
        .iter()
        .filter(|s| s.part == Part::Signatures)
        .max_by_key(|s| s.rows);
    let (widths, entropy) = match largest {
        Some(entry) => {
            let loaded = cache::segment(index, &meta, entry).or_raise();
            let widths: Vec<i32> = loaded
                .segment
                .postings
                .iter()
                .map(|p| p.chunk.width as i32)
                .collect();
            (Some(widths), Some(entropy(index, &loaded)))
        }
        None => (None, None),
    };
    record(
        fcinfo,
        [
            (meta.segments.len() as i32).into_datum(),
            (sum(Part::Signatures, &|s| s.rows - s.dead) + tail_rows[0]).into_datum(),
            (sum(Part::Signatures, &|s| s.dead) + sum(Part::Missing, &|s| s.dead)).into_datum(),
            (tail_rows[0] + tail_rows[1]).into_datum(),
            (sum(Part::Missing, &|s| s.rows - s.dead) + tail_rows[1]).into_datum(),
            (i64::from(index.blocks()) * block_size).into_datum(),
            (i64::from(free) * block_size).into_datum(),
            (meta.shape != 0)
                .then(|| Shape::of_tag(meta.shape).to_string())
                .into_datum(),
            widths.into_datum(),
            entropy.into_datum(),
        ],
    )
}

/// Shannon entropy of a signature, as if its bits were independent, from a sample of the rows.
fn entropy(index: Index, loaded: &cache::Loaded) -> f64 {
    const PAGES: u32 = 256;
    let segment = &loaded.segment;
    let mut frequencies = Frequencies::new(segment.geometry.bits);
    let mut reader = Reader::new(index, loaded);
    let step = segment.row_pages().div_ceil(PAGES).max(1);
    for page in (0..segment.row_pages()).step_by(step as usize) {
        let rows = reader.rows(page).or_raise();
        for i in 0..rows.len() {
            frequencies.add(rows.words(i, i + 1));
        }
        reader.tick();
    }
    frequencies.total_entropy()
}

/// Seals the tail and merges all segments. Returns how many are left.
#[entry]
fn bloom_sigfile_merge(oid: pg_sys::Oid) -> i32 {
    // SAFETY: asks for a state of the server.
    if unsafe { pg_sys::RecoveryInProgress() } {
        fail(
            PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "recovery is in progress".into(),
        );
    }
    let opened = Opened::new(oid, pg_sys::ShareUpdateExclusiveLock, true);
    let publisher = Publisher::wait(opened.index, opened.heap);
    compact(&publisher, true).or_raise();
    publisher.sweep().or_raise();
    let left = Meta::read(opened.index).segments.len();
    drop(publisher);
    left as i32
}

/// What the index says of rows of a range of the table's blocks: place and a digest of the value.
struct Expected {
    index: Index,
    thresholds: bool,
    rows: Vec<(u64, u64)>,
    found: u64,
}

/// FNV-1a over the words: enough to notice another value.
fn digest(words: &[u64], count: u32, threshold: f64) -> u64 {
    let all = words
        .iter()
        .copied()
        .chain([u64::from(count), threshold.to_bits()]);
    all.fold(0xcbf2_9ce4_8422_2325, |hash, word| {
        (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[entry]
unsafe extern "C-unwind" fn check_row(
    _index: pg_sys::Relation,
    tid: pg_sys::ItemPointer,
    values: *mut pg_sys::Datum,
    nulls: *mut bool,
    _alive: bool,
    state: *mut std::ffi::c_void,
) {
    // SAFETY: `state` is what the check passed; one column.
    unsafe {
        let expected = &mut *state.cast::<Expected>();
        let row = NewRow::of(expected.thresholds, *values, *nulls, tid);
        let wanted = digest(&row.words, row.count, row.threshold);
        let found = expected.rows.binary_search_by_key(&row.place, |r| r.0);
        let what = match found {
            Ok(i) if expected.rows[i].1 == wanted => {
                expected.found += 1;
                return;
            }
            Ok(_) => "has another value for",
            Err(_) => "lacks",
        };
        let (block, offset) = (row.place >> 16, row.place & 0xffff);
        broken(
            expected.index,
            format!("{what} the row at ({block},{offset}) of the table"),
        );
    }
}

fn broken(index: Index, what: String) -> ! {
    crate::pg::error::raise(
        &Error::new(
            ErrorKind::Corrupted,
            format!("index \"{}\" {what}", index.name()),
        )
        .hint("Rebuild the index with REINDEX."),
    )
}

/// Looks at every page, row and posting, and for every row of the table that a snapshot sees. Returns how many
/// these were.
#[entry]
fn bloom_sigfile_check(oid: pg_sys::Oid) -> i64 {
    let opened = Opened::new(oid, pg_sys::AccessShareLock, true);
    let index = opened.index;
    // SAFETY: the snapshot is registered before the index is read, so that each row that it sees is in
    // the index; expressions of the index are evaluated as its owner, and can change nothing.
    unsafe {
        let snapshot = pg_sys::RegisterSnapshot(pg_sys::GetTransactionSnapshot());
        let form = &*(*index.relation).rd_index;
        // as a DROP INDEX CONCURRENTLY leaves it that was canceled: VACUUM passes it by, too
        if !form.indisready || !form.indislive {
            fail(
                PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("index \"{}\" is not maintained any more", index.name()),
            );
        }
        if form.indcheckxmin {
            let tuple = &*(*index.relation).rd_indextuple;
            let xmin = pg_sys::htup::HeapTupleHeaderGetXmin(tuple.t_data);
            if !pg_sys::TransactionIdPrecedes(xmin, (*snapshot).xmin) {
                fail(
                    PgSqlErrorCode::ERRCODE_T_R_SERIALIZATION_FAILURE,
                    format!(
                        "index \"{}\" cannot be checked with this snapshot",
                        index.name()
                    ),
                );
            }
        }
        let meta = Meta::read(index);
        check_structure(index, &meta).or_raise();
        let checked = check_table(&opened, &meta, snapshot);
        pg_sys::UnregisterSnapshot(snapshot);
        checked
    }
}

/// Every block belongs to one thing only, and every segment and page is sound.
///
/// Errors: what is wrong first; out of memory.
fn check_structure(index: Index, meta: &Meta) -> Result<()> {
    // what is remembered of segments is read again
    let blocks = index.blocks();
    for entry in &meta.segments {
        let loaded = cache::load(index, meta, entry)?;
        let mut reader = Reader::new(index, &loaded);
        check(&loaded.segment, &mut reader).map_err(|e| reader.locate(e))?;
        for number in 0..loaded.segment.row_pages() {
            reader.checked(number)?;
            reader.tick();
        }
    }
    let mut used = in_use(index, meta, blocks)?;
    for list in &meta.free {
        // what a crash has left of a new page never came to a standby
        let free = read_list(index, list)?
            .0
            .into_iter()
            .filter(|&b| b < blocks);
        for block in free {
            if !used.claim(block) {
                return Err(index.damaged(block, "the block is free and in use, or free twice"));
            }
        }
    }
    for part in Part::ALL {
        for &block in &meta.tails[part as usize] {
            let here = |e: Error| index.damaged(block, e.message());
            let buffer = index.share(block).expect(index, page::Kind::Tail, 0)?;
            let page = RowPage::growing(meta.geometry(part), buffer.words()).map_err(here)?;
            page.check().map_err(here)?;
            check_places(&page).map_err(here)?;
        }
    }
    Ok(())
}

/// SAFETY: `snapshot` is registered.
unsafe fn check_table(opened: &Opened, meta: &Meta, snapshot: pg_sys::Snapshot) -> i64 {
    let index = opened.index;
    // SAFETY: as promised by the caller; what the relation needs is made by the server itself.
    unsafe {
        let (mut user, mut context) = (pg_sys::InvalidOid, 0);
        pg_sys::GetUserIdAndSecContext(&mut user, &mut context);
        let owner = (*(*opened.heap).rd_rel).relowner;
        let restricted = context | pg_sys::SECURITY_RESTRICTED_OPERATION as i32;
        pg_sys::SetUserIdAndSecContext(owner, restricted);
        let level = pg_sys::NewGUCNestLevel();
        #[cfg(any(feature = "pg17", feature = "pg18"))]
        pg_sys::RestrictSearchPath();

        let total =
            pg_sys::RelationGetNumberOfBlocksInFork(opened.heap, pg_sys::ForkNumber::MAIN_FORKNUM);
        let rows: u64 = meta.segments.iter().map(|s| u64::from(s.rows)).sum();
        let memory = pg_sys::maintenance_work_mem as u64 * 1024;
        let passes = (16 * rows).div_ceil(memory).max(1) as u32;
        let step = total.div_ceil(passes).max(1);
        let mut checked = 0;
        for start in (0..total.max(1)).step_by(step as usize) {
            let mut expected = Expected {
                index,
                thresholds: meta.thresholds,
                rows: Vec::new(),
                found: 0,
            };
            let end = start.saturating_add(step);
            // a place can come twice when VACUUM has given it to a new row meanwhile, but not again and again
            let again = (0..4).all(|_| collect(opened, start..end, &mut expected.rows).is_some());
            if again {
                let place = collect(opened, start..end, &mut expected.rows).unwrap_or(0);
                let (block, offset) = (place >> 16, place & 0xffff);
                broken(
                    index,
                    format!("has the row at ({block},{offset}) of the table twice"),
                );
            }
            let info = ffi::BuildIndexInfo(index.relation);
            (*info).ii_Concurrent = true;
            let scan = ffi::table_beginscan_strat(
                opened.heap,
                snapshot,
                0,
                std::ptr::null_mut(),
                true,
                false,
            );
            let am = &*(*opened.heap).rd_tableam;
            let range_scan = am
                .index_build_range_scan
                .expect("every table method has it");
            boundary::call(|| {
                range_scan(
                    opened.heap,
                    index.relation,
                    info,
                    false,
                    false,
                    false,
                    start,
                    (total - start.min(total)).min(step),
                    Some(check_row),
                    (&raw mut expected).cast(),
                    scan,
                )
            });
            checked += expected.found as i64;
        }
        pg_sys::AtEOXact_GUC(false, level);
        pg_sys::SetUserIdAndSecContext(user, context);
        checked
    }
}

/// Place and digest of every live row whose place is in these blocks, by place. Returns a place that comes
/// twice.
fn collect(opened: &Opened, blocks: std::ops::Range<u32>, to: &mut Vec<(u64, u64)>) -> Option<u64> {
    to.clear();
    let index = opened.index;
    let meta = Meta::read(index);
    let walk = Walk::new(index, &meta, Vec::new(), None, Part::ALL.to_vec());
    let mut walk = walk.with_table(opened.heap);
    let mut failed = false;
    while walk.next(|page, i, hit| {
        let block = item_pointer(hit.place).ip_blkid;
        let block = u32::from(block.bi_hi) << 16 | u32::from(block.bi_lo);
        if blocks.contains(&block) {
            let row = page.row(i);
            failed |= to.try_reserve(1).is_err();
            if !failed {
                to.push((hit.place, digest(row.words, row.popcount, row.threshold)));
            }
        }
    }) {
        if failed {
            Err(Error::out_of_memory(16 * to.len())).or_raise()
        }
    }
    to.sort_unstable_by(|a, b| {
        check_for_interrupts();
        a.cmp(b)
    });
    to.windows(2)
        .find(|two| two[0].0 == two[1].0)
        .map(|two| two[0].0)
}
