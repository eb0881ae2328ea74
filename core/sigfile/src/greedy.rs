//! The cheapest steps first: which radius is raised next.

use super::chunk::MAX_CHUNKS;

/// Raises the radius whose next step is the cheapest, one after the other.
pub(super) struct Greedy {
    /// For each chunk what its next step costs.
    next: [f64; MAX_CHUNKS],
    /// For each chunk its radius and one more.
    taken: [u16; MAX_CHUNKS],
    chunks: usize,
    /// What all steps cost so far.
    pub spent: f64,
}

impl Greedy {
    /// `cost` gives what the first step of a chunk costs.
    pub fn new(chunks: usize, cost: impl Fn(usize) -> f64) -> Greedy {
        let mut next = [f64::INFINITY; MAX_CHUNKS];
        for (i, next) in next[..chunks].iter_mut().enumerate() {
            *next = cost(i);
        }
        Greedy {
            next,
            taken: [0; MAX_CHUNKS],
            chunks,
            spent: 0.0,
        }
    }

    /// The chunk of the next step, and what all steps cost so far; `None` if no step is left. `cost` gives what it costs to raise the
    /// radius of a chunk to its second argument.
    pub fn next(&mut self, cost: impl Fn(usize, u32) -> f64) -> Option<(usize, f64)> {
        let (mut least, mut least_cost) = (0, f64::INFINITY);
        for (i, &cost) in self.next[..self.chunks].iter().enumerate() {
            if cost < least_cost {
                (least, least_cost) = (i, cost);
            }
        }
        if least_cost == f64::INFINITY {
            return None;
        }
        self.spent += least_cost;
        self.taken[least] += 1;
        self.next[least] = cost(least, self.taken[least].into());
        Some((least, self.spent))
    }
}
