//! Functions for the DBA: what is in an index, whether it is sound, and making it compact.

use crate::class::SignatureType;
use crate::page::{SigfileIndex, SigfileTable, META};
use crate::read::{self, in_use, load, read_list, SegmentDescription, SegmentReader, TailBlocks};
use crate::scan::{IndexScan, RowConditions};
use crate::write::{Compaction, IndexRow, MergeLock};
use crate::{is_sigfile, meta};
use base::{Error, ErrorKind, Result};
use pg::catalog::privileges::{self, current_user, is_owner};
use pg::catalog::{self, storage};
use pg::error::{raise, sql_error, OrRaise};
use pg::function::record::record;
use pg::message::words;
use pg::relation::{self, OpenRelation};
use pg::tid::Tid;
use pg::values::text::readable;
use pg::values::varlena::NewValue;
use pg::{boundary, check_for_interrupts, entry, ffi};
use pgrx::datum::IntoDatum;
use pgrx::{pg_sys, PgSqlErrorCode};
use sigfile::check::check;
use sigfile::chunk::Frequencies;
use sigfile::{Meta, Pages, Part, RowShape, SegmentEntry, SignatureRow};
use std::ffi::CStr;

/// A sigfile index and its table, open and locked. Both are closed, and their locks released, when this is dropped.
struct OpenedSigfile {
    index: OpenRelation,
    table: OpenRelation,
}

fn fail(code: PgSqlErrorCode, message: String) -> ! {
    raise(&sql_error(code, message))
}

impl OpenedSigfile {
    /// Opens the table first, as everybody does.
    fn new(oid: pg_sys::Oid, lock: u32, owner_only: bool) -> OpenedSigfile {
        // SAFETY: look-ups in the catalogs by OID; relations are looked at while they are open.
        unsafe {
            let is_index = pg_sys::get_rel_relkind(oid) as u8 == pg_sys::RELKIND_INDEX;
            let table = if is_index {
                pg_sys::IndexGetRelation(oid, true)
            } else {
                pg_sys::InvalidOid
            };
            let name = || name_of(oid);
            if pg_sys::get_rel_relkind(oid) == 0 || (is_index && table == pg_sys::InvalidOid) {
                // It has been dropped meanwhile.
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
            // Before anybody has to wait for a lock.
            if !may(oid, table, owner_only) {
                denied();
            }
            let table_oid = table;
            let table = OpenRelation::table(table, lock);
            let index = OpenRelation::index(oid, lock);
            let relation = index.pointer();
            if !is_sigfile(relation) {
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
            if !may(oid, table_oid, owner_only) {
                denied();
            }
            index.expect_contents();
            if storage::is_distributed(table_oid) {
                refuse_distributed(oid, table_oid);
            }
            OpenedSigfile { index, table }
        }
    }

    fn index(&self) -> SigfileIndex<'_> {
        // SAFETY: new() has found it to be a sigfile index.
        unsafe { SigfileIndex::of(&self.index) }
    }

    fn table(&self) -> SigfileTable<'_> {
        // SAFETY: the table is open as long as it is borrowed.
        unsafe { SigfileTable::new(self.table.pointer()) }
    }
}

/// Raises the error of an index of a table of Citus, which has no rows.
fn refuse_distributed(index: pg_sys::Oid, table: pg_sys::Oid) -> ! {
    let table = catalog::quoted(table);
    let cannot = format!("index \"{}\" has no rows of its own", name_of(index));
    let error = storage::distributed(cannot, "Each shard has an index of its own.");
    raise(&error.hint(words!(
        "Call the function for the indexes of the shards, by run_command_on_shards('{table}', ...)."
    )))
}

/// The name of a relation, or its OID if it has been dropped meanwhile.
fn name_of(oid: pg_sys::Oid) -> String {
    // SAFETY: the server makes a C string in the current memory context, or none.
    unsafe {
        let name = pg_sys::get_rel_name(oid);
        match name.is_null() {
            true => oid.to_u32().to_string(),
            false => readable(CStr::from_ptr(name).to_bytes()),
        }
    }
}

