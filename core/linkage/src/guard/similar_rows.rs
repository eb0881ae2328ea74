//! Rows that a search has found to be similar: how many there are, and the most similar of them.

/// How many rows are kept: as many as a message shows, and a review table gets.
pub const KEPT: usize = 5;

/// A row that reaches the threshold.
#[derive(Clone, Debug, PartialEq)]
pub struct SimilarRow {
    /// In [0,1].
    pub similarity: f64,
    /// The OID of its table.
    pub table: u32,
    /// The primary key as text, or the tid as text.
    pub key: Vec<u8>,
    /// In which fields it agrees, if that is known.
    pub reason: Vec<u8>,
}

impl SimilarRow {
    /// Whether this row comes first: the more similar one does, then the one with the smaller key.
    fn precedes(&self, other: &SimilarRow) -> bool {
        match self.similarity.total_cmp(&other.similarity) {
            std::cmp::Ordering::Equal => (&self.key, self.table) < (&other.key, other.table),
            order => order.is_gt(),
        }
    }
}

/// The rows found so far.
#[derive(Default)]
pub struct SimilarRows {
    /// The most similar ones in order, at most [`KEPT`].
    pub best: Vec<SimilarRow>,
    /// How many rows there are in all.
    pub count: u64,
}

impl SimilarRows {
    /// Adds a row. `key` and `reason` are called only if the row may be among the best.
    pub fn add(
        &mut self,
        similarity: f64,
        table: u32,
        key: impl FnOnce() -> Vec<u8>,
        reason: impl FnOnce() -> Vec<u8>,
    ) {
        self.count += 1;
        if self.best.len() == KEPT && self.best[KEPT - 1].similarity > similarity {
            return;
        }
        let new = SimilarRow {
            similarity,
            table,
            key: key(),
            reason: reason(),
        };
        // A row that another transaction is changing has two versions. It counts once, with the higher similarity.
        let same_row = |row: &SimilarRow| row.table == new.table && row.key == new.key;
        if let Some(at) = self.best.iter().position(same_row) {
            self.count -= 1;
            if !new.precedes(&self.best[at]) {
                return;
            }
            self.best.remove(at);
        }
        let at = self.best.iter().position(|row| new.precedes(row));
        self.best.insert(at.unwrap_or(self.best.len()), new);
        self.best.truncate(KEPT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(rows: &[(f64, &str)]) -> SimilarRows {
        let mut found = SimilarRows::default();
        for (similarity, key) in rows {
            found.add(*similarity, 1, || key.as_bytes().to_vec(), Vec::new);
        }
        found
    }

    fn keys(found: &SimilarRows) -> Vec<&str> {
        let keys = found.best.iter().map(|row| &row.key[..]);
        keys.map(|key| std::str::from_utf8(key).unwrap()).collect()
    }

    const ROWS: [(f64, &str); 7] = [
        (0.8, "c"),
        (0.9, "b"),
        (0.8, "a"),
        (0.7, "z"),
        (1.0, "d"),
        (0.8, "b2"),
        (0.75, "y"),
    ];

    #[test]
    fn the_best_stay_in_order() {
        let found = found(&ROWS);
        assert_eq!(keys(&found), ["d", "b", "a", "b2", "c"]);
        assert_eq!(found.count, 7);
    }

    #[test]
    fn another_version_of_a_row_counts_once() {
        let mut found = found(&ROWS);
        found.add(0.95, 1, || b"a".to_vec(), Vec::new);
        assert_eq!(keys(&found), ["d", "a", "b", "b2", "c"]);
        assert_eq!(found.count, 7);
        found.add(0.8, 1, || b"a".to_vec(), Vec::new);
        assert_eq!(keys(&found), ["d", "a", "b", "b2", "c"]);
        assert_eq!(found.count, 7);
    }

    #[test]
    fn the_same_key_in_another_table_is_another_row() {
        let mut found = found(&ROWS[..1]);
        found.add(0.8, 2, || b"c".to_vec(), Vec::new);
        let tables: Vec<u32> = found.best.iter().map(|row| row.table).collect();
        assert_eq!((tables, found.count), (vec![1, 2], 2));
    }

    #[test]
    fn the_key_of_a_row_that_is_not_kept_is_not_asked_for() {
        let mut found = found(&ROWS);
        found.add(0.1, 1, || panic!("asked for a key"), Vec::new);
        assert_eq!(found.count, 8);
    }
}
