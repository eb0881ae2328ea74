//! The server's side of a scan: keys in, table places out.

use bloom_ident_core::bits::to_bytes;
use bloom_ident_core::filter::{Shape, View};
use bloom_ident_core::sigfile::{Query, RowPage};
use pgrx::pg_sys;

use super::meta::{Meta, Part};
use super::nearest::{Nearest, MAX_KEYS};
use super::page::Index;
use super::scan::{query_words, Condition, Hit, Walk};
use super::vacuum::item_pointer;
use crate::pg::error::OrRaise;
use crate::pg::{check_for_interrupts, entry};
use crate::settings;
use crate::types::{build, Bloom, BloomQuery};

/// Strategy numbers of both operator classes, one for each pair of types: exclusion checks leave
/// the subtype of a scan key unset, and both are in one family.
pub mod strategy {
    pub const SIMILAR: u16 = 1;
    pub const MATCHES: u16 = 2;
    pub const EQUAL: u16 = 3;
    pub const COVERS: u16 = 4;
    pub const COVERED_BY: u16 = 5;
    pub const DISTANCE: u16 = 6;
    /// bloom_query % bloom_query
    pub const MATCH: u16 = 7;
    /// bloom_query % bloom
    pub const MATCHES_SIGNATURE: u16 = 8;
    /// `~%`, to which the planner turns `%` with the column on the right.
    pub const SIMILAR_COMMUTED: u16 = 9;
    pub const COUNT: u16 = 9;

    /// The left-hand side is a query, whose threshold counts.
    pub fn is_keyed(number: u16) -> bool {
        matches!(number, MATCH | MATCHES_SIGNATURE)
    }
}

/// What a scan finds.
enum Found {
    Nothing,
    /// Rows in no order; all of them have to be checked again where `recheck`.
    Rows {
        recheck: bool,
    },
    /// Rows by distance.
    Nearest(Nearest),
}

/// Values of rows, copied: how many a scan leaves unread is not known, so they are in no memory of the
/// server's, which would be free only when the query ends.
#[derive(Default)]
struct Rows {
    /// For each the bits, its threshold, and 1 if it has no signature.
    words: Vec<u64>,
    stride: usize,
}

impl Rows {
    fn clear(&mut self) {
        self.words.clear();
    }

    fn push(&mut self, page: &RowPage<'_>, i: usize) {
        let row = page.row(i);
        self.stride = row.words.len();
        let missing = row.popcount == page.geometry().null_popcount();
        self.words.extend_from_slice(row.words);
        self.words
            .extend([row.threshold.to_bits(), u64::from(missing)]);
    }

    /// The value as the server wants it, in the memory of the current context; NULL is a null pointer.
    fn value(&self, meta: &Meta, i: usize) -> pg_sys::Datum {
        let width = self.stride + 2;
        let row = &self.words[i * width..(i + 1) * width];
        let (words, rest) = row.split_at(self.stride);
        if rest[1] == 1 {
            return pg_sys::Datum::null();
        }
        let count: u32 = words.iter().map(|w| w.count_ones()).sum();
        let shape = Shape::of_tag(meta.shape);
        let bits = shape.m().div_ceil(8) as usize;
        let header = bloom_ident_core::filter::HEADER;
        let size = header + bits + if meta.thresholds { 8 } else { 0 };
        let made = build(size, |to| {
            to[..8].copy_from_slice(&meta.shape.to_le_bytes());
            to[8..12].copy_from_slice(&count.to_le_bytes());
            to_bytes(words, &mut to[header..header + bits]);
            if meta.thresholds {
                to[header + bits..].copy_from_slice(&rest[0].to_le_bytes());
            }
            Ok(())
        });
        pg_sys::Datum::from(made.or_raise())
    }
}

/// The table's visibility map, a page of it pinned.
struct VisibilityMap {
    table: pg_sys::Relation,
    buffer: pg_sys::Buffer,
}

impl VisibilityMap {
    /// SAFETY: `table` is open as long as the map is asked.
    unsafe fn new(table: pg_sys::Relation) -> VisibilityMap {
        let buffer = pg_sys::InvalidBuffer as pg_sys::Buffer;
        VisibilityMap { table, buffer }
    }

