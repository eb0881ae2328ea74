//! `bloom_clusters`: groups records into clusters by their pairs.

use bloom_ident_core::clusters::{average, centres, components, Bounds, Clusters, Links, Pair};
use bloom_ident_core::{Error, ErrorKind};
use pgrx::{pg_sys, IntoDatum};

use crate::clusters::pair_list::{Overhead, PairList};
use crate::clusters::source::Source;
use crate::pairs::dictionary::{positions, KeyDictionary};
use crate::pairs::each_pair;
use crate::pairs::records::Records;
use crate::pairs::unique::not_unique;
use crate::pairs::verify::given;
use crate::pg::budget::{push, reserve};
use crate::pg::error::{raise, OrRaise};
use crate::pg::function::arguments::Arguments;
use crate::pg::function::rows::{text_datum, ResultRows};
use crate::pg::values::text::readable;
use crate::pg::values::varlena::NewValue;
use crate::pg::{check_for_interrupts, entry};

/// How pairs become clusters. The core explains the algorithms.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Whatever is connected by pairs is a cluster.
    Components,
    /// A cluster is a centre and the records similar to it: star clustering (Aslam, Pelekhov, Rus 2004).
    Centre,
    /// Clusters are merged as long as the mean similarity between two of them reaches the threshold: average linkage.
    Average,
}

impl Method {
    /// Errors: no such method.
    pub fn of_name(name: &str) -> Method {
        match name {
            "components" => Method::Components,
            "centre" => Method::Centre,
            "average" => Method::Average,
            _ => raise(
                &Error::new(
                    ErrorKind::InvalidParameter,
                    format!("unrecognized clustering method \"{name}\""),
                )
                .detail("The methods are \"components\", \"centre\" and \"average\"."),
            ),
        }
    }

    /// The memory that the core needs besides the list of pairs, where `held` bytes are in use already.
    pub fn overhead(self, held: usize) -> Overhead {
        let links = 32;
        Overhead {
            a_pair: match self {
                Method::Components | Method::Centre => links,
                Method::Average => links + 90,
            },
            // Links, orders, union-find, sums, and the clusters.
            a_record: 44,
            held,
        }
    }

    /// Pairs of lower similarity than this do not change the clusters of `threshold`.
    fn least(self, threshold: f64) -> f64 {
        match self {
            Method::Centre => threshold,
            // They tell how similar a record is to the one to keep, and count in means.
            Method::Components | Method::Average => 0.0,
        }
    }

    fn clusters(self, links: &Links, threshold: f64) -> Clusters {
        let clusters = match self {
            Method::Components => {
                components(links, threshold, &Bounds::default(), check_for_interrupts)
            }
            // A record belongs to the centre that it is most similar to, not to the first one that was found.
            Method::Centre => centres(links, threshold, &Bounds::default(), check_for_interrupts),
            // A pair that is not there counts as similarity 0, which reaches a threshold of 0.
            Method::Average if threshold > 0.0 => average(
                links,
                threshold,
                0.0,
                &Bounds::default(),
                check_for_interrupts,
            ),
            Method::Average => {
                components(links, threshold, &Bounds::default(), check_for_interrupts)
            }
        };
        clusters.or_raise()
    }
}

/// Clusters of at least two records.
pub struct Clustered {
    keys: KeyDictionary,
    /// The numbers of the records in the order of their keys. Everything below goes by the position in this order.
    order: Vec<u32>,
    clusters: Clusters,
    /// The records of clusters. The largest cluster is first, and of equal ones the one with the least key. Within a cluster the
    /// record to keep is first, then they are ordered by their similarity to it, then by key.
    members: Vec<u32>,
}

/// A record in a cluster.
pub struct ClusterRecord<'a> {
    /// The number of the cluster, from 1.
    pub cluster: i64,
    /// By which the links name it.
    pub position: u32,
    pub key: &'a [u8],
    /// How many records the cluster has.
    pub size: u32,
    /// The similarity to the record to keep, if it is known.
    pub similarity: Option<f64>,
    pub keep: bool,
}

impl Clustered {
    /// The result depends neither on the order of the pairs nor on how their records are numbered. `records` is the relation that
    /// the pairs were found in, if they come from a search.
    ///
    /// Errors: keys of `records` that are not unique; out of memory.
    pub fn new(
        keys: KeyDictionary,
        pairs: Vec<Pair>,
        threshold: f64,
        method: Method,
        records: Option<&Records>,
    ) -> Clustered {
        Clustered::with_links(keys, pairs, threshold, method, records).0
    }

    /// The same, and the pairs by the positions of their records.
    ///
    /// Errors: as above.
    pub fn with_links(
        keys: KeyDictionary,
        mut pairs: Vec<Pair>,
        threshold: f64,
        method: Method,
        records: Option<&Records>,
    ) -> (Clustered, Links) {
        let order = keys.sorted();
        let position = positions(&order, keys.len());
        for pair in &mut pairs {
            check_for_interrupts();
            (pair.a, pair.b) = (position[pair.a as usize], position[pair.b as usize]);
        }
        drop(position);
        let links = Links::new(order.len() as u32, &pairs, check_for_interrupts).or_raise();
        if let Some(records) = records {
            check_unique(&pairs, &links, &keys, &order, records);
        }
        drop(pairs);
        let clusters = method.clusters(&links, threshold);
        let mut members = Vec::new();
        for i in 0..clusters.len() as u32 {
            check_for_interrupts();
            if clusters.member(i).size > 1 {
                push(&mut members, i);
            }
        }
        members.sort_unstable_by(|&x, &y| {
            check_for_interrupts();
            let (a, b) = (clusters.member(x), clusters.member(y));
            b.size
                .cmp(&a.size)
                .then(a.cluster.cmp(&b.cluster))
                .then((y == b.centre).cmp(&(x == a.centre)))
                .then_with(|| {
                    let similarity = |s: Option<f64>| s.unwrap_or(-1.0);
                    similarity(b.similarity).total_cmp(&similarity(a.similarity))
                })
                .then(x.cmp(&y))
        });
        let clustered = Clustered {
            keys,
            order,
            clusters,
            members,
        };
        (clustered, links)
    }

