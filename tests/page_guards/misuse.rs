//! Page guards as they must not be used. Each line that ends in a comment with an error's code is refused with that
//! error, and no other line is.

use pg::relation::OpenRelation;
use sigfile::Meta;
use crate::meta;
use crate::page::{BlankPage, ExclusiveLock, PageGuard, PageKind, PageLock, PageLog, SharedLock, SigfileIndex, META};

// What needs an exclusive lock has no way through a shared one.

fn change_shared(index: SigfileIndex<'_>) {
    let mut page = index.share(1);
    page.change(|words| words[0] = 0); // E0599
}

fn change_in_either_mode<L: PageLock>(page: &mut PageGuard<'_, L>) {
    page.change(|words| words[0] = 0); // E0599
}

fn change_words_of_shared(index: SigfileIndex<'_>) {
    index.share(1).words()[0] = 0; // E0594
}

fn blank_shared(index: SigfileIndex<'_>) -> BlankPage<'_> {
    index.share(1).blank() // E0599
}

fn start_beside_shared(page: &mut PageGuard<'_, SharedLock>, new: BlankPage<'_>) {
    page.change_and_start(new, (PageKind::Tail, 7), |_, _| ()); // E0599
}

fn store_meta_in_shared(index: SigfileIndex<'_>, meta: &Meta) {
    meta::store(meta, &mut index.share(META)); // E0308
}

fn shared_as_exclusive(page: PageGuard<'_, SharedLock>) -> PageGuard<'_, ExclusiveLock> {
    page // E0308
}

// No other code makes a lock or a guard, or goes around what a guard allows.

enum LockOfMine {}

#[rustfmt::skip]
impl PageLock for LockOfMine { // E0277
    const MODE: u32 = 0;
    const WRITES: bool = true;
}

fn lock_again<'r>(page: &PageGuard<'r, SharedLock>) -> PageGuard<'r, ExclusiveLock> {
    // SAFETY: nothing of this runs.
    unsafe { PageGuard::lock(page.index(), 1) } // E0624
}

fn write_without_log(page: &mut PageGuard<'_, ExclusiveLock>) {
    page.page(); // E0624
}

fn copy(page: &PageGuard<'_, SharedLock>) {
    let _: PageGuard<'_, SharedLock> = page.clone(); // E0308
}

// A guard does not outlive its relation, nor words their guard.

fn keep_beyond_relation(oid: pgrx::pg_sys::Oid) -> u32 {
    let page;
    {
        let relation = OpenRelation::index(oid, 1);
        // SAFETY: nothing of this runs.
        let index = unsafe { SigfileIndex::of(&relation) }; // E0597
        page = index.share(1);
    }
    page.block()
}

fn close_under_guard(relation: OpenRelation) {
    // SAFETY: nothing of this runs.
    let page = unsafe { SigfileIndex::of(&relation) }.share(1);
    drop(relation); // E0505
    page.block();
}

fn close_under_blank_page(relation: OpenRelation) -> u32 {
    // SAFETY: nothing of this runs.
    let page = unsafe { SigfileIndex::of(&relation) }.extended();
    drop(relation); // E0505
    page.block()
}

fn return_beyond_relation<'r>(relation: OpenRelation) -> PageGuard<'r, SharedLock> {
    // SAFETY: nothing of this runs.
    let index = unsafe { SigfileIndex::of(&relation) };
    index.share(1) // E0515
}

fn keep_words_beyond_guard(index: SigfileIndex<'_>) -> u64 {
    let words = index.share(1).words(); // E0716
    words[0]
}

fn keep_words_beyond_release(page: PageGuard<'_, SharedLock>) -> u64 {
    let words = page.words();
    drop(page); // E0505
    words[0]
}

fn keep_words_beyond_change(page: &mut PageGuard<'_, ExclusiveLock>) -> u64 {
    let words = page.words();
    page.change(|words| words[0] = 0); // E0502
    words[0]
}

// A guard that was released, or given away, is gone.

fn read_after_release(index: SigfileIndex<'_>) -> u64 {
    let page = index.share(1);
    drop(page);
    page.words()[0] // E0382
}

fn change_after_release(index: SigfileIndex<'_>) {
    let mut page = index.exclusive(1);
    drop(page);
    page.change(|words| words[0] = 0); // E0382
}

fn release_twice(page: PageGuard<'_, ExclusiveLock>) {
    drop(page);
    drop(page); // E0382
}

fn read_after_blank(page: PageGuard<'_, ExclusiveLock>) -> u64 {
    let blank = page.blank();
    page.words()[0] + u64::from(blank.block()) // E0382
}

fn read_after_expect(page: PageGuard<'_, SharedLock>) -> u64 {
    let checked = page.expect(PageKind::Rows, 7);
    page.words()[0] + u64::from(checked.is_ok()) // E0382
}

fn read_blank(page: BlankPage<'_>) -> u64 {
    page.words()[0] // E0599
}

fn write_twice(page: BlankPage<'_>) {
    page.write(PageLog::Each, PageKind::Rows, 7, |words| words.fill(0));
    page.write(PageLog::Each, PageKind::Rows, 7, |words| words.fill(0)); // E0382
}

fn start_twice(page: &mut PageGuard<'_, ExclusiveLock>, new: BlankPage<'_>) {
    page.change_and_start(new, (PageKind::Tail, 7), |_, _| ());
    page.change_and_start(new, (PageKind::Tail, 7), |_, _| ()); // E0382
}
