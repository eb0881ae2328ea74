//! The state of a scan.

use super::index_scan::{Hit, IndexScan};
use super::key::{leading, near_to, slice, NearKeys, RowConditions, ScanKeys};
use super::nearest::NearestScan;
use super::ScanMemory;
use crate::class::leading::leading_columns;
use crate::class::{key_columns, strategy};
use crate::meta;
use crate::page::{SigfileIndex, SigfileTable};
use pg::check_for_interrupts;
use pg::error::OrRaise;
use pg::memory::within;
use pg::tid::Tid;
use pg::values::varlena::build;
use pg::visibility::VisibilityMap;
use pgrx::pg_sys;
use sigfile::{Meta, Part, RowPage, RowShape};
use signature::bits::to_bytes;
use signature::filter::{header_of, write_header};
use signature::similarity::Measure;
use signature::sketch;

/// What a scan finds.
pub enum ScanPhase {
    Nothing,
    /// Rows in no order; all of them have to be checked again where `recheck`.
    Rows {
        recheck: bool,
    },
    /// Rows by distance.
    Nearest(Box<NearestScan>),
}

/// State of a scan. Nothing in it is pinned between two calls.
pub struct ScanState<'r> {
    index: SigfileIndex<'r>,
    meta: Meta,
    index_scan: Option<IndexScan<'r>>,
    pub found: ScanPhase,
    /// Of one page.
    pub hits: Vec<Hit>,
    /// How many of them were returned.
    returned: usize,
    /// What an index-only scan needs of these rows.
    rows: TupleValues,
    /// Which of them the scan's snapshot sees for sure.
    visible: Vec<bool>,
    /// Rows without a signature come after the nearest.
    nulls_last: bool,
    /// Which order-by keys the nearest are near to.
    positions: Vec<usize>,
    /// The hash of the columns before the signature that is asked for.
    key: Option<u32>,
}

/// Begins to read: the keys, the metapage, and which segments there are.
///
/// Errors: a damaged index; a snapshot that is too old; more order-by keys than are supported.
///
/// # Safety
/// `scan` was begun by [`ambeginscan`](super::ambeginscan), has its keys, and is not ended for `'r`.
pub unsafe fn start<'r>(scan: pg_sys::IndexScanDesc, table: SigfileTable<'r>) -> ScanState<'r> {
    // SAFETY: the server keeps the index open and the snapshot registered until the scan ends; it fills in as many keys
    // as it says, with values of the operators' types.
    unsafe {
        let index = SigfileIndex::new((*scan).indexRelation);
        index.count_scan();
        // What EXPLAIN shows as index searches.
        #[cfg(feature = "pg18")]
        if let Some(instrument) = (*scan).instrument.as_mut() {
            instrument.nsearches += 1;
        }
        let snapshot = (*scan).xs_snapshot;
        let meta = meta::read_for(index, snapshot);
        let keys = slice((*scan).keyData, (*scan).numberOfKeys);
        let order_bys = slice((*scan).orderByData, (*scan).numberOfOrderBys);
        // Conditions of both kinds never come together: the planner has the index as one of either.
        let last = leading_columns(index) + 1;
        let of_signature = keys.iter().filter(|key| key.sk_attno as usize == last);
        let keyed = of_signature
            .clone()
            .any(|key| strategy::is_keyed(key.sk_strategy));
        let mut asked = ScanKeys::new(index, &meta);
        keys.iter().for_each(|key| asked.read(key));
        let (key, nothing, asked_recheck) = (asked.key(), asked.nothing, asked.recheck);
        let other_shape = asked.other_shape;
        let (nulls, mut conditions) = (asked.nulls, asked.conditions);
        let parts = match nulls {
            Some(true) => vec![Part::Nulls],
            Some(false) => vec![Part::Signatures],
            None => Part::ALL.to_vec(),
        };
        let mut state = ScanState {
            index,
            index_scan: None,
            found: ScanPhase::Nothing,
            hits: Vec::new(),
            returned: 0,
            rows: TupleValues::default(),
            visible: Vec::new(),
            nulls_last: false,
            positions: Vec::new(),
            key,
            meta,
        };
        if nothing {
            return state;
        }
        // A dirty snapshot may see another row that has got the tid of one that was found.
        let mvcc =
            !snapshot.is_null() && (*snapshot).snapshot_type == pg_sys::SnapshotType::SNAPSHOT_MVCC;
        let recheck = !mvcc || other_shape || asked_recheck;
        if other_shape {
            // All rows are returned, for the operator to raise its error on.
            conditions = Vec::new();
        }
        let near = near_to(&state.meta, order_bys);
        // The operator itself raises the error, for the first row that it sees.
        (*scan).xs_recheckorderby = matches!(near, NearKeys::OtherShape);
        let (mut leading_query, mut parts) = (None, parts);
        let (thresholds, found) = if let NearKeys::To(near, positions) = near {
            state.positions = positions;
            state.nulls_last = nulls != Some(false);
            parts = match nulls {
                Some(true) => Vec::new(),
                _ => vec![Part::Signatures],
            };
            (*scan).xs_recheck = recheck;
            let context = (*(*scan).opaque.cast::<ScanMemory>()).context;
            let nearest = Box::new(NearestScan::new(near, context));
            (false, ScanPhase::Nearest(nearest))
        } else {
            if !conditions.is_empty() {
                leading_query = leading(&state.meta, &mut conditions);
            }
            (keyed, ScanPhase::Rows { recheck })
        };
        let conditions = RowConditions {
            of_signature: conditions,
            key: state.key,
            thresholds,
        };
        let index_scan = IndexScan::new(index, &state.meta, conditions, leading_query, parts);
        state.index_scan = Some(index_scan.with_snapshot(snapshot).with_table(table));
        state.found = found;
        state
    }
}

