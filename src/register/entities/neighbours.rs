//! The records that a record makes pairs with, as they are now: whatever is committed, and what this transaction has
//! done, whatever its snapshot sees.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use base::Result;
use linkage::model::{ReadyRecord, Score};
use pgrx::pg_sys;

use super::super::key_table::KeyReader;
use super::super::stored::Register;
use super::super::texts::RecordTexts;
use pg::error::OrRaise;

/// A record that is ready to be compared, and its keys in the register.
pub struct Loaded {
    ready: RefCell<ReadyRecord>,
    pub keys: Vec<i64>,
}

/// A record that another one makes a pair with.
pub struct Near {
    pub id: pg_sys::Datum,
    /// By which the key is known: see [`KeyType::bytes`](super::super::key_type::KeyType::bytes).
    pub bytes: Vec<u8>,
    pub score: Score,
    /// The first search that brings the two together.
    pub search: usize,
}

/// A record that is not in the table, or is there with other values.
pub struct Guest {
    /// The key that it has, or would have.
    pub own: Option<Vec<u8>>,
    pub record: Rc<Loaded>,
}

/// Records that are kept ready at most.
const MOST_KEPT: usize = 256;

/// Reads the records of a register's table, and what brings them together.
pub struct Neighbours<'r> {
    pub register: &'r Register,
    rows: KeyReader,
    keys: KeyReader,
    /// By the key's bytes.
    kept: HashMap<Vec<u8>, Rc<Loaded>>,
    /// Who is to be seen instead of the record of its key, and the probabilities that it has with others.
    guest: Option<(Guest, HashMap<Vec<u8>, Score>)>,
}

impl Loaded {
    pub fn new(register: &Register, record: &RecordTexts) -> Loaded {
        Loaded {
            ready: RefCell::new(register.prepared(record)),
            keys: register.search_keys_of(record),
        }
    }

    /// What the model says of two records, which are not the same one.
    fn score(&self, register: &Register, other: &Loaded) -> Score {
        let (mut a, mut b) = (self.ready.borrow_mut(), other.ready.borrow_mut());
        let pattern = register.known.ready.compare(&mut a, &mut b);
        register.of.scorer.score(pattern.or_raise())
    }
}

