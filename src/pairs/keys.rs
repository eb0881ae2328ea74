//! The keys of rows that an index has found, as far as a snapshot sees the rows.

use std::cmp::Ordering;

use pgrx::pg_sys;

use crate::pairs::join::TableRow;
use crate::pairs::output::KeyTexts;
use crate::pairs::profiles::ProfileComparison;
use crate::pairs::records::{RecordColumn, Relations};
use crate::pairs::table::{IndexedTable, IndexedTables};
use access::SigfileIndex;
use pg::error::raise;
use pg::ffi;
use pg::output::OutputFunction;
use pg::tid::Tid;
use pg::values::varlena::Varlena;

/// Fetches rows of one table.
struct Fetcher<'a> {
    scan: *mut pg_sys::IndexFetchTableData,
    slots: [*mut pg_sys::TupleTableSlot; 2],
    key: pg_sys::AttrNumber,
    within: &'a [pg_sys::AttrNumber],
    heap: pg_sys::Relation,
    /// The index that tids come from, for messages.
    index: SigfileIndex<'a>,
}

impl Drop for Fetcher<'_> {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: scan and slots were made on construction, and the table is still open: `Keys` goes before its
            // tables.
            unsafe {
                pg_sys::table_index_fetch_end(self.scan);
                for slot in self.slots {
                    pg_sys::ExecDropSingleTupleTableSlot(slot);
                }
            }
        }
    }
}

impl<'a> Fetcher<'a> {
    fn new(table: &'a IndexedTable) -> Fetcher<'a> {
        // SAFETY: the table is open.
        unsafe {
            let slot = || pg_sys::table_slot_create(table.heap.pointer(), std::ptr::null_mut());
            Fetcher {
                scan: pg_sys::table_index_fetch_begin(table.heap.pointer()),
                slots: [slot(), slot()],
                key: table.key,
                within: &table.within,
                heap: table.heap.pointer(),
                index: table.index(),
            }
        }
    }

    /// Releases the pages of the rows that were read last.
    fn release(&self) {
        // SAFETY: scan and slots were made on construction, and nothing points into the slots any more.
        unsafe {
            for slot in self.slots {
                pg_sys::ExecClearTuple(slot);
            }
            pg_sys::table_index_fetch_reset(self.scan);
        }
    }

    /// The value of the column at a place of `within`, in the row that the slot holds; `None` for null.
    fn value(&self, place: usize, slot: usize) -> Option<pg_sys::Datum> {
        self.column(self.within[place], slot)
    }

    /// The value of a column in the row that the slot holds; `None` for null.
    fn column(&self, number: pg_sys::AttrNumber, slot: usize) -> Option<pg_sys::Datum> {
        let mut is_null = false;
        // SAFETY: the slot holds a row of the table, which has the column.
        let value = unsafe { pg_sys::slot_getattr(self.slots[slot], number.into(), &mut is_null) };
        (!is_null).then_some(value)
    }

    /// The key of the row with this tid, which is `None` for null; no key if the snapshot does not see the row. The key
    /// stays until the slot is used again.
    ///
    /// Errors: a tid that no row of the table can have.
    fn key(
        &mut self,
        tid: Tid,
        slot: usize,
        snapshot: pg_sys::Snapshot,
    ) -> Option<Option<pg_sys::Datum>> {
        // SAFETY: the table is open.
        if !tid.is_possible() || !unsafe { tid.is_within(self.heap) } {
            raise(&self.index.unsound(&tid.describe_impossible()));
        }
        let mut pointer = tid.pointer();
        let mut again = false;
        // SAFETY: the slot is one of this table. The snapshot is an MVCC snapshot, so it sees at most one version of a
        // row, and one call is enough.
        unsafe {
            let found = ffi::table_index_fetch_tuple(
                self.scan,
                &mut pointer,
                snapshot,
                self.slots[slot],
                &mut again,
                std::ptr::null_mut(),
            );
            found.then(|| self.column(self.key, slot))
        }
    }

    /// The same of the very version of a row that a query with the snapshot has found.
    fn key_of_version(
        &mut self,
        tid: Tid,
        slot: usize,
        snapshot: pg_sys::Snapshot,
    ) -> Option<Option<pg_sys::Datum>> {
        let mut pointer = tid.pointer();
        // SAFETY: the table is open, and the slot is one of it.
        let found = unsafe {
            let (heap, to) = (self.heap, self.slots[slot]);
            ffi::table_tuple_fetch_row_version(heap, &raw mut pointer, snapshot, to)
        };
        found.then(|| self.column(self.key, slot))
    }

    /// Where the row that the slot holds is: an index may know it by the place of its first version.
    fn place(&self, slot: usize) -> Tid {
        // SAFETY: the slot holds a row of the table.
        Tid::from(unsafe { (*self.slots[slot]).tts_tid })
    }
}

/// The order of the values of a column.
pub struct KeyOrder {
    compare: *mut pg_sys::FmgrInfo,
    collation: pg_sys::Oid,
}

impl KeyOrder {
    /// `None` if the type has no order.
    pub fn find(column: &RecordColumn) -> Option<KeyOrder> {
        // SAFETY: a column of a locked relation has a type; entries of the type cache are never freed.
        unsafe {
            let flags = pg_sys::TYPECACHE_CMP_PROC_FINFO as i32;
            let entry = pg_sys::lookup_type_cache(column.type_oid, flags);
            let compare = &raw mut (*entry).cmp_proc_finfo;
            ((*compare).fn_oid != pg_sys::InvalidOid).then_some(KeyOrder {
                compare,
                collation: column.collation,
            })
        }
    }

