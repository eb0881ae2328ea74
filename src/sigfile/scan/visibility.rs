//! Which rows the snapshot sees.

use pgrx::pg_sys;

/// The table's visibility map, a page of it pinned.
pub struct VisibilityMap {
    table: pg_sys::Relation,
    buffer: pg_sys::Buffer,
}

impl VisibilityMap {
    /// SAFETY: `table` is open as long as the map is asked.
    pub unsafe fn new(table: pg_sys::Relation) -> VisibilityMap {
        let buffer = pg_sys::InvalidBuffer as pg_sys::Buffer;
        VisibilityMap { table, buffer }
    }

    /// All snapshots see all rows of the page that has this place.
    ///
    /// To be asked while the page with the index's row is locked, and that being one that VACUUM would
    /// clean: VACUUM takes the row from the index first and sets the map afterwards. So the row is there.
    pub fn all_see(&mut self, place: u64) -> bool {
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