    /// All snapshots see all rows of the page that has this place.
    ///
    /// To be asked while the page with the index's row is locked, and that being one that VACUUM would
    /// clean: VACUUM takes the row from the index first and sets the map afterwards. So the row is there.
    fn all_see(&mut self, place: u64) -> bool {
        let block = (place >> 16) as u32;
        // SAFETY: as promised to new().
        let status =
            unsafe { pg_sys::visibilitymap_get_status(self.table, block, &raw mut self.buffer) };
        u32::from(status) & pg_sys::VISIBILITYMAP_ALL_VISIBLE != 0
    }
}

impl Drop for VisibilityMap {
    fn drop(&mut self) {
        if self.buffer != pg_sys::InvalidBuffer as pg_sys::Buffer && !std::thread::panicking() {
            // SAFETY: pinned by all_see().
            unsafe { pg_sys::ReleaseBuffer(self.buffer) };
        }
    }
}

/// State of a scan. Nothing in it is pinned between two calls.
struct State {
    index: Index,
    meta: Meta,
    walk: Option<Walk>,
    found: Found,
    /// Of one page.
    hits: Vec<Hit>,
    /// How many of them were returned.
    returned: usize,
    /// What an index-only scan needs of these rows.
    rows: Rows,
    /// Which of them the scan's snapshot sees for sure.
    visible: Vec<bool>,
    /// Rows without a signature come after the nearest.
    missing: bool,
    /// Which order-by keys the nearest are near to.
    positions: Vec<usize>,
}

/// What belongs to a scan. An exclusion check begins one for each row, in memory that is freed when the statement ends. So a
/// scan has a memory context of its own, which amendscan deletes: that drops this. After an ERROR the server deletes
/// it together with what it is in.
struct Own {
    context: pg_sys::MemoryContext,
    state: Option<State>,
}

#[entry]
pub unsafe extern "C-unwind" fn ambeginscan(
    relation: pg_sys::Relation,
    keys: i32,
    order_bys: i32,
) -> pg_sys::IndexScanDesc {
    // SAFETY: called by the server, which frees what RelationGetIndexScan() makes when the scan ends.
    unsafe {
        let scan = pg_sys::RelationGetIndexScan(relation, keys, order_bys);
        let context = pg_sys::AllocSetContextCreateInternal(
            pg_sys::CurrentMemoryContext,
            c"sigfile scan".as_ptr(),
            pg_sys::ALLOCSET_SMALL_MINSIZE as usize,
            pg_sys::ALLOCSET_SMALL_INITSIZE as usize,
            pg_sys::ALLOCSET_SMALL_MAXSIZE as usize,
        );
        let size = size_of::<pg_sys::MemoryContextCallback>();
        let callback: *mut pg_sys::MemoryContextCallback =
            pg_sys::MemoryContextAllocZero(context, size).cast();
        let own = Box::new(Own {
            context,
            state: None,
        });
        (*scan).opaque = Box::into_raw(own).cast();
        (*callback).func = Some(drop_own);
        (*callback).arg = (*scan).opaque;
        pg_sys::MemoryContextRegisterResetCallback(context, callback);
        (*scan).xs_itupdesc = (*relation).rd_att;
        // the server does not set these, and asks for them
        (*scan).xs_recheck = false;
        (*scan).xs_recheckorderby = false;
        if order_bys > 0 {
            let n = order_bys as usize;
            let values = pg_sys::MemoryContextAllocZero(context, n * size_of::<pg_sys::Datum>());
            (*scan).xs_orderbyvals = values.cast();
            (*scan).xs_orderbynulls = pg_sys::MemoryContextAllocZero(context, n).cast();
        }
        scan
    }
}

/// When the context of a scan is deleted.
#[entry]
unsafe extern "C-unwind" fn drop_own(own: *mut std::ffi::c_void) {
    // SAFETY: registered with what ambeginscan has made, and called once.
    drop(unsafe { Box::from_raw(own.cast::<Own>()) });
}

/// SAFETY: `scan` was begun by [`ambeginscan`] and not ended.
unsafe fn own<'a>(scan: pg_sys::IndexScanDesc) -> &'a mut Own {
    // SAFETY: as promised by the caller.
    unsafe { &mut *(*scan).opaque.cast::<Own>() }
}

