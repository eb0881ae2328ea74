//! `bloom_register_refit`: another model for a register, what it changes, and the switch to it.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::rc::Rc;

use base::Error;
use linkage::model::json::write_model;
use linkage::model::keys::{are_same, search_of};
use linkage::model::{Status, MOST_SEARCHES};
use pgrx::PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE;
use pgrx::{pg_sys, IntoDatum};

use super::check::open_locked;
use super::create::{check_owner, check_snapshot, count_records, int4s, regtypes, types_of};
use super::fill::{by_owner, each_block, each_record, BlockWriter};
use super::options::{members, records};
use super::prefix;
use super::refit_sample::{Sample, Sampled};
use super::row::{model_statement, StoredRow};
use super::stored::Register;
use crate::models::{check_of_one_table, fit_anew, known_model_of, min_probability, KnownModel};
use pg::budget::Budget;
use pg::error::{raise, sql_error, OrRaise};
use pg::file::{ByteStrings, RecordSort};
use pg::function::arguments::Arguments;
use pg::function::rows::{text_datum, ResultRows};
use pg::message::words;
use pg::session::fixed_settings::without_row_security;
use pg::session::{not_during_recovery, Session};
use pg::snapshot::{now, ScanSnapshot};
use pg::values::jsonb::jsonb_datum;
use pg::values::text::to_database;
use pg::values::varlena::NewValue;
use pg::{entry, relation, sql};

/// Records of which the pairs that change are looked for, if nobody says how many.
const SAMPLE: i64 = 1000;

/// `(register regclass, model jsonb, apply boolean, min_probability float8, options jsonb) RETURNS TABLE (change text,
/// a text, b text, was float8, now float8)`
#[entry(volatile, called_on_null, parallel_unsafe)]
fn bloom_register_refit(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    not_during_recovery(c"bloom_register_refit()");
    // SAFETY: the SQL function is declared with these arguments, and to return a set of rows.
    let (arguments, mut rows) = unsafe { (Arguments::new(fcinfo), ResultRows::new(fcinfo)) };
    let (oid, apply) = (arguments.oid(0), arguments.boolean(2));
    let least = min_probability(arguments, 3);
    let options = Options::parse(&arguments.jsonb(4));
    let register = Register::open(oid, &ScanSnapshot::active());
    check_owner(register.relation);
    check_snapshot();
    // The fit takes longest, and nobody waits for it.
    let model = match arguments.datum(1) {
        Some(model) => model,
        None => fitted(&register, apply),
    };
    let register = match apply {
        true => open_locked(oid),
        false => {
            relation::lock(register.relation, pg_sys::AccessShareLock);
            Register::latest(oid, register.relation).or_raise()
        }
    };
    register.check_kept();
    let refit = Refit::new(&register, model, options.records);
    let mut sample = Sample::draw(&refit.was, &refit.now, options.sample);
    let keys = refit.look(&mut sample);
    let pairs = sample.pairs(least);
    let counts = refit.settle(keys, apply);
    if apply {
        refit.switch(model);
        // SAFETY: a function that writes may begin another command, which sees the register as it is now.
        unsafe { pg_sys::CommandCounterIncrement() };
        Register::newest(oid).settle_entities();
    }
    refit.report(&mut rows, &counts, &pairs);
    NewValue(pg_sys::Datum::null())
}

/// What is asked of a refit besides.
struct Options {
    /// For how many records the model is to be used.
    records: Option<i64>,
    /// Of how many records pairs are shown.
    sample: i64,
}

impl Options {
    /// Errors: an unknown option; a value that cannot be.
    fn parse(json: &str) -> Options {
        let mut options = Options {
            records: None,
            sample: SAMPLE,
        };
        for (name, value) in members(json).or_raise() {
            match (name.as_str(), value.as_i64()) {
                ("records", _) => options.records = Some(records(&value).or_raise()),
                ("sample", Some(n)) if (0..=10_000).contains(&n) => options.sample = n,
                ("sample", _) => raise(
                    &Error::invalid(format!("option \"sample\" cannot be {value}"))
                        .detail("It is a number of records, from 0 to 10000."),
                ),
                _ => raise(
                    &Error::invalid(format!("unrecognized option \"{name}\""))
                        .detail("The options are \"records\" and \"sample\".")
                        .perhaps("option", &name, ["records", "sample"]),
                ),
            }
        }
        options
    }
}

