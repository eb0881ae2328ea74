//! What the script of the page reads, as JSON.

use std::collections::HashMap;

use linkage::clusters::Verdict;
use linkage::review::{data_block, marks_of_shown};
use serde::Serialize;
use text::ngram;

use super::super::facts::{Facts, Value};
use super::super::html::{name_of, UNFIT};
use super::super::survey::Known;
use super::super::value::{cut, tidied, DOTS, SHOWN};
use super::super::why::Explainer;
use super::{Counts, HeldEntity, ShownPair};
use pg::check_for_interrupts;
use pg::error::OrRaise;

/// What the page is about, besides its facts.
pub struct ReviewSubject<'a> {
    pub known: &'a Known,
    /// Each with the name of its key.
    pub relations: Vec<(&'a str, &'a str)>,
    /// The columns that decide: those of a model, or those that the signatures are made of.
    pub used: Vec<String>,
    /// Columns that one of two relations does not have, with its place.
    pub lacking: Vec<(usize, String)>,
    pub model: Option<Explainer<'a>>,
    /// The values of the model's fields, by key.
    pub texts: Option<&'a HashMap<Vec<u8>, Vec<Option<String>>>>,
    /// The pairs were searched for, and not given.
    pub searched: bool,
    /// The pairs are those that somebody is asked about, all of them.
    pub asked: bool,
    /// The table of the decisions, as SQL writes it.
    pub decisions: Option<&'a str>,
}

#[derive(Serialize)]
struct ColumnBlock {
    name: String,
    used: bool,
    /// The relations that do not have it.
    lacking: Vec<usize>,
}

#[derive(Serialize)]
struct RecordBlock<'a> {
    key: String,
    side: usize,
    hash: Option<&'a str>,
    /// `None`: the relation does not have it, or the caller may not see it.
    values: Option<Vec<Option<String>>>,
}

#[derive(Serialize)]
struct PairBlock {
    a: usize,
    b: usize,
    value: f64,
    #[serde(rename = "true")]
    is_true: Option<bool>,
    /// What was decided before.
    was: Option<&'static str>,
    stale: bool,
    cluster: i64,
    group: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    held: Option<HeldEntity>,
    /// For each column that differs, how: its number, and the marks of both values.
    marks: Vec<(usize, String, String)>,
    /// For each column its similarity, where it is one that decides.
    alike: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<WhyBlock>,
}

/// Why a pair has its bits. Names and words are told by their numbers.
#[derive(Serialize)]
struct WhyBlock {
    /// What each field of a model adds: bits, and words.
    fields: Vec<(f64, usize)>,
    /// What is added besides: a name, bits, and words.
    beside: Vec<(usize, f64, usize)>,
    sum: f64,
    probability: String,
}

#[derive(Serialize)]
struct GroupBlock {
    number: i64,
    size: u32,
    members: Vec<usize>,
    best: Vec<f64>,
    clusters: Vec<i64>,
    keep: Vec<bool>,
    edges: Vec<(usize, usize, f64, u32)>,
    looked_through: bool,
}

#[derive(Serialize)]
struct PageBlock<'a> {
    measure: &'static str,
    threshold: f64,
    least: f64,
    searched: bool,
    asked: bool,
    total: u64,
    /// How many pairs alone hold an entity together, on a page of entities.
    #[serde(skip_serializing_if = "Option::is_none")]
    holding: Option<u64>,
    relations: Vec<(String, String)>,
    decisions: Option<&'a str>,
    columns: Vec<ColumnBlock>,
    counts: &'a Counts,
    records: Vec<RecordBlock<'a>>,
    pairs: Vec<PairBlock>,
    names: Vec<String>,
    words: Vec<String>,
    groups: Vec<GroupBlock>,
}

/// Numbers for texts, in the order in which they come first.
#[derive(Default)]
struct WordList {
    all: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl WordList {
    fn number(&mut self, text: &str) -> usize {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        self.numbers.insert(text.to_owned(), self.all.len());
        self.all.push(text.to_owned());
        self.all.len() - 1
    }
}

/// The records of the page, each once.
struct Shown<'a> {
    facts: &'a Facts,
    numbers: HashMap<&'a [u8], usize>,
    records: Vec<RecordBlock<'a>>,
}

impl<'a> Shown<'a> {
    fn number(&mut self, key: &'a [u8]) -> usize {
        if let Some(number) = self.numbers.get(key) {
            return *number;
        }
        let values = self.facts.values.get(key).map(|values| {
            let values = values.iter().map(|value| {
                let value = value.as_ref()?;
                Some(cut(&value.text, SHOWN, UNFIT))
            });
            values.collect()
        });
        self.records.push(RecordBlock {
            key: self.facts.key_text(key),
            side: self.facts.sides.split(key).0,
            hash: self.facts.hashes.get(key).map(String::as_str),
            values,
        });
        self.numbers.insert(key, self.records.len() - 1);
        self.records.len() - 1
    }
}

/// The relations that do not have a column.
fn lacking(subject: &ReviewSubject, column: &String) -> Vec<usize> {
    let lacking = subject.lacking.iter().filter(|(_, name)| name == column);
    lacking.map(|(side, _)| *side).collect()
}

/// A number with so many decimals, which takes less room.
fn rounded(x: f64, decimals: i32) -> f64 {
    let ten = 10f64.powi(decimals);
    (x * ten).round() / ten
}

