//! The rows that are searched for in indexes.

use crate::pairs::join::sorted::{numbered_row, OneShape, Sorted};
use crate::pairs::join::{TableNumber, TableRow};
use crate::pairs::records::Records;
use crate::pairs::table::IndexedTable;
use crate::pairs::unique::{repeated, Successive};
use access::{mismatch, RowSort};
use pg::budget::{push, reserve};
use pg::error::{raise, OrRaise};
use pg::session::{read, BATCH};
use pg::sql;
use pg::tid::Tid;
use pgrx::pg_sys;

/// The columns of the query.
const TABLE: usize = 0;
const TID: usize = 1;
const KEY: usize = 2;
const SIGNATURE: usize = 3;

/// The new records of a relation. The tid of a row is its number from 1.
pub struct Probes {
    /// Where each of them is in its table, in the order of their numbers.
    pub places: Vec<TableRow>,
    /// The same places in their order.
    known: Vec<TableRow>,
}

impl Probes {
    /// Reads them, and their rows, by a query of the caller's. Either takes `memory` bytes, and there are none if they
    /// are too many for that. The tables are those that the relation has.
    ///
    /// Errors: what the query fails with; a key that two new records have; out of memory.
    pub fn read(
        records: &Records,
        tables: &[IndexedTable],
        tag: u128,
        memory: usize,
    ) -> Option<(Probes, Sorted)> {
        let new = records.new.as_ref()?;
        new.check();
        let most = memory / (2 * size_of::<TableRow>());
        let mut successive = Successive::new(&records.key);
        let (key, signature) = (&records.key.name, &records.signatures[0].name);
        let is_new = new.has(&records.key);
        let mut sql = sql!(
            "SELECT r.tableoid, r.ctid, r.{key}, r.{signature} FROM {records.oid} AS r \
             WHERE r.{signature} IS NOT NULL AND {is_new}"
        );
        if successive.is_some() {
            sql = sql!("{sql} ORDER BY r.{key}");
        }
        let mut rows = RowSort::new(OneShape::default().layout(tag), memory);
        let (mut places, mut fits, mut last) = (Vec::new(), true, 0);
        let kind = records.signature_type();
        let cursor = read(sql, &[], BATCH);
        let mut output = cursor.output(KEY);
        cursor.each_while(|row| {
            let value = |i| row.datum(i).expect("the query leaves out NULLs");
            if let Some(key) = row.datum(KEY) {
                if successive.as_mut().is_some_and(|last| last.is_again(key)) {
                    output.show(key, |key| repeated(key, records));
                }
            }
            let table = pg_sys::Oid::from(value(TABLE).value() as u32);
            // Mostly the table is that of the row before.
            if tables.get(last).is_none_or(|t| t.heap.rd_id != table) {
                let number = tables.iter().position(|t| t.heap.rd_id == table);
                last = number.expect("the relation has no other tables");
            }
            // SAFETY: a tid lives as long as the row, and so does a signature of this type.
            let (tid, signature) = unsafe {
                let tid: *const pg_sys::ItemPointerData = value(TID).cast_mut_ptr();
                (Tid::from(*tid), kind.signature(value(SIGNATURE)))
            };
            if signature.tag != tag {
                raise(&mismatch(signature.tag, tag));
            }
            fits = places.len() < most;
            if !fits {
                return false;
            }
            let number = TableNumber::of_index(last);
            push(&mut places, TableRow::new(number, tid.stored()));
            let row = numbered_row(&signature.words, signature.popcount, places.len() as u64);
            rows.push(row).or_raise();
            true
        });
        if !fits {
            return None;
        }
        let mut known = Vec::new();
        reserve(&mut known, places.len());
        known.extend_from_slice(&places);
        known.sort_unstable();
        let rows = Sorted::new(rows.finish());
        Some((Probes { places, known }, rows))
    }

    /// Whether a row of a table is one of them.
    pub fn has(&self, row: TableRow) -> bool {
        self.known.binary_search(&row).is_ok()
    }
}
