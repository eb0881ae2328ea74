//! Pattern mining: bits that are set together more often than by chance belong to a token (P. Christen, A. Vidanage, T.
//! Ranbaduge, R. Schnell: Pattern-Mining Based Cryptanalysis of Bloom Filters for Privacy-Preserving Record Linkage, PAKDD
//! 2018). Sets grow from a bit, and what a set explains of a bit is left out before that bit is the seed again.

use crate::align::{Graph, MOST_NODES};
use crate::bits::{
    common, count, insert, intersect, members, without, RecordSet, Signatures, MANY,
};
use crate::clues::Clues;
use crate::reference::Reference;

/// Bits that are set together, and the records that have them.
pub(crate) struct Pattern {
    pub bits: Vec<u64>,
    pub having: RecordSet,
}

/// A bit is a pattern's if so large a share of its records have it, and the other way round.
const SHARE: f64 = 0.93;

/// Least bits of a pattern.
const LEAST_BITS: usize = 6;

/// Least records of a pattern.
const LEAST_RECORDS: usize = 8;

/// Most patterns.
pub(crate) const MOST_PATTERNS: usize = 600;

/// The patterns of the signatures, and the tokens of the reference.
pub(crate) fn clues(of: &Signatures, reference: &Reference, turn: &mut dyn FnMut()) -> Clues {
    let patterns = mine(of, of.records() / 100, SHARE, SHARE, turn);
    let tokens = reference.tokens().len().min(MOST_NODES);
    let having: Vec<&[u64]> = (0..tokens).map(|token| reference.having(token)).collect();
    let nodes: Vec<RecordSet> = patterns
        .into_iter()
        .map(|pattern| pattern.having)
        .take(MOST_NODES)
        .collect();
    let sets: Vec<&[u64]> = nodes.iter().map(|set| &set[..]).collect();
    Clues {
        theirs: Graph::new(&sets, of.records(), turn),
        ours: Graph::new(&having, reference.records(), turn),
        records: of.records().min(reference.records()) as f64,
        tokens: (0..tokens as u32).map(|token| vec![token]).collect(),
        nodes,
    }
}

/// Finds patterns of at least `least` records. A bit belongs to a set of records if a share of them
/// has it, and a record belongs to a set of bits if it has the share `seen` of them.
pub(crate) fn mine(
    of: &Signatures,
    least: usize,
    share: f64,
    seen: f64,
    turn: &mut dyn FnMut(),
) -> Vec<Pattern> {
    let least = least.max(LEAST_RECORDS);
    let mut left: Vec<RecordSet> = Vec::with_capacity(of.bits());
    for bit in 0..of.bits() {
        turn();
        left.push(of.column(bit).to_vec());
    }
    let mut sizes: Vec<usize> = left.iter().map(|left| count(left)).collect();
    let mut found: Vec<Pattern> = Vec::new();
    while found.len() < MOST_PATTERNS {
        turn();
        let Some(seed) = of
            .telling()
            .max_by_key(|bit| sizes[*bit])
            .filter(|bit| sizes[*bit] >= least)
        else {
            break;
        };
        let grown = grow(of, left[seed].clone(), seed, least, share, seen, turn);
        let Some(pattern) = grown else {
            sizes[seed] = 0;
            continue;
        };
        for bit in members(&pattern.bits).chain([seed]) {
            left[bit] = without(&left[bit], &pattern.having);
            let size = count(&left[bit]);
            // A seed that explains nothing of itself would come again for ever.
            sizes[bit] = if sizes[bit] == size && bit == seed {
                0
            } else {
                size.min(sizes[bit])
            };
        }
        let is_known = found.iter().any(|known| {
            let both = common(&known.having, &pattern.having);
            10 * both >= 9 * (count(&known.having) + count(&pattern.having) - both)
        });
        if !is_known {
            found.push(pattern);
        }
    }
    found.sort_by_key(|pattern| std::cmp::Reverse(count(&pattern.having)));
    found
}

/// Takes records that have ever more of the bits that come together, until many bits are set in all of them.
fn grow(
    of: &Signatures,
    mut having: RecordSet,
    seed: usize,
    least: usize,
    share: f64,
    seen: f64,
    turn: &mut dyn FnMut(),
) -> Option<Pattern> {
    for _ in 0..7 {
        let size = count(&having);
        if size < least {
            return None;
        }
        let mut bits = vec![0; of.stride()];
        let (mut best, mut best_z) = (None, 0.0);
        for bit in of.telling() {
            if bit % MANY == 0 {
                turn();
            }
            let expected = of.shares()[bit];
            let both = common(&having, of.column(bit)) as f64 / size as f64;
            if both >= share {
                insert(&mut bits, bit);
            } else if bit != seed {
                let z = (both - expected) / (expected * (1.0 - expected)).sqrt().max(1e-3);
                if z > best_z {
                    (best, best_z) = (Some(bit), z);
                }
            }
        }
        if count(&bits) >= LEAST_BITS {
            return settle(of, bits, least, share, seen, turn);
        }
        intersect(&mut having, of.column(best?));
    }
    None
}

/// Takes all records that have the bits, and then the bits that these have, until both stay.
pub(crate) fn settle(
    of: &Signatures,
    mut bits: Vec<u64>,
    least: usize,
    share: f64,
    seen: f64,
    turn: &mut dyn FnMut(),
) -> Option<Pattern> {
    let mut having = RecordSet::new();
    for _ in 0..3 {
        let size = count(&bits);
        if size < LEAST_BITS {
            return None;
        }
        having = of.with(&bits, (size as f64 * seen).ceil() as usize, turn);
        let records = count(&having);
        if records < least {
            return None;
        }
        let enough = (records as f64 * share).ceil() as usize;
        let mut next = vec![0; of.stride()];
        for bit in of.telling() {
            if bit % MANY == 0 {
                turn();
            }
            if common(&having, of.column(bit)) >= enough {
                insert(&mut next, bit);
            }
        }
        if next == bits {
            break;
        }
        bits = next;
    }
    Some(Pattern { bits, having })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_that_are_set_together_are_a_pattern() {
        // Bits 0 to 7 are of one token, 8 to 15 of another one; bit 16 comes by chance.
        let row = |n: u32| {
            let first = if n.is_multiple_of(2) { 0xff } else { 0 };
            let second = if n.is_multiple_of(3) { 0xff } else { 0 };
            vec![
                first,
                second,
                u8::from(signature::mix(n.into()).is_multiple_of(2)),
            ]
        };
        let rows: Vec<Vec<u8>> = (0..600).map(row).collect();
        let of = Signatures::new(24, rows.iter().map(|row| &row[..]), &mut || ());
        let found = mine(&of, 10, SHARE, SHARE, &mut || ());
        let bits: Vec<u64> = found.iter().map(|pattern| pattern.bits[0]).collect();
        assert_eq!(bits[..2], [0x00ff, 0xff00]);
        assert_eq!(count(&found[1].having), 200);
    }
}