impl ScanState<'_> {
    /// Drops all but the files, after an error: the server has closed them.
    pub fn abandon(self) {
        if let ScanPhase::Nearest(nearest) = self.found {
            nearest.abandon();
        }
    }

    /// Fills `hits` with those of the next page. False at the end.
    ///
    /// # Safety
    /// `scan` is the scan of this state, and not ended.
    pub unsafe fn next_page(&mut self, scan: pg_sys::IndexScanDesc) -> bool {
        // SAFETY: the scan is not ended.
        let want_tuples = unsafe { (*scan).xs_want_itup };
        let (hits, rows, visible) = (&mut self.hits, &mut self.rows, &mut self.visible);
        hits.clear();
        rows.clear();
        visible.clear();
        self.returned = 0;
        let Some(index_scan) = &mut self.index_scan else {
            return false;
        };
        // SAFETY: an index-only scan has a table, which is open; no other asks the map.
        let mut map = unsafe { VisibilityMap::new((*scan).heapRelation) };
        let found = index_scan.next(|page, i, hit| {
            hits.push(hit);
            if want_tuples {
                rows.push(page, i);
                visible.push(map.all_see(hit.tid));
            }
        });
        drop(map);
        if visible.contains(&true) && !self.meta.holds_of(&meta::read(self.index)) {
            visible.fill(false);
        }
        found
    }

    /// Whether an index-only scan may return a row. The server would look at the visibility map only
    /// now, when VACUUM may have removed the row from the table, and have marked its page as visible to all.
    ///
    /// # Safety
    /// `scan` is an index-only scan, and not ended.
    unsafe fn is_visible(scan: pg_sys::IndexScanDesc, tid: Tid) -> bool {
        check_for_interrupts();
        let mut tid = tid.pointer();
        // SAFETY: the table of an index-only scan is open, and the snapshot is that of the scan.
        unsafe {
            pg_sys::table_index_fetch_tuple_check(
                (*scan).heapRelation,
                &raw mut tid,
                (*scan).xs_snapshot,
                std::ptr::null_mut(),
            )
        }
    }

    /// Finds the next row, and says to the server which it is. False at the end.
    ///
    /// # Safety
    /// `scan` is the scan of this state, and not ended.
    pub unsafe fn next(&mut self, scan: pg_sys::IndexScanDesc) -> bool {
        // SAFETY: the scan is not ended, so its relations are open and its snapshot is there; it has room for as many
        // distances as it has order-by keys.
        unsafe {
            if let ScanPhase::Nearest(nearest) = &mut self.found {
                let index_scan = self
                    .index_scan
                    .as_mut()
                    .expect("a search for the nearest has one");
                while let Some((hit, distances)) = nearest.next(index_scan) {
                    if (*scan).xs_want_itup && !Self::is_visible(scan, hit.tid) {
                        continue;
                    }
                    set_distances(scan, |i| {
                        let known = self.positions.iter().position(|&p| p == i);
                        known.map(|k| distances[k])
                    });
                    if (*scan).xs_want_itup {
                        self.rows.clear();
                        index_scan.read(&hit, |page, i| self.rows.push(page, i));
                        set_tuple(scan, self.rows.value(&self.meta, 0));
                    }
                    (*scan).xs_heaptid = hit.tid.pointer();
                    return true;
                }
                // Rows without a distance come last.
                self.found = ScanPhase::Rows {
                    recheck: (*scan).xs_recheck,
                };
                let parts = if self.nulls_last {
                    vec![Part::Nulls]
                } else {
                    Vec::new()
                };
                let conditions = RowConditions {
                    key: self.key,
                    ..RowConditions::default()
                };
                let index_scan = IndexScan::new(self.index, &self.meta, conditions, None, parts);
                let index_scan = index_scan.with_snapshot((*scan).xs_snapshot);
                let table = SigfileTable::new((*scan).heapRelation);
                self.index_scan = Some(index_scan.with_table(table));
            }
            let ScanPhase::Rows { recheck } = self.found else {
                return false;
            };
            let (number, hit) = loop {
                if self.returned == self.hits.len() && !self.next_page(scan) {
                    return false;
                }
                let number = self.returned;
                let hit = self.hits[number];
                self.returned += 1;
                let wanted = !(*scan).xs_want_itup
                    || self.visible[number]
                    || Self::is_visible(scan, hit.tid);
                if wanted {
                    break (number, hit);
                }
            };
            (*scan).xs_heaptid = hit.tid.pointer();
            (*scan).xs_recheck = recheck;
            set_distances(scan, |_| None);
            if (*scan).xs_want_itup {
                set_tuple(scan, self.rows.value(&self.meta, number));
            }
            true
        }
    }
}

