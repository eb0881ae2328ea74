//! `bloom_register_match`: which records of a register are the same as one.

use std::collections::BTreeMap;
use std::rc::Rc;

use base::error::shortened;
use base::{Error, ErrorKind};
use linkage::model::{ReadyRecord, Score};
use pgrx::PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE;
use pgrx::{pg_sys, IntoDatum};

use super::stored::Register;
use super::texts::RecordTexts;
use crate::models::{min_probability, object_of, reading_fields, record};
use pg::catalog::privileges::{current_user, has_policies_for, may_select};
use pg::error::{raise, sql_error, OrRaise};
use pg::function::arguments::Arguments;
use pg::function::place::place;
use pg::function::rows::{text_datum, ResultRows};
use pg::key_table::KeyReader;
use pg::message::words;
use pg::session::{QueryRow, SavedPlan, Session};
use pg::snapshot::ScanSnapshot;
use pg::sql::Sql;
use pg::values::jsonb::jsonb_datum;
use pg::values::text::Text;
use pg::values::varlena::NewValue;
use pg::{catalog, entry, relation, sql};

/// Keys of records, by their bytes, with the first search that finds each.
pub type BroughtTogether = BTreeMap<Vec<u8>, (pg_sys::Datum, usize)>;

/// A record that a search brings together with the one that is looked for.
pub struct Candidate {
    /// A copy of its key.
    pub id: pg_sys::Datum,
    pub record: RecordTexts,
    /// The first search that does.
    search: usize,
}

/// `(register regclass, record jsonb, min_probability float8, "limit" integer, prefix boolean) RETURNS TABLE (key text,
/// probability float8, bits float8, search integer)`
///
/// `(register regclass, record text, min_probability float8, "limit" integer, prefix boolean) RETURNS TABLE (key text,
/// probability float8, bits float8, search integer)`
///
/// `(register regclass, record anyelement, min_probability float8, "limit" integer, prefix boolean) RETURNS TABLE (key text,
/// probability float8, bits float8, search integer)`
#[entry(stable, called_on_null, parallel_restricted)]
fn bloom_register_match(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments, and to return a set of rows.
    let (arguments, mut rows) = unsafe { (Arguments::new(fcinfo), ResultRows::new(fcinfo)) };
    let register = open(arguments.oid(0));
    // SAFETY: the call's; the jsonb lives as long as it.
    let json = unsafe { as_json(fcinfo, arguments.given(1)) };
    // SAFETY: as above.
    let object = unsafe { object_of(arguments, 1, json) };
    let least = min_probability(arguments, 2);
    let limit = arguments.datum(3).map(|limit| limit.value() as i32);
    if let Some(limit) = limit.filter(|&limit| limit < 1) {
        raise(
            &Error::invalid(format!("limit = {limit} is out of range"))
                .detail("It is the most records that are given; NULL stands for all."),
        );
    }
    let asked = record(arguments, 1, &register.known, &object);
    // SAFETY: the call's, of which nothing else uses the place; it is an object, or that was an error.
    unsafe {
        // Of the first record that a statement asks for: others of it have the same members.
        let tells = is_json(fcinfo) && std::mem::replace(&mut place(fcinfo).number, 1) == 0;
        if tells || asked.iter().all(Option::is_none) {
            register.tell_of_unknown(json);
        }
        if tells {
            register.tell_of_unread(&asked);
        }
    }
    // What is no key is that of no record.
    let own = register.key_in(&object).and_then(Result::ok);
    let own = own.map(|id| register.identity(id).0);
    let most = limit.map_or(usize::MAX, |limit| limit as usize);
    if arguments.datum(4).is_some() && arguments.boolean(4) {
        let Some(begun) = register.begun(&asked, own.as_deref()) else {
            // It would tell of rows that are hidden.
            if !has_policies_for(register.relation, current_user()) {
                register.tell_more(&asked);
            }
            return NewValue(pg_sys::Datum::null());
        };
        for begun in begun.iter().take(most) {
            rows.make(|| Some([Some(text_datum(&begun.key)), None, None, None]));
        }
        return NewValue(pg_sys::Datum::null());
    }
    let mut found = Vec::new();
    let mut prepared = register.prepared(&asked);
    for candidate in register.candidates(&register.search_keys_of(&asked), own.as_deref()) {
        let score = register.score(&mut prepared, &candidate.record);
        if score.probability >= least {
            found.push((score, register.text_of(candidate.id), candidate.search));
        }
    }
    found.sort_by(|(a, of_a, _), (b, of_b, _)| {
        (b.bits.total_cmp(&a.bits)).then_with(|| of_a.cmp(of_b))
    });
    for (score, key, search) in found.iter().take(most) {
        rows.make(|| {
            Some([
                Some(text_datum(key)),
                score.probability.into_datum(),
                score.bits.into_datum(),
                (*search as i32).into_datum(),
            ])
        });
    }
    NewValue(pg_sys::Datum::null())
}