/// Owners may do all; users who may read the table may look.
pub fn may(index: pg_sys::Oid, table: pg_sys::Oid, owner_only: bool) -> bool {
    let user = current_user();
    is_owner(index, user) || (!owner_only && privileges::may(table, pg_sys::ACL_SELECT, user))
}

/// Seals the tail and merges all segments. Returns how many are left.
#[entry(volatile, parallel_unsafe)]
fn bloom_sigfile_merge(oid: pg_sys::Oid) -> i32 {
    // SAFETY: a state of the server is asked for.
    if unsafe { pg_sys::RecoveryInProgress() } {
        raise(
            &sql_error(
                PgSqlErrorCode::ERRCODE_READ_ONLY_SQL_TRANSACTION,
                "cannot execute bloom_sigfile_merge() during recovery",
            )
            .detail(format!(
                "A standby has index \"{}\" as its primary has merged it.",
                name_of(oid)
            ))
            .hint("Call the function on the primary."),
        );
    }
    let opened = OpenedSigfile::new(oid, pg_sys::ShareUpdateExclusiveLock, true);
    let (index, table) = (opened.index(), opened.table());
    let compaction = Compaction {
        index,
        table,
        all: true,
        pause: check_for_interrupts,
    };
    compaction.run_and_truncate().or_raise();
    meta::read(index).segments.len() as i32
}

// What is in an index.

/// `(index regclass) RETURNS (segments integer, rows bigint, dead_rows bigint, tail_rows bigint, null_rows bigint,
/// bytes bigint, free_bytes bigint, shape text, chunk_bits integer[], entropy float8)`
#[entry(volatile, parallel_restricted)]
fn bloom_sigfile_stats(oid: pg_sys::Oid, fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    let opened = OpenedSigfile::new(oid, pg_sys::AccessShareLock, false);
    let index = opened.index();
    let meta = meta::read(index);
    let sum = |part: Part, of: &dyn Fn(&SegmentEntry) -> u32| -> i64 {
        meta.segments_of(part).map(|s| i64::from(of(s))).sum()
    };
    let mut tail_rows = [0i64; 2];
    for part in Part::ALL {
        for page in TailBlocks::new(&meta, part).shared(index) {
            let live = page.and_then(|page| page.live_rows()).or_raise();
            tail_rows[part as usize] += live as i64;
        }
    }
    let listed = meta.free.iter().map(|list| list.blocks).sum::<u32>();
    let free = listed + meta.stock.len() as u32;
    let block_size = i64::from(pg_sys::BLCKSZ);
    let largest = meta.segments_of(Part::Signatures).max_by_key(|s| s.rows);
    let of_largest = largest.map(|entry| {
        let loaded = read::segment(index, &meta, entry).or_raise();
        let chunks = loaded.segment.postings.iter();
        let widths: Vec<i32> = chunks.map(|p| p.chunk.width as i32).collect();
        (widths, entropy(index, &loaded))
    });
    let (widths, entropy) = of_largest.unzip();
    record(
        fcinfo,
        [
            (meta.segments.len() as i32).into_datum(),
            (sum(Part::Signatures, &|s| s.rows - s.dead) + tail_rows[0]).into_datum(),
            (sum(Part::Signatures, &|s| s.dead) + sum(Part::Nulls, &|s| s.dead)).into_datum(),
            (tail_rows[0] + tail_rows[1]).into_datum(),
            (sum(Part::Nulls, &|s| s.rows - s.dead) + tail_rows[1]).into_datum(),
            (i64::from(index.blocks()) * block_size).into_datum(),
            (i64::from(free) * block_size).into_datum(),
            (meta.shape() != 0)
                .then(|| RowShape::of_tag(meta.shape()).to_string())
                .into_datum(),
            widths.into_datum(),
            entropy.into_datum(),
        ],
    )
}

