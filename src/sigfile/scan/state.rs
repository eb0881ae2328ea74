//! The state of a scan.

use pgrx::pg_sys;

use super::key::{leading, near_to, slice, NearKeys, ScanKeys};
use super::nearest::NearestScan;
use super::tuple::{set_tuple, TupleValues};
use super::visibility::VisibilityMap;
use super::walk::{Hit, IndexScan};
use crate::pg::check_for_interrupts;
use crate::sigfile::class::strategy;
use crate::sigfile::meta::{Meta, Part};
use crate::sigfile::page::SigfileIndex;
use crate::sigfile::write::item_pointer;

/// What a scan finds.
pub enum ScanPhase {
    Nothing,
    /// Rows in no order; all of them have to be checked again where `recheck`.
    Rows {
        recheck: bool,
    },
    /// Rows by distance.
    Nearest(NearestScan),
}

/// State of a scan. Nothing in it is pinned between two calls.
pub struct ScanState {
    index: SigfileIndex,
    meta: Meta,
    walk: Option<IndexScan>,
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
}

/// SAFETY: `scan` was begun and has its keys; `table` is open as long as the result is used.
pub unsafe fn start(scan: pg_sys::IndexScanDesc, table: pg_sys::Relation) -> ScanState {
    // SAFETY: as promised by the caller.
    unsafe {
        let index = SigfileIndex::new((*scan).indexRelation);
        index.count_scan();
        // what EXPLAIN shows as index searches
        #[cfg(feature = "pg18")]
        if let Some(instrument) = (*scan).instrument.as_mut() {
            instrument.nsearches += 1;
        }
        let snapshot = (*scan).xs_snapshot;
        let meta = Meta::read_for(index, snapshot);
        let keys = slice((*scan).keyData, (*scan).numberOfKeys);
        let order_bys = slice((*scan).orderByData, (*scan).numberOfOrderBys);
        // Conditions of both kinds never come together: the planner has the index as one of either.
        let keyed = keys.iter().any(|key| strategy::is_keyed(key.sk_strategy));
        let mut asked = ScanKeys {
            meta: &meta,
            conditions: Vec::new(),
            other_shape: false,
            nothing: false,
            nulls: None,
        };
        for key in keys {
            asked.read(key);
        }
        let (nothing, other_shape) = (asked.nothing, asked.other_shape);
        let (nulls, mut conditions) = (asked.nulls, asked.conditions);
        let parts = match nulls {
            Some(true) => vec![Part::Nulls],
            Some(false) => vec![Part::Signatures],
            None => Part::ALL.to_vec(),
        };
        let mut state = ScanState {
            index,
            walk: None,
            found: ScanPhase::Nothing,
            hits: Vec::new(),
            returned: 0,
            rows: TupleValues::default(),
            visible: Vec::new(),
            nulls_last: false,
            positions: Vec::new(),
            meta,
        };
        if nothing {
            return state;
        }
        // A dirty snapshot may see what has taken a found row's place in the table.
        let mvcc =
            !snapshot.is_null() && (*snapshot).snapshot_type == pg_sys::SnapshotType::SNAPSHOT_MVCC;
        if other_shape {
            // all rows, for the operator to raise its error on
            conditions = Vec::new();
        }
        let near = near_to(&state.meta, order_bys);
        // the operator itself raises the error, for the first row that it sees
        (*scan).xs_recheckorderby = matches!(near, NearKeys::OtherShape);
        if let NearKeys::To(near, positions) = near {
            state.positions = positions;
            state.nulls_last = nulls != Some(false);
            let parts = if nulls == Some(true) {
                Vec::new()
            } else {
                vec![Part::Signatures]
            };
            let walk = IndexScan::new(index, &state.meta, conditions, None, parts);
            state.walk = Some(walk.with_snapshot(snapshot).with_table(table));
            state.found = ScanPhase::Nearest(NearestScan::new(near));
            (*scan).xs_recheck = !mvcc || other_shape;
            return state;
        }
        let leading = if conditions.is_empty() {
            None
        } else {
            leading(&state.meta, &mut conditions)
        };
        let walk = IndexScan::new(index, &state.meta, conditions, leading, parts);
        let walk = walk.with_thresholds(keyed);
        state.walk = Some(walk.with_snapshot(snapshot).with_table(table));
        state.found = ScanPhase::Rows {
            recheck: !mvcc || other_shape,
        };
        state
    }
}

