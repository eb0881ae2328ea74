//! How far fields go together, as a postcode and its town do: the tree of pairs of fields with most mutual information
//! (C. Chow, C. Liu: Approximating Discrete Probability Distributions with Dependence Trees, 1968).

use crate::model::pattern::Pattern;
use crate::model::values::{EQUAL, ORDERED, UNLIKE};

/// How far the dependence of a class of pairs is believed.
pub(in crate::model) struct Belief {
    /// Dependence of two fields counts up to so many times, either way.
    most: f64,
    /// Pairs that are added to a joint count, and to the one that independence gives.
    smoothing: f64,
    /// Two fields of less mutual information are independent.
    least_information: f64,
    /// The group of a level: levels of a group are counted as one.
    group: fn(usize) -> usize,
}

/// Random pairs are many, so each level is counted by itself.
pub(in crate::model) const OF_RANDOM_PAIRS: Belief = Belief {
    most: 8.0,
    smoothing: 5.0,
    least_information: 0.0,
    group: |level| level,
};

/// Who has moved differs in street, town and postcode at once. Matches are few, and only expected, so it is counted
/// whether values are equal, similar or unlike, and little is believed.
pub(super) const OF_MATCHES: Belief = Belief {
    most: 3.0,
    smoothing: 20.0,
    least_information: 0.02,
    group: |level| usize::from(level >= EQUAL) + usize::from(level >= ORDERED - UNLIKE),
};

/// Two fields that go together, of which each has so many levels of present values.
#[derive(Clone, Debug)]
pub struct DependentFields<const N: usize = ORDERED> {
    /// The fields.
    pub fields: [usize; 2],
    /// Logarithms of how many times more often than by independence two levels of present values come together.
    pub logs: Vec<[f64; N]>,
    /// Mutual information.
    pub information: f64,
}

impl<const N: usize> DependentFields<N> {
    /// Whether any two levels come together more often, or less, than by independence.
    pub fn says_something(&self) -> bool {
        self.logs.iter().flatten().any(|&log| log != 0.0)
    }
}

/// The tree of them.
#[derive(Clone, Debug, Default)]
pub struct Dependence<const N: usize = ORDERED> {
    /// Its edges, the greatest information first.
    pub edges: Vec<DependentFields<N>>,
}

impl<const N: usize> Dependence<N> {
    /// Logarithm of how many times more often the levels of a pattern come together than independence says.
    pub fn log(&self, pattern: Pattern) -> f64 {
        let log = |edge: &DependentFields<N>| {
            let [a, b] = edge.fields.map(|field| pattern.level(field));
            match a >= N || b >= N {
                true => 0.0,
                false => edge.logs[a][b],
            }
        };
        self.edges.iter().map(log).sum()
    }

    /// Learns from the pairs of a class.
    pub(in crate::model) fn learn(joint: &JointLevels<N>, belief: &Belief) -> Dependence<N> {
        let mut edges = Vec::new();
        for a in 0..joint.fields {
            for b in 0..a {
                edges.push(edge(a, b, &joint.tables[edges.len()], belief));
            }
        }
        // the order of the fields settles ties
        edges.sort_by(|x, y| y.information.total_cmp(&x.information));
        let mut part: Vec<usize> = (0..joint.fields).collect();
        edges.retain(|edge| {
            let [x, y] = edge.fields.map(|field| part[field]);
            for p in &mut part {
                if *p == y {
                    *p = x;
                }
            }
            x != y
        });
        edges.retain(|edge| edge.information >= belief.least_information);
        Dependence { edges }
    }
}

/// How often the levels of two fields come together.
type Joint<const N: usize> = [[f64; N]; N];

/// The same for all two fields.
pub(in crate::model) struct JointLevels<const N: usize = ORDERED> {
    fields: usize,
    /// Of the fields 1 and 0, 2 and 0, 2 and 1, 3 and 0, and so on.
    tables: Vec<Joint<N>>,
}

impl<const N: usize> JointLevels<N> {
    pub fn new(fields: usize) -> JointLevels<N> {
        JointLevels {
            fields,
            tables: vec![[[0.0; N]; N]; fields * fields.saturating_sub(1) / 2],
        }
    }

    /// Pairs of one pattern.
    pub fn add(&mut self, pattern: Pattern, weight: f64) {
        let mut tables = self.tables.iter_mut();
        for a in 0..self.fields {
            let x = pattern.level(a);
            for (b, joint) in (0..a).zip(&mut tables) {
                let y = pattern.level(b);
                if x < N && y < N {
                    joint[x][y] += weight;
                }
            }
        }
    }
}

fn edge<const N: usize>(
    a: usize,
    b: usize,
    levels: &Joint<N>,
    belief: &Belief,
) -> DependentFields<N> {
    let group = belief.group;
    let mut joint = [[0.0; N]; N];
    for (x, row) in levels.iter().enumerate() {
        for (y, pairs) in row.iter().enumerate() {
            joint[group(x)][group(y)] += pairs;
        }
    }
    let rows = joint.map(|row| row.iter().sum::<f64>());
    let mut columns = [0.0; N];
    for row in &joint {
        for (sum, n) in columns.iter_mut().zip(row) {
            *sum += n;
        }
    }
    let all = rows.iter().sum::<f64>().max(1.0);
    let most = belief.most.ln();
    let mut logs = [[0.0; N]; N];
    let mut information = 0.0;
    for x in 0..N {
        for y in 0..N {
            let by_chance = rows[x] * columns[y] / all;
            let log = ((joint[x][y] + belief.smoothing) / (by_chance + belief.smoothing)).ln();
            information += joint[x][y] * log / all;
            logs[x][y] = log.clamp(-most, most);
        }
    }
    let of_levels = |x: usize| std::array::from_fn(|y| logs[group(x)][group(y)]);
    DependentFields {
        fields: [a, b],
        logs: (0..N).map(of_levels).collect(),
        information,
    }
}
