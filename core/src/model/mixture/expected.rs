//! One step of expectation: how many pairs of each class are expected to have each level. All classes are done at once, four in a step of the processor.
//! Patterns come in their order, so what the highest fields of a pattern and of the one before have in common is computed once.

use super::classes::ClassFit;
use super::evidence::KnownPairs;
use super::exp::{exp, greater, Lanes, LANES};
use super::Shares;
use crate::model::pattern::Pattern;
use crate::model::values::LEVELS;

/// Expected pairs of a class.
pub(super) struct Sums {
    pub pairs: f64,
    pub levels: Vec<Shares>,
}

/// Some classes, with what they expect and what they get. Behind the last class is a place for random pairs.
struct ClassGroup {
    /// Logarithms of the levels' shares, by field and level.
    logs: Vec<Lanes>,
    /// Logarithms of the pairs that are expected of the pattern before: the sum over the fields from this one on. The last is that of no field.
    from: Vec<Lanes>,
    /// Pairs by field and level.
    sums: Vec<Lanes>,
    /// Pairs that are not in `sums` yet, as they have the levels of the pattern before from this field on. The last is all others.
    open: Vec<Lanes>,
    /// What is expected of the pattern at hand.
    expected: Lanes,
}

/// The classes in a step of expectation.
pub(super) struct ClassLogs {
    fields: usize,
    classes: usize,
    groups: Vec<ClassGroup>,
    /// The pattern before.
    last: Option<Pattern>,
    /// Whether the processor takes all numbers of a group in one step.
    is_wide: bool,
}

impl ClassLogs {
    pub fn new(classes: &[ClassFit]) -> ClassLogs {
        let fields = classes[0].shares.len();
        let group = |first: usize| {
            let mut group = ClassGroup {
                logs: vec![[0.0; LANES]; fields * LEVELS],
                from: vec![[f64::NEG_INFINITY; LANES]; fields + 1],
                sums: vec![[0.0; LANES]; fields * LEVELS],
                open: vec![[0.0; LANES]; fields + 1],
                expected: [0.0; LANES],
            };
            for (lane, class) in classes.iter().skip(first).take(LANES).enumerate() {
                group.from[fields][lane] = class.pairs.max(1e-9).ln();
                let shares = class.shares.iter().flatten();
                for (logs, share) in group.logs.iter_mut().zip(shares) {
                    logs[lane] = share.max(1e-12).ln();
                }
            }
            group
        };
        ClassLogs {
            fields,
            classes: classes.len(),
            groups: (0..=classes.len()).step_by(LANES).map(group).collect(),
            last: None,
            #[cfg(target_arch = "x86_64")]
            is_wide: is_x86_feature_detected!("avx2"),
            #[cfg(not(target_arch = "x86_64"))]
            is_wide: false,
        }
    }

    /// Adds pairs of one pattern, of which `random` is the logarithm of the expected random pairs. Returns the logarithm of their likelihood. The result is
    /// the same on every processor: no two operations are made one.
    pub fn add(&mut self, known: &KnownPairs, random: f64) -> f64 {
        #[cfg(target_arch = "x86_64")]
        if self.is_wide {
            // SAFETY: the processor has the instructions.
            return unsafe { self.add_wide(known, random) };
        }
        self.add_any(known, random)
    }

