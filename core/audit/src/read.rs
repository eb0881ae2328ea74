//! What follows from some records whose tokens are believed to be known: the bits of tokens, by intersection; by these the
//! values of other records; and by those the bits of more tokens. What does not fit to the rest is dropped on the way.

use crate::align::{Graph, Matcher, MOST_NODES, RATIO};
use crate::bits::{
    common, contains, count, insert, members, set_of, unite, without, RecordSet, Signatures, MANY,
};
use crate::reference::Reference;

/// A token is told by no fewer bits.
const LEAST_BITS: usize = 6;

/// A token is read by no fewer records.
const LEAST_RECORDS: usize = 8;

/// Records whose values are guessed, at most.
const MOST_GUESSED: usize = 4096;

/// From records to bits to values and back, so often.
const PASSES: usize = 5;

/// A bit is a token's if so large a share of the records that have the token have it, or of noisy ones nearly as many as have
/// the token's surest bits, but no fewer than the least share.
const SHARE: f64 = 0.9;
const LEAST_SHARE: f64 = 0.75;
const BELOW_SUREST: f64 = 0.07;

/// What an attacker believes.
pub struct Reading {
    /// By token of the reference, the bits that it sets, bit i at 2^(i mod 64) of word i/64; none where it is not known.
    pub bits: Vec<Vec<u64>>,
    /// By field and record, the value that it has; only of the records that [`guessed`] says.
    pub values: Vec<Vec<Option<u32>>>,
    /// By token, the records that have its bits.
    having: Vec<Option<RecordSet>>,
    believed: Vec<bool>,
}

/// The records whose values are guessed: all, or the same number of steps apart.
pub fn guessed(of: &Signatures) -> impl Iterator<Item = usize> {
    let records = of.records();
    (0..records).step_by(records.div_ceil(MOST_GUESSED).max(1))
}

impl Reading {
    pub(crate) fn of_nothing(of: &Signatures, reference: &Reference) -> Reading {
        let tokens = reference.tokens().len();
        Reading {
            bits: vec![Vec::new(); tokens],
            values: vec![vec![None; guessed(of).count()]; reference.fields()],
            having: vec![None; tokens],
            believed: vec![false; tokens],
        }
    }

    /// By token, whether an attacker would believe its bits: as many records have them as have the token in the reference, few
    /// have them by chance, and with other tokens they come together as the token does, and not as another one does.
    pub fn believed(&self) -> &[bool] {
        &self.believed
    }

    pub(crate) fn number_believed(&self) -> usize {
        self.believed.iter().filter(|is| **is).count()
    }

    fn number_guessed(&self) -> usize {
        self.values.iter().flatten().flatten().count()
    }

    /// By token that is believed, the records that have its bits.
    pub(crate) fn sets(&self) -> impl Iterator<Item = &Option<RecordSet>> {
        let sets = self.having.iter().zip(&self.believed);
        sets.map(|(set, is)| if *is { set } else { &None })
    }

    /// The share of records of which an attacker would believe to have the value of each field.
    pub fn records(&self, of: &Signatures, reference: &Reference) -> f64 {
        let all = self.values.first().map_or(0, Vec::len);
        let is_read = |(n, record): &(usize, usize)| self.fits(reference, *n, *record);
        let read = guessed(of).enumerate().filter(is_read).count();
        read as f64 / all.max(1) as f64
    }

    /// Whether the values that were guessed are those of the tokens which the record seems to have: most of theirs are
    /// believed, it has most of these, and most that it has are theirs.
    fn fits(&self, reference: &Reference, n: usize, record: usize) -> bool {
        let has = |token: usize| {
            self.believed[token]
                && self.having[token]
                    .as_ref()
                    .is_some_and(|set| contains(set, record))
        };
        let (mut tokens, mut believed, mut found) = (0, 0, 0);
        for (field, values) in self.values.iter().enumerate() {
            let Some(value) = values[n] else {
                return false;
            };
            for token in &reference.values(field)[value as usize] {
                // Those that have come with others only have no bits of their own, and say nothing.
                tokens += usize::from(!self.bits[*token as usize].is_empty());
                believed += usize::from(self.believed[*token as usize]);
                found += usize::from(has(*token as usize));
            }
        }
        let seen = (0..self.believed.len()).filter(|token| has(*token)).count();
        2 * believed > tokens && 2 * found > believed && 2 * found > seen
    }
}

