//! Signatures by record and by bit, and sets of records.

use std::collections::{HashMap, HashSet};

use crate::differences::PAIRS;
use signature::bits::{intersect_words, to_words};

/// So many signatures or columns are looked at between two turns.
pub(crate) const MANY: usize = 64;

/// A set of records, one bit each.
pub(crate) type RecordSet = Vec<u64>;

/// How many there are in both.
pub(crate) fn common(a: &[u64], b: &[u64]) -> usize {
    intersect_words(a, b) as usize
}

/// How many there are.
pub(crate) fn count(set: &[u64]) -> usize {
    common(set, set)
}

pub(crate) fn unite(set: &mut [u64], other: &[u64]) {
    set.iter_mut().zip(other).for_each(|(a, b)| *a |= b);
}

pub(crate) fn intersect(set: &mut [u64], other: &[u64]) {
    set.iter_mut().zip(other).for_each(|(a, b)| *a &= b);
}

/// Those of `set` that are not in `other`.
pub(crate) fn without(set: &[u64], other: &[u64]) -> RecordSet {
    set.iter().zip(other).map(|(a, b)| a & !b).collect()
}

pub(crate) fn insert(set: &mut [u64], at: usize) {
    set[at / 64] |= 1 << (at % 64);
}

pub(crate) fn contains(set: &[u64], at: usize) -> bool {
    set[at / 64] >> (at % 64) & 1 == 1
}

/// The members of a set.
pub(crate) fn members(set: &[u64]) -> impl Iterator<Item = usize> + '_ {
    set.iter().enumerate().flat_map(|(n, word)| {
        let mut rest = *word;
        std::iter::from_fn(move || {
            let at = (rest != 0).then(|| 64 * n + rest.trailing_zeros() as usize);
            rest &= rest.wrapping_sub(1);
            at
        })
    })
}

/// A set of numbers below `most`.
pub(crate) fn set_of(most: usize, members: impl IntoIterator<Item = usize>) -> RecordSet {
    let mut set = vec![0; most.div_ceil(64)];
    members.into_iter().for_each(|at| insert(&mut set, at));
    set
}

/// Keyed signatures of one id.
pub struct Signatures {
    bits: usize,
    records: usize,
    stride: usize,
    rows: Vec<u64>,
    /// By bit, the records that have it.
    columns: Vec<u64>,
    /// By bit, the share of records that have it.
    shares: Vec<f64>,
    mirrored: usize,
    most_differences: usize,
}

impl Signatures {
    /// Of so many bits, each as bytes: bit i in byte i/8 at 2^(i mod 8).
    pub fn new<'s>(
        bits: usize,
        signatures: impl IntoIterator<Item = &'s [u8]>,
        turn: &mut dyn FnMut(),
    ) -> Signatures {
        let mut rows = Vec::new();
        for signature in signatures {
            to_words(signature, bits.div_ceil(64), &mut rows);
        }
        Signatures::of_words(bits, rows, turn)
    }

    /// Of so many bits, each as ⌈bits/64⌉ words, bit i at 2^(i mod 64) of word i/64. `turn` is called again and again.
    pub fn of_words(bits: usize, rows: Vec<u64>, turn: &mut dyn FnMut()) -> Signatures {
        let stride = bits.div_ceil(64);
        let records = rows.len() / stride.max(1);
        let width = records.div_ceil(64);
        let mut columns = vec![0; bits * width];
        for (record, row) in rows.chunks_exact(stride.max(1)).enumerate() {
            turn();
            for bit in members(row).filter(|bit| *bit < bits) {
                insert(&mut columns[bit * width..][..width], record);
            }
        }
        let mut of = Signatures {
            bits,
            records,
            stride,
            rows,
            columns,
            shares: Vec::new(),
            mirrored: 0,
            most_differences: PAIRS,
        };
        of.look(turn);
        of
    }

    fn look(&mut self, turn: &mut dyn FnMut()) {
        let mut by_count: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut counts = Vec::with_capacity(self.bits);
        for bit in 0..self.bits {
            turn();
            counts.push(count(self.column(bit)));
            by_count.entry(counts[bit]).or_default().push(bit);
        }
        let all = self.records.max(1) as f64;
        self.shares = counts.iter().map(|count| *count as f64 / all).collect();
        let width = self.width();
        for a in (0..self.bits).filter(|a| 2 * counts[*a] > self.records) {
            // Only one that is set in all other records can be its mirror.
            let others = by_count.get(&(self.records - counts[a]));
            let is_mirror = |b: &usize| {
                turn();
                common(self.column(a), self.column(*b)) == 0
            };
            if counts[a] < self.records && others.is_some_and(|others| others.iter().any(is_mirror))
            {
                self.mirrored += 1;
                self.shares[a] = 0.0;
                self.columns[a * width..][..width].fill(0);
                let rows = self.rows.chunks_exact_mut(self.stride);
                rows.for_each(|row| row[a / 64] &= !(1 << (a % 64)));
            }
        }
    }

    /// How many bits were left out, since each is set where another one is not: who balances filters adds them.
    pub fn mirrored(&self) -> usize {
        self.mirrored
    }

    /// Differences of two of them that are looked at, at most.
    pub(crate) fn most_differences(&self) -> usize {
        self.most_differences
    }

    /// Looks at no more differences than there is room for: see [`crate::Room`].
    pub fn limit_differences(&mut self, most: usize) {
        self.most_differences = most.min(PAIRS);
    }

    /// Bits of each.
    pub fn bits(&self) -> usize {
        self.bits
    }

    /// How many there are.
    pub fn records(&self) -> usize {
        self.records
    }

    pub(crate) fn stride(&self) -> usize {
        self.stride
    }

    /// Words of a set of all records.
    pub(crate) fn width(&self) -> usize {
        self.records.div_ceil(64)
    }

    /// The words of one.
    pub fn row(&self, record: usize) -> &[u64] {
        &self.rows[record * self.stride..][..self.stride]
    }

    /// The records that have a bit.
    pub(crate) fn column(&self, bit: usize) -> &[u64] {
        &self.columns[bit * self.width()..][..self.width()]
    }

    /// By bit, the share of records that have it.
    pub(crate) fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// Bits that say something: not those that nearly all have, or none.
    pub(crate) fn telling(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.bits).filter(|bit| self.shares[*bit] > 0.0 && self.shares[*bit] < 0.95)
    }

    /// Records that have at least `least` of the bits.
    pub(crate) fn with(&self, bits: &[u64], least: usize, turn: &mut dyn FnMut()) -> RecordSet {
        let mut set = vec![0; self.width()];
        for record in 0..self.records {
            if record % MANY == 0 {
                turn();
            }
            if common(self.row(record), bits) >= least {
                insert(&mut set, record);
            }
        }
        set
    }
}