    pub fn compare(&self, a: pg_sys::Datum, b: pg_sys::Datum) -> Ordering {
        // SAFETY: the function is the comparison of the type that both values have, and it returns an int4.
        let order = unsafe { ffi::FunctionCall2Coll(self.compare, self.collation, a, b) };
        (order.value() as i32).cmp(&0)
    }
}

/// Whether text `a` comes behind text `b` in the order of their bytes, null first.
pub fn is_behind(a: Option<pg_sys::Datum>, b: Option<pg_sys::Datum>) -> bool {
    // SAFETY: the values are texts, and are not null.
    let [a, b] = [a, b].map(|text| text.map(|text| unsafe { Varlena::new(text) }));
    a.as_ref().map(Varlena::bytes) > b.as_ref().map(Varlena::bytes)
}

/// The keys of pairs of rows.
pub struct Keys<'a> {
    fetchers: Vec<Fetcher<'a>>,
    /// The tables of the last pair. No others hold pages, of which there could be more than buffers.
    last: (usize, usize),
    outputs: [OutputFunction; 2],
    order: Option<KeyOrder>,
    /// Compare the values of the columns in which records must be equal.
    within: Vec<KeyOrder>,
    /// Says whether the rows are a pair, by signatures in the columns that tables name besides.
    profile: Option<ProfileComparison<'a>>,
    snapshot: pg_sys::Snapshot,
    /// Whether both keys are of one relation, so that the lesser one comes first.
    one_relation: bool,
}

