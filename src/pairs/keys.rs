//! The keys of rows that were found, as far as a snapshot sees the rows.

use pgrx::pg_sys;

use crate::pairs::relation::{Column, Table};
use crate::pg::error::raise;
use crate::pg::ffi;
use crate::pg::tid;
use crate::sigfile::Index;
use crate::types::Varlena;

/// Fetches rows of one table.
struct Fetcher {
    scan: *mut pg_sys::IndexFetchTableData,
    slots: [*mut pg_sys::TupleTableSlot; 2],
    key: pg_sys::AttrNumber,
    heap: pg_sys::Relation,
    /// Where places come from.
    index: Index,
}

impl Drop for Fetcher {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: made on construction, for a table that is still open.
            unsafe {
                pg_sys::table_index_fetch_end(self.scan);
                for slot in self.slots {
                    pg_sys::ExecDropSingleTupleTableSlot(slot);
                }
            }
        }
    }
}

impl Fetcher {
    fn new(table: &Table) -> Fetcher {
        // SAFETY: the table is open.
        unsafe {
            let slot = || pg_sys::table_slot_create(table.heap, std::ptr::null_mut());
            Fetcher {
                scan: pg_sys::table_index_fetch_begin(table.heap),
                slots: [slot(), slot()],
                key: table.key,
                heap: table.heap,
                index: table.index,
            }
        }
    }

    /// Lets go of the pages of the rows that were read last.
    fn release(&self) {
        // SAFETY: made on construction.
        unsafe {
            for slot in self.slots {
                pg_sys::ExecClearTuple(slot);
            }
            pg_sys::table_index_fetch_reset(self.scan);
        }
    }

    /// The key of the row at a place, `None` if the snapshot does not see it; it stays until the slot is used again.
    ///
    /// Errors: a place where no row can be.
    fn key(
        &mut self,
        place: u64,
        slot: usize,
        snapshot: pg_sys::Snapshot,
    ) -> Option<Option<pg_sys::Datum>> {
        // SAFETY: the table is open.
        if !tid::is_possible(place) || !unsafe { tid::is_within(self.heap, place) } {
            raise(&self.index.unsound(&tid::describe(place)));
        }
        let mut tid = pg_sys::ItemPointerData::default();
        let block = (place >> 16) as u32;
        tid.ip_blkid.bi_hi = (block >> 16) as u16;
        tid.ip_blkid.bi_lo = block as u16;
        tid.ip_posid = place as u16;
        let slot = self.slots[slot];
        let (mut again, mut is_null) = (false, false);
        // SAFETY: a slot of the table; the snapshot is MVCC, so there is at most one version that it sees.
        unsafe {
            let found = ffi::table_index_fetch_tuple(
                self.scan,
                &mut tid,
                snapshot,
                slot,
                &mut again,
                std::ptr::null_mut(),
            );
            if !found {
                return None;
            }
            let key = pg_sys::slot_getattr(slot, self.key.into(), &mut is_null);
            Some((!is_null).then_some(key))
        }
    }
}

/// How keys are shown and, where their type has an order, ordered.
pub struct KeyType {
    output: pg_sys::FmgrInfo,
    compare: Option<*mut pg_sys::FmgrInfo>,
    collation: pg_sys::Oid,
}

impl KeyType {
    pub fn new(column: &Column) -> KeyType {
        let mut output = pg_sys::FmgrInfo::default();
        // SAFETY: a type that exists; entries of the type cache stay.
        unsafe {
            let (mut function, mut is_varlena) = (pg_sys::InvalidOid, false);
            pg_sys::getTypeOutputInfo(column.type_oid, &mut function, &mut is_varlena);
            pg_sys::fmgr_info(function, &mut output);
            let flags = pg_sys::TYPECACHE_CMP_PROC_FINFO as i32;
            let entry = pg_sys::lookup_type_cache(column.type_oid, flags);
            let compare = &raw mut (*entry).cmp_proc_finfo;
            KeyType {
                output,
                compare: ((*compare).fn_oid != pg_sys::InvalidOid).then_some(compare),
                collation: column.collation,
            }
        }
    }

