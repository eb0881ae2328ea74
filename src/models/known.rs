//! Models that functions of single records are called with, read once: a statement calls them for record after record, and reading a model
//! takes a thousand times as long as scoring a pair by it.
//!
//! A constant, and a parameter of a query, is known by the place of the call. A value that is stored out of line is known by its TOAST pointer within a statement, in which
//! nothing that it sees can make room for another value. Everything else is known by its bytes.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use linkage::model::json::read_model;
use linkage::model::keys::RecordKeys;
use linkage::model::{MatchModel, Pattern, ReadyModel, ReadyRecord, Scorer, Search};
use pgrx::pg_sys;
use twox_hash::XxHash3_64;

use super::options::ModelOptions;
use super::pair_limit::chosen;
use pg::error::OrRaise;
use pg::function::arguments::Arguments;
use pg::function::place::Place;
use pg::session_state::map_bytes;
use pg::values::jsonb::{json_text, JsonObject};
use pg::values::text::to_database;
use pg::values::varlena::{stored_value, StoredValue, Varlena};

/// What is kept takes so many bytes, as far as that is known. A model that takes more is read for every call.
const MOST_BYTES: usize = 32 << 20;

/// Records of more bytes are not kept for the next call.
const LARGEST_RECORD: usize = 1 << 16;

/// Most TOAST pointers that are known.
const MOST_POINTERS: usize = 1024;

/// A model, ready for single records.
pub struct KnownModel {
    /// Bytes of its JSON.
    json: usize,
    pub ready: ReadyModel,
    /// The names of its fields, in the database's encoding.
    pub names: Vec<Vec<u8>>,
    /// The last record on either side: mostly one is compared with several.
    last: RefCell<[LastRecord; 2]>,
    /// For the number of records that was asked for last.
    for_records: RefCell<Option<Rc<ForRecords>>>,
}

/// A record's values, a text or nothing for each field of the model.
pub type SingleRecord<'o> = Vec<Option<Cow<'o, str>>>;

/// A record, and the object that it was read from.
#[derive(Default)]
struct LastRecord {
    object: Vec<u8>,
    record: ReadyRecord,
}

/// A model, ready for so many records.
pub struct ForRecords {
    records: f64,
    all_pairs: f64,
    pub scorer: Scorer<Rc<MatchModel>>,
    /// Those of the searches that are made in a table of so many records.
    pub keys: RecordKeys,
}

impl KnownModel {
    fn new(json: &str) -> KnownModel {
        let ready = ReadyModel::new(read_model(json).or_raise());
        let fields = ready.model().fields.iter();
        KnownModel {
            json: json.len(),
            names: fields.map(|field| to_database(&field.name)).collect(),
            ready,
            last: RefCell::default(),
            for_records: RefCell::default(),
        }
    }

    /// The levels of two records, which are objects. `read` gives the values of one of them that is not known.
    pub fn pattern<'o>(
        &self,
        objects: [&'o JsonObject<'o>; 2],
        read: impl Fn(usize) -> SingleRecord<'o>,
    ) -> Pattern {
        let mut last = self.last.borrow_mut();
        let mut is_new = [0, 1].map(|i: usize| last[i].object != objects[i].bytes());
        for i in 0..2 {
            if !is_new[i] {
                continue;
            }
            let [a, b] = &mut *last;
            let (last, other) = match i {
                0 => (a, b),
                _ => (b, a),
            };
            last.object.clear();
            let beside = (!is_new[1 - i]).then_some(&other.record);
            let prepared = (self.ready).prepare(&mut last.record, &read(i), beside);
            prepared.or_raise();
            last.object.extend_from_slice(objects[i].bytes());
            is_new[i] = false;
        }
        let [a, b] = &mut *last;
        let pattern = self.ready.compare(&mut a.record, &mut b.record).or_raise();
        let large = last
            .iter_mut()
            .filter(|last| last.object.len() > LARGEST_RECORD);
        large.for_each(|last| *last = LastRecord::default());
        pattern
    }

    /// Frees what is kept of records.
    fn forget_records(&self) {
        self.ready.forget_values();
        self.last.take();
    }

    /// The same for so many records, which make so many pairs.
    pub fn for_records(&self, records: f64, all_pairs: f64) -> Rc<ForRecords> {
        let mut last = self.for_records.borrow_mut();
        match &*last {
            Some(last) if last.records == records && last.all_pairs == all_pairs => Rc::clone(last),
            _ => {
                let model = self.ready.model();
                Rc::clone(last.insert(Rc::new(ForRecords {
                    records,
                    all_pairs,
                    scorer: Scorer::new(Rc::clone(model), records, all_pairs),
                    keys: RecordKeys::new(model, key_searches(model, records)),
                })))
            }
        }
    }
}