/// Whether a record that is argument 1 is `jsonb`, or its text, and no row.
///
/// # Safety
/// `fcinfo` is that of a running function.
unsafe fn is_json(fcinfo: pg_sys::FunctionCallInfo) -> bool {
    // SAFETY: the caller's.
    let of_type = unsafe { pg_sys::get_fn_expr_argtype((*fcinfo).flinfo, 1) };
    [pg_sys::JSONBOID, pg_sys::TEXTOID, pg_sys::InvalidOid].contains(&of_type)
}

/// A record that is argument 1, as `jsonb`: it is one, or its text, or a row.
///
/// Errors: a text that is no JSON; those of making JSON of a row's values.
///
/// # Safety
/// `fcinfo` is that of a running function, of which `value` is argument 1.
pub unsafe fn as_json(fcinfo: pg_sys::FunctionCallInfo, value: pg_sys::Datum) -> pg_sys::Datum {
    // SAFETY: the caller's. The type is that of the expression that the function is called with, and the value is of it.
    unsafe {
        match pg_sys::get_fn_expr_argtype((*fcinfo).flinfo, 1) {
            pg_sys::JSONBOID | pg_sys::InvalidOid => value,
            pg_sys::TEXTOID => {
                let text = Text::from_raw(value);
                let text = text.as_str();
                if !text.trim_start().starts_with(['{', '[']) {
                    let message = format!("record \"{}\" is no JSON object", shortened(text, 40));
                    let error = Error::new(ErrorKind::InvalidText, message);
                    raise(&error.hint("Write a record as '{\"given_name\": \"Erika\", \"surname\": \"Mustermann\"}'."))
                }
                jsonb_datum(text)
            }
            of_type => {
                let session = Session::begin(true);
                let mut json = pg_sys::Datum::null();
                let query = sql!("SELECT pg_catalog.to_jsonb($1)");
                session.each(&query, &[(of_type, value)], |row| {
                    let value = row.datum(0).unwrap_or(pg_sys::Datum::null());
                    json = session.in_callers_memory(|| {
                        pg_sys::Datum::from(pg_sys::pg_detoast_datum_copy(value.cast_mut_ptr()))
                    });
                });
                json
            }
        }
    }
}

/// A register whose table the caller may read, and that is kept.
///
/// Errors: as [`Register::open`]; the caller may not SELECT the columns; its trigger is missing, or was disabled.
pub fn open(oid: pg_sys::Oid) -> std::rc::Rc<Register> {
    let register = Register::open(oid, &ScanSnapshot::active());
    let mut read = register.numbers.clone();
    read.push(register.key_number);
    if !may_select(register.relation, &read, current_user()) {
        raise(
            &sql_error(
                ERRCODE_INSUFFICIENT_PRIVILEGE,
                words!("permission denied for table {register.relation}"),
            )
            .detail("A register tells of the records of its table."),
        );
    }
    // Not for those who may not read it, who could keep others waiting by it.
    relation::lock(register.relation, pg_sys::AccessShareLock);
    // What was found out may be older than the lock.
    let register = Register::open(oid, &ScanSnapshot::active());
    register.check_kept();
    register
}