#[entry]
pub unsafe extern "C-unwind" fn amrescan(
    scan: pg_sys::IndexScanDesc,
    keys: pg_sys::ScanKey,
    key_count: i32,
    order_bys: pg_sys::ScanKey,
    order_by_count: i32,
) {
    // SAFETY: called by the server with as many keys as it says; keys may be left as they were.
    unsafe {
        if !keys.is_null() && key_count > 0 {
            std::ptr::copy(keys, (*scan).keyData, key_count as usize);
        }
        if !order_bys.is_null() && order_by_count > 0 {
            std::ptr::copy(order_bys, (*scan).orderByData, order_by_count as usize);
        }
        // what the scan asks for is read when the first row is: keys may live shorter than the scan
        own(scan).state = None;
    }
}

/// Reads the keys of a scan.
struct Asked<'a> {
    meta: &'a Meta,
    conditions: Vec<Condition>,
    /// A key of another shape: the operator itself raises the error, for the first row it sees.
    other_shape: bool,
    /// No row fulfils the keys.
    nothing: bool,
    missing: Option<bool>,
}

impl Asked<'_> {
    fn similar(&mut self, view: View<'_>, threshold: f64) {
        match query_words(self.meta, view) {
            Some(words) => {
                let geometry = self.meta.geometry(Part::Signatures);
                let query = Query::new(&geometry, &words, threshold);
                self.conditions.push(Condition::Similar(query));
            }
            None => self.other_shape = true,
        }
    }

    /// SAFETY: `key` is one of the scan's.
    unsafe fn read(&mut self, key: &pg_sys::ScanKeyData) {
        let flags = key.sk_flags as u32;
        if flags & pg_sys::SK_SEARCHNULL != 0 || flags & pg_sys::SK_SEARCHNOTNULL != 0 {
            let wanted = flags & pg_sys::SK_SEARCHNULL != 0;
            self.nothing |= self.missing.is_some_and(|m| m != wanted);
            self.missing = Some(wanted);
            return;
        }
        // operators are strict
        self.nothing |= self.missing == Some(true) || flags & pg_sys::SK_ISNULL != 0;
        self.missing = Some(false);
        if self.nothing || self.meta.shape == 0 {
            self.nothing = true;
            return;
        }
        let argument = key.sk_argument;
        // SAFETY: the right-hand type of each strategy, not NULL.
        unsafe {
            match key.sk_strategy {
                strategy::SIMILAR | strategy::SIMILAR_COMMUTED => {
                    self.similar(Bloom::from_raw(argument).view(), settings::threshold());
                }
                strategy::MATCHES | strategy::MATCH => {
                    let query = BloomQuery::from_raw(argument);
                    self.similar(query.view().signature, query.view().threshold);
                }
                strategy::MATCHES_SIGNATURE => {
                    self.similar(Bloom::from_raw(argument).view(), 0.0);
                }
                strategy::EQUAL => match query_words(self.meta, Bloom::from_raw(argument).view()) {
                    Some(words) => self.conditions.push(Condition::Equal(words)),
                    None => self.nothing = true,
                },
                strategy::COVERS => {
                    match query_words(self.meta, Bloom::from_raw(argument).view()) {
                        Some(words) => self.conditions.push(Condition::Covers(words)),
                        None => self.other_shape = true,
                    }
                }
                strategy::COVERED_BY => {
                    match query_words(self.meta, Bloom::from_raw(argument).view()) {
                        Some(words) => self.conditions.push(Condition::CoveredBy(words)),
                        None => self.other_shape = true,
                    }
                }
                other => crate::pg::error::internal!("unrecognized strategy number: {other}"),
            }
        }
    }
}

/// Chooses the condition that the search goes by, and takes it from the others.
fn leading(meta: &Meta, conditions: &mut Vec<Condition>) -> Option<Query> {
    let geometry = meta.geometry(Part::Signatures);
    // equal signatures, if not empty, are those of similarity 1
    let equal = conditions.iter().find_map(|c| match c {
        Condition::Equal(words) if words.iter().any(|&w| w != 0) => Some(words),
        _ => None,
    });
    if let Some(words) = equal {
        return Some(Query::new(&geometry, words, 1.0));
    }
    let similar = |c: &Condition| match c {
        Condition::Similar(query) => Some(query.threshold()),
        _ => None,
    };
    let best = (0..conditions.len())
        .filter_map(|i| similar(&conditions[i]).map(|t| (i, t)))
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    match conditions.swap_remove(best.0) {
        Condition::Similar(query) => Some(query),
        _ => unreachable!("chosen among the similar"),
    }
}