/// A model that is fitted to the records as they are now, as a `jsonb`.
///
/// Errors: those of a fit; it is to be applied, and should not be used.
fn fitted(register: &Register, apply: bool) -> pg_sys::Datum {
    let was = register.known.ready.model();
    let key = register.key.name.clone();
    let model = fit_anew(register.relation, key, was, "bloom_register_refit");
    if apply && model.status != Status::Converged {
        let status = model.status.name();
        raise(
            &sql_error(
                ERRCODE_INVALID_PARAMETER_VALUE,
                format!("the new model should not be used: its status is {status}"),
            )
            .detail(words!(
                "The register \"{register.oid}\" keeps the one that it has."
            ))
            .hint(
                "Give a model of bloom_model_fit() in argument \"model\", which is taken as it is.",
            ),
        );
    }
    jsonb_datum(&write_model(&model).or_raise())
}

/// A register, and what it is to become.
struct Refit {
    was: Rc<Register>,
    now: Register,
    /// The searches that stay: their number in the new model, and in the old one.
    kept: BTreeMap<usize, usize>,
    /// The numbers in keys of the searches that go, and of those that come.
    gone: BTreeSet<usize>,
    new: BTreeSet<usize>,
}

/// The keys that may have to be written.
struct NewKeys {
    /// With the numbers of their records.
    sort: RecordSort<2>,
    /// The keys of these records.
    ids: ByteStrings,
    /// Those of closed blocks of searches that stay.
    closed: HashSet<i64>,
}

/// Rows of keys, by the numbers in keys.
#[derive(Default)]
struct Counts {
    was: BTreeMap<usize, i64>,
    now: BTreeMap<usize, i64>,
    written: i64,
    deleted: i64,
    /// Closed blocks of searches that stay which have room again.
    opened: i64,
}

impl Refit {
    /// Errors: the model is none of one table, or reads columns that there are not.
    fn new(was: &Rc<Register>, model: pg_sys::Datum, records: Option<i64>) -> Refit {
        // SAFETY: a jsonb.
        let known = unsafe { known_model_of(model) }.0;
        check_of_one_table(&known.ready, "bloom_register_refit()");
        let types = types_of(was.relation, &was.key, &known);
        // Who has said for how many records the model is used has it so until somebody says otherwise.
        let records = records
            .or(was.options.records)
            .unwrap_or_else(|| count_records(&Session::begin(false), was.relation, &known));
        let (numbers, kept) = numbers(was, &known, records);
        let row = StoredRow {
            relation: was.relation,
            key: was.key.name.clone(),
            model: known,
            records,
            types,
            keys: was.keys.oid,
            options: was.options,
            searches: numbers,
            entities: was.settings.clone(),
        };
        let now = Register::new(was.oid, was.version, row).or_raise();
        let in_keys = |register: &Register, stays: &dyn Fn(&usize) -> bool| -> BTreeSet<usize> {
            let searches = register.of.keys.searches.iter().map(|search| search.0);
            let others = searches.filter(|search| !stays(search));
            others
                .map(|search| register.numbers_in_keys[search])
                .collect()
        };
        let mut gone = in_keys(was, &|search| kept.values().any(|old| old == search));
        let mut new = in_keys(&now, &|search| kept.contains_key(search));
        match (&was.names, &now.names) {
            (Some(old), Some(names)) if names.have_keys_of(old) => (),
            (old, names) => {
                gone.extend(old.iter().map(|_| prefix::NUMBER));
                new.extend(names.iter().map(|_| prefix::NUMBER));
            }
        }
        Refit {
            gone,
            new,
            was: Rc::clone(was),
            now,
            kept,
        }
    }

