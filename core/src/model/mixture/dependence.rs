//! How far fields go together by chance, as a postcode and its town do: the tree of pairs of fields with most mutual information (C. Chow,
//! C. Liu: Approximating Discrete Probability Distributions with Dependence Trees, 1968).

use super::{MOST_DEPENDENCE, SMOOTHING};
use crate::model::pattern::Pattern;
use crate::model::values::ORDERED;

/// Two fields that go together.
#[derive(Clone, Debug)]
pub struct DependentFields {
    /// The fields.
    pub fields: [usize; 2],
    /// Logarithms of how many times more often than by independence two levels of present values come together.
    pub logs: Vec<[f64; ORDERED]>,
    /// Mutual information.
    pub information: f64,
}

/// The tree of them.
#[derive(Clone, Debug, Default)]
pub struct Dependence {
    /// Its edges, the greatest information first.
    pub edges: Vec<DependentFields>,
}

impl Dependence {
    /// Logarithm of how many times more often the levels of a pattern come together by chance than independence says.
    pub fn log(&self, pattern: Pattern) -> f64 {
        let log = |edge: &DependentFields| {
            let [a, b] = edge.fields.map(|field| pattern.level(field));
            match a >= ORDERED || b >= ORDERED {
                true => 0.0,
                false => edge.logs[a][b],
            }
        };
        self.edges.iter().map(log).sum()
    }

    /// Learns from patterns of random pairs with their weights.
    pub(super) fn learn(fields: usize, sample: &[(Pattern, f64)]) -> Dependence {
        let mut edges = Vec::new();
        for a in 0..fields {
            for b in 0..a {
                edges.push(edge(a, b, sample));
            }
        }
        // the order of the fields settles ties
        edges.sort_by(|x, y| y.information.total_cmp(&x.information));
        let mut part: Vec<usize> = (0..fields).collect();
        edges.retain(|edge| {
            let [x, y] = edge.fields.map(|field| part[field]);
            for p in &mut part {
                if *p == y {
                    *p = x;
                }
            }
            x != y
        });
        Dependence { edges }
    }
}

fn edge(a: usize, b: usize, sample: &[(Pattern, f64)]) -> DependentFields {
    let mut joint = [[0.0; ORDERED]; ORDERED];
    for &(pattern, weight) in sample {
        let (x, y) = (pattern.level(a), pattern.level(b));
        if x < ORDERED && y < ORDERED {
            joint[x][y] += weight;
        }
    }
    let rows = joint.map(|row| row.iter().sum::<f64>());
    let mut columns = [0.0; ORDERED];
    for row in &joint {
        for (sum, n) in columns.iter_mut().zip(row) {
            *sum += n;
        }
    }
    let all = rows.iter().sum::<f64>().max(1.0);
    let most = MOST_DEPENDENCE.ln();
    let mut logs = vec![[0.0; ORDERED]; ORDERED];
    let mut information = 0.0;
    for x in 0..ORDERED {
        for y in 0..ORDERED {
            let log = ((joint[x][y] + SMOOTHING) / (rows[x] * columns[y] / all + SMOOTHING)).ln();
            information += joint[x][y] * log / all;
            logs[x][y] = log.clamp(-most, most);
        }
    }
    DependentFields {
        fields: [a, b],
        logs,
        information,
    }
}
