//! What the page has for those who decide: counts at every threshold, pairs of all bands, clusters as graphs.

mod block;
mod counts;
mod graph;
mod security;

use std::ffi::CString;

use pgrx::pg_sys;
use serde::Serialize;

pub use self::block::{block, ReviewSubject};
pub use self::counts::{Counts, CountsAt};
pub use self::graph::{graph_of_entity, graphs, Graph};
pub use self::security::{hashes_of, PageHashes, SCRIPT, STYLE};
use crate::clusters::Clustered;
use pg::catalog;
use pg::catalog::generated::sources;
use pg::relation::OpenRelation;
use types::objects::{is_bits, is_signature};

/// A pair of the sample, by the numbers of its records.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SampledPair {
    pub numbers: [u32; 2],
    /// Of its similarity or probability.
    pub bits: u64,
}

/// What a pair alone holds together.
#[derive(Clone, Copy, Serialize)]
pub struct HeldEntity {
    pub number: i64,
    /// How many records are on either side of the pair, the more first.
    pub parts: [u32; 2],
}

/// A pair that is shown, by its keys.
pub struct ShownPair {
    pub keys: [Vec<u8>; 2],
    pub value: f64,
    /// The number of the cluster that has both records; 0 if there is none.
    pub cluster: i64,
    /// The number of the group of records that pairs connect; 0 if the group has no other record, or the pair does not
    /// reach the threshold.
    pub group: i64,
    /// The entity that it alone holds together, on a page of entities.
    pub held: Option<HeldEntity>,
}

/// What the page shows to those who decide.
#[derive(Default)]
pub struct Review {
    pub pairs: Vec<ShownPair>,
    pub graphs: Vec<Graph>,
    pub counts: Counts,
}

impl Review {
    /// The pairs of a sample, the least similar ones first, and the clusters that are drawn.
    ///
    /// Errors: out of memory.
    pub fn new(
        sample: Vec<SampledPair>,
        counts: Counts,
        clustered: &Clustered,
        links: &linkage::clusters::Links,
    ) -> Review {
        let positions = clustered.positions();
        let (places, graphs) = graphs(clustered, links);
        let pairs = sample.into_iter().map(|pair| {
            let mut keys = pair.numbers.map(|n| clustered.key(n).to_vec());
            keys.sort();
            let [a, b] = pair.numbers.map(|n| positions[n as usize] as usize);
            let same = |of: [i64; 2]| if of[0] == of[1] { of[0] } else { 0 };
            ShownPair {
                keys,
                value: f64::from_bits(pair.bits),
                cluster: same([a, b].map(|at| places.cluster[at])),
                group: same([a, b].map(|at| i64::from(places.group[at]))),
                held: None,
            }
        });
        let mut pairs: Vec<ShownPair> = pairs.collect();
        pairs.sort_by(|x, y| (x.value.total_cmp(&y.value)).then_with(|| x.keys.cmp(&y.keys)));
        Review {
            pairs,
            graphs,
            counts,
        }
    }

    /// The keys of all records that are shown.
    pub fn keys(&self) -> impl Iterator<Item = &Vec<u8>> {
        let of_graphs = self.graphs.iter().flat_map(|graph| &graph.members);
        let of_graphs = of_graphs.map(|member| &member.key);
        let of_pairs = self.pairs.iter().flat_map(|pair| &pair.keys);
        of_pairs.chain(of_graphs)
    }
}

// Which columns a signature is made of.

fn names(table: &OpenRelation, numbers: Vec<i16>) -> Vec<CString> {
    let names = numbers
        .into_iter()
        .map(|number| catalog::column_name(table.rd_id, number));
    names.collect()
}

/// The columns that a generated column of a locked relation is computed from.
pub fn of_signature(relation: pg_sys::Oid, column: &CString) -> Vec<CString> {
    let table = OpenRelation::locked_table(relation);
    let number = catalog::column(relation, column);
    let used = number.map_or(Vec::new(), |number| sources(&table, number));
    names(&table, used)
}

/// The columns that any signature or sketch of a locked relation is computed from.
pub fn of_signatures(relation: pg_sys::Oid) -> Vec<CString> {
    let table = OpenRelation::locked_table(relation);
    // SAFETY: an open relation has a descriptor.
    let columns = unsafe { (*table.rd_att).natts } as i16;
    let mut used: Vec<i16> = Vec::new();
    for number in 1..=columns {
        let of_type = catalog::column_type(relation, number);
        if is_signature(of_type) || is_bits(of_type) {
            used.extend(sources(&table, number));
        }
    }
    used.sort_unstable();
    used.dedup();
    names(&table, used)
}