    /// Looks at all records once: which keys are to be written, and which records the sample is brought together with.
    fn look(&self, sample: &mut Sample) -> NewKeys {
        let memory = Budget::of_setting().bytes();
        let session = Session::begin(false);
        let keys = self.was.keys.oid;
        let mut change = NewKeys {
            sort: RecordSort::new(memory / 2),
            ids: ByteStrings::new(memory / 4),
            closed: HashSet::new(),
        };
        session.each(
            &sql!("SELECT DISTINCT key FROM {keys} WHERE id IS NULL"),
            &[],
            |row| {
                let key = row.integer(0);
                if !self.gone.contains(&search_of(key as u64)) {
                    change.closed.insert(key);
                }
            },
        );
        let mut records = 0;
        without_row_security(|| {
            each_record(&session, &self.now, |id, keys| {
                let mut is_written = false;
                for key in keys {
                    let is_new = self.new.contains(&search_of(key as u64));
                    if is_new || change.closed.contains(&key) {
                        change.sort.push([key as u64, records]);
                        sample.see(key, id);
                        is_written = true;
                    }
                }
                if is_written {
                    // SAFETY: of the key's type.
                    change
                        .ids
                        .push(Some(&unsafe { self.now.key_type.packed(id) }));
                    records += 1;
                }
            });
        });
        change
    }

    /// Counts what becomes of the keys, and writes them so if `apply` says it.
    fn settle(&self, keys: NewKeys, apply: bool) -> Counts {
        let table = self.was.keys.oid;
        let mut counts = Counts::default();
        Session::begin(false).each(
            &sql!(
                "SELECT key OPERATOR(pg_catalog.&) 63, pg_catalog.count(*) FROM {table} GROUP BY 1"
            ),
            &[],
            |row| {
                counts.was.insert(row.integer(0) as usize, row.integer(1));
            },
        );
        counts.now = counts.was.clone();
        for number in &self.gone {
            counts.deleted += counts.now.remove(number).unwrap_or_default();
        }
        if apply && counts.deleted > 0 {
            let gone = int4s(self.gone.iter().map(|&number| number as i32).collect());
            let delete = sql!("DELETE FROM {table} WHERE (key OPERATOR(pg_catalog.&) 63)::pg_catalog.int4 OPERATOR(pg_catalog.=) ANY ($1)");
            by_owner(&self.was, table, |session| session.run(&delete, &[gone]));
        }
        let mut writes = apply.then(|| {
            let blocks = BlockWriter::new(&self.now, keys.ids);
            (self.was.keys.read(&now()), self.was.keys.write(), blocks)
        });
        each_block(&self.now, keys.sort, |key, records| {
            let (most, number) = (self.now.most_of(key) as usize, search_of(key as u64));
            let rows = if records.len() > most {
                1
            } else {
                records.len() as i64
            };
            let was_closed = keys.closed.contains(&key);
            if was_closed && records.len() > most {
                return;
            }
            counts.written += rows;
            *counts.now.entry(number).or_default() += rows;
            if was_closed {
                counts.opened += 1;
                counts.deleted += 1;
                *counts.now.entry(number).or_default() -= 1;
            }
            let Some((reader, deleter, blocks)) = &mut writes else {
                return;
            };
            if was_closed {
                let mut closing = Vec::new();
                reader.each(key, |row| {
                    closing.push(row.tid());
                    true
                });
                closing.into_iter().for_each(|tid| deleter.delete(tid));
            }
            blocks.write(key, records);
        });
        if let Some((.., blocks)) = writes {
            blocks.finish();
        }
        counts
    }

    /// Makes the register one of the new model.
    fn switch(&self, model: pg_sys::Datum) {
        let (register, now) = (self.was.oid, &self.now);
        let (known, key) = (&now.known, &now.key);
        let numbers = now.numbers_in_keys.iter().map(|&number| number as i32);
        let values = [
            (pg_sys::JSONBOID, model),
            (pg_sys::INT8OID, pg_sys::Datum::from(now.records)),
            regtypes(&types_of(now.relation, key, known)),
            int4s(numbers.collect()),
        ];
        by_owner(&self.was, register, |session| {
            session.run(&model_statement(register), &values)
        });
        // SAFETY: what was written is to be seen; a relation that exists. Guards look again at which columns the model reads.
        unsafe {
            pg_sys::CommandCounterIncrement();
            pg_sys::CacheInvalidateRelcacheByRelid(register);
        }
        // Here whatever else is kept of the pairs that a register finds is to be made anew.
    }