impl<'r> Neighbours<'r> {
    /// Errors: a table has no index any more.
    pub fn new(register: &'r Register, snapshot: pg_sys::Snapshot) -> Neighbours<'r> {
        Neighbours {
            register,
            rows: register.rows.read(snapshot),
            keys: register.keys.read(snapshot),
            kept: HashMap::new(),
            guest: None,
        }
    }

    /// The bytes by which a key is known, and a copy of it.
    pub fn known(&self, id: pg_sys::Datum) -> (Vec<u8>, pg_sys::Datum) {
        // SAFETY: of the key's type.
        unsafe {
            let copy = self.register.key_type.copy(id);
            (self.register.key_type.bytes(&copy).to_vec(), copy)
        }
    }

    /// The record of a key that is in the table.
    ///
    /// Errors: those of reading its values.
    pub fn load(&mut self, id: pg_sys::Datum, bytes: &[u8]) -> Option<Rc<Loaded>> {
        if self.is_guest(bytes) {
            return self
                .guest
                .as_ref()
                .map(|(guest, _)| Rc::clone(&guest.record));
        }
        if let Some(known) = self.kept.get(bytes) {
            return Some(Rc::clone(known));
        }
        let (register, mut found) = (self.register, None);
        self.rows.each_of(id, |row| {
            let texts = register.texts.of_row(&row.row());
            found = Some(Rc::new(Loaded::new(register, &texts)));
            false
        });
        if self.kept.len() >= MOST_KEPT {
            self.kept.clear();
        }
        let found = found?;
        self.kept.insert(bytes.to_vec(), Rc::clone(&found));
        Some(found)
    }

    fn is_guest(&self, bytes: &[u8]) -> bool {
        let own = self
            .guest
            .as_ref()
            .and_then(|(guest, _)| guest.own.as_deref());
        own == Some(bytes)
    }

    /// The other records of the blocks that a record is in, with the first search of each, by the bytes of their keys.
    fn others(&mut self, own: &[u8], keys: &[i64]) -> BTreeMap<Vec<u8>, (pg_sys::Datum, usize)> {
        let (mut all, key_type) = (BTreeMap::new(), self.register.key_type);
        for &key in keys {
            let (mut of_block, mut has_own) = (Vec::new(), false);
            self.keys.each(key, |row| {
                if let Some(id) = row.id() {
                    // SAFETY: of the key's type; the bytes are those of a copy.
                    let (bytes, copy) = unsafe {
                        let copy = key_type.copy(id);
                        (key_type.bytes(&copy).to_vec(), copy)
                    };
                    match bytes == own {
                        true => has_own = true,
                        false => of_block.push((bytes, copy)),
                    }
                }
                true
            });
            for (bytes, id) in of_block.into_iter().filter(|_| has_own) {
                let search = self.register.search_of(key);
                let first = &mut all.entry(bytes).or_insert((id, search)).1;
                *first = search.min(*first);
            }
        }
        all
    }

    /// The records that a record makes a pair with whose probability is as great as this.
    ///
    /// Errors: those of reading values.
    pub fn of(&mut self, own: &[u8], record: &Loaded, least: f64) -> Vec<Near> {
        let mut near = Vec::new();
        for (bytes, (id, search)) in self.others(own, &record.keys) {
            if self.is_guest(&bytes) {
                continue;
            }
            let Some(other) = self.load(id, &bytes) else {
                continue;
            };
            let score = record.score(self.register, &other);
            if score.probability >= least {
                near.push(Near {
                    id,
                    bytes,
                    score,
                    search,
                });
            }
        }
        near
    }

    /// The guest's probability with a record.
    pub fn with_guest(&self, bytes: &[u8]) -> Option<Score> {
        let (_, scores) = self.guest.as_ref()?;
        scores.get(bytes).copied()
    }

    /// Has a guest be seen, and gives the records that it makes a pair with. It is in the blocks that it would be in if it
    /// were entered.
    pub fn invite(&mut self, guest: Guest) -> Vec<Near> {
        let record = Rc::clone(&guest.record);
        self.guest = Some((guest, HashMap::new()));
        let mut ids = BTreeMap::new();
        for &key in &record.keys {
            let (most, key_type) = (self.register.most_of(key) as usize, self.register.key_type);
            let own = self
                .guest
                .as_ref()
                .and_then(|(guest, _)| guest.own.as_deref());
            let (mut of_block, mut is_open, mut is_there) = (Vec::new(), true, false);
            self.keys.each(key, |row| {
                let Some(id) = row.id() else {
                    is_open = false;
                    return true;
                };
                // SAFETY: of the key's type; the bytes are those of a copy.
                let (bytes, copy) = unsafe {
                    let copy = key_type.copy(id);
                    (key_type.bytes(&copy).to_vec(), copy)
                };
                match own == Some(&bytes[..]) {
                    true => is_there = true,
                    false => of_block.push((bytes, copy)),
                }
                true
            });
            let is_in = is_there || (is_open && of_block.len() < most);
            for (bytes, id) in of_block.into_iter().filter(|_| is_in) {
                let search = self.register.search_of(key);
                let first = &mut ids.entry(bytes).or_insert((id, search)).1;
                *first = search.min(*first);
            }
        }
        let mut near = Vec::new();
        for (bytes, (id, search)) in ids {
            if let Some(other) = self.load(id, &bytes) {
                let score = record.score(self.register, &other);
                near.push(Near {
                    id,
                    bytes,
                    score,
                    search,
                });
            }
        }
        let scores = near.iter().map(|near| (near.bytes.clone(), near.score));
        let scores = scores.collect();
        if let Some((_, known)) = &mut self.guest {
            *known = scores;
        }
        near
    }
}

/// A record of another transaction that has not ended, which makes a pair with one.
pub struct Pending {
    pub bytes: Vec<u8>,
    pub transaction: pg_sys::TransactionId,
}

/// A snapshot that sees what is not committed, too, and says who has written it; as long as the memory of the call.
fn dirty_snapshot() -> pg_sys::Snapshot {
    // SAFETY: the snapshot is zeroed but for its type, as InitDirtySnapshot() leaves it.
    unsafe {
        let dirty: pg_sys::Snapshot = pg_sys::palloc0(size_of::<pg_sys::SnapshotData>()).cast();
        (*dirty).snapshot_type = pg_sys::SnapshotType::SNAPSHOT_DIRTY;
        dirty
    }
}

/// The transaction that enters a record, if it has not ended and is another one.
pub fn inserter(register: &Register, id: pg_sys::Datum) -> Option<pg_sys::TransactionId> {
    let (dirty, mut found) = (dirty_snapshot(), pg_sys::InvalidTransactionId);
    let mut rows = register.rows.read(dirty);
    rows.each_of(id, |_| {
        // SAFETY: the snapshot says who inserts the row that was found.
        found = unsafe { (*dirty).xmin };
        true
    });
    (found != pg_sys::InvalidTransactionId).then_some(found)
}

/// Whether a record makes a pair of this probability with any other one, also with one that is not committed; and
/// the records with which it does whose transactions have not ended.
///
/// Errors: those of reading values.
pub fn pending(
    register: &Register,
    own: &[u8],
    record: &Loaded,
    least: f64,
) -> Result<(bool, Vec<Pending>)> {
    let dirty = dirty_snapshot();
    let key_type = register.key_type;
    let mut ids: BTreeMap<Vec<u8>, (pg_sys::Datum, pg_sys::TransactionId)> = BTreeMap::new();
    {
        let mut keys = register.keys.read(dirty);
        for &key in &record.keys {
            let (mut of_block, mut has_own) = (Vec::new(), false);
            keys.each(key, |row| {
                if let Some(id) = row.id() {
                    // SAFETY: of the key's type; the bytes are those of a copy. The snapshot says who inserts the row, if that
                    // is not decided.
                    let (bytes, copy, inserter) = unsafe {
                        let copy = key_type.copy(id);
                        (key_type.bytes(&copy).to_vec(), copy, (*dirty).xmin)
                    };
                    match bytes == own {
                        true => has_own = true,
                        false => of_block.push((bytes, copy, inserter)),
                    }
                }
                true
            });
            for (bytes, id, inserter) in of_block.into_iter().filter(|_| has_own) {
                let known = ids.entry(bytes).or_insert((id, inserter));
                if inserter != pg_sys::InvalidTransactionId {
                    known.1 = inserter;
                }
            }
        }
    }
    let (mut is_any, mut undecided) = (false, Vec::new());
    let mut rows = register.rows.read(dirty);
    for (bytes, (id, mut transaction)) in ids {
        let mut is_near = false;
        // A row that another transaction is changing is found as it was and as it will be.
        rows.each_of(id, |row| {
            // SAFETY: as above.
            let inserter = unsafe { (*dirty).xmin };
            if inserter != pg_sys::InvalidTransactionId {
                transaction = inserter;
            }
            let other = Loaded::new(register, &register.texts.of_row(&row.row()));
            is_near |= record.score(register, &other).probability >= least;
            true
        });
        is_any |= is_near;
        if is_near && transaction != pg_sys::InvalidTransactionId {
            undecided.push(Pending { bytes, transaction });
        }
    }
    Ok((is_any, undecided))
}