/// The numbers of the searches that are made in a table of so many records, if it is not scanned.
fn key_searches(model: &MatchModel, records: f64) -> Vec<usize> {
    let has_keys = |search: &Search| !matches!(search, Search::Scan { .. });
    let numbers = (0..model.searches.len()).filter(|&i| has_keys(&model.searches[i].search));
    let numbers: Vec<usize> = numbers.collect();
    let searches = numbers.iter().map(|&number| &model.searches[number]);
    let most = ModelOptions::default().most_pairs(records);
    let chosen = chosen(searches, records, 0.0, most);
    let numbers = numbers.into_iter().zip(chosen);
    numbers
        .filter_map(|(number, is_chosen)| is_chosen.then_some(number))
        .collect()
}

/// A model that is kept.
struct Kept {
    /// The value, as it is stored.
    stored: Box<[u8]>,
    hash: u64,
    model: Rc<KnownModel>,
    /// When it was used last, in calls.
    used: u64,
}

impl Kept {
    /// What the model has of its fields is about twice as large as the JSON that it was read from.
    fn bytes(&self) -> usize {
        self.stored.len() + 2 * self.model.json + size_of::<Kept>()
    }
}

#[derive(Default)]
struct Known {
    /// By number, of which none is used again.
    models: HashMap<usize, Kept>,
    by_hash: HashMap<u64, usize>,
    /// By TOAST pointer, within one statement.
    by_pointer: HashMap<[u8; StoredValue::POINTER], usize>,
    statement: i64,
    bytes: usize,
    calls: u64,
    /// The number of the one that came last, and of the one that was used last.
    newest: usize,
    last: usize,
}

pg::session_state! {
    static KNOWN: RefCell<Known> = RefCell::default();
    "models of single records" by "jsonb" until "others need the room" bytes |known| {
        let known = known.borrow();
        let values = known.models.get(&known.last).map_or(0, |kept| kept.model.ready.bytes_of_values());
        values + known.bytes + map_bytes(&known.models) + map_bytes(&known.by_hash) + map_bytes(&known.by_pointer)
    };
}

impl Known {
    fn get(&mut self, number: usize) -> Option<Rc<KnownModel>> {
        self.calls += 1;
        let kept = self.models.get_mut(&number)?;
        kept.used = self.calls;
        let model = Rc::clone(&kept.model);
        self.use_now(number);
        Some(model)
    }

    /// Only the model that is used has values that it has seen.
    fn use_now(&mut self, number: usize) {
        if self.last != number {
            let last = self.models.get(&self.last);
            last.into_iter()
                .for_each(|kept| kept.model.forget_records());
            self.last = number;
        }
    }

    /// The number of a value, if it is kept. The one that was used last is compared without computing a hash.
    fn find(&self, stored: &[u8]) -> Option<usize> {
        let is_it =
            |number: &usize| (self.models.get(number)).is_some_and(|kept| *kept.stored == *stored);
        let by_hash = || self.by_hash.get(&XxHash3_64::oneshot(stored)).copied();
        Some(self.last)
            .filter(is_it)
            .or_else(|| by_hash().filter(is_it))
    }

