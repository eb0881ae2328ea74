//! `bloom_register_preview`: what would become of entities if a record were entered.

use std::rc::Rc;

use pgrx::PgSqlErrorCode::ERRCODE_INVALID_TEXT_REPRESENTATION;
use pgrx::{pg_sys, IntoDatum};

use super::super::find::{as_json, open};
use super::super::stored::Register;
use super::component::{Component, Entity, EntityReader, Other, Reach, SeatedGuest};
use super::how::{check_reads, check_sees_all};
use super::neighbours::{Guest, Loaded, Neighbours};
use crate::models::{object_of, record};
use pg::error::{raise, sql_error, OrRaise};
use pg::function::arguments::Arguments;
use pg::function::rows::{text_datum, ResultRows};
use pg::message::words;
use pg::snapshot::ScanSnapshot;
use pg::values::varlena::NewValue;
use pg::{catalog, entry};

/// `(register regclass, record jsonb) RETURNS TABLE (entities regclass, entity bigint, change text, size integer, others bigint[])`
///
/// `(register regclass, record text) RETURNS TABLE (entities regclass, entity bigint, change text, size integer, others bigint[])`
///
/// `(register regclass, record anyelement) RETURNS TABLE (entities regclass, entity bigint, change text, size integer, others bigint[])`
#[entry(stable, called_on_null, parallel_restricted)]
fn bloom_register_preview(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments, and to return a set of rows.
    let (arguments, mut rows) = unsafe { (Arguments::new(fcinfo), ResultRows::new(fcinfo)) };
    let register = open(arguments.oid(0));
    check_sees_all(register.relation);
    let all = register.entities().or_raise();
    all.iter().for_each(|entities| check_reads(entities.oid()));
    // SAFETY: the call's; the jsonb lives as long as it.
    let json = unsafe { as_json(fcinfo, arguments.given(1)) };
    // SAFETY: as above.
    let object = unsafe { object_of(arguments, 1, json) };
    let asked = record(arguments, 1, &register.known, &object);
    // SAFETY: it is an object, or that was an error.
    unsafe { register.tell_of_unknown(json) };
    register.tell_of_unread(&asked);
    let texts = asked
        .iter()
        .map(|value| value.as_deref().map(str::to_owned));
    let entered = Rc::new(Loaded::new(&register, texts.collect()));
    let own = register
        .key_in(&object)
        .map(|key| key.unwrap_or_else(|text| raise_no_key(&register, &text)));
    let snapshot = ScanSnapshot::active();
    // An old snapshot does not see keys that were written anew.
    drop(register.read_keys(&snapshot));
    for entities in all {
        let mut neighbours = Neighbours::new(&register, &snapshot);
        let known = own.map(|id| register.identity(id));
        let bytes = known.as_ref().map(|(bytes, _)| bytes.clone());
        let mut reader = EntityReader::new(entities, &snapshot);
        let was = known.as_ref().and_then(|(_, id)| reader.of(*id));
        let before = match (was, &known) {
            (Some(_), Some((bytes, id))) => match neighbours.load(*id, bytes) {
                Some(record) => neighbours.of(bytes, &record, entities.least),
                None => Vec::new(),
            },
            _ => Vec::new(),
        };
        let near = neighbours.invite(Guest {
            own: bytes.clone(),
            record: Rc::clone(&entered),
        });
        let mut seeds: Vec<pg_sys::Datum> = before.into_iter().map(|near| near.id).collect();
        seeds.extend(
            was.iter()
                .flat_map(|(entity, _)| reader.members(*entity, &register)),
        );
        let guest = SeatedGuest {
            own: bytes,
            text: own.map_or(Vec::new(), |id| register.text_of(id)),
            was,
            near,
        };
        let guest = (Some(guest), Reach::All);
        let component = Component::gather(&mut neighbours, &mut reader, entities, &seeds, guest);
        let outcome = component.or_raise().outcome(&register, entities).or_raise();
        let changed = outcome.entities();
        for entity in changed.iter().filter(|entity| entity.change != "same") {
            rows.make(|| {
                Some([
                    Some(pg_sys::Datum::from(entities.oid())),
                    entity.id.map(pg_sys::Datum::from),
                    Some(text_datum(entity.change.as_bytes())),
                    (entity.size as i32).into_datum(),
                    Some(others(&changed, entity)),
                ])
            });
        }
    }
    NewValue(pg_sys::Datum::null())
}

/// The numbers of other entities; a new one has none.
fn others(all: &[Entity], entity: &Entity) -> pg_sys::Datum {
    let id = |other: &Other| match *other {
        Other::Now(number) => all[number as usize].id,
        Other::Ended(id) => Some(id),
    };
    let mut others: Vec<i64> = entity.others.iter().filter_map(id).collect();
    others.sort_unstable();
    super::settle::int8_array(&others)
}

fn raise_no_key(register: &Register, text: &str) -> ! {
    let of_type = catalog::type_name(register.key_type.oid);
    raise(&sql_error(
        ERRCODE_INVALID_TEXT_REPRESENTATION,
        words!("invalid input syntax for type {of_type}: \"{text}\""),
    ))
}
