//! That the lowest bits of minima are as good as thrown coins. Tokens are numbers, so that there are enough; every run
//! has the same.

use signature::sketch::{self, Signer, SketchKind, SketchShape, HEADER};
use text::tokens::token_hash;

/// The hashes of tokens that are numbered from 0, and the sketches' bits as words: the tests that count need many.
struct Numbered {
    signer: Signer,
    next: u64,
}

impl Numbered {
    fn new(n: i64, family: i64) -> Numbered {
        Numbered {
            signer: Signer::new(SketchShape::new(n, family).unwrap()),
            next: 0,
        }
    }

    /// Hashes of so many new tokens.
    fn tokens(&mut self, n: usize) -> Vec<u64> {
        let first = self.next;
        self.next += n as u64;
        let hash = |i: u64| token_hash(&i.to_le_bytes());
        (first..self.next).map(hash).collect()
    }

    fn minima(&mut self, hashes: &[u64]) -> &[u32] {
        self.sign(hashes);
        self.signer.minima().1
    }

    fn sign(&mut self, hashes: &[u64]) {
        self.signer.clear();
        hashes.iter().for_each(|&hash| self.signer.add_hash(hash));
    }

    /// Bit i is whether the lowest bits of the minima i differ.
    fn differ(&mut self, a: &[u64], b: &[u64]) -> [u64; 4] {
        let mut differ = [0; 4];
        for set in [a, b] {
            self.sign(set);
            let mut bytes = [0; HEADER + 32];
            let end = HEADER + usize::from(self.signer.shape().n()).div_ceil(8);
            sketch::write_bits(&mut self.signer, &mut bytes[..end]);
            let words = bytes[HEADER..].as_chunks().0;
            for i in 0..4 {
                differ[i] ^= u64::from_le_bytes(words[i]);
            }
        }
        differ
    }
}

/// Bits of disjoint sets agree as thrown coins do: the number of those that agree has the mean n/2 and the variance
/// n/4.
#[test]
fn bits_of_disjoint_sets_are_binomial() {
    const N: u32 = 128;
    const PAIRS: u32 = 40_000;
    for (family, size) in [(0, 1), (0, 2), (0, 5), (3, 1), (3, 2), (3, 5)] {
        let mut numbered = Numbered::new(N.into(), family);
        let (mut sum, mut squares) = (0u64, 0u64);
        for _ in 0..PAIRS {
            let (a, b) = (numbered.tokens(size), numbered.tokens(size));
            let differ = numbered.differ(&a, &b);
            let agree = u64::from(N - differ.iter().map(|word| word.count_ones()).sum::<u32>());
            sum += agree;
            squares += agree * agree;
        }
        let mean = sum as f64 / f64::from(PAIRS);
        let variance = squares as f64 / f64::from(PAIRS) - mean * mean;
        // four standard deviations of either
        let pairs = f64::from(PAIRS);
        let (wanted, spread) = (
            f64::from(N) / 4.0,
            4.0 * (f64::from(N) / 4.0 / pairs).sqrt(),
        );
        assert!(
            (mean - f64::from(N) / 2.0).abs() < spread,
            "{family} {size}: {mean}"
        );
        assert!(
            (variance / wanted - 1.0).abs() < 4.0 * (2.0 / pairs).sqrt(),
            "{family} {size}: {variance}"
        );
    }
}

/// No two slots go together, neither of the bits that agree nor of the bits themselves, of one family or of two.
#[test]
fn slots_are_uncorrelated() {
    const N: usize = 128;
    const PAIRS: usize = 20_000;
    for size in [1, 2, 5] {
        let mut first = Numbered::new(N as i64, 0);
        let mut second = Numbered::new(N as i64, 1);
        // a column of bits for each slot of both families
        let mut columns = vec![vec![0u64; PAIRS / 64 + 1]; 2 * N];
        for pair in 0..PAIRS {
            let (a, b) = (first.tokens(size), first.tokens(size));
            let words = [first.differ(&a, &b), second.differ(&a, &b)];
            for (slot, column) in columns.iter_mut().enumerate() {
                let bit = words[slot / N][slot % N / 64] >> (slot % 64) & 1;
                column[pair / 64] |= bit << (pair % 64);
            }
        }
        let count = |column: &[u64]| column.iter().map(|w| w.count_ones()).sum::<u32>();
        // Each of so many correlations is within five and a half standard deviations of 0.
        let most = 5.5 / (PAIRS as f64).sqrt();
        for i in 0..2 * N {
            let share = f64::from(count(&columns[i])) / PAIRS as f64;
            assert!((2.0 * share - 1.0).abs() < most, "slot {i}: {share}");
            for j in 0..i {
                let differ: Vec<u64> = columns[i]
                    .iter()
                    .zip(&columns[j])
                    .map(|(a, b)| a ^ b)
                    .collect();
                let correlation = 1.0 - 2.0 * f64::from(count(&differ)) / PAIRS as f64;
                assert!(correlation.abs() < most, "slots {i}, {j}: {correlation}");
            }
        }
    }
}

/// The mean of a million estimates is the similarity, whatever that is.
#[test]
fn estimates_have_no_bias() {
    const N: u32 = 192;
    const PAIRS: u32 = 1_000_000;
    let mut numbered = Numbered::new(N.into(), 0);
    // common tokens, and those that each side has besides
    let sets = [(0, 1), (0, 2), (0, 5), (1, 1), (3, 1), (4, 1)];
    let mut error = 0.0;
    for pair in 0..PAIRS {
        let (common, own) = sets[pair as usize % sets.len()];
        let tokens = numbered.tokens(common + 2 * own);
        let (shared, rest) = tokens.split_at(common);
        let (of_a, of_b) = rest.split_at(own);
        let differ = numbered.differ(&[shared, of_a].concat(), &[shared, of_b].concat());
        let differ: u32 = differ.iter().map(|word| word.count_ones()).sum();
        error += sketch::agreement(N - differ, N as u16) - common as f64 / tokens.len() as f64;
    }
    let mean = error / f64::from(PAIRS);
    assert!(mean.abs() < 0.0003, "{mean}");
}

/// The spread of estimates is the standard error.
#[test]
fn standard_errors_are_those_of_estimates() {
    const PAIRS: usize = 20_000;
    for kind in [SketchKind::Minima, SketchKind::Bits] {
        for (common, own) in [(1, 1), (4, 1), (0, 3)] {
            let mut numbered = Numbered::new(64, 0);
            let truth = common as f64 / (common + 2 * own) as f64;
            let mut squares = 0.0;
            for _ in 0..PAIRS {
                let tokens = numbered.tokens(common + 2 * own);
                let (a, b) = (
                    &tokens[..common + own],
                    [&tokens[..common], &tokens[common + own..]].concat(),
                );
                let found = match kind {
                    SketchKind::Bits => {
                        let differ = numbered.differ(a, &b);
                        sketch::agreement(64 - differ[0].count_ones(), 64)
                    }
                    SketchKind::Minima => {
                        let a = numbered.minima(a).to_vec();
                        let equal = a.iter().zip(numbered.minima(&b)).filter(|(a, b)| a == b);
                        equal.count() as f64 / 64.0
                    }
                };
                squares += (found - truth) * (found - truth);
            }
            let found = (squares / PAIRS as f64).sqrt();
            let wanted = sketch::standard_error(truth, 64, kind).unwrap();
            assert!(
                (found - wanted).abs() <= 0.04 * wanted,
                "{kind:?} {truth}: {found} {wanted}"
            );
        }
    }
}
