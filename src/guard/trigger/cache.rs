//! Prepared guards of this session's triggers, forgotten when something that they depend on changes.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use pgrx::pg_sys;

use super::call::TriggerCall;
use crate::guard::prepared::PreparedGuard;
use crate::guard::tables::target;
use crate::pg::message::Result;
use crate::pg::{entry, ffi};

thread_local! {
    static GUARDS: RefCell<HashMap<pg_sys::Oid, Rc<PreparedGuard>>> = RefCell::default();
    /// Counts invalidations.
    static CHANGES: Cell<u64> = const { Cell::new(0) };
    static LISTENING: Cell<bool> = const { Cell::new(false) };
}

/// The guard of the trigger that has fired; all that it reads is locked.
pub fn guard(call: &TriggerCall) -> Result<Rc<PreparedGuard>> {
    listen();
    // A partition can be attached while tables are locked, and even while the statement runs.
    // SAFETY: in a transaction; what locking a table does, too.
    unsafe { ffi::AcceptInvalidationMessages() };
    let trigger = call.trigger().tgoid;
    if let Some(known) = GUARDS.with_borrow(|guards| guards.get(&trigger).cloned()) {
        // whoever has changed one of these meanwhile is heard of when it is locked
        if known.valid.get() {
            known.locked.iter().for_each(|&table| target::lock(table));
        }
        if known.valid.get() {
            return Ok(known);
        }
    }
    let before = CHANGES.get();
    let guard = Rc::new(PreparedGuard::prepare(call)?);
    // what changed while this was prepared may have come too late: used once, then prepared again
    guard.valid.set(CHANGES.get() == before);
    let gone: Vec<Rc<PreparedGuard>> = GUARDS.with_borrow_mut(|guards| {
        let stale = |(&t, g): (&pg_sys::Oid, &mut Rc<PreparedGuard>)| {
            (t == trigger || !g.valid.get()).then_some(t)
        };
        let stale: Vec<_> = guards.iter_mut().filter_map(stale).collect();
        let gone = stale.iter().filter_map(|t| guards.remove(t)).collect();
        guards.insert(trigger, guard.clone());
        gone
    });
    // here, since freeing calls the server
    drop(gone);
    Ok(guard)
}

fn listen() {
    if !LISTENING.replace(true) {
        // SAFETY: the functions stay for the life of the session.
        unsafe {
            pg_sys::CacheRegisterRelcacheCallback(Some(forget), pg_sys::Datum::null());
            let schemas = pg_sys::SysCacheIdentifier::NAMESPACEOID as i32;
            pg_sys::CacheRegisterSyscacheCallback(schemas, Some(forget_all), pg_sys::Datum::null());
        }
    }
}

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

/// A schema has changed, so a name may be that of another table.
#[entry]
unsafe extern "C-unwind" fn forget_all(_argument: pg_sys::Datum, _cache: i32, _hash: u32) {
    CHANGES.set(CHANGES.get().wrapping_add(1));
    GUARDS.with_borrow(|guards| guards.values().for_each(|guard| guard.valid.set(false)));
}
