//! Which rows all snapshots see, so that a scan of an index need not look at the table.

use pgrx::pg_sys;

use crate::tid::Tid;

/// The table's visibility map, a page of it pinned.
pub struct VisibilityMap {
    table: pg_sys::Relation,
    buffer: pg_sys::Buffer,
}

impl VisibilityMap {
    /// # Safety
    /// If the map is asked, `table` is open as long.
    pub unsafe fn new(table: pg_sys::Relation) -> VisibilityMap {
        let buffer = pg_sys::InvalidBuffer as pg_sys::Buffer;
        VisibilityMap { table, buffer }
    }

    /// Whether all snapshots see all rows of the table's page that the tid is in.
    ///
    /// To be asked while the page with the index's row is locked, or pinned, which must be one that VACUUM would
    /// clean: VACUUM takes the row from the index first and sets the map afterwards. So the row is there.
    pub fn all_see(&mut self, tid: Tid) -> bool {
        let block = tid.block();
        // SAFETY: the table is open, as new() was promised; the server pins a page of the map, and lets go of the one
        // before.
        let status =
            unsafe { pg_sys::visibilitymap_get_status(self.table, block, &raw mut self.buffer) };
        u32::from(status) & pg_sys::VISIBILITYMAP_ALL_VISIBLE != 0
    }
}

impl Drop for VisibilityMap {
    fn drop(&mut self) {
        if self.buffer != pg_sys::InvalidBuffer as pg_sys::Buffer && !std::thread::panicking() {
            // SAFETY: all_see() has pinned it.
            unsafe { pg_sys::ReleaseBuffer(self.buffer) };
        }
    }
}
