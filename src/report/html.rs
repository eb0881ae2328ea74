//! A report as a page of HTML that needs nothing else.

use std::ops::Deref;

use askama::Template;
use linkage::clusters::{SweepStep, Verdict};
use linkage::review::{parts, DiffPart};

use super::charts::{self, Bars, Curve};
use super::facts::{Facts, Measured, Value, Values};
use super::histogram::Histogram;
use super::pairs::{PairFacts, PairsOrigin};
use super::review::{hashes_of, HeldEntity, PageHashes, SCRIPT, STYLE};
use super::value::{cut, grouped, percent, similarity, tidy, LENGTH};
use super::why::{self, ModelBars, Waterfall};
use super::Origin;

pub struct Bit {
    pub text: String,
    pub other: bool,
    pub gap: bool,
}

pub struct Cell {
    /// The name of the column.
    pub label: String,
    pub bits: Vec<Bit>,
    pub null: bool,
    /// The value is so short that it stays on one line.
    pub short: bool,
}

pub struct Record {
    /// "a" or "b", where records are of two relations.
    pub side: &'static str,
    pub key: String,
    pub similarity: String,
    pub keep: bool,
    pub cells: Vec<Cell>,
}

pub struct Group {
    pub number: i64,
    pub size: u32,
    pub records: Vec<Record>,
    pub hidden: u32,
}

pub struct PairRow {
    pub similarity: String,
    pub above: bool,
    pub verdict: &'static str,
    /// What somebody has decided; empty if nobody has.
    pub judged: &'static str,
    /// A record has changed since.
    pub stale: bool,
    /// The entity that the pair alone holds together, on a page of entities.
    pub held: Option<HeldEntity>,
    pub records: [Record; 2],
}

pub struct SizeRow {
    pub size: u32,
    pub clusters: String,
    pub records: String,
    /// Its length, where the longest bar has 200.
    pub bar: String,
}

pub struct BinRow {
    pub from: String,
    pub pairs: String,
    pub above: bool,
}

#[derive(Clone)]
pub struct StepRow {
    pub threshold: String,
    pub found: String,
    pub correct: String,
    pub precision: String,
    pub recall: String,
    pub f1: String,
    pub chosen: bool,
    pub best: bool,
}

pub struct Quality {
    pub name: String,
    pub chosen: StepRow,
    pub true_pairs: String,
    pub best: Option<StepRow>,
    pub steps: Vec<StepRow>,
    pub unknown: Option<String>,
    pub curve: Curve,
}

/// What both pages say.
pub struct Common<'a> {
    pub database: String,
    pub threshold: String,
    pub pairs: String,
    pub clusters: String,
    pub clustered: String,
    pub surplus: String,
    pub bars: Bars,
    pub bins: Vec<BinRow>,
    pub quality: Option<Quality>,
    pub sizes: Vec<SizeRow>,
    pub has_entities: bool,
    pub more_groups: String,
    pub columns: Vec<String>,
    pub more_columns: usize,
    pub empty_columns: usize,
    pub length: usize,
    pub version: &'static str,
    pub data: &'a str,
    pub hashes: PageHashes,
}

impl<'a> Common<'a> {
    pub fn new(facts: &Facts, database: &str, data: &'a str) -> Common<'a> {
        let clusters = facts.clusters();
        Common {
            database: name_of(database),
            threshold: facts.threshold.to_string(),
            pairs: grouped(facts.pairs),
            clusters: grouped(clusters),
            clustered: grouped(facts.clustered),
            surplus: grouped(facts.clustered - clusters),
            bars: charts::histogram(facts),
            bins: bins(facts),
            quality: quality(facts),
            sizes: sizes(facts),
            has_entities: facts.entities.is_some(),
            more_groups: grouped(facts.more_clusters()),
            columns: facts.columns.iter().map(|name| name_of(name)).collect(),
            more_columns: facts.more_columns,
            empty_columns: facts.empty_columns,
            length: LENGTH,
            version: env!("CARGO_PKG_VERSION"),
            data,
            hashes: hashes_of(data),
        }
    }
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    common: Common<'a>,
    origin: &'a Origin,
    title: String,
    relation: String,
    key: String,
    signature: String,
    /// The column of the tokens that are compared, if it is not the signatures.
    tokens: Option<String>,
    floor: String,
    rows: String,
    signed: String,
    clustered_share: String,
    surplus_share: String,
    near: Vec<PairRow>,
    groups: Vec<Group>,
    statement: String,
    tables: String,
}

impl<'a> Deref for Page<'a> {
    type Target = Common<'a>;

    fn deref(&self) -> &Common<'a> {
        &self.common
    }
}

/// A value of so many characters is not broken.
const SHORT: usize = 16;

/// Stands for characters that would not be seen.
pub const UNFIT: char = '\u{fffd}';

fn three(x: f64) -> String {
    format!("{x:.3}")
}