// What an index-only scan returns.

/// The row has no signature.
const NULL: u64 = 1;

/// Its signature is that of an empty set of tokens.
const WITHOUT_BITS: u64 = 2;

/// Values of rows, copied: how many a scan leaves unread is not known, so they are in no memory of the
/// server's, which would be free only when the query ends.
#[derive(Default)]
pub struct TupleValues {
    /// For each the bits, its threshold, and [`NULL`], [`WITHOUT_BITS`] or 0.
    words: Vec<u64>,
    stride: usize,
}

impl TupleValues {
    /// Forgets all rows.
    pub fn clear(&mut self) {
        self.words.clear();
    }

    /// Copies a row of a page.
    pub fn push(&mut self, page: &RowPage<'_>, i: usize) {
        let row = page.row(i);
        self.stride = row.words.len();
        let is_without = row.popcount == page.geometry().null_popcount();
        let state = match page.geometry().measure {
            _ if !is_without => 0,
            Measure::Jaccard => NULL,
            Measure::Agreement { .. } => WITHOUT_BITS,
        };
        self.words.extend_from_slice(row.words);
        self.words.extend([row.threshold.to_bits(), state]);
    }

    /// The value as the server wants it, in the memory of the current context; NULL is a null pointer.
    pub fn value(&self, meta: &Meta, i: usize) -> pg_sys::Datum {
        let width = self.stride + 2;
        let row = &self.words[i * width..(i + 1) * width];
        let (words, rest) = row.split_at(self.stride);
        if rest[1] == NULL {
            return pg_sys::Datum::null();
        }
        let made = match RowShape::of_tag(meta.shape()) {
            RowShape::Bits(shape) => {
                let size = sketch::HEADER + usize::from(shape.n()).div_ceil(8);
                build(size, |to| {
                    sketch::write_stored(shape, rest[1] == WITHOUT_BITS, words, to);
                    Ok(())
                })
            }
            RowShape::Filter(shape) => {
                let popcount: u32 = words.iter().map(|w| w.count_ones()).sum();
                let bits = shape.m().div_ceil(8) as usize;
                let header = header_of(shape);
                let size = header + bits + if meta.thresholds() { 8 } else { 0 };
                build(size, |to| {
                    write_header(shape, popcount, to);
                    to_bytes(words, &mut to[header..header + bits]);
                    if meta.thresholds() {
                        to[header + bits..].copy_from_slice(&rest[0].to_le_bytes());
                    }
                    Ok(())
                })
            }
        };
        pg_sys::Datum::from(made.or_raise())
    }
}

/// Tells the server the distances of a row, by the number of the order-by key; `None` for NULL.
///
/// # Safety
/// `scan` is a scan of ours that is not ended: it has room for as many distances as it has order-by keys.
unsafe fn set_distances(scan: pg_sys::IndexScanDesc, distance: impl Fn(usize) -> Option<f64>) {
    // SAFETY: the caller says so.
    unsafe {
        for i in 0..(*scan).numberOfOrderBys as usize {
            let value = distance(i).map(|distance| pg_sys::Datum::from(distance.to_bits()));
            *(*scan).xs_orderbynulls.add(i) = value.is_none();
            *(*scan).xs_orderbyvals.add(i) = value.unwrap_or(pg_sys::Datum::null());
        }
    }
}

/// Returns a value from an index-only scan.
///
/// # Safety
/// `scan` is an index-only scan of ours that is not ended, and `value` is of the index's type, or NULL.
pub unsafe fn set_tuple(scan: pg_sys::IndexScanDesc, value: pg_sys::Datum) {
    // SAFETY: the values are as many as the index has columns. The tuple before belongs to the scan, and the value is
    // not used any more.
    unsafe {
        if !(*scan).xs_itup.is_null() {
            pg_sys::pfree((*scan).xs_itup.cast());
            (*scan).xs_itup = std::ptr::null_mut();
        }
        // What is known of the columns before the signature is a hash: nobody asks for their values.
        let columns = key_columns((*scan).indexRelation);
        let mut values = vec![pg_sys::Datum::null(); columns];
        let mut nulls = vec![true; columns];
        (values[columns - 1], nulls[columns - 1]) = (value, value.is_null());
        // The field is read by itself, since the caller holds the state beside it.
        let context = (*(*scan).opaque.cast::<ScanMemory>()).context;
        (*scan).xs_itup = within(context, || {
            pg_sys::index_form_tuple((*scan).xs_itupdesc, values.as_mut_ptr(), nulls.as_mut_ptr())
        });
        if !value.is_null() {
            pg_sys::pfree(value.cast_mut_ptr());
        }
    }
}