    fn forget(&mut self, number: usize) {
        if let Some(kept) = self.models.remove(&number) {
            self.bytes -= kept.bytes();
            self.by_hash.remove(&kept.hash);
        }
    }

    /// Keeps a model, and as many others as there is room for besides. Returns its number, or 0 if it is not kept.
    fn keep(&mut self, stored: &[u8], model: &Rc<KnownModel>) -> usize {
        let kept = Kept {
            stored: stored.into(),
            hash: XxHash3_64::oneshot(stored),
            model: Rc::clone(model),
            used: self.calls,
        };
        if kept.bytes() > MOST_BYTES {
            return 0;
        }
        if let Some(&same_hash) = self.by_hash.get(&kept.hash) {
            self.forget(same_hash);
        }
        self.bytes += kept.bytes();
        while self.bytes > MOST_BYTES {
            let oldest = self.models.iter().min_by_key(|(_, kept)| kept.used);
            let Some((&oldest, _)) = oldest else { break };
            self.forget(oldest);
        }
        self.newest += 1;
        self.by_hash.insert(kept.hash, self.newest);
        self.models.insert(self.newest, kept);
        self.use_now(self.newest);
        self.newest
    }
}

/// The model that is argument `i`, of which each place of a call has one.
///
/// Errors: NULL; no model; one that says nothing of a pair by itself.
pub fn known_model(arguments: Arguments, place: &mut Place, i: usize) -> Rc<KnownModel> {
    if let Some(model) = KNOWN.with_borrow_mut(|known| known.get(place.number)) {
        return model;
    }
    // SAFETY: a jsonb that lives as long as the call.
    let stored = unsafe { stored_value(arguments.given(i)) };
    let (model, number) = match stored {
        StoredValue::Here(bytes) => by_bytes(bytes, || arguments.jsonb(i)),
        StoredValue::Elsewhere(pointer) => by_pointer(arguments, i, pointer),
        StoredValue::Otherwise => by_content(arguments, i),
    };
    if arguments.is_settled(i) {
        place.number = number;
    }
    model
}

fn by_bytes(stored: &[u8], json: impl FnOnce() -> String) -> (Rc<KnownModel>, usize) {
    let known = KNOWN.with_borrow_mut(|known| {
        let number = known.find(stored)?;
        known.get(number).map(|model| (model, number))
    });
    known.unwrap_or_else(|| {
        let model = Rc::new(KnownModel::new(&json()));
        let number = KNOWN.with_borrow_mut(|known| known.keep(stored, &model));
        (model, number)
    })
}

fn by_content(arguments: Arguments, i: usize) -> (Rc<KnownModel>, usize) {
    // SAFETY: a jsonb that lives as long as the call.
    unsafe { of_value(arguments.given(i)) }
}

/// The model that a `jsonb` is, which is known by its bytes, and its number.
///
/// Errors: no model; one that says nothing of a pair by itself.
///
/// # Safety
/// `value` is a `jsonb` that is not NULL.
pub unsafe fn of_value(value: pg_sys::Datum) -> (Rc<KnownModel>, usize) {
    // SAFETY: the caller's.
    unsafe {
        let whole = Varlena::new(value);
        by_bytes(whole.bytes(), || json_text(value))
    }
}

fn by_pointer(
    arguments: Arguments,
    i: usize,
    pointer: [u8; StoredValue::POINTER],
) -> (Rc<KnownModel>, usize) {
    // SAFETY: looks at a variable of the server.
    let statement = unsafe { pg_sys::GetCurrentStatementStartTimestamp() };
    let known = KNOWN.with_borrow_mut(|known| {
        if known.statement != statement || known.by_pointer.len() >= MOST_POINTERS {
            known.by_pointer.clear();
            known.statement = statement;
        }
        let number = known.by_pointer.get(&pointer).copied()?;
        known.get(number).map(|model| (model, number))
    });
    known.unwrap_or_else(|| {
        let (model, number) = by_content(arguments, i);
        KNOWN.with_borrow_mut(|known| known.by_pointer.insert(pointer, number));
        (model, number)
    })
}
