//! All records that hang together by pairs, and what entities they make.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use base::{Error, ErrorKind, Result};
use linkage::clusters::succession::{succession, Successor, NOWHERE};
use linkage::clusters::{decided, Bounds, Decision, Links, OnConflict, Pair, Verdict};
use pgrx::pg_sys;

use super::super::stored::Register;
use super::neighbours::{Near, Neighbours};
use super::table::EntityTable;
use crate::clusters::Grouping;
use pg::budget::push;
use pg::check_for_interrupts;
use pg::key_table::KeyReader;
use pg::message::words;
use pg::snapshot::ScanSnapshot;

/// Records that may hang together. Each of them costs a search, and whoever changes one of them waits for all.
const MOST: usize = 10_000;

/// A record of a component.
pub struct Part {
    /// `None` for a guest, which has no row.
    pub id: Option<pg_sys::Datum>,
    /// The text of a guest's key.
    text: Vec<u8>,
    pub bytes: Vec<u8>,
    /// The entity that it is in, and where that is said.
    pub was: Option<(i64, pg_sys::ItemPointerData)>,
    /// It is not in the table any more.
    is_gone: bool,
}

/// Records that hang together, and those that did with some that have changed.
pub struct Component {
    pub parts: Vec<Part>,
    places: HashMap<Vec<u8>, u32>,
    pub pairs: Vec<(Pair, f64, usize)>,
    /// The newest decision about each pair, by the places of a record and the key of another one.
    decided: Vec<(u32, Vec<u8>, Verdict, i64)>,
    reach: Reach,
}

/// Of which records a component is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// All that hang together with those that it begins with.
    All,
    /// Only those that it begins with: what holds an entity together needs no others, which may be thousands.
    Seeds,
}

/// Reads a table of entities.
pub struct EntityReader {
    by_key: KeyReader,
    by_entity: KeyReader,
}

impl EntityReader {
    pub fn new(entities: &EntityTable, snapshot: &ScanSnapshot) -> EntityReader {
        EntityReader {
            by_key: entities.by_key.read(snapshot),
            by_entity: entities.by_entity.read(snapshot),
        }
    }

    /// The entity of a record, and where that is said.
    pub fn of(&mut self, id: pg_sys::Datum) -> Option<(i64, pg_sys::ItemPointerData)> {
        let mut found = None;
        self.by_key.each_of(id, |row| {
            found = row.id().map(|entity| (entity.value() as i64, row.tid()));
            false
        });
        found
    }

    /// The keys of an entity's records, copied.
    pub fn members(&mut self, entity: i64, register: &Register) -> Vec<pg_sys::Datum> {
        let mut members = Vec::new();
        self.by_entity.each(entity, |row| {
            // SAFETY: of the key's type, which the table was checked to have in its first column.
            members.extend(
                row.row()
                    .get(1)
                    .map(|id| unsafe { register.key_type.copy(id) }),
            );
            true
        });
        members
    }
}

/// A guest, the entity that it is in, and the records that it makes pairs with.
pub struct SeatedGuest {
    /// The key by which it is known.
    pub own: Option<Vec<u8>>,
    /// The text of its key.
    pub text: Vec<u8>,
    pub was: Option<(i64, pg_sys::ItemPointerData)>,
    pub near: Vec<Near>,
}

impl Part {
    /// Whether it was in this entity.
    pub fn is_of(&self, entity: i64) -> bool {
        self.was.is_some_and(|(of, _)| of == entity)
    }
}

