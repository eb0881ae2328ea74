//! The prepared guards of this session's triggers. A guard is prepared again when something that it depends on has
//! changed.

use base::Result;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Once;

use pgrx::pg_sys;

use super::call::TriggerCall;
use super::first_use;
use crate::guard::prepared::PreparedGuard;
use crate::guard::tables::partition_tree;
use pg::session_state::map_bytes;
use pg::{entry, ffi};

pg::session_state! {
    static GUARDS: RefCell<HashMap<pg_sys::Oid, Rc<PreparedGuard>>> = RefCell::default();
    "guards" by "trigger" until "a table that it depends on changes, or a schema, and a guard is prepared"
        bytes |guards| {
            let guards = guards.borrow();
            let of_guard = |guard: &Rc<PreparedGuard>| size_of_val(&**guard) + size_of_val(&guard.targets[..]);
            map_bytes(&guards) + guards.values().map(of_guard).sum::<usize>()
        };
    /// Counts invalidations.
    static CHANGES: Cell<u64> = Cell::default();
    "changes of tables and schemas" by "all of them" until "the session ends";
}

/// The guard of the trigger that has fired. All tables that it reads are locked.
///
/// Errors: as for [`first_use::prepare`].
pub fn guard(call: &TriggerCall) -> Result<Rc<PreparedGuard>> {
    listen();
    // A partition can be attached while the tables are locked, and even while the statement runs.
    // SAFETY: a trigger runs in a transaction. Locking a table takes in invalidations in the same way.
    unsafe { ffi::AcceptInvalidationMessages() };
    let trigger = call.trigger().tgoid;
    if let Some(known) = GUARDS.with_borrow(|guards| guards.get(&trigger).cloned()) {
        // Taking the locks also takes in the invalidations of those who have changed one of the tables meanwhile.
        if known.valid.get() {
            known.locked.iter().for_each(|&t| partition_tree::lock(t));
        }
        if known.valid.get() {
            return Ok(known);
        }
    }
    let before = CHANGES.get();
    let guard = Rc::new(first_use::prepare(call)?);
    // What has changed while this was prepared may not be in it. Then it is used once, and prepared again.
    guard.valid.set(CHANGES.get() == before);
    let gone: Vec<Rc<PreparedGuard>> = GUARDS.with_borrow_mut(|guards| {
        let stale = |(&t, guard): (&pg_sys::Oid, &mut Rc<PreparedGuard>)| {
            (t == trigger || !guard.valid.get()).then_some(t)
        };
        let stale: Vec<_> = guards.iter_mut().filter_map(stale).collect();
        let gone = stale.iter().filter_map(|t| guards.remove(t)).collect();
        guards.insert(trigger, guard.clone());
        gone
    });
    // Freeing a guard calls the server, so it is done when the map is no longer borrowed.
    drop(gone);
    Ok(guard)
}

fn listen() {
    static LISTENING: Once = Once::new();
    // SAFETY: both callbacks are functions of this library, which stays loaded for the life of the session.
    LISTENING.call_once(|| unsafe {
        pg_sys::CacheRegisterRelcacheCallback(Some(forget), pg_sys::Datum::null());
        let schemas = pg_sys::SysCacheIdentifier::NAMESPACEOID as i32;
        pg_sys::CacheRegisterSyscacheCallback(schemas, Some(forget_all), pg_sys::Datum::null());
    });
}

/// A relation has changed, or all of them if its OID is invalid.
///
/// # Safety
/// The server calls it, as a callback of the relation cache.
#[entry]
unsafe extern "C-unwind" fn forget(_argument: pg_sys::Datum, relation: pg_sys::Oid) {
    CHANGES.set(CHANGES.get().wrapping_add(1));
    GUARDS.with_borrow(|guards| {
        for guard in guards.values() {
            if relation == pg_sys::InvalidOid || guard.watched.contains(&relation) {
                guard.valid.set(false);
            }
        }
    });
}

/// A schema has changed, so a name may now be that of another table.
///
/// # Safety
/// The server calls it, as a callback of the cache of schemas.
#[entry]
unsafe extern "C-unwind" fn forget_all(_argument: pg_sys::Datum, _cache: i32, _hash: u32) {
    CHANGES.set(CHANGES.get().wrapping_add(1));
    GUARDS.with_borrow(|guards| guards.values().for_each(|guard| guard.valid.set(false)));
}