/// A record, whose values are held against those of another one, if there is one.
fn record(facts: &Facts, key: &[u8], other: Option<&[u8]>) -> Record {
    let values = facts.values.get(key);
    let others = other.and_then(|other| facts.values.get(other));
    Record {
        side: facts.side(key),
        key: tidy(&facts.key_text(key), UNFIT),
        similarity: String::new(),
        keep: false,
        cells: values.map_or(Vec::new(), |values| cells(facts, values, others)),
    }
}

fn cells(facts: &Facts, values: &Values, kept: Option<&Values>) -> Vec<Cell> {
    let cell = |(i, value): (usize, &Option<Value>)| {
        let Some(value) = value else {
            return Cell {
                label: name_of(&facts.columns[i]),
                bits: Vec::new(),
                null: true,
                short: true,
            };
        };
        let value = tidy(&value.text, UNFIT);
        let bit = |text: &str, other, gap| Bit {
            text: text.to_owned(),
            other,
            gap,
        };
        let bits = match kept.map(|kept| kept[i].as_ref()) {
            None => vec![bit(&value, false, false)],
            Some(None) => vec![bit(&value, true, false)],
            Some(Some(kept)) => parts(&tidy(&kept.text, UNFIT), &value)
                .into_iter()
                .map(|part| match part {
                    DiffPart::Same(text) => bit(text, false, false),
                    DiffPart::Other(text) => bit(text, true, false),
                    DiffPart::Gap => bit("", false, true),
                })
                .collect(),
        };
        Cell {
            label: name_of(&facts.columns[i]),
            bits,
            null: false,
            short: value.chars().count() <= SHORT,
        }
    };
    values.iter().enumerate().map(cell).collect()
}

pub fn group(facts: &Facts, cluster: &super::facts::Cluster) -> Group {
    let kept = cluster.records.first().map(|kept| kept.key.as_slice());
    let records = cluster.records.iter().map(|of| Record {
        similarity: of.similarity.map_or(String::new(), similarity),
        keep: of.keep,
        ..record(facts, &of.key, kept.filter(|_| !of.keep))
    });
    let records: Vec<Record> = records.collect();
    Group {
        number: cluster.number,
        size: cluster.size,
        hidden: cluster.size - records.len() as u32,
        records,
    }
}

pub fn near(facts: &Facts) -> Vec<PairRow> {
    let row = |near: &super::survey::NearPair| {
        let [a, b] = &near.keys;
        PairRow {
            similarity: similarity(near.similarity),
            above: near.similarity >= facts.threshold,
            verdict: match near.is_true {
                Some(true) => "true",
                Some(false) => "false",
                None => "",
            },
            judged: near.judged.map_or("", Verdict::name),
            stale: near.stale,
            held: near.held,
            records: [record(facts, a, None), record(facts, b, Some(a))],
        }
    };
    facts.near.iter().map(row).collect()
}

/// The threshold of the report, and all of the sweep, with what they find.
pub fn steps(facts: &Facts, truth: &Measured) -> (StepRow, Vec<StepRow>) {
    let best = truth.best.as_ref().map(|best| best.threshold);
    let row = |threshold: String, step: &SweepStep| {
        let rates = step.counts.rates();
        StepRow {
            threshold,
            found: grouped(step.counts.found),
            correct: grouped(step.counts.both),
            precision: three(rates.precision),
            recall: three(rates.recall),
            f1: three(rates.f1),
            chosen: step.threshold == facts.threshold,
            best: Some(step.threshold) == best,
        }
    };
    let chosen = SweepStep {
        threshold: facts.threshold,
        counts: truth.counts,
    };
    let steps = truth.steps.iter();
    let steps = steps.map(|step| row(format!("{:.2}", step.threshold), step));
    (row(facts.threshold.to_string(), &chosen), steps.collect())
}

fn quality(facts: &Facts) -> Option<Quality> {
    let truth = facts.truth.as_ref()?;
    let (chosen, steps) = steps(facts, truth);
    Some(Quality {
        name: name_of(&truth.name),
        chosen,
        true_pairs: grouped(truth.counts.truth),
        best: steps.iter().find(|step| step.best).cloned(),
        steps,
        unknown: (truth.unknown > 0).then(|| grouped(truth.unknown)),
        curve: charts::curve(facts, &truth.steps),
    })
}

fn sizes(facts: &Facts) -> Vec<SizeRow> {
    let most = facts.sizes.iter().map(|&(_, clusters)| clusters).max();
    let most = most.unwrap_or(1) as f64;
    let rows = facts.sizes.iter().map(|&(size, clusters)| SizeRow {
        size,
        clusters: grouped(clusters),
        records: grouped(u64::from(size) * clusters),
        bar: format!("{:.1}", (200.0 * clusters as f64 / most).max(1.0)),
    });
    rows.collect()
}