impl Component {
    /// What hangs together with these records, and whoever is in an entity with one of it, as far as the reach goes. A
    /// guest's pairs are given with it.
    ///
    /// Errors: it is too large; those of reading values.
    pub fn gather(
        neighbours: &mut Neighbours,
        reader: &mut EntityReader,
        entities: &EntityTable,
        seeds: &[pg_sys::Datum],
        (guest, reach): (Option<SeatedGuest>, Reach),
    ) -> Result<Component> {
        let mut component = Component {
            parts: Vec::new(),
            places: HashMap::new(),
            pairs: Vec::new(),
            decided: Vec::new(),
            reach: Reach::All,
        };
        let least = entities.method.least(entities.least);
        let register = neighbours.register;
        let mut of_guest = None;
        if let Some(SeatedGuest {
            own,
            text,
            was,
            near,
        }) = guest
        {
            if let Some(own) = &own {
                component.places.insert(own.clone(), 0);
            }
            component.parts.push(Part {
                id: None,
                text,
                bytes: own.unwrap_or_default(),
                was,
                is_gone: false,
            });
            of_guest = Some(near);
        }
        for &seed in seeds {
            let (bytes, id) = register.identity(seed);
            component.add(bytes, Some(id));
        }
        component.reach = reach;
        let (mut at, mut known) = (0, HashSet::new());
        while at < component.parts.len() {
            check_for_interrupts();
            component.check(register)?;
            let bytes = component.parts[at].bytes.clone();
            let near = match (component.parts[at].id, of_guest.take()) {
                (None, near) => near.unwrap_or_default(),
                (Some(id), _) => {
                    component.parts[at].was = reader.of(id);
                    let near = neighbours.of_key(id, &bytes, least);
                    component.parts[at].is_gone = near.is_none();
                    near.unwrap_or_default()
                }
            };
            let judged = component.read_decisions(at, entities, register);
            let is_left_out = |bytes: &Vec<u8>| {
                let judged = judged.get(bytes);
                judged.is_some_and(|(verdict, _)| *verdict != Verdict::Same)
            };
            let is_guest = component.parts[at].id.is_none();
            let with_guest = neighbours.with_guest(&bytes).filter(|_| !is_guest);
            let is_pair = with_guest.is_some() && !is_left_out(&component.parts[0].bytes);
            if let Some(score) = with_guest.filter(|s| is_pair && s.probability >= least) {
                component.pair(0, at, score.probability, score.bits, 0);
            }
            for near in near {
                if near.score.probability < least || is_left_out(&near.bytes) {
                    continue;
                }
                let (probability, bits) = (near.score.probability, near.score.bits);
                match component.places.get(&near.bytes) {
                    Some(&other) if (other as usize) < at => {
                        component.pair(other as usize, at, probability, bits, near.search);
                    }
                    // The pair is found again when it is the other one's turn.
                    Some(_) => (),
                    None if probability >= entities.least => {
                        component.add(near.bytes, Some(near.id))
                    }
                    None => (),
                }
            }
            // In the order of the keys, so that what is too much is so for everybody.
            for (bytes, (_, id)) in judged.iter().filter(|(_, (v, _))| *v == Verdict::Same) {
                component.add(bytes.clone(), Some(*id));
            }
            let entity = component.parts[at].was.map(|(entity, _)| entity);
            if let Some(entity) = entity.filter(|&entity| known.insert(entity)) {
                for member in reader.members(entity, register) {
                    let (bytes, id) = register.identity(member);
                    component.add(bytes, Some(id));
                }
            }
            at += 1;
        }
        Ok(component)
    }

    /// The newest decisions about a record and others, by the bytes of their keys.
    fn read_decisions(
        &mut self,
        at: usize,
        entities: &EntityTable,
        register: &Register,
    ) -> BTreeMap<Vec<u8>, (Verdict, pg_sys::Datum)> {
        let Some(decisions) = &entities.decisions else {
            return BTreeMap::new();
        };
        let text = match self.parts[at].id {
            Some(id) => register.text_of(id),
            // A guest without a key is one that nobody has decided about.
            None => self.parts[at].text.clone(),
        };
        let mut newest: HashMap<Vec<u8>, (i64, Reverse<Verdict>)> = HashMap::new();
        for (other, verdict, when) in decisions.about(&text) {
            let rank = (when, Reverse(verdict));
            let known = newest.entry(other).or_insert(rank);
            *known = rank.max(*known);
        }
        let mut judged = BTreeMap::new();
        for (other, (when, Reverse(verdict))) in newest {
            let Some(other) = register.id_of_text(&other) else {
                continue;
            };
            let (bytes, other) = register.identity(other);
            self.decided.push((at as u32, bytes.clone(), verdict, when));
            judged.insert(bytes, (verdict, other));
        }
        judged
    }

