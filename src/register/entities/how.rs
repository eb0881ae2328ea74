//! `bloom_entities_how`: how the records of an entity have come together.

use std::cmp::Reverse;
use std::rc::Rc;

use linkage::clusters::{bridges, Pair};
use pgrx::PgSqlErrorCode::{ERRCODE_INSUFFICIENT_PRIVILEGE, ERRCODE_NO_DATA_FOUND};
use pgrx::{pg_sys, IntoDatum};

use super::super::find::open;
use super::super::row::{registers_beside, settings_of};
use super::super::stored::Register;
use super::component::{Component, EntityReader, Reach};
use super::create::unknown;
use super::neighbours::Neighbours;
use super::table::EntityTable;
use pg::catalog::privileges::{current_user, has_policies_for, may_select};
use pg::error::{raise, sql_error, OrRaise};
use pg::function::arguments::Arguments;
use pg::function::rows::{text_datum, ResultRows};
use pg::message::words;
use pg::snapshot::ScanSnapshot;
use pg::values::varlena::NewValue;
use pg::{catalog, check_for_interrupts, entry};

/// `(entities regclass, id bigint) RETURNS TABLE (step integer, a text, b text, probability float8, bits float8, search integer,
/// alone boolean, size integer)`
#[entry(stable, called_on_null, parallel_restricted)]
fn bloom_entities_how(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments, and to return a set of rows.
    let (arguments, mut rows) = unsafe { (Arguments::new(fcinfo), ResultRows::new(fcinfo)) };
    let (oid, id) = (arguments.oid(0), arguments.int8(1));
    catalog::check_exists(oid).or_raise();
    let Some(register) = register_of(oid) else {
        raise(&unknown(oid));
    };
    let (register, place) = open_entities(register, oid);
    let entities = &register.entities().or_raise()[place];
    let held = Held::of(&register, entities, id);
    let Held {
        texts,
        pairs,
        alone,
        ..
    } = &held;
    if texts.is_empty() {
        let (shown, quoted) = (id.to_string(), catalog::quoted(oid));
        raise(
            &sql_error(
                ERRCODE_NO_DATA_FOUND,
                words!("there is no entity {shown} in table \"{oid}\""),
            )
            .detail("It has ended, or has never been.")
            .hint(words!(
                "The number of a record's entity: SELECT entity FROM {quoted} WHERE key = the record's key"
            )),
        );
    }
    let n = texts.len();
    let mut group: Vec<usize> = (0..n).collect();
    let mut steps = Vec::new();
    for (&(pair, bits, search), alone) in pairs.iter().zip(alone) {
        check_for_interrupts();
        let (a, b) = (group[pair.a as usize], group[pair.b as usize]);
        if a == b {
            continue;
        }
        group
            .iter_mut()
            .filter(|of| **of == b)
            .for_each(|of| *of = a);
        let size = group.iter().filter(|of| **of == a).count();
        steps.push((pair, bits, search, *alone > 0, size));
    }
    let mut numbered: Vec<_> = (1i32..).zip(steps).collect();
    // What hangs by one pair alone is what people look at first.
    numbered.sort_by_key(|(number, (.., is_alone, _))| (Reverse(*is_alone), *number));
    for (number, (pair, bits, search, is_alone, size)) in numbered {
        rows.make(|| {
            let [a, b] = held.names(&pair);
            Some([
                number.into_datum(),
                Some(text_datum(a)),
                Some(text_datum(b)),
                pair.similarity.into_datum(),
                bits.into_datum(),
                (search as i32).into_datum(),
                is_alone.into_datum(),
                (size as i32).into_datum(),
            ])
        });
    }
    NewValue(pg_sys::Datum::null())
}

/// What holds an entity together.
pub struct Held {
    /// The keys of its records, as texts.
    pub texts: Vec<Vec<u8>>,
    /// Its pairs with their bits and searches, the strongest first.
    pub pairs: Vec<(Pair, f64, usize)>,
    /// For each pair how many records are on one side of it, if it alone holds both sides together, else 0.
    pub alone: Vec<u32>,
    /// The places of its records.
    pub members: Vec<u32>,
}

