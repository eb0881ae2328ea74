//! The entities of a register: the pairs that alone hold them together, those first that are most worth a look.

use std::collections::{HashMap, HashSet};
use std::ffi::CStr;

use base::Error;
use linkage::clusters::Pair;
use pgrx::pg_sys;

use super::super::facts::{EntityFacts, Facts};
use super::super::histogram::hundredth;
use super::super::review::{graph_of_entity, Graph, HeldEntity};
use super::super::survey::{Known, NearPair, Survey};
use super::super::Limits;
use crate::clusters::{Method, PairList};
use crate::register::{Link, ReadableEntities};
use pg::catalog::quoted;
use pg::check_for_interrupts;
use pg::error::raise;
use pg::memory::in_scratch;
use pg::message::words;
use pg::progress::{self, phases};

/// Entities that are drawn.
const DRAWN: usize = 100;

/// The entities in a relation, of records of another one; `None` if it has none.
///
/// Errors: they are of other records; the caller may not read the records.
pub fn entities_in(
    oid: pg_sys::Oid,
    relation: pg_sys::Oid,
    key: &CStr,
) -> Option<ReadableEntities> {
    let entities = ReadableEntities::find(oid)?;
    let register = &entities.register;
    let by = &register.key.name;
    if (register.relation, by.as_c_str()) != (relation, key) {
        let [name, table] = [oid, register.relation].map(quoted);
        raise(
            &Error::invalid(words!(
                "\"{oid}\" has entities of records of \"{register.relation}\" by column \"{by}\", and not of \
                \"{relation}\" by column \"{key}\""
            ))
            .hint(words!("SELECT bloom_report_pairs('{name}', '{table}', '{by}')")),
        );
    }
    Some(entities)
}

/// Finds what the page says of entities. Values of records are left out.
///
/// Errors: more than maintenance_work_mem; as the review queue of entities.
pub fn find(entities: &ReadableEntities, known: &Known, limits: &Limits) -> Facts {
    let method = Method::Centre;
    let least = entities.table().least;
    progress::phase(phases::READING_GROUPS, None);
    let judged = known.judged.as_ref().map(|judged| &judged.decisions);
    let found = entities.to_look_at(limits.pairs, judged);

    progress::phase(phases::MEASURING, None);
    let overhead = known.grouping(least, method).overhead(known.memory());
    let mut list = PairList::new(overhead.of_report());
    for link in &found.links {
        let [a, b] = &link.keys;
        list.push(a, b, link.probability);
    }
    let (pairs, keys) = list.finish();
    let mut survey = Survey::new(known, least, hundredth(least), limits);
    for pair in &pairs {
        check_for_interrupts();
        let of = [pair.a, pair.b];
        survey.take(of.map(|n| keys.key(n)), of, pair.similarity);
    }
    let mut facts = Facts::new(survey, pairs, keys, method, None, limits);
    facts.measure = "probability";
    facts.entities = Some(EntityFacts {
        holding: found.all_links,
        of_records: entities.register.records.max(0) as u64,
    });
    let records = found.sizes.iter();
    facts.rows = records.map(|(size, n)| u64::from(*size) * n).sum();
    // Every record is in an entity. What the pairs of this page make of them is of no interest.
    (facts.clustered, facts.sizes) = (facts.rows, found.sizes);
    facts.largest.clear();
    let first = found.links.iter().take(2 * limits.near);
    let first = first.map(|link| {
        let [a, b] = &link.keys;
        NearPair {
            similarity: link.probability,
            keys: link.keys.clone(),
            is_true: known.is_true([a, b]),
            judged: known.judged.as_ref().and_then(|of| of.verdict([a, b])),
            stale: false,
            held: Some(HeldEntity {
                number: link.entity,
                parts: link.parts,
            }),
        }
    });
    facts.near = first.collect();

    let mut seen = HashSet::new();
    let is_drawn = |link: &&Link| link.parts != [1, 1] && seen.insert(link.entity);
    let drawn = found.links.iter().filter(is_drawn).take(DRAWN);
    let drawn: Vec<i64> = drawn.map(|link| link.entity).collect();
    let drawn = drawn.into_iter().map(|entity| graph(entities, entity));
    let review = &mut facts.review;
    review.graphs = drawn.collect();
    let places: HashMap<&[Vec<u8>; 2], usize> = found
        .links
        .iter()
        .zip(0..)
        .map(|(link, place)| (&link.keys, place))
        .collect();
    // They are gone through in this order.
    review.pairs.sort_by_key(|pair| places.get(&pair.keys));
    let is_drawn: HashSet<i64> = review.graphs.iter().map(|graph| graph.number).collect();
    for pair in &mut review.pairs {
        let Some(link) = places.get(&pair.keys).map(|&place| &found.links[place]) else {
            continue;
        };
        pair.cluster = link.entity;
        pair.group = match is_drawn.contains(&link.entity) {
            true => link.entity,
            false => 0,
        };
        pair.held = Some(HeldEntity {
            number: link.entity,
            parts: link.parts,
        });
    }
    facts
}

/// What holds an entity together.
///
/// Errors: as [`ReadableEntities::held`].
fn graph(entities: &ReadableEntities, entity: i64) -> Graph {
    in_scratch(c"bloom_ident entity", || {
        let held = entities.held(entity);
        let pairs: Vec<Pair> = held.pairs.iter().map(|(pair, ..)| *pair).collect();
        graph_of_entity(entity, &held.texts, &held.members, &pairs)
    })
}
