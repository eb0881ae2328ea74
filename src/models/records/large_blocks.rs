//! Blocks that are known to be too large, where not all of their records are there to show it.

use linkage::model::keys::stored_key;
use linkage::model::Search;
use pgrx::pg_sys;

use crate::pairs::records::{lock, RecordColumn};
use pg::budget::{push, Budget};
use pg::session::{read, BATCH};
use pg::sql;

/// The keys of blocks that are too large, of some searches.
#[derive(Default)]
pub struct LargeBlocks {
    searches: Vec<Search>,
    /// With the number of the search, as [`stored_key`], in their order.
    keys: Vec<u64>,
}

impl LargeBlocks {
    /// Those that the column `key` of a relation has, read with the caller's privileges. A key's number is that of its search
    /// among these.
    ///
    /// Errors: no such column (42703), or one of another type (42804); what the query fails with; too little memory.
    pub fn read(relation: pg_sys::Oid, searches: Vec<Search>) -> LargeBlocks {
        let (mut keys, budget) = (Vec::new(), Budget::of_setting());
        let name = lock(relation);
        let column = RecordColumn::new(relation, c"key".to_owned());
        if column.type_oid != pg_sys::INT8OID {
            let hint = "Give the keys as bloom_model_keys() does, with the numbers of their searches in the six last bits.";
            column.refuse_type(&name, "bigint", hint);
        }
        let sql = sql!("SELECT r.key FROM {relation} AS r WHERE r.key IS NOT NULL");
        read(sql, &[], BATCH).each(|row| {
            if let Some(key) = row.datum(0) {
                push(&mut keys, key.value() as u64);
                budget.check(2 * size_of::<u64>() * keys.len(), || {
                    format!("{} keys of large blocks", keys.len())
                });
            }
        });
        keys.sort_unstable();
        LargeBlocks { searches, keys }
    }

    /// Which keys of a search are those of large blocks.
    pub fn of(&self, search: &Search) -> impl Fn(u64) -> bool + '_ {
        let number = self.searches.iter().position(|other| other == search);
        move |key| {
            number.is_some_and(|number| self.keys.binary_search(&stored_key(number, key)).is_ok())
        }
    }
}