impl ScanState {
    /// Fills `hits` with those of the next page. False at the end.
    ///
    /// SAFETY: `scan` is the scan of this state.
    pub unsafe fn next_page(&mut self, scan: pg_sys::IndexScanDesc) -> bool {
        // SAFETY: as promised by the caller.
        let want_tuples = unsafe { (*scan).xs_want_itup };
        let (hits, rows, visible) = (&mut self.hits, &mut self.rows, &mut self.visible);
        hits.clear();
        rows.clear();
        visible.clear();
        self.returned = 0;
        let Some(walk) = &mut self.walk else {
            return false;
        };
        // SAFETY: an index-only scan has a table.
        let mut map = unsafe { VisibilityMap::new((*scan).heapRelation) };
        let found = walk.next(|page, i, hit| {
            hits.push(hit);
            if want_tuples {
                rows.push(page, i);
                visible.push(map.all_see(hit.place));
            }
        });
        drop(map);
        if visible.contains(&true) && !self.meta.holds_of(&Meta::read(self.index)) {
            visible.fill(false);
        }
        found
    }

    /// Whether an index-only scan may return a row. The server would look at the visibility map only
    /// now, when VACUUM may have removed the row from the table, and have marked its page as visible to all.
    ///
    /// SAFETY: as above.
    unsafe fn is_visible(scan: pg_sys::IndexScanDesc, place: u64) -> bool {
        check_for_interrupts();
        let mut tid = item_pointer(place);
        // SAFETY: the table is open, and the snapshot is that of the scan.
        unsafe {
            pg_sys::table_index_fetch_tuple_check(
                (*scan).heapRelation,
                &raw mut tid,
                (*scan).xs_snapshot,
                std::ptr::null_mut(),
            )
        }
    }

    /// SAFETY: as above.
    pub unsafe fn next(&mut self, scan: pg_sys::IndexScanDesc) -> bool {
        // SAFETY: as promised by the caller; the scan has room for as many distances as it has
        // order-by keys.
        unsafe {
            if let ScanPhase::Nearest(nearest) = &mut self.found {
                let walk = self.walk.as_mut().expect("made with it");
                while let Some((hit, distances)) = nearest.next(walk) {
                    if (*scan).xs_want_itup && !Self::is_visible(scan, hit.place) {
                        continue;
                    }
                    for i in 0..(*scan).numberOfOrderBys as usize {
                        let known = self.positions.iter().position(|&p| p == i);
                        let distance = known.map(|k| pg_sys::Datum::from(distances[k].to_bits()));
                        *(*scan).xs_orderbynulls.add(i) = distance.is_none();
                        *(*scan).xs_orderbyvals.add(i) = distance.unwrap_or(pg_sys::Datum::null());
                    }
                    if (*scan).xs_want_itup {
                        self.rows.clear();
                        walk.read(&hit, |page, i| self.rows.push(page, i));
                        set_tuple(scan, self.rows.value(&self.meta, 0));
                    }
                    (*scan).xs_heaptid = item_pointer(hit.place);
                    return true;
                }
                // those without a distance come last
                self.found = ScanPhase::Rows {
                    recheck: (*scan).xs_recheck,
                };
                let parts = if self.nulls_last {
                    vec![Part::Nulls]
                } else {
                    Vec::new()
                };
                let walk = IndexScan::new(self.index, &self.meta, Vec::new(), None, parts);
                let walk = walk.with_snapshot((*scan).xs_snapshot);
                self.walk = Some(walk.with_table((*scan).heapRelation));
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
                    || Self::is_visible(scan, hit.place);
                if wanted {
                    break (number, hit);
                }
            };
            (*scan).xs_heaptid = item_pointer(hit.place);
            (*scan).xs_recheck = recheck;
            for i in 0..(*scan).numberOfOrderBys as usize {
                *(*scan).xs_orderbyvals.add(i) = pg_sys::Datum::null();
                *(*scan).xs_orderbynulls.add(i) = true;
            }
            if (*scan).xs_want_itup {
                set_tuple(scan, self.rows.value(&self.meta, number));
            }
            true
        }
    }
}
