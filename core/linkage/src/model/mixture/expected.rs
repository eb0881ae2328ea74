//! One step of expectation: how many pairs of each class are expected to have each level. All classes are done at once,
//! four in a step of the processor. Patterns come in their order, so what the highest fields of a pattern and of the
//! one before have in common is computed once.

use super::evidence::{Family, KnownPairs, PatternLogs, StepSize};
use super::exp::{exp, greater, Lanes, LANES};
use crate::model::pattern::Pattern;
use crate::model::values::LEVELS;

/// Patterns that are computed side by side.
const BATCH: usize = 16;

/// Some classes, with what they expect and what they get. Behind the last class is a place for random pairs.
struct ClassGroup {
    /// Logarithms of the levels' shares, by field and level.
    logs: Vec<Lanes>,
    /// Logarithms of the pairs that are expected of the pattern before: the sum over the fields from this one on. The
    /// last is that of no field.
    from: Vec<Lanes>,
    /// Pairs by field and level.
    sums: Vec<Lanes>,
    /// Pairs that are not in `sums` yet, as they have the levels of the pattern before from this field on. The last is
    /// all others.
    open: Vec<Lanes>,
    /// What is expected of the patterns at hand: logarithms first, then as a share of what is expected most.
    expected: [Lanes; BATCH],
}

/// A step of expectation.
pub struct Step {
    fields: usize,
    classes: usize,
    groups: Vec<ClassGroup>,
    /// The patterns at hand.
    batch: Vec<(KnownPairs, PatternLogs)>,
    /// The pattern that `from` of the groups is of, and that `open` is of.
    last_from: Option<Pattern>,
    last_open: Option<Pattern>,
    likelihood: f64,
    /// The class of families; by field and level, what its pairs have that are two people for sure, and behind that
    /// what matches have that agree in the rest.
    family: Option<Family>,
    learned: Vec<f64>,
    /// Whether the processor takes all numbers of a group in one step.
    #[cfg(target_arch = "x86_64")]
    is_wide: bool,
}

impl Step {
    /// `classes`: of each class the expected pairs and the share of each level, field by field.
    pub fn new(size: StepSize, classes: &[f64]) -> Step {
        let fields = size.fields;
        let group = |first: usize| {
            let mut group = ClassGroup {
                logs: vec![[0.0; LANES]; fields * LEVELS],
                from: vec![[f64::NEG_INFINITY; LANES]; fields + 1],
                sums: vec![[0.0; LANES]; fields * LEVELS],
                open: vec![[0.0; LANES]; fields + 1],
                expected: [[0.0; LANES]; BATCH],
            };
            let classes = classes.chunks_exact(size.of_class());
            for (lane, class) in classes.skip(first).take(LANES).enumerate() {
                group.from[fields][lane] = class[0].max(1e-9).ln();
                for (logs, share) in group.logs.iter_mut().zip(&class[1..]) {
                    logs[lane] = share.max(1e-12).ln();
                }
            }
            group
        };
        Step {
            fields,
            classes: size.classes,
            groups: (0..=size.classes).step_by(LANES).map(group).collect(),
            batch: Vec::with_capacity(BATCH),
            last_from: None,
            last_open: None,
            likelihood: 0.0,
            family: size.family,
            learned: vec![0.0; size.of_families()],
            #[cfg(target_arch = "x86_64")]
            is_wide: is_x86_feature_detected!("avx2"),
        }
    }

    /// Adds pairs of one pattern.
    #[inline]
    pub fn add(&mut self, known: KnownPairs, logs: PatternLogs) {
        self.batch.push((known, logs));
        if self.batch.len() == BATCH {
            self.run();
        }
    }

    /// Adds the patterns at hand. The result is the same on every processor: no two operations are made one.
    fn run(&mut self) {
        #[cfg(target_arch = "x86_64")]
        if self.is_wide {
            // SAFETY: the processor has the instructions.
            return unsafe { self.run_wide() };
        }
        self.run_any();
    }