    pub fn is_ordered(&self) -> bool {
        self.compare.is_some()
    }

    /// As text, in the current memory context.
    fn show(&mut self, key: pg_sys::Datum) -> pg_sys::Datum {
        // SAFETY: a value of the type, whose output is a zero-terminated string.
        unsafe {
            let text = ffi::OutputFunctionCall(&mut self.output, key);
            pg_sys::Datum::from(pg_sys::cstring_to_text(text))
        }
    }

    /// Whether both are the same; a type without an order has none.
    pub fn is_same(&self, a: pg_sys::Datum, b: pg_sys::Datum) -> bool {
        self.compare.is_some_and(|compare| {
            // SAFETY: values of the type.
            unsafe { ffi::FunctionCall2Coll(compare, self.collation, a, b).value() as i32 == 0 }
        })
    }

    /// Whether a comes behind b.
    fn is_behind(&self, a: pg_sys::Datum, b: pg_sys::Datum) -> bool {
        self.compare.is_some_and(|compare| {
            // SAFETY: values of the type.
            unsafe { ffi::FunctionCall2Coll(compare, self.collation, a, b).value() as i32 > 0 }
        })
    }
}

/// Whether text a comes behind b in the order of their bytes, NULL first.
pub fn is_behind(a: Option<pg_sys::Datum>, b: Option<pg_sys::Datum>) -> bool {
    // SAFETY: texts, not NULL.
    let [a, b] = [a, b].map(|text| text.map(|text| unsafe { Varlena::of(text) }));
    a.as_ref().map(Varlena::bytes) > b.as_ref().map(Varlena::bytes)
}

/// The keys of pairs of rows.
pub struct Keys {
    fetchers: Vec<Fetcher>,
    /// The tables of the last pair: no others hold pages, of which there could be more than buffers.
    last: (usize, usize),
    types: [KeyType; 2],
    snapshot: pg_sys::Snapshot,
    /// The lesser key first.
    ordered: bool,
}

impl Keys {
    /// Without `columns.1` both keys are of one table.
    pub fn new(
        tables: &[Table],
        columns: (&Column, Option<&Column>),
        snapshot: pg_sys::Snapshot,
    ) -> Keys {
        Keys {
            fetchers: tables.iter().map(Fetcher::new).collect(),
            last: (0, 0),
            types: [
                KeyType::new(columns.0),
                KeyType::new(columns.1.unwrap_or(columns.0)),
            ],
            snapshot,
            ordered: columns.1.is_none(),
        }
    }

    /// Both keys as texts, in the current memory context; `None` if the snapshot does not see both rows, and for a key
    /// that is NULL.
    pub fn of(&mut self, a: (usize, u64), b: (usize, u64)) -> Option<[Option<pg_sys::Datum>; 2]> {
        let (snapshot, now) = (self.snapshot, (a.0, b.0));
        for before in [self.last.0, self.last.1] {
            if before != now.0 && before != now.1 {
                self.fetchers[before].release();
            }
        }
        self.last = now;
        let mut key = |row: (usize, u64), slot| self.fetchers[row.0].key(row.1, slot, snapshot);
        let (a, b) = (key(a, 0)?, key(b, 1)?);
        let mut show =
            |side: usize, key: Option<pg_sys::Datum>| key.map(|key| self.types[side].show(key));
        let keys = [show(0, a), show(1, b)];
        let swap = match (a, b) {
            (Some(a), Some(b)) if self.ordered && self.types[0].is_ordered() => {
                self.types[0].is_behind(a, b)
            }
            _ => self.ordered && is_behind(keys[0], keys[1]),
        };
        let [first, second] = keys;
        Some(if swap {
            [second, first]
        } else {
            [first, second]
        })
    }
}