/// The numbers of the histogram.
fn bins(facts: &Facts) -> Vec<BinRow> {
    let bins = facts.histogram.bins.iter().map(|bin| BinRow {
        from: Histogram::label(bin.from),
        pairs: grouped(bin.pairs),
        above: Histogram::is_above(bin, facts.threshold),
    });
    bins.collect()
}

/// A title or a name in full length.
pub fn name_of(name: &str) -> String {
    cut(name, usize::MAX, UNFIT)
}

/// The text with blanks at which lines do not break.
fn unbroken(text: String) -> String {
    text.replace(' ', "\u{a0}")
}

/// The report as a page.
pub fn html(facts: &Facts, origin: &Origin, data: &str) -> String {
    let surplus = facts.clustered - facts.clusters();
    let largest = facts.largest.iter();
    let page = Page {
        common: Common::new(facts, &origin.database, data),
        origin,
        title: name_of(&origin.title),
        relation: name_of(&origin.relation),
        key: name_of(&origin.key),
        signature: name_of(&origin.signature),
        tokens: origin.tokens.as_deref().map(name_of),
        floor: facts.searched.to_string(),
        rows: grouped(facts.rows),
        signed: grouped(facts.signed),
        clustered_share: unbroken(percent(facts.clustered, facts.rows)),
        surplus_share: unbroken(percent(surplus, facts.rows)),
        near: near(facts),
        groups: largest.map(|cluster| group(facts, cluster)).collect(),
        statement: origin.statement(facts.threshold, None),
        tables: origin.tables(facts.threshold),
    };
    ascii(&page.render().expect("writing to a string does not fail"))
}

/// Writes all that is not ASCII as character references, so that the page reads the same in every encoding that a
/// client writes.
pub fn ascii(page: &str) -> String {
    let mut ascii = String::with_capacity(page.len() + page.len() / 8);
    for c in page.chars() {
        if c.is_ascii() {
            ascii.push(c);
        } else {
            ascii.push_str(&format!("&#{};", u32::from(c)));
        }
    }
    ascii
}

// A report of pairs as a page of HTML that needs nothing else.

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
    entities: Option<EntityWords>,
    statement: String,
}

/// What a page of entities says besides.
struct EntityWords {
    /// Pairs that alone hold an entity together.
    holding: String,
    /// Entities of two records or more.
    joined: String,
    /// Records that the probabilities are for.
    of_records: String,
}

impl EntityWords {
    fn new(facts: &Facts) -> Option<EntityWords> {
        let entities = facts.entities.as_ref()?;
        let joined = facts.sizes.iter().filter(|(size, _)| *size > 1);
        Some(EntityWords {
            holding: grouped(entities.holding),
            joined: grouped(joined.map(|(_, entities)| entities).sum()),
            of_records: grouped(entities.of_records),
        })
    }
}

impl<'a> Deref for PairsPage<'a> {
    type Target = Common<'a>;

    fn deref(&self) -> &Common<'a> {
        &self.common
    }
}

/// The report as a page.
pub fn pairs_html(found: &PairFacts, origin: &PairsOrigin, data: &str) -> String {
    let facts = &found.facts;
    let why = |a: &[u8], b: &[u8], value: Option<f64>| {
        let (a, b) = (found.texts.get(a)?, found.texts.get(b)?);
        let probability = value.filter(|_| facts.has_probabilities());
        let explanation = found.model?.explain(a, b, probability);
        Some(why::waterfall(&explanation))
    };
    let near_rows = near(facts).into_iter().zip(&facts.near);
    let near_rows = near_rows.map(|(pair, near)| NearRow {
        pair,
        why: why(&near.keys[0], &near.keys[1], Some(near.similarity)),
    });
    let groups = facts.largest.iter().map(|cluster| {
        let mut group = group(facts, cluster);
        let records = std::mem::take(&mut group.records);
        let kept = &cluster.records[0].key;
        let members = records.into_iter().zip(&cluster.records);
        let members = members.map(|(record, shown)| MemberRow {
            record,
            why: (!shown.keep)
                .then(|| why(kept, &shown.key, shown.similarity))
                .flatten(),
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
        title: match (linked, &facts.entities) {
            (true, _) => format!("Links between {relations}"),
            (false, Some(_)) => format!("Entities of {relations}"),
            (false, None) => format!("Pairs of duplicates in {relations}"),
        },
        pairs_relation: name_of(&origin.pairs),
        relation: relations,
        key: keys.join(", "),
        linked,
        measure: facts.measure,
        has_cut: facts.has_probabilities() && facts.entities.is_none(),
        floor: format!("{:.2}", facts.floor()),
        all: grouped(facts.histogram.total()),
        records: grouped(facts.rows),
        missing: found.missing,
        near: near_rows.collect(),
        groups: groups.collect(),
        width: facts.columns.len() + 2,
        model: found.model.map(|explainer| why::levels(explainer.model)),
        entities: EntityWords::new(facts),
        statement: origin.statement(),
    };
    ascii(&page.render().expect("writing to a string does not fail"))
}
