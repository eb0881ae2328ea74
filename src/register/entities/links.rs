//! The pairs that alone hold entities together, which people are asked about.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use pgrx::pg_sys;

use super::how::{open_entities, register_of, Held};
use crate::pairs::decisions::Decisions;
use pg::error::OrRaise;
use pg::memory::in_scratch;
use pg::session::Session;
use pg::{check_for_interrupts, progress, sql};

/// A pair that alone holds two parts of an entity together.
pub struct Link {
    pub keys: [Vec<u8>; 2],
    pub probability: f64,
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

/// So many pairs that alone hold entities together, and that nobody has decided about, those first that are expected to
/// make the most wrong pairs; `None` if the relation is no table of entities.
///
/// Errors: the caller may not read the records; too many of them hang together; those of reading values.
pub fn links(oid: pg_sys::Oid, wanted: usize, decisions: Option<&Decisions>) -> Option<Vec<Link>> {
    let (register, place) = open_entities(register_of(oid)?, oid);
    let entities = &register.entities().or_raise()[place];
    let mut chosen: BinaryHeap<Link> = BinaryHeap::new();
    let session = Session::begin(true);
    let query = sql!("SELECT entity FROM {oid} GROUP BY entity HAVING pg_catalog.count(*) OPERATOR(pg_catalog.>) 1");
    session.each(&query, &[], |row| {
        progress::step();
        let Some(entity) = row.datum(0) else { return };
        in_scratch(c"bloom_ident entity", || {
            let held = Held::of(&register, entities, entity.value() as i64);
            let size = held.members as u64;
            for ((pair, ..), &alone) in held.pairs.iter().zip(&held.alone) {
                check_for_interrupts();
                if alone == 0 {
                    continue;
                }
                let [a, b] = held.names(pair);
                let is_decided = decisions.is_some_and(|decisions| decisions.get([a, b]).is_some());
                if is_decided {
                    continue;
                }
                let pairs = u64::from(alone) * (size - u64::from(alone));
                chosen.push(Link {
                    keys: [a.clone(), b.clone()],
                    probability: pair.similarity,
                    held: pairs,
                    wrong: (1.0 - pair.similarity) * pairs as f64,
                });
                if chosen.len() > wanted {
                    chosen.pop();
                }
            }
        });
    });
    Some(chosen.into_sorted_vec())
}
