//! The pairs of records that were found for one record of a statement, for the next one.
//!
//! A statement that changes many records of a component has each of them looked at, one after the other. Between two of
//! them no command runs, and this transaction has the lock for joining and parting. So pairs stay as they are, but for
//! those of the record that changes.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use linkage::model::Score;
use pgrx::pg_sys;

use super::super::row::Version;
use super::super::stored::Register;
use super::neighbours::Near;
use pg::memory::{within, Scratch};

/// For whom and until when pairs are known.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Scope {
    register: (pg_sys::Oid, Version),
    transaction: u64,
    subtransaction: pg_sys::SubTransactionId,
    command: pg_sys::CommandId,
}

/// The records that one makes pairs with, by their numbers, with the first search; `None` for one that is not in the table.
type Pairs = Option<BTreeMap<u32, (Score, usize)>>;

struct Known {
    scope: Scope,
    numbers: HashMap<Vec<u8>, u32>,
    /// The bytes by which each key is known, and the key, in the memory of the transaction.
    keys: Vec<(Vec<u8>, pg_sys::Datum)>,
    /// Of each record that was looked at.
    pairs: Vec<Option<Pairs>>,
    count: usize,
    memory: Scratch,
}

pg::session_state! {
    static KNOWN: RefCell<Option<Known>> = RefCell::default();
    "pairs of records that hang together" by "record" until "the next command"
        bytes |known| known.borrow().as_ref().map_or(0, Known::bytes);
}

impl Scope {
    fn now(register: &Register) -> Scope {
        // SAFETY: a trigger runs in a transaction.
        unsafe {
            Scope {
                register: (register.oid, register.version),
                transaction: pg_sys::GetTopFullTransactionIdIfAny().value,
                subtransaction: pg_sys::GetCurrentSubTransactionId(),
                command: pg_sys::GetCurrentCommandId(false),
            }
        }
    }
}

/// Forgets all.
pub fn clear() {
    let Some(known) = KNOWN.take() else { return };
    // SAFETY: a look at the transaction's state. The memory of another transaction is gone with it.
    let transaction = unsafe { pg_sys::GetTopFullTransactionIdIfAny().value };
    if known.scope.transaction == transaction {
        known.memory.delete();
    }
}

/// Runs with what is known, if there is anything.
fn with<T>(run: impl FnOnce(&mut Known) -> T) -> Option<T> {
    KNOWN.with_borrow_mut(|known| known.as_mut().map(run))
}

/// A record has changed, and will be looked at next: its keys before and afterwards, if it is there.
pub fn changes(register: &Register, old: Option<pg_sys::Datum>, new: Option<pg_sys::Datum>) {
    let now = Scope::now(register);
    // SAFETY: two keys of the register's type.
    let is_same = |old, new| unsafe { register.key_type.is_same(old, new) };
    let is_renamed = old.zip(new).is_some_and(|(old, new)| !is_same(old, new));
    let is_valid = with(|known| known.scope == now);
    let Some(id) = new
        .or(old)
        .filter(|_| is_valid == Some(true) && !is_renamed)
    else {
        return clear();
    };
    let (bytes, _) = register.identity(id);
    with(|known| {
        let number = known.number(register, &bytes, id);
        known.pairs[number as usize] = None;
        for pairs in known.pairs.iter_mut().flatten().flatten() {
            pairs.remove(&number);
        }
    });
}

/// Begins to look at what hangs together with a record that has changed. What has no room in `work_mem` is forgotten.
pub fn begin(register: &Register) {
    let now = Scope::now(register);
    // SAFETY: a setting of this process.
    let most = unsafe { pg_sys::work_mem } as usize * 1024;
    if with(|known| known.scope == now && known.bytes() <= most) == Some(true) {
        return;
    }
    clear();
    // SAFETY: the context lives as long as the transaction.
    let memory = unsafe {
        within(pg_sys::TopTransactionContext, || {
            Scratch::new(c"keys of known pairs")
        })
    };
    KNOWN.set(Some(Known {
        scope: now,
        numbers: HashMap::new(),
        keys: Vec::new(),
        pairs: Vec::new(),
        count: 0,
        memory,
    }));
}

/// What is known stays so until the next command, though this one has written entities.
pub fn end(register: &Register) {
    let now = Scope::now(register);
    with(|known| known.scope = now);
}

/// The pairs of a record, if they are known; `Some(None)` if it is not in the table.
pub fn get(bytes: &[u8]) -> Option<Option<Vec<Near>>> {
    with(|known| {
        let &number = known.numbers.get(bytes)?;
        let pairs = known.pairs[number as usize].as_ref()?;
        let near = |(&number, &(score, search)): (&u32, &(Score, usize))| {
            let (bytes, id) = &known.keys[number as usize];
            Near {
                id: *id,
                bytes: bytes.clone(),
                score,
                search,
            }
        };
        Some(pairs.as_ref().map(|pairs| pairs.iter().map(near).collect()))
    })?
}

/// Keeps all pairs of a record.
pub fn put(register: &Register, bytes: &[u8], id: pg_sys::Datum, near: Option<&[Near]>) {
    with(|known| {
        let number = known.number(register, bytes, id);
        let mut pairs = BTreeMap::new();
        for near in near.unwrap_or_default() {
            let other = known.number(register, &near.bytes, near.id);
            pairs.insert(other, (near.score, near.search));
            if let Some(Some(of_other)) = &mut known.pairs[other as usize] {
                of_other.entry(number).or_insert((near.score, near.search));
            }
        }
        known.count += pairs.len();
        known.pairs[number as usize] = Some(near.map(|_| pairs));
    });
}

impl Known {
    /// About.
    fn bytes(&self) -> usize {
        self.count * 50 + self.keys.len() * 150
    }

    fn number(&mut self, register: &Register, bytes: &[u8], id: pg_sys::Datum) -> u32 {
        if let Some(&number) = self.numbers.get(bytes) {
            return number;
        }
        let number = self.keys.len() as u32;
        // SAFETY: of the key's type.
        let id = self.memory.within(|| unsafe { register.key_type.copy(id) });
        self.numbers.insert(bytes.to_vec(), number);
        self.keys.push((bytes.to_vec(), id));
        self.pairs.push(None);
        number
    }
}