    /// [`Step::run_any`], compiled for more instructions.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn run_wide(&mut self) {
        self.run_any();
    }

    #[inline(always)]
    fn run_any(&mut self) {
        let n = self.batch.len();
        let mut tops = [[f64::NEG_INFINITY; LANES]; BATCH];
        for (i, top) in tops.iter_mut().enumerate().take(n) {
            self.expect(i);
            for group in &self.groups {
                *top = greater(*top, group.expected[i]);
            }
        }
        let tops = tops.map(|[a, b, c, d]| a.max(b).max(c.max(d)));
        let mut all = [[0.0; LANES]; BATCH];
        for group in &mut self.groups {
            for ((expected, top), all) in group.expected.iter_mut().zip(tops).zip(&mut all) {
                *expected = exp(expected.map(|log| log - top));
                add(all, expected);
            }
        }
        let all = all.map(|[a, b, c, d]| (a + b) + (c + d));
        for i in 0..n {
            self.share(i, tops[i], all[i]);
        }
        self.batch.clear();
    }

    /// Logarithms of what is expected of a pattern of the batch.
    #[inline(always)]
    fn expect(&mut self, i: usize) {
        let (known, logs) = &self.batch[i];
        let pattern = known.pattern;
        let fields = self.differ_before(self.last_from, pattern);
        for group in &mut self.groups {
            let mut sum = group.from[fields];
            for field in (0..fields).rev() {
                add(&mut sum, &group.logs[field * LEVELS + pattern.level(field)]);
                group.from[field] = sum;
            }
            group.expected[i] = group.from[0];
        }
        // random pairs are behind the last class
        self.groups[self.classes / LANES].expected[i][self.classes % LANES] = logs.random;
        self.groups[0].expected[i][0] += logs.matches;
        self.last_from = Some(pattern);
    }

    /// Shares the pairs of a pattern of the batch among the classes, which are expected to have `all` together.
    #[inline(always)]
    fn share(&mut self, i: usize, top: f64, all: f64) {
        let known = self.batch[i].0;
        self.likelihood += known.pairs * (top + all.ln());
        let mut scale = known.pairs / all;
        match known.label {
            None => (),
            Some(true) => {
                for group in &mut self.groups {
                    group.expected[i] = [0.0; LANES];
                }
                self.groups[0].expected[i][0] = 1.0;
                scale = known.pairs;
            }
            Some(false) => {
                let match_share = &mut self.groups[0].expected[i][0];
                scale = known.pairs / (all - *match_share).max(f64::MIN_POSITIVE);
                *match_share = 0.0;
            }
        }
        self.close(self.differ_before(self.last_open, known.pattern));
        self.last_open = Some(known.pattern);
        for group in &mut self.groups {
            let pairs = group.expected[i].map(|share| share * scale);
            add(&mut group.open[0], &pairs);
        }
        let Some(family) = self.family else { return };
        let half = self.learned.len() / 2;
        for (class, mut fields, from) in [
            (family.class, family.learns_from(known.pattern), 0),
            (0, family.agrees_but_for(known.pattern), half),
        ] {
            let pairs = self.groups[class / LANES].expected[i][class % LANES] * scale;
            while fields != 0 {
                let field = fields.trailing_zeros() as usize;
                fields &= fields - 1;
                self.learned[from + field * LEVELS + known.pattern.level(field)] += pairs;
            }
        }
    }

    /// Behind the highest field in which a pattern differs from the one before.
    #[inline(always)]
    fn differ_before(&self, last: Option<Pattern>, pattern: Pattern) -> usize {
        match last {
            Some(last) => (u128::BITS - (last.0 ^ pattern.0).leading_zeros()).div_ceil(4) as usize,
            None => self.fields,
        }
    }

    /// Passes on what is open in the first fields.
    #[inline(always)]
    fn close(&mut self, fields: usize) {
        let Some(last) = self.last_open else {
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

    /// Writes what the classes have got: of each its pairs, and those of each level, field by field; then those of
    /// relatives; and last the logarithm of the likelihood of all pairs. What is added afterwards begins anew.
    pub fn take(&mut self, to: &mut [f64]) {
        self.run();
        self.close(self.fields);
        self.last_open = None;
        let of_class = 1 + self.fields * LEVELS;
        for (class, to) in to.chunks_exact_mut(of_class).take(self.classes).enumerate() {
            let (group, lane) = (&mut self.groups[class / LANES], class % LANES);
            to[0] = std::mem::take(&mut group.open[self.fields][lane]);
            for (to, lanes) in to[1..].iter_mut().zip(&mut group.sums) {
                *to = std::mem::take(&mut lanes[lane]);
            }
        }
        // that of random pairs is not asked for
        self.groups[self.classes / LANES].open[self.fields] = [0.0; LANES];
        let groups = self.groups.iter_mut();
        groups.for_each(|group| group.sums.fill([0.0; LANES]));
        let (relatives, likelihood) =
            to[self.classes * of_class..].split_at_mut(self.learned.len());
        relatives.copy_from_slice(&self.learned);
        self.learned.fill(0.0);
        likelihood[0] = std::mem::take(&mut self.likelihood);
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
    use crate::model::values::{EQUAL, MISSING, ORDERED, UNLIKE};

    /// Three classes of three fields, all sums of which are checked against those of single pairs.
    #[test]
    fn sums_are_those_of_single_patterns() {
        let class = |seed: usize| {
            let share = |k: usize, level: usize| ((k * 7 + level * 5 + seed * 3) % 11 + 1) as f64;
            let shares = (0..3 * LEVELS).map(|i| share(i / LEVELS, i % LEVELS) / 72.0);
            let pairs = 100.0 + seed as f64;
            std::iter::once(pairs).chain(shares).collect::<Vec<f64>>()
        };
        let size = StepSize {
            patterns: 500,
            fields: 3,
            classes: 3,
            family: Some(Family {
                class: 1,
                personal: 0b111,
            }),
        };
        let classes: Vec<f64> = (0..3).flat_map(class).collect();
        let mut wide = Step::new(size, &classes);
        let mut plain = Step::new(size, &classes);
        #[cfg(target_arch = "x86_64")]
        {
            plain.is_wide = false;
        }
        let mut expected = vec![[[0.0; LEVELS]; 3]; 5];
        let is_unlike = |level: usize| (ORDERED - UNLIKE..ORDERED).contains(&level);
        for i in 0..500u32 {
            let mut pattern = Pattern::default();
            for (field, level) in [i % 5 + 7, i / 5 % 7 + 3, i / 40].into_iter().enumerate() {
                pattern.set(field, (level % LEVELS as u32) as u8);
            }
            let known = KnownPairs {
                pattern,
                pairs: f64::from(i % 9),
                label: [None, None, Some(true), Some(false)][i as usize % 4],
            };
            let logs = PatternLogs {
                random: -f64::from(i % 13),
                matches: 0.3 * f64::from(i % 3),
            };
            wide.add(known, logs);
            plain.add(known, logs);
            let of = |class: &[f64]| {
                let shares = (0..3).map(|k| class[1 + k * LEVELS + pattern.level(k)]);
                class[0] * shares.product::<f64>()
            };
            let mut pairs: Vec<f64> = classes.chunks(size.of_class()).map(of).collect();
            pairs[0] *= logs.matches.exp();
            let mut all = pairs.iter().sum::<f64>() + logs.random.exp();
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
            for (expected, pairs) in expected.iter_mut().zip(&pairs) {
                for (k, levels) in expected.iter_mut().enumerate() {
                    levels[pattern.level(k)] += known.pairs * *pairs / all;
                }
            }
            let (relatives, agreeing) = expected[3..].split_at_mut(1);
            for (k, (relatives, agreeing)) in
                relatives[0].iter_mut().zip(&mut agreeing[0]).enumerate()
            {
                let others = || (0..3).filter(|&o| o != k).map(|o| pattern.level(o));
                let is_apart = |level: usize| is_unlike(level) || level == MISSING;
                let level = pattern.level(k);
                if others().all(is_apart) && others().any(is_unlike) {
                    relatives[level] += known.pairs * pairs[1] / all;
                }
                if others().all(|level| level <= EQUAL) {
                    agreeing[level] += known.pairs * pairs[0] / all;
                }
            }
        }
        let take = |step: &mut Step| {
            let mut result = vec![0.0; size.result()];
            step.take(&mut result);
            result
        };
        let result = take(&mut wide);
        assert_eq!(result, take(&mut plain));
        assert!(take(&mut wide).iter().all(|&number| number == 0.0));
        for (class, expected) in result.chunks(size.of_class()).take(3).zip(&expected) {
            for (sum, expected) in class[1..].iter().zip(expected.iter().flatten()) {
                assert!((sum - expected).abs() < 1e-9, "{sum} {expected}");
            }
        }
        let learned = &result[3 * size.of_class()..][..size.of_families()];
        for (learned, expected) in learned.chunks(3 * LEVELS).zip(&expected[3..]) {
            assert!(learned.iter().sum::<f64>() > 1.0);
            for (sum, expected) in learned.iter().zip(expected.iter().flatten()) {
                assert!((sum - expected).abs() < 1e-9, "{sum} {expected}");
            }
        }
    }
}
