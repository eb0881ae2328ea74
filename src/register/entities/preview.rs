//! `bloom_register_preview`: what would become of entities if a record were entered.

use std::rc::Rc;

use pgrx::{pg_sys, IntoDatum};

use super::super::find::{as_json, open};
use super::super::stored::Register;
use super::component::{Component, Entity, EntityReader, Other, Reach, SeatedGuest};
use super::neighbours::{Guest, Loaded, Neighbours};
use crate::models::{object_of, record};
use pg::entry;
use pg::error::{raise, sql_error, OrRaise};
use pg::function::arguments::Arguments;
use pg::function::rows::{text_datum, ResultRows};
use pg::message::words;
use pg::values::varlena::NewValue;

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
    register.check_sees_all();
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
    let own = register.key_of_object(&object);
    // SAFETY: a function runs with a snapshot.
    let snapshot = unsafe { pg_sys::GetActiveSnapshot() };
    // An old snapshot does not see keys that were written anew.
    drop(register.read_keys(snapshot));
    for entities in register.entities().or_raise() {
        let mut neighbours = Neighbours::new(&register, snapshot);
        let known = own.map(|id| register.identity(id));
        let bytes = known.as_ref().map(|(bytes, _)| bytes.clone());
        let mut reader = EntityReader::new(entities, snapshot);
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
        let all = outcome.entities();
        for entity in all.iter().filter(|entity| entity.change != "same") {
            rows.make(|| {
                Some([
                    Some(pg_sys::Datum::from(entities.oid())),
                    entity.id.map(pg_sys::Datum::from),
                    Some(text_datum(entity.change.as_bytes())),
                    (entity.size as i32).into_datum(),
                    Some(others(&all, entity)),
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

impl Register {
    /// The register's key in a record, if it has one.
    ///
    /// Errors: those of reading it as a value of the key's type.
    fn key_of_object(&self, object: &pg::values::jsonb::JsonObject<'_>) -> Option<pg_sys::Datum> {
        let member = object.member(self.key.name.to_bytes()).ok()??;
        let text = pg::values::text::to_database(&member);
        Some(self.id_of_text(&text).unwrap_or_else(|| {
            let of_type = pg::catalog::type_name(self.key_type.oid);
            let member = member.as_ref();
            raise(&sql_error(
                pgrx::PgSqlErrorCode::ERRCODE_INVALID_TEXT_REPRESENTATION,
                words!("invalid input syntax for type {of_type}: \"{member}\""),
            ))
        }))
    }

    /// Whether row-level security may hide rows of the table from the caller.
    pub fn hides_rows(&self) -> bool {
        // SAFETY: a look-up in the catalogs.
        let rls = unsafe { pg_sys::check_enable_rls(self.relation, pg_sys::InvalidOid, true) };
        rls == pg_sys::CheckEnableRlsResult::RLS_ENABLED as i32
    }

    /// Errors: the caller may not see all rows of the table, and would learn of others.
    pub fn check_sees_all(&self) {
        if self.hides_rows() {
            raise(
                &sql_error(
                    pgrx::PgSqlErrorCode::ERRCODE_INSUFFICIENT_PRIVILEGE,
                    words!("row-level security of table \"{self.relation}\" applies to the current user"),
                )
                .detail("Entities hang together by records that it may hide.")
                .hint("Ask as a user whom it does not apply to."),
            );
        }
    }
}
