//! Rows that were found: how many, and the best of them.

use pgrx::pg_sys;

/// As many as a message shows, and a review table gets.
pub const SHOWN: usize = 5;

pub struct SimilarRow {
    pub similarity: f64,
    pub table: pg_sys::Oid,
    /// Primary key as text, or the row's place.
    pub key: Vec<u8>,
}

impl SimilarRow {
    /// More similar first, then by key.
    fn before(&self, other: &SimilarRow) -> bool {
        match self.similarity.total_cmp(&other.similarity) {
            std::cmp::Ordering::Equal => {
                (&self.key, self.table.to_u32()) < (&other.key, other.table.to_u32())
            }
            order => order.is_gt(),
        }
    }
}

#[derive(Default)]
pub struct SimilarRows {
    pub best: Vec<SimilarRow>,
    pub count: u64,
}

impl SimilarRows {
    /// `key` is asked only if the row may be among the best.
    pub fn add(&mut self, similarity: f64, table: pg_sys::Oid, key: impl FnOnce() -> Vec<u8>) {
        self.count += 1;
        if self.best.len() == SHOWN && self.best[SHOWN - 1].similarity > similarity {
            return;
        }
        let new = SimilarRow {
            similarity,
            table,
            key: key(),
        };
        // Of a row that another transaction is changing there are two versions.
        let twin = |m: &SimilarRow| m.table == new.table && m.key == new.key;
        if let Some(at) = self.best.iter().position(twin) {
            self.count -= 1;
            if !new.before(&self.best[at]) {
                return;
            }
            self.best.remove(at);
        }
        let at = self.best.iter().position(|m| new.before(m));
        self.best.insert(at.unwrap_or(self.best.len()), new);
        self.best.truncate(SHOWN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(found: &SimilarRows) -> Vec<&str> {
        let text = |m: &SimilarRow| std::str::from_utf8(&m.key).unwrap().to_owned();
        let all: Vec<String> = found.best.iter().map(text).collect();
        all.iter()
            .map(|s| &*s.clone().leak())
            .map(|s| s as &str)
            .collect()
    }

    #[test]
    fn the_best_stay_in_order() {
        let mut found = SimilarRows::default();
        let table = pg_sys::Oid::from(1);
        for (similarity, key) in [
            (0.8, "c"),
            (0.9, "b"),
            (0.8, "a"),
            (0.7, "z"),
            (1.0, "d"),
            (0.8, "b2"),
            (0.75, "y"),
        ] {
            found.add(similarity, table, || key.as_bytes().to_vec());
        }
        assert_eq!(keys(&found), ["d", "b", "a", "b2", "c"]);
        assert_eq!(found.count, 7);
        // another version of a row that is there
        found.add(0.95, table, || b"a".to_vec());
        assert_eq!(keys(&found), ["d", "a", "b", "b2", "c"]);
        assert_eq!(found.count, 7);
    }
}
