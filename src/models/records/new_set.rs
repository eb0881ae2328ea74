//! Which records are new, a bit for each.

use pg::budget::push;

/// Which records are new.
#[derive(Default)]
pub struct NewSet {
    words: Vec<u64>,
    records: u32,
}

impl NewSet {
    /// The next record.
    ///
    /// Errors: out of memory.
    pub fn push(&mut self, is_new: bool) {
        if self.records.is_multiple_of(u64::BITS) {
            push(&mut self.words, 0);
        }
        if let Some(last) = self.words.last_mut() {
            *last |= u64::from(is_new) << (self.records % u64::BITS);
        }
        self.records += 1;
    }

    /// Whether a record is.
    #[inline]
    pub fn has(&self, record: u32) -> bool {
        self.words[(record / u64::BITS) as usize] >> (record % u64::BITS) & 1 == 1
    }
}