    /// Says what changes, and which pairs.
    fn report(&self, rows: &mut ResultRows, counts: &Counts, sampled: &Sampled) {
        let number =
            |name: &str, was: i64, now: i64| (name.to_owned(), Some(was as f64), Some(now as f64));
        let all = |rows: &BTreeMap<usize, i64>| rows.values().sum::<i64>();
        let mut changes = vec![number("records", self.was.records, self.now.records)];
        let meaning = |register: &Register, search: usize| {
            let model = register.known.ready.model();
            model.search_meaning(&model.searches[search].search)
        };
        let of = |rows: &BTreeMap<usize, i64>, number: usize| {
            rows.get(&number).copied().unwrap_or_default()
        };
        for search in self.now.of.keys.searches.iter().map(|search| search.0) {
            let in_keys = self.now.numbers_in_keys[search];
            let (what, was) = match self.kept.contains_key(&search) {
                true => ("search stays", of(&counts.was, in_keys)),
                false => ("search comes", 0),
            };
            let name = format!("{what}: {}", meaning(&self.now, search));
            changes.push(number(&name, was, of(&counts.now, in_keys)));
        }
        for search in self.was.of.keys.searches.iter().map(|search| search.0) {
            let in_keys = self.was.numbers_in_keys[search];
            if self.gone.contains(&in_keys) {
                let name = format!("search goes: {}", meaning(&self.was, search));
                changes.push(number(&name, of(&counts.was, in_keys), 0));
            }
        }
        if self.was.options.prefix {
            let beginnings = |rows| of(rows, prefix::NUMBER);
            let (was, now) = (beginnings(&counts.was), beginnings(&counts.now));
            changes.push(number("beginnings of names", was, now));
        }
        changes.extend([
            number("keys", all(&counts.was), all(&counts.now)),
            ("keys written".to_owned(), None, Some(counts.written as f64)),
            ("keys deleted".to_owned(), None, Some(counts.deleted as f64)),
            (
                "closed blocks that open".to_owned(),
                None,
                Some(counts.opened as f64),
            ),
            number("records of the sample", sampled.records, sampled.records),
            number("pairs of the sample", sampled.was, sampled.now),
        ]);
        for (name, was, now) in changes {
            rows.make(|| {
                let name = text_datum(&to_database(&name));
                Some([Some(name), None, None, was.into_datum(), now.into_datum()])
            });
        }
        for pair in &sampled.changed {
            rows.make(|| {
                let [a, b] = pair.keys.each_ref().map(|key| Some(text_datum(key)));
                let what = text_datum(pair.what().as_bytes());
                Some([
                    Some(what),
                    a,
                    b,
                    pair.was.into_datum(),
                    pair.now.into_datum(),
                ])
            });
        }
    }
}

/// The numbers in keys of the searches of a model that follows another one, and which of them stay, by their number in
/// the new model, with that in the old one. Those that are not done have no keys, and stay nowhere.
fn numbers(was: &Register, known: &KnownModel, records: i64) -> (Vec<i32>, BTreeMap<usize, usize>) {
    let n = records as f64;
    let of = known.for_records(n, n * (n - 1.0) / 2.0);
    let (old, new) = (was.known.ready.model(), known.ready.model());
    let mut kept = BTreeMap::new();
    for &(search, _) in &of.keys.searches {
        let others = was.of.keys.searches.iter().map(|search| search.0);
        let mut free = others.filter(|other| !kept.values().any(|taken| taken == other));
        if let Some(same) = free.find(|&other| are_same((old, other), (new, search))) {
            kept.insert(search, same);
        }
    }
    let taken: BTreeSet<usize> = kept.values().map(|&old| was.numbers_in_keys[old]).collect();
    let mut free = (0..MOST_SEARCHES).filter(|number| !taken.contains(number));
    let number = |search: usize| match kept.get(&search) {
        Some(&old) => was.numbers_in_keys[old] as i32,
        None => free
            .next()
            .expect("a model has no more searches than there are numbers") as i32,
    };
    ((0..new.searches.len()).map(number).collect(), kept)
}