/// What a script reads of the facts, as JSON that can stand in a page.
///
/// Errors: out of memory.
pub fn block(facts: &Facts, subject: &ReviewSubject) -> String {
    let mut shown = Shown {
        facts,
        numbers: HashMap::new(),
        records: Vec::new(),
    };
    let mut words = WordList::default();
    let is_used = |name: &String| subject.used.contains(name);
    // Where nobody knows what decides, all of it is told.
    let any = subject.model.is_some() || facts.columns.iter().any(is_used);
    let used = facts.columns.iter().map(|name| !any || is_used(name));
    let used: Vec<bool> = used.collect();
    let mut pairs = Vec::new();
    for pair in &facts.review.pairs {
        check_for_interrupts();
        let [a, b] = [0, 1].map(|i| shown.number(&pair.keys[i]));
        let mut block = pair_block(subject, pair, [a, b]);
        let values = [0, 1].map(|i| facts.values.get(&pair.keys[i]));
        if let [Some(a), Some(b)] = values {
            for (i, both) in a.iter().zip(b).enumerate() {
                let (Some(a), Some(b)) = both else {
                    block.alike.push(None);
                    continue;
                };
                let (marks, alike) = compared(a, b, used[i] && subject.model.is_none());
                if let Some([a, b]) = marks {
                    block.marks.push((i, a, b));
                }
                block.alike.push(alike);
            }
        }
        let probability = facts.has_probabilities().then_some(pair.value);
        block.why = why(subject, pair, probability, &mut words);
        pairs.push(block);
    }
    let groups = facts.review.graphs.iter().map(|graph| GroupBlock {
        number: graph.number,
        size: graph.size,
        members: graph.members.iter().map(|m| shown.number(&m.key)).collect(),
        best: graph.members.iter().map(|m| m.best).collect(),
        clusters: graph.members.iter().map(|m| m.cluster).collect(),
        keep: graph.members.iter().map(|m| m.keep).collect(),
        looked_through: graph.looked_through,
        edges: graph
            .edges
            .iter()
            .map(|edge| (edge.ends[0], edge.ends[1], edge.value, edge.alone))
            .collect(),
    });
    let groups = groups.collect();
    let names = subject.model.map_or(Vec::new(), |explainer| {
        let fields = explainer.model.model().fields.iter();
        fields.map(|field| name_of(&field.name)).collect()
    });
    let columns = facts.columns.iter().zip(&used);
    let relations = subject.relations.iter();
    let relations = relations.map(|(name, key)| (name_of(name), name_of(key)));
    let block = PageBlock {
        measure: facts.measure,
        threshold: facts.threshold,
        least: facts.searched,
        searched: subject.searched,
        asked: subject.asked,
        total: facts.histogram.total(),
        holding: facts.entities.as_ref().map(|entities| entities.holding),
        relations: relations.collect(),
        decisions: subject.decisions,
        columns: columns
            .map(|(name, &used)| ColumnBlock {
                name: name_of(name),
                used,
                lacking: lacking(subject, name),
            })
            .collect(),
        counts: &facts.review.counts,
        records: shown.records,
        pairs,
        names,
        words: words.all,
        groups,
    };
    data_block(&serde_json::to_string(&block).expect("numbers and texts can be written"))
}

/// How two values differ, as codes of what is shown of both, and how similar they are if that is wanted. They are
/// compared as far as they are known, beyond what is shown.
fn compared(a: &Value, b: &Value, wanted: bool) -> (Option<[String; 2]>, Option<f64>) {
    let differ_behind = a.rest != b.rest;
    let [a, b] = [a, b].map(|value| tidied(&value.text, UNFIT).collect::<String>());
    let marks = marks_of_shown([&a, &b], (SHOWN, DOTS.len()), differ_behind);
    let alike = wanted.then(|| {
        let alike = ngram::similarity(&a, &b, 3, false, check_for_interrupts).or_raise();
        // What differs where nobody has looked is not equal.
        rounded(alike, 3).min(if differ_behind { 0.999 } else { 1.0 })
    });
    (marks.map(|both| both.map(|marks| marks.code())), alike)
}

/// What is known of a pair. Its values are left out.
fn pair_block(subject: &ReviewSubject, pair: &ShownPair, [a, b]: [usize; 2]) -> PairBlock {
    let keys = [pair.keys[0].as_slice(), &pair.keys[1]];
    let judged = subject.known.judged.as_ref();
    PairBlock {
        a,
        b,
        value: pair.value,
        is_true: subject.known.is_true(keys),
        was: judged
            .and_then(|judged| judged.verdict(keys))
            .map(Verdict::name),
        stale: judged.is_some_and(|judged| judged.is_stale(keys)),
        cluster: pair.cluster,
        group: pair.group,
        held: pair.held,
        marks: Vec::new(),
        alike: Vec::new(),
        why: None,
    }
}

/// Why a pair has its bits, where a model says so.
fn why(
    subject: &ReviewSubject,
    pair: &ShownPair,
    probability: Option<f64>,
    words: &mut WordList,
) -> Option<WhyBlock> {
    let texts = |key: &Vec<u8>| subject.texts.and_then(|texts| texts.get(key));
    let (a, b) = (texts(&pair.keys[0])?, texts(&pair.keys[1])?);
    let explanation = subject.model?.explain(a, b, probability);
    let mut number = |text: &str| words.number(text);
    let fields = explanation.fields.iter();
    let fields = fields.map(|of| (of.bits, number(&of.words))).collect();
    let beside = explanation.beside.iter();
    let beside = beside.map(|of| (number(&of.name), of.bits, number(&of.words)));
    Some(WhyBlock {
        fields,
        beside: beside.collect(),
        sum: explanation.sum,
        probability: explanation.probability,
    })
}