/// What is thought of the bits of a token.
#[derive(Clone, Copy, PartialEq)]
enum Verdict {
    /// It cannot be told.
    Open,
    /// Another token fits clearly better, or none does.
    Wrong,
    Believed,
}

/// Records that have the bits of each of the commonest tokens, and what is thought of these.
struct Tested {
    having: Vec<Option<RecordSet>>,
    verdicts: Vec<Verdict>,
}

/// Another token may fit better by so much.
const SLACK: f64 = 1.0;

/// Tokens so correlated come together nearly always: which one it is makes no difference to what is read.
const SAME: f32 = 0.95;

fn test(
    of: &Signatures,
    reference: &Reference,
    bits: &[Vec<u64>],
    turn: &mut dyn FnMut(),
) -> Tested {
    let records = of.records().max(1) as f64;
    let tokens = reference.tokens().len();
    let mut tested = Tested {
        having: vec![None; tokens],
        verdicts: vec![Verdict::Open; tokens],
    };
    let compared = tokens.min(MOST_NODES);
    // Those that come as often as they should.
    let mut claimed: Vec<usize> = Vec::new();
    for (token, bits) in bits.iter().enumerate().take(compared) {
        let expected = reference.frequency(token) * records;
        if count(bits) < LEAST_BITS || expected < LEAST_RECORDS as f64 {
            continue;
        }
        let Some(least) = least_bits(of, bits, 0.05 * expected) else {
            continue;
        };
        let having = of.with(bits, least, turn);
        let off = (count(&having).max(1) as f64 / expected).ln().abs();
        match off < 0.2 + 3.0 / expected.sqrt() {
            true => claimed.push(token),
            false => tested.verdicts[token] = Verdict::Wrong,
        }
        tested.having[token] = Some(having);
    }
    let sets = claimed
        .iter()
        .filter_map(|token| tested.having[*token].as_deref());
    let theirs = Graph::new(&sets.collect::<Vec<_>>(), of.records(), turn);
    let ours = (0..compared).map(|token| reference.having(token));
    let ours = Graph::new(&ours.collect::<Vec<_>>(), reference.records(), turn);
    let fewer = of.records().min(reference.records()) as f64;
    let matcher = Matcher::new(&theirs, &ours, fewer);
    let mut pairs: Vec<(usize, usize)> = claimed.iter().copied().enumerate().collect();
    for _ in 0..3 {
        let before = pairs.len();
        let anchors: Vec<(usize, usize)> = pairs.iter().copied().take(ANCHORS).collect();
        let mut kept = Vec::new();
        for (node, token) in &pairs {
            turn();
            let others: Vec<_> = anchors
                .iter()
                .copied()
                .filter(|pair| pair.0 != *node)
                .collect();
            let own = matcher.gain(*node, *token, &others);
            let is_similar = |other: &usize| {
                let ratio = theirs.shares[*node] / ours.shares[*other];
                *other != *token
                    && (1.0 / RATIO..RATIO).contains(&ratio)
                    && ours.weights[*token][*other] < SAME
            };
            // How likely all others are, measured by this one; gains are twice the logarithm.
            let (mut best, mut likely) = (f64::MIN, 0.0);
            for other in (0..compared).filter(is_similar) {
                let gain = matcher.gain(*node, other, &others);
                best = best.max(gain);
                likely += ((gain - own) / 2.0).exp();
            }
            tested.verdicts[*token] = match own > 0.0 && own >= best - SLACK {
                true if likely <= 1.0 => Verdict::Believed,
                true => Verdict::Open,
                false => Verdict::Wrong,
            };
            if tested.verdicts[*token] != Verdict::Wrong {
                kept.push((*node, *token));
            }
        }
        pairs = kept;
        if pairs.len() == before {
            break;
        }
    }
    // Few say nothing of one another.
    if pairs.len() < LEAST_TOGETHER {
        for (_, token) in pairs {
            tested.verdicts[token] = Verdict::Open;
        }
    }
    tested
}

