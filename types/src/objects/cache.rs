//! What was found, kept for the session until some function changes.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::Once;

use pgrx::pg_sys;

use super::purpose::{Function, Purpose};
use pg::entry;
use pg::session_state::map_bytes;

/// Functions to be kept in mind, at most; a session asks for those that stand in comparisons of numbers.
const MOST: usize = 1024;

/// What is looked for, beside which function, and for which type of signatures.
type Wanted = (Purpose, [pg_sys::Oid; 2]);

pg::session_state! {
    /// `None` for a function that is none of ours.
    pub static KNOWN: RefCell<HashMap<pg_sys::Oid, Option<Function>>> = RefCell::default();
    "functions" by "OID" until "a function changes" bytes |known| map_bytes(&known.borrow());
    /// What [`super::beside`] has found.
    pub static BESIDE: RefCell<HashMap<Wanted, Option<pg_sys::Oid>>> = RefCell::default();
    "functions beside functions" by "purpose, function and type" until "a function changes"
        bytes |beside| map_bytes(&beside.borrow());
    /// Counts what has made both forget.
    static CHANGES: Cell<u64> = Cell::default();
    "changes of functions" by "all functions" until "the session ends";
}

/// Has the server call [`forget`].
fn listen() {
    static LISTENING: Once = Once::new();
    // SAFETY: the function stays for the life of the session.
    LISTENING.call_once(|| unsafe {
        pg_sys::CacheRegisterSyscacheCallback(
            pg_sys::SysCacheIdentifier::PROCOID as i32,
            Some(forget),
            pg_sys::Datum::null(),
        );
    });
}

/// The server calls it during catalog look-ups; none is made while one of the maps is borrowed.
#[entry]
unsafe extern "C-unwind" fn forget(_argument: pg_sys::Datum, _cache: c_int, _hash: u32) {
    CHANGES.set(CHANGES.get().wrapping_add(1));
    KNOWN.with_borrow_mut(HashMap::clear);
    BESIDE.with_borrow_mut(HashMap::clear);
}

/// What is known of `key`, or what `find` finds, which is kept if nothing has changed meanwhile.
pub fn kept<K: Copy + Eq + std::hash::Hash, V: Copy>(
    map: &'static std::thread::LocalKey<RefCell<HashMap<K, V>>>,
    key: K,
    find: impl FnOnce() -> V,
) -> V {
    listen();
    if let Some(value) = map.with_borrow(|map| map.get(&key).copied()) {
        return value;
    }
    let before = CHANGES.get();
    let value = find();
    if CHANGES.get() == before {
        map.with_borrow_mut(|map| {
            if map.len() >= MOST {
                map.clear();
            }
            map.insert(key, value);
        });
    }
    value
}
