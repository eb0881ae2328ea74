//! Reading and changing the metapage, whose words the core knows ([`sigfile::meta`]).
//!
//! A process that holds the merge lock (see `write::merge_lock`) may publish segments, and take blocks from the free
//! lists. A process that holds the metapage's buffer locked exclusively may lengthen a tail, and needs no merge lock:
//! that is why a tail page comes from the stock on the metapage, and never from a free list.

use base::{Error, ErrorKind, Result};
use pgrx::pg_sys;
use sigfile::Meta;

use crate::class::has_thresholds;
use crate::class::leading::leading_columns;
use crate::page::{ExclusiveLock, PageGuard, PageKind, PageLock, SigfileIndex, META, PAGE_WORDS};
use crate::stale;
use pg::error::OrRaise;

/// What the metapage of an empty index says.
pub fn empty(index: SigfileIndex<'_>) -> Meta {
    let mut identity = [0u8; 8];
    // SAFETY: pointer and length of an array.
    let random = unsafe { pg_sys::pg_strong_random(identity.as_mut_ptr().cast(), identity.len()) };
    if !random {
        pg::error::internal!("could not generate a random number");
    }
    let (identity, thresholds) = (u64::from_le_bytes(identity), has_thresholds(index));
    let keys = leading_columns(index) > 0;
    Meta::new(PAGE_WORDS, identity, thresholds, keys).or_raise()
}

/// Whether the metapage says of rows what the columns of the index do.
pub fn fits(meta: &Meta, index: SigfileIndex<'_>) -> bool {
    meta.thresholds() == has_thresholds(index) && meta.keys() == (leading_columns(index) > 0)
}

/// What the words of the index's metapage say.
///
/// Errors: another format; damage.
pub fn of_words(index: SigfileIndex<'_>, words: &[u64]) -> Result<Meta> {
    let wrong = |error: Error| match error.kind() {
        ErrorKind::NewerFormat | ErrorKind::OlderFormat => {
            stale::error(&format!("index \"{}\"", index.name()), &error)
        }
        _ => index.damaged(META, error.message()),
    };
    Meta::decode(words).map_err(wrong)
}

/// What a page that is held says.
///
/// Errors: damage.
pub fn of_page<L: PageLock>(page: &PageGuard<'_, L>) -> Meta {
    try_of_page(page).or_raise()
}

fn try_of_page<L: PageLock>(page: &PageGuard<'_, L>) -> Result<Meta> {
    let index = page.index();
    if !page.is(PageKind::Meta, 0) {
        return Err(index.damaged(META, "the page is no metapage"));
    }
    of_words(index, page.words())
}

/// The metapage as it is now, for a scan.
///
/// Errors: damage; a snapshot that is too old.
///
/// # Safety
/// `snapshot` is NULL, or that of a running scan.
pub unsafe fn read_for(index: SigfileIndex<'_>, snapshot: pg_sys::Snapshot) -> Meta {
    let page = index.share(META);
    // SAFETY: the caller knows that the snapshot is there.
    unsafe { page.test_old_snapshot(snapshot) };
    of_page(&page)
}

/// The metapage as it is now.
///
/// Errors: damage.
pub fn read(index: SigfileIndex<'_>) -> Meta {
    of_page(&index.share(META))
}

/// The metapage as it is now, for who can do without it.
///
/// Errors, which are returned: another format; damage.
pub fn try_read(index: SigfileIndex<'_>) -> Result<Meta> {
    if index.blocks() == 0 {
        return Err(index.damaged(META, "the index has no blocks"));
    }
    try_of_page(&index.share(META))
}

/// Changes the metapage.
///
/// Errors: more than it holds.
pub fn store(meta: &Meta, page: &mut PageGuard<'_, ExclusiveLock>) {
    meta.check_size().or_raise();
    page.change(|words| meta.encode(words));
}

/// Changes what the metapage says now. Returns what it says then.
///
/// Errors: damage; more than it holds.
pub fn change(index: SigfileIndex<'_>, change: impl FnOnce(&mut Meta)) -> Meta {
    let mut page = index.exclusive(META);
    let mut meta = of_page(&page);
    change(&mut meta);
    store(&meta, &mut page);
    meta
}
