//! Pairs of which somebody has said whether they are the same.

use std::collections::HashMap;

use base::range::counted;
use base::{Error, ErrorKind};
use pgrx::{pg_sys, PgSqlErrorCode};

use crate::models::records::store::PairNumbers;
use crate::pairs::records::{lock, RecordColumn};
use crate::pairs::source_columns::has;
use pg::budget::Budget;
use pg::catalog::is_of_server;
use pg::error::{notice, raise, sql_error};
use pg::session::{read, BATCH};
use pg::sql::Sql;
use pg::values::text::readable;

/// What a label takes in memory, about, besides its keys.
const LABEL_BYTES: usize = 200;

/// A table of labels, by the keys of records.
#[derive(Default)]
pub struct Labels {
    pairs: Vec<([Vec<u8>; 2], bool)>,
    /// The numbers of the records that labels name, of the first relation and of the second.
    records: HashMap<Vec<u8>, [Option<u32>; 2]>,
    /// What all this takes in memory, about.
    pub bytes: usize,
}

impl Labels {
    /// Reads a relation with the columns a, b and same, with the caller's privileges. Rows with a NULL say nothing.
    ///
    /// Errors: it has no such columns, or `same` is not boolean; more than fit into half of maintenance_work_mem.
    pub fn read(oid: pg_sys::Oid) -> Labels {
        let name = lock(oid);
        if !has(oid, &[c"a", c"b", c"same"]) {
            raise(&sql_error(PgSqlErrorCode::ERRCODE_UNDEFINED_COLUMN, format!(
                    "relation \"{name}\" does not have the columns a, b and same"
                ))
                    .hint("Give a table or view of labels: a and b are keys of records, same is true if they are the \
                        same \
                           person."),
            );
        }
        let same = RecordColumn::new(oid, c"same".to_owned());
        if !is_of_server(same.type_oid) {
            raise(
                &sql_error(
                    PgSqlErrorCode::ERRCODE_DATATYPE_MISMATCH,
                    format!("column \"same\" of relation \"{name}\" is not boolean"),
                )
                .hint("Give a view that says whether a pair is the same by true and false."),
            );
        }
        // as the keys of records are written, which is not what a cast to text gives for every type
        let sql = Sql::new("SELECT a, b, CAST(same AS pg_catalog.bool) FROM ");
        let mut labels = Labels::default();
        let budget = Budget::of_setting();
        let cursor = read(sql.relation(oid), &[], BATCH);
        let mut outputs = [cursor.output(0), cursor.output(1)];
        cursor.each(|row| {
            let (Some(a), Some(b), Some(same)) = (row.datum(0), row.datum(1), row.datum(2)) else {
                return;
            };
            let pair = [(0, a), (1, b)].map(|(i, key)| outputs[i].show(key, <[u8]>::to_vec));
            labels.bytes += 2 * (pair[0].len() + pair[1].len()) + LABEL_BYTES;
            // the other half is for the records and their pairs
            budget.check(2 * labels.bytes, || {
                format!("{} labels", labels.pairs.len())
            });
            for key in &pair {
                labels.records.entry(key.clone()).or_default();
            }
            labels.pairs.push((pair, same.value() != 0));
        });
        labels
    }

    /// Notes the number of a record, if a label names it. `side`: 0 for the first relation, 1 for the second.
    pub fn note(&mut self, key: &[u8], side: usize, record: u32) {
        if let Some(records) = self.records.get_mut(key) {
            records[side] = Some(record);
        }
    }

    /// What is said of pairs, by their numbers, in their order. Says how many labels name records that are not there.
    ///
    /// Errors: labels that contradict each other.
    pub fn by_number(&self, numbers: PairNumbers, linkage: bool) -> Vec<(u64, bool)> {
        let mut found = Vec::new();
        let mut unknown = 0;
        for (keys, same) in &self.pairs {
            match self.number(keys, numbers, linkage) {
                Some(number) => found.push((number, *same)),
                None => unknown += 1,
            }
        }
        found.sort_unstable();
        found.dedup();
        if let Some(twice) = found.windows(2).find(|two| two[0].0 == two[1].0) {
            self.contradict(numbers, twice[0].0, linkage);
        }
        if unknown > 0 {
            let labels = counted(
                unknown,
                "label names a record that is not there, and is",
                "labels name records that are not there, and are",
            );
            notice!("{labels} left out");
        }
        found
    }

    /// The number of a labelled pair; `None` if its records are not there, or one.
    fn number(&self, [a, b]: &[Vec<u8>; 2], numbers: PairNumbers, linkage: bool) -> Option<u64> {
        let record = |key: &[u8], side: usize| self.records.get(key)?[side];
        let (x, y) = (record(a, 0)?, record(b, usize::from(linkage))?);
        (x != y).then(|| numbers.number(x.min(y), x.max(y)))
    }

    fn contradict(&self, numbers: PairNumbers, number: u64, linkage: bool) -> ! {
        let is_it = |keys: &_| self.number(keys, numbers, linkage) == Some(number);
        let pair = self.pairs.iter().find(|(pair, _)| is_it(pair));
        let [a, b] = pair.map_or([String::new(), String::new()], |(pair, _)| {
            pair.clone().map(|key| readable(&key))
        });
        raise(
            &Error::new(
                ErrorKind::DataException,
                format!("labels say that \"{a}\" and \"{b}\" are the same, and that they are not"),
            )
            .hint("Keep one label of each pair."),
        )
    }
}
