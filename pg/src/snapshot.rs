//! Snapshots for scans of tables that change meanwhile.

use std::rc::Rc;

use pgrx::pg_sys;

/// A snapshot for as long as this is held.
#[derive(Clone)]
pub struct ScanSnapshot {
    pointer: pg_sys::Snapshot,
    _registered: Option<Rc<Registered>>,
}

struct Registered(pg_sys::Snapshot);

impl ScanSnapshot {
    pub fn pointer(&self) -> pg_sys::Snapshot {
        self.pointer
    }

    /// The pointer, if it is a snapshot that [`dirty`] has made.
    pub fn as_dirty(&self) -> Option<*mut pg_sys::SnapshotData> {
        // SAFETY: whoever has made this keeps the snapshot as long.
        let of_type = unsafe { (*self.pointer).snapshot_type };
        (of_type == pg_sys::SnapshotType::SNAPSHOT_DIRTY).then_some(self.pointer)
    }

    /// That of the query that runs, which keeps it.
    pub fn active() -> ScanSnapshot {
        // SAFETY: functions and triggers run with a snapshot.
        let pointer = unsafe { pg_sys::GetActiveSnapshot() };
        ScanSnapshot {
            pointer,
            _registered: None,
        }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        // After an error the server lets go of it.
        if !std::thread::panicking() {
            // SAFETY: now() has registered it.
            unsafe { pg_sys::UnregisterSnapshot(self.0) };
        }
    }
}

/// What is committed now, and all that this transaction has done, the running command included.
///
/// SnapshotSelf would say the same of one version of a row. But it looks at each version at another moment, so that a scan of
/// an index finds none of a row that another transaction changes while the scan is between the old version and the new one.
pub fn now() -> ScanSnapshot {
    // SAFETY: a transaction runs. What is registered is a copy of the server's variable, so that nobody else has it.
    let pointer = unsafe {
        let pointer = pg_sys::RegisterSnapshot(pg_sys::GetLatestSnapshot());
        (*pointer).curcid = pg_sys::InvalidCommandId;
        pointer
    };
    ScanSnapshot {
        pointer,
        _registered: Some(Rc::new(Registered(pointer))),
    }
}

/// What is not committed, too. It says of the row that it has seen last who changes it. It lives as long as the current memory
/// context.
///
/// Such a scan may miss a row that is changed meanwhile: see [`now`].
pub fn dirty() -> ScanSnapshot {
    // SAFETY: the snapshot is zeroed but for its type, as InitDirtySnapshot() leaves it.
    let pointer = unsafe {
        let dirty: pg_sys::Snapshot = pg_sys::palloc0(size_of::<pg_sys::SnapshotData>()).cast();
        (*dirty).snapshot_type = pg_sys::SnapshotType::SNAPSHOT_DIRTY;
        dirty
    };
    ScanSnapshot {
        pointer,
        _registered: None,
    }
}

/// What is committed now, and all that this transaction has done, for a look at one version of a row.
pub fn of_version() -> pg_sys::Snapshot {
    &raw mut pg_sys::SnapshotSelfData
}
