//! Whether relations have changed since something was found out about them.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::sync::Once;

use pgrx::pg_sys;

use crate::{entry, ffi, session_state};

/// So many of the last changes are known by their relation.
const KNOWN: usize = 1024;

/// The changes that this session has heard of.
#[derive(Default)]
struct Changes {
    /// Of all relations, since the session began to listen.
    count: u64,
    /// The relations of the last ones; an invalid OID stands for all of them.
    last: VecDeque<pg_sys::Oid>,
}

session_state! {
    static CHANGES: RefCell<Changes> = RefCell::default();
    "changes of relations" by "the last ones" until "others have come since"
        bytes |changes| changes.borrow().last.capacity() * size_of::<pg_sys::Oid>();
}

/// Begins to listen, and gives the number of changes so far. What is found out afterwards holds as long as a [`Watch`]
/// from here on says that nothing has changed.
pub fn now() -> u64 {
    static LISTENING: Once = Once::new();
    // SAFETY: the callback is a function of this library, which stays loaded for the life of the session.
    LISTENING.call_once(|| unsafe {
        pg_sys::CacheRegisterRelcacheCallback(Some(heard), pg_sys::Datum::null());
    });
    CHANGES.with_borrow_mut(|changes| {
        changes.last.reserve(KNOWN);
        changes.count
    })
}

/// Relations that are watched.
pub struct Watch {
    relations: Vec<pg_sys::Oid>,
    /// Up to this change none of them has changed.
    seen: Cell<u64>,
}

impl Watch {
    /// `since` is what [`now`] gave before the relations were looked at.
    pub fn new(since: u64, relations: Vec<pg_sys::Oid>) -> Watch {
        Watch {
            relations,
            seen: Cell::new(since),
        }
    }

    /// Whether none of the relations has changed, as far as other sessions have said so. Once it has, this is false for
    /// good.
    pub fn is_unchanged(&self) -> bool {
        // SAFETY: called in a transaction. Locking a relation takes in what others have said in the same way.
        unsafe { ffi::AcceptInvalidationMessages() };
        CHANGES.with_borrow(|changes| {
            let new = (changes.count - self.seen.get()) as usize;
            if new > changes.last.len() {
                return false;
            }
            let mut of_new = changes.last.iter().rev().take(new);
            let concerns = |&relation: &pg_sys::Oid| {
                relation == pg_sys::InvalidOid || self.relations.contains(&relation)
            };
            if of_new.any(concerns) {
                return false;
            }
            self.seen.set(changes.count);
            true
        })
    }
}

/// A relation has changed, or all of them if its OID is invalid.
///
/// # Safety
/// The server calls it, as a callback of the relation cache.
#[entry]
unsafe extern "C-unwind" fn heard(_argument: pg_sys::Datum, relation: pg_sys::Oid) {
    CHANGES.with_borrow_mut(|changes| {
        changes.count += 1;
        if changes.last.len() >= KNOWN {
            changes.last.pop_front();
        }
        changes.last.push_back(relation);
    });
}