    /// Whether it is one record, which is in no entity yet.
    pub fn is_new_alone(&self) -> bool {
        matches!(&self.parts[..], [part] if part.was.is_none() && !part.is_gone)
    }

    fn add(&mut self, bytes: Vec<u8>, id: Option<pg_sys::Datum>) {
        if self.reach == Reach::Seeds {
            return;
        }
        let place = self.parts.len() as u32;
        if let std::collections::hash_map::Entry::Vacant(free) = self.places.entry(bytes.clone()) {
            free.insert(place);
            self.parts.push(Part {
                id,
                text: Vec::new(),
                bytes,
                was: None,
                is_gone: false,
            });
        }
    }

    /// The pairs that are decided to be the same, each maybe twice.
    pub fn same(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        let same = |(at, other, verdict, _): &(u32, Vec<u8>, Verdict, i64)| {
            let other = *self.places.get(other)?;
            (*verdict == Verdict::Same).then_some((*at, other))
        };
        self.decided.iter().filter_map(same)
    }

    fn pair(&mut self, a: usize, b: usize, probability: f64, bits: f64, search: usize) {
        let pair = Pair {
            a: a as u32,
            b: b as u32,
            similarity: probability,
        };
        push(&mut self.pairs, (pair, bits, search));
    }

    /// Errors: it is too large.
    fn check(&self, register: &Register) -> Result<()> {
        if self.parts.len() <= MOST {
            return Ok(());
        }
        let most = MOST.to_string();
        Err(Error::new(
            ErrorKind::LimitExceeded,
            words!("more than {most} records of table \"{register.relation}\" hang together by pairs"),
        )
        .detail("Such records mostly have little in common but a value that says little, or are nearly empty.")
        .hint("Make the entities with a greater min_probability, or find out what the records have in common by bloom_register_why()."))
    }

    /// The texts of all keys, by which records are ordered.
    pub fn texts(&self, register: &Register) -> Vec<Vec<u8>> {
        let text = |part: &Part| match part.id {
            Some(id) => register.text_of(id),
            None => part.text.clone(),
        };
        self.parts.iter().map(text).collect()
    }

    /// What entities there are now.
    ///
    /// Errors: out of memory.
    pub fn outcome(&self, register: &Register, entities: &EntityTable) -> Result<Outcome> {
        let texts = self.texts(register);
        let n = self.parts.len();
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_by(|&x, &y| texts[x as usize].cmp(&texts[y as usize]));
        let mut position = vec![0u32; n];
        for (place, &part) in (0..).zip(&order) {
            position[part as usize] = place;
        }
        let pair = |(pair, ..): &(Pair, f64, usize)| Pair {
            a: position[pair.a as usize],
            b: position[pair.b as usize],
            similarity: pair.similarity,
        };
        let pairs: Vec<Pair> = self.pairs.iter().map(pair).collect();
        let links = Links::new(n as u32, &pairs, check_for_interrupts)?;
        let grouping = Grouping {
            most: entities.most,
            ..Grouping::new(entities.least, entities.method)
        };
        let decisions = self
            .decided
            .iter()
            .filter_map(|(at, other, verdict, when)| {
                let other = *self.places.get(other)?;
                let is_there = |part: u32| !self.parts[part as usize].is_gone;
                (is_there(*at) && is_there(other)).then(|| Decision {
                    a: position[*at as usize],
                    b: position[other as usize],
                    verdict: *verdict,
                    at: *when,
                })
            });
        let decisions: Vec<Decision> = decisions.collect();
        // Who enters a record cannot be told that people contradict each other, so the newer one counts.
        let decided = decided(
            n as u32,
            &decisions,
            OnConflict::Newer,
            check_for_interrupts,
        )?;
        let bounds = Bounds::new(decided.unwrap_or_default(), entities.most);
        let clusters = grouping.clusters(&links, &bounds);
        let mut numbers = HashMap::new();
        let (mut before, mut now, mut old) = (Vec::new(), Vec::new(), Vec::new());
        let mut of_old = HashMap::new();
        for (place, &part) in order.iter().enumerate() {
            let part = &self.parts[part as usize];
            before.push(part.was.map_or(NOWHERE, |(entity, _)| {
                *of_old.entry(entity).or_insert_with(|| {
                    old.push(entity);
                    old.len() as u32 - 1
                })
            }));
            let next = numbers.len() as u32;
            now.push(match part.is_gone {
                true => NOWHERE,
                false => *numbers.entry(clusters.labels()[place]).or_insert(next),
            });
        }
        let successors = succession(&before, &now, check_for_interrupts)?;
        Ok(Outcome {
            order,
            before,
            now,
            old,
            successors,
        })
    }
}

