//! The pairs that alone hold entities together, which people are asked about.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};
use std::rc::Rc;

use pgrx::pg_sys;

use super::super::stored::Register;
use super::how::{open_entities, register_of, Held};
use super::table::{EntityTable, Settings};
use crate::pairs::decisions::Decisions;
use pg::error::OrRaise;
use pg::memory::in_scratch;
use pg::session::Session;
use pg::{catalog, check_for_interrupts, progress, sql};

/// A pair that alone holds two parts of an entity together.
pub struct Link {
    pub keys: [Vec<u8>; 2],
    pub probability: f64,
    pub entity: i64,
    /// How many records are on either side of it, the more first.
    pub parts: [u32; 2],
    /// How many pairs of records are one for it alone.
    pub held: u64,
    /// How many of them are expected to be wrong.
    wrong: f64,
}

impl Link {
    /// What is asked first is the least.
    fn order(&self, other: &Link) -> Ordering {
        let by_harm = other.wrong.total_cmp(&self.wrong);
        by_harm.then_with(|| self.keys.cmp(&other.keys))
    }
}

impl PartialEq for Link {
    fn eq(&self, other: &Link) -> bool {
        self.order(other).is_eq()
    }
}

impl Eq for Link {}

impl PartialOrd for Link {
    fn partial_cmp(&self, other: &Link) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Link {
    fn cmp(&self, other: &Link) -> Ordering {
        self.order(other)
    }
}

/// What is worth a look in a table of entities.
pub struct ToLookAt {
    pub links: Vec<Link>,
    /// How many such pairs there are.
    pub all_links: u64,
    /// The sizes of entities, ascending, and how many have each size.
    pub sizes: Vec<(u32, u64)>,
}

/// A table of entities, the records of which the caller may read.
pub struct ReadableEntities {
    pub register: Rc<Register>,
    place: usize,
}

impl ReadableEntities {
    /// `None` if the relation is no table of entities.
    ///
    /// Errors: the caller may not read the records.
    pub fn find(oid: pg_sys::Oid) -> Option<ReadableEntities> {
        // What has pairs does not wait for registers beside it, and whatever is wrong with one of them is not its concern.
        catalog::column(oid, c"entity")?;
        let (register, place) = open_entities(register_of(oid)?, oid);
        Some(ReadableEntities { register, place })
    }

    pub fn table(&self) -> &EntityTable {
        &self.register.entities().or_raise()[self.place]
    }

    pub fn settings(&self) -> &Settings {
        &self.register.settings[self.place]
    }

    /// The table of decisions that the entities keep to, if there is one.
    pub fn decisions(&self) -> Option<pg_sys::Oid> {
        self.settings().table_of_decisions(self.register.oid)
    }

    /// What holds an entity together.
    ///
    /// Errors: too many records hang together; those of reading values.
    pub fn held(&self, id: i64) -> Held {
        Held::of(&self.register, self.table(), id)
    }

    /// So many pairs that alone hold entities together, and that nobody has decided about, as long as the decision
    /// counts: those first that are expected to make the most wrong pairs.
    ///
    /// Errors: the caller may not read the entities; those of [`ReadableEntities::held`].
    pub fn to_look_at(&self, wanted: usize, decisions: Option<&Decisions>) -> ToLookAt {
        let oid = self.table().oid();
        let mut chosen: BinaryHeap<Link> = BinaryHeap::new();
        let (mut all_links, mut sizes) = (0, BTreeMap::new());
        let session = Session::begin(true);
        let query = sql!("SELECT entity, pg_catalog.count(*) FROM {oid} GROUP BY entity");
        session.each(&query, &[], |row| {
            progress::step();
            let (Some(entity), Some(size)) = (row.datum(0), row.datum(1)) else {
                return;
            };
            *sizes.entry(size.value() as u32).or_insert(0u64) += 1;
            if size.value() < 2 {
                return;
            }
            let entity = entity.value() as i64;
            in_scratch(c"bloom_ident entity", || {
                let held = self.held(entity);
                let size = held.members.len() as u32;
                for ((pair, ..), &alone) in held.pairs.iter().zip(&held.alone) {
                    check_for_interrupts();
                    if alone == 0 {
                        continue;
                    }
                    let [a, b] = held.names(pair);
                    let decided = decisions.and_then(|decisions| decisions.get([a, b]));
                    if decided.is_some_and(|decided| !decided.changed) {
                        continue;
                    }
                    all_links += 1;
                    let other = size - alone;
                    let parts = [alone.max(other), alone.min(other)];
                    let pairs = u64::from(parts[0]) * u64::from(parts[1]);
                    chosen.push(Link {
                        keys: [a.clone(), b.clone()],
                        probability: pair.similarity,
                        entity,
                        parts,
                        held: pairs,
                        wrong: (1.0 - pair.similarity) * pairs as f64,
                    });
                    if chosen.len() > wanted {
                        chosen.pop();
                    }
                }
            });
        });
        ToLookAt {
            links: chosen.into_sorted_vec(),
            all_links,
            sizes: sizes.into_iter().collect(),
        }
    }
}
