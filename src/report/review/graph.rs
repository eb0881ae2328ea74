//! Records that pairs connect, as graphs: the pairs between them, their clusters, and which pair alone links two
//! halves.

use std::collections::HashMap;

use base::memory::{collected, filled};
use linkage::clusters::{bridges, labels, Links, Pair};

use crate::clusters::Clustered;
use pg::budget::push;
use pg::check_for_interrupts;
use pg::error::OrRaise;

/// The largest groups are drawn, and those that hold together least.
const LARGEST: usize = 20;
const LOOSEST: usize = 100;

/// Records and pairs of a group that are drawn.
const MEMBERS: usize = 40;
const EDGES: usize = 300;

/// A record of a group.
pub struct GraphMember {
    pub key: Vec<u8>,
    /// The similarity of the record that it is most like, in its group.
    pub best: f64,
    /// The number of its cluster; 0 if it is in none.
    pub cluster: i64,
    pub keep: bool,
}

/// A pair of a group.
pub struct GraphEdge {
    /// The places of its records among the members.
    pub ends: [usize; 2],
    pub value: f64,
    /// How many records are on one side, if the pair alone links them with the others; 0 if it does not.
    pub alone: u32,
}

/// A group of three records or more.
pub struct Graph {
    pub number: i64,
    pub size: u32,
    /// The least similar ones first.
    pub members: Vec<GraphMember>,
    pub edges: Vec<GraphEdge>,
    /// Whether the pairs that alone link two halves are known.
    pub looked_through: bool,
    /// The least of the similarities that hold a record.
    loosest: f64,
}

/// Groups of more pairs are not looked through for what links halves: that takes memory for each of them.
const MOST_PAIRS: usize = 200_000;

/// The pairs of a group by the places of its records, with their similarities.
type EdgeList = Vec<((u32, u32), f64)>;

/// What is found of a group of records.
struct Group<'a> {
    /// Ascending.
    positions: &'a [u32],
    /// The similarity of the record that each is most like.
    best: Vec<f64>,
    pairs: usize,
}

impl<'a> Group<'a> {
    /// Errors: out of memory.
    fn new(positions: &'a [u32], links: &Links) -> Group<'a> {
        let mut best = filled(positions.len(), 0.0f64).or_raise();
        let mut pairs = 0;
        for (best, &position) in best.iter_mut().zip(positions) {
            let of = links.from(position);
            pairs += of.len();
            for link in of {
                check_for_interrupts();
                *best = best.max(link.similarity);
            }
        }
        Group {
            positions,
            best,
            pairs: pairs / 2,
        }
    }

    /// The pairs between some of its records, which are given by their places; `local` has the place of each position,
    /// and gets it back.
    ///
    /// Errors: out of memory.
    fn pairs(&self, places: &[usize], links: &Links, local: &mut [u32]) -> EdgeList {
        let mut pairs = EdgeList::new();
        for (i, &place) in (0..).zip(places) {
            local[self.positions[place] as usize] = i;
        }
        for (i, &place) in (0..).zip(places) {
            for link in links.from(self.positions[place]) {
                check_for_interrupts();
                let other = local[link.to as usize];
                if other != u32::MAX && other < i {
                    push(&mut pairs, ((other, i), link.similarity));
                }
            }
        }
        for &place in places {
            local[self.positions[place] as usize] = u32::MAX;
        }
        pairs
    }

    /// For each record whether it links two halves of so many records or more, and the pairs that do, with how many
    /// records are on the smaller side.
    ///
    /// Errors: out of memory.
    fn halves(
        &self,
        least: u32,
        links: &Links,
        local: &mut [u32],
    ) -> (Vec<bool>, HashMap<(u32, u32), u32>) {
        let size = self.positions.len() as u32;
        let mut linking = filled(self.positions.len(), false).or_raise();
        let mut halves = HashMap::new();
        if self.pairs > MOST_PAIRS {
            return (linking, halves);
        }
        let all: Vec<usize> = (0..self.positions.len()).collect();
        let pairs = self.pairs(&all, links, local).into_iter();
        let pairs: Vec<(u32, u32)> = pairs.map(|pair| pair.0).collect();
        let alone = bridges(size, &pairs, check_for_interrupts).or_raise();
        for (&(a, b), &alone) in pairs.iter().zip(&alone) {
            let less = alone.min(size - alone);
            if alone > 0 && less >= least {
                (linking[a as usize], linking[b as usize]) = (true, true);
                halves.insert((a, b), less);
            }
        }
        (linking, halves)
    }

    /// The records and pairs to draw: who links the halves in any case, then those to keep, then the least similar
    /// ones.
    ///
    /// Errors: out of memory.
    fn drawn(&self, of: &Drawn, local: &mut [u32], number: i64) -> Graph {
        let (linking, halves) = self.halves(of.least_half, of.links, local);
        let position = |i: usize| self.positions[i] as usize;
        let mut order: Vec<usize> = (0..self.positions.len()).collect();
        order.sort_by(|&i, &j| {
            check_for_interrupts();
            let first = |i: usize| (!linking[i], !of.keep[position(i)]);
            let by_best = self.best[i].total_cmp(&self.best[j]);
            first(i).cmp(&first(j)).then(by_best).then(i.cmp(&j))
        });
        order.truncate(MEMBERS);
        order.sort_by(|&i, &j| self.best[i].total_cmp(&self.best[j]).then(i.cmp(&j)));
        let edges = self.pairs(&order, of.links, local).into_iter();
        let edges = edges.map(|((a, b), value)| {
            let (i, j) = (order[a as usize] as u32, order[b as usize] as u32);
            GraphEdge {
                ends: [a as usize, b as usize],
                value,
                alone: halves.get(&(i.min(j), i.max(j))).copied().unwrap_or(0),
            }
        });
        let mut edges: Vec<GraphEdge> = edges.collect();
        edges.sort_by(|x, y| {
            let by_value = y.value.total_cmp(&x.value);
            let by_halves = y.alone.cmp(&x.alone);
            by_halves.then(by_value).then(x.ends.cmp(&y.ends))
        });
        edges.truncate(EDGES);
        let members = order.iter().map(|&i| GraphMember {
            key: (of.key)(self.positions[i]).to_vec(),
            best: self.best[i],
            cluster: of.cluster[position(i)],
            keep: of.keep[position(i)],
        });
        Graph {
            number,
            size: self.positions.len() as u32,
            members: members.collect(),
            edges,
            looked_through: self.pairs <= MOST_PAIRS,
            loosest: self.best.iter().copied().fold(1.0, f64::min),
        }
    }
}

/// What groups are drawn by.
struct Drawn<'a> {
    key: &'a dyn Fn(u32) -> &'a [u8],
    links: &'a Links,
    /// The fewest records that are told as a half.
    least_half: u32,
    cluster: &'a [i64],
    keep: &'a [bool],
}

