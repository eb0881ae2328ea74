//! Page guards as they are meant to be used: this compiles.

use pg::relation::OpenRelation;
use crate::meta;
use crate::page::{ExclusiveLock, PageGuard, PageKind, PageLock, PageLog, SharedLock, SigfileIndex, META};

/// A page is read under either lock, and its words while the guard is there.
fn read<L: PageLock>(page: &PageGuard<'_, L>) -> u64 {
    page.words()[0]
}

/// Whoever has locked a page exclusively changes it.
fn change(index: SigfileIndex<'_>) {
    let mut page = index.exclusive(1);
    page.change(|words| words[0] += 1);
    assert!(read(&page) > 0);
}

/// A new page begins together with the change of another.
fn start(index: SigfileIndex<'_>, page: &mut PageGuard<'_, ExclusiveLock>) {
    let new = index.extended();
    page.change_and_start(new, (PageKind::Tail, 7), |old, new| new[0] = old[0]);
}

/// A page whose content does not matter is written once.
fn write_anew(index: SigfileIndex<'_>) -> u32 {
    let page = index.exclusive(1).blank();
    page.write(PageLog::Each, PageKind::Rows, 7, |words| words.fill(0))
}

/// A metapage is read under a shared lock, and stored under an exclusive one.
fn store(index: SigfileIndex<'_>) {
    let meta = meta::of_page(&index.share(META));
    meta::store(&meta, &mut index.exclusive(META));
}

/// A guard goes from hand to hand, as long as the relation is open.
fn take<'r>(index: SigfileIndex<'r>) -> base::Result<PageGuard<'r, SharedLock>> {
    let page = index.share(1).expect(PageKind::Rows, 7)?;
    Ok(page)
}

/// The guard goes first, the relation after it.
fn close(relation: OpenRelation) -> u32 {
    // SAFETY: nothing of this runs.
    let index = unsafe { SigfileIndex::of(&relation) };
    let page = index.share(1);
    let block = page.block();
    drop(page);
    drop(relation);
    block
}
