//! One look at each pair: how many there are of each similarity, how many of them are true, and those nearest to the
//! threshold.

use linkage::clusters::sweep::best;
use linkage::clusters::{OnConflict, PairCounts, Sweep, Verdict};
use linkage::review::BandSample;
use pgrx::pg_sys;
use text::tokens::token_hash;

use super::facts::Measured;
use super::histogram::{hundredth, step, Histogram};
use super::review::{Counts, CountsAt, HeldEntity, SampledPair};
use super::Limits;
use crate::clusters::{Grouping, Method, Resolution, Source, Truth};
use crate::pairs::decisions::{Decisions, Judgement};
use crate::pairs::dictionary::{KeyDictionary, KeySides};
use crate::pairs::records::Relations;
use pg::error::OrRaise;

/// All decisions of a relation, by keys as a report has them.
pub struct Judged {
    pub decisions: Decisions,
    sides: KeySides,
}

impl Judged {
    /// Reads the decisions as the caller.
    ///
    /// Errors: as [`Decisions::read`].
    pub fn read(oid: pg_sys::Oid, relations: Relations<'_>, sides: KeySides) -> Judged {
        Judged {
            decisions: Decisions::read(oid, Some(relations), false),
            sides,
        }
    }

    /// The newest decision about a pair.
    fn get(&self, keys: [&[u8]; 2]) -> Option<Judgement> {
        let [a, b] = keys.map(|key| self.sides.split(key));
        // Of two relations the key of the first comes first.
        let ordered = if a.0 <= b.0 { [a.1, b.1] } else { [b.1, a.1] };
        self.decisions.get(ordered)
    }

    /// What was decided about a pair.
    pub fn verdict(&self, keys: [&[u8]; 2]) -> Option<Verdict> {
        Some(self.get(keys)?.verdict)
    }

    /// Whether a record of a pair has changed since it was decided.
    pub fn is_stale(&self, keys: [&[u8]; 2]) -> bool {
        self.get(keys).is_some_and(|judgement| judgement.changed)
    }

    /// What holds of a pair: nothing if a record has changed since.
    pub fn holding(&self, keys: [&[u8]; 2]) -> Option<Verdict> {
        let judgement = self.get(keys)?;
        (!judgement.changed).then_some(judgement.verdict)
    }

    /// Whether clusters are made without a pair, since it is judged different or unsure.
    pub fn leaves_out(&self, keys: [&[u8]; 2]) -> bool {
        self.holding(keys)
            .is_some_and(|verdict| verdict != Verdict::Same)
    }

    /// How many pairs are decided to be the same, as far as that holds.
    pub fn same(&self) -> u64 {
        let mut same = 0;
        let mut keys = KeyDictionary::new();
        self.decisions.among(&mut keys, |decision| {
            same += u64::from(decision.verdict == Verdict::Same);
        });
        same
    }
}

/// What is known of pairs.
pub struct Known {
    truth: Option<(Truth, String)>,
    /// The keys of the truth, which has a dictionary of its own.
    keys: KeyDictionary,
    pub judged: Option<Judged>,
}

impl Known {
    /// Errors: as reading the truth and the decisions.
    pub fn read(
        truth: Option<&Source>,
        decisions: Option<pg_sys::Oid>,
        relations: Relations<'_>,
    ) -> Known {
        let sides = match relations.right {
            None => KeySides::One,
            Some(_) => KeySides::Two,
        };
        let mut keys = KeyDictionary::new();
        let truth = truth.map(|source| {
            let truth = Truth::new(Resolution::read(source, &mut keys, 0));
            (truth, source.name.clone())
        });
        Known {
            truth,
            keys,
            judged: decisions.map(|oid| Judged::read(oid, relations, sides)),
        }
    }

    /// The clusters of these pairs, which keep to what was decided.
    pub fn grouping(&self, threshold: f64, method: Method) -> Grouping<'_> {
        Grouping {
            decisions: self.judged.as_ref().map(|judged| &judged.decisions),
            // A report is where people look for what contradicts itself.
            on_conflict: OnConflict::Newer,
            ..Grouping::new(threshold, method)
        }
    }

    /// Whether clusters are made without a pair.
    pub fn leaves_out(&self, keys: [&[u8]; 2]) -> bool {
        self.judged
            .as_ref()
            .is_some_and(|judged| judged.leaves_out(keys))
    }

    /// Memory in use, in bytes.
    pub fn memory(&self) -> usize {
        self.truth.as_ref().map_or(0, |(truth, _)| truth.memory())
            + self.keys.memory()
            + self
                .judged
                .as_ref()
                .map_or(0, |judged| judged.decisions.memory())
    }

    /// Whether a pair is true, if that is known.
    pub fn is_true(&self, [a, b]: [&[u8]; 2]) -> Option<bool> {
        let (truth, _) = self.truth.as_ref()?;
        match (self.keys.get(a), self.keys.get(b)) {
            (Some(a), Some(b)) => truth.knows(a, b),
            _ => truth.has_all_records().then_some(false),
        }
    }
}

/// A pair near the threshold.
pub struct NearPair {
    pub similarity: f64,
    pub keys: [Vec<u8>; 2],
    /// Whether it is true, if that is known.
    pub is_true: Option<bool>,
    /// What somebody has decided.
    pub judged: Option<Verdict>,
    /// A record has changed since.
    pub stale: bool,
    /// The entity that it alone holds together, on a page of entities.
    pub held: Option<HeldEntity>,
}

/// The pairs nearest to the threshold on one side of it.
struct NearestPairs {
    above: bool,
    pairs: Vec<NearPair>,
    most: usize,
}