impl Held {
    /// Of an entity as the calling query sees it; without records if there is none.
    ///
    /// Errors: too many records hang together; those of reading values.
    pub fn of(register: &Register, entities: &EntityTable, id: i64) -> Held {
        let snapshot = ScanSnapshot::active();
        // An old snapshot does not see keys that were written anew.
        drop(register.read_keys(&snapshot));
        let mut neighbours = Neighbours::new(register, &snapshot);
        let mut reader = EntityReader::new(entities, &snapshot);
        let members = reader.members(id, register);
        let only = (None, Reach::Seeds);
        let component = Component::gather(&mut neighbours, &mut reader, entities, &members, only);
        let component = component.or_raise();
        let is_in: Vec<bool> = component.parts.iter().map(|part| part.is_of(id)).collect();
        let is_inside = |(pair, ..): &&(Pair, f64, usize)| {
            let both = [pair.a, pair.b].iter().all(|&part| is_in[part as usize]);
            both && pair.similarity >= entities.least
        };
        let mut held = Held {
            texts: component.texts(register),
            pairs: component.pairs.iter().filter(is_inside).copied().collect(),
            alone: Vec::new(),
            members: (0..)
                .zip(&is_in)
                .filter_map(|(place, is_in)| is_in.then_some(place))
                .collect(),
        };
        let mut pairs = std::mem::take(&mut held.pairs);
        pairs.sort_by(|(x, x_bits, _), (y, y_bits, _)| {
            let by_bits = y_bits.total_cmp(x_bits);
            by_bits.then_with(|| held.names(x).cmp(&held.names(y)))
        });
        let ends = pairs.iter().map(|(pair, ..)| (pair.a, pair.b));
        // Who is decided to be the same stays together whatever becomes of a pair.
        let same = component.same();
        let same = same.filter(|&(a, b)| is_in[a as usize] && is_in[b as usize]);
        let ends: Vec<(u32, u32)> = ends.chain(same).collect();
        held.alone = bridges(held.texts.len() as u32, &ends, check_for_interrupts).or_raise();
        held.pairs = pairs;
        held
    }

    /// The keys of a pair, in their order.
    pub fn names(&self, pair: &Pair) -> [&Vec<u8>; 2] {
        let mut names = [pair.a, pair.b].map(|part| &self.texts[part as usize]);
        names.sort();
        names
    }
}

/// The register that keeps a table of entities, if it is one.
pub fn register_of(entities: pg_sys::Oid) -> Option<pg_sys::Oid> {
    let keeps = |&register: &pg_sys::Oid| {
        let mut all = settings_of(register).into_iter();
        all.any(|settings| settings.table(register) == entities)
    };
    registers_beside(entities).into_iter().find(keeps)
}

/// A register and a table of entities of it, of which the caller may read both, records and entities.
///
/// Errors: the caller may not; those of [`open`].
pub fn open_entities(register: pg_sys::Oid, entities: pg_sys::Oid) -> (Rc<Register>, usize) {
    let register = open(register);
    check_sees_all(register.relation);
    let all = register.entities().or_raise();
    match all.iter().position(|of| of.oid() == entities) {
        Some(place) => {
            check_reads(entities);
            (register, place)
        }
        None => raise(&unknown(entities)),
    }
}

/// Errors: the caller may not read a table of entities.
pub fn check_reads(entities: pg_sys::Oid) {
    if !may_select(entities, &[1, 2], current_user()) {
        raise(
            &sql_error(
                ERRCODE_INSUFFICIENT_PRIVILEGE,
                words!("permission denied for table {entities}"),
            )
            .detail("What becomes of entities tells which there are."),
        );
    }
    check_sees_all(entities);
}

/// Errors: the caller may not see all rows of a table, and would learn of others.
pub fn check_sees_all(table: pg_sys::Oid) {
    if has_policies_for(table, current_user()) {
        raise(
            &sql_error(
                ERRCODE_INSUFFICIENT_PRIVILEGE,
                words!("row-level security of table \"{table}\" applies to the current user"),
            )
            .detail("Entities hang together by records that it may hide.")
            .hint("Ask as a user whom it does not apply to."),
        );
    }
}