impl<'a> Keys<'a> {
    /// The keys of relations that have these tables. Rows are a pair if they are equal in the columns that the
    /// relations name for that, which all tables have with the types and collations of the left one's; and if their
    /// profiles are similar, where these are compared, whose columns are all that tables name besides the key.
    pub fn new(
        tables: &'a IndexedTables,
        relations: Relations<'_>,
        profile: Option<ProfileComparison<'a>>,
    ) -> Keys<'a> {
        let left = relations.left;
        let right = relations.right.unwrap_or(left);
        let within = left.within.iter().map(KeyOrder::find);
        Keys {
            fetchers: tables.list.iter().map(Fetcher::new).collect(),
            last: (0, 0),
            outputs: [left, right].map(|records| OutputFunction::new(records.key.type_oid)),
            order: KeyOrder::find(&left.key),
            within: within
                .map(|order| order.expect("the type has one"))
                .collect(),
            profile,
            // SAFETY: the server runs a function with an active snapshot.
            snapshot: unsafe { pg_sys::GetActiveSnapshot() },
            one_relation: relations.right.is_none(),
        }
    }

    /// Both keys in the current memory context, and the similarity: the given one, if nobody judges. `None` if the
    /// snapshot does not see both rows, or they are not equal where they must be, or judged to be no pair.
    ///
    /// Errors: a tid that no row of a table can have.
    pub fn pair(&mut self, a: TableRow, b: TableRow, similarity: f64) -> Option<(KeyTexts, f64)> {
        self.turn_to(a.table().index(), b.table().index());
        let (x, y) = (self.key(a, 0)?, self.key(b, 1)?);
        self.texts(x, y, similarity)
    }

    /// The same of the version of a row at `a`, which a query has found, and one that an index has found, if it is
    /// `wanted`, which is told where its version is.
    pub fn pair_of_version(
        &mut self,
        a: TableRow,
        b: TableRow,
        wanted: impl FnOnce(TableRow) -> bool,
        similarity: f64,
    ) -> Option<(KeyTexts, f64)> {
        let table = b.table().index();
        self.turn_to(a.table().index(), table);
        let y = self.key(b, 1)?;
        let place = TableRow::new(b.table(), self.fetchers[table].place(1).stored());
        if !wanted(place) {
            return None;
        }
        let fetcher = &mut self.fetchers[a.table().index()];
        let x = fetcher.key_of_version(Tid::of_stored(a.row()), 0, self.snapshot)?;
        self.texts(x, y, similarity)
    }

    /// The key of a row in the current memory context, which may be null; `None` if the snapshot does not see the row.
    ///
    /// Errors: a tid that no row of the table can have.
    pub fn key_of(&mut self, row: TableRow) -> Option<Option<pg_sys::Datum>> {
        self.turn_to(row.table().index(), row.table().index());
        let key = self.key(row, 0)?;
        Some(key.map(|key| self.outputs[0].text(key)))
    }

    fn key(&mut self, row: TableRow, slot: usize) -> Option<Option<pg_sys::Datum>> {
        let fetcher = &mut self.fetchers[row.table().index()];
        fetcher.key(Tid::of_stored(row.row()), slot, self.snapshot)
    }

    /// Has no other tables hold pages than these two.
    fn turn_to(&mut self, a: usize, b: usize) {
        for before in [self.last.0, self.last.1] {
            if before != a && before != b {
                self.fetchers[before].release();
            }
        }
        self.last = (a, b);
    }

    /// The keys of the rows that both slots hold, as text, and their similarity.
    fn texts(
        &mut self,
        a: Option<pg_sys::Datum>,
        b: Option<pg_sys::Datum>,
        similarity: f64,
    ) -> Option<(KeyTexts, f64)> {
        let now = self.last;
        let [x, y] = [&self.fetchers[now.0], &self.fetchers[now.1]];
        let is_equal = |(place, order): (usize, &KeyOrder)| {
            let both = x.value(place, 0).zip(y.value(place, 1));
            both.is_some_and(|(x, y)| order.compare(x, y).is_eq())
        };
        if !self.within.iter().enumerate().all(is_equal) {
            return None;
        }
        let similarity = match self.profile {
            None => similarity,
            Some(profile) => {
                let signature = |place: usize, side: usize| [x, y][side].value(place, side);
                // SAFETY: the columns are those of the profile, which are of type bloom; the slots keep the rows.
                unsafe { profile.similarity(signature) }?
            }
        };
        let mut text =
            |side: usize, key: Option<pg_sys::Datum>| key.map(|key| self.outputs[side].text(key));
        let keys = [text(0, a), text(1, b)];
        let [first, second] = keys;
        let is_behind = || match (a.zip(b), &self.order) {
            (Some((a, b)), Some(order)) => order.compare(a, b).is_gt(),
            _ => is_behind(first, second),
        };
        // Keys of two relations may be of two types, and are not compared.
        let keys = match self.one_relation && is_behind() {
            true => [second, first],
            false => keys,
        };
        Some((keys, similarity))
    }
}