/// Where each record is, by position.
pub struct RecordPlaces {
    /// The number of its cluster, 0 if it is in none.
    pub cluster: Vec<i64>,
    /// The number of its group of three records or more, 0 if it is in none. The largest group has number 1.
    pub group: Vec<u32>,
}

/// The clusters and groups of all records, and the groups to draw: the largest, and those that hold together least.
///
/// Errors: out of memory.
pub fn graphs(clustered: &Clustered, links: &Links) -> (RecordPlaces, Vec<Graph>) {
    let n = links.records();
    let pairs = (0..n).flat_map(|i| {
        let of = links.from(i).iter().take_while(move |link| link.to < i);
        of.map(move |link| (i, link.to))
    });
    let label = labels(n, pairs, check_for_interrupts).or_raise();
    let mut size = filled(n as usize, 0u32).or_raise();
    for &label in &label {
        size[label as usize] += 1;
    }
    let mut cluster = filled(n as usize, 0).or_raise();
    let mut group_of = filled(n as usize, 0).or_raise();
    let mut keep = filled(n as usize, false).or_raise();
    for record in clustered.records() {
        check_for_interrupts();
        cluster[record.position as usize] = record.cluster;
        keep[record.position as usize] = record.keep;
    }
    // All records of groups, the largest group first.
    let size_of = |i: u32| size[label[i as usize] as usize];
    let of_groups = (0..n).filter(|&i| size_of(i) > 2);
    let mut order = collected(of_groups, n as usize).or_raise();
    order.sort_unstable_by_key(|&i| {
        check_for_interrupts();
        (u32::MAX - size_of(i), label[i as usize], i)
    });
    let mut local = filled(n as usize, u32::MAX).or_raise();
    let (mut largest, mut loosest): (Vec<Graph>, Vec<Graph>) = (Vec::new(), Vec::new());
    let of = Drawn {
        key: &|position| clustered.key_at(position),
        links,
        least_half: 2,
        cluster: &cluster,
        keep: &keep,
    };
    let groups = order.chunk_by(|&i, &j| label[i as usize] == label[j as usize]);
    for (number, positions) in (1u32..).zip(groups) {
        for &position in positions {
            check_for_interrupts();
            group_of[position as usize] = number;
        }
        let group = Group::new(positions, links);
        let least = group.best.iter().copied().fold(1.0, f64::min);
        if largest.len() < LARGEST {
            largest.push(group.drawn(&of, &mut local, number.into()));
            continue;
        }
        let at = loosest.partition_point(|other| other.loosest <= least);
        if at < LOOSEST {
            loosest.insert(at, group.drawn(&of, &mut local, number.into()));
            loosest.truncate(LOOSEST);
        }
    }
    largest.append(&mut loosest);
    let places = RecordPlaces {
        cluster,
        group: group_of,
    };
    (places, largest)
}

/// An entity as a graph: its records, by the places of their keys, and the pairs between them.
///
/// Errors: out of memory.
pub fn graph_of_entity(number: i64, keys: &[Vec<u8>], members: &[u32], pairs: &[Pair]) -> Graph {
    let n = keys.len();
    let links = Links::new(n as u32, pairs, check_for_interrupts).or_raise();
    let of = Drawn {
        key: &|place| &keys[place as usize],
        links: &links,
        least_half: 1,
        cluster: &filled(n, number).or_raise(),
        keep: &filled(n, false).or_raise(),
    };
    let mut local = filled(n, u32::MAX).or_raise();
    Group::new(members, &links).drawn(&of, &mut local, number)
}
