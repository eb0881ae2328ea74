//! The sample of a relation: what is seen of its columns.

use std::collections::HashSet;

use linkage::model::values::FieldLayout;

use super::relation::SuggestSubject;
use crate::models::{field_columns, field_value, Seen};
use pg::check_for_interrupts;
use pg::progress::{self, phases};
use pg::session::read;
use pg::sql;
use pg::sql::Sql;
use pg::values::text::Text;
use types::Bloom;

/// Rows fetched at a time.
const BATCH: i64 = 500;

/// Most rows of what has no blocks.
const ROWS: u64 = 20_000;

/// A table of no more blocks is read as a whole, and about so many blocks of a larger one are chosen. Of their rows
/// none is left out, or the sample would be one of the table's beginning.
const BLOCKS: u64 = 400;

/// So many characters of a value are looked at.
pub const CHARACTERS: usize = 2000;

/// What is seen of a column.
#[derive(Default)]
pub struct ColumnSeen {
    pub seen: Seen,
    /// Records with a value.
    pub present: u64,
    /// Those whose value has five words or more, several words, and a sign `@` within.
    pub long: u64,
    pub of_words: u64,
    pub addresses: u64,
    distinct: HashSet<u64>,
    /// Characters of each record's value.
    pub lengths: Vec<u16>,
}

impl ColumnSeen {
    fn add(&mut self, value: Option<&str>) {
        let value = value.unwrap_or("").trim();
        let characters = value.chars().count();
        self.lengths.push(characters as u16);
        if value.is_empty() {
            return;
        }
        self.seen.add(value, true);
        self.present += 1;
        let words = value.split_whitespace().count();
        self.long += u64::from(words >= 5 && characters > 60);
        self.of_words += u64::from(words > 1);
        self.addresses += u64::from(value.contains('@') && words == 1);
        self.distinct.insert(FieldLayout::identity(value));
    }

    /// How many different values there are.
    pub fn distinct(&self) -> u64 {
        self.distinct.len() as u64
    }
}

/// What is seen of a relation.
pub struct RelationSample {
    pub rows: u64,
    /// The share of the blocks that was read, if it is not all of it.
    pub share: Option<f64>,
    /// There are more rows than were read.
    pub is_cut: bool,
    pub columns: Vec<ColumnSeen>,
    /// Of the columns of signatures, how many there are, and how many are full.
    pub full: Vec<(u64, u64)>,
}

impl RelationSample {
    /// Reads some rows as the caller, with these columns. The same blocks are chosen each time.
    ///
    /// Errors: what the query fails with.
    pub fn read(subject: &SuggestSubject, names: &[String]) -> RelationSample {
        let columns = field_columns(subject.oid, names.iter().map(String::as_str), &subject.name);
        let values = columns.iter().map(|column| {
            let value = field_value(Sql::new(""), column);
            sql!(", pg_catalog.left({value}, {CHARACTERS})")
        });
        let signed: Vec<_> = subject.signed.iter().filter(|c| !c.is_bits).collect();
        let signatures = signed.iter().map(|column| sql!(", {column.name}"));
        let columns_read = Sql::join(values.chain(signatures), "");
        let mut sql = sql!("SELECT NULL{columns_read} FROM {subject.oid}");
        let blocks = subject.bytes / u64::from(pgrx::pg_sys::BLCKSZ);
        let share = (subject.has_blocks && blocks > BLOCKS).then(|| BLOCKS as f64 / blocks as f64);
        if let Some(share) = share {
            let percent = format!("{:.6}", 100.0 * share);
            sql = sql!("{sql} TABLESAMPLE pg_catalog.system ({percent}) REPEATABLE (1)");
        }
        let most = if subject.has_blocks { u64::MAX } else { ROWS };
        if !subject.has_blocks {
            sql = sql.text(&format!(" LIMIT {}", ROWS + 1));
        }
        let mut sample = RelationSample {
            rows: 0,
            share,
            is_cut: false,
            columns: columns.iter().map(|_| ColumnSeen::default()).collect(),
            full: vec![(0, 0); signed.len()],
        };
        progress::phase(phases::READING, None);
        read(sql, &[], BATCH).each_while(|row| {
            check_for_interrupts();
            if sample.rows == most {
                sample.is_cut = true;
                return false;
            }
            sample.rows += 1;
            for (i, column) in sample.columns.iter_mut().enumerate() {
                let value = row.text(i + 1);
                column.add(value.as_ref().map(Text::as_str));
            }
            for (i, (all, full)) in sample.full.iter_mut().enumerate() {
                if let Some(datum) = row.datum(1 + columns.len() + i) {
                    // SAFETY: the query selects signatures, which live as long as the row.
                    let signature = unsafe { Bloom::from_raw(datum) };
                    *all += 1;
                    *full += u64::from(signature.view().is_full());
                }
            }
            true
        });
        sample
    }
}
