//! How many pairs have which similarity, in bins of 0.01.

/// Steps of the similarity from 0 to 1.
const STEPS: u32 = 100;

/// How many pairs have a similarity from `from` on and below `from` + 0.01. Those of similarity 1 have a bin of their
/// own.
#[derive(Clone, Copy, Debug)]
pub struct Bin {
    pub from: f64,
    pub pairs: u64,
}

pub struct Histogram {
    pub bins: Vec<Bin>,
    first: u32,
}

/// The number of the step that a similarity is in: the greatest i with i/100 <= similarity.
fn number(similarity: f64) -> u32 {
    let mut i = (similarity * f64::from(STEPS)) as u32;
    while i > 0 && f64::from(i) / f64::from(STEPS) > similarity {
        i -= 1;
    }
    while i < STEPS && f64::from(i + 1) / f64::from(STEPS) <= similarity {
        i += 1;
    }
    i
}

/// The number of the band of 0.01 that a similarity is in.
pub fn step(similarity: f64) -> usize {
    number(similarity) as usize
}

/// The greatest multiple of 0.01 that the similarity reaches.
pub fn hundredth(similarity: f64) -> f64 {
    f64::from(number(similarity)) / f64::from(STEPS)
}

impl Histogram {
    /// An empty histogram, whose bins begin at `floor`.
    pub fn new(floor: f64) -> Histogram {
        let first = number(floor);
        let from = |i: u32| f64::from(i) / f64::from(STEPS);
        let bin = |i| Bin {
            from: from(i),
            pairs: 0,
        };
        Histogram {
            bins: (first..=STEPS).map(bin).collect(),
            first,
        }
    }

    /// The same for a chart, which ends at 1: pairs of similarity 1 are in its last bin.
    pub fn to_one(&self) -> Histogram {
        let mut chart = Histogram::new(f64::from(self.first.min(STEPS - 1)) / f64::from(STEPS));
        chart.bins.pop();
        for bin in &self.bins {
            let place = (number(bin.from).min(STEPS - 1) - chart.first) as usize;
            chart.bins[place].pairs += bin.pairs;
        }
        chart
    }

    pub fn add(&mut self, similarity: f64) {
        self.bins[(number(similarity) - self.first) as usize].pairs += 1;
    }

    pub fn most(&self) -> u64 {
        self.bins.iter().map(|bin| bin.pairs).max().unwrap_or(0)
    }

    /// Whether a few bins are so high that the others could hardly be seen.
    pub fn is_steep(&self) -> bool {
        let mut some: Vec<u64> = self.bins.iter().map(|bin| bin.pairs).collect();
        some.retain(|&pairs| pairs > 0);
        some.sort_unstable();
        some.get(some.len() / 2)
            .is_some_and(|median| self.most() > 50 * median)
    }

    /// Where a bin begins or ends, as text.
    pub fn label(end: f64) -> String {
        if end >= 1.0 {
            "1".to_owned()
        } else {
            format!("{end:.2}")
        }
    }

    /// Whether a bin reaches the threshold.
    pub fn is_above(bin: &Bin, threshold: f64) -> bool {
        number(threshold) <= number(bin.from)
    }

    /// All pairs.
    pub fn total(&self) -> u64 {
        self.bins.iter().map(|bin| bin.pairs).sum()
    }
}
