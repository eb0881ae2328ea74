//! Functions for the DBA: what is in an index, whether it is sound, and making it compact.

mod check;
mod stats;

use std::ffi::CStr;

use bloom_ident_core::{Error, ErrorKind};
use pgrx::{pg_sys, PgSqlErrorCode};

use crate::pg::error::{raise_as, OrRaise};
use crate::pg::{entry, ffi};
use crate::sigfile::is_sigfile;
use crate::sigfile::meta::Meta;
use crate::sigfile::page::SigfileIndex;
use crate::sigfile::write::{compact, MergeLock};

/// A sigfile index and its table, open and locked until the end of the transaction.
struct OpenedSigfile {
    index: SigfileIndex,
    heap: pg_sys::Relation,
    lock: pg_sys::LOCKMODE,
}

impl Drop for OpenedSigfile {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            // SAFETY: open since construction.
            unsafe {
                pg_sys::index_close(self.index.relation, self.lock);
                pg_sys::table_close(self.heap, self.lock);
            }
        }
    }
}

fn fail(code: PgSqlErrorCode, message: String) -> ! {
    raise_as(code, &Error::new(ErrorKind::InvalidParameter, message))
}

impl OpenedSigfile {
    /// Opens the table first, as everybody does.
    fn new(oid: pg_sys::Oid, lock: u32, owner_only: bool) -> OpenedSigfile {
        let lock = lock as pg_sys::LOCKMODE;
        // SAFETY: catalog look-ups, and relations opened with a lock.
        unsafe {
            let is_index = pg_sys::get_rel_relkind(oid) as u8 == pg_sys::RELKIND_INDEX;
            let table = if is_index {
                pg_sys::IndexGetRelation(oid, true)
            } else {
                pg_sys::InvalidOid
            };
            let name = || {
                let name = pg_sys::get_rel_name(oid);
                if name.is_null() {
                    oid.to_u32().to_string()
                } else {
                    CStr::from_ptr(name).to_string_lossy().into_owned()
                }
            };
            if pg_sys::get_rel_relkind(oid) == 0 || (is_index && table == pg_sys::InvalidOid) {
                // dropped meanwhile
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
            // before anybody has to wait for a lock
            if !may(oid, table, owner_only) {
                denied();
            }
            let heap = ffi::table_open(table, lock);
            let relation = ffi::index_open(oid, lock);
            let opened = OpenedSigfile {
                index: SigfileIndex::new(relation),
                heap,
                lock,
            };
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
            if !may(oid, table, owner_only) {
                denied();
            }
            opened
        }
    }
}

/// Owners may do all; who may read the table may look.
///
/// SAFETY: in a transaction.
unsafe fn may(index: pg_sys::Oid, table: pg_sys::Oid, owner_only: bool) -> bool {
    // SAFETY: as promised by the caller.
    unsafe {
        let select = pg_sys::AclMode::from(pg_sys::ACL_SELECT);
        owns(index)
            || (!owner_only
                && pg_sys::pg_class_aclcheck(table, pg_sys::GetUserId(), select)
                    == pg_sys::AclResult::ACLCHECK_OK)
    }
}

/// SAFETY: in a transaction.
unsafe fn owns(relation: pg_sys::Oid) -> bool {
    // SAFETY: as promised by the caller.
    unsafe {
        #[cfg(feature = "pg15")]
        return pg_sys::pg_class_ownercheck(relation, pg_sys::GetUserId());
        #[cfg(not(feature = "pg15"))]
        return pg_sys::object_ownercheck(
            pg_sys::RelationRelationId,
            relation,
            pg_sys::GetUserId(),
        );
    }
}

/// Seals the tail and merges all segments. Returns how many are left.
#[entry]
fn bloom_sigfile_merge(oid: pg_sys::Oid) -> i32 {
    // SAFETY: asks for a state of the server.
    if unsafe { pg_sys::RecoveryInProgress() } {
        fail(
            PgSqlErrorCode::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
            "recovery is in progress".into(),
        );
    }
    let opened = OpenedSigfile::new(oid, pg_sys::ShareUpdateExclusiveLock, true);
    let lock = MergeLock::wait(opened.index, opened.heap);
    compact(&lock, true).or_raise();
    lock.sweep().or_raise();
    let left = Meta::read(opened.index).segments.len();
    drop(lock);
    left as i32
}