/// Shannon entropy of a signature, as if its bits were independent, from a sample of the rows.
fn entropy(index: SigfileIndex<'_>, loaded: &SegmentDescription) -> f64 {
    const PAGES: u32 = 256;
    let segment = &loaded.segment;
    let mut frequencies = Frequencies::new(segment.geometry.bits, segment.geometry.measure);
    let mut reader = SegmentReader::new(index, loaded);
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

// Whether an index is sound.

/// What the index says of rows of a range of the table's blocks.
struct ExpectedRows<'r> {
    index: SigfileIndex<'r>,
    kind: (SignatureType, bool),
    /// Tid and a digest of the value, by tid.
    rows: Vec<(Tid, u64)>,
    /// How many of them the table has.
    found: u64,
}

/// FNV-1a over the words: enough to notice another value.
fn digest(row: &SignatureRow<'_>) -> u64 {
    let words = row.words.iter().copied();
    let all = words.chain([row.order(), row.threshold.to_bits()]);
    all.fold(0xcbf2_9ce4_8422_2325, |hash, word| {
        (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Compares one row of the table with the index.
///
/// # Safety
/// The server calls it from the check, with what that has passed.
#[entry]
unsafe extern "C-unwind" fn check_row(
    _index: pg_sys::Relation,
    tid: pg_sys::ItemPointer,
    values: *mut pg_sys::Datum,
    nulls: *mut bool,
    _alive: bool,
    state: *mut std::ffi::c_void,
) {
    // SAFETY: the server passes `state` on from the check, where nobody else uses it meanwhile, and the values of the
    // index's columns.
    unsafe {
        let expected = &mut *state.cast::<ExpectedRows<'_>>();
        let row = IndexRow::new(expected.index, expected.kind, values, nulls, tid);
        let wanted = digest(&row.row());
        let found = expected.rows.binary_search_by_key(&row.tid, |r| r.0);
        let what = match found {
            Ok(i) if expected.rows[i].1 == wanted => {
                expected.found += 1;
                return;
            }
            Ok(_) => "has another value for",
            Err(_) => "lacks",
        };
        let what = format!("{what} the row at {} of the table", row.tid);
        broken(expected.index, what);
    }
}

fn broken(index: SigfileIndex<'_>, what: String) -> ! {
    pg::error::raise(
        &Error::new(
            ErrorKind::Corrupted,
            format!("index \"{}\" {what}", index.name()),
        )
        .hint("Rebuild the index with REINDEX."),
    )
}

/// Looks at every page, row and posting, and for every row of the table that a snapshot sees. Returns how many
/// these were.
#[entry(volatile, parallel_unsafe)]
fn bloom_sigfile_check(oid: pg_sys::Oid) -> i64 {
    let opened = OpenedSigfile::new(oid, pg_sys::AccessShareLock, true);
    let index = opened.index();
    // The snapshot is registered before the index is read, so that each row that it sees is in the index. Expressions
    // of the index are evaluated as its owner, and can change nothing.
    // SAFETY: the relations are open; the snapshot stays registered until the table is checked.
    unsafe {
        let snapshot = pg_sys::RegisterSnapshot(pg_sys::GetTransactionSnapshot());
        let form = &*(*index.relation()).rd_index;
        // A DROP INDEX CONCURRENTLY that was canceled leaves it so. VACUUM passes it by, too.
        if !form.indisready || !form.indislive {
            fail(
                PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                format!("index \"{}\" is not maintained any more", index.name()),
            );
        }
        if form.indcheckxmin {
            let tuple = &*(*index.relation()).rd_indextuple;
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
        let meta = meta::read(index);
        check_structure(index, &meta).or_raise();
        let checked = check_table(&opened, &meta, snapshot);
        pg_sys::UnregisterSnapshot(snapshot);
        checked
    }
}

/// Every block belongs to one thing only, and every segment and page is sound.
///
/// Errors: what is wrong first; out of memory.
fn check_structure(index: SigfileIndex<'_>, meta: &Meta) -> Result<()> {
    // What is remembered of segments is read again.
    for entry in &meta.segments {
        let loaded = load(index, meta, entry)?;
        let mut reader = SegmentReader::new(index, &loaded);
        check(&loaded.segment, &mut reader).map_err(|e| reader.locate(e))?;
        for number in 0..loaded.segment.row_pages() {
            reader.checked(number)?;
            reader.tick();
        }
    }
    check_blocks_and_merges(index)?;
    for part in Part::ALL {
        for page in TailBlocks::new(meta, part).shared(index) {
            page?.checked_rows()?;
        }
    }
    Ok(())
}

/// Every block belongs to one thing only, and whatever is merged to one merge. Blocks are used all the time by whoever
/// merges; so this holds the merge lock. On a standby it looks again if they were used meanwhile.
///
/// Errors: what is wrong first; out of memory.
fn check_blocks_and_merges(index: SigfileIndex<'_>) -> Result<()> {
    // SAFETY: a state of the server is asked for.
    let standby = unsafe { pg_sys::RecoveryInProgress() };
    let lock = (!standby).then(|| MergeLock::wait(index, SigfileTable::UNKNOWN));
    let mut left = ATTEMPTS;
    loop {
        let (meta, blocks) = {
            let metapage = index.share(META);
            (meta::of_page(&metapage), index.blocks())
        };
        let found = blocks_of(index, &meta, blocks).and_then(|()| merges_of(index, &meta));
        left -= 1;
        if found.is_ok() || lock.is_some() || left == 0 || meta::read(index) == meta {
            return found;
        }
        check_for_interrupts();
    }
}

/// How often a standby looks at the blocks while these are used.
const ATTEMPTS: u32 = 100;

/// Errors: a block that belongs to two things; damaged lists; out of memory.
fn blocks_of(index: SigfileIndex<'_>, meta: &Meta, blocks: u32) -> Result<()> {
    let mut used = in_use(index, meta, blocks, false)?;
    let mut free = meta.stock.clone();
    for list in &meta.free {
        free.extend(read_list(index, list)?.0);
    }
    // What a crash has left of a new page never came to a standby.
    for block in free.into_iter().filter(|&block| block < blocks) {
        if !used.claim(block) {
            return Err(index.damaged(block, "the block is free and in use, or free twice"));
        }
    }
    Ok(())
}

/// Errors: a merge that takes what is not there, or what another one takes; a damaged page.
fn merges_of(index: SigfileIndex<'_>, meta: &Meta) -> Result<()> {
    let merges = read::merges(index, meta)?;
    for (i, merge) in merges.iter().enumerate() {
        if let Some(what) = merge.lacks(meta, &merges[..i]) {
            return Err(index.damaged(meta.work, what));
        }
    }
    Ok(())
}

/// Compares all rows that a snapshot sees with the index. Returns how many these were.
///
/// # Safety
/// `snapshot` is registered.
unsafe fn check_table(opened: &OpenedSigfile, meta: &Meta, snapshot: pg_sys::Snapshot) -> i64 {
    let index = opened.index();
    let heap = opened.table.pointer();
    // SAFETY: both relations are open, and the snapshot is registered; the server makes what it needs of the index
    // itself. `expected` is used by nobody else while the table is scanned. User and settings are set back, after an
    // error by the server.
    unsafe {
        let (mut user, mut context) = (pg_sys::InvalidOid, 0);
        pg_sys::GetUserIdAndSecContext(&mut user, &mut context);
        let owner = (*(*heap).rd_rel).relowner;
        let restricted = context | pg_sys::SECURITY_RESTRICTED_OPERATION as i32;
        pg_sys::SetUserIdAndSecContext(owner, restricted);
        let level = pg_sys::NewGUCNestLevel();
        #[cfg(any(feature = "pg17", feature = "pg18"))]
        pg_sys::RestrictSearchPath();

        let total = relation::blocks(heap);
        let rows: u64 = meta.segments.iter().map(|s| u64::from(s.rows)).sum();
        let memory = pg_sys::maintenance_work_mem as u64 * 1024;
        let am = &*(*heap).rd_tableam;
        // A table method that knows no ranges of tids is scanned once, whatever that takes.
        let passes = match am.scan_set_tidrange {
            Some(_) => (16 * rows).div_ceil(memory).max(1) as u32,
            None => 1,
        };
        let step = total.div_ceil(passes).max(1);
        let mut checked = 0;
        for start in (0..total.max(1)).step_by(step as usize) {
            let mut expected = ExpectedRows {
                index,
                kind: (SignatureType::new(index), meta.thresholds()),
                rows: Vec::new(),
                found: 0,
            };
            let end = start.saturating_add(step);
            // A tid can come twice when VACUUM has given it to a new row meanwhile, but not again and again.
            let again = (0..4).all(|_| collect(opened, start..end, &mut expected.rows).is_some());
            if again {
                let tid = collect(opened, start..end, &mut expected.rows);
                let tid = tid.unwrap_or(Tid::of_stored(0));
                broken(index, format!("has the row at {tid} of the table twice"));
            }
            let info = ffi::BuildIndexInfo(index.relation());
            (*info).ii_Concurrent = true;
            let range_scan = am
                .index_build_range_scan
                .expect("every table method has it");
            let blocks = (step < total).then_some(start..end.min(total));
            let scan = scan_of(heap, snapshot, blocks);
            // With a scan that is handed to it the server scans what that one does, and takes no snapshot of its own;
            // it expects to be told of the whole table, as a parallel build tells it.
            boundary::call(|| {
                range_scan(
                    heap,
                    index.relation(),
                    info,
                    true,
                    false,
                    false,
                    0,
                    pg_sys::InvalidBlockNumber,
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

/// A scan of the table, or of these blocks of it, that sees what the snapshot sees. Who is given it ends it.
///
/// # Safety
/// `heap` is open, `snapshot` is registered and lives longer than the scan. A range is given only if the table's method
/// knows ranges.
unsafe fn scan_of(
    heap: pg_sys::Relation,
    snapshot: pg_sys::Snapshot,
    blocks: Option<std::ops::Range<u32>>,
) -> pg_sys::TableScanDesc {
    use pg_sys::ScanOptions::{
        SO_ALLOW_PAGEMODE, SO_ALLOW_STRAT, SO_TYPE_SEQSCAN, SO_TYPE_TIDRANGESCAN,
    };
    let (kind, blocks) = match blocks {
        Some(blocks) => (SO_TYPE_TIDRANGESCAN, blocks),
        None => (SO_TYPE_SEQSCAN, 0..0),
    };
    let flags = kind | SO_ALLOW_STRAT | SO_ALLOW_PAGEMODE;
    let mut first = Tid::of_row(blocks.start, 1).pointer();
    let mut last = Tid::of_row(blocks.end.saturating_sub(1), u16::MAX).pointer();
    let none = std::ptr::null_mut();
    // SAFETY: the caller says so; the functions are those of the table's own method, called as table_beginscan and
    // table_beginscan_tidrange call them.
    unsafe {
        let am = &*(*heap).rd_tableam;
        let begin = am.scan_begin.expect("every table method has it");
        boundary::call(|| {
            let scan = begin(heap, snapshot, 0, none, none.cast(), flags);
            if let (SO_TYPE_TIDRANGESCAN, Some(set)) = (kind, am.scan_set_tidrange) {
                set(scan, &raw mut first, &raw mut last);
            }
            scan
        })
    }
}

/// Tid and digest of every live row whose tid is in these blocks, by tid. Returns a tid that comes twice.
///
/// Errors: a damaged index; out of memory.
fn collect(
    opened: &OpenedSigfile,
    blocks: std::ops::Range<u32>,
    to: &mut Vec<(Tid, u64)>,
) -> Option<Tid> {
    to.clear();
    let index = opened.index();
    let meta = meta::read(index);
    let scan = IndexScan::new(
        index,
        &meta,
        RowConditions::default(),
        None,
        Part::ALL.to_vec(),
    );
    let mut scan = scan.with_table(opened.table());
    let mut failed = false;
    while scan.next(|page, i, hit| {
        if blocks.contains(&hit.tid.block()) {
            failed |= to.try_reserve(1).is_err();
            if !failed {
                to.push((hit.tid, digest(&page.row(i))));
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
