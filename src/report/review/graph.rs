//! Records that pairs connect, as graphs: the pairs between them, their clusters, and which pair alone links two halves.

use bloom_ident_core::clusters::{bridges, labels, Links};

use crate::clusters::Clustered;
use crate::pg::budget::{push, reserve};
use crate::pg::check_for_interrupts;
use crate::pg::error::OrRaise;

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
    position: u32,
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
    pub number: u32,
    pub size: u32,
    /// The least similar ones first.
    pub members: Vec<GraphMember>,
    pub edges: Vec<GraphEdge>,
    /// The least of the similarities that hold a record.
    loosest: f64,
}

impl Graph {
    /// Finds what holds its records together.
    ///
    /// Errors: out of memory.
    fn finish(&mut self, links: &Links, local: &mut [u32]) {
        self.members.sort_by_key(|member| member.position);
        let members = &mut self.members;
        for (i, member) in (0..).zip(members.iter()) {
            local[member.position as usize] = i;
        }
        let (mut pairs, mut values) = (Vec::new(), Vec::new());
        for (i, member) in (0..).zip(members.iter_mut()) {
            for link in links.of(member.position) {
                check_for_interrupts();
                let other = local[link.to as usize];
                if other == u32::MAX {
                    continue;
                }
                member.best = member.best.max(link.similarity);
                if other < i {
                    push(&mut pairs, (other, i));
                    push(&mut values, link.similarity);
                }
            }
        }
        for member in members.iter() {
            local[member.position as usize] = u32::MAX;
        }
        let alone = bridges(members.len() as u32, &pairs, check_for_interrupts).or_raise();
        self.loosest = members.iter().map(|member| member.best).fold(1.0, f64::min);

        // Who links halves is drawn in any case.
        let half = |alone: u32| alone > 1 && alone + 1 < self.size;
        let mut links_halves = vec![false; members.len()];
        for (&(a, b), &alone) in pairs.iter().zip(&alone) {
            if half(alone) {
                (links_halves[a as usize], links_halves[b as usize]) = (true, true);
            }
        }
        let mut order: Vec<usize> = (0..members.len()).collect();
        order.sort_by(|&i, &j| {
            let first = |i: usize| (!links_halves[i], !members[i].keep);
            let by_best = members[i].best.total_cmp(&members[j].best);
            first(i).cmp(&first(j)).then(by_best).then(i.cmp(&j))
        });
        order.truncate(MEMBERS);
        order.sort_by(|&i, &j| members[i].best.total_cmp(&members[j].best).then(i.cmp(&j)));
        let mut place = vec![usize::MAX; members.len()];
        for (to, &from) in order.iter().enumerate() {
            place[from] = to;
        }
        let edges = pairs.iter().zip(values.iter().zip(&alone));
        let mut edges: Vec<GraphEdge> = edges
            .map(|(&(a, b), (&value, &alone))| GraphEdge {
                ends: [place[a as usize], place[b as usize]],
                value,
                alone: alone.min(self.size - alone.min(self.size)),
            })
            .filter(|edge| edge.ends.iter().all(|&end| end != usize::MAX))
            .collect();
        edges.sort_by(|x, y| {
            let by_value = y.value.total_cmp(&x.value);
            y.alone
                .cmp(&x.alone)
                .then(by_value)
                .then(x.ends.cmp(&y.ends))
        });
        edges.truncate(EDGES);
        self.edges = edges;
        let mut kept: Vec<Option<GraphMember>> = self.members.drain(..).map(Some).collect();
        self.members = order.iter().filter_map(|&i| kept[i].take()).collect();
    }
}

/// Where each record is, by position.
pub struct Places {
    /// The number of its cluster, 0 if it is in none.
    pub cluster: Vec<i64>,
    /// The number of its group of three records or more, 0 if it is in none. The largest group has number 1.
    pub group: Vec<u32>,
}

fn filled<T: Clone>(n: usize, value: T) -> Vec<T> {
    let mut filled = Vec::new();
    reserve(&mut filled, n);
    filled.resize(n, value);
    filled
}

/// The clusters and groups of all records, and the groups to draw: the largest, and those that hold together least.
///
/// Errors: out of memory.
pub fn graphs(clustered: &Clustered, links: &Links) -> (Places, Vec<Graph>) {
    let n = links.records();
    let pairs = (0..n).flat_map(|i| {
        let of = links.of(i).iter().take_while(move |link| link.to < i);
        of.map(move |link| (i, link.to))
    });
    let label = labels(n, pairs, check_for_interrupts).or_raise();
    let mut size = filled(n as usize, 0u32);
    for &label in &label {
        size[label as usize] += 1;
    }
    let mut places = Places {
        cluster: filled(n as usize, 0),
        group: filled(n as usize, 0),
    };
    let mut keep = filled(n as usize, false);
    for record in clustered.records() {
        check_for_interrupts();
        places.cluster[record.position as usize] = record.cluster;
        keep[record.position as usize] = record.keep;
    }
    // All records of groups, the largest group first.
    let size_of = |i: u32| size[label[i as usize] as usize];
    let mut order = Vec::new();
    reserve(&mut order, n as usize);
    order.extend((0..n).filter(|&i| size_of(i) > 2));
    order.sort_unstable_by_key(|&i| {
        check_for_interrupts();
        (u32::MAX - size_of(i), label[i as usize], i)
    });
    let mut local = filled(n as usize, u32::MAX);
    let (mut largest, mut loosest): (Vec<Graph>, Vec<Graph>) = (Vec::new(), Vec::new());
    let groups = order.chunk_by(|&i, &j| label[i as usize] == label[j as usize]);
    for (number, group) in (1..).zip(groups) {
        let mut graph = Graph {
            number,
            size: group.len() as u32,
            members: Vec::new(),
            edges: Vec::new(),
            loosest: 1.0,
        };
        for &position in group {
            check_for_interrupts();
            places.group[position as usize] = number;
            push(
                &mut graph.members,
                GraphMember {
                    key: clustered.key_at(position).to_vec(),
                    best: 0.0,
                    cluster: places.cluster[position as usize],
                    keep: keep[position as usize],
                    position,
                },
            );
        }
        graph.finish(links, &mut local);
        if largest.len() < LARGEST {
            largest.push(graph);
            continue;
        }
        let at = loosest.partition_point(|other| other.loosest <= graph.loosest);
        if at < LOOSEST {
            loosest.insert(at, graph);
            loosest.truncate(LOOSEST);
        }
    }
    largest.append(&mut loosest);
    (places, largest)
}