/// Records whose similarities are looked at, and steps in which these are counted.
const POPULATION: usize = 2400;
const STEPS: usize = 4096;

/// Pairs of some records by Dice, the most similar ones, about so many.
pub(crate) fn similar_pairs(
    of: &Signatures,
    most: usize,
    turn: &mut dyn FnMut(),
) -> Vec<(usize, usize)> {
    let every = (of.records() / POPULATION).max(1);
    // Those that are the same say nothing of one another.
    let mut known = HashSet::new();
    let population = (0..of.records())
        .step_by(every)
        .filter(|n| known.insert(of.row(*n)));
    let population: Vec<usize> = population.take(POPULATION).collect();
    let sizes: Vec<usize> = population.iter().map(|n| count(of.row(*n))).collect();
    let mut each = |take: &mut dyn FnMut(usize, usize, usize)| {
        for (n, a) in population.iter().enumerate() {
            for (m, b) in population.iter().enumerate().skip(n + 1) {
                if m % MANY == 0 {
                    turn();
                }
                let both = 2 * common(of.row(*a), of.row(*b));
                take(both * STEPS / (sizes[n] + sizes[m]).max(1), *a, *b);
            }
        }
    };
    let mut counts = [0; STEPS + 1];
    each(&mut |step, _, _| counts[step] += 1);
    let mut above = 0;
    let enough = |step: &usize| {
        above += counts[*step];
        above > most
    };
    let limit = (0..=STEPS).rev().find(enough).map_or(0, |step| step + 1);
    let mut pairs: Vec<(u16, u32, u32)> = Vec::new();
    each(&mut |step, a, b| {
        if step >= limit {
            pairs.push((step as u16, a as u32, b as u32));
        }
    });
    pairs.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.cmp(b)));
    pairs
        .into_iter()
        .map(|(_, a, b)| (a as usize, b as usize))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_count_and_list_their_members() {
        let set = set_of(130, [0, 63, 64, 129]);
        assert_eq!(count(&set), 4);
        assert_eq!(members(&set).collect::<Vec<_>>(), [0, 63, 64, 129]);
        assert!(contains(&set, 64) && !contains(&set, 65));
        assert_eq!(
            without(&set, &set_of(130, [63, 5])),
            set_of(130, [0, 64, 129])
        );
    }

    #[test]
    fn columns_are_the_rows_turned_round() {
        let rows: [&[u8]; 3] = [&[0b001], &[0b011], &[0b010]];
        let of = Signatures::new(3, rows, &mut || ());
        assert_eq!(members(of.column(0)).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(members(of.column(1)).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(count(of.column(2)), 0);
        assert_eq!(
            members(&of.with(&[0b011], 2, &mut || ())).collect::<Vec<_>>(),
            [1]
        );
    }

    #[test]
    fn a_bit_that_is_set_where_another_is_not_is_left_out() {
        // Bit 1 is bit 0 turned round, and the commoner one; bit 2 is neither.
        let rows: [&[u8]; 4] = [&[0b001], &[0b010], &[0b110], &[0b110]];
        let of = Signatures::new(3, rows, &mut || ());
        assert_eq!(of.mirrored(), 1);
        assert_eq!(count(of.column(1)), 0);
        assert_eq!(of.row(2), [0b100]);
        assert_eq!(of.shares(), [0.25, 0.0, 0.5]);
    }

    #[test]
    fn the_most_similar_pairs_come_first_and_equal_records_once() {
        let rows: [&[u8]; 5] = [&[0xf], &[0xf], &[0x7], &[0xc0], &[0x30]];
        let of = Signatures::new(8, rows, &mut || ());
        assert_eq!(similar_pairs(&of, 1, &mut || ()), [(0, 2)]);
    }

    #[test]
    fn whoever_waits_is_called_between() {
        let row = vec![0b1; 1024];
        let mut turns = 0;
        let of = Signatures::new(65_535, (0..20).map(|_| &row[..]), &mut || turns += 1);
        assert!(turns >= 65_535);
        turns = 0;
        of.with(&[0; 1024], 1, &mut || turns += 1);
        assert!(turns > 0);
    }
}
