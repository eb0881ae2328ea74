//! The records that a record makes pairs with, as they are now: whatever is committed, and what this transaction has
//! done, whatever its snapshot sees.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use base::Result;
use linkage::model::{ReadyRecord, Score};
use pgrx::pg_sys;

use super::super::stored::Register;
use super::super::texts::RecordTexts;
use super::known_pairs;
use pg::error::OrRaise;
use pg::key_table::{FoundRow, KeyReader};
use pg::snapshot::{dirty, now, ScanSnapshot};

/// A record that is ready to be compared, and its keys in the register.
pub struct Loaded {
    ready: RefCell<ReadyRecord>,
    texts: RecordTexts,
    keys: OnceCell<Vec<i64>>,
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

/// Records that are kept ready at most, if nothing else is said.
const MOST_KEPT: usize = 256;

/// Reads the records of a register's table, and what brings them together.
pub struct Neighbours<'r> {
    pub register: &'r Register,
    rows: KeyReader,
    keys: KeyReader,
    /// By the key's bytes.
    kept: HashMap<Vec<u8>, Rc<Loaded>>,
    /// Records that are kept ready at most.
    pub most: usize,
    /// Who is to be seen instead of the record of its key, and the probabilities that it has with others.
    guest: Option<(Guest, HashMap<Vec<u8>, Score>)>,
    /// Pairs are known by [`known_pairs`], if they have this probability.
    pub keeps: Option<f64>,
}

/// Another record of a block.
struct Other {
    id: pg_sys::Datum,
    /// The first search that brings the two together.
    search: usize,
    /// The transaction that enters it, if the snapshot says so.
    inserter: Option<pg_sys::TransactionId>,
}