    /// The key of a record by its number in the dictionary.
    pub fn key(&self, number: u32) -> &[u8] {
        self.keys.key(number)
    }

    /// The key of a record by its position.
    pub fn key_at(&self, position: u32) -> &[u8] {
        self.keys.key(self.order[position as usize])
    }

    /// For each number of the dictionary its position.
    ///
    /// Errors: out of memory.
    pub fn positions(&self) -> Vec<u32> {
        positions(&self.order, self.keys.len())
    }

    /// All records of clusters, in the order of `members`.
    pub fn records(&self) -> impl Iterator<Item = ClusterRecord<'_>> {
        let (mut cluster, mut last) = (0, None);
        self.members.iter().map(move |&i| {
            let member = self.clusters.member(i);
            if last != Some(member.cluster) {
                cluster += 1;
                last = Some(member.cluster);
            }
            ClusterRecord {
                cluster,
                position: i,
                key: self.keys.key(self.order[i as usize]),
                size: member.size,
                similarity: member.similarity,
                keep: i == member.centre,
            }
        })
    }
}

/// Errors: a pair of records with one key, or two pairs with the same keys.
fn check_unique(
    pairs: &[Pair],
    links: &Links,
    keys: &KeyDictionary,
    order: &[u32],
    records: &Records,
) {
    // bloom_duplicates finds each pair of records once.
    if links.pairs() == pairs.len() {
        return;
    }
    let key = |position: u32| readable(keys.key(order[position as usize]));
    if let Some(i) = pairs.iter().filter(|p| p.a == p.b).map(|p| p.a).min() {
        let message = format!("more than one record has the key \"{}\"", key(i));
        not_unique(message, records);
    }
    let mut given = Vec::new();
    reserve(&mut given, order.len());
    given.resize(order.len(), 0usize);
    for pair in pairs {
        check_for_interrupts();
        given[pair.a as usize] += 1;
        given[pair.b as usize] += 1;
    }
    let repeated = (0..links.records()).find(|&i| given[i as usize] > links.of(i).len());
    let i = repeated.expect("a pair that came twice");
    let other = |p: &Pair| (p.a == i).then_some(p.b).or((p.b == i).then_some(p.a));
    let mut others: Vec<u32> = pairs.iter().filter_map(other).collect();
    others.sort_unstable();
    let twice = others.windows(2).find(|w| w[0] == w[1]);
    let other = twice.expect("a pair that came twice")[0];
    not_unique(
        format!(
            "more than one record has the key \"{}\" or \"{}\"",
            key(i),
            key(other)
        ),
        records,
    );
}

/// `(rel regclass, key name, signature name, threshold float8, method text, verify name, margin float8)`
#[entry]
fn bloom_clusters(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::of(fcinfo) };
    let (threshold, method) = (arguments.threshold(3), arguments.text(4));
    let method = Method::of_name(&method);
    let records = Records::new(arguments.oid(0), arguments.name(1), vec![arguments.name(2)]);
    let records = records.verified(given(arguments, 5, threshold).as_ref());
    // SAFETY: the SQL function is declared to return a set of rows.
    let rows = unsafe { ResultRows::new(fcinfo) };
    let mut found = PairList::new(method.overhead(0));
    let mut take = |[a, b]: [&[u8]; 2], similarity| found.push(a, b, similarity);
    each_pair("bloom_clusters", &records, threshold, &mut take);
    let (pairs, keys) = found.finish();
    let clustered = Clustered::new(keys, pairs, threshold, method, Some(&records));
    put(rows, &clustered);
    NewValue(pg_sys::Datum::null())
}

/// `(pairs regclass, threshold float8, method text)`
#[entry]
fn bloom_clusters_of_pairs(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: the SQL function is declared with these arguments.
    let arguments = unsafe { Arguments::of(fcinfo) };
    let (threshold, method) = (arguments.threshold(1), arguments.text(2));
    let method = Method::of_name(&method);
    let source = Source::of_similar_pairs(arguments.oid(0));
    // SAFETY: the SQL function is declared to return a set of rows.
    let rows = unsafe { ResultRows::new(fcinfo) };
    let mut found = PairList::new(method.overhead(0));
    let least = method.least(threshold);
    found.read(source.similar_rows(), &source.name, least);
    let (pairs, keys) = found.finish();
    put(rows, &Clustered::new(keys, pairs, threshold, method, None));
    NewValue(pg_sys::Datum::null())
}

fn put(mut rows: ResultRows, clustered: &Clustered) {
    for record in clustered.records() {
        check_for_interrupts();
        rows.make(|| {
            Some([
                record.cluster.into_datum(),
                Some(text_datum(record.key)),
                (record.size as i32).into_datum(),
                record.similarity.into_datum(),
                record.keep.into_datum(),
            ])
        });
    }
}
