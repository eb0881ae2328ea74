//! A sample of a register's records, and which of their pairs another model adds and takes away.

use std::collections::{BTreeMap, HashMap};

use pgrx::pg_sys;

use super::stored::Register;
use super::texts::RecordTexts;
use crate::models::reading_fields;
use pg::session::fixed_settings::without_row_security;
use pg::session::{QueryRow, Session};
use pg::snapshot::now;
use pg::sql;
use pg::sql::Sql;

/// A record of the sample.
struct Record {
    /// Its key, in one piece.
    id: pg_sys::Datum,
    texts: BothTexts,
    /// Its keys as the register has them, and as it is to have them.
    was: Vec<i64>,
    now: Vec<i64>,
}

/// The values of a record as either model reads them, and its key in the database's encoding.
struct BothTexts {
    key: Vec<u8>,
    was: RecordTexts,
    now: RecordTexts,
}

/// Records that were drawn, and those that have a key in common with them that has not been written yet.
pub struct Sample<'r> {
    was: &'r Register,
    now: &'r Register,
    records: Vec<Record>,
    /// The records that have such a key, packed, one more than there may be at most; of keys that were not seen, none.
    seen: HashMap<i64, Vec<Vec<u8>>>,
}

/// A pair that is to be found from now on, or no more.
pub struct ChangedPair {
    pub keys: [Vec<u8>; 2],
    /// The probabilities; `None` where no search brings the two together.
    pub was: Option<f64>,
    pub now: Option<f64>,
    is_new: bool,
}

impl ChangedPair {
    pub fn what(&self) -> &'static str {
        match self.is_new {
            true => "pair comes",
            false => "pair goes",
        }
    }
}

/// What becomes of the pairs of a sample.
pub struct Sampled {
    pub records: i64,
    /// How many pairs it has that are found.
    pub was: i64,
    pub now: i64,
    pub changed: Vec<ChangedPair>,
}

