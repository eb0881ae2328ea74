//! What a session keeps between calls. Each place declares it by [`session_state!`](crate::session_state!), which says
//! by what it is found, what ends it, and how large it is; so [`entries`] can tell what is there. `tests/rooms.test.sh`
//! finds other places.

use std::cell::RefCell;
use std::collections::HashMap;

/// What is kept in one place.
#[derive(Clone, Copy)]
pub struct Entry {
    pub name: &'static str,
    pub key: &'static str,
    /// What ends it, or makes it be made again.
    pub until: &'static str,
    /// How large it is now, which the server's memory contexts do not show for memory of Rust's.
    pub bytes: fn() -> usize,
}

thread_local! {
    static ENTRIES: RefCell<Vec<Entry>> = const { RefCell::new(Vec::new()) };
}

/// All that this session has used so far, in that order.
pub fn entries() -> Vec<Entry> {
    ENTRIES.with_borrow(Vec::clone)
}

/// Called by [`session_state!`](crate::session_state!) when something is used for the first time.
pub fn register(entry: Entry) {
    ENTRIES.with_borrow_mut(|entries| entries.push(entry));
}

/// Bytes of what a map has allocated itself.
pub fn map_bytes<K, V>(map: &HashMap<K, V>) -> usize {
    map.capacity() * (size_of::<(K, V)>() + 1)
}

/// Declares what a session keeps, as `thread_local!` does, with a name for those who look at the session. `bytes` is
/// given where it refers to memory beyond its own size.
///
/// ```ignore
/// session_state! {
///     /// Documentation.
///     static KNOWN: RefCell<HashMap<Oid, f64>> = RefCell::default();
///     "what is known" by "relation" until "the relation changes" bytes |known| map_bytes(&known.borrow());
/// }
/// ```
#[macro_export]
macro_rules! session_state {
    (@bytes $bytes:expr) => { $bytes };
    (@bytes) => { |_| 0 };
    ($(
        $(#[$doc:meta])* $vis:vis static $place:ident: $type:ty = $initial:expr;
        $name:literal by $key:literal until $until:literal $(bytes $bytes:expr)?;
    )*) => {
        ::std::thread_local! { $(
            $(#[$doc])* $vis static $place: $type = {
                $crate::session_state::register($crate::session_state::Entry {
                    name: $name,
                    key: $key,
                    until: $until,
                    bytes: || {
                        let bytes: fn(&$type) -> usize = $crate::session_state!(@bytes $($bytes)?);
                        $place.with(|kept| ::std::mem::size_of::<$type>() + bytes(kept))
                    },
                });
                $initial
            };
        )* }
    };
}
