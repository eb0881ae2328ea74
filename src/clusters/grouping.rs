//! `bloom_clusters`: pairs of similar records as clusters.

use bloom_ident_core::dedup::{average, centres, components, Choice, Clusters, Links, Pair};
use bloom_ident_core::{Error, ErrorKind};
use pgrx::{pg_sys, IntoDatum};

use crate::clusters::numbers::{places, Numbers};
use crate::clusters::pairs::{Besides, Collected};
use crate::clusters::source::Source;
use crate::pairs::each_pair;
use crate::pairs::relation::Records;
use crate::pairs::unique::not_unique;
use crate::pg::budget::{push, reserve};
use crate::pg::error::{raise, OrRaise};
use crate::pg::function::arguments::Arguments;
use crate::pg::function::rows::{text_datum, Rows};
use crate::pg::{check_for_interrupts, entry};
use crate::types::{readable, tick, NewValue};

/// How pairs become clusters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Method {
    Components,
    Centre,
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

    /// What the core needs besides the pairs in a list, where so many bytes are held already.
    pub fn besides(self, held: usize) -> Besides {
        let links = 32;
        Besides {
            a_pair: match self {
                Method::Components | Method::Centre => links,
                Method::Average => links + 90,
            },
            // links, orders, union-find, sums, and the clusters
            a_record: 44,
            held,
        }
    }

    /// Pairs of lower similarity than this change nothing, where clusters are those of `threshold`.
    fn least(self, threshold: f64) -> f64 {
        match self {
            Method::Centre => threshold,
            // known similarities to a centre; means
            Method::Components | Method::Average => 0.0,
        }
    }

    fn clusters(self, links: &Links, threshold: f64) -> Clusters {
        let clusters = match self {
            Method::Components => components(links, threshold, tick),
            // a record is with the centre that it is most like, whichever was found first
            Method::Centre => centres(links, threshold, Choice::Nearest, tick),
            // a pair that is not there counts as 0; where the threshold is 0, it has reached that
            Method::Average if threshold > 0.0 => average(links, threshold, 0.0, tick),
            Method::Average => components(links, threshold, tick),
        };
        clusters.or_raise()
    }
}

/// Clusters of at least two records.
pub struct Clustered {
    /// By place in the order of the records' numbers here.
    numbers: Numbers,
    order: Vec<u32>,
    clusters: Clusters,
    /// Records of clusters, cluster by cluster: the largest first, of equals that with the least key; within, the one
    /// to keep, then by similarity with it, then by key.
    members: Vec<u32>,
}

/// A record in a cluster.
pub struct Clustering<'a> {
    /// From 1.
    pub cluster: i64,
    pub key: &'a [u8],
    pub size: u32,
    /// With the record to keep, where known.
    pub similarity: Option<f64>,
    pub keep: bool,
}

impl Clustered {
    /// Nothing depends on the order of the pairs, nor on how their records are numbered.
    ///
    /// Errors: pairs of `records` whose keys are not unique.
    pub fn new(
        numbers: Numbers,
        mut pairs: Vec<Pair>,
        threshold: f64,
        method: Method,
        records: Option<&Records>,
    ) -> Clustered {
        let order = numbers.sorted();
        let place = places(&order, numbers.len());
        for pair in &mut pairs {
            check_for_interrupts();
            (pair.a, pair.b) = (place[pair.a as usize], place[pair.b as usize]);
        }
        drop(place);
        let links = Links::new(order.len() as u32, &pairs, tick).or_raise();
        if let Some(records) = records {
            check_unique(&pairs, &links, &numbers, &order, records);
        }
        drop(pairs);
        let clusters = method.clusters(&links, threshold);
        drop(links);
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
        Clustered {
            numbers,
            order,
            clusters,
            members,
        }
    }

    /// Every record, in their order.
    pub fn records(&self) -> impl Iterator<Item = Clustering<'_>> {
        let (mut cluster, mut last) = (0, None);
        self.members.iter().map(move |&i| {
            let member = self.clusters.member(i);
            if last != Some(member.cluster) {
                cluster += 1;
                last = Some(member.cluster);
            }
            Clustering {
                cluster,
                key: self.numbers.key(self.order[i as usize]),
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
    numbers: &Numbers,
    order: &[u32],
    records: &Records,
) {
    // bloom_duplicates finds a pair of records once
    if links.pairs() == pairs.len() {
        return;
    }
    let key = |place: u32| readable(numbers.key(order[place as usize]));
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

/// `(rel regclass, key name, signature name, threshold float8, method text)`
#[entry]
fn bloom_clusters(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: declared so, returning a set.
    let arguments = unsafe { Arguments::of(fcinfo) };
    let (threshold, method) = (arguments.threshold(3), arguments.text(4));
    let method = Method::of_name(&method);
    let records = Records::new(arguments.oid(0), arguments.name(1), vec![arguments.name(2)]);
    // SAFETY: as above.
    let rows = unsafe { Rows::new(fcinfo) };
    let mut found = Collected::new(method.besides(0));
    let mut take = |[a, b]: [&[u8]; 2], similarity| found.push(a, b, similarity);
    each_pair("bloom_clusters", &records, threshold, &mut take);
    let (pairs, numbers) = found.finish();
    let clustered = Clustered::new(numbers, pairs, threshold, method, Some(&records));
    put(rows, &clustered);
    NewValue(pg_sys::Datum::null())
}

/// `(pairs regclass, threshold float8, method text)`
#[entry]
fn bloom_clusters_of_pairs(fcinfo: pg_sys::FunctionCallInfo) -> NewValue {
    // SAFETY: as above.
    let arguments = unsafe { Arguments::of(fcinfo) };
    let (threshold, method) = (arguments.threshold(1), arguments.text(2));
    let method = Method::of_name(&method);
    let source = Source::of_similar_pairs(arguments.oid(0));
    // SAFETY: as above.
    let rows = unsafe { Rows::new(fcinfo) };
    let mut found = Collected::new(method.besides(0));
    let least = method.least(threshold);
    found.read(source.similar_rows(), &source.name, least);
    let (pairs, numbers) = found.finish();
    put(
        rows,
        &Clustered::new(numbers, pairs, threshold, method, None),
    );
    NewValue(pg_sys::Datum::null())
}

fn put(mut rows: Rows, clustered: &Clustered) {
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
