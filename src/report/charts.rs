//! Charts, as numbers for SVG.

use linkage::clusters::SweepStep;

use super::facts::Facts;
use super::histogram::Histogram;
use super::value::grouped;

// The size of a chart and where its axes are, in units of the SVG.
pub const WIDTH: f64 = 720.0;
pub const HEIGHT: f64 = 260.0;
pub const LEFT: f64 = 64.0;
pub const RIGHT: f64 = 704.0;
pub const TOP: f64 = 28.0;
pub const BOTTOM: f64 = 212.0;

pub struct Tick {
    pub at: f64,
    pub label: String,
}

pub struct Bar {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
    pub above: bool,
    pub title: String,
}

pub struct Bars {
    pub bars: Vec<Bar>,
    pub x: Vec<Tick>,
    pub y: Vec<Tick>,
    pub threshold: f64,
    /// Where the first bar begins.
    pub floor: f64,
    pub logarithmic: bool,
}

pub struct Curve {
    /// The points of two lines.
    pub precision: String,
    pub recall: String,
    pub x: Vec<Tick>,
    pub y: Vec<Tick>,
    pub threshold: f64,
}

/// 1, 2 or 5 times a power of ten, so that at most five of them make up `most`.
fn step(most: f64) -> f64 {
    let mut power = 1.0;
    loop {
        for factor in [1.0, 2.0, 5.0] {
            if most <= 5.0 * factor * power {
                return factor * power;
            }
        }
        power *= 10.0;
    }
}

/// Every how many bins there is a label.
fn label_every(bins: usize) -> usize {
    [1, 2, 5, 10]
        .into_iter()
        .find(|n| bins / n <= 14)
        .unwrap_or(10)
}

/// Where bin `i` of `n` begins.
fn bin_at(i: f64, n: usize) -> f64 {
    LEFT + (RIGHT - LEFT) * i / n as f64
}

/// Where a similarity is on the x axis, which ends at 1.
fn x_at(similarity: f64, chart: &Histogram) -> f64 {
    bin_at((similarity - chart.bins[0].from) * 100.0, chart.bins.len())
}

pub fn histogram(facts: &Facts) -> Bars {
    let histogram = facts.histogram.to_one();
    let n = histogram.bins.len();
    let logarithmic = histogram.is_steep();
    let most = histogram.most() as f64;
    let (top, ticks) = if logarithmic {
        let ticks: Vec<f64> = (0..20)
            .map(|i| 10f64.powi(i))
            .take_while(|&tick| tick <= most)
            .collect();
        ((1.0 + most).log10(), ticks)
    } else {
        let step = step(most);
        let count = (most / step).ceil().max(1.0);
        let ticks = (0..=count as u32).map(|i| f64::from(i) * step).collect();
        (count * step, ticks)
    };
    let height = |pairs: f64| {
        let value = if logarithmic {
            (1.0 + pairs).log10()
        } else {
            pairs
        };
        if top > 0.0 {
            (BOTTOM - TOP) * value / top
        } else {
            0.0
        }
    };
    let bars = histogram.bins.iter().enumerate().map(|(i, bin)| {
        let x = bin_at(i as f64, n);
        // A bin with any pairs is always seen.
        let tall = match bin.pairs {
            0 => 0.0,
            pairs => height(pairs as f64).max(1.0),
        };
        let is_last = i + 1 == n;
        let to = match is_last {
            true => "1".to_owned(),
            false => format!("below {:.2}", bin.from + 0.01),
        };
        let range = format!("{} {:.2} to {to}", facts.measure, bin.from);
        Bar {
            x: x + 1.0,
            y: BOTTOM - tall,
            width: bin_at(i as f64 + 1.0, n) - x - 2.0,
            height: tall,
            above: is_last || Histogram::is_above(bin, facts.threshold),
            title: format!(
                "{range}: {} {}",
                grouped(bin.pairs),
                if bin.pairs == 1 { "pair" } else { "pairs" }
            ),
        }
    });
    Bars {
        bars: bars.collect(),
        x: x_ticks(&histogram),
        y: ticks
            .into_iter()
            .map(|tick| Tick {
                at: BOTTOM - height(tick),
                label: grouped(tick as u64),
            })
            .collect(),
        threshold: x_at(facts.threshold, &histogram),
        floor: histogram.bins[0].from,
        logarithmic,
    }
}

fn x_ticks(chart: &Histogram) -> Vec<Tick> {
    let every = label_every(chart.bins.len());
    let ends = chart.bins.iter().map(|bin| bin.from).chain([1.0]);
    let labelled = ends.filter(|end| ((end * 100.0).round() as usize).is_multiple_of(every));
    labelled
        .map(|end| Tick {
            at: x_at(end, chart),
            label: Histogram::label(end),
        })
        .collect()
}

pub fn curve(facts: &Facts, steps: &[SweepStep]) -> Curve {
    let chart = facts.histogram.to_one();
    let y = |share: f64| BOTTOM - (BOTTOM - TOP) * share;
    let line = |of: &dyn Fn(&SweepStep) -> f64| {
        let points: Vec<String> = steps
            .iter()
            .map(|step| {
                let x = x_at(step.threshold, &chart);
                format!("{x:.1},{:.1}", y(of(step)))
            })
            .collect();
        points.join(" ")
    };
    Curve {
        precision: line(&|step| step.counts.rates().precision),
        recall: line(&|step| step.counts.rates().recall),
        x: x_ticks(&chart),
        y: (0..=5)
            .map(|i| f64::from(i) / 5.0)
            .map(|share| Tick {
                at: y(share),
                label: format!("{share:.1}"),
            })
            .collect(),
        threshold: x_at(facts.threshold, &chart),
    }
}
