//! A report of pairs as a page of HTML that needs nothing else.

use std::ops::Deref;

use askama::Template;

use super::charts;
use super::html::{ascii, group, name_of, near, Common, Group, PairRow, Record};
use super::pairs::{PairFacts, PairsOrigin};
use super::review::{SCRIPT, STYLE};
use super::value::grouped;
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
    common: Common<'a>,
    origin: &'a PairsOrigin,
    title: String,
    pairs_relation: String,
    relation: String,
    key: String,
    /// Whether records are of two relations, which a column tells.
    linked: bool,
    measure: &'static str,
    /// Whether pairs below the threshold can be there.
    has_cut: bool,
    floor: String,
    all: String,
    records: String,
    missing: usize,
    near: Vec<NearRow>,
    groups: Vec<GroupRows>,
    /// The columns of a table of records: key, similarity, and those that are shown.
    width: usize,
    model: Option<ModelBars>,
    statement: String,
}

impl<'a> Deref for PairsPage<'a> {
    type Target = Common<'a>;

    fn deref(&self) -> &Common<'a> {
        &self.common
    }
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
    let linked = origin.relations.len() > 1;
    let relations = origin.relations.iter().map(|(name, _)| name_of(name));
    let relations = relations.collect::<Vec<_>>().join(" and ");
    let keys = origin.relations.iter().map(|(_, key)| name_of(key));
    let mut keys: Vec<String> = keys.collect();
    keys.dedup();
    let page = PairsPage {
        common: Common::new(facts, &origin.database, data),
        origin,
        title: match linked {
            true => format!("Links between {relations}"),
            false => format!("Pairs of duplicates in {relations}"),
        },
        pairs_relation: name_of(&origin.pairs),
        relation: relations,
        key: keys.join(", "),
        linked,
        measure: facts.measure,
        has_cut: facts.measure == "probability",
        floor: format!("{:.2}", facts.floor()),
        all: grouped(facts.histogram.total()),
        records: grouped(facts.rows),
        missing: found.missing,
        near: near_rows.collect(),
        groups: groups.collect(),
        width: facts.columns.len() + 2,
        model: found.model.as_ref().map(why::levels),
        statement: origin.statement(),
    };
    ascii(&page.render().expect("writing to a string does not fail"))
}