impl<'r> Sample<'r> {
    /// Draws so many records, which do not depend on where rows are, but on their keys alone.
    ///
    /// Errors: those of reading the table.
    pub fn draw(was: &'r Register, now: &'r Register, most: i64) -> Sample<'r> {
        let session = Session::begin(false);
        let (select, key) = (both_columns(was, now), &was.key.name);
        let only = Sql::new("").only(was.relation);
        let text = sql!("pg_catalog.format('%s', {key}) COLLATE pg_catalog.\"C\"");
        let query = sql!(
            "SELECT {select} FROM {only} AS r ORDER BY pg_catalog.hashtextextended({text}, 0), {text} LIMIT $1"
        );
        let parameter = (pg_sys::INT8OID, pg_sys::Datum::from(most));
        let (mut records, mut seen) = (Vec::new(), HashMap::new());
        let mut take = |row: QueryRow<'_>| {
            let id = row.datum(0)?;
            // SAFETY: of the key's type.
            let id = session.in_callers_memory(|| unsafe { was.key_type.copy(id) });
            let texts = BothTexts::of(was, now, row)?;
            let keys = (
                was.search_keys_of(&texts.was),
                now.search_keys_of(&texts.now),
            );
            keys.1.iter().for_each(|&key| {
                seen.insert(key, Vec::new());
            });
            records.push(Record {
                id,
                texts,
                was: keys.0,
                now: keys.1,
            });
            Some(())
        };
        without_row_security(|| {
            reading_fields(|| {
                session.each(&query, &[parameter], |row| {
                    take(row);
                });
            });
        });
        Sample {
            was,
            now,
            records,
            seen,
        }
    }

    /// A record of the table has this key, which the register does not have yet.
    pub fn see(&mut self, key: i64, id: pg_sys::Datum) {
        let most = self.now.most_of(key) as usize;
        if let Some(of_key) = self
            .seen
            .get_mut(&key)
            .filter(|of_key| of_key.len() <= most)
        {
            // SAFETY: of the key's type.
            of_key.push(unsafe { self.now.key_type.packed(id) });
        }
    }

    /// What becomes of the pairs with this probability or more.
    ///
    /// Errors: those of reading the table.
    pub fn pairs(self, least: f64) -> Sampled {
        let mut sampled = Sampled {
            records: self.records.len() as i64,
            was: 0,
            now: 0,
            changed: Vec::new(),
        };
        // A pair of two records of the sample counts once.
        let mut found = BTreeMap::new();
        for record in &self.records {
            self.compare(record, &mut found);
        }
        for (keys, [was, now]) in found {
            let is_found = |p: Option<f64>| p.is_some_and(|p| p >= least);
            let (is_old, is_new) = (is_found(was), is_found(now));
            sampled.was += i64::from(is_old);
            sampled.now += i64::from(is_new);
            if is_old != is_new {
                sampled.changed.push(ChangedPair {
                    keys,
                    was,
                    now,
                    is_new,
                });
            }
        }
        // What comes is first, and of either the surest.
        let surest = |pair: &ChangedPair| match pair.is_new {
            true => pair.now,
            false => pair.was,
        };
        sampled.changed.sort_by(|a, b| {
            let by_change = b.is_new.cmp(&a.is_new);
            let [of_a, of_b] = [a, b].map(|pair| surest(pair).unwrap_or_default());
            by_change.then(of_b.total_cmp(&of_a))
        });
        sampled
    }

    /// The pairs of a record, by their keys, with both probabilities.
    fn compare(&self, record: &Record, found: &mut BTreeMap<[Vec<u8>; 2], [Option<f64>; 2]>) {
        let key_type = self.was.key_type;
        // A constant of the server's, which sees what is committed by now, as the statements do that read the table.
        let mut reader = self.was.keys.read(&now());
        let was = self.was.brought_together(&mut reader, &record.was);
        let is_written = |key: &&i64| self.seen.get(*key).is_none_or(Vec::is_empty);
        let written: Vec<i64> = record.now.iter().filter(is_written).copied().collect();
        let mut now = self.now.brought_together(&mut reader, &written);
        drop(reader);
        for key in &record.now {
            let of_key = self.seen.get(key).map(Vec::as_slice).unwrap_or_default();
            if of_key.len() > self.now.most_of(*key) as usize {
                continue;
            }
            for packed in of_key {
                // SAFETY: packed before, of the key's type; the copy stays.
                let (id, bytes) = unsafe {
                    let mut memory = Vec::new();
                    let id = key_type.copy(key_type.unpack(packed, &mut memory));
                    (id, key_type.bytes(&id).to_vec())
                };
                now.entry(bytes).or_insert((id, 0));
            }
        }
        // SAFETY: a copy of the key's type.
        let own = unsafe { key_type.bytes(&record.id) }.to_vec();
        let mut all: BTreeMap<&Vec<u8>, pg_sys::Datum> = BTreeMap::new();
        all.extend(was.iter().chain(&now).map(|(bytes, (id, _))| (bytes, *id)));
        all.remove(&own);
        if all.is_empty() {
            return;
        }
        let mut ids: Vec<pg_sys::Datum> = all.into_values().collect();
        let mut of_was = self.was.prepared(&record.texts.was);
        let mut of_now = self.now.prepared(&record.texts.now);
        self.each_of(&mut ids, |bytes, other| {
            let score = |is_found: bool, score: &mut dyn FnMut() -> f64| is_found.then(score);
            let probabilities = [
                score(was.contains_key(&bytes), &mut || {
                    self.was.score(&mut of_was, &other.was).probability
                }),
                score(now.contains_key(&bytes), &mut || {
                    self.now.score(&mut of_now, &other.now).probability
                }),
            ];
            let mut keys = [record.texts.key.clone(), other.key];
            keys.sort();
            found.insert(keys, probabilities);
        });
    }

    /// Gives the records of these keys to `each`.
    fn each_of(&self, ids: &mut [pg_sys::Datum], mut each: impl FnMut(Vec<u8>, BothTexts)) {
        let (was, now) = (self.was, self.now);
        // SAFETY: of the key's type.
        let ids = unsafe { was.key_type.array(ids) };
        let (select, key) = (both_columns(was, now), &was.key.name);
        let only = Sql::new("").only(was.relation);
        let array = Sql::new("").exact_type(ids.0);
        let query = sql!(
            "SELECT {select} FROM {only} AS r WHERE {key} OPERATOR(pg_catalog.=) ANY ($1::{array})"
        );
        let session = Session::begin(false);
        let mut take = |row: QueryRow<'_>| {
            let id = row.datum(0)?;
            // SAFETY: of the key's type; the copy is in one piece.
            let bytes = unsafe { was.key_type.bytes(&was.key_type.copy(id)).to_vec() };
            each(bytes, BothTexts::of(was, now, row)?);
            Some(())
        };
        without_row_security(|| {
            reading_fields(|| {
                session.each(&query, &[ids], |row| {
                    take(row);
                });
            });
        });
    }
}

/// The key, the same as a text, and what either model reads.
fn both_columns(was: &Register, now: &Register) -> Sql {
    let (key, columns, others) = (&was.key.name, was.texts.select(), now.texts.select());
    sql!("{key}, pg_catalog.format('%s', {key}), {columns}, {others}")
}

impl BothTexts {
    /// Of a row of [`both_columns`].
    fn of(was: &Register, now: &Register, row: QueryRow<'_>) -> Option<BothTexts> {
        Some(BothTexts {
            key: row.bytes(1)?.bytes().to_vec(),
            was: was.texts.of_query(row, 2),
            now: now.texts.of_query(row, 2 + was.numbers.len()),
        })
    }
}