impl NearestPairs {
    fn new(above: bool, most: usize) -> NearestPairs {
        NearestPairs {
            above,
            pairs: Vec::new(),
            most,
        }
    }

    /// Takes the pair if it is nearer than one of those that are there.
    fn offer(
        &mut self,
        similarity: f64,
        is_true: Option<bool>,
        judged: Option<Verdict>,
        keys: impl FnOnce() -> [Vec<u8>; 2],
    ) {
        let above = self.above;
        let distance = |s: f64| if above { s } else { -s };
        let full = self.pairs.len() == self.most;
        let last = self.pairs.last().map(|near| distance(near.similarity));
        if full && last.is_none_or(|last| distance(similarity) > last) {
            return;
        }
        let new = NearPair {
            similarity,
            keys: keys(),
            is_true,
            judged,
            stale: false,
            held: None,
        };
        let at = self.pairs.partition_point(|near| {
            let order = distance(near.similarity).total_cmp(&distance(new.similarity));
            order.then_with(|| near.keys.cmp(&new.keys)).is_lt()
        });
        self.pairs.insert(at, new);
        self.pairs.truncate(self.most);
    }
}

/// What is counted over all pairs.
pub struct Survey<'a> {
    pub known: &'a Known,
    pub threshold: f64,
    /// The least similarity that there can be.
    pub searched: f64,
    pub histogram: Histogram,
    sweep: Sweep,
    counts: PairCounts,
    unknown: u64,
    true_found: u64,
    /// Pairs that reach the threshold.
    pub reached: u64,
    nearest: [NearestPairs; 2],
    counts_at: CountsAt,
    pub sample: BandSample<SampledPair>,
}

/// Whether a pair is the same by what was decided.
fn is_same(verdict: Verdict) -> Option<bool> {
    match verdict {
        Verdict::Same => Some(true),
        Verdict::Different => Some(false),
        Verdict::Unsure => None,
    }
}

impl<'a> Survey<'a> {
    /// `searched` is the least similarity that there can be.
    pub fn new(known: &'a Known, threshold: f64, searched: f64, limits: &Limits) -> Survey<'a> {
        Survey {
            known,
            threshold,
            searched,
            histogram: Histogram::new(hundredth(searched)),
            sweep: Sweep::grid(100).or_raise(),
            counts: PairCounts {
                truth: known.truth.as_ref().map_or(0, |(truth, _)| truth.pairs),
                ..PairCounts::default()
            },
            unknown: 0,
            true_found: 0,
            reached: 0,
            nearest: [
                NearestPairs::new(true, limits.near),
                NearestPairs::new(false, limits.near),
            ],
            counts_at: CountsAt::new(threshold, searched),
            sample: BandSample::new(101, limits.pairs),
        }
    }

    /// Takes a pair, each once, by its keys and the numbers of its records.
    pub fn take(&mut self, keys: [&[u8]; 2], numbers: [u32; 2], value: f64) {
        let reached = value >= self.threshold;
        self.histogram.add(value);
        self.reached += u64::from(reached);
        let is_true = self.known.is_true(keys);
        if let Some(is_true) = is_true {
            self.sweep.add(value, is_true);
            self.true_found += u64::from(is_true);
            self.counts.found += u64::from(reached);
            self.counts.both += u64::from(reached && is_true);
        } else {
            self.unknown += u64::from(self.known.truth.is_some());
        }
        let judged = self.known.judged.as_ref();
        let holding = judged.and_then(|judged| judged.holding(keys));
        let judged = judged.and_then(|judged| judged.verdict(keys));
        self.counts_at
            .take(numbers, value, [is_true, holding.and_then(is_same)]);
        let [first, second] = [keys[0].min(keys[1]), keys[0].max(keys[1])];
        let priority = token_hash(&[first, b"\0", second].concat());
        self.sample.offer(
            step(value),
            priority,
            SampledPair {
                numbers,
                bits: value.to_bits(),
            },
        );
        self.nearest[usize::from(!reached)].offer(value, is_true, judged, || {
            let mut keys = keys.map(<[u8]>::to_vec);
            keys.sort();
            keys
        });
    }

    /// More true pairs were found than there are: one of them came twice.
    pub fn has_repeated(&self) -> bool {
        let truth = self.known.truth.as_ref();
        truth.is_some_and(|(truth, _)| self.true_found > truth.pairs)
    }

    /// What each threshold finds.
    pub fn counts(&self) -> Counts {
        let truth = self.known.truth.as_ref();
        let truth = truth.map(|(truth, name)| (name.clone(), truth.pairs));
        let judged = self.known.judged.as_ref();
        let judged = judged.map(|judged| (judged.decisions.name.clone(), judged.same()));
        self.counts_at.counts([truth, judged])
    }

    /// How good the pairs are by the truth.
    ///
    /// Errors: out of memory.
    pub fn measured(&self) -> Option<Measured> {
        let (truth, name) = self.known.truth.as_ref()?;
        let mut steps = self.sweep.steps(truth.pairs).or_raise();
        let floor = self.histogram.bins[0].from;
        steps.retain(|step| step.threshold >= floor);
        Some(Measured {
            name: name.clone(),
            counts: self.counts,
            best: best(&steps),
            steps,
            unknown: self.unknown,
        })
    }

    /// The pairs nearest to the threshold, the most similar ones first.
    pub fn nearest(&mut self) -> Vec<NearPair> {
        let [above, below] = &mut self.nearest;
        let mut near = std::mem::take(&mut above.pairs);
        near.reverse();
        near.append(&mut below.pairs);
        near
    }
}