/// SAFETY: `scan` was begun and has its keys; `table` is open as long as the result is used.
unsafe fn start(scan: pg_sys::IndexScanDesc, table: pg_sys::Relation) -> State {
    // SAFETY: as promised by the caller.
    unsafe {
        let index = Index::new((*scan).indexRelation);
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
        let mut asked = Asked {
            meta: &meta,
            conditions: Vec::new(),
            other_shape: false,
            nothing: false,
            missing: None,
        };
        for key in keys {
            asked.read(key);
        }
        let (nothing, other_shape) = (asked.nothing, asked.other_shape);
        let (missing, mut conditions) = (asked.missing, asked.conditions);
        let parts = match missing {
            Some(true) => vec![Part::Missing],
            Some(false) => vec![Part::Signatures],
            None => Part::ALL.to_vec(),
        };
        let mut state = State {
            index,
            walk: None,
            found: Found::Nothing,
            hits: Vec::new(),
            returned: 0,
            rows: Rows::default(),
            visible: Vec::new(),
            missing: false,
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
        (*scan).xs_recheckorderby = matches!(near, Near::OtherShape);
        if let Near::To(near, positions) = near {
            state.positions = positions;
            state.missing = missing != Some(false);
            let parts = if missing == Some(true) {
                Vec::new()
            } else {
                vec![Part::Signatures]
            };
            let walk = Walk::new(index, &state.meta, conditions, None, parts);
            state.walk = Some(walk.with_snapshot(snapshot).with_table(table));
            state.found = Found::Nearest(Nearest::new(near));
            (*scan).xs_recheck = !mvcc || other_shape;
            return state;
        }
        let leading = if conditions.is_empty() {
            None
        } else {
            leading(&state.meta, &mut conditions)
        };
        let walk = Walk::new(index, &state.meta, conditions, leading, parts);
        let walk = walk.with_thresholds(keyed);
        state.walk = Some(walk.with_snapshot(snapshot).with_table(table));
        state.found = Found::Rows {
            recheck: !mvcc || other_shape,
        };
        state
    }
}

/// SAFETY: `n` keys at `keys`.
unsafe fn slice<'a>(keys: pg_sys::ScanKey, n: i32) -> &'a [pg_sys::ScanKeyData] {
    if keys.is_null() || n <= 0 {
        return &[];
    }
    // SAFETY: as promised by the caller.
    unsafe { std::slice::from_raw_parts(keys, n as usize) }
}

/// What the order-by keys of a scan ask for.
enum Near {
    /// Nothing, or NULL, or there is no signature to compare: all distances are NULL.
    Nowhere,
    /// A signature of another shape.
    OtherShape,
    /// These signatures, and at which position each stands; the others are NULL.
    To(Vec<Query>, Vec<usize>),
}

/// SAFETY: the keys are those of the scan.
unsafe fn near_to(meta: &Meta, keys: &[pg_sys::ScanKeyData]) -> Near {
    if keys.len() > MAX_KEYS {
        crate::pg::error::internal!("sigfile index cannot order by more than {MAX_KEYS} distances");
    }
    if meta.shape == 0 {
        return Near::Nowhere;
    }
    let (mut near, mut positions) = (Vec::new(), Vec::new());
    for (i, key) in keys.iter().enumerate() {
        if key.sk_flags as u32 & pg_sys::SK_ISNULL != 0 {
            continue;
        }
        // SAFETY: the right-hand type of the distance operator.
        let signature = unsafe { Bloom::from_raw(key.sk_argument) };
        let Some(words) = query_words(meta, signature.view()) else {
            return Near::OtherShape;
        };
        near.push(Query::new(&meta.geometry(Part::Signatures), &words, 0.0));
        positions.push(i);
    }
    if near.is_empty() {
        Near::Nowhere
    } else {
        Near::To(near, positions)
    }
}

impl State {
    /// Fills `hits` with those of the next page. False at the end.
    ///
    /// SAFETY: `scan` is the scan of this state.
    unsafe fn next_page(&mut self, scan: pg_sys::IndexScanDesc) -> bool {
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
    unsafe fn next(&mut self, scan: pg_sys::IndexScanDesc) -> bool {
        // SAFETY: as promised by the caller; the scan has room for as many distances as it has
        // order-by keys.
        unsafe {
            if let Found::Nearest(nearest) = &mut self.found {
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
                self.found = Found::Rows {
                    recheck: (*scan).xs_recheck,
                };
                let parts = if self.missing {
                    vec![Part::Missing]
                } else {
                    Vec::new()
                };
                let walk = Walk::new(self.index, &self.meta, Vec::new(), None, parts);
                let walk = walk.with_snapshot((*scan).xs_snapshot);
                self.walk = Some(walk.with_table((*scan).heapRelation));
            }
            let Found::Rows { recheck } = self.found else {
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

/// Returns a value from an index-only scan.
///
/// SAFETY: `scan` is a scan of ours, `value` of the index's type.
unsafe fn set_tuple(scan: pg_sys::IndexScanDesc, value: pg_sys::Datum) {
    // SAFETY: as promised by the caller; the index has one column.
    unsafe {
        if !(*scan).xs_itup.is_null() {
            pg_sys::pfree((*scan).xs_itup.cast());
            (*scan).xs_itup = std::ptr::null_mut();
        }
        let mut values = [value];
        let mut nulls = [value.is_null()];
        // read by itself: the caller holds the state beside it
        let context = (*(*scan).opaque.cast::<Own>()).context;
        let before = pg_sys::MemoryContextSwitchTo(context);
        (*scan).xs_itup =
            pg_sys::index_form_tuple((*scan).xs_itupdesc, values.as_mut_ptr(), nulls.as_mut_ptr());
        pg_sys::MemoryContextSwitchTo(before);
        if !value.is_null() {
            pg_sys::pfree(value.cast_mut_ptr());
        }
    }
}

#[entry]
pub unsafe extern "C-unwind" fn amgettuple(
    scan: pg_sys::IndexScanDesc,
    direction: pg_sys::ScanDirection::Type,
) -> bool {
    // SAFETY: called by the server on a scan of ours. What is kept between two calls lives as long as
    // the scan does.
    unsafe {
        if direction != pg_sys::ScanDirection::ForwardScanDirection {
            crate::pg::error::internal!("sigfile supports only forward scans");
        }
        let state = &mut own(scan).state;
        if state.is_none() {
            *state = Some(start(scan, (*scan).heapRelation));
        }
        let state = state.as_mut().expect("just started");
        state.next(scan)
    }
}

#[entry]
pub unsafe extern "C-unwind" fn amgetbitmap(
    scan: pg_sys::IndexScanDesc,
    bitmap: *mut pg_sys::TIDBitmap,
) -> i64 {
    // SAFETY: as above.
    unsafe {
        // the scan of a bitmap index has no table, which only the scan of its heap knows: read ahead, places beyond its end would fail there
        let index = (*scan).indexRelation;
        let table = pg_sys::RelationIdGetRelation((*(*index).rd_index).indrelid);
        let count = collect(scan, table, bitmap);
        if !table.is_null() {
            pg_sys::RelationClose(table);
        }
        count
    }
}

/// SAFETY: as for [`start`]; `bitmap` takes places.
unsafe fn collect(
    scan: pg_sys::IndexScanDesc,
    table: pg_sys::Relation,
    bitmap: *mut pg_sys::TIDBitmap,
) -> i64 {
    // SAFETY: as promised by the caller.
    unsafe {
        let mut state = start(scan, table);
        let Found::Rows { recheck } = state.found else {
            return 0;
        };
        let mut places = Vec::new();
        let mut count = 0;
        while state.next_page(scan) {
            places.clear();
            places.extend(state.hits.iter().map(|hit| item_pointer(hit.place)));
            pg_sys::tbm_add_tuples(bitmap, places.as_mut_ptr(), places.len() as i32, recheck);
            count += places.len() as i64;
        }
        count
    }
}

#[entry]
pub unsafe extern "C-unwind" fn amendscan(scan: pg_sys::IndexScanDesc) {
    // SAFETY: as above. What an index-only scan has returned last is in the context, and not used any more.
    unsafe {
        let context = own(scan).context;
        (*scan).opaque = std::ptr::null_mut();
        (*scan).xs_itup = std::ptr::null_mut();
        pg_sys::MemoryContextDelete(context);
    }
}

#[entry]
pub unsafe extern "C-unwind" fn amcanreturn(_index: pg_sys::Relation, _column: i32) -> bool {
    true
}
