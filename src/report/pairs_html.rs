//! A report of pairs as a page of HTML that needs nothing else.

use askama::Template;

use super::charts::{self, Bars};
use super::html::{
    ascii, bins, group, name_of, near, quality, sizes, BinRow, Group, PairRow, Quality, Record,
    SizeRow,
};
use super::pairs::{PairFacts, PairsOrigin};
use super::review::{hashes_of, PageHashes, SCRIPT, STYLE};
use super::value::{grouped, LENGTH};
use super::why::{self, ModelBars, Waterfall};

/// A pair near the cut, and why it has its bits.
struct NearRow {
    pair: PairRow,
    why: Option<Waterfall>,
}

/// A record of a cluster, and why it goes with the record to keep.
struct MemberRow {
    record: Record,
    why: Option<Waterfall>,
}

/// A cluster. Its group has no records left.
struct GroupRows {
    group: Group,
    members: Vec<MemberRow>,
}

#[derive(Template)]
#[template(path = "pairs.html")]
struct PairsPage<'a> {
    origin: &'a PairsOrigin,
    title: String,
    pairs_relation: String,
    relation: String,
    key: String,
    /// Whether records are of two relations, which a column tells.
    linked: bool,
    database: String,
    measure: &'static str,
    /// Whether pairs below the threshold can be there.
    has_cut: bool,
    threshold: String,
    floor: String,
    all: String,
    records: String,
    pairs: String,
    clusters: String,
    clustered: String,
    surplus: String,
    missing: usize,
    bars: Bars,
    bins: Vec<BinRow>,
    quality: Option<Quality>,
    sizes: Vec<SizeRow>,
    near: Vec<NearRow>,
    groups: Vec<GroupRows>,
    more_groups: String,
    columns: Vec<String>,
    /// The columns of a table of records: key, similarity, and those that are shown.
    width: usize,
    more_columns: usize,
    empty_columns: usize,
    model: Option<ModelBars>,
    length: usize,
    statement: String,
    version: &'static str,
    data: &'a str,
    hashes: PageHashes,
}

/// The report as a page.
pub fn html(found: &PairFacts, origin: &PairsOrigin, data: &str) -> String {
    let facts = &found.facts;
    let why = |a: &[u8], b: &[u8]| {
        let (a, b) = (found.texts.get(a)?, found.texts.get(b)?);
        Some(why::waterfall(found.model.as_ref()?, a, b))
    };
    let near_rows = near(facts).into_iter().zip(&facts.near);
    let near_rows = near_rows.map(|(pair, near)| NearRow {
        pair,
        why: why(&near.keys[0], &near.keys[1]),
    });
    let groups = facts.largest.iter().map(|cluster| {
        let mut group = group(facts, cluster);
        let records = std::mem::take(&mut group.records);
        let kept = &cluster.records[0].key;
        let members = records.into_iter().zip(&cluster.records);
        let members = members.map(|(record, shown)| MemberRow {
            record,
            why: (!shown.keep).then(|| why(kept, &shown.key)).flatten(),
        });
        GroupRows {
            members: members.collect(),
            group,
        }
    });
    let clusters = facts.clusters();
    let linked = origin.relations.len() > 1;
    let relations = origin.relations.iter().map(|(name, _)| name_of(name));
    let relations = relations.collect::<Vec<_>>().join(" and ");
    let mut keys: Vec<String> = origin
        .relations
        .iter()
        .map(|(_, key)| name_of(key))
        .collect();
    keys.dedup();
    let page = PairsPage {
        origin,
        title: match linked {
            true => format!("Links between {relations}"),
            false => format!("Pairs of duplicates in {relations}"),
        },
        pairs_relation: name_of(&origin.pairs),
        relation: relations.clone(),
        key: keys.join(", "),
        linked,
        database: name_of(&origin.database),
        measure: facts.measure,
        has_cut: facts.measure == "probability",
        threshold: facts.threshold.to_string(),
        floor: format!("{:.2}", facts.floor()),
        all: grouped(found.all),
        records: grouped(found.records),
        pairs: grouped(facts.pairs),
        clusters: grouped(clusters),
        clustered: grouped(facts.clustered),
        surplus: grouped(facts.clustered - clusters),
        missing: found.missing,
        bars: charts::histogram(facts),
        bins: bins(facts),
        quality: quality(facts),
        sizes: sizes(facts),
        near: near_rows.collect(),
        groups: groups.collect(),
        more_groups: grouped(facts.more_clusters()),
        columns: facts.columns.iter().map(|name| name_of(name)).collect(),
        width: facts.columns.len() + 2,
        more_columns: facts.more_columns,
        empty_columns: facts.empty_columns,
        model: found.model.as_ref().map(why::levels),
        length: LENGTH,
        statement: origin.statement(),
        version: env!("CARGO_PKG_VERSION"),
        data,
        hashes: hashes_of(data),
    };
    ascii(&page.render().expect("writing to a string does not fail"))
}