    /// [`ClassLogs::add_any`], compiled for more instructions.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn add_wide(&mut self, known: &KnownPairs, random: f64) -> f64 {
        self.add_any(known, random)
    }

    #[inline(always)]
    fn add_any(&mut self, known: &KnownPairs, random: f64) -> f64 {
        self.go_to(known.pattern);
        let mut top = [random; LANES];
        for group in &mut self.groups {
            group.expected = group.from[0];
            top = greater(top, group.expected);
        }
        let [a, b, c, d] = top;
        let top = greater([a, c, a, c], [b, d, b, d]);
        let top = if top[0] > top[1] { top[0] } else { top[1] };
        // random pairs are behind the last class
        self.groups[self.classes / LANES].expected[self.classes % LANES] = random;
        let mut all = [0.0; LANES];
        for group in &mut self.groups {
            group.expected = exp(group.expected.map(|log| log - top));
            add(&mut all, &group.expected);
        }
        let all = (all[0] + all[1]) + (all[2] + all[3]);
        let likelihood = known.pairs * (top + all.ln());
        let mut scale = known.pairs / all;
        match known.label {
            None => (),
            Some(true) => {
                for group in &mut self.groups {
                    group.expected = [0.0; LANES];
                }
                self.groups[0].expected[0] = 1.0;
                scale = known.pairs;
            }
            Some(false) => {
                let match_share = &mut self.groups[0].expected[0];
                scale = known.pairs / (all - *match_share).max(f64::MIN_POSITIVE);
                *match_share = 0.0;
            }
        }
        for group in &mut self.groups {
            let pairs = group.expected.map(|share| share * scale);
            add(&mut group.open[0], &pairs);
        }
        likelihood
    }

    /// Makes `from` and `open` those of a pattern.
    #[inline(always)]
    fn go_to(&mut self, pattern: Pattern) {
        let fields = match self.last {
            Some(last) if last == pattern => return,
            // behind the highest field in which they differ
            Some(last) => (u128::BITS - (last.0 ^ pattern.0).leading_zeros()).div_ceil(4) as usize,
            None => self.fields,
        };
        self.close(fields);
        for group in &mut self.groups {
            let mut sum = group.from[fields];
            for field in (0..fields).rev() {
                add(&mut sum, &group.logs[field * LEVELS + pattern.level(field)]);
                group.from[field] = sum;
            }
        }
        self.last = Some(pattern);
    }

    /// Passes on what is open in the first fields.
    #[inline(always)]
    fn close(&mut self, fields: usize) {
        let Some(last) = self.last else {
            return;
        };
        for group in &mut self.groups {
            for field in 0..fields {
                let open = std::mem::take(&mut group.open[field]);
                add(&mut group.sums[field * LEVELS + last.level(field)], &open);
                add(&mut group.open[field + 1], &open);
            }
        }
    }

    /// What the classes have got.
    pub fn finish(mut self) -> Vec<Sums> {
        self.close(self.fields);
        let of = |class: usize| {
            let (group, lane) = (&self.groups[class / LANES], class % LANES);
            let levels = group.sums.chunks_exact(LEVELS).map(|levels| {
                let mut shares = [0.0; LEVELS];
                for (share, lanes) in shares.iter_mut().zip(levels) {
                    *share = lanes[lane];
                }
                shares
            });
            Sums {
                pairs: group.open[self.fields][lane],
                levels: levels.collect(),
            }
        };
        (0..self.classes).map(of).collect()
    }
}

#[inline(always)]
fn add(to: &mut Lanes, what: &Lanes) {
    for (to, what) in to.iter_mut().zip(what) {
        *to += what;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three classes of three fields, all sums of which are checked against those of single pairs.
    #[test]
    fn sums_are_those_of_single_patterns() {
        let class = |seed: usize| {
            let share = |k: usize, level: usize| ((k * 7 + level * 5 + seed * 3) % 11 + 1) as f64;
            let shares = |k: usize| std::array::from_fn(|level| share(k, level) / 72.0);
            ClassFit {
                chance: 0,
                pairs: 100.0 + seed as f64,
                shares: (0..3).map(shares).collect(),
            }
        };
        let classes: Vec<ClassFit> = (0..3).map(class).collect();
        let mut wide = ClassLogs::new(&classes);
        let mut plain = ClassLogs::new(&classes);
        plain.is_wide = false;
        let mut expected = vec![[[0.0; LEVELS]; 3]; 3];
        for i in 0..500u32 {
            let mut pattern = Pattern::default();
            for (field, level) in [i % 5, i / 5 % 7, i / 40].into_iter().enumerate() {
                pattern.set(field, (level % LEVELS as u32) as u8);
            }
            let known = KnownPairs {
                pattern,
                pairs: f64::from(i % 9),
                label: [None, None, Some(true), Some(false)][i as usize % 4],
            };
            let random = -f64::from(i % 13);
            assert_eq!(wide.add(&known, random), plain.add(&known, random));
            let of = |class: &ClassFit| {
                let shares = (0..3).map(|k| class.shares[k][pattern.level(k)]);
                class.pairs * shares.product::<f64>()
            };
            let mut pairs: Vec<f64> = classes.iter().map(of).collect();
            let mut all = pairs.iter().sum::<f64>() + random.exp();
            match known.label {
                None => (),
                Some(true) => {
                    pairs = vec![1.0, 0.0, 0.0];
                    all = 1.0;
                }
                Some(false) => {
                    all -= pairs[0];
                    pairs[0] = 0.0;
                }
            }
            for (expected, pairs) in expected.iter_mut().zip(pairs) {
                for (k, levels) in expected.iter_mut().enumerate() {
                    levels[pattern.level(k)] += known.pairs * pairs / all;
                }
            }
        }
        for ((wide, plain), expected) in wide.finish().iter().zip(plain.finish()).zip(expected) {
            assert_eq!((wide.pairs, &wide.levels), (plain.pairs, &plain.levels));
            for (sums, expected) in wide.levels.iter().flatten().zip(expected.iter().flatten()) {
                assert!((sums - expected).abs() < 1e-9, "{sums} {expected}");
            }
        }
    }
}
