//! `bloom_entities_how`: how the records of an entity have come together.

use std::cmp::Reverse;

use linkage::clusters::bridges;
use pgrx::{pg_sys, IntoDatum};

use super::super::find::open;
use super::super::row::{registers_beside, settings_of};
use super::component::{Component, EntityReader};
use super::create::unknown;
use super::neighbours::Neighbours;
use pg::error::{raise, sql_error, OrRaise};
use pg::function::arguments::Arguments;
use pg::function::rows::{text_datum, ResultRows};
use pg::message::words;
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
    let keeps = |&register: &pg_sys::Oid| {
        let mut all = settings_of(register).into_iter();
        all.any(|settings| settings.table(register) == oid)
    };
    let Some(register) = registers_beside(oid).into_iter().find(keeps) else {
        raise(&unknown(oid));
    };
    let register = open(register);
    register.check_sees_all();
    let all = register.entities().or_raise();
    let Some(entities) = all.iter().find(|entities| entities.oid() == oid) else {
        raise(&unknown(oid));
    };
    // SAFETY: a function runs with a snapshot.
    let snapshot = unsafe { pg_sys::GetActiveSnapshot() };
    let mut neighbours = Neighbours::new(&register, snapshot);
    let mut reader = EntityReader::new(entities, snapshot);
    let members = reader.members(id, &register);
    if members.is_empty() {
        let shown = id.to_string();
        raise(
            &sql_error(
                pgrx::PgSqlErrorCode::ERRCODE_NO_DATA_FOUND,
                words!("there is no entity {shown} in table \"{oid}\""),
            )
            .detail("It has ended, or has never been."),
        );
    }
    let component = Component::gather(&mut neighbours, &mut reader, entities, &members, None);
    let component = component.or_raise();
    let texts = component.texts(&register);
    let n = component.parts.len();
    let is_in: Vec<bool> = component.parts.iter().map(|part| part.is_of(id)).collect();
    // The strongest pairs that hold the entity together, as Kruskal takes them.
    let mut pairs: Vec<_> = component
        .pairs
        .iter()
        .filter(|(pair, ..)| {
            is_in[pair.a as usize] && is_in[pair.b as usize] && pair.similarity >= entities.least
        })
        .collect();
    let names = |pair: &linkage::clusters::Pair| {
        let mut names = [pair.a, pair.b].map(|part| &texts[part as usize]);
        names.sort();
        names
    };
    pairs.sort_by(|(x, x_bits, _), (y, y_bits, _)| {
        y_bits
            .total_cmp(x_bits)
            .then_with(|| names(x).cmp(&names(y)))
    });
    let ends: Vec<(u32, u32)> = pairs.iter().map(|(pair, ..)| (pair.a, pair.b)).collect();
    let alone = bridges(n as u32, &ends, check_for_interrupts).or_raise();
    let mut group: Vec<usize> = (0..n).collect();
    let mut steps = Vec::new();
    for (step, (&&(pair, bits, search), alone)) in pairs.iter().zip(alone).enumerate() {
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
        steps.push((step, pair, bits, search, alone > 0, size));
    }
    let mut numbered: Vec<_> = (1i32..).zip(steps).collect();
    // What hangs by one pair alone is what people look at first.
    numbered.sort_by_key(|(number, (.., is_alone, _))| (Reverse(*is_alone), *number));
    for (number, (_, pair, bits, search, is_alone, size)) in numbered {
        rows.make(|| {
            let [a, b] = names(&pair);
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