/// What becomes of the entities of a component. Entities before and now are numbered.
pub struct Outcome {
    /// The parts in the order of their keys' texts; what follows is in the same order.
    pub order: Vec<u32>,
    /// [`NOWHERE`] for a record that was in none.
    pub before: Vec<u32>,
    /// [`NOWHERE`] for a record that is gone.
    pub now: Vec<u32>,
    /// The entities before.
    pub old: Vec<i64>,
    successors: Vec<Successor>,
}

/// An entity that there is now, or that is no longer.
pub struct Entity {
    /// `None` for a new one.
    pub id: Option<i64>,
    pub change: &'static str,
    pub size: u32,
    /// The entities, by their number now, that records have come from or gone to; and those before that are no longer.
    pub others: Vec<Other>,
}

/// Another entity that records have come from, or gone to.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Other {
    /// By its number now.
    Now(u32),
    /// One that has ended.
    Ended(i64),
}

impl Outcome {
    /// How many records are in another entity than before, or in none.
    pub fn otherwise(&self) -> i64 {
        let stays = |(&before, &now): &(&u32, &u32)| {
            let keeps = self
                .successors
                .get(now as usize)
                .and_then(|successor| successor.keeps);
            (before, now) == (NOWHERE, NOWHERE) || keeps == Some(before)
        };
        let all = self.before.iter().zip(&self.now);
        all.filter(|pair| !stays(pair)).count() as i64
    }

    /// All entities that are there now, in the order of their numbers, then those that have ended.
    pub fn entities(&self) -> Vec<Entity> {
        let keeper: HashMap<u32, u32> = (0..)
            .zip(&self.successors)
            .filter_map(|(now, successor)| Some((successor.keeps?, now)))
            .collect();
        let mut sizes = vec![0u32; self.successors.len()];
        let mut of_now: Vec<Vec<Other>> = vec![Vec::new(); self.successors.len()];
        let mut of_old: Vec<Vec<Other>> = vec![Vec::new(); self.old.len()];
        let note = |all: &mut Vec<Other>, other: Other| {
            if !all.contains(&other) {
                all.push(other);
            }
        };
        for (&before, &now) in self.before.iter().zip(&self.now) {
            if now != NOWHERE {
                sizes[now as usize] += 1;
            }
            if before == NOWHERE || now == NOWHERE {
                continue;
            }
            let kept_by = keeper.get(&before).copied();
            if kept_by != Some(now) {
                let from = kept_by.map_or(Other::Ended(self.old[before as usize]), Other::Now);
                note(&mut of_now[now as usize], from);
                match kept_by {
                    Some(kept_by) => note(&mut of_now[kept_by as usize], Other::Now(now)),
                    None => note(&mut of_old[before as usize], Other::Now(now)),
                }
            }
        }
        let there = self.successors.iter().zip(sizes).zip(of_now);
        let there = there.map(|((successor, size), others)| Entity {
            id: successor.keeps.map(|old| self.old[old as usize]),
            change: successor.change.name(),
            size,
            others,
        });
        let ended = (0..).zip(&self.old).zip(of_old);
        let ended = ended.filter(|((old, _), _)| !keeper.contains_key(old));
        let ended = ended.map(|((_, &id), others)| Entity {
            id: Some(id),
            change: "ended",
            size: 0,
            others,
        });
        there.chain(ended).collect()
    }
}
