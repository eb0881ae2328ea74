//! Snapshots other than those of queries.

use pgrx::pg_sys;

/// One that sees what is committed now, and all that this transaction has done.
pub fn now() -> pg_sys::Snapshot {
    &raw mut pg_sys::SnapshotSelfData
}

/// One that sees what is not committed, too, and says of the row that it has seen last who changes it; as long as the
/// current memory context.
pub fn dirty() -> pg_sys::Snapshot {
    // SAFETY: the snapshot is zeroed but for its type, as InitDirtySnapshot() leaves it.
    unsafe {
        let dirty: pg_sys::Snapshot = pg_sys::palloc0(size_of::<pg_sys::SnapshotData>()).cast();
        (*dirty).snapshot_type = pg_sys::SnapshotType::SNAPSHOT_DIRTY;
        dirty
    }
}

/// The snapshot, if it is one that [`dirty`] has made.
///
/// # Safety
/// It lives as long as the result is used.
pub unsafe fn as_dirty(snapshot: pg_sys::Snapshot) -> Option<*mut pg_sys::SnapshotData> {
    // SAFETY: the caller's.
    let of_type = unsafe { (*snapshot).snapshot_type };
    (of_type == pg_sys::SnapshotType::SNAPSHOT_DIRTY).then_some(snapshot)
}