impl Register {
    /// What the bits and the probability of a pair are.
    pub fn score(&self, a: &mut ReadyRecord, b: &RecordTexts) -> Score {
        let (ready, mut other) = (&self.known.ready, ReadyRecord::default());
        let pattern =
            (ready.prepare(&mut other, b, Some(a))).and_then(|()| ready.compare(a, &mut other));
        self.of.scorer.score(pattern.or_raise())
    }

    /// The records with which the searches bring together what has these keys, as the calling query sees them, and as far
    /// as the caller may, without the one whose key has the bytes `own`.
    ///
    /// Errors: those of reading the table.
    pub fn candidates(&self, keys: &[i64], own: Option<&[u8]>) -> Vec<Candidate> {
        let snapshot = ScanSnapshot::active();
        let mut ids = self.brought_together(&mut self.read_keys(&snapshot), keys);
        own.and_then(|own| ids.remove(own));
        if ids.is_empty() {
            return Vec::new();
        }
        let mut values: Vec<pg_sys::Datum> = ids.values().map(|(id, _)| *id).collect();
        // SAFETY: of the key's type.
        let keys = unsafe { self.key_type.array(&mut values) };
        let mut found = Vec::with_capacity(ids.len());
        let candidate = |row: QueryRow<'_>| {
            let key = row.datum(0)?;
            // SAFETY: of the key's type; the copy is in one piece.
            let bytes = unsafe { self.key_type.bytes(&self.key_type.copy(key)).to_vec() };
            let &(id, search) = ids.get(&bytes)?;
            Some(Candidate {
                id,
                search,
                record: self.texts.of_query(row, 1),
            })
        };
        let (session, plan) = (Session::begin(true), self.fetch_plan(keys.0));
        reading_fields(|| {
            let rows = plan.run(&session, [keys.1]);
            found.extend(rows.into_iter().filter_map(candidate));
        });
        found
    }

    /// Reads the records of an array of keys, as the caller may: the key, and the columns.
    fn fetch_plan(&self, array: pg_sys::Oid) -> Rc<SavedPlan<1>> {
        // The statement names the table, which may have another name than when it was planned.
        let name = catalog::quoted(self.relation);
        if let Some((_, plan)) = (self.fetch.borrow().as_ref()).filter(|(known, _)| *known == name)
        {
            return Rc::clone(plan);
        }
        let (key, columns) = (&self.key.name, self.texts.select());
        let only = Sql::new("").only(self.relation);
        let query = sql!(
            "SELECT {key}, {columns} FROM {only} AS r WHERE {key} OPERATOR(pg_catalog.=) ANY ($1)"
        );
        let plan = Rc::new(SavedPlan::new(query, [array]));
        let before = self.fetch.replace(Some((name, Rc::clone(&plan))));
        // Freeing a plan calls the server, so it is done when nothing is borrowed.
        drop(before);
        plan
    }

    /// The keys of the records that have one of these keys in an open block, by their bytes, with the first search that
    /// finds each.
    pub fn brought_together(&self, reader: &mut KeyReader, keys: &[i64]) -> BroughtTogether {
        // In an order that does not depend on where rows are.
        let mut ids = BroughtTogether::new();
        for &key in keys {
            let (most, mut of_block) = (self.most_of(key) as usize, Vec::new());
            let mut is_open = true;
            reader.seek(key.into());
            while is_open {
                let Some(id) = reader.next_seen() else {
                    break;
                };
                // SAFETY: of the key's type.
                of_block.extend(id.map(|id| unsafe { self.key_type.copy(id) }));
                is_open = id.is_some() && of_block.len() <= most;
            }
            if !is_open {
                continue;
            }
            for id in of_block {
                // SAFETY: a copy, in one piece.
                let bytes = unsafe { self.key_type.bytes(&id) }.to_vec();
                let search = self.search_of(key);
                let first = &mut ids.entry(bytes).or_insert((id, search)).1;
                *first = search.min(*first);
            }
        }
        ids
    }
}