/// Tokens by which another one is told, at most, and at least.
const ANCHORS: usize = 80;
const LEAST_TOGETHER: usize = 4;

/// The least number of the bits that no more than so many records have by chance; at least three quarters.
fn least_bits(of: &Signatures, bits: &[u64], most: f64) -> Option<usize> {
    let size = count(bits);
    let least = (LEAST_SHARE * size as f64).ceil() as usize;
    let chances = chances(of, bits);
    (least..=size).find(|least| of.records() as f64 * chances[*least..].iter().sum::<f64>() <= most)
}

/// By number, how likely a record has so many of the bits if it has each by chance.
fn chances(of: &Signatures, bits: &[u64]) -> Vec<f64> {
    let mut likely = vec![1.0];
    for bit in members(bits) {
        likely.push(0.0);
        for n in (0..likely.len()).rev() {
            let one_less = if n > 0 { likely[n - 1] } else { 0.0 };
            likely[n] = likely[n] * (1.0 - of.shares()[bit]) + one_less * of.shares()[bit];
        }
    }
    likely
}

/// The bits of each token, of which some records are believed to have it. A bit is that of a token if a share of these
/// records have it, and if still so where no commoner token explains it.
fn bits_of(of: &Signatures, sets: &[Option<RecordSet>], turn: &mut dyn FnMut()) -> Vec<Vec<u64>> {
    let mut explained: Vec<RecordSet> = vec![Vec::new(); of.bits()];
    let mut all = vec![Vec::new(); sets.len()];
    for (set, bits) in sets.iter().zip(&mut all) {
        let Some(set) = set.as_ref().filter(|set| count(set) >= LEAST_RECORDS) else {
            continue;
        };
        let records = count(set) as f64;
        let mut shares: Vec<(usize, f64)> = Vec::new();
        for bit in of.telling() {
            if bit % MANY == 0 {
                turn();
            }
            let share = common(set, of.column(bit)) as f64 / records;
            if share >= LEAST_SHARE {
                shares.push((bit, share));
            }
        }
        shares.sort_by(|a, b| b.1.total_cmp(&a.1));
        let surest = shares.get(LEAST_BITS - 1).map_or(1.0, |(_, share)| *share);
        let least = (surest - BELOW_SUREST).clamp(LEAST_SHARE, SHARE);
        *bits = vec![0; of.stride()];
        for (bit, _) in shares.into_iter().filter(|(_, share)| *share >= least) {
            let rest = match explained[bit].is_empty() {
                true => set.clone(),
                false => without(set, &explained[bit]),
            };
            let records = count(&rest);
            let by_chance = of.shares()[bit].powi(records as i32);
            let having = common(&rest, of.column(bit)) as f64;
            if records >= 4 && by_chance < 1e-3 && having >= least * records as f64 {
                insert(bits, bit);
                if explained[bit].is_empty() {
                    explained[bit] = vec![0; of.width()];
                }
                unite(&mut explained[bit], set);
            }
        }
    }
    all
}

/// How often a bit of a token is missing in records that have the token.
fn missing(of: &Signatures, bits: &[Vec<u64>], having: &[Option<RecordSet>]) -> f64 {
    let (mut missing, mut all) = (0, 0);
    for (bits, having) in bits.iter().zip(having) {
        if let Some(having) = having {
            let records = count(having);
            for bit in members(bits) {
                missing += records - common(having, of.column(bit));
                all += records;
            }
        }
    }
    (missing as f64 / f64::max(all as f64, 1.0)).clamp(0.02, 0.2)
}

/// A value is guessed if it is so much likelier than by chance, as a logarithm, and than each other one.
const LEAST_SCORE: f64 = 10.0;
const MARGIN: f64 = 3.0;

/// Values whose bits are put together at a time.
pub(crate) const BLOCK: usize = 256;