/// The key of a record, by its bytes, and in which blocks it is.
enum Seat<'k> {
    /// Where it is found.
    Taken(&'k [u8]),
    /// Where it would be, too, if it were entered; it may have no key.
    Wanted(Option<&'k [u8]>),
}

/// The other records of the blocks that a record is in, by the bytes of their keys.
fn others(
    register: &Register,
    reader: &mut KeyReader,
    seat: Seat,
    keys: &[i64],
) -> BTreeMap<Vec<u8>, Other> {
    let (own, is_guest) = match seat {
        Seat::Taken(own) => (Some(own), false),
        Seat::Wanted(own) => (own, true),
    };
    let mut all: BTreeMap<Vec<u8>, Other> = BTreeMap::new();
    for &key in keys {
        let (mut of_block, mut is_there, mut is_open) = (Vec::new(), false, true);
        reader.seek(key.into());
        while let Some(id) = reader.next_seen() {
            match id.map(|id| register.identity(id)) {
                None => is_open = false,
                Some((bytes, _)) if own == Some(&bytes[..]) => is_there = true,
                Some((bytes, id)) => of_block.push((bytes, id, reader.inserter())),
            }
        }
        let is_free = || is_open && of_block.len() < register.most_of(key) as usize;
        let is_in = is_there || is_guest && is_free();
        if !is_in {
            continue;
        }
        let search = register.search_of(key);
        for (bytes, id, inserter) in of_block {
            let known = all.entry(bytes).or_insert(Other {
                id,
                search,
                inserter,
            });
            known.search = search.min(known.search);
            known.inserter = inserter.or(known.inserter);
        }
    }
    all
}

impl Register {
    /// The bytes by which a key is known, and a copy of it.
    pub fn identity(&self, id: pg_sys::Datum) -> (Vec<u8>, pg_sys::Datum) {
        // SAFETY: of the key's type.
        unsafe {
            let copy = self.key_type.copy(id);
            (self.key_type.bytes(&copy).to_vec(), copy)
        }
    }
}

impl Loaded {
    pub fn new(register: &Register, texts: RecordTexts) -> Loaded {
        Loaded {
            ready: RefCell::new(register.prepared(&texts)),
            texts,
            keys: OnceCell::new(),
        }
    }

    /// Most records are only compared.
    fn keys(&self, register: &Register) -> &[i64] {
        self.keys
            .get_or_init(|| register.search_keys_of(&self.texts))
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
    pub fn new(register: &'r Register, snapshot: &ScanSnapshot) -> Neighbours<'r> {
        Neighbours {
            register,
            rows: register.rows.read(snapshot),
            keys: register.keys.read(snapshot),
            kept: HashMap::new(),
            most: MOST_KEPT,
            guest: None,
            keeps: None,
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
            found = Some(Rc::new(Loaded::new(register, texts)));
            false
        });
        if self.kept.len() >= self.most {
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

    /// The records that a record makes a pair with whose probability is as great as this.
    ///
    /// Errors: those of reading values.
    pub fn of(&mut self, own: &[u8], record: &Loaded, least: f64) -> Vec<Near> {
        let mut near = Vec::new();
        for (bytes, other) in others(
            self.register,
            &mut self.keys,
            Seat::Taken(own),
            record.keys(self.register),
        ) {
            if !self.is_guest(&bytes) {
                near.extend(self.near(record, bytes, other));
            }
        }
        near.retain(|near| near.score.probability >= least);
        near
    }

    fn near(&mut self, record: &Loaded, bytes: Vec<u8>, other: Other) -> Option<Near> {
        let loaded = self.load(other.id, &bytes)?;
        Some(Near {
            id: other.id,
            bytes,
            score: record.score(self.register, &loaded),
            search: other.search,
        })
    }

    /// The same of the record of a key; `None` if it is not in the table. It may be known already.
    ///
    /// Errors: those of reading values.
    pub fn of_key(&mut self, id: pg_sys::Datum, own: &[u8], least: f64) -> Option<Vec<Near>> {
        let Some(lowest) = self.keeps else {
            let record = self.load(id, own)?;
            return Some(self.of(own, &record, least));
        };
        if let Some(known) = known_pairs::get(own) {
            return known;
        }
        let record = self.load(id, own);
        let near = record.map(|record| self.of(own, &record, lowest));
        known_pairs::put(self.register, own, id, near.as_deref());
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
        let (record, own) = (Rc::clone(&guest.record), guest.own.clone());
        self.guest = Some((guest, HashMap::new()));
        let seat = Seat::Wanted(own.as_deref());
        let others = others(
            self.register,
            &mut self.keys,
            seat,
            record.keys(self.register),
        );
        let near = others.into_iter();
        let near = near.filter_map(|(bytes, other)| self.near(&record, bytes, other));
        let near: Vec<Near> = near.collect();
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

/// The transaction that enters a record, if it has not ended and is another one.
pub fn inserter(register: &Register, id: pg_sys::Datum) -> Option<pg_sys::TransactionId> {
    let (mut rows, mut found) = (register.rows.read(&dirty()), None);
    rows.each_of(id, |row| {
        found = row.inserter();
        true
    });
    found
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
    let dirty = dirty();
    let mut keys = register.keys.read(&dirty);
    let others = others(register, &mut keys, Seat::Taken(own), record.keys(register));
    drop(keys);
    let (mut is_any, mut undecided) = (false, Vec::new());
    let mut rows = register.rows.read(&dirty);
    for (bytes, other) in others {
        let (is_there, mut is_near, mut inserter) = (Cell::new(false), false, other.inserter);
        let mut look = |row: &FoundRow<'_>| {
            inserter = row.inserter().or(inserter);
            let other = Loaded::new(register, register.texts.of_row(&row.row()));
            is_near |= record.score(register, &other).probability >= least;
            is_there.set(true);
            true
        };
        // A row that another transaction is changing is found as it was and as it will be; or as neither, if that ends
        // meanwhile.
        rows.each_of(other.id, &mut look);
        if !is_there.get() {
            register.rows.read(&now()).each_of(other.id, look);
        }
        is_any |= is_near;
        if let Some(transaction) = inserter.filter(|_| is_near) {
            undecided.push(Pending { bytes, transaction });
        }
    }
    Ok((is_any, undecided))
}
