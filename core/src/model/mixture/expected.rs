//! One step of expectation: how many pairs of each class are expected to have each level. All classes are done at once, four in a step of the processor.

use super::classes::ClassFit;
use super::evidence::KnownPairs;
use super::Shares;
use crate::model::values::LEVELS;
use crate::model::MOST_FIELDS;

/// Classes done in a step.
const LANES: usize = 4;

/// One number for each class of a group.
type Lanes = [f64; LANES];

/// Expected pairs of a class.
pub(super) struct Sums {
    pub pairs: f64,
    pub levels: Vec<Shares>,
}

/// Some classes, with what they expect and what they get.
struct ClassGroup {
    /// Logarithms of the expected pairs.
    pairs: Lanes,
    /// Logarithms of the levels' shares, by field and level.
    logs: Vec<Lanes>,
    /// Pairs so far, of all levels and of each.
    all: Lanes,
    sums: Vec<Lanes>,
}

/// The classes in a step of expectation.
pub(super) struct ClassLogs {
    fields: usize,
    classes: usize,
    groups: Vec<ClassGroup>,
    /// What each class expects of the pattern at hand, which needs no memory of its own each time.
    intensities: Vec<f64>,
}

impl ClassLogs {
    pub fn new(classes: &[ClassFit]) -> ClassLogs {
        let fields = classes[0].shares.len();
        let group = |classes: &[ClassFit]| {
            let mut group = ClassGroup {
                pairs: [f64::NEG_INFINITY; LANES],
                logs: vec![[0.0; LANES]; fields * LEVELS],
                all: [0.0; LANES],
                sums: vec![[0.0; LANES]; fields * LEVELS],
            };
            for (lane, class) in classes.iter().enumerate() {
                group.pairs[lane] = class.pairs.max(1e-9).ln();
                let shares = class.shares.iter().flatten();
                for (logs, share) in group.logs.iter_mut().zip(shares) {
                    logs[lane] = share.max(1e-12).ln();
                }
            }
            group
        };
        let groups: Vec<ClassGroup> = classes.chunks(LANES).map(group).collect();
        ClassLogs {
            fields,
            classes: classes.len(),
            intensities: vec![0.0; groups.len() * LANES],
            groups,
        }
    }

    /// Adds pairs of one pattern, of which `random` is the logarithm of the expected random pairs. Returns the logarithm of their likelihood.
    pub fn add(&mut self, known: &KnownPairs, random: f64) -> f64 {
        let mut at = [0usize; MOST_FIELDS];
        let at = &mut at[..self.fields];
        for (k, at) in at.iter_mut().enumerate() {
            *at = k * LEVELS + known.pattern.level(k);
        }
        let mut top = random;
        for (group, intensities) in self
            .groups
            .iter()
            .zip(self.intensities.chunks_exact_mut(LANES))
        {
            let mut sum = group.pairs;
            for &at in at.iter() {
                add(&mut sum, &group.logs[at]);
            }
            intensities.copy_from_slice(&sum);
        }
        let intensities = &mut self.intensities[..self.classes];
        for &intensity in intensities.iter() {
            top = top.max(intensity);
        }
        let mut all = (random - top).exp();
        for intensity in intensities.iter_mut() {
            *intensity = (*intensity - top).exp();
            all += *intensity;
        }
        let likelihood = known.pairs * (top + all.ln());
        match known.label {
            None => (),
            Some(true) => {
                intensities.fill(0.0);
                intensities[0] = 1.0;
                all = 1.0;
            }
            Some(false) => {
                all -= intensities[0];
                intensities[0] = 0.0;
                all = all.max(f64::MIN_POSITIVE);
            }
        }
        for intensity in intensities.iter_mut() {
            *intensity = known.pairs * *intensity / all;
        }
        for (group, intensities) in self
            .groups
            .iter_mut()
            .zip(self.intensities.chunks_exact(LANES))
        {
            let pairs: &Lanes = intensities.try_into().expect("so many lanes");
            add(&mut group.all, pairs);
            for &at in at.iter() {
                add(&mut group.sums[at], pairs);
            }
        }
        likelihood
    }

    /// What the classes have got.
    pub fn finish(self) -> Vec<Sums> {
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
                pairs: group.all[lane],
                levels: levels.collect(),
            }
        };
        (0..self.classes).map(of).collect()
    }
}

#[inline]
fn add(to: &mut Lanes, what: &Lanes) {
    for (to, what) in to.iter_mut().zip(what) {
        *to += what;
    }
}