/// The values of records by the bits of tokens, where one value is clearly likelier than all others. `missing` as above.
fn values_of(
    of: &Signatures,
    reference: &Reference,
    bits: &[Vec<u64>],
    missing: f64,
    turn: &mut dyn FnMut(),
) -> Vec<Vec<Option<u32>>> {
    let (mut mean, mut bits_that_tell) = (0.0, 0);
    for bit in of.telling() {
        mean += of.shares()[bit];
        bits_that_tell += 1;
    }
    mean /= f64::from(bits_that_tell.max(1));
    let missing = ((1.0 - mean) / missing).ln();
    let mut by_field = Vec::new();
    for field in 0..reference.fields() {
        // By record, the score of the best value and which it is, and the score of the second.
        let mut best: Vec<(f64, Option<u32>, f64)> = vec![(0.0, None, 0.0); guessed(of).count()];
        for (block, values) in reference.values(field).chunks(BLOCK).enumerate() {
            let of_values = values.iter().enumerate().map(|(n, tokens)| {
                let mut value = vec![0; of.stride()];
                for token in tokens {
                    let bits = &bits[*token as usize];
                    if !bits.is_empty() {
                        unite(&mut value, bits);
                    }
                }
                let size = count(&value);
                let surprise: f64 = members(&value)
                    .map(|bit| -of.shares()[bit].max(1e-6).ln())
                    .sum();
                (
                    value,
                    size,
                    surprise / size.max(1) as f64,
                    (BLOCK * block + n) as u32,
                )
            });
            // The best one scores more than LEAST_SCORE, and others count if they come near.
            let counts = |(_, size, each, _): &(_, usize, f64, _)| {
                *size as f64 * each > LEAST_SCORE - MARGIN
            };
            let of_values: Vec<(Vec<u64>, usize, f64, u32)> = of_values.filter(counts).collect();
            if of_values.is_empty() {
                continue;
            }
            for (record, best) in guessed(of).zip(&mut best) {
                turn();
                let row = of.row(record);
                for (value, size, each, n) in &of_values {
                    let hits = common(value, row);
                    let score = hits as f64 * each - (size - hits) as f64 * missing;
                    if score > best.0 {
                        *best = (score, Some(*n), best.0);
                    } else if score > best.2 {
                        best.2 = score;
                    }
                }
            }
        }
        let sure = best.into_iter().map(|(first, value, second)| {
            value.filter(|_| first - second > MARGIN && first > LEAST_SCORE)
        });
        by_field.push(sure.collect());
    }
    by_field
}

/// Reads on from what is believed of records, by token.
pub(crate) fn read_on(
    of: &Signatures,
    reference: &Reference,
    mut sets: Vec<Option<RecordSet>>,
    turn: &mut dyn FnMut(),
) -> Reading {
    let mut reading = Reading::of_nothing(of, reference);
    let mut before = None;
    for pass in 0..=PASSES {
        turn();
        reading.bits = bits_of(of, &sets, turn);
        let tested = test(of, reference, &reading.bits, turn);
        reading.believed = tested
            .verdicts
            .iter()
            .map(|verdict| *verdict == Verdict::Believed)
            .collect();
        let missing = missing(of, &reading.bits, &tested.having);
        reading.having = tested.having;
        for (token, verdict) in tested.verdicts.iter().enumerate() {
            if *verdict == Verdict::Wrong {
                reading.bits[token].clear();
                sets[token] = None;
            }
        }
        reading.values = values_of(of, reference, &reading.bits, missing, turn);
        let now = (reading.number_believed(), reading.number_guessed());
        if pass == PASSES || now.1 == 0 || before == Some(now) {
            break;
        }
        before = Some(now);
        let mut by_value: Vec<Vec<usize>> = vec![Vec::new(); reference.tokens().len()];
        for (field, values) in reading.values.iter().enumerate() {
            for (record, value) in guessed(of).zip(values) {
                for token in value.map_or(&[][..], |value| &reference.values(field)[value as usize])
                {
                    by_value[*token as usize].push(record);
                }
            }
        }
        for (set, records) in sets.iter_mut().zip(by_value) {
            if records.len() >= LEAST_RECORDS {
                *set = Some(set_of(of.records(), records));
            }
        }
    }
    reading
}
