//! Whether an index is sound.

use bloom_ident_core::sigfile::check::check;
use bloom_ident_core::sigfile::{Pages, RowPage};
use bloom_ident_core::{Error, ErrorKind, Result};
use pgrx::{pg_sys, PgSqlErrorCode};

use super::{fail, OpenedSigfile};
use crate::pg::error::OrRaise;
use crate::pg::{boundary, check_for_interrupts, entry, ffi};
use crate::sigfile::meta::{Meta, Part};
use crate::sigfile::page::{PageKind, SigfileIndex};
use crate::sigfile::read::{check_places, in_use, load, read_list, SegmentReader};
use crate::sigfile::scan::IndexScan;
use crate::sigfile::write::{item_pointer, IndexRow};

/// What the index says of rows of a range of the table's blocks: place and a digest of the value.
struct ExpectedRows {
    index: SigfileIndex,
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
        let expected = &mut *state.cast::<ExpectedRows>();
        let row = IndexRow::of(expected.thresholds, *values, *nulls, tid);
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

fn broken(index: SigfileIndex, what: String) -> ! {
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
    let opened = OpenedSigfile::new(oid, pg_sys::AccessShareLock, true);
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
fn check_structure(index: SigfileIndex, meta: &Meta) -> Result<()> {
    // what is remembered of segments is read again
    let blocks = index.blocks();
    for entry in &meta.segments {
        let loaded = load(index, meta, entry)?;
        let mut reader = SegmentReader::new(index, &loaded);
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
            let buffer = index.share(block).expect(index, PageKind::Tail, 0)?;
            let page = RowPage::growing(meta.geometry(part), buffer.words()).map_err(here)?;
            page.check().map_err(here)?;
            check_places(&page).map_err(here)?;
        }
    }
    Ok(())
}

/// SAFETY: `snapshot` is registered.
unsafe fn check_table(opened: &OpenedSigfile, meta: &Meta, snapshot: pg_sys::Snapshot) -> i64 {
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
            let mut expected = ExpectedRows {
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
fn collect(
    opened: &OpenedSigfile,
    blocks: std::ops::Range<u32>,
    to: &mut Vec<(u64, u64)>,
) -> Option<u64> {
    to.clear();
    let index = opened.index;
    let meta = Meta::read(index);
    let walk = IndexScan::new(index, &meta, Vec::new(), None, Part::ALL.to_vec());
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
