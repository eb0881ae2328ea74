//! What follows from some records whose tokens are believed to be known: the bits of tokens, by intersection; by these the
//! values of other records; and by those the bits of more tokens.

use crate::bits::{common, count, insert, members, set_of, unite, without, RecordSet, Signatures};
use crate::reference::Reference;

/// A token is told by no fewer bits.
const LEAST_BITS: usize = 6;

/// A token is read by no fewer records.
const LEAST_RECORDS: usize = 8;

/// Records whose values are guessed, at most.
const MOST_GUESSED: usize = 4096;

/// A set bit that should be set is missing so seldom.
const MISSING: f64 = 0.03;

/// What an attacker believes.
pub struct Reading {
    /// By token of the reference, the bits that it sets, bit i at 2^(i mod 64) of word i/64; none where it is not known.
    pub bits: Vec<Vec<u64>>,
    /// By field and record, the value that it has; only of the first records.
    pub values: Vec<Vec<Option<u32>>>,
}

impl Reading {
    /// By token, whether an attacker would believe its bits: as many records have them as have the token in the reference,
    /// and few have them by chance.
    pub fn believed(&self, of: &Signatures, reference: &Reference) -> Vec<bool> {
        let records = of.records().max(1) as f64;
        let is_believed = |(token, bits): (usize, &Vec<u64>)| {
            let size = count(bits);
            if size < LEAST_BITS {
                return false;
            }
            let least = (0.9 * size as f64).ceil() as usize;
            let found = count(&of.with(bits, least)) as f64;
            let expected = reference.frequency(token) * records;
            let off = (found.max(0.5) / expected.max(0.5)).ln().abs();
            let by_chance = records * chance(of, bits, least);
            expected >= LEAST_RECORDS as f64
                && by_chance < 0.1 * expected
                && off < 0.2 + 3.0 / expected.sqrt()
        };
        self.bits.iter().enumerate().map(is_believed).collect()
    }

    /// The share of records that have a value read in each field, most of whose tokens are believed.
    pub fn records(&self, reference: &Reference, believed: &[bool]) -> f64 {
        let records = self.values.first().map_or(0, Vec::len);
        let is_read = |record: &usize| {
            let (mut tokens, mut sure) = (0, 0);
            for (field, values) in self.values.iter().enumerate() {
                let Some(value) = values[*record] else {
                    return false;
                };
                for token in &reference.values(field)[value as usize] {
                    tokens += 1;
                    sure += usize::from(believed[*token as usize]);
                }
            }
            2 * sure > tokens
        };
        (0..records).filter(is_read).count() as f64 / records.max(1) as f64
    }
}

/// How likely a record has at least `least` of the bits if it has each by chance.
fn chance(of: &Signatures, bits: &[u64], least: usize) -> f64 {
    // By how many it has.
    let mut likely = vec![1.0];
    for bit in members(bits) {
        likely.push(0.0);
        for n in (0..likely.len()).rev() {
            let one_less = if n > 0 { likely[n - 1] } else { 0.0 };
            likely[n] = likely[n] * (1.0 - of.shares()[bit]) + one_less * of.shares()[bit];
        }
    }
    likely[least..].iter().sum()
}

/// The bits of each token, of which some records are believed to have it. A bit is that of a token if a share of these
/// records have it, and if still so where no commoner token explains it.
pub(crate) fn bits_of(of: &Signatures, sets: &[Option<RecordSet>], share: f64) -> Vec<Vec<u64>> {
    let mut explained: Vec<RecordSet> = vec![vec![0; of.width()]; of.bits()];
    let mut all = Vec::new();
    for set in sets {
        let mut bits = vec![0; of.stride()];
        if let Some(set) = set.as_ref().filter(|set| count(set) >= LEAST_RECORDS) {
            let records = count(set);
            for bit in of.telling() {
                let has = |set: &[u64], records: usize| {
                    common(set, of.column(bit)) as f64 >= share * records as f64
                };
                if !has(set, records) {
                    continue;
                }
                let rest = without(set, &explained[bit]);
                let records = count(&rest);
                let by_chance = of.shares()[bit].powi(records as i32);
                if records >= 4 && by_chance < 1e-3 && has(&rest, records) {
                    insert(&mut bits, bit);
                    unite(&mut explained[bit], set);
                }
            }
        }
        all.push(bits);
    }
    all
}

/// The values of records by the bits of tokens, where one value fits clearly better than all others.
pub(crate) fn values_of(
    of: &Signatures,
    reference: &Reference,
    bits: &[Vec<u64>],
    turn: &mut dyn FnMut(),
) -> Vec<Vec<Option<u32>>> {
    let (mut mean, mut bits_that_tell) = (0.0, 0);
    for bit in of.telling() {
        mean += of.shares()[bit];
        bits_that_tell += 1;
    }
    mean /= f64::from(bits_that_tell.max(1));
    let missing = ((1.0 - mean) / MISSING).ln();
    let guessed = of.records().min(MOST_GUESSED);
    let by_field = (0..reference.fields()).map(|field| {
        let of_values: Vec<(Vec<u64>, usize, f64, f64)> = reference
            .values(field)
            .iter()
            .map(|tokens| {
                let mut value = vec![0; of.stride()];
                for token in tokens {
                    if let Some(bits) = bits.get(*token as usize) {
                        unite(&mut value, bits);
                    }
                }
                let size = count(&value);
                let surprise: f64 = members(&value)
                    .map(|bit| -of.shares()[bit].max(1e-6).ln())
                    .sum();
                (value, size, surprise / size.max(1) as f64, 0.0)
            })
            .collect();
        (0..guessed)
            .map(|record| {
                turn();
                let row = of.row(record);
                let (mut best, mut second) = ((None, 2.0), 2.0);
                for (n, (value, size, each, _)) in of_values.iter().enumerate() {
                    let hits = common(value, row);
                    let score = hits as f64 * each - (size - hits) as f64 * missing;
                    if score > best.1 {
                        second = best.1;
                        best = (Some(n as u32), score);
                    } else if score > second {
                        second = score;
                    }
                }
                best.0.filter(|_| best.1 - second > 3.0 && best.1 > 10.0)
            })
            .collect()
    });
    by_field.collect()
}

/// Reads on from what is believed of records, by token.
pub(crate) fn read_on(
    of: &Signatures,
    reference: &Reference,
    mut sets: Vec<Option<RecordSet>>,
    share: f64,
    turn: &mut dyn FnMut(),
) -> Reading {
    let mut reading = Reading {
        bits: Vec::new(),
        values: Vec::new(),
    };
    sets.resize(reference.tokens().len(), None);
    for _ in 0..5 {
        turn();
        reading.bits = bits_of(of, &sets, share);
        reading.values = values_of(of, reference, &reading.bits, turn);
        let mut by_value: Vec<Vec<usize>> = vec![Vec::new(); reference.tokens().len()];
        for (field, values) in reading.values.iter().enumerate() {
            for (record, value) in values.iter().enumerate() {
                if let Some(value) = value {
                    for token in &reference.values(field)[*value as usize] {
                        by_value[*token as usize].push(record);
                    }
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
