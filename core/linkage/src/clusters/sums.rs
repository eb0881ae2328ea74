//! Sums between clusters, by both of them.

use std::collections::HashMap;

use base::Ticker;
use base::{Error, Result};

/// Numbers by keys, in tables of moderate size: one that grows, or is rid of what was removed, is rewritten as a whole,
/// without a turn for the caller.
#[derive(Default)]
pub(super) struct Sums {
    /// A power of two of them, or none.
    tables: Vec<HashMap<u64, u128>>,
}

impl Sums {
    /// Keys of a table, at the most, on average: a little less than what a table of 2^15 slots takes.
    const SIZE: usize = 27_000;

    /// Makes room for so many keys, and forgets what there was.
    ///
    /// Errors: out of memory.
    pub(super) fn reserve(&mut self, keys: usize) -> Result<()> {
        let n = keys.div_ceil(Self::SIZE).next_power_of_two();
        self.tables.clear();
        self.tables.resize_with(n, HashMap::new);
        // not all get the same
        let each = if n == 1 { keys } else { keys / n * 33 / 32 };
        self.tables
            .iter_mut()
            .try_for_each(|table| make_room(table, each))
    }

    pub(super) fn clear(&mut self, ticker: &mut Ticker<impl FnMut()>) {
        while self.tables.pop().is_some() {
            ticker.step();
        }
    }

    fn table(&mut self, key: u64) -> &mut HashMap<u64, u128> {
        let scattered = key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let n = self.tables.len();
        &mut self.tables[scattered as usize & (n - 1)]
    }

    /// 0 if there is none.
    pub(super) fn get(&mut self, key: u64) -> u128 {
        self.table(key).get(&key).copied().unwrap_or(0)
    }

    pub(super) fn remove(&mut self, key: u64) -> Option<u128> {
        self.table(key).remove(&key)
    }

    /// Errors: out of memory.
    pub(super) fn add(&mut self, key: u64, more: u128) -> Result<()> {
        let table = self.table(key);
        make_room(table, 1)?;
        *table.entry(key).or_insert(0) += more;
        Ok(())
    }
}

/// Errors: out of memory.
fn make_room(table: &mut HashMap<u64, u128>, more: usize) -> Result<()> {
    table
        .try_reserve(more)
        .map_err(|_| Error::out_of_memory(more.saturating_mul(size_of::<(u64, u128)>())))
}
