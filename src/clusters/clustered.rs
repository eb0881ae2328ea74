//! Records grouped into clusters by their pairs.

use base::memory::filled;
use base::{Error, ErrorKind};
use linkage::clusters::{decided, Bounds, Clusters, Links, Pair};
use pg::error::{raise, warn, OrRaise};

use crate::clusters::grouping::Grouping;
use crate::pairs::decisions::Decisions;
use crate::pairs::dictionary::{positions, KeyDictionary};
use crate::pairs::records::Records;
use crate::pairs::unique::not_unique;
use pg::budget::push;
use pg::check_for_interrupts;
use pg::progress::{self, phases};
use pg::values::text::readable;

/// Clusters of at least two records.
pub struct Clustered {
    keys: KeyDictionary,
    /// The numbers of the records in the order of their keys. Everything below goes by the position in this order.
    order: Vec<u32>,
    clusters: Clusters,
    /// The records of clusters. The largest cluster is first, and of equal ones the one with the least key. Within a
    /// cluster the record to keep is first, then they are ordered by their similarity to it, then by key.
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
    /// The clusters, and the pairs by the positions of their records. The result depends neither on the order of the
    /// pairs nor on how their records are numbered. `records` is the relation that the pairs were found in, if they
    /// come from a search.
    ///
    /// Errors: keys of `records` that are not unique; decisions that contradict each other; out of memory.
    pub fn with_links(
        mut keys: KeyDictionary,
        mut pairs: Vec<Pair>,
        grouping: &Grouping<'_>,
        records: Option<&Records>,
    ) -> (Clustered, Links) {
        progress::phase(phases::GROUPING, None);
        let mut decisions = Vec::new();
        if let Some(given) = grouping.decisions {
            given.among(&mut keys, |decision| push(&mut decisions, decision));
        }
        let order = keys.sorted();
        let position = positions(&order, keys.len());
        for pair in &mut pairs {
            check_for_interrupts();
            (pair.a, pair.b) = (position[pair.a as usize], position[pair.b as usize]);
        }
        for decision in &mut decisions {
            check_for_interrupts();
            let (a, b) = (decision.a as usize, decision.b as usize);
            (decision.a, decision.b) = (position[a], position[b]);
        }
        drop(position);
        let all = order.len() as u32;
        let decided = decided(all, &decisions, grouping.on_conflict, check_for_interrupts);
        let decided = decided.or_raise().unwrap_or_else(|contradiction| {
            let chain = contradiction.chain.iter();
            let chain = chain.map(|&record| keys.key(order[record as usize]));
            refuse_contradiction(chain, grouping.decisions)
        });
        drop(decisions);
        let bounds = Bounds::new(decided, grouping.most);
        let links = Links::new(order.len() as u32, &pairs, check_for_interrupts).or_raise();
        if let Some(records) = records {
            check_unique(&pairs, &links, &keys, &order, records);
        }
        drop(pairs);
        let clusters = grouping.clusters(&links, &bounds);
        let mut members = Vec::new();
        for i in 0..clusters.len() as u32 {
            check_for_interrupts();
            if clusters.member(i).size > 1 {
                push(&mut members, i);
            }
        }
        let mut clustered = Clustered {
            keys,
            order,
            clusters,
            members,
        };
        clustered.sort();
        (clustered, links)
    }

    /// Puts the records in order.
    fn sort(&mut self) {
        let clusters = &self.clusters;
        self.members.sort_unstable_by(|&x, &y| {
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
    }

    /// Lets clusters keep other records than those that the method keeps, by their positions.
    pub fn keep(&mut self, kept: impl Iterator<Item = u32>, links: &Links) {
        self.clusters.keep(kept, links, check_for_interrupts);
        self.sort();
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

    /// Warns of pairs that would have made too large a cluster, and tells of those that are asked again.
    pub fn tell_left_out(&self, grouping: &Grouping<'_>) {
        let most = grouping.most;
        grouping.decisions.iter().for_each(|d| d.tell_reopened());
        let refused = self.clusters.refused();
        if refused > 0 {
            let pairs = if refused == 1 { "pair is" } else { "pairs are" };
            let message = format!(
                "{refused} {pairs} left out, since a cluster would have more than {most} records"
            );
            warn(
                &Error::new(ErrorKind::LimitExceeded, message)
                .detail("Such a cluster often hangs together by records that say little, such as nearly empty ones.")
                .hint("Look at the pairs of its records, raise the threshold, or raise \"max_size\"."),
            );
        }
    }

    /// The numbers that records have in the dictionary of keys, in the order of the keys, and the places in this order
    /// of the records of clusters, as [`Clustered::records`] gives them.
    pub fn places(&self) -> (&[u32], &[u32]) {
        (&self.order, &self.members)
    }

    /// How many records are in clusters.
    pub fn len(&self) -> usize {
        self.members.len()
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
    let mut given = filled(order.len(), 0usize).or_raise();
    for pair in pairs {
        check_for_interrupts();
        given[pair.a as usize] += 1;
        given[pair.b as usize] += 1;
    }
    let repeated = (0..links.records()).find(|&i| given[i as usize] > links.from(i).len());
    let i = repeated.expect("a pair that came twice");
    let other = |p: &Pair| (p.a == i).then_some(p.b).or((p.b == i).then_some(p.a));
    let mut others: Vec<u32> = pairs.iter().filter_map(other).collect();
    others.sort_unstable();
    let twice = others.windows(2).find(|w| w[0] == w[1]);
    let other = twice.expect("a pair that came twice")[0];
    let (key, other) = (key(i), key(other));
    let message = format!("more than one record has the key \"{key}\" or \"{other}\"");
    not_unique(message, records);
}

/// Fails the statement with 22000: decisions contradict each other along a chain of records.
fn refuse_contradiction<'a>(
    chain: impl ExactSizeIterator<Item = &'a [u8]>,
    decisions: Option<&Decisions>,
) -> ! {
    const SHOWN: usize = 20;
    let more = chain.len().saturating_sub(SHOWN);
    let mut keys: Vec<String> = chain.map(|key| format!("\"{}\"", readable(key))).collect();
    let [first, .., last] = &keys[..] else {
        unreachable!("a chain has two ends")
    };
    let message = format!(
        "decisions in \"{}\" contradict each other",
        decisions.map_or("", |decisions| &decisions.name)
    );
    let end = format!("but {first} and {last} are judged different");
    if more > 0 {
        keys.splice(SHOWN / 2..SHOWN / 2 + more, [format!("({more} more)")]);
    }
    let same = keys.join(" is the same as ");
    raise(
        &Error::data_exception(message)
            .detail(format!("{same}, {end}."))
            .hint(
                "Decide \
        anew about one of these pairs, or pass on_conflict => 'newer' to have newer decisions win.",
            ),
    )
}
