//! How far fields go together by chance, as a postcode and its town do: the tree of pairs of fields with most mutual
//! information (C. Chow, C. Liu: Approximating Discrete Probability Distributions with Dependence Trees, 1968).

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

    /// Learns from random pairs.
    pub(super) fn learn(joint: &JointLevels) -> Dependence {
        let mut edges = Vec::new();
        for a in 0..joint.fields {
            for b in 0..a {
                edges.push(edge(a, b, &joint.tables[edges.len()]));
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
        Dependence { edges }
    }
}

/// How often the levels of two fields come together.
type Joint = [[f64; ORDERED]; ORDERED];

/// The same for all two fields.
pub(super) struct JointLevels {
    fields: usize,
    /// Of the fields 1 and 0, 2 and 0, 2 and 1, 3 and 0, and so on.
    tables: Vec<Joint>,
}

impl JointLevels {
    pub fn new(fields: usize) -> JointLevels {
        JointLevels {
            fields,
            tables: vec![[[0.0; ORDERED]; ORDERED]; fields * fields.saturating_sub(1) / 2],
        }
    }

    /// Pairs of one pattern.
    pub fn add(&mut self, pattern: Pattern, weight: f64) {
        let mut tables = self.tables.iter_mut();
        for a in 0..self.fields {
            let x = pattern.level(a);
            for (b, joint) in (0..a).zip(&mut tables) {
                let y = pattern.level(b);
                if x < ORDERED && y < ORDERED {
                    joint[x][y] += weight;
                }
            }
        }
    }
}

fn edge(a: usize, b: usize, joint: &Joint) -> DependentFields {
    let rows = joint.map(|row| row.iter().sum::<f64>());
    let mut columns = [0.0; ORDERED];
    for row in joint {
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
