//! Functions for the DBA: what is in an index, whether it is sound, and making it compact.

mod check;

use crate::page::{SigfileIndex, SigfileTable};
use crate::read::{self, SegmentDescription, SegmentReader, TailBlocks};
use crate::write::Compaction;
use crate::{is_sigfile, meta};
use base::{Error, ErrorKind};
use pg::catalog::privileges::{self, current_user, is_owner};
use pg::error::{raise_as, OrRaise};
use pg::function::record::record;
use pg::relation::OpenRelation;
use pg::values::text::readable;
use pg::values::varlena::NewValue;
use pg::{check_for_interrupts, entry};
use pgrx::datum::IntoDatum;
use pgrx::{pg_sys, PgSqlErrorCode};
use sigfile::chunk::Frequencies;
use sigfile::{Pages, Part, RowShape, SegmentEntry};
use std::ffi::CStr;

/// A sigfile index and its table, open and locked. Both are closed, and their locks released, when this is dropped.
struct OpenedSigfile {
    index: OpenRelation,
    table: OpenRelation,
}

fn fail(code: PgSqlErrorCode, message: String) -> ! {
    raise_as(code, &Error::new(ErrorKind::InvalidParameter, message))
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
fn may(index: pg_sys::Oid, table: pg_sys::Oid, owner_only: bool) -> bool {
    let user = current_user();
    is_owner(index, user) || (!owner_only && privileges::may(table, pg_sys::ACL_SELECT, user))
}

/// Seals the tail and merges all segments. Returns how many are left.
#[entry(volatile, parallel_unsafe)]
fn bloom_sigfile_merge(oid: pg_sys::Oid) -> i32 {
    // SAFETY: a state of the server is asked for.
    if unsafe { pg_sys::RecoveryInProgress() } {
        raise_as(
            PgSqlErrorCode::ERRCODE_READ_ONLY_SQL_TRANSACTION,
            &Error::new(
                ErrorKind::NotSupported,
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
        for page in TailBlocks::of(&meta, part).shared(index, meta.geometry(part)) {
            let live = page.and_then(|page| page.live_rows()).or_raise();
            tail_rows[part as usize] += live as i64;
        }
    }
    let listed = meta.free.iter().map(|list| list.blocks).sum::<u32>();
    let free = listed + meta.stock.len() as u32;
    let block_size = i64::from(pg_sys::BLCKSZ);
    let largest = meta.segments_of(Part::Signatures).max_by_key(|s| s.rows);
    let (widths, entropy) = match largest {
        Some(entry) => {
            let loaded = read::segment(index, &meta, entry).or_raise();
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
